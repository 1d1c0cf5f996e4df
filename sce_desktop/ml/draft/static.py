"""Static text vectors: one vector for each token of the vocabulary, and a text's is their mean.

Distilled from a model's own text encoder by `research.draft`, in the way of model2vec (van Dongen, Tulkens:
https://github.com/MinishLab/model2vec, MIT). They lie in the space of the encoder's vectors, so that the
model's own head scores them against its own label vectors. Kept beside the model as ``draft.safetensors``:

- ``tokens`` (V, r) int8 and ``scales`` (V,) float16: the token vectors, by number, a scale each,
- ``map`` (r, d) float16: from their r numbers to the d of the encoder,
- metadata: ``format``; ``encoder``, the key of the text encoder that they were distilled from; and
  ``read_first``, how many texts of a table the encoder has to read, by which the vectors of all are moved
  (`StaticVectors.moved`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from tokenizers import Tokenizer
from torch import Tensor

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.giving_way import give_way
from sce_desktop.core.i18n import _
from sce_desktop.data.atomic import replacing
from sce_desktop.ml.encoder.embedder import digest, readable
from sce_desktop.ml.encoder.word_tokens import WordTokens
from sce_desktop.ml.hub import model_files, weight_check
from sce_desktop.ml.hub.tokenizer_check import encode

DRAFT = "draft.safetensors"
FORMAT = "1"
MAX_TOKENS = 64
"""How far a text is read."""
CHARACTERS = 6 * MAX_TOKENS
"""Beyond, a text is not even tokenised: an English token has four to five characters."""
ROWS = 256
"""Texts at once."""


class StaticVectors:
    """Makes vectors (n, d) of unit length from texts, thousands a second on a core.

    Args:
        tokens: (V, r) int8.
        scales: (V,), of each token's vector.
        to_text: (r, d), to the space of the encoder's vectors.
        tokenizer: The encoder's own.
        encoder: Key of the encoder that they were distilled from.
        read_first: How many texts of a table `moved` wants; 0: it gains nothing.
        offset: (d,), what is added to each vector; None: nothing yet.
    """

    def __init__(
        self,
        tokens: Tensor,
        scales: Tensor,
        to_text: Tensor,
        tokenizer: Tokenizer,
        encoder: str,
        *,
        read_first: int = 0,
        offset: FloatArray | None = None,
    ) -> None:
        self.tokens, self.scales, self.to_text = tokens, scales, to_text
        self.tokenizer = tokenizer
        self.encoder = encoder
        self.read_first, self.offset = read_first, offset
        self._table = torch.cat([tokens.float() * scales.float()[:, None], torch.zeros(1, tokens.shape[1])])
        self._map = to_text.float()
        self._words = WordTokens.of(tokenizer, DRAFT)

    @property
    def dim(self) -> int:
        """The width of a text vector."""
        return self.to_text.shape[1]

    @property
    def key(self) -> str:
        """Hash of all numbers."""
        numbers: list[tuple[str, Tensor]] = [
            ("tokens", self.tokens),
            ("scales", self.scales),
            ("map", self.to_text),
        ]
        if self.offset is not None:
            numbers.append(("offset", torch.from_numpy(self.offset)))
        return digest(numbers, MAX_TOKENS)

    def moved(self, texts: Sequence[str], vectors: FloatArray) -> StaticVectors:
        """Return these, moved by the mean difference of some ``texts`` to the encoder's ``vectors`` (n, d).

        Texts in a language that the training lacked are all off in the same direction, which would be taken
        for a part of what they are about. A few dozen texts tell which.
        """
        apart = np.asarray(vectors - self.encode(texts), np.float32).mean(axis=0)
        offset = apart if self.offset is None else self.offset + apart
        return StaticVectors(
            self.tokens,
            self.scales,
            self.to_text,
            self.tokenizer,
            self.encoder,
            read_first=self.read_first,
            offset=offset,
        )

    def token_ids(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of all texts' tokens behind one another, and where each text's begin (n,).

        A text in which there are no tokens has one, whose vector is zero.
        """
        read = [readable(text[:CHARACTERS]) for text in texts]
        numbers, sizes = self._tokenised(read)
        starts = np.cumsum(sizes) - sizes
        if (empty := np.flatnonzero(sizes == 0)).size:
            numbers = np.insert(numbers, starts[empty], len(self.tokens))
            sizes = np.maximum(sizes, 1)
            starts = np.cumsum(sizes) - sizes
        return numbers, starts

    def _tokenised(self, texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self._words is not None:
            runs = self._words(texts, MAX_TOKENS, special=False)
            return runs.ids.astype(np.int64), runs.sizes
        ids = [one.ids[:MAX_TOKENS] for one in encode(self.tokenizer, texts, DRAFT, special=False)]
        sizes = np.fromiter(map(len, ids), np.int64, len(ids))
        return np.fromiter(chain.from_iterable(ids), np.int64, int(sizes.sum())), sizes

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return the vectors (n, d) of ``texts``; of a text without tokens zeros."""
        out = np.empty((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), ROWS):
            give_way()
            numbers, starts = self.token_ids(texts[start : start + ROWS])
            means = F.embedding_bag(
                torch.from_numpy(numbers), self._table, torch.from_numpy(starts), mode="mean"
            )
            found = F.normalize(means @ self._map, dim=1)
            if self.offset is not None:
                found = F.normalize(found + torch.from_numpy(self.offset), dim=1)
            out[start : start + ROWS] = found.numpy()
        return out

    def save(self, folder: Path) -> Path:
        """Write them beside the model in ``folder``, whole or not at all; return the file."""
        state = {"tokens": self.tokens, "scales": self.scales.half(), "map": self.to_text.half()}
        kept = {name: tensor.contiguous() for name, tensor in state.items()}
        file = folder / DRAFT
        with replacing(file) as aside:
            about = {"format": FORMAT, "encoder": self.encoder, "read_first": str(self.read_first)}
            aside.write_bytes(save(kept, about))
        return file


def load(folder: Path, tokenizer: Tokenizer, encoder: str, *, width: int) -> StaticVectors | None:
    """Return the static vectors beside a model; None: it has none, or those of another encoder.

    Args:
        folder: Of the model.
        tokenizer: Of its text encoder.
        encoder: Key of its text encoder (`model.encoder_key`).
        width: Of that encoder's vectors.

    Raises:
        UserError: The file is damaged.
    """
    file = folder / DRAFT
    if not file.is_file():
        return None
    damaged = UserError(_("{file} is cut or damaged: copy or download the model again.", file=file))
    model_files.check_regular(file)
    facts = weight_check.read_header(file)
    try:
        with safe_open(file, "pt") as stored:
            about = stored.metadata() or {}
            if (about.get("format"), about.get("encoder")) != (FORMAT, encoder):
                return None
            if set(facts) != {"tokens", "scales", "map"}:
                raise damaged
            tokens, scales, to_text = (stored.get_tensor(name) for name in ("tokens", "scales", "map"))
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        raise damaged from error
    fits = tokens.dtype == torch.int8 and tokens.ndim == to_text.ndim == 2
    fits = fits and scales.shape == tokens.shape[:1] and to_text.shape == (tokens.shape[1], width)
    highest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=0)
    if not fits or highest >= len(tokens) or not (scales.isfinite().all() and to_text.isfinite().all()):
        raise damaged
    first = about.get("read_first", "0")
    if not re.fullmatch("[0-9]{1,3}", first):
        raise damaged
    return StaticVectors(tokens, scales, to_text, tokenizer, encoder, read_first=int(first))
