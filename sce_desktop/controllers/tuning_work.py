"""What the workers run for fine-tuning: thin calls of tasks, and the way by which the window watches them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.core.versions import ModelVersion
from sce_desktop.imports import importing

if TYPE_CHECKING:
    from sce_desktop.controllers.work import ModelCache
    from sce_desktop.core.runs import Epoch
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.training.cost import AdapterPace

_CHARACTERS = 200  # of a text in a list


@dataclass(slots=True)
class Watch:
    """What the window and the thread know of one fine-tune: it appends, the window reads and says stop.

    ``measured``: (fold, epoch, loss, loss on the held-out rows). ``adapted``: (fold, step, loss) of training
    the text embedder. ``kept``: (epoch or step, loss) of the last fit.
    """

    measured: list[tuple[int, int, float, float]] = field(default_factory=list)
    adapted: list[tuple[int, int, float]] = field(default_factory=list)
    kept: list[tuple[int, float]] = field(default_factory=list)
    stop_early: threading.Event = field(default_factory=threading.Event)

    def on_epoch(self, epoch: Epoch) -> bool:
        """Record an epoch; return whether to continue."""
        if epoch.stage == "measuring":
            self.measured.append((epoch.fold, epoch.number, epoch.loss, epoch.held_out or 0.0))
        elif epoch.stage == "adapting":
            self.adapted.append((epoch.fold, epoch.number, epoch.loss))
        elif epoch.stage == "keeping":
            self.kept.append((epoch.number, epoch.loss))
        return not self.stop_early.is_set()


def adapter_pace(
    project: Project, model_cache: ModelCache, choice: ModelChoice, *, progress: Progress
) -> AdapterPace | str:
    """Try on some texts how long adapting the text embedder takes, or return why it cannot be."""
    from sce_desktop.tasks.training.cost import project_adapter_pace

    try:
        return project_adapter_pace(project, model_cache.base(choice, progress=progress), progress=progress)
    except UserError as error:
        return str(error)


def finetune(
    project: Project,
    model_cache: ModelCache,
    choice: ModelChoice,
    settings: FinetuneSettings,
    watch: Watch,
    *,
    progress: Progress,
) -> ModelVersion:
    """Make a version of the model of ``choice``; it is not in use yet."""
    from sce_desktop.tasks.training.versions import finetune_project

    base = model_cache.base(choice, progress=progress)
    if settings.adapt_embedder:
        _import_peft(progress)
    made = finetune_project(
        project,
        base,
        choice.model,
        settings=settings,
        cache=model_cache.cache,
        progress=progress,
        on_epoch=watch.on_epoch,
    )
    return made.version


def _import_peft(progress: Progress) -> None:
    """Let PEFT in, with all that it needs, without the window's having to wait for the garbage of it."""
    progress.report(0, None, stage=_("starting PEFT"))
    with importing(), contextlib.suppress(ImportError):  # the fine-tune says what is missing
        import peft  # noqa: F401


def improve(
    project: Project, model_cache: ModelCache, choice: ModelChoice, *, progress: Progress
) -> tuple[str, ModelVersion | None]:
    """Make a version and use it if it is better; say in a sentence what was found."""
    from sce_desktop.tasks.training.versions import improve_project

    base = model_cache.base(choice, progress=progress)
    trial, version = improve_project(project, base, choice.model, cache=model_cache.cache, progress=progress)
    report = trial.report
    if report.since is not None and report.difference.better and not report.better:
        return (
            _(
                "On rows new to it and to version {number}: {difference}.",
                number=report.since.version,
                difference=report.since.paired.difference.points,
            ),
            version,
        )
    return report.sentence, version


def learnable(project: Project, *, progress: Progress) -> tuple[int, int]:
    """Return how many rows an automatic fine-tune would be trained on, and how many the newest version knows.

    Without a version all of them count as known: existing labels are no reason to begin.
    """
    import numpy as np

    from sce_desktop.tasks.training.training import chosen_rows

    progress.check()
    try:
        ids = chosen_rows(project).ids
    except UserError:
        return 0, 0
    versions = project.versions()
    if not versions:
        return len(ids), len(ids)
    learned = versions[-1].learned
    if not len(learned):  # which ones was not kept
        return len(ids), min(len(ids), versions[-1].train_rows)
    return len(ids), int(np.isin(ids, learned).sum())


def texts(project: Project, ids: Sequence[int], *, progress: Progress) -> dict[int, str]:
    """Return the beginnings of the texts of rows, by row; rows that are gone are absent."""
    found = {}
    for start in range(0, len(ids), 200):
        progress.check()
        for row in project.rows(ids[start : start + 200]):
            found[row.id] = " ".join(row.text[:_CHARACTERS].split())
    return found


def export(
    project: Project,
    model_cache: ModelCache,
    choice: ModelChoice,
    version: ModelVersion,
    folder: Path,
    *,
    force: bool = False,
    progress: Progress,
) -> None:
    """Write the model of a version as a model folder; with ``force`` in the place of another one."""
    from sce_desktop.tasks.evaluation.card import version_card
    from sce_desktop.tasks.tables.replaceable import check_tuned

    check_tuned(folder, version.base, force=force)
    model_cache.open(choice, progress=progress)
    progress.check()
    model = model_cache.version_model(project, version)
    model.save_pretrained(folder, card=version_card(version, model))
