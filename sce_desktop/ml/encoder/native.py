"""A BERT-like encoder as an `Embedder`, run with tokenizers, safetensors and torch alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.precision import BFLOAT16, FLOAT16, FLOAT32, keyed
from sce_desktop.ml.encoder.bert import TextEncoder
from sce_desktop.ml.encoder.embedder import Embedder, digest, in_halves, readable, windows
from sce_desktop.ml.encoder.gpu_encoder import GPUEncoder, TokenIds, ahead, pad
from sce_desktop.ml.encoder.reduced import ReducedEncoder
from sce_desktop.ml.encoder.word_tokens import WordTokens
from sce_desktop.ml.hub.tokenizer_check import encode

TOKENS_PER_BATCH = {"cpu": 768, "cuda": 65536, "mps": 16384}
WINDOWS_AHEAD = 2
"""That are tokenised, each in a thread of its own, while a GPU works, where words cannot be looked up."""
BATCHES_AHEAD = 8
"""That a GPU is given while it works at another: about two windows of short texts."""


class VectorPool(Protocol):
    """Several devices that make the vectors of one embedder (`ml.parallel.embedder`)."""

    alone: int
    """As many texts are not worth their while."""

    def batches(self, embedder: NativeEmbedder, texts: Sequence[str]) -> Iterator[tuple[IdArray, FloatArray]]:
        """Yield (places in ``texts`` (b,), vectors (b, dim)), each text once."""

    def notes(self) -> Sequence[str]:
        """Return, once, what went wrong on the way without stopping it, a sentence each."""


class NativeEmbedder(Embedder):
    """A BERT-like encoder with mean pooling, run without transformers.

    Args:
        encoder: The model; it may be on any device, and its weights must not change any more.
        tokenizer: Its tokenizer; truncation and padding are set here.
        name: What people call it.
        max_tokens: How far a text is read.
        prompt: Put before every text, where the model was trained with one.
        lower_case: Lower the text first, where the model's folder asks for it.
        precision: What the layers multiply in, as `precision` allows it where the encoder is: by
            `reduced` on a CPU, by `gpu_encoder` on an NVIDIA GPU.
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
        precision: str = FLOAT32,
    ) -> None:
        places = encoder.config.max_position_embeddings - encoder.config.first_position
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.name = name
        self.dim = encoder.config.hidden_size
        self.max_tokens = min(max_tokens, places)
        self.prompt = prompt
        self.lower_case = lower_case
        self.precision = precision
        self._tokens_per_batch: int | None = None  # less than the device's once it ran out of memory
        self._gpu: GPUEncoder | None = None
        self.pool: VectorPool | None = None  # of processes on several devices
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)

    @cached_property
    def key(self) -> str:
        """Name of the model and hash of its weights and settings; the precision too, unless it is float32."""
        return keyed(self.weights_key, self.precision)

    @cached_property
    def weights_key(self) -> str:
        """Name of the model and hash of its weights and settings: the same in every precision."""
        settings = (self.max_tokens, self.prompt, self.lower_case, self.tokenizer.to_str())
        return f"{self.name}:{digest(self.encoder.state_dict().items(), *settings)[:32]}"

    @cached_property
    def words(self) -> WordTokens | None:
        """Looks up the tokens of words; None: this tokenizer reads whole texts."""
        return WordTokens.of(self.tokenizer, self.name)

    @property
    def device(self) -> torch.device:
        """Where the encoder is now."""
        return self.encoder.device

    def notes(self) -> Sequence[str]:
        """Return, once, which devices have failed, a sentence each."""
        return () if self.pool is None else self.pool.notes()

    def _prepared(self, texts: Sequence[str]) -> list[str]:
        whole = [readable(self.prompt + text) for text in texts]
        return [text.lower() for text in whole] if self.lower_case else whole

    def token_counts(self, texts: Sequence[str]) -> IdArray:
        """Return how many tokens each text has (n,), special ones included."""
        if self.words is not None:
            whole = [self.words(self._prepared(part), self.max_tokens).whole for _, part in windows(texts)]
            return np.concatenate(whole) if whole else np.empty(0, np.int64)
        # What is cut off is counted where it lies: a second tokenizer that cuts nothing would have to be
        # parsed, and that stops every thread meanwhile.
        special = self.tokenizer.num_special_tokens_to_add(False)
        counts = [
            special + sum(len(piece.ids) - special for piece in (found, *found.overflowing))
            for _, part in windows(texts)
            for found in encode(self.tokenizer, self._prepared(part), self.name)
        ]
        return np.array(counts, dtype=np.int64)

    def batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[IdArray, FloatArray]]:
        """Yield (places, vectors), longest texts first within each window.

        A GPU has the next batches, and the windows behind them are being tokenised, while the caller looks at
        one.
        """
        if self.pool is not None and batch_size is None and len(texts) > self.pool.alone:
            yield from self.pool.batches(self, texts)
            return
        self.encoder.eval()
        gpu = self._on_gpu()
        if gpu is None:
            for places, ids in self._cut(self._windows(texts), batch_size):
                yield places, in_halves(self._forward, ids, self._shrink)
            return
        # Looking words up needs the interpreter's lock, so it is this thread's work between two launches.
        read = self._windows_ahead(texts) if self.words is None else self._windows(texts)
        cut = self._cut(read, batch_size)
        launched = ((places, self._launch(gpu, ids)) for places, ids in cut)
        for places, vectors in ahead(launched, BATCHES_AHEAD):
            yield places, vectors()

    def _windows(self, texts: Sequence[str]) -> Iterator[tuple[int, list[TokenIds]]]:
        for start, part in windows(texts):
            yield start, self.token_ids(part)

    def _windows_ahead(self, texts: Sequence[str]) -> Iterator[tuple[int, list[TokenIds]]]:
        _start, first = next(windows(texts), (0, texts))
        if len(first) == len(texts):
            yield from self._windows(texts)
            return
        with ThreadPoolExecutor(WINDOWS_AHEAD) as threads:
            # The threads do what needs no lock of the interpreter; whatever needs it would hold up this one.
            read = (
                (start, threads.submit(encode, self.tokenizer, self._prepared(part), self.name))
                for start, part in windows(texts)
            )
            for start, encoded in ahead(read, WINDOWS_AHEAD):
                yield start, self._ids_of(encoded.result())

    def _cut(
        self, tokenised: Iterable[tuple[int, list[TokenIds]]], batch_size: int | None
    ) -> Iterator[tuple[IdArray, list[TokenIds]]]:
        for start, ids in tokenised:
            order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
            at = 0
            while at < len(order):
                batch = order[at : at + self._rows(len(ids[order[at]]), batch_size)]
                at += len(batch)
                yield np.array(batch, dtype=np.int64) + start, [ids[i] for i in batch]

    def token_ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return the ids of each text's tokens, special ones included, one at least, as far as it is read."""
        prepared = self._prepared(texts)
        if self.words is None:
            return self._ids_of(encode(self.tokenizer, prepared, self.name))
        runs = self.words(prepared, self.max_tokens)
        self._check_ids(int(runs.ids.max(initial=0)))
        nothing = np.array([self.encoder.config.pad_token_id], np.int32)
        return [ids if len(ids) else nothing for ids in runs.each()]

    def _ids_of(self, encoded: list[Encoding]) -> list[TokenIds]:
        nothing = [self.encoder.config.pad_token_id]  # where a tokenizer without special tokens finds none
        found = [np.array(one.ids or nothing, dtype=np.int64) for one in encoded]
        self._check_ids(max((int(ids.max()) for ids in found), default=0))
        return [ids.astype(np.int32) for ids in found]

    def _check_ids(self, highest: int) -> None:
        if highest >= self.encoder.config.vocab_size:
            raise UserError(
                _(
                    "{model} and its tokenizer do not belong together (token {token}).",
                    model=self.name,
                    token=highest,
                )
            )

    def _rows(self, longest: int, batch_size: int | None) -> int:
        budget = self._tokens_per_batch or TOKENS_PER_BATCH.get(self.device.type, 2048)
        rows = max(1, budget // longest)
        return min(rows, batch_size) if batch_size else rows

    def _shrink(self, rows: int) -> None:
        budget = self._tokens_per_batch or TOKENS_PER_BATCH.get(self.device.type, 2048)
        self._tokens_per_batch = min(budget // 2, rows * self.max_tokens)

    def _on_gpu(self) -> GPUEncoder | None:
        if self.precision not in (FLOAT16, BFLOAT16) or self.device.type != "cuda":
            self._gpu = None
        elif self._gpu is None or self._gpu.device != self.device:
            self._gpu = GPUEncoder.from_encoder(self.encoder, self.precision)
        return self._gpu

    def _launch(self, gpu: GPUEncoder, ids: list[TokenIds]) -> Callable[[], FloatArray]:
        """Begin with a batch on the GPU; return what waits for its vectors."""
        try:
            wait = gpu.launch(ids)
        except torch.cuda.OutOfMemoryError:
            found = in_halves(lambda some: gpu.launch(some)(), ids, self._shrink)
            wait = lambda: found  # noqa: E731

        def vectors() -> FloatArray:
            found = wait()
            # A model that goes beyond the range of the half type has no number there.
            return found if np.isfinite(found).all() else in_halves(self._forward, ids, self._shrink)

        return vectors

    @torch.inference_mode()
    def _forward(self, ids: list[TokenIds]) -> FloatArray:
        return self.vectors(ids).float().cpu().numpy()

    def vectors(self, ids: Sequence[TokenIds]) -> Tensor:
        """Return the vectors (n, dim) of texts given as `token_ids`, with gradients where they are on.

        With gradients, and on a GPU, all is float32. It is the faster the more texts of equal length are
        neighbours.
        """
        # Many small attentions would starve a GPU: there, padding is cheaper.
        run = self._packed if self.device.type == "cpu" else self._padded
        return run(ids)

    def _packed(self, ids: Sequence[TokenIds]) -> Tensor:
        flat = torch.from_numpy(np.concatenate(ids)).long()
        lengths = [len(one) for one in ids]
        if self.precision in (FLOAT32, FLOAT16) or torch.is_grad_enabled():  # float16 is a GPU's
            return self.encoder.packed(flat, lengths)
        return self._reduced.packed(flat, lengths)

    @cached_property
    def _reduced(self) -> ReducedEncoder:
        return ReducedEncoder(self.encoder, self.precision)

    def _padded(self, ids: Sequence[TokenIds]) -> Tensor:
        padded, there = pad(ids, self.encoder.config.pad_token_id)
        tokens = torch.from_numpy(padded).long().to(self.device)
        return self.encoder(tokens, None if there.all() else torch.from_numpy(there).to(self.device))
