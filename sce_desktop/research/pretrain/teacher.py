"""A larger trained SCE as teacher: what it makes of a group's labels is a target beside the right answers.

Knowledge distillation (arXiv 1503.02531) over vectors that the teacher computes once. It also names, for
every training text, the labels of the whole vocabulary that lie nearest: label sets of thousands of words
from texts that carry one label each.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor

from sce_desktop.core.errors import UserError
from sce_desktop.ml.encoder.bert import TextEncoder
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.sce import SCE, LabelVectors
from sce_desktop.research.pretrain.dual_encoder import (
    FrozenDualEncoder,
    TokenLists,
    TrainedDualEncoder,
    encode_all,
    to_device,
)
from sce_desktop.research.pretrain.sampler import Batch
from sce_desktop.research.pretrain.sets import TrainingData
from sce_desktop.research.pretrain.training_data import Taught

NEAREST = 24
"""Labels kept for a text, those of the vocabulary that the teacher finds nearest."""


class Teacher:
    """A trained SCE with its vectors of every text and label of the training data."""

    def __init__(
        self, head: SCE, dual_encoder: FrozenDualEncoder, taught: Taught, fingerprint: str = ""
    ) -> None:
        self.head, self.dual_encoder, self.taught, self.fingerprint = head, dual_encoder, taught, fingerprint

    @classmethod
    def load(
        cls, folder: Path, training_data: TrainingData, *, max_tokens: int, device: torch.device
    ) -> Teacher:
        """Read the model ``folder`` and compute its vectors. Raises UserError if it is no SCE of its own."""
        model = SCEModel.from_pretrained(str(folder))
        encoder = getattr(model, "embedder", None)
        if not isinstance(encoder, TextEncoder) or model.tokenizer is None:
            raise UserError(f"{folder.name} cannot teach: it was not made by training an embedder.")
        fingerprint = model.fingerprint
        model.tokenizer.no_padding()
        model.tokenizer.enable_truncation(max_tokens)
        strings = [*training_data.texts.strings, *training_data.labels.strings]
        tokens = TokenLists([e.ids for e in model.tokenizer.encode_batch_fast(strings)], device=device)
        encoder.to(device).eval().requires_grad_(False)
        dual_encoder = frozen(
            TrainedDualEncoder(encoder, tokens, len(training_data.texts)), half=device.type == "cuda"
        )
        head = model.head.to(device).eval().requires_grad_(False)
        return cls(head, dual_encoder, _taught(dual_encoder, training_data), fingerprint)

    @torch.no_grad()
    def scores(self, batch: Batch, *, temperature: float) -> Tensor:
        """Return log-probabilities (P, T, K) of the batch's labels, whole texts read."""
        p, t = batch.texts.shape
        device = self.dual_encoder.text_vectors.device
        used, place = np.unique(np.maximum(batch.labels, 0), return_inverse=True)
        q, each = self.dual_encoder.vectors(batch.texts.reshape(-1), None, used)
        at = to_device(place.reshape(batch.labels.shape), device)
        labels = LabelVectors(each.tokens[at], None if each.sentence is None else each.sentence[at])
        found = self.head.grouped(q.view(p, t, -1), labels, to_device(batch.mask, device))
        return F.log_softmax(found / temperature, -1)


def frozen(dual_encoder: TrainedDualEncoder, *, half: bool) -> FrozenDualEncoder:
    """Return the vectors of all texts and labels of ``towers``, whose encoder must not change any more."""
    text_vectors, label_vectors = encode_all(dual_encoder, half=half)
    rows = np.array_split(np.arange(len(label_vectors)), 1 + len(label_vectors) // 4096)
    with torch.no_grad():
        label_tokens = torch.cat([dual_encoder.label_tokens(part).half() for part in rows])
    return FrozenDualEncoder(text_vectors, label_tokens, label_vectors)


def distillation(scores: Tensor, targets: Tensor, mask: Tensor, *, temperature: float) -> Tensor:
    """Return the mean divergence KL(teacher || student) of ``scores`` (P, T, K), times temperature squared.

    ``targets``: the teacher's log-probabilities at that temperature. Labels outside ``mask`` play no part.
    """
    own = F.log_softmax(scores / temperature, -1)
    apart = (targets.exp() * (targets - own)).masked_fill(~mask, 0.0)
    return apart.sum(-1).mean() * temperature**2


@torch.no_grad()
def _taught(dual_encoder: FrozenDualEncoder, training_data: TrainingData) -> Taught:
    words = [one.wordings.values for one in training_data.train]
    words += [training_data.written.wordings.values] if training_data.written else []
    words += [training_data.free.labels] if training_data.free else []
    words += [training_data.glosses.pool] if training_data.glosses else []
    vocabulary = np.unique(np.concatenate([w.reshape(-1) for w in words]))
    vocabulary = vocabulary[vocabulary >= 0]
    texts = np.unique(np.concatenate([one.texts for one in training_data.train]))
    if training_data.written:
        texts = np.union1d(texts, training_data.written.texts)
    assert dual_encoder.label_sentences is not None
    table = dual_encoder.label_sentences[torch.from_numpy(vocabulary).to(dual_encoder.label_sentences.device)]
    nearest = []
    for part in np.array_split(texts, 1 + len(texts) // 4096):
        q = dual_encoder.text_vectors[torch.from_numpy(part).to(table.device)]
        near = (q.float() @ table.float().T).topk(min(NEAREST, len(vocabulary)), dim=1).indices
        nearest.append(vocabulary[near.cpu().numpy()])
    return Taught(texts, np.concatenate(nearest))
