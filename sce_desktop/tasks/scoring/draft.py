"""A draft of a whole table before the model has read it: fast, rough, and in memory alone.

The draft runs once the rows on the screen are scored, and gives way to those that come there later. Nothing
of it is written to the project: figures, evaluation and exports read scores of the model, and the table alone
shows drafts, marked as such.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Run, Scores, TextModel, VectorCache
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.models import ModelSource, NamedModel

if TYPE_CHECKING:
    from sce_desktop.ml.draft.model import DraftModel

DRAFT_FROM = 1_000
"""Rows without a score; with fewer the model itself is soon through."""
_BATCH = 2_048
_SAMPLE = 200
_MOST_KNOWN = 0.5
"""Share of rows with a text vector in the cache: with more the model is fast, as after a label edit."""


@dataclass(frozen=True, slots=True)
class DraftSource:
    """A `ModelSource` whose models are drafts of those of ``source``; its baselines are what they are."""

    source: ModelSource

    def model(self, name: str) -> TextModel:
        """Return the draft of the model ``name``.

        Raises:
            UserError: The model is missing or damaged, or has no draft.
        """
        from sce_desktop.ml.draft.model import draft_of

        found = draft_of(self.source.model(name), name)
        if found is None:
            raise UserError(
                _("The model “{model}” has no draft: score without --draft, or with sce-mini.", model=name)
            )
        return found

    def baseline(self, spec: str) -> TextModel:
        """Return the baseline ``spec``. UserError if it is missing or damaged."""
        return self.source.baseline(spec)


def draft_project(
    project: Project,
    run: Run,
    row_ids: IdArray,
    named: NamedModel,
    base: str,
    *,
    cache: VectorCache | None = None,
    on_draft: Callable[[], None],
    between: Callable[[], None] = lambda: None,
    progress: Progress,
) -> None:
    """Make a draft of the rows ``row_ids`` (n,), which ``run`` has not scored; an older draft is dropped.

    Nothing is made where the model is as fast itself (on a GPU, or with cached vectors), or has no draft.

    Args:
        project: Whose rows.
        run: Of ``named``.
        row_ids: With text, in file order.
        named: The model that scores, perhaps fitted to the table.
        base: The name under which it, or the base of a version, was loaded.
        cache: Of text vectors.
        on_draft: Called, in this thread, when drafts of single rows can be had, and when all are made.
        between: Called, in this thread, before each batch of some thousand rows.
        progress: Told of rows.

    Raises:
        Cancelled: The user stopped; what is made so far stays.
    """
    from sce_desktop.ml.draft.model import draft_of

    project.end_draft()
    if len(row_ids) < DRAFT_FROM:
        return
    draft = draft_of(named.model, base)
    if draft is None or draft.model.device.type == "cuda":
        return
    if _known(project, draft, row_ids, cache) > _MOST_KNOWN:
        return
    if wanted := draft.vectors.read_first:
        draft.read(project.texts(row_ids[:: max(1, len(row_ids) // wanted)][:wanted]), cache)
    project.begin_draft(run.id, _predictor(draft, run))
    on_draft()
    for start in range(0, len(row_ids), _BATCH):
        progress.report(start, len(row_ids), stage=_("making a draft"))
        progress.check()
        between()
        batch = row_ids[start : start + _BATCH]
        scores = draft.probabilities(project.texts(batch), run.labels, multi_label=run.multi_label)
        project.add_draft(run.id, batch, scores)
    progress.report(len(row_ids), len(row_ids), stage=_("making a draft"))
    on_draft()


def _known(project: Project, draft: DraftModel, row_ids: IdArray, cache: VectorCache | None) -> float:
    """Return about which share of the rows has a text vector in ``cache``."""
    if cache is None:
        return 0.0
    sample = row_ids[:: max(1, len(row_ids) // _SAMPLE)]
    found, _vectors = cache.get(draft.model.text_embedder.key, project.texts(sample))
    return float(found.mean())


def _predictor(draft: DraftModel, run: Run) -> Callable[[Sequence[str]], Scores | None]:
    """Return what makes drafts of a few texts later; it does not keep the model in memory."""
    kept, vectors = weakref.ref(draft.model), draft.vectors
    make = type(draft)

    def predict(texts: Sequence[str]) -> Scores | None:
        model = kept()
        if model is None:
            return None
        return make(model, vectors).probabilities(texts, run.labels, multi_label=run.multi_label)

    return predict
