"""A table classified on several devices: rows out in blocks, lines back in their order.

This process finds the ends of rows and writes the result; everything else that a row costs is the workers'
part. The vector cache is not asked: a GPU makes a vector in less time than the cache finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.data.columns import Columns
from sce_desktop.data.csv.csv_text import CSVText, OutCell
from sce_desktop.data.tables import Table
from sce_desktop.tasks.scoring.blocks import BlockPlan
from sce_desktop.tasks.scoring.foreign import ForeignTexts
from sce_desktop.tasks.scoring.models import ModelSource
from sce_desktop.tasks.scoring.spans import FoundBlock, TablePlan, table_blocks
from sce_desktop.tasks.scoring.timing import TimedCache


class Counts(Protocol):
    """What is counted while a table is classified."""

    rows: int
    blank: int
    cut: int
    model_seconds: float
    cache: TimedCache
    foreign: ForeignTexts


@dataclass(frozen=True, slots=True)
class Spread:
    """Devices to classify on: ``processes`` has the device of each worker process."""

    processes: tuple[str, ...]
    rest: Callable[[], None] = field(default=lambda: None)  # ends other workers on them

    @classmethod
    def over(cls, source: ModelSource) -> Spread | None:
        """Return where the workers of ``source`` go; None: it has one device, which needs none."""
        devices: Sequence[str] = getattr(source, "devices", ())
        if len(devices) < 2:
            return None
        from sce_desktop.ml.parallel.pool import processes_for

        return cls(tuple(processes_for(devices)), getattr(source, "rest", lambda: None))

    def classified(
        self, table: Table, plan: BlockPlan, size: int, counts: Counts, progress: Progress
    ) -> Generator[list[list[OutCell]] | Columns | CSVText]:
        """Yield all rows of ``table`` with the models' cells behind the original ones, ``size`` at a time.

        Raises:
            UserError: No device is left.
            Cancelled: The user stopped.
        """
        from sce_desktop.ml.parallel.pool import WorkerPool

        progress.report(0, table.estimated_rows, stage=_("starting workers"))
        self.rest()
        with WorkerPool(TablePlan(plan, table.path, table.options), self.processes) as pool:
            found: FoundBlock
            for found in pool.map(table_blocks(table, size), progress):
                block = found.scored
                counts.foreign.add_numbered(len(block.rows) - block.blank, found.texts, block.scripts)
                table.add_problems(found.problems, found.problem_count)
                counts.rows += len(block.rows)
                counts.blank += block.blank
                counts.cut += block.cut
                counts.cache.seconds += block.embed_seconds / len(self.processes)
                counts.model_seconds += block.model_seconds / len(self.processes)
                progress.report(counts.rows, table.estimated_rows, stage=_("classifying"))
                yield block.rows
