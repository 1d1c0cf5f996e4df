"""Rows by column, for tables of many numbers: csv and parquet without a step for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from sce_desktop.data.csv.csv_text import CSVLines, CSVText, OutCell
from sce_desktop.data.number_text import rounded

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of numbers (n,), empty where not ``present`` (n,)."""

    values: NDArray[np.float32]
    present: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)

    def cells(self) -> list[float | None]:
        """Return the column as `write_table` takes cells, with 9 significant digits."""
        found = rounded(self.values).astype(object)
        found[~self.present] = None
        return found.tolist()


Column: TypeAlias = "Sequence[OutCell] | Numbers | pa.StringArray | pa.Int64Array"
"""A column of cells. What is held by Arrow holds nothing but texts, or whole numbers, and nulls."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """``rows`` rows of a table by column. `write_table` takes it for csv and parquet."""

    columns: tuple[Column, ...]
    rows: int

    def __len__(self) -> int:
        return self.rows

    @property
    def width(self) -> int:
        """How many cells a row has."""
        return len(self.columns)

    def picked(self, places: Sequence[int]) -> Columns:
        """Return the columns at ``places``."""
        return Columns(tuple(self.columns[place] for place in places), self.rows)

    def cells(self) -> list[Sequence[OutCell]]:
        """Return each column as cells."""
        return list(map(as_cells, self.columns))

    def csv(self, lines: CSVLines) -> CSVText:
        """Return the lines of csv that ``lines`` makes of the same rows."""
        before = lines.protected
        data = self.csv_bytes(lines)
        return CSVText(str(data, "utf-8"), self.rows, self.width, lines.protected - before)

    def csv_bytes(self, lines: CSVLines) -> bytes | memoryview:
        """Return the same as it stands in the file."""
        from sce_desktop.data.csv.column_lines import lines_of

        found = lines_of(self.columns, self.rows, lines)
        if found is None:
            return "".join(lines.lines(zip(*self.cells(), strict=True))).encode()
        return found


def is_held_by_arrow(column: Column) -> TypeGuard[pa.Array]:
    """Whether a column is an array of Arrow."""
    return not isinstance(column, Numbers | list | tuple) and hasattr(column, "to_pylist")


def as_cells(column: Column) -> Sequence[OutCell]:
    """Return a column as cells."""
    if isinstance(column, Numbers):
        return column.cells()
    if is_held_by_arrow(column):
        cells: list[Any] = column.to_pylist()
        return cells
    return column
