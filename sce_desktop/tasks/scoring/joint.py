"""Joint prediction (`ml.transductive`): fit a model to the rows of a table, or of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
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
    from sce_desktop.ml.transductive import TransductiveModel

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hash


def can_be_transductive(named: NamedModel) -> bool:
    """Whether the model can predict rows jointly: an LLM, which makes no text vectors, cannot."""
    return named.model.kind != "llm"


def fit_transductive(
    named: NamedModel,
    texts: Iterable[str],
    *,
    previous: TransductiveModel | None = None,
    cache: VectorCache | None,
    progress: Progress,
) -> NamedModel:
    """Return the model fitted to the table of which ``texts`` are the rows; of many a sample counts.

    The vectors of ``previous`` are used again where they are of the same rows.

    Raises:
        UserError: It is a language model.
        Cancelled: The user stopped.
    """
    if reason := why_alone((), multi_label=False, kind=named.model.kind):
        raise UserError(reason)
    from sce_desktop.ml.transductive import TransductiveModel, sample

    reference = sample(texts)
    if not reference:
        return named
    model: Any = named.model
    known = TransductiveModel.from_texts(model, reference, previous=previous, cache=cache, progress=progress)
    return replace(named, model=known, whole_table=True)


def check_joint(labels: Sequence[Label], *, multi_label: bool) -> None:
    """Raise UserError where labels are scored independently, so that rows cannot be predicted jointly."""
    if reason := why_alone(labels, multi_label=multi_label):
        raise UserError(reason)


def fit_transductive_to_file(
    named: NamedModel,
    path: Path,
    text_columns: Sequence[str | int],
    options: TableOptions,
    *,
    cache: VectorCache | None,
    progress: Progress,
) -> NamedModel:
    """Return the model fitted to the table at ``path``, which is read once for it.

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
            progress.report(rows, table.estimated_rows, stage=_("reading the table"))
            progress.check()
            yield from map(shape.text_of, batch)

    return fit_transductive(named, texts(), cache=cache, progress=progress)


def fit_transductive_to_project(
    named: NamedModel,
    project: Project,
    labels: Sequence[Label] | None = None,
    *,
    previous: TransductiveModel | None = None,
    cache: VectorCache | None,
    progress: Progress,
) -> NamedModel:
    """Return the model fitted to the rows of ``project``.

    ``labels`` are those to come, None: the project's own. ``previous`` is as in `fit_transductive`.

    Raises:
        UserError: It is a language model, or labels are scored independently.
        Cancelled: The user stopped.
    """
    present, multi_label = _labels_of(project)
    check_joint(labels or present, multi_label=multi_label)
    texts, rows = _reference_texts(project)
    stage = (
        _("reading the table")
        if len(texts) == rows
        else _("reading a sample of {count} rows", count=number(len(texts)))
    )
    reading = PartProgress(progress, start=0, total=len(texts), stage=stage)
    reading.report(0)
    return fit_transductive(named, texts, previous=previous, cache=cache, progress=reading)


def joint_wanted(project: Project, kind: ModelKind = "sce", labels: Sequence[Label] | None = None) -> bool:
    """Whether the rows of ``project`` are to be predicted jointly: it was asked for, and is possible.

    ``labels`` are those to come, None: the project's own.
    """
    present, multi_label = _labels_of(project)
    alone = why_alone(labels or present, multi_label=multi_label, kind=kind)
    return project.whole_table() and not alone


def _labels_of(project: Project) -> tuple[tuple[Label, ...], bool]:
    label_set = project.label_set()
    return (label_set.labels, label_set.multi_label) if label_set is not None else ((), False)


def joint_fingerprint(project: Project, named: NamedModel) -> str:
    """Return the fingerprint that the model will have once it is fitted to the rows of ``project``."""
    from sce_desktop.ml.transductive import fingerprint, rows_key, sample

    return fingerprint(named.model, rows_key(sample(_reference_texts(project)[0])))


def _reference_texts(project: Project) -> tuple[list[str], int]:
    """Return the texts of the `reference_rows`, and how many rows of the project have a text."""
    ids = project.row_ids(RowQuery(blank=False))
    return project.texts(reference_rows(ids)), len(ids)


def score_jointly(
    named: NamedModel,
    texts: Sequence[str],
    labels: Sequence[Label],
    *,
    cache: VectorCache | None,
    progress: Progress,
) -> Callable[[IdArray], FloatArray]:
    """Return what scores the ``texts`` at some places (m,) as if they were a table of their own, (m, K)."""
    from sce_desktop.ml.encoder.embedder import cached_encode
    from sce_desktop.ml.transductive import MAX_ROWS, TransductiveModel

    model: Any = named.model
    vectors = cached_encode(model.text_embedder, texts, cache, Unreported(progress))

    def scored(rows: IdArray) -> FloatArray:
        reference = np.random.default_rng(0).permutation(rows)[:MAX_ROWS]
        return TransductiveModel(model, vectors[reference]).score(vectors[rows], labels).probabilities

    return scored


def reference_rows(ids: IdArray) -> IdArray:
    """Return the reference sample, at most `MAX_ROWS` of ``ids``: as good as drawn at random.

    Which ones says a hash of the row's id, so that most stay when rows are added.
    """
    from sce_desktop.ml.transductive import MAX_ROWS

    if len(ids) <= MAX_ROWS:
        return ids
    return np.sort(ids[np.argsort(ids.astype(np.uint64) * _SPREAD)[:MAX_ROWS]])
