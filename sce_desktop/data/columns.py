"""Rows by column, for tables of many numbers: csv and parquet without a step for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.giving_way import give_way
from sce_desktop.data.csv.csv_text import CSVLines, CSVText, OutCell
from sce_desktop.data.number_text import joined, rounded


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


Column = Sequence[OutCell] | Numbers


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
        return [column.cells() if isinstance(column, Numbers) else column for column in self.columns]

    def csv(self, lines: CSVLines) -> CSVText:
        """Return the lines of csv that ``lines`` makes of the same rows."""
        if len(self.columns) < 2 or not lines.delimiter.isascii():
            return lines.text(list(zip(*self.cells(), strict=True)))
        before = lines.protected
        parts = list(self._parts(lines))
        delimiter = lines.delimiter
        give_way()
        text = "\n".join(map(delimiter.join, zip(*parts, strict=True)))
        return CSVText(f"{text}\n" if self.rows else "", self.rows, self.width, lines.protected - before)

    def _parts(self, lines: CSVLines) -> Iterator[Sequence[str]]:
        """Yield the texts of the columns, and those of numbers that stand side by side as one."""
        for _presence_of, columns in groupby(self.columns, _presence):
            group = list(columns)
            numbers = [column for column in group if isinstance(column, Numbers)]
            if not numbers:
                yield from (lines.fields(column) for column in group if not isinstance(column, Numbers))
                continue
            present = numbers[0].present
            matrix = np.stack([column.values[present] for column in numbers], axis=1)
            texts = np.full(self.rows, lines.delimiter * (len(numbers) - 1), object)
            texts[present] = joined(matrix, lines.delimiter)
            yield texts.tolist()


def _presence(column: Column) -> int | None:
    """Return what is equal for columns of numbers that are empty in the same rows; None for other ones."""
    return id(column.present) if isinstance(column, Numbers) else None
