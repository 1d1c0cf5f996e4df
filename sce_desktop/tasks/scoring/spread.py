"""A table classified on several devices: rows out in blocks, lines back in their order.

This process reads the table and writes the result; everything else that a row costs is the workers' part.
The vector cache is not asked: a GPU makes a vector in less time than the cache finds it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import Cell
from sce_desktop.data.csv.csv_text import CSVText, OutCell
from sce_desktop.data.tables import Table
from sce_desktop.tasks.scoring.blocks import BlockPlan, ScoredBlock
from sce_desktop.tasks.scoring.foreign import ForeignTexts
from sce_desktop.tasks.scoring.models import ModelSource
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
    ) -> Generator[list[list[OutCell]] | CSVText]:
        """Yield all rows of ``table`` with the models' cells behind the original ones, ``size`` at a time.

        Raises:
            UserError: No device is left.
            Cancelled: The user stopped.
        """
        from sce_desktop.ml.parallel.pool import WorkerPool

        handed_out: deque[Sequence[Sequence[Cell]]] = deque()

        def blocks() -> Iterator[Sequence[Sequence[Cell]]]:
            for batch in table.batches(size):
                handed_out.append(batch)
                yield batch

        progress.report(0, table.estimated_rows, stage=_("starting workers"))
        self.rest()
        with WorkerPool(plan, self.processes) as pool:
            found: ScoredBlock
            for found in pool.map(blocks(), progress):
                block = handed_out.popleft()
                if found.blank:
                    texts = map(plan.shape.text_of, block)
                    counts.foreign.add([text for text in texts if not is_blank(text)], found.scripts)
                else:  # the usual case, in which this process need not look at every text
                    counts.foreign.add_of(block, plan.shape.text_of, found.scripts)
                counts.rows += len(found.rows)
                counts.blank += found.blank
                counts.cut += found.cut
                counts.cache.seconds += found.embed_seconds / len(self.processes)
                counts.model_seconds += found.model_seconds / len(self.processes)
                progress.report(counts.rows, table.estimated_rows, stage=_("classifying"))
                yield found.rows
