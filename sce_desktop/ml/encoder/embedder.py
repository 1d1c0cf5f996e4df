"""Text vectors: the frozen text model g of the paper, and what all of its kinds share.

`native` runs a BERT-like encoder; models of other kinds go through `sentence_transformer`. Vectors have unit
length and are float32 on every device, so that a cached vector serves wherever it was made. What was
multiplied in fewer bits (`precision`) has a key of its own.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.precision import FLOAT32
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache, as_kept

WINDOW = 4096
WINDOW_CHARACTERS = 1_000_000
"""Texts that are tokenised and sorted by length together, no more of either: tokens need far more memory."""
CHARACTERS_READ = 1_000_000
"""A longer text is not even tokenised beyond: no model reads that far."""


class Embedder(ABC):
    """A frozen text model g.

    ``key`` names the numbers it gives: same key, same vectors. ``dim`` is their width, ``max_tokens`` how far
    a text is read, special tokens included; ``precision`` what it multiplies in (`ml.encoder.precision`).
    """

    name: str
    dim: int
    max_tokens: int
    precision: str = FLOAT32

    @property
    @abstractmethod
    def key(self) -> str:
        """Name of the model and hash of its weights and settings; the precision too, unless it is float32."""

    @property
    def weights_key(self) -> str:
        """The ``key`` that it has in float32: the same in every precision."""
        return self.key

    @abstractmethod
    def batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[IdArray, FloatArray]]:
        """Yield (places in ``texts`` (b,), vectors (b, dim)) batch by batch, each text once, in any order."""

    @abstractmethod
    def token_counts(self, texts: Sequence[str]) -> IdArray:
        """Return how many tokens each text has (n,), special ones included; above ``max_tokens``: cut."""

    def notes(self) -> Sequence[str]:
        """Return, once, what went wrong on the way without stopping it, a sentence each."""
        return ()

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

    They are rounded as caches keep them, with and without one. A finished batch is in the cache before the
    next one begins, so that a cancel loses at most one. Reports how many of ``texts`` are done.
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
    done = len(distinct) - len(todo)
    for places, made in embedder.batches(todo):
        vectors[missing[places]] = as_kept(made)
        if cache is not None:
            cache.put(embedder.key, [todo[i] for i in places], made)
        if progress is not None:
            done += len(places)
            progress.report(len(texts) * done // len(distinct), len(texts), stage=_("embedding"))
            progress.check()
            for note in embedder.notes():
                progress.warn(note)
    if len(distinct) == len(texts):
        return vectors
    place = {text: i for i, text in enumerate(distinct)}
    return vectors[[place[text] for text in texts]]


def in_halves(
    run: Callable[[Any], FloatArray], batch: Any, smaller: Callable[[int], None] | None = None
) -> FloatArray:
    """Return ``run(batch)``; where memory is too small, of its halves, telling ``smaller`` their length.

    Raises:
        UserError: There is not even memory for one.
    """
    try:
        return run(batch)
    except RuntimeError as error:  # MPS has no class of its own for it
        if not isinstance(error, torch.cuda.OutOfMemoryError) and "out of memory" not in str(error):
            raise
        if len(batch) == 1:
            raise UserError(
                _("The GPU has no memory left for even one text: close other programs or choose the CPU.")
            ) from None
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    half = (len(batch) + 1) // 2
    if smaller is not None:
        smaller(half)
    parts = [in_halves(run, batch[:half], smaller), in_halves(run, batch[half:], smaller)]
    return np.concatenate(parts)


def digest(tensors: Iterable[tuple[str, Tensor]], *settings: object) -> str:
    """Return a SHA-256 over named tensors, as they are in memory, and settings."""
    sha = hashlib.sha256(repr(settings).encode())
    for name, tensor in sorted(tensors):
        sha.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        sha.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return sha.hexdigest()


def windows(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Cut ``texts`` into parts that are tokenised together; yield where each starts, and the part."""
    start = characters = 0
    for i, text in enumerate(texts):
        if i > start and (i - start == WINDOW or characters + len(text) > WINDOW_CHARACTERS):
            yield start, texts[start:i]
            start, characters = i, 0
        characters += len(text)
    if start < len(texts):
        yield start, texts[start:]


def readable(text: str) -> str:
    """Cut ``text`` where nobody reads on, and replace lone surrogates, which no tokenizer takes.

    Those come from JSON files with a broken ``\\ud83d`` escape.
    """
    text = text[:CHARACTERS_READ]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
