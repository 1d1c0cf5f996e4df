"""Labels by other annotators, or a column of gold labels, beside the user's own annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sce_desktop.core.agreement import Agreement, compare_coders
from sce_desktop.core.annotations import USER, Coder, Decision, Label, Origin
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import N_, _, ngettext, number, percent
from sce_desktop.core.labels import check_count, distinct_labels, label_key
from sce_desktop.core.lists import from_list
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.project import Project
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.tables.columns import (
    ListCells,
    are_lists,
    cells_of,
    find_columns,
    report_alike,
    report_reading,
)
from sce_desktop.tasks.tables.labelling import report_excluded
from sce_desktop.tasks.tables.round_trip import RoundTripImport, our_columns

GOLD = "gold"
"""The annotator whose labels are right by definition; the name is stored."""
Answer = str | Sequence[str] | None  # a label, several, or none of these


@dataclass(frozen=True, slots=True)
class AnnotatorImport:
    """The result of importing an annotator's labels."""

    coder: Coder
    unknown: int  # keys of the table that no row of the project has
    repeated: int  # keys that several rows of the project, or of the table, have: they are excluded


def import_annotator(
    project: Project,
    table: Path,
    key_column: str | int,
    label_column: str | int,
    name: str,
    progress: Progress,
    *,
    own_key: str | int | None = None,
    options: TableOptions | None = None,
) -> AnnotatorImport:
    """Keep the labels in a table as those of another annotator, by rows with the same key.

    Where the table is an export of ours and ``label_column`` its column of labels, "none of these" and
    several labels come along; else a blank cell is no answer, and several labels are a JSON list.

    Args:
        project: Whose rows.
        table: The other person's file.
        key_column: Header or place of its column that says which row is meant.
        label_column: Header or place of its column of labels.
        name: Of the annotator.
        progress: Of rows; keys that are excluded are a warning.
        own_key: Header or place of the project's column of keys, None: headed as ``key_column``.
        options: How to read the table.

    Raises:
        UserError: A column is missing, no key names one row, or the name is taken.
        Cancelled: The user stopped; nothing was kept.
    """
    opened = open_table(table, options or TableOptions())
    (key_at,) = find_columns(opened.columns, [key_column], progress)
    (label_at,) = find_columns(opened.columns, [label_column], progress)
    own = opened.columns[key_at] if own_key is None else own_key
    (own_at,) = find_columns(project.columns, [own], progress)
    ours_at = our_columns(opened.columns)
    incoming = RoundTripImport(
        opened.columns, gold_at=label_at, ours_at=ours_at if ours_at == label_at else None
    )
    theirs: dict[str, list[tuple[int, tuple[str, ...]]]] = {}  # by key the rows of the table, with the names
    read = 0
    for batch in opened.batches(progress=progress):
        progress.check()
        for row, cells in enumerate(batch, start=read + 1):
            answer = incoming.read(cells)
            if answer.decision not in (None, Decision.SKIPPED):
                theirs.setdefault(cells[key_at] or "", []).append((row, answer.names))
        read += len(batch)
    report_reading(opened, progress)
    incoming.report_bad_cells(progress)
    rows: dict[str, list[int]] = {}
    for row_id, key in cells_of(project, own_at, progress):
        rows.setdefault(key or "", []).append(row_id)
    lists = _may_be_several(project) and ours_at != label_at
    listed = ListCells(opened.columns[label_at])
    answers_seen = Counter(names[0] for answer in theirs.values() for _, names in answer if names)
    broken_reported = lists and are_lists(answers_seen)
    answers: dict[int, Answer] = {}
    unknown = repeated = 0
    for key, all_answers in theirs.items():
        ids = rows.get(key, []) if key else []
        if not ids:
            unknown += 1
        elif len(ids) > 1 or len(all_answers) > 1:
            repeated += 1
        else:
            ((row, names),) = all_answers
            if not broken_reported:
                answers[ids[0]] = _answer(names, lists)
            elif (found := listed.names(names[0], row)) is not None:
                answers[ids[0]] = found or None
    listed.report(progress)
    if not answers:
        raise UserError(
            _("No key in the file matches a row of this project: choose other key columns, on both sides.")
        )
    report_excluded(unknown, repeated, progress)
    return AnnotatorImport(project.add_coder(name, table.name, answers), unknown, repeated)


def column_as_annotator(
    project: Project, column: str | int, progress: Progress, *, name: str = GOLD
) -> Coder:
    """Keep a column of the project, by header or place, as an annotator's labels; blank cells are none.

    Raises:
        UserError: The column is missing or empty, or the name is taken.
        Cancelled: The user stopped; nothing was kept.
    """
    (place,) = find_columns(project.columns, [column], progress)
    answers = _answers_of(project, place, progress, several=_may_be_several(project))
    if not answers:
        raise UserError(
            _("“{column}” has only empty cells: choose another column.", column=project.columns[place])
        )
    return project.add_coder(name, _source(project.columns[place]), answers)


def check_gold(project: Project, column: str) -> None:
    """Refuse to take ``column`` as gold where the project has gold labels that came from elsewhere.

    Raises:
        UserError: It has.
    """
    gold = gold_annotator(project)
    if gold is not None and gold.source != _source(column):
        raise UserError(
            _(
                "This project already has gold labels ({source}): remove them first under Review > "
                "Inter-annotator agreement, or import the column as your annotations.",
                source=gold.source,
            )
        )


def keep_gold(
    project: Project,
    place: int,
    progress: Progress,
    *,
    multi_label: bool = False,
    lists: bool | None = None,
) -> None:
    """Keep a column as gold, in place of what was kept of it before; labels that it names besides are added.

    Args:
        project: Whose column.
        place: Of the column.
        multi_label: Several labels may fit a row.
        lists: Whether a cell may be a JSON list of labels; None: where several labels may fit.
        progress: Of rows; a column of empty cells is a warning.

    Raises:
        UserError: A value cannot be a label.
        Cancelled: The user stopped.
    """
    several = multi_label or _may_be_several(project)
    answers = _answers_of(project, place, progress, several=several if lists is None else lists)
    if not answers:
        progress.warn(
            _("“{column}” has only empty cells: no gold labels were imported.", column=project.columns[place])
        )
        return
    label_set = project.label_set()
    labels: tuple[Label, ...] = label_set.labels if label_set is not None else ()
    known = {label_key(label.name) for label in labels}
    names = [
        name
        for answer in answers.values()
        for name in ([answer] if isinstance(answer, str) else answer or ())
    ]
    report_alike([*(label.name for label in labels), *names], progress)
    more = [label for label in distinct_labels(names) if label_key(label.name) not in known]
    check_count(len(labels) + len(more), project.columns[place])
    project.set_labels([*labels, *more], multi_label=several)
    gold = gold_annotator(project)
    source = _source(project.columns[place])
    project.add_coder(GOLD, source, answers, replaces=gold.id if gold is not None else None)


def _answers_of(project: Project, place: int, progress: Progress, *, several: bool) -> dict[int, Answer]:
    cells = {
        row_id: cell for row_id, cell in cells_of(project, place, progress) if cell and not is_blank(cell)
    }
    if not several or not are_lists(Counter(cells.values())):
        return {row_id: _answer((cell,), several) for row_id, cell in cells.items()}
    listed = ListCells(project.columns[place])
    named = {row_id: listed.names(cell, row_id) for row_id, cell in cells.items()}
    listed.report(progress)
    return {row_id: names or None for row_id, names in named.items() if names is not None}


def gold_annotator(project: Project) -> Coder | None:
    """Return who holds the gold labels; None: the project has none."""
    return next((coder for coder in project.coders() if coder.name == GOLD), None)


def _source(column: str) -> str:
    return f"column {column}"


_AGREE = {
    Origin.HAND: N_("You and {annotator} agree on {share} of {rows}."),
    Origin.BULK: N_("Your labels in bulk and {annotator} agree on {share} of {rows}."),
    Origin.IMPORTED: N_("Imported labels and {annotator} agree on {share} of {rows}."),
}
_NOTHING_SHARED = {
    Origin.HAND: N_("You and {annotator} have labelled no row in common."),
    Origin.BULK: N_("Your labels in bulk and {annotator} have no row in common."),
    Origin.IMPORTED: N_("Imported labels and {annotator} have no row in common."),
}


@dataclass(frozen=True, slots=True, eq=False)
class WithAnnotator:
    """How far the user and another annotator agree; ``unknown``: what is not a label here, and how often.

    ``agreement`` is of the rows that the user labelled by hand. ``apart``: labels in bulk are mostly a
    model's, and imported ones somebody else's, so each has figures of its own, where there are any.
    """

    coder: Coder
    agreement: Agreement
    unknown: dict[str, int]
    apart: dict[Origin, Agreement] = field(default_factory=dict)

    @property
    def lines(self) -> list[tuple[Origin | None, Agreement, str]]:
        """How the user labelled (None: all by hand), the agreement, and a sentence; by hand first."""
        by_hand = Origin.HAND if self.apart else None
        found: list[tuple[Origin | None, Agreement]] = [(by_hand, self.agreement), *self.apart.items()]
        return [(how, one, self._sentence(how or Origin.HAND, one)) for how, one in found]

    @property
    def sentence(self) -> str:
        """The agreement in words."""
        return " ".join(sentence for _how, _agreement, sentence in self.lines)

    def _sentence(self, how: Origin, found: Agreement) -> str:
        if not found.rows:
            return _(_NOTHING_SHARED[how], annotator=self.coder.name)
        rows = ngettext("{count} row", "{count} rows", found.rows)
        parts = [_(_AGREE[how], annotator=self.coder.name, share=percent(found.same), rows=rows)]
        if found.kappa is not None:
            parts.append(_("Cohen's kappa {value}.", value=number(found.kappa, 2)))
        if found.alpha is not None:
            parts.append(_("Krippendorff's alpha {value}.", value=number(found.alpha, 2)))
        return " ".join(parts)


@one_state
def agreements(project: Project, progress: Progress) -> list[WithAnnotator]:
    """Compare every other annotator with the user; several labels of a row count as one.

    Raises:
        Cancelled: The user stopped.
    """
    coders = project.coders()
    own = {origin: project.coder_answers(USER, origin=origin) for origin in Origin} if coders else {}
    found = []
    for coder in coders:
        progress.check()
        theirs = project.coder_answers(coder.id)
        figures = {origin: _compare(answer, theirs) for origin, answer in own.items()}
        by_hand = figures.pop(Origin.HAND)
        apart = {origin: one for origin, one in figures.items() if one.rows}
        words = Counter(word for answer in theirs.values() for word in answer if isinstance(word, str))
        found.append(WithAnnotator(coder, by_hand, dict(words), apart))
    return found


def _compare(
    own: Mapping[int, frozenset[int | str]], theirs: Mapping[int, frozenset[int | str]]
) -> Agreement:
    places: dict[frozenset[int | str], int] = {}
    both = sorted(own.keys() & theirs.keys())
    pairs = [tuple(places.setdefault(answer[row], len(places)) for answer in (own, theirs)) for row in both]
    answers = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return compare_coders(answers[0], answers[1], len(places))


def _answer(names: Iterable[str], lists: bool) -> Answer:
    """Return what was answered; with ``lists`` a single name may be a JSON list of several."""
    given = tuple(names)
    if lists and len(given) == 1 and (found := from_list(given[0])) is not None:
        given = found
    return given or None


def _may_be_several(project: Project) -> bool:
    label_set = project.label_set()
    return label_set is not None and label_set.multi_label
