"""Model versions of a project: made by fine-tuning on its annotations, used in place of their base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.figures import ChangedRow, Figures, PairedCounts
from sce_desktop.core.i18n import _
from sce_desktop.core.metrics import measure
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.training import MOST_CHANGES_KEPT, FinetuneSettings, SinceVersion, TrainingReport
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.project import Project
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.foreign import report_foreign_rows
from sce_desktop.tasks.scoring.models import MAIN_ALIAS, ModelSource, NamedModel
from sce_desktop.tasks.training.cost import Cost, adapter_pace, adapting, cost, pace_of
from sce_desktop.tasks.training.results import fit_of, method, paired_counts, results
from sce_desktop.tasks.training.sampling import report as report_cost
from sce_desktop.tasks.training.sampling import rows_that_fit, stratified
from sce_desktop.tasks.training.training import TrainingRows, at_places, training_rows, unread_share
from sce_desktop.tasks.training.version_models import from_base

if TYPE_CHECKING:
    from sce_desktop.core.runs import OnEpoch
    from sce_desktop.ml.finetune.standard import FineTuned
    from sce_desktop.ml.sce.model import SCEModel


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A fine-tune that was measured and is not kept yet."""

    settings: FinetuneSettings
    rows: TrainingRows
    tuned: FineTuned
    report: TrainingReport


@dataclass(frozen=True, slots=True, eq=False)
class NewVersion:
    """A version that was made, with its results, and what it was measured by."""

    version: ModelVersion
    tuned: FineTuned


def finetune_project(
    project: Project,
    base: SCEModel,
    base_name: str,
    *,
    name: str = "",
    settings: FinetuneSettings | None = None,
    cache: VectorCache | None = None,
    progress: Progress,
    on_epoch: OnEpoch | None = None,
) -> NewVersion:
    """Fine-tune ``base`` on the project's annotations and keep the result as a version, not active yet.

    It begins at the base model before any fine-tune: all annotations are there, old ones too, and none
    counts twice. Rows of random samples are not learned from: claims about the whole table rest on them.

    Args:
        project: Whose rows, labels and annotations.
        base: A model without corrections of this project.
        base_name: Its name or folder.
        name: What to call the version; "version N" if empty.
        settings: See `core.training.FinetuneSettings`.
        cache: Of text vectors.
        progress: As for `ml.finetune.standard.finetune`.
        on_epoch: Likewise.

    Raises:
        UserError: There is too little to learn from or too much for the memory, or it cannot be written.
        Cancelled: The user stopped; nothing was written.
    """
    report_foreign_rows(NamedModel(MAIN_ALIAS, base_name, base), project, progress)
    trial = try_finetune(
        project,
        base,
        settings=settings,
        cache=cache,
        progress=progress,
        on_epoch=on_epoch,
    )
    progress.check()
    return NewVersion(keep(project, trial, base, base_name, name=name), trial.tuned)


def improve_project(
    project: Project,
    base: SCEModel,
    base_name: str,
    *,
    cache: VectorCache | None = None,
    progress: Progress,
) -> tuple[Trial, ModelVersion | None]:
    """Fine-tune as `finetune_project` does; keep and use the result only if it is `TrainingReport.better`.

    Raises:
        UserError: As there.
        Cancelled: The user stopped; nothing was written.
    """
    trial = try_finetune(project, base, cache=cache, progress=progress)
    progress.check()
    if not trial.report.better:
        return trial, None
    version = keep(project, trial, base, base_name)
    project.activate_version(version.id)
    return trial, version


def base_model(source: ModelSource, name: str) -> SCEModel:
    """Return the model ``name``, to be fine-tuned on a project.

    Raises:
        UserError: It is missing or damaged, or cannot be fine-tuned so.
    """
    from sce_desktop.ml.sce.model import SCEModel

    model = source.model(name)
    if not isinstance(model, SCEModel):
        raise UserError(
            _("{name} is not an SCE and cannot be fine-tuned on a project: choose another model.", name=name)
        )
    return model


def try_finetune(
    project: Project,
    base: SCEModel,
    *,
    settings: FinetuneSettings | None = None,
    cache: VectorCache | None = None,
    progress: Progress,
    on_epoch: OnEpoch | None = None,
) -> Trial:
    """Fine-tune ``base`` and measure the result; arguments and errors are those of `finetune_project`."""
    settings = settings or FinetuneSettings()
    rows = training_rows(project, settings.origins)
    expected, rows = _within_time(project, base, rows, settings, cache, progress)
    if sentence := expected.too_large:
        raise UserError(sentence)
    tuned = method(settings)(
        base,
        rows.texts,
        rows.gold.tolist(),
        rows.labels,
        measurable=rows.measurable,
        settings=settings,
        cache=cache,
        progress=progress,
        on_epoch=on_epoch,
    )
    report = results(
        [label.name for label in rows.labels],
        rows.gold[tuned.measured],
        tuned,
        fit=fit_of(
            tuned,
            expected_seconds=_cost(rows, settings.epochs).fit,
            labels={label.name: label.id for label in rows.labels if label.id is not None},
            row_ids=np.sort(rows.ids).tolist(),
        ),
        baselines=_baselines(project, rows, tuned.measured),
        since=_since(project, base, rows, tuned, cache, progress),
        left_out=rows.left_out,
        changed_rows=lambda found: _changed(rows, tuned, found)[:MOST_CHANGES_KEPT],
    )
    return Trial(settings, rows, tuned, report)


def keep(project: Project, trial: Trial, base: SCEModel, base_name: str, *, name: str = "") -> ModelVersion:
    """Write the result of a trial into the project.

    Raises:
        UserError: It cannot be written.
    """
    from sce_desktop.ml.finetune.versions import changed_weights

    rows, tuned = trial.rows, trial.tuned
    return project.add_version(
        name=name,
        base=base_name,
        base_fingerprint=base.identity,
        data_hash=rows.data_hash,
        train_rows=len(rows.texts),
        held_out_rows=0 if tuned.cross_validated else len(tuned.measured),
        settings=trial.settings,
        report=trial.report,
        seconds=tuned.seconds["train"],
        weights=changed_weights(tuned.heads.fitted, tuned.heads.adapted, tuned.heads.way),
    )


def _within_time(
    project: Project,
    base: SCEModel,
    rows: TrainingRows,
    settings: FinetuneSettings,
    cache: VectorCache | None,
    progress: Progress,
) -> tuple[Cost, TrainingRows]:
    """Return what a fine-tune is to take, and of very many rows those that it is to learn from."""
    known, usual = len(set(rows.gold.tolist())), pace_of(project)
    unread = unread_share(cache, base.text_embedder.key, rows.texts)
    share = float(rows.measurable.mean()) if len(rows.texts) else 1.0

    pace = adapter_pace(base, rows.texts, rows.labels, progress) if settings.adapt_embedder else None

    def cost_of(count: int) -> Cost:
        found = cost(
            count,
            known,
            len(rows.labels),
            measurable=round(share * count),
            unread=round(unread * count),
            pace=usual,
            epochs=settings.epochs,
        )
        if pace is None:
            return found
        may = round(share * count)
        return adapting(found, pace, rows=count, measurable=may, epochs=settings.epochs)

    labelled = len(rows.texts)
    if not settings.all_rows:
        rows = at_places(rows, stratified(rows.gold, rows_that_fit(labelled, cost_of), settings.seed))
    expected = cost_of(len(rows.texts))
    report_cost(progress, expected, len(rows.texts), labelled)
    return expected, rows


def _cost(rows: TrainingRows, epochs: int) -> Cost:
    known, may = len(set(rows.gold.tolist())), int(rows.measurable.sum())
    return cost(len(rows.texts), known, len(rows.labels), measurable=may, epochs=epochs)


def _changed(rows: TrainingRows, tuned: FineTuned, found: FloatArray) -> tuple[ChangedRow, ...]:
    before, after = tuned.before.argmax(1), found.argmax(1)
    names = [label.name for label in rows.labels]
    return tuple(
        ChangedRow(int(rows.ids[place]), names[old], names[new], names[rows.gold[place]])
        for place, old, new in zip(tuned.measured.tolist(), before, after, strict=True)
        if old != new
    )


@one_state
def _baselines(project: Project, rows: TrainingRows, measured: IdArray) -> dict[str, Figures]:
    """Return how the project's baselines fare on the measured rows, those that have scored all of them."""
    if not len(measured):
        return {}
    ids, gold = rows.ids[measured], rows.gold[measured]
    found = {}
    for alias in dict.fromkeys(run.alias for run in project.runs() if run.alias != MAIN_ALIAS):
        run = project.active_run(alias)
        if run is None or run.multi_label:
            continue
        place_of = {label.id: place for place, label in enumerate(run.labels)}
        scores = project.scores(run.id, ids)
        if len(scores) < len(ids) or any(label.id not in place_of for label in rows.labels):
            continue
        columns = [place_of[label.id] for label in rows.labels]
        matrix: FloatArray = np.stack([scores[row].probabilities for row in ids.tolist()])
        found[alias] = Figures.of(measure(gold, matrix[:, columns]))
    return found


def _since(
    project: Project,
    base: SCEModel,
    rows: TrainingRows,
    tuned: FineTuned,
    cache: VectorCache | None,
    progress: Progress,
) -> SinceVersion | None:
    """Compare with the version in use on what neither of the two has learned from."""
    version = project.active_version()
    if version is None or version.base_fingerprint != base.identity:
        return None
    learned = version.learned
    seen = project.with_same_texts(learned)
    # Of a version that kept no rows nobody knows what it has not seen.
    new = np.flatnonzero(~np.isin(rows.ids[tuned.measured], seen)) if len(learned) else learned
    if not len(new):
        return SinceVersion(version.number, PairedCounts())
    places = tuned.measured[new]
    gold = rows.gold[places]
    texts = [rows.texts[place] for place in places]
    active = from_base(project, version, base)
    in_use = active.probabilities(texts, rows.labels, cache=cache, progress=progress).probabilities
    return SinceVersion(version.number, paired_counts(gold, in_use, tuned.after[new]))
