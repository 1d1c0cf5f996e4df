"""Writing tables: csv, tsv, xlsx, parquet and jsonl, whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.core.background_writer import BackgroundWriter
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.i18n import number as formatted
from sce_desktop.core.names import numbered
from sce_desktop.core.private import FOLDER
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.quoting import quoted_names
from sce_desktop.data.atomic import replacing
from sce_desktop.data.columns import Columns
from sce_desktop.data.csv.csv_grammar import valid_delimiter
from sce_desktop.data.csv.csv_text import CSVLines, CSVText, OutCell
from sce_desktop.data.json.json_values import JsonText, Missing
from sce_desktop.data.number_text import number
from sce_desktop.data.parquet.writing import write_parquet
from sce_desktop.data.synced import SyncedFile
from sce_desktop.temporary import temporary_beside

if TYPE_CHECKING:
    from sce_desktop.data.column_types import ColumnTypes

Rows = Sequence[Sequence[OutCell]]

EXCEL_ROWS = 1_048_576
EXCEL_COLUMNS = 16_384
EXCEL_CHARACTERS = 32_767  # UTF-16 units a cell
_EXACT_IN_EXCEL = 2**53
_SHEET_ROWS = 100  # of a workbook, between two looks at whether to go on: a cell takes some 5 µs
_NAMED_ONCE = (".parquet", ".jsonl")
BY_COLUMN = (".csv", ".tsv", ".parquet")
"""Kinds of tables that take `Columns`: they are written in a fraction of the time."""


def check_kind(path: Path) -> None:
    """Refuse a table whose ending names no kind that can be written.

    Raises:
        UserError: It ends otherwise.
    """
    if path.suffix.lower() not in (".csv", ".tsv", ".xlsx", ".parquet", ".jsonl"):
        raise UserError(_("{file} must end in .csv, .tsv, .xlsx, .parquet or .jsonl.", file=path.name))


def write_table(
    path: str | Path,
    columns: Sequence[str],
    batches: Iterable[Rows | CSVText | Columns],
    *,
    delimiter: str = ",",
    excel_safe: bool = False,
    overwrite: bool = True,
    about: Sequence[str] = (),
    legend: Sequence[tuple[str, str]] = (),
    types: ColumnTypes | None = None,
    numbers: Collection[str] = (),
    progress: Progress | None = None,
) -> int:
    """Write a table in the kind that ``path`` ends in and return the number of rows.

    Texts are written unchanged and read back equal by `open_table`; None is an empty cell, or null where
    the format has one. Numbers have 9 significant digits. jsonl takes `JsonText` as the JSON that it is, and
    leaves out the key of a `Missing` cell; ``types`` are those of a parquet file's first columns, which their
    texts become again. ``delimiter`` is for csv, whose batches may be `CSVText` made with it. Batches of csv
    and parquet may be `Columns`.
    ``excel_safe`` writes csv with a byte order mark and keeps Excel from running cells as formulas
    (`excel_safe`); xlsx never does. ``about``: lines on the table, for a second sheet of a workbook and the
    metadata of a parquet file; the other kinds have no place for them. ``legend``: columns and their
    meanings, for a sheet of their own in a workbook. ``numbers``: columns of a parquet file that are float64
    even where all their cells are empty. The header of a workbook is frozen and can be filtered.

    The table is written aside and put in place at the end. Raises UserError for an unknown kind, a full
    disk, a place that cannot be written to, or what does not fit into an Excel sheet; Cancelled by
    ``progress``.
    """
    path = Path(path)
    progress = progress or SilentProgress()
    ending = path.suffix.lower()
    counted = _Counted(batches, len(columns), progress)
    check_kind(path)
    if ending == ".xlsx" and len(columns) > EXCEL_COLUMNS:
        raise UserError(
            _(
                "An Excel sheet holds at most {limit} columns: write CSV or Parquet instead.",
                limit=formatted(EXCEL_COLUMNS),
            )
        )
    if ending in _NAMED_ONCE:
        columns = _unique(columns, progress)
    with replacing(path, overwrite=overwrite) as temporary:
        if ending == ".xlsx":
            _write_xlsx(temporary, columns, counted, about, legend, progress)
        elif ending == ".parquet":
            write_parquet(
                temporary,
                columns,
                iter(counted),
                about=about,
                types=types,
                numbers=numbers,
                progress=progress,
            )
        elif ending == ".jsonl":
            _write_jsonl(temporary, columns, counted)
        else:
            delimiter = "\t" if ending == ".tsv" else valid_delimiter(delimiter or ",")
            protected = _write_csv(
                temporary, columns, counted, delimiter, excel_safe=excel_safe, progress=progress
            )
            if protected:
                progress.warn(
                    ngettext(
                        "An apostrophe was written before {count} cell that Excel would read as a formula "
                        "(negative numbers too). Importing this file here removes it.",
                        "An apostrophe was written before {count} cells that Excel would read as formulas "
                        "(negative numbers too). Importing this file here removes it.",
                        protected,
                    )
                )
        progress.check()  # what is left is to put it on the disk and in its place
    return counted.rows


def written_columns(path: Path, columns: Sequence[str]) -> list[str]:
    """Return ``columns`` as `write_table` names them in ``path``: in some kinds of tables each once."""
    if path.suffix.lower() in _NAMED_ONCE:
        return _unique(columns, SilentProgress())
    return list(columns)


class _Counted:
    """The batches, counted, checked for their width and reported to ``progress``."""

    def __init__(self, batches: Iterable[Rows | CSVText | Columns], width: int, progress: Progress) -> None:
        self._batches = batches
        self._width = width
        self._progress = progress
        self.rows = 0

    def __iter__(self) -> Iterator[Any]:
        for batch in self._batches:
            self._progress.check()
            widths = (batch.width,) if isinstance(batch, CSVText | Columns) else map(len, batch)
            if any(width != self._width for width in widths):
                raise ValueError(f"a row has not {self._width} cells")
            yield batch
            self.rows += len(batch)
            self._progress.report(self.rows, stage="writing")


def _write_csv(
    target: Path,
    columns: Sequence[str],
    batches: Iterable[Rows | CSVText | Columns],
    delimiter: str,
    *,
    excel_safe: bool,
    progress: Progress,
) -> int:
    """Write csv and return how many cells were protected from being taken for formulas."""
    made, handed_over = CSVLines(delimiter, excel_safe=excel_safe), 0
    with target.open("wb") as file, SyncedFile(file) as synced, BackgroundWriter("export") as writer:
        marked = excel_safe or (columns and columns[0].startswith("\ufeff"))  # which else would pass for it
        file.write(f"{chr(0xFEFF) if marked else ''}{''.join(made.lines([columns]))}".encode())
        for batch in batches:
            if isinstance(batch, CSVText):
                handed_over += batch.protected
            writer.wait()
            progress.check()
            writer.write(_write_lines, synced, batch, made)
        writer.wait()
        progress.check()
    return made.protected + handed_over


def _write_lines(file: SyncedFile, batch: Rows | CSVText | Columns, made: CSVLines) -> None:
    if isinstance(batch, Columns):
        file.write(batch.csv_bytes(made))
    else:
        file.write((batch.text if isinstance(batch, CSVText) else "".join(made.lines(batch))).encode())


def _write_jsonl(target: Path, columns: Sequence[str], batches: Iterable[Rows]) -> None:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    keys = [f"{encode(column)}: " for column in columns]

    def value(cell: OutCell) -> str:
        if isinstance(cell, JsonText):
            return str(cell)
        return encode(cell if cell is None or isinstance(cell, str) else number(cell))

    with target.open("w", encoding="utf-8", newline="\n") as file:
        for batch in batches:
            for row in batch:
                pairs = (
                    key + value(cell)
                    for key, cell in zip(keys, row, strict=True)
                    if not isinstance(cell, Missing)
                )
                file.write(f"{{{', '.join(pairs)}}}\n")


def _write_xlsx(
    target: Path,
    columns: Sequence[str],
    batches: Iterable[Rows],
    about: Sequence[str],
    legend: Sequence[tuple[str, str]],
    progress: Progress,
) -> None:
    import xlsxwriter
    from xlsxwriter.exceptions import FileCreateError

    from sce_desktop.data.excel.stoppable import StoppableFile, sheet_class

    with temporary_beside(target) as folder, StoppableFile(target, progress.check) as file:
        folder.mkdir(mode=FOLDER)
        workbook = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": str(folder)})
        sheet = workbook.add_worksheet(worksheet_class=sheet_class(progress.check))
        try:
            for place, row in enumerate(chain([columns], chain.from_iterable(batches))):
                if place >= EXCEL_ROWS:
                    raise UserError(
                        _(
                            "An Excel sheet holds at most {count} rows: write CSV or Parquet instead.",
                            count=formatted(EXCEL_ROWS - 1),
                        )
                    )
                if place % _SHEET_ROWS == 0:
                    progress.check()
                _write_sheet_row(sheet, place, row)
            sheet.freeze_panes(1, 0)
            if columns:
                sheet.autofilter(0, 0, place, len(columns) - 1)
            if legend:
                meanings = workbook.add_worksheet("Legend")
                meanings.set_column(0, 0, 30)
                meanings.set_column(1, 1, 80)
                for line, pair in enumerate(legend):
                    _write_sheet_row(meanings, line, [cell[: EXCEL_CHARACTERS // 2] for cell in pair])
            if about:
                beside = workbook.add_worksheet("About")
                beside.set_column(0, 0, 100)
                for place, sentence in enumerate(about):
                    beside.write_string(place, 0, sentence)
        except BaseException:
            file.stop()
            sheet.row_data_fh.close()  # the sheet's temporary file; workbook.close() would write it all
            raise
        try:
            workbook.close()
        except BaseException as error:
            file.stop()
            if isinstance(error, FileCreateError):
                raise error.args[0] from None  # the operating system's own
            for one in workbook.worksheets():
                one.row_data_fh.close()
                one.fh.close()
            raise


def _write_sheet_row(sheet: Any, place: int, row: Sequence[OutCell]) -> None:
    for column, cell in enumerate(row):
        if cell is None:
            continue
        if not isinstance(cell, str):
            value = number(cell)
            if math.isfinite(value) and abs(value) <= _EXACT_IN_EXCEL:
                sheet.write_number(place, column, value)
                continue
            cell = str(value)
        elif 2 * len(cell) > EXCEL_CHARACTERS and len(cell.encode("utf-16-le")) > 2 * EXCEL_CHARACTERS:
            raise UserError(_too_long(place + 1, cell))
        sheet.write_string(place, column, cell)


def _too_long(row: int, cell: str) -> str:
    units = len(cell.encode("utf-16-le")) // 2
    if units == len(cell):
        return _(
            "Row {row} has a cell of {length} characters, and Excel holds at most {limit}: "
            "write CSV, Parquet or JSON Lines instead.",
            row=formatted(row),
            length=formatted(units),
            limit=formatted(EXCEL_CHARACTERS),
        )
    return _(
        "Row {row} has a cell of {length} characters, which Excel counts as {units} (an emoji is "
        "two), and it "
        "holds at most {limit}: write CSV, Parquet or JSON Lines instead.",
        row=formatted(row),
        length=formatted(len(cell)),
        units=formatted(units),
        limit=formatted(EXCEL_CHARACTERS),
    )


def _unique(columns: Sequence[str], progress: Progress) -> list[str]:
    """Number names that occur before: objects and parquet readers want each once."""
    names = numbered(columns, frozenset(columns))
    if names != list(columns):
        renamed = [name for name, column in zip(names, columns, strict=True) if name != column]
        progress.warn(
            _("Columns with the same name are numbered in this file: {names}.", names=quoted_names(renamed))
        )
    return names
