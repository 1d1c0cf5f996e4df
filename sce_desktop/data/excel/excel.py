"""Excel and OpenDocument workbooks: one sheet as a table of texts.

Cells become the text that Excel shows for them, as far as it says which value they hold: see
`number_formats`; truth values are TRUE and FALSE, errors #N/A and the like, formulas their last result.
Empty cells are None; of merged cells the first holds the text. An xlsx sheet is read as a stream in which
empty space costs nothing (`xlsx`); xlsb, xls and ods by calamine, which loads them whole (`old_workbook`).
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Protocol
from xml.parsers import expat

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.core.quoting import and_more, quoted_names
from sce_desktop.core.tables import Cell, TableOptions
from sce_desktop.data.csv.headers import doubt_of_sheet
from sce_desktop.data.csv.text_source import file_size, reading
from sce_desktop.data.excel.old_workbook import OldWorkbook
from sce_desktop.data.excel.xlsx import Xlsx, too_much
from sce_desktop.data.excel.xlsx_xml import DamagedError, Extent, column_letters
from sce_desktop.data.excel.zip_parts import has_many_parts
from sce_desktop.data.reader import Cells, Table

_CHUNK_ROWS = 1000
_HEAD_ROWS = 30  # tell what the header may be
_CHUNK_CELLS = 1_000_000
_SHOWN = 3  # sheets and cells named in one sentence
_BLANK_ROWS = 100  # so many that follow each other are reported one by one
_MANY_CELLS = 500_000_000
_MANY_UNNAMED = 1000  # columns
_SPARSE = 100  # times more space than cells


class Workbook(Protocol):
    """What every kind of workbook gives."""

    sheets: tuple[str, ...]

    def extent(self, sheet: str) -> Extent:
        """Return where the filled cells of ``sheet`` are."""

    def rows(self, sheet: str) -> Iterator[tuple[int, dict[int, Cell]]]:
        """Yield (number, cells by column) of its filled rows; None: a formula without a saved result."""


class ExcelTable(Table):
    """One sheet. Line numbers are the sheet's row numbers; the header is its first row that is not blank."""

    kind = "xlsx"

    def __init__(self, path: Path, options: TableOptions) -> None:
        super().__init__(path)
        file_size(path)
        with _reading(path):
            self._book = _open(path)
            self.sheets = self._book.sheets
            self._sheet, self._extent = self._choose(options.sheet)
            header_row = self._first_text() if options.header_row is None else options.header_row
            self._header_row = header_row
            self.options = TableOptions(sheet=self._sheet, header_row=header_row)
            self.columns = self._read_header(header_row)
            self._refuse_sparse()
            if options.header_row is None:
                head = islice(self._book.rows(self._sheet), _HEAD_ROWS)
                doubt = doubt_of_sheet([(number, self._in_order(cells)) for number, cells in head])
                self.doubts = (doubt,) if doubt is not None else ()
        before = 1 if header_row else 0
        self.estimated_rows = max(self._extent.rows - before, 0)

    def _choose(self, name: str | None) -> tuple[str, Extent]:
        """Return the sheet called ``name``, or else the first that is not empty."""
        if name is not None and name not in self.sheets:
            raise UserError(
                _(
                    "{file} has no sheet “{sheet}”. Choose from: {sheets}.",
                    file=self.path.name,
                    sheet=name,
                    sheets=quoted_names(self.sheets),
                )
            )
        for candidate in [name] if name is not None else self.sheets:
            extent = self._book.extent(candidate)
            if extent.cells:
                return candidate, extent
        if name is None:
            raise UserError(
                _("{file} has no filled cell: choose a workbook with a header row.", file=self.path.name)
            )
        raise UserError(
            _(
                "The sheet “{sheet}” of {file} has no filled cell: choose a sheet with a header row.",
                sheet=name,
                file=self.path.name,
            )
        )

    def _first_text(self) -> int:
        """Return the first row with a text in it: not that of a formula without a saved result."""
        rows = self._book.rows(self._sheet)
        return next((number for number, cells in rows if any(cells.values())), self._extent.first_row)

    def _read_header(self, header_row: int) -> tuple[str, ...]:
        if header_row == 0:
            return tuple(f"Column {number}" for number in range(1, self._extent.width + 1))
        for number, cells in self._book.rows(self._sheet):
            if number == header_row and any(cells.values()):
                return tuple(cell or "" for cell in self._in_order(cells))
            if number >= header_row:
                break
        raise UserError(
            _("{file} has no header in row {row}: choose another row.", file=self.path.name, row=header_row)
        )

    def _refuse_sparse(self) -> None:
        """Raise UserError where stray cells far from a table make it thousands of times larger than it is."""
        extent = self._extent
        area = extent.rows * extent.width
        unnamed = sum(not column for column in self.columns)
        if area > _SPARSE * extent.cells and (area > _MANY_CELLS or unnamed > _MANY_UNNAMED):
            raise UserError(
                _(
                    "The sheet “{sheet}” of {file} extends to column {column}, row {row}, and is "
                    "nearly empty: "
                    "delete the cells far from the table, or save the table as CSV.",
                    sheet=self._sheet,
                    file=self.path.name,
                    column=column_letters(extent.last_column),
                    row=extent.last_row,
                )
            )

    def _in_order(self, cells: dict[int, Cell]) -> list[Cell]:
        result: list[Cell] = [None] * self._extent.width
        for column, cell in cells.items():
            place = column - self._extent.first_column
            if 0 <= place < len(result):
                result[place] = cell or None
        return result

    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells], float]]:
        rows: list[Cells] = []
        last = max(self._header_row, self._extent.first_row - 1)  # the row that was read last
        most = max(min(_CHUNK_ROWS, _CHUNK_CELLS // max(self._extent.width, 1)), 1)
        with _reading(self.path):
            for number, cells in self._book.rows(self._sheet):
                self._report_unsaved(number, cells)
                if number <= self._header_row:
                    continue
                self._report_blank(last + 1, number - 1)
                last = number
                ordered = self._in_order(cells)
                if any(cell is not None for cell in ordered) or None in cells.values():
                    rows.append(tuple(ordered))
                else:
                    self._report_blank(number, number)
                if len(rows) >= most:
                    yield rows, min(number / self._extent.last_row, 1.0)
                    rows = []
        yield rows, 1.0

    def _report_blank(self, first: int, last: int) -> None:
        if last - first >= _BLANK_ROWS:
            count = last - first + 1
            message = ngettext(
                "{count} blank row in the sheet, skipped.", "{count} blank rows in the sheet, skipped.", count
            )
            self._problem(first, message)
            return
        for number in range(first, last + 1):
            self._problem(number, _("A blank row in the sheet, skipped."))

    def _report_unsaved(self, number: int, cells: dict[int, Cell]) -> None:
        unsaved = [f"{column_letters(column)}{number}" for column, cell in cells.items() if cell is None]
        if not unsaved:
            return
        message = ngettext(
            "{cells}: a formula without a saved result was read as empty. Save the workbook in Excel first.",
            "{cells}: formulas without a saved result were read as empty. Save the workbook in Excel first.",
            len(unsaved),
            cells=and_more(unsaved, _SHOWN),
        )
        self._problem(number, message)


def _open(path: Path) -> Workbook:
    """Open a workbook by what is in it. Raises the errors that `_reading` turns into sentences."""
    if not zipfile.is_zipfile(path):
        return OldWorkbook(path)
    if has_many_parts(path):
        raise too_much(path)
    with zipfile.ZipFile(path) as archive:
        names = {name.lower() for name in archive.namelist()}
    return OldWorkbook(path) if names & {"xl/workbook.bin", "content.xml"} else Xlsx(path)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    from python_calamine import CalamineError, PasswordError

    try:
        with reading(path):
            yield
    except PasswordError:
        raise UserError(
            _("{file} is protected by a password: save it without one.", file=path.name)
        ) from None
    except (
        CalamineError,
        DamagedError,
        expat.ExpatError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,  # zipfile: a way of packing that it does not know
    ):
        raise UserError(
            _("{file} is not an Excel workbook, or is damaged: save it as XLSX or CSV.", file=path.name)
        ) from None
    except RuntimeError as error:  # zipfile: a part that is encrypted
        if "password" not in str(error):
            raise
        raise UserError(
            _("{file} is protected by a password: save it without one.", file=path.name)
        ) from None
