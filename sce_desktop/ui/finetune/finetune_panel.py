"""Fine-tune: training rows and settings first, then the result, then the versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QWidget

from sce_desktop.controllers import tuning_work
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.rows_data import is_stale
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.tuning import Tuner
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _
from sce_desktop.core.query import RowQuery
from sce_desktop.core.versions import ModelVersion
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.tasks.training.cost import AdapterPace
from sce_desktop.tasks.training.training import Plan
from sce_desktop.ui.finetune.finetune_result import ResultPane
from sce_desktop.ui.finetune.finetune_start import StartPane
from sce_desktop.ui.finetune.versions_list import VersionsPane
from sce_desktop.ui.kit.theme import px
from sce_desktop.ui.kit.visibility import VisibilityGate

_PLAN_MS = 300  # edits that follow one another are counted once
_DRAW_MS = 100
_NO_PACE = _("The time could not be estimated: close and open the settings to try again.")


class FineTunePanel(QWidget):
    """Puts the three parts together and keeps them in step with the tuner."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        tuner: Tuner,
        preferences: Preferences,
        messages: Messages,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._tuner = tuner
        self._messages = messages
        self.setAccessibleName(_("Fine-tune"))
        self._differing: tuple[str, ...] = ()  # the two whose rows are searched for
        self._differing_how = ""  # scored "joint" or "separate", unlike now; empty: as now
        self.start = StartPane(workspace, scorer, tuner, preferences)
        self.result = ResultPane()
        self.versions = VersionsPane(workspace, scorer, tuner)
        self.result.setMinimumWidth(px(240))  # its tables and curves would like more, and the window grow
        self.versions.setMinimumWidth(px(190))
        split = QSplitter(Qt.Orientation.Horizontal)
        for place, pane in enumerate((self.start, self.result, self.versions)):
            split.addWidget(pane)
            split.setStretchFactor(place, 1 if place == 1 else 0)
            split.setCollapsible(place, False)
        split.setSizes([px(312), px(356), px(290)])
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(split)
        self.visibility = VisibilityGate(self, _PLAN_MS)
        self.visibility.due.connect(self._plan)
        self.visibility.changed.connect(self._on_seen)
        self._draw = QTimer(self, interval=_DRAW_MS)
        self._draw.timeout.connect(self._show_running)

        self._trying: Job | None = None
        self._tried: object = None  # what the pace of adapting the embedder was tried on
        self.start.choicesChanged.connect(self.visibility.soon)
        self.start.settings_button.toggled.connect(self._try_pace_again)
        self.start.adapt.toggled.connect(self._try_pace)
        scorer.modelsChanged.connect(self._try_pace)
        self.versions.chosen.connect(self.result.show_versions)
        self.versions.baseChosen.connect(self._show_base)
        self.result.rowAsked.connect(navigation.rowAsked)
        self.result.useAsked.connect(lambda version: scorer.use_version(version.id))
        self.result.wayAsked.connect(tuner.use_way)
        self.result.differencesAsked.connect(self._show_differences)
        self.result.textsAsked.connect(self._fetch_texts)
        workspace.projectOpened.connect(self._on_opened)
        workspace.projectClosed.connect(self._on_closed)
        workspace.countsChanged.connect(self.visibility.soon)
        workspace.labelsChanged.connect(self.visibility.soon)
        workspace.labelsChanged.connect(self._try_pace)
        workspace.rowsChanged.connect(self._try_pace)
        workspace.versionsChanged.connect(self.visibility.soon)
        tuner.changed.connect(self._follow)
        tuner.made.connect(self._on_made)
        preferences.settingsChanged.connect(self._follow_blind)
        self._follow_blind()
        self._follow()
        self.visibility.within(0)

    def sizeHint(self) -> QSize:
        """Room for all figures of a version."""
        return QSize(px(1100), px(320))

    @Slot()
    def _follow_blind(self) -> None:
        self.result.set_blind(self._navigation.blind)

    # --- the plan ------------------------------------------------------------------------------------------

    @Slot()
    def _plan(self) -> None:
        if self._workspace.project is None:
            return
        job = self._workspace.submit(
            in_worker("sce_desktop.tasks.training.training", "plan"),
            self._workspace.project,
            self.start.entered.origins,
            self._scorer.base_vectors,
            self.start.pace,
            epochs=self.start.epochs.value(),
            title=_("Counting examples"),
            worker="reads",
            quiet=True,
        )
        job.finished.connect(self._on_plan)
        self.visibility.follow(job)

    @Slot()
    def _try_pace(self) -> None:
        """Find out how long adapting the text embedder would take, once that is seen or chosen."""
        scorer, project = self._scorer, self._workspace.project
        rows = project.row_count() if project is not None else 0
        subject = (project, scorer.base, scorer.device, len(self._workspace.labels), rows)
        if subject != self._tried and self._tried is not None:
            drop(self._trying)
            self._trying = self._tried = None
            self.start.show_pace(None)
        asked = self.start.settings_button.isChecked() or self.start.adapts
        if project is None or not asked or self._tried is not None or not scorer.ready:
            return
        self._tried = subject
        job = self._workspace.submit(
            tuning_work.adapter_pace,
            project,
            scorer.model_cache,
            replace(scorer.choice(), baselines=()),
            title=_("Timing the text encoder"),
            worker="models",
            quiet=True,
            notify_failure=False,
        )
        job.finished.connect(self._on_pace)
        job.failed.connect(self._on_no_pace)
        job.cancelled.connect(self._on_no_pace)
        self._trying = job

    @Slot()
    def _try_pace_again(self) -> None:
        """Try it once more, if it came to nothing, where the settings are opened."""
        if self._trying is None and self.start.pace is None:
            self._tried = None
        self._try_pace()

    @Slot(object)
    def _on_pace(self, found: AdapterPace | str) -> None:
        self._trying = None
        self.start.show_pace(found)
        self.visibility.within(0)

    @Slot()
    def _on_no_pace(self) -> None:
        self._trying = None
        self.start.show_pace(_NO_PACE)

    @Slot(object)
    def _on_plan(self, plan: Plan) -> None:
        self.start.show_plan(plan)
        self.result.show_plan(plan)
        if not self._tuner.versions and not self.result.versions and plan.rows is not None:
            self.result.tabs.setCurrentWidget(self.result.page)

    # --- what runs and what was made -----------------------------------------------------------------------

    @Slot(bool)
    def _on_seen(self, seen: bool) -> None:
        """Draw what runs while somebody looks."""
        if seen:
            self._follow()
        else:
            self._draw.stop()

    @Slot()
    def _follow(self) -> None:
        tuner = self._tuner
        asked = tuner.job is not None and not tuner.automatic
        if asked and self.visibility.seen:
            self._draw.start()
            self._show_running()
            return
        was_running = self._draw.isActive()
        self._draw.stop()
        self.start.show_state()
        if self.result.on_base and tuner.versions and not was_running:
            self._show_base()  # another one may be in use
            return
        shown = self.result.versions
        by_id = {version.id: version for version in tuner.versions}
        now = tuple(by_id[version.id] for version in shown if version.id in by_id)
        if not was_running and shown and [v.id for v in now] == [v.id for v in shown]:
            self.result.follow_use(now)  # nothing else of a version ever changes
        elif now != shown or was_running or (not shown and tuner.versions):
            if not now and tuner.versions:
                newest = next((v for v in tuner.versions if v.active), tuner.versions[-1])
                self.versions.show_versions()
                self.versions.select(newest)
                now = (newest,)
            self.result.show_versions(now)

    @Slot()
    def _show_base(self) -> None:
        self.result.show_base(Path(self._scorer.base).name, self._tuner.versions)

    @Slot()
    def _show_running(self) -> None:
        self.start.show_state()
        self.result.show_running(self._tuner.watch)

    @Slot(object)
    def _on_made(self, version: ModelVersion) -> None:
        self.versions.show_versions()
        self.versions.select(version)
        self.result.show_versions((version,))

    @Slot(object)
    def _fetch_texts(self, ids: list[int]) -> None:
        if self._workspace.project is None:
            return
        job = self._workspace.submit(
            tuning_work.texts,
            self._workspace.project,
            ids,
            title=_("Reading texts"),
            worker="reads",
            quiet=True,
        )
        job.finished.connect(self.result.show_texts)

    @Slot(object)
    def _show_differences(self, versions: tuple[ModelVersion, ...]) -> None:
        """Show in the table on which rows two versions, or one and its base, differ by the labels of now."""
        if self._workspace.project is None:
            return
        every = [run for run in self._workspace.project.runs() if run.alias == MAIN_ALIAS]
        runs = [run for run in every if not is_stale(run, self._workspace.labels)]
        names = {version.title: version.name for version in sorted(versions, key=lambda one: one.id)}
        if len(versions) == 1:
            names = {versions[0].base: _("Base model")} | names
        on = self._scorer.table.on
        for whole in (on, not on):  # like is compared with like
            latest = {run.model: run.id for run in runs if run.whole_table == whole}
            if latest.keys() >= names.keys():
                ours, theirs = (latest[model] for model in names)
                job = self._workspace.submit(
                    in_worker("sce_desktop.store.project", "Project.row_ids"),
                    self._workspace.project,
                    RowQuery(compare=(ours, theirs), disagree=True),
                    title=_("Searching for rows that differ"),
                )
                self._differing = tuple(names.values())
                self._differing_how = "" if whole == on else "joint" if whole else "separate"
                job.finished.connect(self._on_differing)
                return
        scored = {run.model for run in runs if run.whole_table == on}
        missing = next(name for model, name in names.items() if model not in scored)
        self._messages.notify(
            _("{model} has not scored any rows yet: use it once to compare them.", model=missing)
        )

    @Slot(object)
    def _on_differing(self, ids: IdArray) -> None:
        if len(ids):
            self._navigation.show_ids(ids, name=_differ(self._differing, self._differing_how))
        else:
            first, second = self._differing
            self._messages.notify(
                _("{first} and {second} predict the same label for every row.", first=first, second=second)
            )

    @Slot()
    def _on_opened(self) -> None:
        self.result.show_versions(())
        self._try_pace()
        self.visibility.soon()

    @Slot()
    def _on_closed(self) -> None:
        self.visibility.forget()
        self._try_pace()
        self.start.show_plan(None)
        self.result.show_plan(None)
        self.result.show_versions(())


def _differ(names: Sequence[str], how: str) -> str:
    """What a list of rows is called on which two models differ."""
    first, second = names
    if how == "joint":
        return _("{first} and {second} differ (joint prediction)", first=first, second=second)
    if how == "separate":
        return _("{first} and {second} differ (rows scored separately)", first=first, second=second)
    return _("{first} and {second} differ", first=first, second=second)
