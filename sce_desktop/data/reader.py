"""What every kind of table shares: batches, problems by line, progress and cancel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain
from pathlib import Path

from sce_desktop.core.column_rows import ColumnRows
from sce_desktop.core.i18n import ngettext, number
from sce_desktop.core.limits import MAX_CHUNK_TEXT
from sce_desktop.core.limits import MAX_COLUMNS as MAX_COLUMNS
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.tables import Cell, Doubt, TableOptions, TableProblem
from sce_desktop.data.column_types import ColumnTypes
from sce_desktop.data.csv.encodings import guess_encoding
from sce_desktop.data.doubts import encoding_doubt

Cells = tuple[Cell, ...]

_BATCH_CELLS = 2_000_000
_BULK_BYTES = 8_000_000  # of rows by column in a batch

MAX_PROBLEMS = 1000
"""So many problems are kept with their lines; all of them are counted."""


class Table(ABC):
    """A table on disk, read in one pass a call of `batches`, in memory that the file's size does not change.

    ``options`` are those that were found or chosen: reading the file again with them gives the same rows.
    ``columns`` are the headers as they stand, duplicates included. ``problems`` are those of the latest pass.
    ``doubts`` are about options that were found out.
    """

    kind: str

    def __init__(self, path: Path) -> None:
        self.path = path
        self.options = TableOptions()
        self.columns: tuple[str, ...] = ()
        self.estimated_rows: int | None = None
        self.sheets: tuple[str, ...] = ()
        self.encodings: tuple[str, ...] = ()
        self.doubts: tuple[Doubt, ...] = ()
        self.problem_count = 0
        self.notes: tuple[str, ...] = ()  # how it was read, where that is not plain
        self.annotated = False  # a file of another annotation tool: who labelled what is in columns of ours
        self.types: ColumnTypes | None = None  # of the columns, where the format has other than texts
        self._problems: list[TableProblem] = []
        self._by_column = False  # this pass may yield `ColumnRows`

    @property
    def problems(self) -> list[TableProblem]:
        """The first `MAX_PROBLEMS` things that are not as they should be, by line."""
        return sorted(self._problems, key=lambda problem: problem.line)

    def batches(
        self, size: int = 5000, progress: Progress | None = None
    ) -> Generator[list[Cells], None, None]:
        """Yield all rows in order, ``size`` at a time, each as long as ``columns``.

        Fewer at a time where the table is so wide that a batch would have more than `_BATCH_CELLS` cells, or
        its texts so long that it would have more than `MAX_CHUNK_TEXT` characters.
        Progress counts rows; the total is an estimate until the end is reached. Raises UserError where the
        file cannot be read on, Cancelled where ``progress`` says so.
        """
        self._by_column = False
        for batch in self._batches(size, progress or SilentProgress()):
            assert isinstance(batch, list)
            yield batch

    def bulk_batches(
        self, size: int = 5000, progress: Progress | None = None
    ) -> Generator[Sequence[Cells], None, None]:
        """Yield the same rows for who stores them as they are: as `ColumnRows` where that is faster.

        Some of these batches are smaller than ``size``.
        """
        self._by_column = True
        yield from self._batches(size, progress or SilentProgress())

    def _batches(
        self,
        size: int,
        progress: Progress,
        chunks: Iterator[tuple[list[Cells] | ColumnRows, float]] | None = None,
    ) -> Iterator[list[Cells] | ColumnRows]:
        """Yield all rows, or those of ``chunks``, whose problems are added to those that are known."""
        gathered = _Gathered(self.batch_size(size))
        if chunks is None:
            self._forget_problems()
            chunks = self._chunks(progress)
        done = 0
        for chunk, fraction in chunks:
            progress.check()
            for batch in gathered.add(chunk):
                yield batch
                done += len(batch)
                total = round((done + gathered.rows) / fraction) if fraction else self.estimated_rows
                progress.report(done, total, stage="reading")
                progress.check()
        for batch in gathered.rest():
            yield batch
            done += len(batch)
        progress.report(done, done, stage="reading")

    def batch_size(self, wanted: int) -> int:
        """Return how many rows a batch has where ``wanted`` are asked for: fewer of a wide table."""
        return max(min(wanted, _BATCH_CELLS // max(len(self.columns), 1)), 1)

    def add_problems(self, found: Sequence[TableProblem], count: int) -> None:
        """Count problems that were found elsewhere; ``found``: the first few."""
        self.problem_count += count
        self._problems += found[: MAX_PROBLEMS - len(self._problems)]

    def take_problems(self) -> tuple[list[TableProblem], int]:
        """Return the problems found so far, and how many there are; from now on they are forgotten."""
        found = self.problems, self.problem_count
        self._forget_problems()
        return found

    @abstractmethod
    def _chunks(self, progress: Progress) -> Iterator[tuple[list[Cells] | ColumnRows, float]]:
        """Yield some rows and which fraction of the file has been read by then (0: unknown).

        `ColumnRows` are for `bulk_batches` alone.
        """

    def _find_encoding(self, size: int, chosen: str | None, progress: Progress | None = None) -> str:
        """Return the encoding of a text file, which is guessed unless it was chosen; doubts are reported."""
        if chosen is not None:
            return chosen
        guess = guess_encoding(self.path, size, progress)
        self.encodings = guess.ranked
        if guess.rival:
            self.doubts += (encoding_doubt(guess.raw, guess.line, guess.ranked[0], guess.rival),)
        return guess.ranked[0]

    def _forget_problems(self) -> None:
        self.problem_count = 0
        self._problems = []

    def _problem(self, line: int, message: str | Callable[[], str], option: str = "") -> None:
        """Report a problem; a message that many lines may cause is only made where it is kept."""
        self.problem_count += 1
        if len(self._problems) < MAX_PROBLEMS:
            said = message if isinstance(message, str) else message()
            self._problems.append(TableProblem(line, said, option))


class _Gathered:
    """Brings chunks of rows to batches of ``size`` rows, or fewer where their texts are long."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._listed: list[Cells] = []
        self._characters = 0  # of those
        self._parts: list[ColumnRows] = []

    @property
    def rows(self) -> int:
        """How many rows have been added that are in no batch yet."""
        return len(self._listed) + sum(map(len, self._parts))

    def add(self, chunk: list[Cells] | ColumnRows) -> Iterator[list[Cells] | ColumnRows]:
        """Take more rows; yield the batches that are full."""
        if isinstance(chunk, ColumnRows):
            if self._listed:
                yield from self.rest()
            self._parts.append(chunk)
            if self.rows >= self._size:
                yield from self._full()
            if sum(part.nbytes for part in self._parts) > _BULK_BYTES:
                yield from self.rest()
            return
        if self._parts:
            yield from self.rest()
        self._listed += chunk
        self._characters += _characters(chunk)
        while len(self._listed) >= self._size or self._characters > MAX_CHUNK_TEXT:
            batch = self._listed[: self._size]
            del self._listed[: self._size]
            self._characters -= _characters(batch)
            yield batch
            if not self._listed:
                break

    def _full(self) -> Iterator[ColumnRows]:
        """Yield batches of ``size`` rows each: who writes one while the next is read needs them alike."""
        joined = ColumnRows.joined(self._parts)
        whole = len(joined) // self._size * self._size
        self._parts = [joined[whole:]] if whole < len(joined) else []
        for start in range(0, whole, self._size):
            yield joined[start : start + self._size]

    def rest(self) -> Iterator[list[Cells] | ColumnRows]:
        """Yield what is left."""
        listed, parts = self._listed, self._parts
        self._listed, self._characters, self._parts = [], 0, []
        if listed:
            yield listed
        if parts:
            yield ColumnRows.joined(parts)


def _characters(rows: list[Cells]) -> int:
    try:  # a fifth of the time
        return sum(map(len, chain.from_iterable(rows)))  # type: ignore[arg-type]
    except TypeError:  # a null
        return sum(len(cell) for cell in chain.from_iterable(rows) if cell)


def fit(cells: list[Cell], width: int, join: str) -> tuple[Cells, Callable[[], str]]:
    """Bring a record of the wrong length to ``width`` cells, losing nothing; return what says how, too.

    Missing cells become empty. Surplus cells are joined to the last one by ``join``, unless all are empty.
    """
    count = len(cells)
    if count < width:
        return (*cells, *[""] * (width - count)), lambda: ngettext(
            "{count} cell, expected {expected}. Missing cells were left empty.",
            "{count} cells, expected {expected}. Missing cells were left empty.",
            count,
            expected=number(width),
        )
    if not any(cells[width:]):
        return tuple(cells[:width]), lambda: ngettext(
            "{count} cell, expected {expected}. Extra cells were empty and were dropped.",
            "{count} cells, expected {expected}. Extra cells were empty and were dropped.",
            count,
            expected=number(width),
        )
    last = join.join(cell or "" for cell in cells[width - 1 :])
    return (*cells[: width - 1], last), lambda: ngettext(
        "{count} cell, expected {expected}. Extra cells were joined to the last column.",
        "{count} cells, expected {expected}. Extra cells were joined to the last column.",
        count,
        expected=number(width),
    )
