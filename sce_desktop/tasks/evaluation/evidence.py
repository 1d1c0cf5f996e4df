"""What a project knows about its rows, as arrays: who labelled what and how, and what each model predicts.

Every figure that the program shows rests on this. The ways in which labels come about are kept apart here
once, so that nothing that follows mixes them by mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Annotation, Decision, Label, Origin
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.labels import roll_up
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.store.runs.large_arrays import large, let_go
from sce_desktop.tasks.evaluation.annotators import gold_annotator
from sce_desktop.tasks.one_state import one_state

UNDECIDED = -1
_BATCH = 5000


class Source(IntEnum):
    """How a row came to its decision."""

    UNDECIDED = 0
    AUDIT = 1  # by hand, in a random sample
    HAND = 2  # by hand, in an order that the user or the model chose
    BULK = 3  # a model's answer, accepted for many rows at once
    IMPORTED = 4  # came with the table
    TOGETHER = 5  # one answer that a person gave to many rows at once
    GOLD = 6  # not the user's: a gold label (`Gold`)


NOT_LOOKED_AT = (Source.BULK, Source.TOGETHER)
"""Nothing is measured on rows that nobody looked at one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class AuditSample:
    """A random sample of rows. ``row_ids`` in the random order in which they are shown.

    Where only its beginning is labelled, that is a random sample too: the order is random. So these are the
    rows as far as they have been worked through, without those whose first answer is lost.
    ``frame_ids`` are the rows it was drawn from; None: all rows with text.
    """

    row_ids: IdArray
    frame_ids: IdArray | None = None
    later: int = 0  # undecided rows beyond these
    seen: int = 0  # labelled in their turn, with predictions visible
    skipped: int = 0
    passed: int = 0  # neither decided nor skipped, though later ones are
    again: int = 0  # excluded: relabelled out of order after their turn, or in bulk

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on figures that rest on it, a sentence each; none if all went well."""
        notes = []
        if self.seen:
            notes.append(
                ngettext(
                    "{count} row was labelled with predictions visible (possible bias).",
                    "{count} rows were labelled with predictions visible (possible bias).",
                    self.seen,
                )
            )
        if self.again:
            notes.append(
                ngettext(
                    "Excluded: {count} row relabelled out of order. Accuracy may be overestimated.",
                    "Excluded: {count} rows relabelled out of order. Accuracy may be overestimated.",
                    self.again,
                )
            )
        if self.skipped:
            notes.append(
                ngettext(
                    "{count} skipped row excluded (assumed missing at random).",
                    "{count} skipped rows excluded (assumed missing at random).",
                    self.skipped,
                )
            )
        if self.passed:
            notes.append(
                ngettext(
                    "{count} unlabelled row excluded (assumed missing at random).",
                    "{count} unlabelled rows excluded (assumed missing at random).",
                    self.passed,
                )
            )
        return tuple(notes)


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """The gold labels of a project, by the numbers that `Evidence` has for labels."""

    source: str  # where they are from
    answer: NDArray[np.signedinteger[Any]]  # (n,) the first answer, -1: there is none, or it is ``unknown``
    hits: tuple[IdArray, ...]
    unknown: IdArray  # places whose gold label is not a label here

    @property
    def rows(self) -> int:
        """How many rows have a gold label."""
        return int((self.answer >= 0).sum()) + len(self.unknown)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The n rows with text, in file order, and what is known of each.

    ``answers`` are the label set's K labels in order, then "none of these" as number K.
    """

    row_ids: IdArray  # (n,), int32 where that holds them
    labels: tuple[Label, ...]
    multi_label: bool
    answer: NDArray[np.signedinteger[Any]]  # (n,) the first answer, -1: undecided or skipped
    source: NDArray[np.int8]  # (n,) of `Source`
    hits: tuple[IdArray, ...]  # for each of the K + 1 answers, the places decided so
    audit: IdArray  # places of the sample's decided rows
    waiting: int = 0  # rows of the sample that are neither decided nor skipped yet
    sample: AuditSample | None = None
    frame: NDArray[np.bool_] | None = None  # (n,) what the sample stands for; None: there is no sample
    probabilities: dict[str, FloatArray] = field(default_factory=dict)  # alias: (n, K), nan where unscored
    learned_by: str = ""  # the model version that probabilities are of, if they are one's
    learned: IdArray = field(default_factory=lambda: np.zeros(0, np.int64))  # places it learned from
    gold: Gold | None = None  # where it was asked for, and there is any
    whole_table: bool = False  # rows are predicted jointly (transductive)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the K labels."""
        return tuple(label.name for label in self.labels)

    @property
    def decided(self) -> NDArray[np.bool_]:
        """(n,) whether a person answered; a model's answer accepted in bulk is not a person's."""
        return (self.answer >= 0) & (self.source != Source.BULK)

    def on_gold(self) -> Evidence:
        """Return what is known of the rows with the gold labels in place of those of people."""
        assert self.gold is not None
        source = np.where(self.gold.answer >= 0, Source.GOLD, Source.UNDECIDED).astype(np.int8)
        return replace(self, answer=self.gold.answer, hits=self.gold.hits, source=source)

    def has(self, answer: int) -> NDArray[np.bool_]:
        """Return (n,) whether each row was given ``answer`` (K: none of these)."""
        found = np.zeros(len(self.row_ids), dtype=bool)
        found[self.hits[answer]] = True
        return found


@one_state
def gather(
    project: Project, aliases: Sequence[str] = (), audit: AuditSample | None = None, *, gold: bool = False
) -> Evidence:
    """Read the evidence of ``project``, all of it of one moment: labels may be edited meanwhile.

    Args:
        project: Whose rows.
        aliases: Models whose active runs' probabilities are wanted; those without a run are excluded, and so
            is a run that knows none of the labels in use.
        audit: The random sample that table-wide claims rest on.
        gold: Read the gold labels too, where there are any.

    Raises:
        UserError: The project has no labels, or no row with text.
    """
    label_set = project.label_set()
    if label_set is None or not label_set.labels:
        raise UserError(_("The project has no labels yet: add some first."))
    row_ids = project.row_ids(RowQuery(blank=False), compact=True)
    row_ids.sort()  # in place: they are, and a copy of ten million takes 40 MB
    if not len(row_ids):
        raise UserError(_("The project has no rows with text: import a table first."))
    place_of = {label.id: place for place, label in enumerate(label_set.labels)}
    n, none = len(row_ids), len(label_set.labels)
    source = np.zeros(n, dtype=np.int8)
    given: dict[int, list[int]] = {}
    sampled = np.zeros(n, dtype=bool)
    if audit is not None:
        sampled[places_of(row_ids, audit.row_ids)] = True
    for place, annotation in _annotations(project, row_ids):
        given[place] = [place_of[label_id] for label_id in annotation.label_ids]
        if annotation.decision is Decision.NONE:
            given[place] = [none]
        source[place] = _source(annotation)
        if sampled[place] and annotation.origin is Origin.HAND:
            source[place] = Source.AUDIT
    answer, hits = answer_arrays(given, n, none + 1)
    learned_by, learned = learned_rows(project, aliases)
    decided_sample = np.flatnonzero(sampled & (answer >= 0))
    decided_sample = decided_sample[~np.isin(source[decided_sample], NOT_LOOKED_AT)]
    waiting = int(sampled.sum()) - len(decided_sample)
    if audit is not None:
        waiting += audit.later - audit.skipped
    return Evidence(
        row_ids,
        label_set.labels,
        label_set.multi_label,
        answer,
        source,
        hits,
        decided_sample,
        waiting,
        audit,
        None if audit is None else _frame(row_ids, audit),
        {
            alias: found
            for alias in aliases
            if (found := _scores(project, alias, row_ids, place_of)) is not None
        },
        learned_by,
        places_of(row_ids, learned),
        _gold(project, row_ids, place_of) if gold else None,
        any(run is not None and run.whole_table for run in map(project.active_run, aliases)),
    )


def answer_arrays(
    given: Mapping[int, Sequence[int]], n: int, answers: int
) -> tuple[NDArray[np.int32], tuple[IdArray, ...]]:
    """Return (n,) the first answer by place, and for each answer the places where it was given."""
    answer = np.full(n, UNDECIDED, dtype=np.int32)
    hits: list[list[int]] = [[] for _ in range(answers)]
    for place, several in given.items():
        answer[place] = several[0]
        for one in several:
            hits[one].append(place)
    return answer, tuple(np.asarray(sorted(places), dtype=np.int64) for places in hits)


def right_answers(
    answer: NDArray[np.signedinteger[Any]], hits: Sequence[IdArray], rows: IdArray, predicted: IdArray
) -> IdArray:
    """Return the gold label of each of ``rows``: of several the ``predicted`` one if it is among them.

    ``answer`` and ``hits`` are as `answer_arrays` returns them, ``hits`` of the labels alone.
    """
    right = answer[rows]
    for label, places in enumerate(hits):
        right = np.where((predicted == label) & np.isin(rows, places), label, right)
    return right


def _gold(project: Project, row_ids: IdArray, place_of: dict[int | None, int]) -> Gold | None:
    coder = gold_annotator(project)
    if coder is None:
        return None
    by_row = project.coder_answers(coder.id)
    ids = np.fromiter(by_row, dtype=np.int64, count=len(by_row))
    ids = ids[np.isin(ids, row_ids)]
    given: dict[int, list[int]] = {}
    unknown = []
    for place, row_id in zip(places_of(row_ids, ids).tolist(), ids.tolist(), strict=True):
        labels = by_row[row_id]
        known = sorted(place_of[one] for one in labels if isinstance(one, int))
        if known or not labels:
            given[place] = known or [len(place_of)]  # the gold label may be that none fits
        else:
            unknown.append(place)
    answer, hits = answer_arrays(given, len(row_ids), len(place_of) + 1)
    return Gold(coder.source, answer, hits, np.asarray(unknown, dtype=np.int64))


def rolled_up(evidence: Evidence) -> Evidence:
    """Return ``evidence`` with labels named "Parent > Child" as one label "Parent" (`core.labels.roll_up`).

    Probabilities of children add up where one label fits a row; where several may, the highest counts.
    """
    top = roll_up(evidence.names)
    parents = [top[name] for name in evidence.names]
    names = list(dict.fromkeys(parents))
    parent_of = np.asarray([names.index(parent) for parent in parents] + [len(names)], dtype=np.int64)
    merge = np.fmax if evidence.multi_label else np.add
    probabilities = {}
    for alias, matrix in evidence.probabilities.items():
        merged = large((len(names), len(matrix)), np.float32).T
        merged[:] = 0
        unscored = np.zeros(len(matrix), dtype=bool)
        for child in range(matrix.shape[1]):
            column = merged[:, parent_of[child]]
            merge(column, matrix[:, child], out=column)
            unscored |= np.isnan(matrix[:, child])
            let_go(matrix)
        merged[unscored] = np.nan
        let_go(merged)
        probabilities[alias] = merged

    def answers(of: Evidence | Gold) -> dict[str, Any]:
        children = [np.flatnonzero(parent_of == parent) for parent in range(len(names) + 1)]
        hits = tuple(np.unique(np.concatenate([of.hits[child] for child in some])) for some in children)
        return {"answer": np.where(of.answer < 0, UNDECIDED, parent_of[of.answer]), "hits": hits}

    return replace(
        evidence,
        labels=tuple(Label(name) for name in names),
        probabilities=probabilities,
        gold=None if evidence.gold is None else replace(evidence.gold, **answers(evidence.gold)),
        **answers(evidence),
    )


def places_of(row_ids: IdArray, wanted: IdArray) -> IdArray:
    """Return where ``wanted`` stand in the sorted ``row_ids``; those that are not among them are excluded."""
    if not len(row_ids):
        return np.zeros(0, dtype=np.int64)
    # numpy makes both of the wider kind: of ten million ids a copy for each call.
    places = np.searchsorted(row_ids, np.asarray(wanted).astype(row_ids.dtype, copy=False))
    places = np.minimum(places, len(row_ids) - 1)
    return places[row_ids[places] == wanted]


def _source(annotation: Annotation) -> Source:
    if annotation.origin is Origin.BULK:
        return Source.BULK if annotation.accepted else Source.TOGETHER
    return Source.HAND if annotation.origin is Origin.HAND else Source.IMPORTED


def _annotations(project: Project, row_ids: IdArray) -> Iterator[tuple[int, Annotation]]:
    for state in (RowState.LABELLED, RowState.NONE):
        ids = np.sort(project.row_ids(RowQuery(state=state, blank=False)))
        for start in range(0, len(ids), _BATCH):
            some = ids[start : start + _BATCH]
            found = project.annotations(some)
            for place in places_of(row_ids, some).tolist():
                yield place, found[int(row_ids[place])]


def _frame(row_ids: IdArray, audit: AuditSample) -> NDArray[np.bool_]:
    if audit.frame_ids is None:
        return np.ones(len(row_ids), dtype=bool)
    return np.isin(row_ids, audit.frame_ids)


def learned_rows(project: Project, aliases: Sequence[str]) -> tuple[str, IdArray]:
    """Return the name of the version that the runs are of ("": none is) and the rows that it learned from.

    There are none if that is not known: the version was deleted, or did not keep them.
    """
    by_title = {version.title: version for version in project.versions()} if aliases else {}
    for alias in aliases:
        run = project.active_run(alias)
        if run is not None and (version := by_title.get(run.model)) is not None:
            return version.name, version.learned
        if run is not None and run.of_version:
            return run.model, np.zeros(0, dtype=np.int64)
    return "", np.zeros(0, dtype=np.int64)


def _scores(
    project: Project, alias: str, row_ids: IdArray, place_of: dict[int | None, int]
) -> FloatArray | None:
    run = project.active_run(alias)
    if run is None or not any(label.id in place_of for label in run.labels):
        return None
    project.free_columns()
    ids, matrix = project.run_matrix(run.id)
    known = [column for column, label in enumerate(run.labels) if label.id in place_of]
    to = [place_of[run.labels[column].id] for column in known]
    if known == to == list(range(len(place_of))) and np.array_equal(ids, row_ids):
        return matrix  # as it is for most projects; with 200 labels the copy would take seconds
    kept = np.isin(ids, row_ids)
    rows = places_of(row_ids, ids[kept])
    found = large((len(place_of), len(row_ids)), np.float32).T
    found[:] = np.nan
    from_ = np.flatnonzero(kept)
    for start in range(0, len(rows), _BATCH):  # by rows: their columns lie side by side
        batch = slice(start, start + _BATCH)
        found[rows[batch, None], to] = matrix[from_[batch, None], known]
    return found
