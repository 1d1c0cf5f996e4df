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
from sce_desktop.research.pretrain.material import Taught
from sce_desktop.research.pretrain.mixture import Batch
from sce_desktop.research.pretrain.sets import Material
from sce_desktop.research.pretrain.towers import (
    FrozenTowers,
    TokenLists,
    TrainedTowers,
    encode_all,
    to_device,
)

NEAREST = 24
"""Labels kept for a text, those of the vocabulary that the teacher finds nearest."""


class Teacher:
    """A trained SCE with its vectors of every text and label of the material."""

    def __init__(self, head: SCE, towers: FrozenTowers, taught: Taught, fingerprint: str = "") -> None:
        self.head, self.towers, self.taught, self.fingerprint = head, towers, taught, fingerprint

    @classmethod
    def of(cls, folder: Path, material: Material, *, max_tokens: int, device: torch.device) -> Teacher:
        """Read the model ``folder`` and compute its vectors. Raises UserError if it is no SCE of its own."""
        model = SCEModel.from_pretrained(str(folder))
        encoder = getattr(model, "embedder", None)
        if not isinstance(encoder, TextEncoder) or model.tokenizer is None:
            raise UserError(f"{folder.name} cannot teach: it was not made by training an embedder.")
        fingerprint = model.fingerprint
        model.tokenizer.no_padding()
        model.tokenizer.enable_truncation(max_tokens)
        strings = [*material.texts.strings, *material.labels.strings]
        tokens = TokenLists([e.ids for e in model.tokenizer.encode_batch_fast(strings)], device=device)
        encoder.to(device).eval().requires_grad_(False)
        towers = frozen(TrainedTowers(encoder, tokens, len(material.texts)), half=device.type == "cuda")
        head = model.head.to(device).eval().requires_grad_(False)
        return cls(head, towers, _taught(towers, material), fingerprint)

    @torch.no_grad()
    def scores(self, batch: Batch, *, temperature: float) -> Tensor:
        """Return log-probabilities (P, T, K) of the batch's labels, whole texts read."""
        p, t = batch.texts.shape
        device = self.towers.text_vectors.device
        used, place = np.unique(np.maximum(batch.labels, 0), return_inverse=True)
        q, each = self.towers.vectors(batch.texts.reshape(-1), None, used)
        at = to_device(place.reshape(batch.labels.shape), device)
        labels = LabelVectors(each.tokens[at], None if each.sentence is None else each.sentence[at])
        found = self.head.grouped(q.view(p, t, -1), labels, to_device(batch.mask, device))
        return F.log_softmax(found / temperature, -1)


def frozen(towers: TrainedTowers, *, half: bool) -> FrozenTowers:
    """Return the vectors of all texts and labels of ``towers``, whose encoder must not change any more."""
    text_vectors, label_vectors = encode_all(towers, half=half)
    rows = np.array_split(np.arange(len(label_vectors)), 1 + len(label_vectors) // 4096)
    with torch.no_grad():
        label_tokens = torch.cat([towers.label_tokens(part).half() for part in rows])
    return FrozenTowers(text_vectors, label_tokens, label_vectors)


def distillation(scores: Tensor, targets: Tensor, mask: Tensor, *, temperature: float) -> Tensor:
    """Return the mean divergence KL(teacher || student) of ``scores`` (P, T, K), times temperature squared.

    ``targets``: the teacher's log-probabilities at that temperature. Labels outside ``mask`` play no part.
    """
    own = F.log_softmax(scores / temperature, -1)
    apart = (targets.exp() * (targets - own)).masked_fill(~mask, 0.0)
    return apart.sum(-1).mean() * temperature**2


@torch.no_grad()
def _taught(towers: FrozenTowers, material: Material) -> Taught:
    words = [one.wordings.values for one in material.train]
    words += [material.written.wordings.values] if material.written else []
    words += [material.free.labels] if material.free else []
    words += [material.glosses.pool] if material.glosses else []
    vocabulary = np.unique(np.concatenate([w.reshape(-1) for w in words]))
    vocabulary = vocabulary[vocabulary >= 0]
    texts = np.unique(np.concatenate([one.texts for one in material.train]))
    if material.written:
        texts = np.union1d(texts, material.written.texts)
    assert towers.label_sentences is not None
    table = towers.label_sentences[torch.from_numpy(vocabulary).to(towers.label_sentences.device)]
    nearest = []
    for part in np.array_split(texts, 1 + len(texts) // 4096):
        q = towers.text_vectors[torch.from_numpy(part).to(table.device)]
        near = (q.float() @ table.float().T).topk(min(NEAREST, len(vocabulary)), dim=1).indices
        nearest.append(vocabulary[near.cpu().numpy()])
    return Taught(texts, np.concatenate(nearest))
