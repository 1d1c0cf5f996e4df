"""Text vectors made on several devices by worker processes, each with a copy of the encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from safetensors.torch import load, save
from tokenizers import Tokenizer

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.ml.encoder.bert import EncoderConfig, TextEncoder
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.parallel.pool import Opener, WorkerPool, processes_for

BLOCK = 1024
"""Texts that a worker reads together, however many there are: so vectors do not depend on their number."""


@dataclass(frozen=True)
class EncoderCopy:
    """A `NativeEmbedder` as bytes and settings: an `ml.parallel.pool.Opener`."""

    config: EncoderConfig
    weights: bytes  # as safetensors
    tokenizer: str  # as JSON
    settings: dict[str, Any]

    @classmethod
    def of(cls, embedder: NativeEmbedder) -> EncoderCopy:
        """Copy ``embedder``."""
        state = {k: v.detach().cpu().contiguous() for k, v in embedder.encoder.state_dict().items()}
        names = ("name", "max_tokens", "prompt", "lower_case", "precision")
        settings = {name: getattr(embedder, name) for name in names}
        return cls(embedder.encoder.config, save(state), embedder.tokenizer.to_str(), settings)

    def embedder(self, device: str) -> NativeEmbedder:
        """Return the copy on ``device``."""
        with torch.device("meta"):
            encoder = TextEncoder(self.config)
        encoder.load_state_dict(load(self.weights), assign=True)
        encoder.to(device).eval()
        return NativeEmbedder(encoder, Tokenizer.from_str(self.tokenizer), **self.settings)

    def open(self, device: str) -> Callable[[Sequence[str]], FloatArray]:
        """Return what makes vectors (n, d) of n texts."""
        return self.embedder(device).encode


class Workers(Protocol):
    """A `WorkerPool`, or workers elsewhere."""

    def map(self, blocks: Iterable[Any], progress: Progress) -> Iterator[Any]:
        """Yield the result of each block, in their order."""

    def close(self) -> None:
        """End them."""


class EmbedderPool:
    """Makes the vectors of one embedder on ``devices``; processes start when they are first needed."""

    alone = BLOCK

    def __init__(self, devices: Sequence[str], start: Callable[[Opener], Workers] | None = None) -> None:
        """``start``: makes the workers, None: processes on ``devices``."""
        self.devices = tuple(devices)
        self._start = start or self._processes
        self._pool: Workers | None = None
        self._noted = SilentProgress()

    def batches(self, embedder: NativeEmbedder, texts: Sequence[str]) -> Iterator[tuple[IdArray, FloatArray]]:
        """Yield (places in ``texts`` (b,), vectors (b, d)), `BLOCK` at a time and in their order.

        Raises:
            UserError: No device is left.
        """
        if self._pool is None:
            self._pool = self._start(EncoderCopy.of(embedder))
        start = 0
        blocks = (list(texts[at : at + BLOCK]) for at in range(0, len(texts), BLOCK))
        for vectors in self._pool.map(blocks, self._noted):
            yield np.arange(start, start + len(vectors)), vectors
            start += len(vectors)

    def _processes(self, opener: Opener) -> Workers:
        return WorkerPool(opener, processes_for(self.devices))

    def rest(self) -> None:
        """End the processes; the next texts start others."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def notes(self) -> list[str]:
        """Return, once, what went wrong on the way without stopping it, a sentence each."""
        found = list(self._noted.warnings)
        self._noted.warnings.clear()
        return found
