"""When the models are measured, and what came of it last.

Measured in the worker ``reads`` while the panel is visible, again a moment after labels or scores change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from sce_desktop.controllers import evaluate_work
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.ui.evaluate.evaluate_bar import EvaluateBar
from sce_desktop.ui.kit.visibility import VisibilityGate

if TYPE_CHECKING:
    from sce_desktop.controllers.evaluate_work import Evaluation

_PAUSE_MS = 400
_LATE_MS = 1000  # a longer pause than this is shown
_PAUSE_FACTOR = 3  # times as long as it took; the table needs the worker, too


class Measuring(QObject):
    """Follows the workspace for ``panel``; the ``bar`` says whether labels are rolled up."""

    changed = Signal()  # what is found, or why there is nothing
    late = Signal()  # whether the figures are those of the project as it is

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        preferences: Preferences,
        bar: EvaluateBar,
        panel: QWidget,
    ) -> None:
        super().__init__(panel)
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._bar = bar
        self._stale = True  # the figures are not those of the project as it is
        self.found: Evaluation | None = None
        self.visibility = VisibilityGate(panel, _PAUSE_MS, rest=_PAUSE_FACTOR)
        self.visibility.due.connect(self._measure)
        workspace.annotationsChanged.connect(self.refresh_soon)
        workspace.scoresChanged.connect(self._on_scores)
        workspace.rowsChanged.connect(self.refresh_soon)
        workspace.labelsChanged.connect(self.start_over)
        workspace.projectOpened.connect(self.start_over)
        workspace.projectClosed.connect(self.start_over)
        scorer.modelsChanged.connect(self._on_models)
        preferences.settingsChanged.connect(self._on_settings)
        bar.rolledUp.connect(self.start_over)

    @property
    def _is_slow(self) -> bool:
        """Whether it takes so long to measure again that it is worth a word."""
        return self.visibility.wait > _LATE_MS

    @property
    def is_late(self) -> bool:
        """Whether the figures are old, and others take a while."""
        return self._stale and self._is_slow

    @Slot()
    def refresh_soon(self) -> None:
        """Measure again in a moment if anybody looks, else when somebody does."""
        self._stale = True
        if self._is_slow:
            self.late.emit()
        self.visibility.soon()

    @Slot()
    def _on_scores(self) -> None:
        """Measure again in a moment, or when the scoring ends: meanwhile nothing is measured."""
        self._stale = True
        if self._scorer.job is None:
            self.refresh_soon()

    @Slot()
    def start_over(self) -> None:
        """Drop what is being measured: it is about other labels, or another project."""
        self._forget()
        self.changed.emit()
        self.refresh_soon()

    def _forget(self) -> None:
        """Let go of the figures and of what is being measured; what comes next is measured at once."""
        self.visibility.forget()
        self.found = None

    @Slot()
    def _on_models(self) -> None:
        """Scoring has ended, or begun: meanwhile nothing is measured."""
        if self._stale:
            self.refresh_soon()
        self.changed.emit()

    @Slot(object)
    def _on_settings(self, keys: set[str]) -> None:
        """Hide the results as soon as the user labels in blind mode."""
        if "blind" in keys:
            if self._stale:  # labels given in blind mode are not in these figures
                self._forget()
            self.changed.emit()
            if self._stale:
                self.refresh_soon()

    @Slot()
    def _measure(self) -> None:
        if self._workspace.project is None:
            return
        if (
            not self._workspace.runs
            or not self._workspace.labels
            or self._scorer.job is not None
            or self._navigation.blind
        ):
            self.changed.emit()
            return
        self._stale = False
        job = self._workspace.submit(
            evaluate_work.evaluate,
            self._workspace.project,
            [run.alias for run in self._workspace.runs],
            self._bar.rolled.isChecked(),
            title=_("Evaluating the models"),
            worker="reads",
            quiet=True,
        )
        job.finished.connect(self._on_found)
        self.visibility.follow(job)
        job.ended.connect(self.late)

    @Slot(object)
    def _on_found(self, found: Evaluation | None) -> None:
        self.found = found
        self.changed.emit()
