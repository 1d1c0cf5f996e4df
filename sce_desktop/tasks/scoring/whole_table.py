"""Let a model know the table that its rows come from (`ml.in_table`): for a table, and for a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import why_alone
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import ModelKind, VectorCache
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.content.rows import Shape
from sce_desktop.store.project import Project
from sce_desktop.tasks.progress import PartProgress, Unreported
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.tables.columns import find_columns

if TYPE_CHECKING:
    from sce_desktop.ml.in_table import InTable

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hash


def can_know(named: NamedModel) -> bool:
    """Whether the model can know a table: an LLM, which makes no text vectors, cannot."""
    return named.model.kind != "llm"


def knowing(
    named: NamedModel,
    texts: Iterable[str],
    *,
    before: InTable | None = None,
    cache: VectorCache | None,
    progress: Progress,
) -> NamedModel:
    """Return the model as it scores the table of which ``texts`` are the rows; of many a sample counts.

    What is known ``before`` need not be found out again, as far as it is of the same rows.

    Raises:
        UserError: It is a language model.
        Cancelled: The user stopped.
    """
    if reason := why_alone((), multi_label=False, kind=named.model.kind):
        raise UserError(reason)
    from sce_desktop.ml.in_table import InTable, sample

    standing = sample(texts)
    if not standing:
        return named
    model: Any = named.model
    known = InTable.of(model, standing, before=before, cache=cache, progress=progress)
    return replace(named, model=known, whole_table=True)


def check_choice(labels: Sequence[Label], *, multi_label: bool) -> None:
    """Raise UserError where rows have nothing to tell each other, since each label is asked by itself."""
    if reason := why_alone(labels, multi_label=multi_label):
        raise UserError(reason)


def knowing_file(
    named: NamedModel,
    path: Path,
    text_columns: Sequence[str | int],
    options: TableOptions,
    *,
    cache: VectorCache | None,
    progress: Progress,
) -> NamedModel:
    """Return the model as it scores the table at ``path``, which is read once for it.

    Raises:
        UserError: The table or a column is not right, or it is a language model.
        Cancelled: The user stopped.
    """
    table = open_table(path, options)
    silent = Unreported(progress)
    shape = Shape(table.columns, find_columns(table.columns, text_columns, silent))

    def texts() -> Iterable[str]:
        rows = 0
        for batch in table.batches():
            rows += len(batch)
            progress.report(rows, table.estimated_rows, stage="reading the table")
            progress.check()
            yield from map(shape.text_of, batch)

    return knowing(named, texts(), cache=cache, progress=progress)


def knowing_project(
    named: NamedModel,
    project: Project,
    labels: Sequence[Label] | None = None,
    *,
    before: InTable | None = None,
    cache: VectorCache | None,
    progress: Progress,
) -> NamedModel:
    """Return the model as it scores the rows of ``project``.

    ``labels`` are those to come, None: the project's own. ``before`` is as in `knowing`.

    Raises:
        UserError: It is a language model, or the labels are asked each by itself.
        Cancelled: The user stopped.
    """
    present, multi_label = _labels_of(project)
    check_choice(labels or present, multi_label=multi_label)
    texts, rows = _standing(project)
    what = "the table" if len(texts) == rows else f"{len(texts):,} rows that stand for the table"
    reading = PartProgress(progress, start=0, total=len(texts), stage=f"reading {what}")
    reading.report(0)
    return knowing(named, texts, before=before, cache=cache, progress=reading)


def wanted_in(project: Project, kind: ModelKind = "sce", labels: Sequence[Label] | None = None) -> bool:
    """Whether a model is to know the rows of ``project``: it was asked for, and they can tell it something.

    ``labels`` are those to come, None: the project's own.
    """
    present, multi_label = _labels_of(project)
    alone = why_alone(labels or present, multi_label=multi_label, kind=kind)
    return project.whole_table() and not alone


def _labels_of(project: Project) -> tuple[tuple[Label, ...], bool]:
    label_set = project.label_set()
    return (label_set.labels, label_set.multi_label) if label_set is not None else ((), False)


def fingerprint_in(project: Project, named: NamedModel) -> str:
    """Return the fingerprint that the model has once it knows the rows of ``project``, before it does."""
    from sce_desktop.ml.in_table import fingerprint, rows_key, sample

    return fingerprint(named.model, rows_key(sample(_standing(project)[0])))


def _standing(project: Project) -> tuple[list[str], int]:
    """Return the texts of the rows that stand for the table, and how many rows it has that have a text."""
    ids = project.row_ids(RowQuery(blank=False))
    return project.texts(standing_for(ids)), len(ids)


def rows_as_table(
    named: NamedModel,
    texts: Sequence[str],
    labels: Sequence[Label],
    *,
    cache: VectorCache | None,
    progress: Progress,
) -> Callable[[IdArray], FloatArray]:
    """Return what scores the ``texts`` at some places (m,) as if they were a table of their own, (m, K)."""
    from sce_desktop.ml.encoder.embedder import cached_encode
    from sce_desktop.ml.in_table import MOST_ROWS, InTable

    model: Any = named.model
    vectors = cached_encode(model.text_embedder, texts, cache, Unreported(progress))

    def scored(rows: IdArray) -> FloatArray:
        standing = np.random.default_rng(0).permutation(rows)[:MOST_ROWS]
        return InTable(model, vectors[standing]).score(vectors[rows], labels).probabilities

    return scored


def standing_for(ids: IdArray) -> IdArray:
    """Return the rows, at most `MOST_ROWS`, that stand for all of ``ids``: as good as drawn at random.

    Which ones says a hash of the row's id, so that most stay when rows are added.
    """
    from sce_desktop.ml.in_table import MOST_ROWS

    if len(ids) <= MOST_ROWS:
        return ids
    return np.sort(ids[np.argsort(ids.astype(np.uint64) * _SPREAD)[:MOST_ROWS]])
