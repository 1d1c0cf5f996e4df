"""What a text encoder makes of each token of one text, before it takes their mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray
from sce_desktop.ml.encoder.embedder import readable
from sce_desktop.ml.encoder.native import NativeEmbedder


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The T tokens of a text that the model reads, special ones included.

    ``spans`` (T, 2): the characters of the text that each stands for, (0, 0) where it stands for none;
    ``vectors`` (T, d): the last hidden states, whose mean has the direction of the text's vector.
    """

    spans: NDArray[np.int64]
    vectors: FloatArray


def token_vectors(embedder: NativeEmbedder, text: str) -> TokenVectors:
    """Read ``text`` once, in float32 whatever the embedder multiplies in otherwise."""
    whole = readable(embedder.prompt + text)
    before = len(embedder.prompt)
    lowered = whole.lower() if embedder.lower_case else whole
    found = embedder.tokenizer.encode(lowered)
    spans = np.array(found.offsets, dtype=np.int64).reshape(-1, 2)
    if len(lowered) != len(whole):  # "İ" becomes two characters
        spans = _places(whole)[spans]
    spans = np.clip(spans - before, 0, len(text))
    spans[spans[:, 0] >= spans[:, 1]] = 0
    ids = found.ids or [embedder.encoder.config.pad_token_id]
    with torch.inference_mode():
        hidden = embedder.encoder.hidden(torch.tensor([ids], device=embedder.device))[0]
    if not found.ids:
        spans = np.zeros((1, 2), dtype=np.int64)
    return TokenVectors(spans, hidden.float().cpu().numpy())


def _places(whole: str) -> NDArray[np.int64]:
    """Return for each character of the lowered text, and for its end, the one of ``whole`` it comes from."""
    widths = np.array([len(character.lower()) for character in whole], dtype=np.int64)
    return np.append(np.repeat(np.arange(len(whole)), widths), len(whole))
