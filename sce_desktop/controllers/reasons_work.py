"""What the workers run to say why a row has its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sce_desktop.core.annotations import LabelSet, Row
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.progress import Progress
from sce_desktop.tasks.scoring.model_cache import MainModel, ModelCache, embedder_of

if TYPE_CHECKING:
    from sce_desktop.core.runs import VectorCache
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.insight.labelled_rows import LabelledRows, Neighbour
    from sce_desktop.tasks.insight.reasons import Reasons


@dataclass(frozen=True, slots=True)
class Question:
    """A row that is looked at, and the label that is explained."""

    row: Row
    label_set: LabelSet
    label_id: int


def why_not(main: MainModel) -> str:
    """Why a loaded model explains nothing, in one sentence; empty if it can."""
    from sce_desktop.tasks.insight.reasons import why_not

    return why_not(main.named.model)


def load_main(
    project: Project, model_cache: ModelCache, choice: ModelChoice, *, progress: Progress
) -> MainModel | None:
    """Load what scores ``project``, if it is not there yet. For the worker of models."""
    model_cache.load_for(project, choice, progress=progress)
    return model_cache.main


def explain(main: MainModel, question: Question, *, progress: Progress) -> Reasons:
    """Weigh the words of a row for one label.

    Raises:
        UserError: The model is a language model.
    """
    from sce_desktop.tasks.insight.reasons import explain_row

    progress.check()
    labels = question.label_set
    return explain_row(
        main.named.model,
        question.row.text,
        labels.labels,
        question.label_id,
        multi_label=labels.multi_label,
        progress=progress,
    )


def nearest(
    project: Project,
    main: MainModel,
    cache: VectorCache,
    labelled: LabelledRows,
    row: Row,
    *,
    progress: Progress,
) -> list[Neighbour]:
    """Return the most similar rows that a person labelled; none for a model without text vectors."""
    from sce_desktop.tasks.scoring.vectors import KnownVectors

    embedder: Any = embedder_of(main.named)
    if embedder is None:
        return []
    progress.check()
    known = KnownVectors(embedder.key, cache, embedder.precision)
    _there, vectors = cache.get(embedder.key, [row.text])
    vector = vectors[0] if vectors is not None else embedder.encode([row.text])[0]
    return labelled.nearest(project, known, row.id, vector, progress=progress)
