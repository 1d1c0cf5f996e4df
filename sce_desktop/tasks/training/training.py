"""What a fine-tune of a project learns from, and what it will cost: known before it starts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.comparison import FEWEST_ROWS
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.training import MEASURED_ON
from sce_desktop.ml.finetune.recipes import FOLDS, MOST_TO_MEASURE_BY_FOLDS, AdapterPace
from sce_desktop.store.project import Project
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.tasks.training.cost import Cost, adapting, cost, pace_of
from sce_desktop.tasks.training.sampling import SAMPLED, rows_that_fit, stratified

ORIGINS = tuple(Origin)
MOST_LOOKED_UP = 500
"""Texts from which the share of those without a vector is estimated: a plan is made after every edit."""


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRows:
    """Rows to learn from: ``gold`` (n,) are places among the K ``labels``.

    ``counts`` (K, 3): rows of each label by origin, in the order of `ORIGINS`; those of other origins than
    were asked for count too. ``left_out``: excluded labelled rows by reason: origin, blank, several, audit:
    the rows of random samples and others with the same text: claims about the whole table rest on
    them, and no model learns from them. ``measurable`` (n,): those not given in bulk.
    """

    ids: IdArray
    gold: IdArray
    measurable: NDArray[np.bool_]
    labels: tuple[Label, ...]
    counts: NDArray[np.int64]
    left_out: dict[str, int]

    @property
    def examples(self) -> NDArray[np.int64]:
        """(K,) how many rows each label is learned from."""
        return np.bincount(self.gold, minlength=len(self.labels))


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows(ChosenRows):
    """Rows to learn from with their texts."""

    texts: list[str]

    @property
    def data_hash(self) -> str:
        """Hash of the texts and their labels, whatever the order of the rows."""
        lines = sorted(
            json.dumps([text, self.labels[place].name], ensure_ascii=False)
            for text, place in zip(self.texts, self.gold.tolist(), strict=True)
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


Rows = TypeVar("Rows", ChosenRows, TrainingRows)


@one_state
def chosen_rows(project: Project, origins: Collection[Origin] = MEASURED_ON) -> ChosenRows:
    """Return the rows that have a text, not that of a sample's row, and were given one label by ``origins``.

    Raises:
        UserError: The project has no labels, or lets a row have several.
    """
    label_set = project.label_set()
    if label_set is None or not label_set.labels:
        raise UserError(_("The project has no labels yet: add some, then label rows to learn from."))
    if label_set.multi_label:
        raise UserError(_("Fine-tuning is not available in multi-label projects."))
    place_of = {label.id: place for place, label in enumerate(label_set.labels)}
    ids = project.row_ids(RowQuery(state=RowState.LABELLED, blank=False))
    left_out = dict.fromkeys(("origin", "blank", "several", "audit"), 0)
    left_out["blank"] = len(project.row_ids(RowQuery(state=RowState.LABELLED, blank=True)))
    sampled = {int(row) for audit in project.audits() for row in project.audit_rows(audit.id)}
    kept_apart = set(project.with_same_texts(sorted(sampled)).tolist())
    counts = np.zeros((len(place_of), len(ORIGINS)), dtype=np.int64)
    used: list[tuple[int, int, bool]] = []
    for row_id, annotation in project.annotations(ids).items():
        if row_id in kept_apart:
            left_out["audit"] += 1
        elif annotation.decision is not Decision.LABEL or len(annotation.label_ids) != 1:
            left_out["several"] += 1
        else:
            place = place_of[annotation.label_ids[0]]
            counts[place, ORIGINS.index(annotation.origin)] += 1
            if annotation.origin in origins:
                used.append((row_id, place, annotation.origin in MEASURED_ON))
            else:
                left_out["origin"] += 1
    return ChosenRows(
        np.array([row_id for row_id, *_ in used], dtype=np.int64),
        np.array([place for _, place, _ in used], dtype=np.int64),
        np.array([may for *_, may in used], dtype=np.bool_),
        label_set.labels,
        counts,
        left_out,
    )


@one_state
def training_rows(project: Project, origins: Collection[Origin] = MEASURED_ON) -> TrainingRows:
    """Return what `chosen_rows` does, with the texts.

    Raises:
        UserError: As there.
    """
    rows = chosen_rows(project, origins)
    whole = {field.name: getattr(rows, field.name) for field in fields(rows)}
    return TrainingRows(**whole, texts=project.texts(rows.ids))


def at_places(rows: Rows, places: IdArray) -> Rows:
    """Return the ``rows`` at ``places``, the others counted as beyond the sample."""
    if len(places) == len(rows.ids):
        return rows
    changed: dict[str, object] = {
        "ids": rows.ids[places],
        "gold": rows.gold[places],
        "measurable": rows.measurable[places],
        "left_out": {**rows.left_out, SAMPLED: len(rows.ids) - len(places)},
    }
    if isinstance(rows, TrainingRows):
        changed["texts"] = [rows.texts[place] for place in places.tolist()]
    return replace(rows, **changed)  # type: ignore[arg-type]


def unread_share(cache: VectorCache | None, embedder: str, texts: Sequence[str]) -> float:
    """Return the share of ``texts`` that have no vector yet, by a look at some of them."""
    if cache is None or not texts:
        return 1.0
    there, _vectors = cache.get(embedder, list(texts[:: max(1, len(texts) // MOST_LOOKED_UP)]))
    return float((~there).mean())


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a fine-tune would learn from and take; ``problem``: why it cannot start, in one sentence."""

    rows: ChosenRows | None
    cost: Cost | None
    problem: str = ""
    hint: str = ""  # what would be better, though it can start
    slower: Cost | None = None  # with the text embedder adapted too; None: not known

    @property
    def held_out(self) -> str:
        """The validation rows, in sentences."""
        assert self.rows is not None
        may, alone = self.rows.measurable, self.rows.examples == 1
        single, bulk = int(alone.sum()), int((~may).sum())
        n = int((may & ~alone[self.rows.gold]).sum())
        if not n:
            if bulk:
                return _("None: rows labelled in bulk are not used for validation.")
            return _("None: no label has more than one example.")
        sentences = [
            ngettext(
                "{folds}-fold cross-validation on {count} row.",
                "{folds}-fold cross-validation on {count} rows.",
                n,
                folds=FOLDS,
            )
            if n <= MOST_TO_MEASURE_BY_FOLDS
            else ngettext("{count} held-out row (20%).", "{count} held-out rows (20%).", round(n / 5))
        ]
        if single:
            sentences.append(
                ngettext(
                    "{count} label has a single example and is not validated.",
                    "{count} labels have a single example and are not validated.",
                    single,
                )
            )
        if bulk:
            sentences.append(
                ngettext(
                    "Excluded: {count} row labelled in bulk.",
                    "Excluded: {count} rows labelled in bulk.",
                    bulk,
                )
            )
            if n < FEWEST_ROWS:
                sentences.append(_("Too few rows to show a difference."))
        return " ".join(sentences)


def plan(
    project: Project,
    origins: Collection[Origin],
    known: KnownVectors | None,
    pace: AdapterPace | None = None,
    *,
    epochs: int = 100,
    progress: Progress,
) -> Plan:
    """Look what a fine-tune on the rows of ``origins`` would be.

    Args:
        project: Whose rows.
        origins: Which annotations count.
        known: The text vectors that are there; None: not known.
        pace: Of adapting the text embedder; None: not known.
        epochs: Passes over the rows at most.
        progress: Asked whether to go on.
    """
    try:
        rows = chosen_rows(project, origins)
    except UserError as error:
        return Plan(None, None, str(error))
    progress.check()
    examples = rows.examples
    some = int((examples > 0).sum())
    if some < 2:
        only = next((label.name for label, n in zip(rows.labels, examples, strict=True) if n), "")
        return Plan(rows, None, _why_too_few(only, others=bool(rows.left_out["origin"])))
    unread = 0.0
    if known is not None and len(rows.ids):
        sample = rows.ids[:: max(1, len(rows.ids) // MOST_LOOKED_UP)]
        unread = unread_share(known.cache, known.embedder, project.texts(sample))
    usual = pace_of(project)
    all_rows = project.row_count() - project.blank_count()

    def cost_of(count: int) -> Cost:
        may = round(float(rows.measurable.mean()) * count)
        return cost(
            count,
            some,
            len(rows.labels),
            measurable=may,
            unread=round(unread * count),
            pace=usual,
            epochs=epochs,
        )

    def slower_of(count: int) -> Cost | None:
        if pace is None:
            return None
        may = round(float(rows.measurable.mean()) * count)
        return adapting(cost_of(count), pace, rows=count, measurable=may, epochs=epochs, all_rows=all_rows)

    rows = at_places(rows, stratified(rows.gold, rows_that_fit(len(rows.ids), cost_of), 0))
    found, slower = cost_of(len(rows.ids)), slower_of(len(rows.ids))
    few = int((examples[examples > 0] < 5).sum())
    hint = ""
    if few:
        hint = ngettext(
            "{count} of {labels} labels has fewer than 5 examples.",
            "{count} of {labels} labels have fewer than 5 examples.",
            few,
            labels=number(some),
        )
    return Plan(rows, found, found.too_large, hint, slower)


def _why_too_few(only: str, *, others: bool) -> str:
    """Why two labels with examples are needed; ``only``: the one that has some, ``others``: excluded rows."""
    if only and others:
        return _(
            "Fine-tuning needs at least two labels with examples (only “{label}” has some): label "
            "more rows, or "
            "include other kinds of rows.",
            label=only,
        )
    if only:
        return _(
            "Fine-tuning needs at least two labels with examples (only “{label}” has some): label more rows.",
            label=only,
        )
    if others:
        return _(
            "Fine-tuning needs at least two labels with examples: label more rows, or include other kinds of "
            "rows."
        )
    return _("Fine-tuning needs at least two labels with examples: label more rows.")
