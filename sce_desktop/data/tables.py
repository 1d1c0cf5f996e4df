"""Opening a table of any kind: what it is, how it is read, and what the import dialog shows of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import N_, _, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import TableOptions, TablePreview
from sce_desktop.data.csv.byte_marks import looks_binary
from sce_desktop.data.csv.csv_reader import CsvTable
from sce_desktop.data.csv.encodings import detect_encodings
from sce_desktop.data.csv.text_source import GZIP_MAGIC, byte_chunks, codec_name, file_size, reading
from sce_desktop.data.excel.excel import ExcelTable
from sce_desktop.data.exchange.qda_table import ENDINGS as QDA_ENDINGS
from sce_desktop.data.exchange.qda_table import QdaTable
from sce_desktop.data.guess import guess_columns
from sce_desktop.data.json.jsonl import JsonTable
from sce_desktop.data.parquet.parquet import ParquetTable
from sce_desktop.data.reader import MAX_COLUMNS, Table

__all__ = ["Table", "open_table", "preview_table"]

_WORKBOOK_ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_PARQUET_ENDINGS = (".parquet", ".pq")
_WORKBOOKS = (b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
_OTHERS = {
    b"\x89PNG": N_("a picture"),
    b"\xff\xd8\xff": N_("a picture"),
    b"GIF8": N_("a picture"),
    b"II*\0": N_("a picture"),
    b"%PDF": N_("a PDF document"),
    b"{\\rtf": N_("a text document"),
    b"SQLite format 3\0": N_("a database or a project"),
    b"7z\xbc\xaf'\x1c": N_("an archive"),
    b"Rar!": N_("an archive"),
    b"BZh": N_("an archive"),
    b"\xfd7zXZ": N_("an archive"),
    b"\x28\xb5\x2f\xfd": N_("an archive"),  # Zstandard
    b"\x7fELF": N_("a program"),
    b"ARROW1": N_("an Arrow file"),
}
_GUESS_ROWS = 1000


def open_table(
    path: str | Path,
    options: TableOptions = TableOptions(),  # noqa: B008 - frozen
    progress: Progress | None = None,
) -> Table:
    """Open a table; nothing but its header and a sample is read yet (of JSON, everything once).

    ``progress`` is asked while the encoding of a large file is found out.

    The kind follows the content where that is plain (workbooks, parquet), else the ending: .jsonl,
    .ndjson and .json, otherwise delimited text. Text and JSON may be gzipped. Raises UserError for what
    is no table, or has more columns than can be worked with.
    """
    table = _open(Path(path), options, progress)
    if len(table.columns) > MAX_COLUMNS:
        raise UserError(
            _(
                "{file} has {count} columns, and the limit is {limit}: check the delimiter, or "
                "remove columns.",
                file=table.path.name,
                count=number(len(table.columns)),
                limit=number(MAX_COLUMNS),
            )
        )
    return table


def _open(path: Path, options: TableOptions, progress: Progress | None) -> Table:
    size = file_size(path)
    if options.encoding is not None:
        codec_name(options.encoding)
    with reading(path), path.open("rb") as file:
        gzipped = file.read(2) == GZIP_MAGIC
    head, _fraction = next(byte_chunks(path, size), (b"", 1.0))
    if not head:
        raise UserError(_("{file} is empty: choose a table with at least a header line.", file=path.name))
    ending = Path(path.stem).suffix.lower() if gzipped else path.suffix.lower()
    workbook = head.startswith(_WORKBOOKS)
    if gzipped and (workbook or head.startswith((b"PAR1", GZIP_MAGIC))):
        raise UserError(_("{file} is compressed: unpack it first.", file=path.name))
    if ending in QDA_ENDINGS:
        return QdaTable(path, options)
    if workbook or ending in _WORKBOOK_ENDINGS:
        return ExcelTable(path, options)
    if head.startswith(b"PAR1") or ending in _PARQUET_ENDINGS:
        return ParquetTable(path, options)
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise UserError(
                _(
                    "{file} is {kind}, not a table: choose a CSV, XLSX, Parquet or JSON Lines file.",
                    file=path.name,
                    kind=_(what),
                )
            )
    if options.encoding is None and looks_binary(head):
        raise UserError(
            _("{file} is not a table: choose a CSV, XLSX, Parquet or JSON Lines file.", file=path.name)
        )
    if ending in _JSON_ENDINGS:
        return JsonTable(path, options)
    return CsvTable(path, options, progress)


def preview_table(
    path: str | Path,
    options: TableOptions = TableOptions(),  # noqa: B008 - frozen
    rows: int = 100,
) -> TablePreview:
    """Return the first ``rows`` rows and everything found out about the table.

    Problems are those of the file's beginning (its first few hundred kilobytes); `Table.batches` tells all.
    """
    table = open_table(path, options)
    with closing(table.batches(max(rows, _GUESS_ROWS))) as batches:
        sample = next(batches, [])
    text_column, label_column = guess_columns(table.columns, sample)
    encodings = table.encodings
    if table.options.encoding and not encodings:  # it was chosen: the others stay on offer
        encodings = detect_encodings(table.path, file_size(table.path))
    if table.options.encoding and table.options.encoding not in encodings:
        encodings = (*encodings, table.options.encoding)
    return TablePreview(
        path=str(table.path),
        kind=table.kind,
        options=table.options,
        columns=table.columns,
        rows=tuple(sample[:rows]),
        problems=tuple(table.problems),
        problem_count=table.problem_count,
        estimated_rows=table.estimated_rows,
        sheets=table.sheets,
        encodings=encodings,
        text_column=text_column,
        label_column=label_column,
        doubts=table.doubts,
        notes=table.notes,
        annotated=table.annotated,
    )
