"""The parts of a table that findings compare: rows by the values of a column, or by the dates in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import ngettext
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.tables import Cell
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.findings import MOST_GROUPS, by_value
from sce_desktop.tasks.tables.periods import Unit, by_period

_LOOKED_AT = 500  # rows by which a column is judged
_DATES = 0.6  # a column of which so many cells are dates holds dates


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Which part each of n rows belongs to, and warnings about that."""

    codes: IdArray  # (n,) places in ``names``, -1: in no part
    names: tuple[str, ...]
    unit: Unit | None = None  # of periods
    unreadable: int = 0  # rows whose date cannot be read
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that can part the rows, by 0-based place: all but the text, and the first offers."""

    places: tuple[int, ...]
    by_value: int | None  # a column of few values; else the first one, without dates if there is one
    by_date: int | None  # a column of dates; else the first one


def part(values: Sequence[Cell], *, over_time: bool, unit: Unit | None = None, progress: Progress) -> Parts:
    """Part the rows by their ``values`` (n,) in a column: the most frequent ones, or periods of ``unit``."""
    if not over_time:
        codes, names = by_value(values)
        return Parts(codes, names)
    doubts = SilentProgress()
    found = by_period(values, unit=unit, progress=doubts)
    progress.check()
    if found.empty:
        doubts.warn(
            ngettext(
                "{count} row has no date and is in no period.",
                "{count} rows have no date and are in no period.",
                found.empty,
            )
        )
    return Parts(found.codes, found.names, found.unit, found.unreadable, tuple(doubts.warnings))


def columns(project: Project) -> Columns:
    """Return which columns can part the rows; the first rows decide which are offered first."""
    row_ids = project.row_ids(RowQuery(blank=False))[:_LOOKED_AT]
    rows = project.rows(row_ids)
    places = [place for place in range(len(project.columns)) if place not in project.text_columns]
    dates, few = [], []
    for place in places:
        cells = [cell for row in rows if not is_blank(cell := row.cells[place])]
        readable = by_period(cells, progress=SilentProgress()).codes >= 0
        if cells and readable.mean() >= _DATES:
            dates.append(place)
        elif 2 <= len(set(cells)) <= min(MOST_GROUPS, max(2, len(cells) // 2)):
            few.append(place)
    undated = [place for place in places if place not in dates]
    offers = ((*few, *undated, *places), (*dates, *places))
    by_value, by_date = (next(iter(offer), None) for offer in offers)
    return Columns(tuple(places), by_value, by_date)
