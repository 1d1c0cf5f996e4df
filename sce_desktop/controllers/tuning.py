"""Fine-tuning of the open project: one at a time, asked for or by itself; and its model versions.

tuner = controllers.tuner
tuner.start(TuneChoices())            the button; `job` and `watch` are there while it runs
tuner.stop_and_keep(), tuner.cancel() ends the measuring and keeps a model; keeps nothing
tuner.versions                        all versions, oldest first, as far as they have been read
tuner.delete(version), .export(version, folder)
tuner.changed, tuner.made(version)    job, versions; a version was made by the button
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import tuning_work
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.tuning_work import Watch
from sce_desktop.core.choices import TuneChoices
from sce_desktop.core.runs import ModelVersion

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.preferences import Preferences
    from sce_desktop.controllers.scoring import Scorer
    from sce_desktop.controllers.workspace import Workspace


class Tuner(QObject):
    """Lives as long as the window, so that a fine-tune goes on while its panel is not to be seen."""

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
        self.by_itself = False  # the job was not asked for
        self.watch = Watch()
        self.versions: tuple[ModelVersion, ...] = ()
        self._loading: Job | None = None
        self._leaving: Job | None = (
            None  # was made by itself, and is being cancelled for one that was asked for
        )
        self._looking: Job | None = None
        self._look_again = False
        self._mark: int | None = None  # rows to learn from at the last fine-tune; None: not known yet
        workspace.projectOpened.connect(self._on_opened)
        workspace.projectClosed.connect(self._on_closed)
        workspace.versionsChanged.connect(self._load)
        workspace.countsChanged.connect(self._go_by_itself)
        scorer.modelsChanged.connect(self._make_way)

    # --- fine-tuning ---------------------------------------------------------------------------------------

    def start(self, choices: TuneChoices) -> Job | None:
        """Make a version from the project's annotations, in place of one that is made by itself."""
        if self._workspace.project is None or self._workspace.refuses_edit():
            return None
        if self.job is not None:
            if not self.by_itself:
                return None
            # It is heard to its end: what was put in use before it could stop must be seen.
            self._leaving = self.job
            self.job.cancel()
        self.watch = Watch()
        self.by_itself = False
        job = self._workspace.submit(
            tuning_work.finetune,
            self._workspace.project,
            self._scorer.shelf,
            replace(self._scorer.choice(), baselines=()),
            choices,
            self.watch,
            title="Fine-tuning",
            lane="models",
        )
        job.warned.connect(self._tell_warning)
        job.finished.connect(self._on_made)
        return self._run(job)

    def _run(self, job: Job) -> Job:
        job.ended.connect(lambda: self._on_ended(job))
        self.job = job
        self.changed.emit()
        return job

    @Slot()
    def stop_and_keep(self) -> None:
        """Measure no more and keep a model; the version comes within two seconds.

        Where the text embedder is being adapted to all rows by then, it reads all of them first.
        """
        self.watch.enough.set()
        self.changed.emit()

    @Slot()
    def cancel(self) -> None:
        """Stop; nothing is kept."""
        if self.job is not None:
            self.job.cancel()
            self.changed.emit()

    @Slot(object)
    def _tell_warning(self, sentence: str) -> None:
        self._messages.tell(sentence, "warn")

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
        drop(self.job, self._leaving, self._looking, self._loading)
        self.job = self._leaving = self._looking = self._loading = None
        self._look_again = False

    # --- by itself -----------------------------------------------------------------------------------------

    @Slot()
    def _go_by_itself(self) -> None:
        """Fine-tune behind the window once enough rows have been labelled since the last time."""
        if self._workspace.why_not() or (self._mark is not None and not self._may_go()):
            return
        if self._looking is not None:
            self._look_again = True
            return
        assert self._workspace.project is not None
        job = self._workspace.submit(
            tuning_work.learnable,
            self._workspace.project,
            title="Counting new labels",
            lane="reads",
            quiet=True,
        )
        job.finished.connect(self._on_looked)
        job.ended.connect(self._on_look_ended)
        self._looking = job

    def _may_go(self) -> bool:
        scorer = self._scorer
        idle = self.job is None and scorer.job is None and not scorer.estimating
        return bool(self._preferences.settings["auto_finetune"]) and idle and scorer.ready

    @Slot()
    def _on_look_ended(self) -> None:
        self._looking = None
        if self._look_again:
            self._look_again = False
            self._go_by_itself()

    @Slot(object)
    def _on_looked(self, found: tuple[int, int]) -> None:
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
        self.by_itself = True
        job = self._workspace.submit(
            tuning_work.improve,
            self._workspace.project,
            self._scorer.shelf,
            replace(self._scorer.choice(), baselines=()),
            title="Fine-tuning by itself",
            lane="models",
            tell_failure=False,
        )
        job.finished.connect(self._on_improved)
        job.cancelled.connect(lambda: self._again_from(before))
        self._run(job)

    def _again_from(self, mark: int) -> None:
        self._mark = mark

    @Slot()
    def _make_way(self) -> None:
        """Let a scoring, which somebody waits for, go before what nobody asked for."""
        if self.job is not None and self.by_itself and self._scorer.job is not None:
            self.job.cancel()

    @Slot(object)
    def _on_improved(self, found: tuple[str, ModelVersion | None]) -> None:
        sentence, version = found
        if version is None:
            self._messages.tell(f"Fine-tuned by itself, and not used. {sentence}")
            return
        before = self._scorer.version
        self._scorer.follow_version(score=True)
        self._workspace.historyChanged.emit()
        self._messages.offer(
            f"Fine-tuned by itself: {version.name} is in use now. {sentence}",
            f"Go back to {before.name if before else 'the model as it was'}",
            lambda: self._scorer.use_version(before.id if before else None),
        )

    # --- versions ------------------------------------------------------------------------------------------

    def delete(self, version: ModelVersion) -> None:
        """Remove a version for good; if it was in use, the model as it was comes back."""
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
            self._scorer.shelf,
            replace(self._scorer.choice(), model=version.base, baselines=()),
            version,
            folder,
            force=replace_it,
            title=f"Exporting {version.name}",
            lane="models",
        )
        job.finished.connect(lambda _: self._messages.tell(f"{version.name} was written to {folder}."))
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
            tuning_work.versions,
            self._workspace.project,
            title="Reading the versions",
            lane="reads",
            quiet=True,
        )
        job.finished.connect(self._on_loaded)
        self._loading = job

    @Slot(object)
    def _on_loaded(self, versions: tuple[ModelVersion, ...]) -> None:
        self._loading = None
        self.versions = versions
        self.changed.emit()
