"""Workbooks of other kinds than xlsx (xlsb, xls, ods), by calamine, which loads a sheet whole."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sce_desktop.core.tables import Cell
from sce_desktop.data.excel.number_formats import duration_text, number_text
from sce_desktop.data.excel.workbook_size import refuse_cells, refuse_large
from sce_desktop.data.excel.xlsx_xml import DamagedError, Extent


class OldWorkbook:
    """The sheets of a workbook. Raises the errors of calamine, and UserError for what memory cannot hold."""

    def __init__(self, path: Path) -> None:
        from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

        refuse_large(path)
        self._path = path
        with _panicking():
            self._workbook = CalamineWorkbook.from_path(path)
            sheets = [s for s in self._workbook.sheets_metadata if s.typ == SheetTypeEnum.WorkSheet]
        sheets.sort(key=lambda sheet: sheet.visible != SheetVisibleEnum.Visible)
        self.sheets = tuple(sheet.name for sheet in sheets)
        self._open: dict[str, Any] = {}

    def _sheet(self, name: str) -> Any:
        if name not in self._open:
            with _panicking():
                found = self._workbook.get_sheet_by_name(name)
            if found.end is not None:  # calamine gives the empty rows above, too
                refuse_cells(self._path, (found.end[0] + 1) * (found.end[1] + 1))
            self._open = {name: found}
        return self._open[name]

    def extent(self, sheet: str) -> Extent:
        """Return where the filled cells of ``sheet`` are."""
        found = self._sheet(sheet)
        if found.start is None or found.end is None:
            return Extent()
        (top, left), (bottom, right) = found.start, found.end
        rows = bottom - top + 1
        return Extent(top + 1, bottom + 1, left + 1, right + 1, rows, rows * (right - left + 1))

    def rows(self, sheet: str) -> Iterator[tuple[int, dict[int, Cell]]]:
        """Yield (number, cells by column) of the rows with a filled cell."""
        found = self._sheet(sheet)
        first = found.start[1] + 1
        with _panicking():
            for number, values in enumerate(found.iter_rows(), start=1):
                if values.count("") == len(values):  # quick where a stray cell leaves thousands of them
                    continue
                texts = ((column, cell_text(value)) for column, value in enumerate(values, start=first))
                cells: dict[int, Cell] = {column: text for column, text in texts if text is not None}
                if cells:
                    yield number, cells


class _panicking:  # noqa: N801 - used like a function
    """Turns what calamine gives up on into `DamagedError`: by a panic (no Exception) or a long duration."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is not None and (kind.__name__ == "PanicException" or issubclass(kind, OverflowError)):
            raise DamagedError("calamine gave up") from None


def cell_text(value: Any) -> Cell:
    """Return a value of calamine's as text; None for an empty cell."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, datetime.timedelta):
        return duration_text(value / datetime.timedelta(days=1))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
