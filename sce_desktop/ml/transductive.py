"""Joint (transductive) prediction: the unlabelled rows of one table refine each other's predictions.

An inductive zero-shot model reads each text alone and takes a label for what its name means anywhere. The
rows of one table say more: what "Support" is *here*, and which rows belong together. Two steps use that, from
text vectors and scores alone (docs/research/whole-table.md has what was measured):

1. Prototype refinement: each label's vector moves towards the rows that the model gives it, by expectation
   and maximisation as in a mixture of directions (Banerjee et al. 2005, JMLR 6); less far where a fine-tune
   has had examples of the label, which say better where it lies. The score of label k changes by
   alpha d_k.(q - c_k), where c_k is the mean of its rows, weighted by their probability, and d_k is how far
   the label was moved. It is 0 for the label's own rows on the whole: which rows a label gets may change,
   its room does not, so that a rare label is not pushed up as if all were equally frequent (what
   `core.scoring.balance_labels` does).
2. kNN label smoothing: half of a row's probabilities are those of the rows most like it (Zhou et al. 2004);
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

MAX_ROWS = 5_000
"""Size of the reference sample: more rows cost time and hardly help."""
PROTOTYPE_WEIGHT = 0.5
"""How far the prototype of a label with many rows moves: 0 stays at its name, 1 ends at their mean."""
PRIOR_ROWS = 20.0
"""Prior strength: the prototype of a label with so many rows moves half as far."""
PRIOR_EXAMPLES = 2.0
"""Prior strength: with so many examples in a fine-tune, a prototype moves half as far."""
ITERATIONS = 3
NEIGHBOURS = 10
NEIGHBOUR_LOGIT_SCALE = 20.0
"""Neighbours count by the softmax of so many times their cosine."""
NEIGHBOUR_WEIGHT = 0.5
ROWS_PER_LABEL = 30.0
"""Rows per label from which neighbours have that weight; with fewer they seldom share a label."""
DUPLICATE_COSINE = 1 - 1e-5
"""Rows from this cosine up are duplicates and no neighbours: they add nothing."""
ROWS_AT_ONCE = 512


class VectorModel(TextModel, Protocol):
    """What a model must offer to be made transductive: everything from text vectors."""

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

    moved: Tensor  # (K, d_q): sharpness x d_k
    level: Tensor  # (K,): sharpness x d_k.c_k
    share: float  # of neighbours
    answers: Tensor  # (m, K), or (m, K + 1) with the probability that none fits


class TransductiveModel:
    """A `core.runs.TextModel` that scores as ``model`` does, refined by the rows of a table.

    With independent binary scoring (several labels a row, or one label alone) it predicts as ``model`` does.

    Args:
        model: An `SCEModel` or a `SimilarityModel`.
        vectors: (m, d_q) of the reference sample, one row at least; beyond `MAX_ROWS` rows cost time and
            hardly help.
        rows: What tells those rows from others, for the fingerprint.
    """

    def __init__(self, model: VectorModel, vectors: FloatArray, *, rows: str = "") -> None:
        if not len(vectors):
            raise ValueError("the reference sample is empty")
        self.model = model
        self.kind, self.name, self.labels = model.kind, model.name, model.labels
        self.max_tokens, self.text_embedder = model.max_tokens, model.text_embedder
        self.vectors = vectors
        self.rows = rows
        self._fitted: tuple[tuple[Label, ...], _Fit] | None = None

    @classmethod
    def from_texts(
        cls,
        model: VectorModel,
        reference: Sequence[str],
        *,
        previous: TransductiveModel | None = None,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> TransductiveModel:
        """Return ``model`` fitted to the texts of a `sample` of the table's rows.

        The vectors of ``previous`` are used again as far as it is of the same rows.

        Raises:
            ValueError: There are no texts.
        """
        rows = rows_key(reference)
        if previous is None or (previous.rows, previous.text_embedder.key) != (rows, model.text_embedder.key):
            return cls(model, cached_encode(model.text_embedder, reference, cache, progress), rows=rows)
        return previous if previous.model is model else cls(model, previous.vectors, rows=rows)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the model and of the reference sample, in any order."""
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
            answers = answers_by(own, part, q, fit.moved, fit.level)
            found[part] = smooth_with_neighbours(answers, q, table, fit.answers, fit.share).cpu().numpy()
            if progress is not None:
                progress.check()
        return Scores(found[:, : len(labels)], found[:, -1] if own.none is not None else None)

    def score_without_neighbours(
        self,
        vectors: FloatArray,
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Return what the texts themselves have to say in `score`: labels are refined, no row is smoothed."""
        own = self.model.score(vectors, labels, multi_label=multi_label, progress=progress)
        if asks_yes_no(labels, multi_label=multi_label):
            return own
        fit = self._fit(labels, progress)
        q = torch.tensor(vectors, device=fit.moved.device)
        answers = answers_by(own, slice(None), q, fit.moved, fit.level).cpu().numpy()
        return Scores(answers[:, : len(labels)], own.none)

    def _fit(self, labels: Sequence[Label], progress: Progress | None) -> _Fit:
        known = self._fitted  # read once: another thread may score other labels meanwhile
        if known is None or known[0] != tuple(labels):
            known = self._fitted = tuple(labels), self._fitted_to(labels, progress)
        return known[1]

    def _fitted_to(self, labels: Sequence[Label], progress: Progress | None) -> _Fit:
        own = self.model.score(self.vectors, labels, progress=progress)
        names = self.model.label_directions(labels)
        q = torch.from_numpy(self.vectors)
        if names is None:
            moved, level = q.new_zeros(len(labels), q.shape[1]), q.new_zeros(len(labels))
        else:
            q = q.to(names.device)
            examples = self.model.label_examples(labels)
            moved, level = refine_prototypes(own, q, names, examples, self.model.sharpness)
        answers = answers_by(own, slice(None), q, moved, level)
        return _Fit(moved, level, neighbour_weight(answers[:, : len(labels)]), answers)


def fingerprint(model: TextModel, rows: str) -> str:
    """Return the fingerprint that ``model`` has in the table that ``rows`` of `rows_key` stand for."""
    settings = (
        PROTOTYPE_WEIGHT,
        PRIOR_ROWS,
        PRIOR_EXAMPLES,
        ITERATIONS,
        NEIGHBOURS,
        NEIGHBOUR_LOGIT_SCALE,
        NEIGHBOUR_WEIGHT,
        ROWS_PER_LABEL,
    )
    return sha256(repr((model.fingerprint, rows, settings)).encode()).hexdigest()


def rows_key(reference: Iterable[str]) -> str:
    """Return what tells the texts of a `sample` from others."""
    return sha256(b"".join(map(_hash, reference))).hexdigest()


def sample(texts: Iterable[str]) -> list[str]:
    """Return at most `MAX_ROWS` of ``texts`` that are not blank, in an order that is always the same.

    A hash of the text says which ones, so that most stay when rows are added: each text is as likely as any,
    and all copies of one are in or out together.
    """
    return nsmallest(MAX_ROWS, filter(str.strip, texts), key=_hash)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def refine_prototypes(
    own: Scores, q: Tensor, names: Tensor, examples: Tensor, sharpness: float
) -> tuple[Tensor, Tensor]:
    """Return how far labels are moved to the rows ``q`` (m, d_q), times ``sharpness``.

    ``own``: what the model says of these rows; ``names`` (K, d_q), ``examples`` (K,): the `VectorModel`'s.

    Returns:
        d_k (K, d_q), and d_k.c_k (K,) with the means c_k of the labels' rows.
    """
    p = torch.from_numpy(own.probabilities).to(q.device)
    moved, level = torch.zeros_like(names), q.new_zeros(len(names))
    freedom = PROTOTYPE_WEIGHT * PRIOR_EXAMPLES / (PRIOR_EXAMPLES + examples)
    for _ in range(ITERATIONS):
        rows = p.sum(0).clamp_min(1e-6)
        means = (p.T @ q) / rows[:, None]
        share = (freedom * rows / (rows + PRIOR_ROWS))[:, None]
        towards = F.normalize((1 - share) * names + share * F.normalize(means, dim=1), dim=1)
        moved = sharpness * (towards - names)
        level = (means * moved).sum(1)
        p = answers_by(own, slice(None), q, moved, level)[:, : len(names)]
    return moved, level


def answers_by(own: Scores, part: slice, q: Tensor, moved: Tensor, level: Tensor) -> Tensor:
    """Return the probabilities (n, K) of the rows ``part`` with moved labels; that of none behind them."""
    p = torch.from_numpy(own.probabilities[part]).to(q.device)
    found = torch.softmax(p.clamp_min(1e-30).log() + q @ moved.T - level, 1)
    if own.none is None:
        return found
    return torch.column_stack([found, torch.from_numpy(own.none[part]).to(q.device)])


def neighbour_weight(answers: Tensor) -> float:
    """Return how much neighbours have to say in a table whose rows have these probabilities (m, K).

    The labels count as often as equally frequent ones would that repeat as much (inverse Simpson index): a
    table with most of its rows in three of fifty labels has neighbours for nearly all of them.
    """
    labels = 1 / float(answers.mean(0).square().sum())
    return NEIGHBOUR_WEIGHT * min(1.0, len(answers) / (labels * ROWS_PER_LABEL))


def smooth_with_neighbours(answers: Tensor, q: Tensor, table: Tensor, known: Tensor, share: float) -> Tensor:
    """Return ``answers`` (n, ·) moved to those ``known`` (m, ·) of the most similar rows of ``table``.

    ``q`` (n, d_q) and ``table`` (m, d_q) are the text vectors.
    """
    cosines = q @ table.T
    cosines.masked_fill_(cosines > DUPLICATE_COSINE, -torch.inf)
    nearest, places = cosines.topk(min(NEIGHBOURS, len(table)), 1)
    weights = torch.softmax(NEIGHBOUR_LOGIT_SCALE * nearest.clamp_min(-1e4), 1)
    weights = torch.where(nearest.isfinite(), weights, 0.0)  # fewer neighbours than asked for
    around = torch.einsum("nk,nkc->nc", weights, known[places])
    alone = ~nearest.isfinite().any(1, keepdim=True)
    return torch.where(alone, answers, torch.lerp(answers, around, share))
