"""A model that knows the table: a row's answer also counts what the other rows say, labelled by nobody.

A zero-shot model reads each text alone and takes a label for what its name means anywhere. The rows of one
table say more: what "Support" is *here*, and which rows belong together. Two steps use that, from text
vectors and scores alone (docs/research/whole-table.md has what was measured):

1. Each label's vector is drawn to the rows that the model gives it, by expectation and maximisation as in a
   mixture of directions (Banerjee et al. 2005, JMLR 6); less far where a fine-tune has had examples of the
   label, which say better where it lies. The score of label k changes by
   alpha d_k.(q - c_k), where c_k is the mean of its rows, weighted by their probability, and d_k is how far
   the label was drawn. It is 0 for the label's own rows on the whole: which rows a label gets may change,
   its room does not, so that a rare label is not pushed up as if all were equally frequent (what
   `core.scoring.balance_labels` does).
2. Half of a row's probabilities are those of the rows most like it (label propagation, Zhou et al. 2004);
   less where the table has few rows for its labels.

Neither depends on the order of labels or of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from heapq import nsmallest
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.labels import asks_yes_no, check_scorable
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Scores, TextModel, VectorCache
from sce_desktop.ml.encoder.embedder import Embedder, cached_encode

MOST_ROWS = 5_000
"""Rows that stand for the table: more cost time and hardly tell more."""
DRAWN = 0.5
"""How far a label with many rows is drawn to them: 0 stays at its name, 1 ends at their mean."""
HELD = 20.0
"""A label with so many rows is drawn half as far."""
TAUGHT = 2.0
"""A label of which a fine-tune has had so many examples is drawn half as far."""
PASSES = 3
NEIGHBOURS = 10
SHARPNESS = 20.0
"""Neighbours count by the softmax of so many times their cosine."""
SHARE = 0.5
ENOUGH = 30.0
"""Rows a label from which neighbours have that share; with fewer they are seldom of the same label."""
COPY = 1 - 1e-5
"""Rows from this cosine up say the same and are no neighbours: they tell nothing new."""
ROWS_AT_ONCE = 512


class VectorModel(TextModel, Protocol):
    """What a model must be able to do to know a table: everything from text vectors."""

    @property
    def text_embedder(self) -> Embedder:
        """What makes its text vectors."""

    @property
    def sharpness(self) -> float:
        """By how much a cosine with a label's vector changes its log-probability."""

    def label_directions(self, labels: Sequence[Label]) -> Tensor | None:
        """Return label vectors (K, d_q) of unit length among the text vectors; None: it has none."""

    def label_examples(self, labels: Sequence[Label]) -> Tensor:
        """Return how many rows (K,) it has learned each label from."""

    def score(
        self,
        vectors: FloatArray,
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Return probabilities (n, K) from text vectors (n, d_q)."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """What a label set is in the table: m rows that stand for it, K labels."""

    drawn: Tensor  # (K, d_q): sharpness x d_k
    level: Tensor  # (K,): sharpness x d_k.c_k
    share: float  # of neighbours
    answers: Tensor  # (m, K), or (m, K + 1) with the probability that none fits


class InTable:
    """A `core.runs.TextModel` that scores as ``model`` does, and counts the rows of a table in.

    With labels that are judged each by itself (several labels a row, or one label alone) it answers as
    ``model`` does: there is nothing that rows could tell of one another.

    Args:
        model: An `SCEModel` or a `SimilarityModel`.
        vectors: (m, d_q) of the rows that stand for the table, one at least; beyond `MOST_ROWS` rows cost
            time and hardly tell more.
        rows: What tells those rows from others, for the fingerprint.
    """

    def __init__(self, model: VectorModel, vectors: FloatArray, *, rows: str = "") -> None:
        if not len(vectors):
            raise ValueError("a table without rows tells nothing")
        self.model = model
        self.kind, self.name, self.labels = model.kind, model.name, model.labels
        self.max_tokens, self.text_embedder = model.max_tokens, model.text_embedder
        self.vectors = vectors
        self.rows = rows
        self._fitted: tuple[tuple[Label, ...], _Fit] | None = None

    @classmethod
    def of(
        cls,
        model: VectorModel,
        standing: Sequence[str],
        *,
        before: InTable | None = None,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> InTable:
        """Return ``model`` in the table that the texts of a `sample` of its rows stand for.

        What is known ``before`` is used again as far as it is of the same rows.

        Raises:
            ValueError: There are no texts.
        """
        rows = rows_key(standing)
        if before is None or (before.rows, before.text_embedder.key) != (rows, model.text_embedder.key):
            return cls(model, cached_encode(model.text_embedder, standing, cache, progress), rows=rows)
        return before if before.model is model else cls(model, before.vectors, rows=rows)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the model and of the rows that stand for the table, in any order."""
        return fingerprint(self.model, self.rows)

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Score non-blank ``texts`` against ``labels``; they need not be rows of the table.

        Raises:
            UserError: There is no label.
        """
        check_scorable(labels)
        vectors = cached_encode(self.text_embedder, texts, cache, progress)
        return self.score(vectors, labels, multi_label=multi_label, progress=progress)

    def score(
        self,
        vectors: FloatArray,
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Return probabilities (n, K) from text vectors (n, d_q), in the order of ``labels``."""
        own = self.model.score(vectors, labels, multi_label=multi_label, progress=progress)
        if asks_yes_no(labels, multi_label=multi_label):
            return own
        fit = self._fit(labels, progress)
        table = torch.from_numpy(self.vectors).to(fit.answers.device)
        found = np.empty((len(vectors), fit.answers.shape[1]), dtype=np.float32)
        for start in range(0, len(vectors), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            q = torch.tensor(vectors[part], device=table.device)
            answers = answers_by(own, part, q, fit.drawn, fit.level)
            found[part] = with_neighbours(answers, q, table, fit.answers, fit.share).cpu().numpy()
            if progress is not None:
                progress.check()
        return Scores(found[:, : len(labels)], found[:, -1] if own.none is not None else None)

    def _fit(self, labels: Sequence[Label], progress: Progress | None) -> _Fit:
        if self._fitted is None or self._fitted[0] != tuple(labels):
            self._fitted = tuple(labels), self._fitted_to(labels, progress)
        return self._fitted[1]

    def _fitted_to(self, labels: Sequence[Label], progress: Progress | None) -> _Fit:
        own = self.model.score(self.vectors, labels, progress=progress)
        names = self.model.label_directions(labels)
        q = torch.from_numpy(self.vectors)
        if names is None:
            drawn, level = q.new_zeros(len(labels), q.shape[1]), q.new_zeros(len(labels))
        else:
            q = q.to(names.device)
            examples = self.model.label_examples(labels)
            drawn, level = drawn_labels(own, q, names, examples, self.model.sharpness)
        answers = answers_by(own, slice(None), q, drawn, level)
        return _Fit(drawn, level, share_of(answers[:, : len(labels)]), answers)


def fingerprint(model: TextModel, rows: str) -> str:
    """Return the fingerprint that ``model`` has in the table that ``rows`` of `rows_key` stand for."""
    settings = (DRAWN, HELD, TAUGHT, PASSES, NEIGHBOURS, SHARPNESS, SHARE, ENOUGH)
    return sha256(repr((model.fingerprint, rows, settings)).encode()).hexdigest()


def rows_key(standing: Iterable[str]) -> str:
    """Return what tells the texts of a `sample` from others."""
    return sha256(b"".join(map(_hash, standing))).hexdigest()


def sample(texts: Iterable[str]) -> list[str]:
    """Return at most `MOST_ROWS` of ``texts`` that are not blank, in an order that is always the same.

    A hash of the text says which ones, so that most stay when rows are added: each text is as likely as any,
    and all copies of one are in or out together.
    """
    return nsmallest(MOST_ROWS, filter(str.strip, texts), key=_hash)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def drawn_labels(
    own: Scores, q: Tensor, names: Tensor, examples: Tensor, sharpness: float
) -> tuple[Tensor, Tensor]:
    """Return how far labels are drawn to the rows ``q`` (m, d_q), times ``sharpness``.

    ``own``: what the model says of these rows; ``names`` (K, d_q), ``examples`` (K,): the `VectorModel`'s.

    Returns:
        d_k (K, d_q), and d_k.c_k (K,) with the means c_k of the labels' rows.
    """
    p = torch.from_numpy(own.probabilities).to(q.device)
    drawn, level = torch.zeros_like(names), q.new_zeros(len(names))
    freedom = DRAWN * TAUGHT / (TAUGHT + examples)
    for _ in range(PASSES):
        rows = p.sum(0).clamp_min(1e-6)
        means = (p.T @ q) / rows[:, None]
        share = (freedom * rows / (rows + HELD))[:, None]
        towards = F.normalize((1 - share) * names + share * F.normalize(means, dim=1), dim=1)
        drawn = sharpness * (towards - names)
        level = (means * drawn).sum(1)
        p = answers_by(own, slice(None), q, drawn, level)[:, : len(names)]
    return drawn, level


def answers_by(own: Scores, part: slice, q: Tensor, drawn: Tensor, level: Tensor) -> Tensor:
    """Return the probabilities (n, K) of the rows ``part`` with drawn labels; that of none behind them."""
    p = torch.from_numpy(own.probabilities[part]).to(q.device)
    found = torch.softmax(p.clamp_min(1e-30).log() + q @ drawn.T - level, 1)
    if own.none is None:
        return found
    return torch.column_stack([found, torch.from_numpy(own.none[part]).to(q.device)])


def share_of(answers: Tensor) -> float:
    """Return how much neighbours have to say in a table whose rows have these probabilities (m, K).

    The labels count as often as equally frequent ones would that repeat as much (inverse Simpson index): a
    table with most of its rows in three of fifty labels has neighbours for nearly all of them.
    """
    labels = 1 / float(answers.mean(0).square().sum())
    return SHARE * min(1.0, len(answers) / (labels * ENOUGH))


def with_neighbours(answers: Tensor, q: Tensor, table: Tensor, known: Tensor, share: float) -> Tensor:
    """Return ``answers`` (n, ·) drawn to those ``known`` (m, ·) of the most similar rows of ``table``.

    ``q`` (n, d_q) and ``table`` (m, d_q) are the text vectors.
    """
    cosines = q @ table.T
    cosines.masked_fill_(cosines > COPY, -torch.inf)
    nearest, places = cosines.topk(min(NEIGHBOURS, len(table)), 1)
    weights = torch.softmax(SHARPNESS * nearest.clamp_min(-1e4), 1)
    weights = torch.where(nearest.isfinite(), weights, 0.0)  # fewer neighbours than asked for
    around = torch.einsum("nk,nkc->nc", weights, known[places])
    alone = ~nearest.isfinite().any(1, keepdim=True)
    return torch.where(alone, answers, torch.lerp(answers, around, share))
