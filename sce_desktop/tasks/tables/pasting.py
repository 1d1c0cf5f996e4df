"""Cells for the clipboard, as spreadsheets paste them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from sce_desktop.data.csv.excel_safe import is_formula, protect

Cell = str | int | float | None


def as_tsv(cells: Sequence[Sequence[Cell]]) -> str:
    """Return lines of cells between tabs, fractions as 0.8125; no text becomes a formula where it lands."""
    out = io.StringIO()
    writer = csv.writer(out, dialect="excel-tab", lineterminator="\n")
    writer.writerows([_written(cell) for cell in line] for line in cells)
    return out.getvalue()


def _written(cell: Cell) -> str:
    if isinstance(cell, str):
        return protect(cell) if is_formula(cell) else cell
    return "" if cell is None else f"{cell:.4f}" if isinstance(cell, float) else str(cell)
