"""Blocks of a table's rows for worker processes: where they lie in the file, or the rows themselves.

The process that writes the result could not read a table as fast as several GPUs score it. So it looks only
for the ends of rows in a well-formed CSV file, and each worker reads its own part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sce_desktop.core.tables import Cell, TableOptions, TableProblem
from sce_desktop.data.csv.csv_reader import CsvTable
from sce_desktop.data.csv.csv_spans import Span
from sce_desktop.data.tables import Table, open_table
from sce_desktop.tasks.scoring.blocks import BlockPlan, BlockScorer, ScoredBlock
from sce_desktop.tasks.scoring.languages import some_of


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows of a table; ``first``: how many come before them, about."""

    rows: Span | Sequence[Sequence[Cell]]
    first: int


def table_blocks(table: Table, size: int) -> Iterator[TableBlock]:
    """Yield all rows of ``table``, ``size`` at a time, as the table's own batches are."""
    size, first = table.batch_size(size), 0
    spans = table.spans(size) if isinstance(table, CsvTable) else None
    if spans is None:
        for batch in table.batches(size):
            yield TableBlock(batch, first)
            first += len(batch)
        return
    assert isinstance(table, CsvTable)
    table.take_problems()  # of an earlier pass
    for span in spans:
        if span.sound:
            yield TableBlock(span, first)
            first += size
            continue
        for batch in table.rest(span, size):
            yield TableBlock(batch, first)
            first += len(batch)


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """A block as it was scored, what was not right with its rows, and some of its texts by number."""

    scored: ScoredBlock
    texts: list[tuple[int, str]]
    problems: list[TableProblem]
    problem_count: int


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How workers score blocks of the table at ``path``, read with ``options``: a pool's opener."""

    plan: BlockPlan
    path: Path
    options: TableOptions

    def open(self, device: str) -> TableScorer:
        """Load the models on ``device``."""
        return TableScorer(self, self.plan.open(device))


@dataclass(slots=True)
class TableScorer:
    """Reads and scores blocks, one after the other."""

    plan: TablePlan
    scorer: BlockScorer
    _table: CsvTable | None = field(init=False, default=None)

    def __call__(self, block: TableBlock) -> FoundBlock:
        """Return the rows of ``block`` with the cells of all models.

        Raises:
            UserError: The file is no longer there.
        """
        problems: list[TableProblem] = []
        count = 0
        if isinstance(block.rows, Span):
            table = self._opened()
            rows: Sequence[Sequence[Cell]] = table.rows_of(block.rows)
            problems, count = table.take_problems()
        else:
            rows = block.rows
        texts = list(map(self.plan.plan.shape.text_of, rows))
        return FoundBlock(self.scorer(rows), some_of(texts, block.first), problems, count)

    def _opened(self) -> CsvTable:
        if self._table is None:
            table = open_table(self.plan.path, self.plan.options)
            assert isinstance(table, CsvTable)
            self._table = table
        return self._table
