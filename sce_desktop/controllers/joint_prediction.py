"""The switch "Predict rows jointly (transductive)", kept in the project.

table = scorer.table
table.on, table.why_not()      what was chosen; why it cannot be now, empty if it can
table.used                     whether rows are to be predicted jointly now
table.switch(True)             rows that have scores get new ones; `scorer.modelsChanged` follows
table.action(parent)           an entry for a menu
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction

from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import why_alone
from sce_desktop.core.runs import ModelKind

TITLE = _("Predict rows &jointly (transductive)")
TIP = _(
    "Uses similar rows in this table to refine predictions. Usually more accurate, but each prediction then "
    "depends on the other rows."
)


class JointPrediction(QObject):
    """Belongs to the scorer."""

    switched = Signal()  # scores are to come another way
    possibleChanged = Signal()  # another model may not be able to

    def __init__(self, workspace: Workspace, base: Callable[[], str], parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._base = base  # name of the model that is loaded
        self.on = False

    def follow(self) -> None:
        """Look what the project says, which has just been opened or closed."""
        project = self._workspace.project
        self.on = project is not None and project.whole_table()

    def _why_alone(self) -> str:
        """Why rows cannot be predicted jointly here, in a sentence; empty if they can."""
        several = self._workspace.label_set is not None and self._workspace.label_set.multi_label
        kind: ModelKind = "llm" if self._base().startswith("llm:") else "sce"
        return why_alone(self._workspace.labels, multi_label=several, kind=kind)

    def why_not(self) -> str:
        """Why the switch cannot be turned, in a sentence; empty if it can."""
        return self._workspace.why_not() or self._why_alone()

    @property
    def used(self) -> bool:
        """Whether rows are to be predicted jointly."""
        return self.on and not self._why_alone()

    def switch(self, on: bool) -> None:
        """Predict rows jointly, or no longer; rows that have scores are rescored, or get earlier scores."""
        if self._workspace.project is None or on == self.on or self._workspace.refuses_edit():
            return
        self._workspace.project.use_whole_table(on)
        self.on = on
        self.switched.emit()

    def action(self, parent: QObject) -> QAction:
        """An entry for a menu, which follows what is chosen and what can be."""
        action = QAction(TITLE, parent, checkable=True)
        action.setStatusTip(TIP)
        _Entry(action, self._workspace, self)
        return action


class _Entry(QObject):
    """Keeps an entry of a menu up to date, for as long as there is one."""

    def __init__(self, action: QAction, workspace: Workspace, joint: JointPrediction) -> None:
        super().__init__(action)
        self._action, self._joint = action, joint
        action.triggered.connect(self._switch)
        workspace.projectOpened.connect(self.show)
        workspace.projectClosed.connect(self.show)
        workspace.labelsChanged.connect(self.show)
        joint.possibleChanged.connect(self.show)
        self.show()

    @Slot(bool)
    def _switch(self, on: bool) -> None:
        self._joint.switch(on)
        self.show()  # it may have been refused

    @Slot()
    def show(self) -> None:
        """Show what is chosen; where it does nothing, why."""
        reason = self._joint.why_not()
        self._action.setChecked(self._joint.used)
        self._action.setEnabled(not reason)
        self._action.setToolTip(reason or TIP)
        self._action.setStatusTip(reason or TIP)
