"""Fine-tuning of the open project: one at a time, asked for or automatic; and its model versions.

tuner = controllers.tuner
tuner.start(FinetuneSettings())       the button; `job` and `watch` are there while it runs
tuner.stop_and_keep(), tuner.cancel() ends the measuring and keeps a model; keeps nothing
tuner.versions                        all versions, oldest first, as far as they have been read
tuner.use_way(version, way)           uses the same fine-tune in another way, as a version of its own
tuner.delete(version), .export(version, folder)
tuner.changed, tuner.made(version)    job, versions; a version was made by the button
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import tuning_work
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.tuning_work import Watch
from sce_desktop.core.heads import Way
from sce_desktop.core.i18n import _
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.core.versions import ModelVersion

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.preferences import Preferences
    from sce_desktop.controllers.scoring import Scorer
    from sce_desktop.controllers.workspace import Workspace


class Tuner(QObject):
    """Lives as long as the window, so that a fine-tune continues while its panel is hidden."""

    changed = Signal()
    made = Signal(object)  # ModelVersion

    def __init__(
        self, workspace: Workspace, scorer: Scorer, preferences: Preferences, messages: Messages
    ) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._scorer = scorer
        self._preferences = preferences
        self._messages = messages
        self.job: Job | None = None
        self.automatic = False  # the job was not asked for
        self.watch = Watch()
        self.versions: tuple[ModelVersion, ...] = ()
        self._loading: Job | None = None
        self._leaving: Job | None = None  # automatic, and being cancelled for one that was asked for
        self._counting: Job | None = None
        self._count_again = False
        self._mark: int | None = None  # rows to learn from at the last fine-tune; None: not known yet
        workspace.projectOpened.connect(self._on_opened)
        workspace.projectClosed.connect(self._on_closed)
        workspace.versionsChanged.connect(self._load)
        workspace.countsChanged.connect(self._start_automatically)
        scorer.modelsChanged.connect(self._make_way)

    # --- fine-tuning ---------------------------------------------------------------------------------------

    def start(self, settings: FinetuneSettings) -> Job | None:
        """Make a version from the project's annotations, in place of an automatic one."""
        if self._workspace.project is None or self._workspace.refuses_edit():
            return None
        if self.job is not None:
            if not self.automatic:
                return None
            # It is heard to its end: what was put in use before it could stop must be seen.
            self._leaving = self.job
            self.job.cancel()
        self.watch = Watch()
        self.automatic = False
        job = self._workspace.submit(
            tuning_work.finetune,
            self._workspace.project,
            self._scorer.model_cache,
            replace(self._scorer.choice(), baselines=()),
            settings,
            self.watch,
            title=_("Fine-tuning"),
            worker="models",
        )
        job.warned.connect(self._show_warning)
        job.finished.connect(self._on_made)
        return self._run(job)

    def _run(self, job: Job) -> Job:
        job.ended.connect(lambda: self._on_ended(job))
        self.job = job
        self.changed.emit()
        return job

    @Slot()
    def stop_and_keep(self) -> None:
        """Evaluate no more and keep a model; the version comes within two seconds.

        Where the text embedder is being adapted to all rows by then, it reads all of them first.
        """
        self.watch.stop_early.set()
        self.changed.emit()

    @Slot()
    def cancel(self) -> None:
        """Stop; nothing is kept."""
        if self.job is not None:
            self.job.cancel()
            self.changed.emit()

    @Slot(object)
    def _show_warning(self, sentence: str) -> None:
        self._messages.notify(sentence, "warn")

    @Slot(object)
    def _on_made(self, version: ModelVersion) -> None:
        self._mark = None  # how many rows are new to it is looked up
        self.versions = (*self.versions, version)
        self._workspace.versionsChanged.emit()
        self.made.emit(version)

    def _on_ended(self, job: Job) -> None:
        if job is self._leaving:
            self._leaving = None
        if job is self.job:
            self.job = None
            self.changed.emit()

    def _drop(self) -> None:
        drop(self.job, self._leaving, self._counting, self._loading)
        self.job = self._leaving = self._counting = self._loading = None
        self._count_again = False

    # --- automatic -----------------------------------------------------------------------------------------

    @Slot()
    def _start_automatically(self) -> None:
        """Fine-tune in the background once enough rows have been labelled since the last time."""
        if self._workspace.why_not() or (self._mark is not None and not self._may_go()):
            return
        if self._counting is not None:
            self._count_again = True
            return
        assert self._workspace.project is not None
        job = self._workspace.submit(
            tuning_work.learnable,
            self._workspace.project,
            title=_("Counting new labels"),
            worker="reads",
            quiet=True,
        )
        job.finished.connect(self._on_counted)
        job.ended.connect(self._on_count_ended)
        self._counting = job

    def _may_go(self) -> bool:
        scorer = self._scorer
        idle = self.job is None and scorer.job is None and not scorer.estimating
        return bool(self._preferences.settings["auto_finetune"]) and idle and scorer.ready

    @Slot()
    def _on_count_ended(self) -> None:
        self._counting = None
        if self._count_again:
            self._count_again = False
            self._start_automatically()

    @Slot(object)
    def _on_counted(self, found: tuple[int, int]) -> None:
        now, learned = found
        if self._mark is None:
            self._mark = learned
        if (
            self._workspace.why_not()
            or not self._may_go()
            or now - self._mark < int(self._preferences.settings["auto_finetune"])
        ):
            return
        before, self._mark = self._mark, now
        assert self._workspace.project is not None
        self.automatic = True
        job = self._workspace.submit(
            tuning_work.improve,
            self._workspace.project,
            self._scorer.model_cache,
            replace(self._scorer.choice(), baselines=()),
            title=_("Automatic fine-tuning"),
            worker="models",
            notify_failure=False,
        )
        job.finished.connect(self._on_improved)
        job.cancelled.connect(lambda: self._again_from(before))
        self._run(job)

    def _again_from(self, mark: int) -> None:
        self._mark = mark

    @Slot()
    def _make_way(self) -> None:
        """Let a scoring, which somebody waits for, go before what nobody asked for."""
        if self.job is not None and self.automatic and self._scorer.job is not None:
            self.job.cancel()

    @Slot(object)
    def _on_improved(self, found: tuple[str, ModelVersion | None]) -> None:
        sentence, version = found
        if version is None:
            self._messages.notify(
                _("Automatic fine-tuning made no better version. {result}", result=sentence)
            )
            return
        before = self._scorer.version
        self._scorer.follow_version(score=True)
        self._workspace.historyChanged.emit()
        self._messages.offer(
            _(
                "Automatic fine-tuning: {version} is in use now. {result}",
                version=version.name,
                result=sentence,
            ),
            _("Use {version} again", version=before.name) if before else _("Use the base model again"),
            lambda: self._scorer.use_version(before.id if before else None),
        )

    # --- versions ------------------------------------------------------------------------------------------

    @Slot(object, object)
    def use_way(self, version: ModelVersion, way: Way) -> None:
        """Use the fine-tune of ``version`` in another way; the version for that is made once."""
        if self._workspace.project is None or self._workspace.refuses_edit():
            return
        job = self._workspace.submit(
            in_worker("sce_desktop.tasks.training.ways", "in_way", takes_progress=False),
            self._workspace.project,
            version,
            way,
            title=_("Using another way to predict"),
            worker="edits",
        )
        job.finished.connect(self._on_way)

    @Slot(object)
    def _on_way(self, version: ModelVersion) -> None:
        if all(one.id != version.id for one in self.versions):
            self.versions = (*self.versions, version)
            self._workspace.versionsChanged.emit()
        self.made.emit(version)
        self._scorer.use_version(version.id)

    def delete(self, version: ModelVersion) -> None:
        """Remove a version for good; if it was in use, the base model is used again."""
        if self._workspace.project is None or self._workspace.refuses_edit():
            return
        if self.versions and self._scorer.version is not None and self._scorer.version.id == version.id:
            self._scorer.use_version(None)
        self._workspace.project.delete_version(version.id)
        self._workspace.versionsChanged.emit()
        self._workspace.historyChanged.emit()  # what led to it leads nowhere now

    def export(self, version: ModelVersion, folder: Path, replace_it: bool = False) -> Job | None:
        """Write the model of a version as a model folder; ``replace_it``: in the place of another one."""
        if self._workspace.project is None:
            return None
        job = self._workspace.submit(
            tuning_work.export,
            self._workspace.project,
            self._scorer.model_cache,
            replace(self._scorer.choice(), model=version.base, baselines=()),
            version,
            folder,
            force=replace_it,
            title=_("Exporting {version}", version=version.name),
            worker="models",
        )
        job.finished.connect(
            lambda _done: self._messages.notify(
                _("{version} was written to {folder}.", version=version.name, folder=folder)
            )
        )
        return job

    @Slot()
    def _on_opened(self) -> None:
        self._mark = None
        self._load()

    @Slot()
    def _on_closed(self) -> None:
        self._drop()
        self.versions = ()
        self.changed.emit()

    @Slot()
    def _load(self) -> None:
        if self._workspace.project is None:
            return
        drop(self._loading)
        job = self._workspace.submit(
            in_worker("sce_desktop.store.project", "Project.versions", takes_progress=False),
            self._workspace.project,
            title=_("Loading versions"),
            worker="reads",
            quiet=True,
        )
        job.finished.connect(self._on_loaded)
        self._loading = job

    @Slot(object)
    def _on_loaded(self, versions: tuple[ModelVersion, ...]) -> None:
        self._loading = None
        self.versions = versions
        self.changed.emit()
