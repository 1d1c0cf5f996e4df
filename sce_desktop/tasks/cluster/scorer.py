"""What a worker of the cluster does: reads a part, scores its rows, writes the result. It knows no Ray."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.tables import Cell, TableOptions, TypedCells
from sce_desktop.data.columns import Columns
from sce_desktop.data.csv.csv_text import CSVText, OutCell
from sce_desktop.data.tables import Table
from sce_desktop.data.writers import write_table
from sce_desktop.store.content.rows import Shape
from sce_desktop.tasks.cluster.manifest import ResultFolder
from sce_desktop.tasks.cluster.parts import Part, open_part
from sce_desktop.tasks.scoring.blocks import BlockPlan, BlockScorer, ScoredBlock
from sce_desktop.tasks.scoring.languages import EvenSample
from sce_desktop.temporary import temporary_folder

_SAMPLED = 20
"""Texts of a part by which its languages are told."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How all parts are read. ``columns`` are those of the table, ``json``: a part may lack some."""

    options: TableOptions
    columns: tuple[str, ...]
    json: bool = False

    def open(self, part: Part, folder: Path) -> Table:
        """Open a part.

        Raises:
            UserError: It has other columns.
        """
        table = open_part(part, self.options, folder)
        if table.columns != self.columns and not self.json:
            raise UserError(
                _("{file} has other columns than the first file: classify it alone.", file=part.place)
            )
        return table

    def batches(self, table: Table, size: int) -> Iterator[Sequence[Sequence[Cell]]]:
        """Yield the rows of a part with a cell for each of ``columns``."""
        if table.columns == self.columns:
            yield from table.batches(size)
            return
        at = {name: place for place, name in enumerate(table.columns)}
        places = [at.get(name) for name in self.columns]
        for batch in table.batches(size):
            yield [_placed(cells, places) for cells in batch]


def _placed(cells: Sequence[Cell], places: Sequence[int | None]) -> Sequence[Cell]:
    types = cells.types if isinstance(cells, TypedCells) else "t" * len(cells)
    return TypedCells(
        [None if place is None else cells[place] for place in places],
        "".join("-" if place is None else types[place] for place in places),
    )


@dataclass(frozen=True, slots=True)
class PartReport:
    """What a part came to. ``sample``: a few of its texts; ``process``: who did it."""

    number: int
    rows: int
    blank: int
    cut: int
    scripts: Counter[str]
    sample: list[str]
    problems: int
    problem: str
    process: int
    precision: str | None
    model_seconds: float
    embed_seconds: float


@dataclass(frozen=True, slots=True)
class PartPlan:
    """How workers score parts: an `ml.parallel.pool.Opener`.

    ``delimiter`` and ``excel_safe`` are those of csv results, whose header is ``header``.
    """

    plan: BlockPlan
    reading: Reading
    place: str
    ending: str
    header: tuple[str, ...]
    delimiter: str
    excel_safe: bool
    batch_rows: int

    def open(self, device: str) -> Callable[[Part], PartReport]:
        """Load the models on ``device``."""
        return PartScorer(self, self.plan.open(device))


@dataclass(slots=True)
class PartScorer:
    """Scores parts, one after the other."""

    plan: PartPlan
    scorer: BlockScorer
    _folder: ResultFolder = field(init=False)

    def __post_init__(self) -> None:
        self._folder = ResultFolder(self.plan.place, self.plan.ending)

    def __call__(self, part: Part) -> PartReport:
        """Write the result of ``part``, whole or not at all, and say what it came to."""
        plan, tally = self.plan, _Tally()
        with temporary_folder() as folder:
            table = plan.reading.open(part, folder)
            target = self._folder.target(part, folder)
            write_table(
                target,
                plan.header,
                self._scored(table, tally),
                delimiter=plan.delimiter,
                excel_safe=plan.excel_safe,
                types=table.types,
                numbers=frozenset(name for columns in plan.plan.columns for name in columns.numbers),
            )
            self._folder.keep(part, target)
            first = table.problems[0].message if table.problems else ""
            return PartReport(
                number=part.number,
                rows=tally.rows,
                blank=tally.blank,
                cut=tally.cut,
                scripts=tally.scripts,
                sample=tally.sample.texts[:_SAMPLED],
                problems=table.problem_count,
                problem=first,
                process=os.getpid(),
                precision=self.scorer.precision,
                model_seconds=tally.model_seconds,
                embed_seconds=tally.embed_seconds,
            )

    def _scored(self, table: Table, tally: _Tally) -> Iterator[list[list[OutCell]] | Columns]:
        for batch in self.plan.reading.batches(table, self.plan.batch_rows):
            block = self.scorer(batch)
            assert not isinstance(block.rows, CSVText)
            tally.add(block, map(self.plan.plan.shape.text_of, batch))
            yield block.rows


@dataclass(slots=True)
class _Tally:
    rows: int = 0
    blank: int = 0
    cut: int = 0
    model_seconds: float = 0.0
    embed_seconds: float = 0.0
    scripts: Counter[str] = field(default_factory=Counter)
    sample: EvenSample = field(default_factory=EvenSample)

    def add(self, block: ScoredBlock, texts: Iterator[str]) -> None:
        self.rows += len(block.rows)
        self.blank += block.blank
        self.cut += block.cut
        self.scripts += block.scripts
        self.model_seconds += block.model_seconds
        self.embed_seconds += block.embed_seconds
        self.sample.add(text for text in texts if not is_blank(text))


@dataclass(frozen=True, slots=True)
class Survey:
    """Looks through parts before anything is scored: an `ml.parallel.pool.Opener`.

    Which columns they have (objects of JSON need not have the same keys), and with ``sampled`` texts of them
    the lowest by hash, of which the reference sample of the table is made.
    """

    options: TableOptions
    text_columns: tuple[str, ...]
    sampled: bool

    def open(self, device: str) -> Callable[[Part], tuple[tuple[str, ...], list[str]]]:
        """Return what looks through a part: (its columns, texts)."""
        return self._look

    def _look(self, part: Part) -> tuple[tuple[str, ...], list[str]]:
        with temporary_folder() as folder:
            table = open_part(part, self.options, folder)
            if not self.sampled:
                return table.columns, []
            from sce_desktop.ml.transductive import sample

            at = [table.columns.index(column) for column in self.text_columns if column in table.columns]
            shape = Shape(table.columns, tuple(at))
            texts = (shape.text_of(cells) for batch in table.batches() for cells in batch) if at else ()
            return table.columns, sample(texts)
