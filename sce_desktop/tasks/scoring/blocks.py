"""Rows scored where a model is: by a worker process on a device of its own, or by an actor of a cluster.

A `BlockPlan` says all that such a worker must know; `BlockScorer` is the worker, without what starts it. A
block that is as large as the local engine's batches gives the local engine's numbers, whoever scores it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import Cell
from sce_desktop.data.columns import Column, Columns
from sce_desktop.data.csv.csv_text import CSVLines, CSVText, OutCell
from sce_desktop.store.content.rows import Shape
from sce_desktop.store.runs.bulk import ScoresOfRows
from sce_desktop.tasks.scoring.foreign import ForeignTexts
from sce_desktop.tasks.scoring.models import (
    Baseline,
    NamedModel,
    count_cut,
    load_models,
    open_session,
    precision_of,
)
from sce_desktop.tasks.scoring.timing import TimedCache
from sce_desktop.tasks.tables.columns import ModelColumns, typed_cells

if TYPE_CHECKING:
    from sce_desktop.ml.transductive import TransductiveModel


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference sample of joint prediction: drawn once, by whoever hands out the blocks.

    ``vectors`` (m, d_q) are the sample's, ``rows`` what tells its rows from others.
    """

    vectors: FloatArray
    rows: str

    @classmethod
    def of(cls, model: TransductiveModel) -> Reference:
        """Return the reference sample that ``model`` is fitted to."""
        return cls(model.vectors, model.rows)


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """What a worker scores with.

    ``model``, ``baselines``, ``precision``: as a `ModelSession` takes them; ``fingerprint``: that the model
    must have, empty for any. ``shape``: which cells are the text. ``columns``: those of each model.
    ``reference``: for joint prediction. ``delimiter``: rows become csv text, None: they stay cells;
    ``excel_safe`` goes with it. ``by_column``: rows become `Columns`. ``keep_types``: cells become the values
    that they were. ``threads``: of torch on a CPU, 0 leaves that as it is.
    """

    model: str
    baselines: tuple[Baseline, ...]
    labels: tuple[Label, ...]
    multi_label: bool
    shape: Shape
    columns: tuple[ModelColumns, ...]
    precision: str = "auto"
    fingerprint: str = ""
    reference: Reference | None = None
    delimiter: str | None = None
    excel_safe: bool = False
    by_column: bool = False
    keep_types: bool = False
    threads: int = 0

    def open(self, device: str) -> BlockScorer:
        """Load the models on ``device``: an `ml.parallel.pool.Opener`."""
        session = open_session(device, self.threads, self.precision)
        return BlockScorer(self, load_models(session, [self.model], self.baselines, SilentProgress()).models)


@dataclass(frozen=True, slots=True)
class ScoredBlock:
    """A block with the models' cells behind the original ones, and what was noticed on the way."""

    rows: list[list[OutCell]] | Columns | CSVText
    blank: int
    cut: int  # texts longer than the model reads
    scripts: Counter[str]  # texts that the model cannot read, by script
    embed_seconds: float
    model_seconds: float  # embedding included


def as_columns(
    block: Sequence[Sequence[Cell]],
    there: NDArray[np.bool_],
    columns: Sequence[ModelColumns],
    scores: Sequence[Scores],
) -> Columns:
    """Return the rows of ``block`` with the models' cells behind the original ones, by column.

    A step for each cell would take longer than scoring on a GPU.

    Args:
        block: Rows, one at least.
        there: Which of them have a text (n,).
        columns: Of each model.
        scores: Of each model, for the rows that have a text.
    """
    found: list[Column] = list(zip(*block, strict=True))
    for ours, one in zip(columns, scores, strict=True):
        found += ours.columns(ScoresOfRows(there, one), ~there)
    return Columns(tuple(found), len(block))


@dataclass(slots=True)
class BlockScorer:
    """Scores blocks of rows, one after the other; the first of ``models`` is the main one.

    Raises:
        UserError: The model is another than the plan's.
    """

    plan: BlockPlan
    models: list[NamedModel]
    _foreign: ForeignTexts = field(init=False)
    _csv: CSVLines | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        plan, main = self.plan, self.models[0]
        if plan.fingerprint and main.model.fingerprint != plan.fingerprint:
            raise UserError(
                _(
                    "The model “{model}” is not the same on every worker: install one version.",
                    model=main.name,
                )
            )
        self._foreign = ForeignTexts(main, plan.labels)
        if plan.delimiter is not None:
            self._csv = CSVLines(plan.delimiter, excel_safe=plan.excel_safe)
        if plan.reference is not None:
            from sce_desktop.ml.transductive import TransductiveModel

            model: Any = main.model
            fitted = TransductiveModel(model, plan.reference.vectors, rows=plan.reference.rows)
            self.models[0] = NamedModel(main.alias, main.name, fitted, whole_table=True)

    @property
    def precision(self) -> str | None:
        """What the main model's text embedder multiplies in; None: it has none."""
        return precision_of(self.models[0].model)

    def __call__(self, block: Sequence[Sequence[Cell]]) -> ScoredBlock:
        """Return the rows of ``block`` with the cells of all models."""
        plan, started, timed = self.plan, time.perf_counter(), TimedCache(None)
        texts = [plan.shape.text_of(cells) for cells in block]
        there = np.fromiter((not is_blank(text) for text in texts), np.bool_, len(texts))
        wanted = list(compress(texts, there))
        scores = [
            named.model.probabilities(wanted, plan.labels, multi_label=plan.multi_label, cache=timed)
            for named in self.models
            if wanted
        ]
        seconds = time.perf_counter() - started
        return ScoredBlock(
            self._made(block, there, scores),
            blank=len(block) - len(wanted),
            cut=count_cut(self.models[0].model, wanted),
            scripts=self._foreign.scripts_of(wanted),
            embed_seconds=timed.seconds,
            model_seconds=seconds,
        )

    def _made(
        self, block: Sequence[Sequence[Cell]], there: NDArray[np.bool_], scores: Sequence[Scores]
    ) -> list[list[OutCell]] | Columns | CSVText:
        if not scores or (self._csv is None and not self.plan.by_column):
            return self._rows(block, there, scores)
        columns = as_columns(block, there, self.plan.columns, scores)
        return columns if self._csv is None else columns.csv(self._csv)

    def _rows(
        self, block: Sequence[Sequence[Cell]], there: NDArray[np.bool_], scores: Sequence[Scores]
    ) -> list[list[OutCell]] | CSVText:
        plan = self.plan
        unscored: list[OutCell] = [cell for columns in plan.columns for cell in columns.blank]
        original: Sequence[Sequence[OutCell]] = block
        if plan.keep_types:
            original = [typed_cells(cells) for cells in block]
        rows: list[list[OutCell]] = [[*cells, *unscored] for cells in original]
        results = [columns.cells(found) for columns, found in zip(plan.columns, scores, strict=False)]
        for place, *ours in zip(np.flatnonzero(there).tolist(), *results, strict=True):
            rows[place] = [*original[place], *chain.from_iterable(ours)]
        return rows if self._csv is None else self._csv.text(rows)
