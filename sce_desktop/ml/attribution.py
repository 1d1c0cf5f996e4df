"""Which words of a text speak for a label: how much the model's own score falls without each of them.

The score is the log-odds of the label among all labels (of itself alone, where each label is a question of
its own). The text vector is the mean of what the encoder makes of the tokens: one word is left out of that
mean, and the model scores what remains (`pooled`). The text is read once, whatever its length. What is
approximate: the other tokens have seen the word before it was left out. By the deletion test that costs
little against reading the text again without each word, and gradients do far worse (docs/research/why.md).

An embedder that shows no tokens is given the text again without a word, or a window of words, at most
`MOST_VARIANTS` times (`occlusion`); of a long text the windows that change most are looked into.

With joint prediction it is the row's own part of the score: neighbours are other texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import asks_yes_no, check_scorable
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Scores
from sce_desktop.core.word_spans import Span, without_spans, word_spans
from sce_desktop.ml.encoder.embedder import Embedder
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.token_vectors import token_vectors

MOST_VARIANTS = 48
"""Texts that are read for one explanation, where each has to be read whole."""
MOST_WORDS = 512
"""Words that are looked at: more than the bundled models read."""
_LEAST = 1e-7  # a probability of its own is float32: what is nearer to 0 or 1 has no log-odds that count

LogOdds = Callable[[FloatArray], NDArray[np.float64]]
"""Of one label, (n,), by text vectors (n, d)."""
Method = Literal["pooled", "occlusion"]


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """What the words of a text do for one label.

    ``spans``: n words, in order, as characters of the text; ``weights`` (n,): by how much the log-odds of
    the label fall without each (negative: they rise); ``score``: the log-odds of the whole text; ``read``:
    how many characters the model reads.
    """

    spans: tuple[Span, ...]
    weights: FloatArray
    score: float
    read: int
    method: Method


def why_not(model: object) -> str:
    """Return why ``model`` has no weights of words, in one sentence; empty if it can have."""
    if embedder_of(model) is None or not hasattr(model, "score"):
        return _("Not available for LLMs, which make no text vectors.")
    return ""


def embedder_of(model: object) -> Embedder | None:
    """Return what makes the text vectors of ``model``; None for an LLM."""
    found = getattr(model, "text_embedder", None)
    return found if isinstance(found, Embedder) else None


def attribute(
    model: Any,
    text: str,
    labels: Sequence[Label],
    place: int,
    *,
    multi_label: bool = False,
    method: Method | None = None,
    progress: Progress | None = None,
) -> Attribution:
    """Weigh the words of a non-blank ``text`` for the label at ``place`` of ``labels``.

    Args:
        model: An SCE, a fine-tuned one, a `TransductiveModel`, or a `SimilarityModel`.
        text: As the model would score it.
        labels: The whole label set.
        place: Of the label that is explained.
        multi_label: As the row was scored.
        method: None: `pooled` where the embedder shows its tokens.
        progress: Checked between batches.

    Raises:
        UserError: The model makes no text vectors, or there is no label.
        Cancelled: Nobody wants to know any more.
    """
    if reason := why_not(model):
        raise UserError(reason)
    check_scorable(labels)
    embedder = embedder_of(model)
    assert embedder is not None
    log_odds = log_odds_by(model, labels, place, multi_label=multi_label, progress=progress)
    if method != "occlusion" and isinstance(embedder, NativeEmbedder):
        return _pooled(embedder, text, log_odds)
    return _occlusion(embedder, text, log_odds, progress)


def log_odds_by(
    model: Any, labels: Sequence[Label], place: int, *, multi_label: bool, progress: Progress | None = None
) -> LogOdds:
    """Return what gives the log-odds of one label by text vectors; of a joint model the row's own part."""
    score = getattr(model, "score_without_neighbours", model.score)
    alone = asks_yes_no(labels, multi_label=multi_label)

    def log_odds(vectors: FloatArray) -> NDArray[np.float64]:
        scores: Scores = score(vectors, labels, multi_label=multi_label, progress=progress)
        p = scores.probabilities.astype(np.float64)
        own = p[:, place]
        if alone:
            own = np.clip(own, _LEAST, 1 - _LEAST)
            return np.asarray(np.log(own) - np.log1p(-own))
        rest = np.delete(p, place, axis=1).sum(axis=1)  # 1 - own has no digits left where own is near 1
        return np.asarray(np.log(np.maximum(own, 1e-30)) - np.log(np.maximum(rest, 1e-30)))

    return log_odds


def _pooled(embedder: NativeEmbedder, text: str, log_odds: LogOdds) -> Attribution:
    tokens = token_vectors(embedder, text)
    starts, ends = tokens.spans.T
    read = int(ends.max(initial=0))
    spans = word_spans(text[:read], starts[ends > starts].tolist())[:MOST_WORDS]
    whole = tokens.vectors.sum(axis=0, dtype=np.float64)
    sums = [whole]
    for start, end in spans:
        own = (starts < end) & (ends > start)
        sums.append(whole - tokens.vectors[own].sum(axis=0, dtype=np.float64))
    vectors = np.stack(sums)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.maximum(lengths, 1e-12)
    scores = log_odds(vectors.astype(np.float32))
    return Attribution(tuple(spans), (scores[0] - scores[1:]).astype(np.float32), scores[0], read, "pooled")


def _occlusion(embedder: Embedder, text: str, log_odds: LogOdds, progress: Progress | None) -> Attribution:
    spans = word_spans(text)[:MOST_WORDS]
    score = float(log_odds(embedder.encode([text]))[0])
    weights = np.zeros(len(spans), dtype=np.float32)
    budget = MOST_VARIANTS

    def weigh(windows: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Return by how much the score falls without the words of each window."""
        variants = [without_spans(text, [spans[word] for word in window]) for window in windows]
        lost: NDArray[np.float64] = score - log_odds(embedder.encode(variants, progress=progress))
        return lost

    words = np.arange(len(spans))
    windows = np.array_split(words, min(len(words), budget if len(words) <= budget else budget // 2))
    windows = [window for window in windows if len(window)]
    if windows:
        lost = weigh(windows)
        for window, change in zip(windows, lost, strict=True):
            weights[window] = change / len(window)
        budget -= len(windows)
        inside: list[int] = []
        for place in np.argsort(-np.abs(lost)):
            if len(windows[place]) > 1 and len(inside) + len(windows[place]) <= budget:
                inside += windows[place].tolist()
        if inside:
            weights[inside] = weigh([np.array([word]) for word in inside])
    read = len(text)
    return Attribution(tuple(spans), weights, score, read, "occlusion")
