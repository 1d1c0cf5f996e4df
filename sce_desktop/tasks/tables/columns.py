"""Which columns are read as text, and which of ours are written beside the original ones."""

from __future__ import annotations

import difflib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core import text_arrays
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.giving_way import give_way
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.labels import label_key, look_alikes
from sce_desktop.core.lists import begins_as_list, from_list, is_list
from sce_desktop.core.progress import Progress
from sce_desktop.core.quoting import and_more, quoted_names
from sce_desktop.core.runs import Scores
from sce_desktop.core.scoring import SCORED_STATUSES, Status, best, chosen, status_codes
from sce_desktop.core.tables import Cell, Doubt, TableProblem, TypedCells
from sce_desktop.data.columns import Column, Numbers, as_cells
from sce_desktop.data.json.json_values import as_read
from sce_desktop.data.reader import Table
from sce_desktop.data.writers import OutCell
from sce_desktop.store.project import Project
from sce_desktop.store.runs.bulk import ScoresOfRows

if TYPE_CHECKING:
    from sce_desktop.data.tables import Table

DRAFT, MODEL = "draft", "model"
"""What the column ``sce_source`` says where scores may be drafts."""
_SHOWN_CELLS = 5
_MOST_CHARACTERS = 40  # of a cell that is shown
_SHOWN = 3  # problems and columns named in one sentence


def find_column(columns: Sequence[str], name: str, progress: Progress, *, hint: str = "") -> int:
    """Return the index of the column headed ``name``; of several the first, with a warning.

    ``hint``: where else it may be, as `elsewhere` says.

    Raises:
        UserError: No column is headed exactly so.
    """
    found = [index for index, column in enumerate(columns) if column == name]
    if not found:
        close = difflib.get_close_matches(name, columns, n=1)
        if close:
            raise UserError(
                _("The table has no column “{name}”. Did you mean “{close}”?", name=name, close=close[0])
            )
        absent = _("The table has no column “{name}”.", name=name)
        raise UserError(" ".join(filter(None, (absent, _columns(columns), hint))))
    if len(found) > 1:
        progress.warn(
            ngettext(
                "{count} column is called “{name}”: the first was read.",
                "{count} columns are called “{name}”: the first was read.",
                len(found),
                name=name,
            )
        )
    return found[0]


def elsewhere(table: Table) -> str:
    """Say where the columns may be that a table lacks: below another header, or in another sheet."""
    headers = [
        _("The header may be on another line ({option}).", option=doubt.flag) for doubt in _of_header(table)
    ]
    others = [sheet for sheet in table.sheets if sheet != table.options.sheet]
    sheets = [_("Other sheets (--sheet): {sheets}.", sheets=quoted_names(others))] if others else []
    return " ".join((*headers, *sheets))


def _of_header(table: Table) -> Iterable[Doubt]:
    return (doubt for doubt in table.doubts if doubt.option == "header_row")


def report_doubts(table: Table, progress: Progress) -> None:
    """Warn of what may as well be read otherwise, with the option of the command line that does so."""
    for doubt in table.doubts:
        progress.warn(
            _("{doubt} {offer}: {option}.", doubt=doubt.sentence, offer=doubt.offer, option=doubt.flag)
        )


def find_columns(
    columns: Sequence[str], names: Sequence[str | int], progress: Progress, *, hint: str = ""
) -> tuple[int, ...]:
    """Return the indices of the text columns ``names`` (headers or indices), each once.

    Raises:
        UserError: None is given, or one is not in the table.
    """
    if not names:
        raise UserError(" ".join((_("Choose the text column."), _columns(columns))))
    indices = [
        name if isinstance(name, int) else find_column(columns, name, progress, hint=hint) for name in names
    ]
    return tuple(dict.fromkeys(indices))


def cells_of(project: Project, place: int, progress: Progress) -> Iterator[tuple[int, Cell]]:
    """Yield (row id, cell) of the column at ``place`` for all rows in file order.

    Raises:
        Cancelled: The user stopped.
    """
    total, done = project.row_count(), 0
    for batch in project.iter_rows():
        progress.check()
        yield from ((row.id, row.cells[place]) for row in batch)
        done += len(batch)
        progress.report(done, total, stage=_("reading"))


def _columns(names: Sequence[str]) -> str:
    return _("The columns are {names}.", names=quoted_names(names))


def report_reading(table: Table, progress: Progress) -> None:
    """Warn of how a table was read where that is not plain, and of what was not right in it."""
    for note in table.notes:
        progress.warn(note)
    report_problems(table.problems, table.problem_count, progress)


def report_alike(names: Iterable[str], progress: Progress) -> None:
    """Warn of labels that look the same, every group of them; those that differ in spaces alone are one."""
    for group in look_alikes(dict.fromkeys(names)):
        shown = quoted_names(group, len(group))
        if len({label_key(name) for name in group}) == 1:
            progress.warn(_("These differ only in spaces and are one label: {labels}.", labels=shown))
        else:
            progress.warn(_("These labels look the same: {labels}.", labels=shown))


def typed_cells(cells: Sequence[Cell], types: str | None = None) -> Sequence[OutCell]:
    """Return the original cells of a row as JSON takes them, with the values that they were."""
    if types is None and isinstance(cells, TypedCells):
        types = cells.types
    return as_read(cells, types) if types else cells


def report_problems(problems: Sequence[TableProblem], count: int, progress: Progress) -> None:
    """Warn of what was not right in a table: the first few by line, the others by number."""
    if not count:
        return
    shown = [
        _("line {line}: {problem}", line=problem.line, problem=problem.message.rstrip("."))
        for problem in problems[:_SHOWN]
    ]
    progress.warn(
        ngettext(
            "{count} problem in the table: {problems}.",
            "{count} problems in the table: {problems}.",
            count,
            problems=_in_a_row(shown, count),
        )
    )


def _in_a_row(sentences: Sequence[str], count: int) -> str:
    """Join what is shown of ``count`` things, with how many there are besides."""
    more = count - len(sentences)
    rest = [ngettext("and {count} more", "and {count} more", more)] if more else []
    return "; ".join((*sentences, *rest))


class ModelColumns:
    """The columns that hold one model's results: the main model's, or a baseline's under its alias."""

    def __init__(
        self,
        alias: str,
        labels: Sequence[str],
        *,
        main: bool,
        none: bool = False,
        multi_label: bool = False,
        threshold: float | None = None,
        draft: bool = False,
    ) -> None:
        self.alias = alias
        self._labels = tuple(labels)
        self._main = main
        self._none = none and main
        self._multi_label = multi_label
        self._threshold = threshold
        self._draft = draft and main  # some rows may have drafts, and a column says which
        self.header = [f"{alias}_label", f"{alias}_confidence"]
        if main:
            self.header.append(f"{alias}_status")
        if self._draft:
            self.header.append(f"{alias}_source")
        if self._none:
            self.header.append(f"{alias}_none")
        if main and multi_label:
            self.header.append(f"{alias}_labels")
        self.header += [f"{alias}_p:{label}" for label in labels]
        self.unscored: list[OutCell] = [None] * len(self.header)
        self.blank: list[OutCell] = [
            Status.BLANK.value if name == f"{alias}_status" else None for name in self.header
        ]

    @property
    def numbers(self) -> list[str]:
        """The columns of ``header`` that hold numbers."""
        words = {f"{self.alias}_{kind}" for kind in ("label", "status", "source", "labels")}
        return [name for name in self.header if name not in words]

    def cells(self, scores: Scores, drafts: Sequence[bool] | None = None) -> list[list[OutCell]]:
        """Return the cells of each scored row, in the order of ``header``.

        ``drafts`` says which of ``scores`` (n,) are drafts, where there is a column for that; None: all.
        The label is the most probable one, whatever the status says: by the command line's contract only
        a row without text has empty cells.
        """
        found = ScoresOfRows(np.ones(len(scores), np.bool_), scores)
        columns = [
            column.values.tolist() if isinstance(column, Numbers) else as_cells(column)
            for column in self.columns(found, ~found.present, drafts)
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def columns(
        self, found: ScoresOfRows, blank: NDArray[np.bool_], drafts: Sequence[bool] | None = None
    ) -> list[Column]:
        """Return the same by column for all rows (n,), ``blank`` (n,) or not scored ones among them."""
        present, scores = found.present, found.scores
        unscored = np.zeros(len(present), np.int32)

        def words(names: Iterable[str], codes: NDArray[Any], others: NDArray[np.int32] = unscored) -> Column:
            """Return ``names`` by the codes of scored rows; of other rows none, or the blank ones' word."""
            places = others.copy()
            places[present] = codes + np.int32(2)
            return text_arrays.taken(text_arrays.of_texts([None, Status.BLANK.value, *names]), places)

        def numbers(values: FloatArray) -> Column:
            if len(values) == len(present):
                return Numbers(values, present)
            column = np.zeros(len(present), np.float32)
            column[present] = values
            return Numbers(column, present)

        index, confidence = best(scores.probabilities)
        made = [words(self._labels, index), numbers(confidence)]
        if self._main:
            kinds = status_codes(scores, threshold=self._threshold, multi_label=self._multi_label)
            made.append(words(SCORED_STATUSES, kinds, blank.astype(np.int32)))
        if self._draft:
            are_drafts = np.ones(len(scores), np.int32) if drafts is None else np.asarray(drafts, np.int32)
            made.append(words((MODEL, DRAFT), are_drafts))
        if self._none:
            assert scores.none is not None or not len(scores)
            made.append(numbers(scores.none if scores.none is not None else confidence))
        if self._main and self._multi_label:
            lists, codes = lists_of(self._labels, chosen(scores.probabilities, threshold=self._threshold))
            made.append(words(lists, codes))
        give_way()
        return made + [numbers(column) for column in scores.probabilities.T]


def lists_of(names: Sequence[str], given: NDArray[np.bool_]) -> tuple[list[str], NDArray[np.integer[Any]]]:
    """Return the lists of ``names`` that ``given`` (n, K) has, once each, and each row's place (n,)."""
    kinds, codes = np.unique(given, axis=0, return_inverse=True)
    return [as_list(itertools.compress(names, kind)) for kind in kinds], codes.reshape(-1)


def as_list(names: Iterable[str]) -> str:
    """Return label names as the JSON list that goes into one cell: no separator can be mistaken for one."""
    return json.dumps(list(names), ensure_ascii=False)


def are_lists(cells: Mapping[str, int]) -> bool:
    """Return whether a column holds lists of labels: most of its ``cells`` (with their rows) are such."""
    lists = sum(rows for cell, rows in cells.items() if is_list(cell))
    return 2 * lists > sum(cells.values())


def has_lists(column: str, cells: Iterable[Cell], lists: bool | None, progress: Progress) -> bool:
    """Return whether the ``cells`` of a ``column`` of labels are lists of them, which the user is warned.

    ``lists``: what the user said; None: if most of the cells are.
    """
    found = (
        are_lists(Counter(cell for cell in cells if cell and not is_blank(cell))) if lists is None else lists
    )
    if found:
        progress.warn(
            _(
                "“{column}” has lists of labels. Each name in them is a label, and a row may have several.",
                column=column,
            )
        )
    return found


class ListCells:
    """Reads the cells of a column of lists of labels; those that are none are reported at the end."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._bad: list[str] = []
        self._bad_count = 0
        self._plain = 0
        self._first_plain = ""

    def names(self, cell: str, row: int) -> tuple[str, ...] | None:
        """Return the labels that a cell of ``row`` (from 1) names; None where it says nothing.

        Plain words are one label. What begins as a list and is none was damaged on its way here.
        """
        if is_blank(cell):
            return None
        names = from_list(cell)
        if names is not None:
            return names
        text = cell if len(cell) <= _MOST_CHARACTERS else f"{cell[:_MOST_CHARACTERS]}…"
        shown = _("row {row}: “{cell}”", row=number(row), cell=text)
        if not begins_as_list(cell):
            self._plain += 1
            self._first_plain = self._first_plain or shown
            return (cell,)
        self._bad_count += 1
        if len(self._bad) < _SHOWN_CELLS:
            self._bad.append(shown)
        return None

    def report(self, progress: Progress) -> None:
        """Warn of the cells that were no lists."""
        if self._bad:
            progress.warn(
                ngettext(
                    "{count} cell of “{column}” has no label, as it is not a list of labels: {cells}.",
                    "{count} cells of “{column}” have no label, as they are not lists of labels: {cells}.",
                    self._bad_count,
                    column=self._column,
                    cells=_in_a_row(self._bad, self._bad_count),
                )
            )
        if self._plain:
            progress.warn(
                ngettext(
                    "{count} cell of “{column}” is not a list and was read as one label: {cell}.",
                    "{count} cells of “{column}” are not lists and were read as one label each. "
                    "First: {cell}.",
                    self._plain,
                    column=self._column,
                    cell=self._first_plain,
                )
            )


def beside(columns: Sequence[str], ours: Iterable[str], progress: Progress) -> list[str]:
    """Return ``ours`` with a suffix wherever a name is taken by an original column; the user is warned."""
    taken = set(columns)
    result, renamed = [], []
    for name in ours:
        free, suffix = name, 1
        while free in taken:
            suffix += 1
            free = f"{name}_{suffix}"
        taken.add(free)
        result.append(free)
        if free != name:
            renamed.append(_("{name} as {written}", name=name, written=free))
    if renamed:
        progress.warn(
            _(
                "The table already has columns with these names. Ours are renamed: {columns}.",
                columns=and_more(renamed, _SHOWN),
            )
        )
    return result
