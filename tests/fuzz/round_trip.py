"""What was read is what is exported: a table is written in each format and read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.core.tables import Cell, TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.data.writers import write_table, written_columns

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
_NO_TEXT = ("\ufffe", "\uffff")


def check(folder: Path, columns: Sequence[str], rows: Sequence[Sequence[Cell]], ending: str) -> None:
    """Write ``rows`` to a file with ``ending`` and read it.

    Raises:
        AssertionError: Headers or cells are other ones than before.
    """
    path = folder / f"round{ending}"
    try:
        write_table(path, columns, [[tuple(row) for row in rows]] if rows else [])
    except UserError:  # what an Excel sheet cannot hold
        return
    wanted = written_columns(path, columns)
    kept = [[cell or "" for cell in row] for row in rows]
    if ending == ".xlsx":
        if not all(wanted):  # a sheet has no columns but those with something in them
            return
        kept = [row for row in kept if any(row)]
    if ending == ".jsonl" and not rows:
        return  # nothing says which columns there were
    delimiter = "\t" if ending == ".tsv" else ","
    text = TableOptions("utf-8", delimiter, True, 1, quote='"', escape="", spaces=False)
    options = {".csv": text, ".tsv": text, ".xlsx": TableOptions(header_row=1)}.get(ending, TableOptions())
    table = open_table(path, options)
    assert list(table.columns) == wanted, f"{ending}: headers {table.columns!r} instead of {wanted!r}"
    found = [[cell or "" for cell in row] for batch in table.batches() for row in batch]
    assert len(found) == len(kept), f"{ending}: {len(found)} rows instead of {len(kept)}"
    for number, (row, before) in enumerate(zip(found, kept, strict=True)):
        assert row == before, f"{ending}: row {number} is {row!r} instead of {before!r}"
