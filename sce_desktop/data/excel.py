"""Excel and OpenDocument workbooks, by calamine: one sheet as a table of texts.

Cells become the text that Excel shows for them, as far as it says which value they hold: numbers with up
to 15 digits (42, not 42.0), percents with their sign and all their digits (12.5%), dates and times in ISO
8601 (2024-05-01, 2024-05-01T13:30:00), durations as hours:minutes:seconds, truth values as TRUE and
FALSE, errors as #N/A and the like, formulas as their last result. Other number formats (currencies, fixed
decimals) are not applied. Empty cells are None; of merged cells the first holds the text. A workbook is
loaded whole, as its format demands; Excel's own limit is 1,048,576 rows.
"""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import Cell, TableOptions
from sce_desktop.data.reader import Cells, Table
from sce_desktop.data.text_source import file_size, reading
from sce_desktop.data.xlsx_marks import Mark, marked_cells

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

_CHUNK = 1000  # rows


class ExcelTable(Table):
    """One sheet. Line numbers are the sheet's row numbers; the header is its first row that is not blank."""

    kind = "xlsx"

    def __init__(self, path: Path, options: TableOptions) -> None:
        from python_calamine import CalamineWorkbook

        super().__init__(path)
        file_size(path)
        with _reading(path):
            workbook = CalamineWorkbook.from_path(path)
            self.sheets = _worksheets(workbook)
            self._sheet = self._choose(workbook, options.sheet)
        first, last = self._sheet.start or (0, 0), self._sheet.end or (0, 0)  # the used range, 0-based
        self._first_row, self._first_column = first[0] + 1, first[1] + 1
        self._height = last[0] + 1
        header_row = self._first_row if options.header_row is None else options.header_row
        self._header_row = header_row
        self.options = TableOptions(sheet=self._sheet.name, header_row=header_row)
        self.columns = self._read_header(header_row)
        self.estimated_rows = max(self._height - header_row, 0)

    def _choose(self, workbook: CalamineWorkbook, name: str | None) -> CalamineSheet:
        """Return the sheet called ``name``, or else the first that is not empty."""
        if name is not None and name not in self.sheets:
            raise UserError(f"{self.path.name} has no sheet “{name}”, but {', '.join(self.sheets)}.")
        for candidate in [name] if name is not None else self.sheets:
            sheet = workbook.get_sheet_by_name(candidate)
            if sheet.start is not None:
                return sheet
        raise UserError(f"{self.path.name} has no filled cell in it: choose a sheet with a header row.")

    def _read_header(self, header_row: int) -> tuple[str, ...]:
        if header_row == 0:
            return tuple(f"Column {number}" for number in range(1, self._sheet.width + 1))
        for number, cells in self._rows():
            if number == header_row and any(cells):
                return tuple(cell or "" for cell in cells)
            if number >= header_row:
                break
        raise UserError(f"{self.path.name} has no header in row {header_row}: choose another row.")

    def _rows(self) -> Iterator[tuple[int, list[Cell]]]:
        """Yield every row of the sheet with its 1-based number."""
        marks = marked_cells(self.path, self._sheet.name)
        with _reading(self.path):
            mark: Mark | None = next(marks, None)
            for number, values in enumerate(self._sheet.iter_rows(), start=1):
                cells = [cell_text(value) for value in values]
                while mark is not None and mark.row <= number:
                    column = mark.column - self._first_column
                    if mark.row == number and 0 <= column < len(cells):
                        cells[column] = mark.text
                    mark = next(marks, None)
                yield number, cells

    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells], float]]:
        rows: list[Cells] = []
        for number, cells in self._rows():
            if number < max(self._header_row + 1, self._first_row):
                continue
            if any(cell is not None for cell in cells):
                rows.append(tuple(cells))
            else:
                self._problem(number, "A blank row of the sheet: it is no row.")
            if len(rows) == _CHUNK:
                yield rows, number / self._height
                rows = []
        yield rows, 1.0


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    from python_calamine import CalamineError, PasswordError

    try:
        with reading(path):
            yield
    except PasswordError:
        raise UserError(f"{path.name} is protected by a password: save it without one.") from None
    except (CalamineError, ElementTree.ParseError, zipfile.BadZipFile):
        raise UserError(
            f"{path.name} is no Excel workbook, or a damaged one: save it as .xlsx or .csv."
        ) from None


def _worksheets(workbook: CalamineWorkbook) -> tuple[str, ...]:
    """Return the names of the sheets of cells, hidden ones last."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    sheets = [sheet for sheet in workbook.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    sheets.sort(key=lambda sheet: sheet.visible != SheetVisibleEnum.Visible)
    return tuple(sheet.name for sheet in sheets)


def cell_text(value: Any) -> Cell:
    """Return a value of calamine's as text; None for an empty cell."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, datetime.timedelta):
        hours, seconds = divmod(value.total_seconds(), 3600)
        return f"{int(hours)}:{int(seconds // 60):02}:{number_text(round(seconds % 60, 6)):0>2}"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def number_text(value: float) -> str:
    """Return a number with the 15 digits that Excel works with."""
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}".replace("e", "E")
