"""Final labels of a project: who gives them at a threshold, and the error that this means.

The error is that of the rows that the model labels. What a person has labelled is not in it, so rows of an
audit sample leave it once they are labelled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import DoubleArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number, percent
from sce_desktop.core.query import FinalSource
from sce_desktop.core.scoring import MULTI_LABEL_THRESHOLD
from sce_desktop.core.selective import AtThreshold, AuditedPredictions, Curve, least_sample
from sce_desktop.store.project import Project
from sce_desktop.store.runs.final import SOURCES
from sce_desktop.tasks.evaluation.audits import gather_sampled
from sce_desktop.tasks.evaluation.evidence import Evidence, Source, learned_rows, places_of
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.models import MAIN_ALIAS

_MODEL, _ANNOTATOR = SOURCES.index(FinalSource.MODEL), SOURCES.index(FinalSource.ANNOTATOR)
SEQUENCE_ERROR = 0.05
"""For which thresholds are tested in turn where nobody says which error is wanted."""
Basis = Literal["", "audit", "gold"]


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """What is known of the model's errors: ``rows`` that were audited, and what follows from them."""

    basis: Basis  # an audit sample, or gold labels
    predictions: AuditedPredictions
    curve: Curve
    rows: int  # whose right label is known, and for which the model gives a label

    def choose(self, max_error: float) -> AtThreshold:
        """Return the lowest threshold at which ``max_error`` can be promised.

        Raises:
            UserError: The evidence does not bear that error.
        """
        found = self.curve.choose(max_error)
        if found is None:
            raise UserError(self.why_not(max_error))
        return found

    def why_not(self, max_error: float) -> str:
        """Say in a sentence or two why no threshold promises ``max_error``, and what to do."""
        error, seen = error_text(max_error), len(self.predictions.audited)
        wrong = int(self.predictions.wrong.sum())
        least = least_sample(max_error, len(self.predictions.frame))
        if seen < least and wrong and not self.curve.exact:
            return ngettext(
                "{least} audited rows are the least for an error of {error}, more where some are wrong: "
                "label at least {count} more.",
                "{least} audited rows are the least for an error of {error}, more where some are wrong: "
                "label at least {count} more.",
                least - seen,
                least=number(least),
                error=error,
            )
        if seen < least and not self.curve.exact:
            return ngettext(
                "{least} audited rows without a mistake are the least for an error of {error}: label {count} "
                "more.",
                "{least} audited rows without a mistake are the least for an error of {error}: label {count} "
                "more.",
                least - seen,
                least=number(least),
                error=error,
            )
        return ngettext(
            "No confidence threshold keeps the error at {error} or less: of {count} audited row {wrong} is "
            "wrong. Allow a larger error, or label more of the audit sample.",
            "No confidence threshold keeps the error at {error} or less: of {count} audited rows {wrong} are "
            "wrong. Allow a larger error, or label more of the audit sample.",
            seen,
            error=error,
            wrong=number(wrong),
        )

    def promise(self, threshold: float, max_error: float) -> str:
        """Say which error among the model's labels can be promised at ``threshold``."""
        promised = self.curve.promised(threshold, max_error)
        if self.curve.exact and self.basis == "gold":
            return _("error {error} (gold labels for every row)", error=error_text(promised))
        if self.basis == "gold":
            return ngettext(
                "error at most {error} (95% confidence, {count} gold label)",
                "error at most {error} (95% confidence, {count} gold labels)",
                self.rows,
                error=error_text(promised),
            )
        return ngettext(
            "error at most {error} (95% confidence, {count} audited row)",
            "error at most {error} (95% confidence, {count} audited rows)",
            self.rows,
            error=error_text(promised),
        )


@dataclass(frozen=True, slots=True, eq=False)
class FinalLabels:
    """Who gives the final labels of a project, and what that means."""

    rows: int  # with text
    annotated: int  # of these, labelled by a person
    open: DoubleArray  # (M,) confidence in the rows that the model can label; nobody has
    audited: Audited | None  # None: `why` says why no error can be told
    why: str = ""
    notes: tuple[str, ...] = ()  # sentences: what the error leaves out
    least: float = 0.0  # from where up a label is given where no threshold is set

    def counts(self, threshold: float) -> tuple[int, int]:
        """Return how many rows the model labels from ``threshold`` up, and how many are to be reviewed."""
        model = int((self.open >= (threshold or self.least)).sum())
        return model, self.rows - self.annotated - model

    def summary(self, threshold: float, max_error: float = SEQUENCE_ERROR) -> str:
        """Say in a sentence what a threshold means."""
        model, review = self.counts(threshold)
        if self.audited is None or not model:
            return ngettext(
                "{count} row labelled by the model, {review} to review.",
                "{count} rows labelled by the model, {review} to review.",
                model,
                review=number(review),
            )
        return ngettext(
            "{count} row labelled by the model, {review} to review; {promise}.",
            "{count} rows labelled by the model, {review} to review; {promise}.",
            model,
            review=number(review),
            promise=self.audited.promise(threshold, max_error),
        )


def error_text(error: float) -> str:
    """Write an error, rounded up: what is promised must not look smaller."""
    digits = 0 if abs(100 * error - round(100 * error)) < 1e-9 else 1
    unit = 10 ** (digits + 2)
    return percent(max(0.0, math.ceil(error * unit - 1e-9) / unit), digits)


@one_state
def final_labels(project: Project) -> FinalLabels:
    """Find out who gives the final labels of ``project`` and what can be said of their error.

    Gold labels for every row are exact, and come first; then the audit sample, then other gold labels.

    Raises:
        UserError: The project has no labels, or no row with text.
    """
    evidence = gather_sampled(project, gold=True)
    run = project.active_run(MAIN_ALIAS)
    ids, codes = project.final_sources(run.id if run else None, 0.0)
    least = MULTI_LABEL_THRESHOLD if evidence.multi_label else 0.0
    facts = FinalLabels(len(ids), int((codes == _ANNOTATOR).sum()), np.zeros(0), None, least=least)
    if run is None or not run.scored:
        return replace(facts, why=_("Nothing is scored yet: press Score first."))
    arrays = project.run_arrays(run.id)
    confidence, predicted = np.full(len(ids), np.nan), np.full(len(ids), -1)
    place_of = {label.id: place for place, label in enumerate(evidence.labels)}
    of_run = np.asarray([place_of.get(label.id, -1) for label in run.labels])
    scored = np.isin(arrays.row_ids, ids)
    places = places_of(ids, arrays.row_ids)
    confidence[places], predicted[places] = arrays.confidence[scored], of_run[arrays.top[scored]]
    predicted[places_of(ids, project.unfitting_ids(run.id))] = -1
    is_open = codes == _MODEL
    facts = replace(facts, open=confidence[is_open])
    if evidence.multi_label:
        return replace(
            facts, why=_("An error can be promised only where a row has one label: here it may have several.")
        )
    version, learned_ids = learned_rows(project, [MAIN_ALIAS])
    learned = np.isin(ids, learned_ids)
    basis, right, known, frame = _known(evidence)
    if not basis:
        return replace(
            facts, why=_("No error can be told yet: label an audit sample, or import gold labels.")
        )
    frame = frame & (predicted >= 0) & ~learned
    known &= frame
    wrong = predicted != right
    corrects = known if basis == "gold" else frame & np.isin(evidence.source, (Source.AUDIT, Source.HAND))
    corrected = frame & ~is_open & corrects & wrong
    predictions = AuditedPredictions(
        confidence[frame], confidence[known], wrong[known], confidence[is_open & frame], confidence[corrected]
    )
    audited = Audited(basis, predictions, Curve.of(predictions), int(known.sum()))
    outside = int((is_open & ~frame).sum())
    return replace(
        facts, audited=audited, notes=_notes(evidence, audited, version, outside, bool(len(learned_ids)))
    )


def _known(evidence: Evidence) -> tuple[Basis, IdArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what errors are told by: the right labels (n,), where they are known, what these stand for."""
    everywhere = np.ones(len(evidence.row_ids), dtype=bool)
    gold = evidence.gold
    whole = gold is not None and gold.rows == len(evidence.row_ids)
    if len(evidence.audit) and evidence.frame is not None and not whole:
        known = np.zeros(len(evidence.row_ids), dtype=bool)
        known[evidence.audit] = True
        return "audit", evidence.answer, known, evidence.frame
    if gold is not None and gold.rows:
        known = gold.answer >= 0
        known[gold.unknown] = True  # its right label is none of these: whatever is predicted is wrong
        return "gold", gold.answer, known, everywhere
    return "", evidence.answer, ~everywhere, everywhere


def _notes(
    evidence: Evidence, audited: Audited, version: str, outside: int, learned: bool
) -> tuple[str, ...]:
    notes = [*(evidence.sample.notes if evidence.sample is not None and audited.basis == "audit" else ())]
    if audited.basis == "audit" and evidence.waiting:
        notes.append(
            ngettext(
                "{count} row of the audit sample is still to be labelled.",
                "{count} rows of the audit sample are still to be labelled.",
                evidence.waiting,
            )
        )
    if audited.basis == "gold" and not audited.curve.exact and evidence.gold is not None:
        notes.append(
            _(
                "Gold labels from {source}: valid for all rows only if these are a random sample.",
                source=evidence.gold.source,
            )
        )
    if outside:
        notes.append(
            ngettext(
                "{count} row that the model can label is not covered: draw a new audit sample to include it.",
                "{count} rows that the model can label are not covered: draw a new audit sample to include "
                "them.",
                outside,
            )
        )
    if version and not learned:
        notes.append(
            _(
                "The training rows of {version} are unknown: its error may be underestimated.",
                version=version,
            )
        )
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class FinalReport:
    """How final labels were given, for scripts. Errors are fractions of the rows that the model labels."""

    threshold: float
    max_error: float | None  # for which the threshold was chosen; None: it was given
    annotator: int
    model: int
    review: int
    basis: Basis = ""
    audited: int = 0
    expected_error: float | None = None
    error_at_most: float | None = None  # in 95 of 100 samples
    summary: str = ""
    notes: tuple[str, ...] = ()


def report(facts: FinalLabels, threshold: float | None, max_error: float | None = None) -> FinalReport:
    """Return what ``threshold`` means; with ``max_error`` the lowest one at which that can be promised.

    Raises:
        UserError: The evidence does not bear that error, or there is none.
    """
    audited = facts.audited
    if max_error is not None:
        if audited is None:
            raise UserError(facts.why)
        threshold = audited.choose(max_error).threshold
    threshold = threshold or 0.0
    model, review = facts.counts(threshold)
    found = FinalReport(
        threshold,
        max_error,
        facts.annotated,
        model,
        review,
        summary=facts.summary(threshold, max_error or SEQUENCE_ERROR),
        notes=facts.notes,
    )
    if audited is None or not model:
        return found
    return replace(
        found,
        basis=audited.basis,
        audited=audited.rows,
        expected_error=audited.curve.at(threshold).error,
        error_at_most=audited.curve.promised(threshold, max_error or SEQUENCE_ERROR),
    )
