"""How good the models are on a project's own rows, and what such figures apply to.

What a figure means depends on how its rows were chosen, so the ways of labelling are evaluated apart. Only
the audit sample speaks for the table; labels in bulk speak for nothing. Nor do rows that a model version was
trained on say how good it is: no model is evaluated on these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.comparison import Difference, compare
from sce_desktop.core.estimates import suggested_sample
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.metrics import Measures, calibration_error_by_width, measure
from sce_desktop.core.scoring import top
from sce_desktop.core.thresholds import (
    AtThreshold,
    ReliabilityBin,
    coverage_curve,
    reliability,
    suggest_threshold,
)
from sce_desktop.tasks.evaluation.evidence import NOT_LOOKED_AT, Evidence, Gold, Source, right_answers

DEFAULT_WIDTH = 0.1
SUGGESTED_LEAST = 50

_VALIDITY = {
    Source.AUDIT: N_("Random sample: results apply to all rows that it was drawn from."),
    Source.HAND: N_("Not a random sample: results apply to these rows only."),
    Source.BULK: N_("Not evaluated: accepted predictions agree with the model by construction."),
    Source.TOGETHER: N_("Not evaluated: rows labelled in bulk were not checked one by one."),
    Source.IMPORTED: N_(
        "Imported labels: quality unknown. Results apply to all rows only if the labelled rows are a random "
        "sample."
    ),
}


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows of one label that a model gives another."""

    gold: str
    predicted: str
    rows: int
    row_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ModelQuality:
    """How one model fares on the rows of a `Part`."""

    alias: str
    measures: Measures
    confusions: tuple[Confusion, ...]  # the most frequent first
    reliability: tuple[ReliabilityBin, ...]
    curve: tuple[AtThreshold, ...]  # the coverage is that of all rows
    gold: IdArray  # (n,) the gold label of each of the part's rows; of several the predicted one
    predicted: IdArray  # (n,) the label that the model puts first
    width_ece: float  # the calibration error over bins of equal width; `Measures.ece` is adaptive
    behind: Difference | None = None  # the first model's accuracy less this one's; None: it is the first


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Rows that were decided in one way. All models are measured on the same ``rows``."""

    source: Source
    decided: int  # or, of gold labels, how many rows have one
    rows: int  # with one of the labels, scored, not learned from: those that are measured
    learned: int  # that the first model learned from: excluded for all models
    none: int  # of the others, labelled "none of these": not in the measures, but wrong in the coverage curve
    validity: str  # a sentence: what figures on these rows say
    notes: tuple[str, ...]  # sentences: what they leave out, and what became of the sample
    models: tuple[ModelQuality, ...]
    row_ids: IdArray  # (n,) the rows that are measured
    unknown: int = 0  # whose gold label is not a label here
    gold: str = ""  # where the gold labels come from

    def cell(self, place: int, gold: int, predicted: int) -> IdArray:
        """Return the rows of label ``gold`` that the model at ``place`` gives label ``predicted``."""
        model = self.models[place]
        return self.row_ids[(model.gold == gold) & (model.predicted == predicted)]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A model that is not measured, for it has not scored all that the first one has."""

    alias: str
    scored: int  # of
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """Everything that there is to say about the models of a project, the random sample first."""

    labels: tuple[str, ...]
    parts: tuple[Part, ...]
    waiting: int  # rows of the random sample that are still to be decided
    left_out: tuple[LeftOut, ...] = ()
    learned_by: str = ""  # the version that the scores are of
    whole_table: bool = False  # the first model predicts rows jointly (transductive)


def assess(evidence: Evidence, *, aliases: Sequence[str] | None = None, confusions: int = 20) -> Quality:
    """Measure every model of ``evidence``, or ``aliases``, side by side on each kind of decision.

    The rows are those that the first model has scored. A model that has scored fewer is left out: else rows
    that somebody looked at, which a slow model has scored first, would be all that anything is measured on.
    Rows that the first model learned from (a fine-tuned version) are left out for every model; training
    leaves the random sample out, but a sample that is drawn later may have some.
    Several labels a row: a model is right if it puts one of them first.
    """
    chosen = list(evidence.probabilities if aliases is None else aliases)
    # What is not scored is nan, and so is its maximum: no copy of a matrix that may be large.
    best = {alias: evidence.probabilities[alias].max(axis=1, initial=0) for alias in chosen}
    scored = ~np.isnan(best[chosen[0]]) if chosen else np.ones(len(evidence.row_ids), dtype=bool)
    have = {alias: int((scored & ~np.isnan(best[alias])).sum()) for alias in chosen}
    wanted = int(scored.sum())
    chosen = [alias for alias in chosen if have[alias] == wanted]
    left_out = tuple(LeftOut(alias, count, wanted) for alias, count in have.items() if count < wanted)
    unlearned = _unlearned(evidence)
    confidences = {alias: best[alias][scored] for alias in chosen}
    none = len(evidence.labels)

    def part(seen: Evidence, source: Source) -> Part:
        decided = (seen.source == source) & (seen.answer >= 0)
        fresh = decided & unlearned
        rows = np.flatnonzero(fresh & scored & (seen.answer < none))
        unfitting = np.flatnonzero(fresh & scored & (seen.answer == none))
        measured: tuple[ModelQuality, ...] = ()
        if len(rows) and source not in NOT_LOOKED_AT:
            measured = _against_first(
                _model(seen, alias, rows, unfitting, confidences[alias], confusions) for alias in chosen
            )
        learned = int((decided & ~unlearned).sum())
        return Part(
            source,
            int(decided.sum()),
            len(rows) if measured else 0,
            learned,
            int((fresh & (seen.answer == none)).sum()),
            _(_VALIDITY[source]) if source in _VALIDITY else "",
            _notes(seen, source, learned),
            measured,
            seen.row_ids[rows] if measured else np.zeros(0, dtype=np.int64),
        )

    parts = [
        part(evidence, source)
        for source in _VALIDITY
        if ((evidence.source == source) & (evidence.answer >= 0)).any()
    ]
    if evidence.gold is not None and evidence.gold.rows:
        found = _gold_part(evidence, evidence.gold, part(evidence.on_gold(), Source.GOLD))
        sampled = any(one.source is Source.AUDIT for one in parts)
        parts.insert(int(sampled and not _is_whole(evidence)), found)  # what says most of the table is first
    return Quality(
        evidence.names,
        tuple(parts),
        evidence.waiting,
        left_out,
        evidence.learned_by,
        evidence.whole_table,
    )


def _is_whole(evidence: Evidence) -> bool:
    """Whether every row with text has a gold label."""
    return evidence.gold is not None and evidence.gold.rows == len(evidence.row_ids)


def _gold_part(evidence: Evidence, gold: Gold, part: Part) -> Part:
    """Return ``part`` with its note on figures from gold labels."""
    if not _is_whole(evidence):
        validity = _(
            "Gold labels from {source}: results apply to all rows only if these are a random sample.",
            source=gold.source,
        )
    elif part.rows == len(evidence.row_ids):
        validity = _(
            "Gold labels from {source} for every row: the accuracy is exact for this table. The interval is "
            "for other rows like these.",
            source=gold.source,
        )
    else:
        validity = _(
            "Gold labels from {source} for every row: results are exact for the rows evaluated.",
            source=gold.source,
        )
    return replace(part, validity=validity, decided=gold.rows, unknown=len(gold.unknown), gold=gold.source)


def _unlearned(evidence: Evidence) -> NDArray[np.bool_]:
    found = np.ones(len(evidence.row_ids), dtype=bool)
    found[evidence.learned] = False
    return found


def _notes(evidence: Evidence, source: Source, learned: int) -> tuple[str, ...]:
    notes: list[str] = []
    if source is Source.AUDIT and evidence.sample is not None:
        notes += evidence.sample.notes
    if source not in NOT_LOOKED_AT and evidence.learned_by:
        if not len(evidence.learned):
            notes.append(
                _(
                    "The training rows of {version} are unknown: its accuracy may be overestimated.",
                    version=evidence.learned_by,
                )
            )
        elif learned:
            notes.append(
                _(
                    "Rows that {version} was trained on are excluded for all models.",
                    version=evidence.learned_by,
                )
            )
            if source is Source.AUDIT or (source is Source.GOLD and _is_whole(evidence)):
                notes.append(_("Results apply to the rows that it was not trained on."))
    return tuple(notes)


def _model(
    evidence: Evidence, alias: str, rows: IdArray, none: IdArray, every: FloatArray, most: int
) -> ModelQuality:
    probabilities = evidence.probabilities[alias]
    predicted, confidence, _ = top(probabilities[rows])
    gold = _gold(evidence, rows, predicted)
    right = predicted == gold
    # Whoever accepts answers from a threshold up accepts those on rows that no label fits, too.
    accepted = np.concatenate([confidence, probabilities[none].max(axis=1, initial=0)])
    return ModelQuality(
        alias,
        measure(gold, probabilities[rows]),
        _confusions(evidence, rows, gold, predicted, most),
        reliability(confidence, right),
        coverage_curve(accepted, np.concatenate([right, np.zeros(len(none), dtype=bool)]), every),
        gold,
        predicted,
        calibration_error_by_width(confidence, right),
    )


def _against_first(models: Iterable[ModelQuality]) -> tuple[ModelQuality, ...]:
    measured: list[ModelQuality] = []
    for model in models:
        if measured:
            first = measured[0].gold == measured[0].predicted
            model = replace(model, behind=compare(model.gold == model.predicted, first))
        measured.append(model)
    return tuple(measured)


def _gold(evidence: Evidence, rows: IdArray, predicted: IdArray) -> IdArray:
    several = evidence.hits[:-1] if evidence.multi_label else ()
    return right_answers(evidence.answer, several, rows, predicted)


def _confusions(
    evidence: Evidence, rows: IdArray, gold: IdArray, predicted: IdArray, most: int
) -> tuple[Confusion, ...]:
    count = len(evidence.labels)
    wrong = gold != predicted
    pairs, where = gold[wrong] * count + predicted[wrong], rows[wrong]
    kinds, sizes = np.unique(pairs, return_counts=True)
    return tuple(
        Confusion(
            evidence.names[kinds[place] // count],
            evidence.names[kinds[place] % count],
            int(sizes[place]),
            tuple(evidence.row_ids[where[pairs == kinds[place]]].tolist()),
        )
        for place in np.argsort(-sizes, kind="stable")[:most]
    )


def threshold_for(evidence: Evidence, alias: str, precision: float) -> tuple[AtThreshold | None, Source]:
    """Suggest a threshold for the wanted ``precision``, and say from which decisions.

    From the random sample if some of it is decided; else from what was decided by hand, which promises
    nothing for the table. Rows that a model version learned from are left out. None: no threshold reaches the
    precision with its interval.
    """
    source = Source.AUDIT if len(evidence.audit) else Source.HAND
    probabilities = evidence.probabilities[alias]
    scored = ~np.isnan(probabilities).any(axis=1)
    decided = (evidence.source == source) & (evidence.answer >= 0)
    rows = np.flatnonzero(scored & decided & _unlearned(evidence))
    predicted, confidence, _ = top(probabilities[rows])
    right = predicted == _gold(evidence, rows, predicted)
    every = probabilities[scored].max(axis=1, initial=0)
    return suggest_threshold(precision, confidence, right, every), source


def suggested_audit(rows: int, *, width: float = DEFAULT_WIDTH, accuracy: float = 0.5) -> int:
    """Return how many of ``rows`` to draw for an interval of about ``width``, never fewer than 50.

    ``accuracy``: what to expect; 0.5 is the safe choice.
    """
    return min(rows, max(SUGGESTED_LEAST, suggested_sample(width, share=accuracy, rows=rows)))
