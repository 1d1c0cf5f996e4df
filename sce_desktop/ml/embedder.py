"""Text vectors: the frozen text model g of the paper, in two kinds.

`NativeEmbedder` runs a BERT-like encoder with tokenizers, safetensors and torch alone. Any other
sentence-transformers model goes through `ml.sentence_transformer`, which takes seconds to import. Vectors
have unit length and are float32 on every device, so that a cached vector serves wherever it was made.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import FloatArray, IdArray, VectorCache
from sce_desktop.ml.bert import TextEncoder

WINDOW = 4096
"""Texts that are tokenised and sorted by length together."""
TOKENS_PER_BATCH = {"cpu": 2048, "cuda": 65536, "mps": 16384}


class Embedder(ABC):
    """A frozen text model g.

    ``key`` names the numbers it gives: same key, same vectors. ``dim`` is their width, ``max_tokens`` how far
    a text is read, special tokens included.
    """

    name: str
    dim: int
    max_tokens: int

    @property
    @abstractmethod
    def key(self) -> str:
        """Name of the model and hash of its weights and settings."""

    @abstractmethod
    def batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[IdArray, FloatArray]]:
        """Yield (places in ``texts`` (b,), vectors (b, dim)) batch by batch, each text once, in any order."""

    @abstractmethod
    def token_counts(self, texts: Sequence[str]) -> IdArray:
        """Return how many tokens each text has (n,), special ones included; above ``max_tokens``: cut."""

    def encode(
        self, texts: Sequence[str], *, progress: Progress | None = None, batch_size: int | None = None
    ) -> FloatArray:
        """Return the vectors (n, dim) of ``texts``, of unit length. `Progress.check` every batch."""
        out = np.empty((len(texts), self.dim), dtype=np.float32)
        for places, vectors in self.batches(texts, batch_size=batch_size):
            out[places] = vectors
            if progress is not None:
                progress.check()
        return out


def cached_encode(
    embedder: Embedder,
    texts: Sequence[str],
    cache: VectorCache | None = None,
    progress: Progress | None = None,
) -> FloatArray:
    """Return the vectors (n, dim) of ``texts``, each distinct text embedded once and never again.

    A finished batch is in the cache before the next one begins, so that a cancel loses at most one.
    """
    distinct = list(dict.fromkeys(texts))
    vectors = np.empty((len(distinct), embedder.dim), dtype=np.float32)
    missing = np.arange(len(distinct))
    if cache is not None and distinct:
        found, known = cache.get(embedder.key, distinct)
        if known is not None:
            vectors[found] = known
        missing = np.flatnonzero(~found)
    todo = [distinct[i] for i in missing]
    for places, made in embedder.batches(todo):
        vectors[missing[places]] = made
        if cache is not None:
            cache.put(embedder.key, [todo[i] for i in places], made)
        if progress is not None:
            progress.check()
    if len(distinct) == len(texts):
        return vectors
    place = {text: i for i, text in enumerate(distinct)}
    return vectors[[place[text] for text in texts]]


def digest(tensors: Iterable[tuple[str, Tensor]], *settings: object) -> str:
    """Return a SHA-256 over named tensors, as they are in memory, and settings."""
    sha = hashlib.sha256(repr(settings).encode())
    for name, tensor in sorted(tensors):
        sha.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        sha.update(memoryview(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()))
    return sha.hexdigest()


def whole_characters(text: str) -> str:
    """Replace lone surrogates (a broken ``\\ud83d`` escape in a JSON file), which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


class NativeEmbedder(Embedder):
    """A BERT-like encoder with mean pooling, run without transformers.

    Args:
        encoder: The model; it may be on any device.
        tokenizer: Its tokenizer; truncation and padding are set here.
        name: What people call it.
        max_tokens: How far a text is read.
        prompt: Put before every text, where the model was trained with one.
        lower_case: Lower the text first, where the model's folder asks for it.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        tokenizer: Tokenizer,
        *,
        name: str,
        max_tokens: int = 256,
        prompt: str = "",
        lower_case: bool = False,
    ) -> None:
        places = encoder.config.max_position_embeddings - encoder.config.first_position
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.name = name
        self.dim = encoder.config.hidden_size
        self.max_tokens = min(max_tokens, places)
        self.prompt = prompt
        self.lower_case = lower_case
        self._tokens_per_batch: int | None = None  # lower than the device's after it ran out of memory
        self._counter: Tokenizer | None = None
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)

    @property
    def key(self) -> str:
        """Name of the model and hash of its weights and settings."""
        settings = (self.max_tokens, self.prompt, self.lower_case, self.tokenizer.to_str())
        return f"{self.name}:{digest(self.encoder.state_dict().items(), *settings)[:32]}"

    @property
    def device(self) -> torch.device:
        """Where the encoder is now."""
        return self.encoder.tokens.weight.device

    def prepared(self, text: str) -> str:
        """Return ``text`` as the tokenizer gets it."""
        text = whole_characters(self.prompt + text)
        return text.lower() if self.lower_case else text

    def token_counts(self, texts: Sequence[str]) -> IdArray:
        """Return how many tokens each text has (n,), special ones included."""
        if self._counter is None:
            self._counter = Tokenizer.from_str(self.tokenizer.to_str())
            self._counter.no_truncation()
        counts = np.empty(len(texts), dtype=np.int64)
        for start in range(0, len(texts), WINDOW):
            part = [self.prepared(text) for text in texts[start : start + WINDOW]]
            counts[start : start + WINDOW] = [len(e.ids) for e in self._counter.encode_batch_fast(part)]
        return counts

    def batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[IdArray, FloatArray]]:
        """Yield (places, vectors), longest texts first within each `WINDOW` texts."""
        self.encoder.eval()
        for start in range(0, len(texts), WINDOW):
            part = [self.prepared(text) for text in texts[start : start + WINDOW]]
            ids = [e.ids for e in self.tokenizer.encode_batch_fast(part)]
            order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
            while order:
                size = self._rows(len(ids[order[0]]), batch_size)
                batch, order = order[:size], order[size:]
                yield np.array(batch, dtype=np.int64) + start, self._vectors([ids[i] for i in batch])

    def _rows(self, longest: int, batch_size: int | None) -> int:
        budget = self._tokens_per_batch or TOKENS_PER_BATCH.get(self.device.type, 2048)
        rows = max(1, budget // max(longest, 1))
        return min(rows, batch_size) if batch_size else rows

    def _vectors(self, ids: list[list[int]]) -> FloatArray:
        """Return the vectors of token ids, in halves where the GPU's memory is too small."""
        try:
            return self._forward(ids)
        except torch.cuda.OutOfMemoryError:
            if len(ids) == 1:
                raise UserError(
                    "The GPU has no memory left for even one text: close other programs or choose the CPU."
                ) from None
        torch.cuda.empty_cache()
        half = len(ids) // 2
        self._tokens_per_batch = max(1, half * len(ids[0]))
        return np.concatenate([self._vectors(ids[:half]), self._vectors(ids[half:])])

    @torch.inference_mode()
    def _forward(self, ids: list[list[int]]) -> FloatArray:
        lengths = torch.tensor([len(one) for one in ids])
        longest = int(lengths.max())
        padded = torch.full((len(ids), longest), self.encoder.config.pad_token_id)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = torch.tensor(one)
        mask = None if int(lengths.min()) == longest else torch.arange(longest) < lengths[:, None]
        out = self.encoder(padded.to(self.device), None if mask is None else mask.to(self.device))
        return out.float().cpu().numpy()
