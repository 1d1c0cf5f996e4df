"""Annotations that come with a table: a column of labels, or the columns of an earlier export of ours.

What an export writes about decisions comes back whole, and with it the labels in their order where the
header names them: in the columns of a project in which several labels may fit, or those of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice

from sce_desktop.core.annotations import Annotation, Decision, Label, Origin, RowMarks
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import N_, _, ngettext
from sce_desktop.core.labels import check_count, distinct_labels, label_key
from sce_desktop.core.lists import from_list
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.tables import Cell, first_cells
from sce_desktop.store.content.staging import StagedRows
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.tasks.tables.columns import ListCells, beside, report_alike
from sce_desktop.tasks.tables.decided import DECISION_COLUMNS, LABEL_PREFIX, LABELS_COLUMN, ORIGIN_COLUMN

_BATCH = 5000
_OUR_FIRST = DECISION_COLUMNS[0]
_LOOKED_AT = 100  # columns where ours may begin
_SHOWN = 5  # bad cells that are shown one by one
_MOST_CHARACTERS = 40  # of a bad cell that is shown


@dataclass(frozen=True, slots=True)
class RoundTripRow:
    """What a table says about one row."""

    names: tuple[str, ...] = ()
    decision: Decision | None = None
    origin: Origin = Origin.IMPORTED
    decided_at: str = ""
    unsure: bool = False
    flag: bool = False
    note: str = ""


_NOTHING = RoundTripRow()


def _taken_apart(row: RoundTripRow, number: int, cells: ListCells) -> RoundTripRow:
    """Return a row whose one name may be a list of names; an empty list says that none fits."""
    if not row.names:
        return row
    names = cells.names(row.names[0], number)
    if names is None:
        return _NOTHING
    return replace(row, names=names, decision=Decision.LABEL if names else Decision.NONE)


def our_columns(columns: Sequence[str]) -> int | None:
    """Return where the columns of an earlier export of ours begin, None if there are none."""
    width = len(DECISION_COLUMNS)
    places = (place for place in range(len(columns) - width, -1, -1) if columns[place].startswith(_OUR_FIRST))
    for start in islice(places, _LOOKED_AT):
        found = list(columns[start : start + width])
        if found in (list(DECISION_COLUMNS), _beside(columns[:start], DECISION_COLUMNS)):
            return start
    return None


def _beside(columns: Sequence[str], ours: Iterable[str]) -> list[str]:
    return beside(columns, ours, SilentProgress())


class RoundTripImport:
    """Reads annotations off a table's rows while they stream by, and keeps them in the project afterwards.

    Args:
        columns: Headers of the table.
        gold_at: Place of a column of labels; it stays among the data.
        ours_at: Where our own columns begin (see `our_columns`); they are taken out of the data.
    """

    def __init__(
        self, columns: Sequence[str], *, gold_at: int | None = None, ours_at: int | None = None
    ) -> None:
        self.columns = tuple(columns[:ours_at])
        self._gold_at = gold_at
        self._ours_at = ours_at
        self._origin_at: int | None = None
        self._labels_at: int | None = None
        self._named: list[str] = []  # labels that the header names, in their order
        if ours_at is not None:
            self._read_header(columns, ours_at + len(DECISION_COLUMNS))
        self._rows: list[RoundTripRow] = []
        self._read = 0
        self._bad: list[str] = []  # cells of ours that were edited into something else
        self._bad_count = 0

    def _read_header(self, columns: Sequence[str], place: int) -> None:
        def stands(name: str) -> bool:
            return list(columns[place : place + 1]) == _beside(self.columns, [name])

        prefix = f"{MAIN_ALIAS}_p:"
        if stands(ORIGIN_COLUMN):
            self._origin_at = place
            place += 1
        if stands(LABELS_COLUMN):
            self._labels_at = place
            prefix = LABEL_PREFIX
        written = [name for name in columns[place:] if name.startswith(prefix)]
        self._named = [self._as_given(name)[len(prefix) :] for name in written]

    def _as_given(self, written: str) -> str:
        """Return a name of ours without the suffix that it has where an original column bears it."""
        suffixed = re.fullmatch(r"(.*)_\d+", written, re.DOTALL)
        return suffixed[1] if suffixed and suffixed[1] in self.columns else written

    @property
    def cells(self) -> list[str]:
        """What stands in the column of labels, blank cells excluded."""
        return [row.names[0] for row in self._rows if row.names]

    @property
    def multi_label(self) -> bool:
        """Whether the rows were exported from a project in which several labels may fit a row."""
        return self._labels_at is not None

    @property
    def keeps_rows(self) -> bool:
        """Whether something of each row stays in memory until all are there."""
        return self._gold_at is not None or self._ours_at is not None

    def passing(self, batches: Iterable[Sequence[tuple[Cell, ...]]]) -> Iterator[Sequence[tuple[Cell, ...]]]:
        """Yield the rows without our own columns, taking note of what they say."""
        if not self.keeps_rows:  # nothing to note, and a million rows to pass
            yield from batches
            return
        for batch in batches:
            self._rows += [self.read(cells) for cells in batch]
            yield [first_cells(cells, self._ours_at) for cells in batch]

    def read(self, cells: Sequence[Cell]) -> RoundTripRow:
        """Return what the cells of the next row say."""
        self._read += 1
        if self._ours_at is not None:
            return self._read_ours(cells)
        name = cells[self._gold_at] if self._gold_at is not None else None
        if name is None or is_blank(name):
            return _NOTHING
        return RoundTripRow((name,), Decision.LABEL)

    def _read_ours(self, cells: Sequence[Cell]) -> RoundTripRow:
        assert self._ours_at is not None
        label, decided, unsure, flag, note, decided_at = cells[
            self._ours_at : self._ours_at + len(DECISION_COLUMNS)
        ]
        names: tuple[str, ...] = () if label is None or is_blank(label) else (label,)
        if self._labels_at is not None and not is_blank(listed := cells[self._labels_at]):
            found = from_list(listed or "")
            if found is None:  # the first label, which has a cell of its own, stands
                self._report(N_("row {row}: “{cell}” is not a list of labels"), listed)
            else:
                names = found
        origin, decision = Origin.IMPORTED, Decision.LABEL if names else None
        if decided in (Decision.NONE, Decision.SKIPPED):
            decision, names, origin = Decision(decided), (), Origin.HAND
            if self._origin_at is not None and not is_blank(written := cells[self._origin_at]):
                if written in set(Origin):
                    origin = Origin(written)
                else:
                    self._report(N_("row {row}: “{cell}” is not an origin of an annotation"), written)
        elif decided in (Origin.HAND, Origin.BULK):
            origin = Origin(decided)
        elif not is_blank(decided) and decided != Origin.IMPORTED:
            self._report(N_("row {row}: “{cell}” is not a kind of annotation"), decided)
        for mark in (unsure, flag):
            if not is_blank(mark) and mark not in ("0", "1"):
                self._report(N_("row {row}: “{cell}” is neither 1 nor 0"), mark)
        moment = self._moment(decided_at)
        incoming = RoundTripRow(names, decision, origin, moment, unsure == "1", flag == "1", note or "")
        return _NOTHING if incoming == _NOTHING else incoming

    def _moment(self, cell: Cell) -> str:
        """Return a moment as it is stored, in UTC; empty where the cell holds none."""
        if cell is None or is_blank(cell):
            return ""
        try:
            moment = datetime.fromisoformat(cell.strip())
        except ValueError:
            self._report(N_("row {row}: “{cell}” is not a date and time"), cell)
            return ""
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        elif not moment.utcoffset():
            return cell.strip()
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")

    def _report(self, message: str, cell: Cell) -> None:
        self._bad_count += 1
        if len(self._bad) < _SHOWN:
            shown = cell or ""
            if len(shown) > _MOST_CHARACTERS:
                shown = f"{shown[:_MOST_CHARACTERS]}…"
            self._bad.append(_(message, row=self._read, cell=shown))

    def report_bad_cells(self, progress: Progress) -> None:
        """Warn of cells of ours that do not say what they should: they are passed over."""
        if self._bad:
            more = self._bad_count - len(self._bad)
            rest = [ngettext("and {count} more", "and {count} more", more)] if more else []
            progress.warn(
                ngettext(
                    "{count} cell of the earlier export was ignored: {cells}.",
                    "{count} cells of the earlier export were ignored: {cells}.",
                    self._bad_count,
                    cells="; ".join((*self._bad, *rest)),
                )
            )

    def keep(
        self,
        project: Project | StagedRows,
        ids: IdArray,
        labels: Sequence[Label],
        *,
        multi_label: bool,
        lists: bool = False,
        progress: Progress,
    ) -> None:
        """Make ``labels`` and the labels that were met the label set, and annotate the rows ``ids``.

        ``lists``: a cell of the column of labels may be a JSON list of several.
        """
        if lists and self._ours_at is None and self._gold_at is not None:
            listed = ListCells(self.columns[self._gold_at])
            self._rows = [_taken_apart(row, number, listed) for number, row in enumerate(self._rows, start=1)]
            listed.report(progress)
        self.report_bad_cells(progress)
        known = {label_key(label.name) for label in labels}
        names = [*self._named, *(name for row in self._rows for name in row.names)]
        report_alike([*(label.name for label in labels), *names], progress)
        met = distinct_labels(names)
        wanted = [*labels, *(label for label in met if label_key(label.name) not in known)]
        check_count(len(wanted), self.columns[self._gold_at] if self._gold_at is not None else "")
        if not wanted and all(row is _NOTHING for row in self._rows):
            return
        kept = project.set_labels(wanted, multi_label=multi_label or self.multi_label)
        id_of = {label_key(label.name): label.id for label in kept.labels if label.id is not None}
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        action = None
        for start in range(0, len(self._rows), _BATCH):
            pairs = list(
                zip(ids[start : start + _BATCH].tolist(), self._rows[start : start + _BATCH], strict=True)
            )
            annotations = (
                Annotation(
                    row_id,
                    row.decision,
                    tuple(dict.fromkeys(id_of[label_key(name)] for name in row.names)),
                    row.origin,
                    row.decided_at or now,
                )
                for row_id, row in pairs
                if row.decision is not None
            )
            marks = (
                RowMarks(row_id, row.unsure, row.flag, row.note)
                for row_id, row in pairs
                if row.unsure or row.flag or row.note
            )
            action = project.annotate(annotations, marks, imported=True, action=action)
