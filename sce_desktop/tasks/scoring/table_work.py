"""Scoring the rows of a table as they are read, in this process."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import Cell
from sce_desktop.data.columns import Columns
from sce_desktop.data.tables import Table
from sce_desktop.data.writers import OutCell
from sce_desktop.store.content.rows import Shape
from sce_desktop.tasks.progress import PartProgress
from sce_desktop.tasks.scoring.blocks import as_columns
from sce_desktop.tasks.scoring.final_table import FinalTable, KeptScores
from sce_desktop.tasks.scoring.foreign import ForeignTexts
from sce_desktop.tasks.scoring.models import NamedModel, count_cut
from sce_desktop.tasks.scoring.slow import report_time
from sce_desktop.tasks.scoring.timing import TimedCache
from sce_desktop.tasks.tables.columns import ModelColumns, typed_cells


@dataclass(slots=True)
class TableWork:
    """Scores the rows of a table as they are read, and counts what came of them."""

    models: Sequence[NamedModel]
    columns: Sequence[ModelColumns]
    labels: Sequence[Label]
    multi_label: bool
    cache: TimedCache
    progress: Progress
    rows: int = 0
    blank: int = 0
    cut: int = 0
    model_seconds: float = 0.0
    keep_types: bool = False  # for a writer that takes values other than texts
    by_column: bool = False  # for a writer that takes columns
    foreign: ForeignTexts = field(init=False)
    final: FinalTable | None = None
    kept: KeptScores | None = None  # what the main model has said of all rows, once `look` is through

    def __post_init__(self) -> None:
        self.foreign = ForeignTexts(self.models[0], self.labels)

    def look(self, table: Table, text_at: Sequence[int], size: int) -> None:
        """Score all rows with the main model and keep what it says, so that a threshold can be chosen."""
        assert self.final is not None
        kept = KeptScores()
        shape, named, rows = Shape(table.columns, tuple(text_at)), self.models[0], 0
        for batch in table.batches(size):
            texts = [shape.text_of(cells) for cells in batch]
            scored = [place for place, text in enumerate(texts) if not is_blank(text)]
            wanted = [texts[place] for place in scored]
            if not rows:
                report_time([named], wanted, self.labels, table.estimated_rows or len(batch), self.progress)
            rows += len(batch)
            self.progress.report(rows, table.estimated_rows, stage=_("choosing a threshold"))
            self.progress.check()
            if not scored:
                continue
            before = time.perf_counter()
            scores = named.model.probabilities(
                wanted, self.labels, multi_label=self.multi_label, cache=self.cache
            )
            self.model_seconds += time.perf_counter() - before
            kept.add(scores)
            for place, cells in zip(scored, self.columns[0].cells(scores), strict=True):
                self.final.note(batch[place], cells)
        kept.rewind()
        self.kept = kept

    def classified(
        self, table: Table, text_at: Sequence[int], size: int
    ) -> Generator[list[list[OutCell]] | Columns]:
        """Yield all rows of ``table`` with the models' cells behind the original ones."""
        shape = Shape(table.columns, tuple(text_at))
        unscored: list[OutCell] = [cell for columns in self.columns for cell in columns.blank]
        for batch in table.batches(size):
            texts = [shape.text_of(cells) for cells in batch]
            scored = [place for place, text in enumerate(texts) if not is_blank(text)]
            if not self.rows and self.kept is None:
                wanted = [texts[place] for place in scored]
                report_time(
                    self.models, wanted, self.labels, table.estimated_rows or len(batch), self.progress
                )
            scores = self._scores([texts[place] for place in scored], len(batch), table.estimated_rows)
            rows: list[list[OutCell]] | Columns
            if self.by_column and scores:
                there = np.zeros(len(batch), np.bool_)
                there[scored] = True
                rows = as_columns(batch, there, self.columns, scores)
            else:
                rows = self._by_row(batch, scored, scores, unscored)
            self.rows += len(batch)
            self.blank += len(batch) - len(scored)
            self.cut += count_cut(self.models[0].model, [texts[place] for place in scored])
            self.foreign.count(texts)
            self.progress.report(self.rows, table.estimated_rows, stage=_("classifying"))
            self.progress.check()
            yield rows

    def _add_final(
        self,
        batch: Sequence[Sequence[Cell]],
        rows: Sequence[list[OutCell]],
        results: Mapping[int, list[OutCell]],
    ) -> None:
        """Add the final labels to ``rows``; ``results`` are the models' cells by the place of the row."""
        assert self.final is not None
        for place, (cells, row) in enumerate(zip(batch, rows, strict=True)):
            result = results.get(place)
            if result is not None and self.kept is None:
                self.final.note(cells, result)
            row += self.final.cells(cells, result)

    def _by_row(
        self,
        batch: Sequence[Sequence[Cell]],
        scored: Sequence[int],
        scores: Sequence[Scores],
        unscored: Sequence[OutCell],
    ) -> list[list[OutCell]]:
        original: Sequence[Sequence[OutCell]] = batch
        if self.keep_types:
            original = [typed_cells(cells) for cells in batch]
        rows: list[list[OutCell]] = [[*cells, *unscored] for cells in original]
        cells_of = [columns.cells(found) for columns, found in zip(self.columns, scores, strict=False)]
        results = [list(chain.from_iterable(ours)) for ours in zip(*cells_of, strict=True)]
        for place, ours in zip(scored, results, strict=True):
            rows[place] = [*original[place], *ours]
        if self.final is not None:
            self._add_final(batch, rows, dict(zip(scored, results, strict=True)))
        return rows

    def _scores(self, texts: list[str], rows: int, total: int | None) -> list[Scores]:
        """Return what each model says of ``texts``, which come from ``rows`` rows; nothing without texts."""
        if not texts:
            return []
        made: list[Scores] = []
        share = rows / len(self.models)  # of the rows that one model's pass stands for
        for place, named in enumerate(self.models):
            part = PartProgress(
                self.progress,
                start=self.rows + share * place,
                weight=share / len(texts),
                total=total,
                stage=_("classifying"),
            )
            before = time.perf_counter()
            if place == 0 and self.kept is not None:
                scores = self.kept.next()
            else:
                scores = named.model.probabilities(
                    texts, self.labels, multi_label=self.multi_label, cache=self.cache, progress=part
                )
            self.model_seconds += time.perf_counter() - before
            made.append(scores)
        return made
