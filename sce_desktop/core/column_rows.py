"""Rows of a table that are held by column, as Arrow arrays: read in bulk, stored in bulk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import pyarrow as pa

Cells = tuple[str | None, ...]


class ColumnRows(Sequence[Cells]):
    """Rows whose cells are all texts. To who asks for rows it is a list of tuples.

    ``columns`` are string arrays (n,) of Arrow, one for each column of the table, without nulls.
    """

    def __init__(self, columns: Sequence[pa.StringArray]) -> None:
        self.columns = tuple(columns)

    @staticmethod
    def joined(parts: Sequence[ColumnRows]) -> ColumnRows:
        """Return the rows of ``parts`` of the same table, one after the other."""
        import pyarrow as pa

        if len(parts) == 1:
            return parts[0]
        of_parts = zip(*(part.columns for part in parts), strict=True)
        return ColumnRows([pa.concat_arrays(column) for column in of_parts])

    @property
    def nbytes(self) -> int:
        """The bytes of the texts, about."""
        return sum(column.nbytes for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[Cells]:
        return zip(*(column.to_pylist() for column in self.columns), strict=True)

    @overload
    def __getitem__(self, place: int) -> Cells: ...

    @overload
    def __getitem__(self, place: slice) -> ColumnRows: ...

    def __getitem__(self, place: int | slice) -> Cells | ColumnRows:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step != 1:
                raise ValueError("rows are cut in one piece")
            return ColumnRows([column.slice(start, max(stop - start, 0)) for column in self.columns])
        return tuple(column[place].as_py() for column in self.columns)
