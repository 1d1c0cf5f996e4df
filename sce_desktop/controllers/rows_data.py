"""What the table shows of a row, read in the worker ``reads``: text, annotation, marks, predictions."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sce_desktop.core.annotations import Annotation, Label, RowMarks
from sce_desktop.core.arrays import FloatArray, IdArray, narrow
from sce_desktop.core.labels import why_alone
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ScoredChunk, ScoredRows
from sce_desktop.core.scoring import none_fits, top
from sce_desktop.core.tables import Cell
from sce_desktop.tasks.scoring.models import MAIN_ALIAS

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

PAGE = 64  # rows that are read at once
MANY_ROWS = 200_000  # from here up the first ones of an order are found before the rest of it
FIRST_ROWS = 2_048  # which are so many at least
READABLE_ROWS = 2_048  # of a large project whose texts are read at once, if a search leaves no more
SHOWN_CHARACTERS = 900  # more than four lines of a table hold
_STRONG = {"L": False, "R": True, "AL": True}


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """What a run says about a row. ``stale``: by an older model or for an older label set.

    ``draft``: a fast approximation, until the model has scored the row.
    """

    run: Run
    probabilities: FloatArray  # (K,) in the order of ``run.labels``
    top: int  # 0-based place of the best label in ``run.labels``
    confidence: float
    none: float | None
    stale: bool = False
    older_model: bool = False  # why it is stale
    draft: bool = False

    @property
    def top_id(self) -> int | None:
        """The id of the best label."""
        return self.run.labels[self.top].id

    def says_none(self, threshold: float) -> bool:
        """Whether the answer is that no label fits; ``threshold``: below it a model is unsure, 0: never."""
        several = self.run.multi_label
        return bool(none_fits(self.confidence, self.none, threshold=threshold or None, multi_label=several))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Score)
            and (self.run.id, self.stale, self.older_model, self.draft, self.top, self.none)
            == (other.run.id, other.stale, other.older_model, other.draft, other.top, other.none)
            and np.array_equal(self.probabilities, other.probabilities)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class RowData:
    """One row of the table. ``scores`` has one entry for each run shown, None where it has none yet."""

    id: int
    position: int  # 0-based place in import order
    text: str  # its beginning, on one line
    right_to_left: bool
    blank: bool
    annotation: Annotation | None
    marks: RowMarks | None
    scores: tuple[Score | None, ...]
    cells: tuple[Cell, ...] = ()  # of the columns that are shown, each its beginning, on one line


def is_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction of its own is written from right to left."""
    for character in text:
        direction = _STRONG.get(unicodedata.bidirectional(character))
        if direction is not None:
            return direction
    return False


def is_stale(run: Run, labels: Sequence[Label]) -> bool:
    """Whether ``run`` answers another question than ``labels`` ask: colours and shortcuts say nothing."""

    def asked(some: Sequence[Label]) -> list[tuple[object, ...]]:
        return [(label.id, label.name, label.description, label.synonyms) for label in some]

    return asked(run.labels) != asked(labels)


def is_of_older_model(run: Run, title: str, *, whole_table: bool) -> bool:
    """Whether ``run`` comes from another model version than the one in use, whose runs bear ``title``.

    So it does if it is to count in the ``whole_table`` by now, or no longer.
    """
    if run.alias != MAIN_ALIAS:
        return False
    if run.model != title if title else run.of_version:
        return True
    alone = why_alone(run.labels, multi_label=run.multi_label, kind=run.kind)
    return not alone and run.whole_table != whole_table


@dataclass(frozen=True, slots=True, eq=False)
class FoundRows:
    """What a query found. Of very many rows the first ones come alone; the rest is asked for by `rest_of`."""

    ids: IdArray  # in the order of the query
    count: int  # how many there are in all, as far as that is known
    pages: dict[int, list[RowData]]  # those that are seen first, by number
    place: int  # where to begin
    same: bool = False  # the ids are those that were there before
    more: bool = False  # nobody knows yet how many there are

    @property
    def whole(self) -> bool:
        """Whether ``ids`` are all of them."""
        return len(self.ids) == self.count and not self.more


def find_rows(
    project: Project,
    query: RowQuery,
    near: int | None,
    runs: Sequence[Run],
    labels: Sequence[Label],
    *,
    to_open: bool = False,
    again: bool = False,
    columns: Sequence[int] = (),
    before: IdArray | None = None,
    progress: Progress,
) -> FoundRows:
    """Return the rows that ``query`` asks for, and what is seen of them first.

    Seen first are the rows around ``near`` or, with ``to_open``, the first one with text that nobody has
    answered; else those at the top. ``before``: the ids that are shown, to compare with; ``again``: they
    answer the same query, so that more of them are found at once.
    """
    progress.check()
    with project.snapshot():
        readable = None if again or project.row_count() < MANY_ROWS else READABLE_ROWS
        ids, found_in_all = project.first_ids(
            query, FIRST_ROWS, least=MANY_ROWS, near=near, readable=readable, draft=True, progress=progress
        )
        progress.check()
        place = 0
        if to_open and len(ids):
            found = _first_open(project, ids)
            if found is None and len(ids) != found_in_all:
                ids = project.row_ids(query, progress, draft=True, compact=True)
                found_in_all = len(ids)
                found = _first_open(project, ids)
            place = found or 0
        elif near is not None and len(ids):
            place = int(np.argmax(ids == near))
        count, more = (len(ids), True) if found_in_all is None else (found_in_all, False)
        known = len(ids) if len(ids) == count else len(ids) // PAGE * PAGE  # whole pages
        ids = narrow(ids[:known])
        first, last = max(0, place - PAGE // 2) // PAGE, min(place + PAGE // 2, known - 1) // PAGE
        read = ids[first * PAGE : (last + 1) * PAGE]
        rows = load_rows(project, read, runs, labels, columns=columns, progress=progress)
    pages = {number: rows[(number - first) * PAGE :][:PAGE] for number in range(first, last + 1)}
    same = before is not None and not more and known == count and np.array_equal(ids, before)
    return FoundRows(ids, count, pages, place, same, more)


def rest_of(project: Project, query: RowQuery, *, progress: Progress) -> IdArray:
    """Return all rows that ``query`` asks for, of which `find_rows` has returned the first ones."""
    progress.check()
    return narrow(project.row_ids(query, progress, draft=True, compact=True))


def _first_open(project: Project, ids: IdArray) -> int | None:
    """Return the place of the first of ``ids`` with text that nobody has answered; None if there is none.

    Nearly always it is one of the first, so few are looked at, then more.
    """
    start, size = 0, 100
    while start < len(ids):
        some = ids[start : start + size]
        found = project.first_open(some)
        if found is not None:
            return start + int(np.argmax(some == found))
        start, size = start + size, min(10 * size, 100_000)
    return None


def count_rows(project: Project, query: RowQuery, *, progress: Progress) -> int:
    """Return how many rows ``query`` asks for."""
    progress.check()
    return len(project.row_ids(query, progress, draft=True, compact=True))


def load_rows(
    project: Project,
    ids: IdArray,
    runs: Sequence[Run],
    labels: Sequence[Label],
    *,
    columns: Sequence[int] = (),
    progress: Progress,
) -> list[RowData]:
    """Return what the table shows of ``ids``, in their order; ``columns``: which of the user's, by place.

    A row that a run has not reached yet shows what the run before it under the same alias predicted, as
    stale; else its draft, if there is one.
    """
    progress.check()
    with project.snapshot():
        found = project.rows(ids)
        annotations = project.annotations(ids)
        marks = project.marks(ids)
        scores = [scores_of(project, ids, run, labels) for run in runs]
    return [
        RowData(
            row.id,
            row.position,
            " ".join(row.text[:SHOWN_CHARACTERS].split()),
            is_right_to_left(row.text[:SHOWN_CHARACTERS]),
            row.blank,
            annotations.get(row.id),
            marks.get(row.id),
            tuple(by_row.get(row.id) for by_row in scores),
            tuple(_on_one_line(row.cells[place]) for place in columns),
        )
        for row in found
    ]


def _on_one_line(cell: Cell) -> Cell:
    return cell and " ".join(cell[:SHOWN_CHARACTERS].replace("\0", "\N{REPLACEMENT CHARACTER}").split())


def scores_of(
    project: Project, ids: Iterable[int] | IdArray, run: Run, labels: Sequence[Label]
) -> Mapping[int, Score]:
    """Return what ``run``, or where it says nothing yet the run before it, says about ``ids``, by row."""
    wanted = [int(row_id) for row_id in ids]
    stale = is_stale(run, labels)
    asks = not stale and run.alias == MAIN_ALIAS  # of a baseline there is no version
    other_model = asks and is_of_older_model(run, project.active_title(), whole_table=project.whole_table())
    result = _scores(project, wanted, run, stale, other_model)
    missing = [row_id for row_id in wanted if row_id not in result]
    if missing and run.finished_at is None:
        before = project.run_before(run)
        if before is not None:
            other_model = before.fingerprint != run.fingerprint and not is_stale(before, labels)
            result |= _scores(project, missing, before, True, other_model)
    if run.alias == MAIN_ALIAS and project.has_draft(run.id):
        result |= _drafts(project, [row_id for row_id in missing if row_id not in result], run, stale)
    return result


def shares(score: Score, labels: Sequence[Label]) -> FloatArray:
    """Return the probabilities (K,) in the order of ``labels``; NaN where the run does not know one."""
    known = [label.id for label in score.run.labels]
    wanted = [label.id for label in labels]
    if known == wanted:
        return score.probabilities
    places = {label_id: place for place, label_id in enumerate(known)}
    missing = np.append(score.probabilities, np.float32(np.nan))
    return missing[[places.get(label_id, -1) for label_id in wanted]]


def best_first(score: Score | None, labels: Sequence[Label]) -> list[int]:
    """Return the places of ``labels``, the most probable first; in their order where there is no score."""
    if score is None:
        return list(range(len(labels)))
    order: list[int] = np.argsort(-np.nan_to_num(shares(score, labels)), kind="stable").tolist()
    return order


def _scores(
    project: Project, ids: Sequence[int], run: Run, stale: bool, older_model: bool
) -> dict[int, Score]:
    stale = stale or older_model
    return {
        row_id: Score(
            run, stored.probabilities, stored.top, stored.confidence, stored.none, stale, older_model
        )
        for row_id, stored in project.scores(run.id, ids).items()
    }


def _drafts(project: Project, ids: Sequence[int], run: Run, stale: bool) -> dict[int, Score]:
    """Return the drafts of ``ids``, which ``run`` has not scored, by row."""
    return {
        row_id: Score(
            run, draft.probabilities, draft.top, draft.confidence, draft.none, stale=stale, draft=True
        )
        for row_id, draft in project.draft_scores(run.id, ids).items()
    }


def age(row: RowData, stale: Mapping[int, bool]) -> RowData:
    """Return ``row`` with the scores of runs (by id) that are ``stale`` by now marked so."""
    scores = tuple(
        replace(score, stale=True) if score and stale.get(score.run.id) else score for score in row.scores
    )
    return replace(row, scores=scores)


def with_scores(
    rows: Sequence[RowData], change: ScoredRows, runs: Sequence[Run], labels: Sequence[Label]
) -> list[RowData] | None:
    """Return ``rows`` as `load_rows` would read them after ``change``, without reading anything.

    ``runs`` are those shown by now. None where rows were read for another number of runs.
    """
    if any(len(row.scores) != len(runs) for row in rows):
        return None
    ids = np.array([row.id for row in rows], np.int64)
    new: dict[int, dict[int, Score]] = {run.id: {} for run in runs}
    for chunk in change.chunks:
        if chunk.run.id in new:
            new[chunk.run.id] |= _scores_in(chunk, ids, stale=is_stale(chunk.run, labels))

    def now(row_id: int, run: Run, before: Score | None) -> Score | None:
        found = new[run.id].get(row_id)
        if found is not None or before is None or before.run.id == run.id:
            return found or before
        other_model = before.run.fingerprint != run.fingerprint and not is_stale(before.run, labels)
        return replace(before, stale=True, older_model=other_model)

    return [
        replace(row, scores=tuple(now(row.id, *pair) for pair in zip(runs, row.scores, strict=True)))
        for row in rows
    ]


def _scores_in(chunk: ScoredChunk, ids: IdArray, *, stale: bool) -> dict[int, Score]:
    """Return what ``chunk`` says of ``ids``, by row."""
    places = np.flatnonzero(np.isin(chunk.row_ids, ids))
    if not len(places):
        return {}
    probabilities = np.asarray(chunk.scores.probabilities[places], np.float32)  # a copy: the chunk may go
    none = chunk.scores.none
    best, confidence, _margin = top(probabilities)
    return {
        int(chunk.row_ids[place]): Score(
            chunk.run,
            probabilities[at],
            int(best[at]),
            float(confidence[at]),
            None if none is None else float(none[place]),
            stale,
        )
        for at, place in enumerate(places)
    }


def says_the_same(row: RowData, other: RowData) -> bool:
    """Whether two rows differ at most in what models say of them."""
    return replace(row, scores=()) == replace(other, scores=())


def reload_people(project: Project, rows: Sequence[RowData]) -> list[RowData]:
    """Return ``rows`` with the annotations and marks that they have now."""
    ids = [row.id for row in rows]
    with project.snapshot():
        annotations, marks = project.annotations(ids), project.marks(ids)
    return [replace(r, annotation=annotations.get(r.id), marks=marks.get(r.id)) for r in rows]
