"""Focus mode: one text, large and centred, its labels below it, and the progress of the day above."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QScrollBar, QVBoxLayout, QWidget

from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.repeats import Repeats
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.start_review import StartReview
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.ui.focus.focus_row import FocusRow
from sce_desktop.ui.focus.progress_line import ProgressLine
from sce_desktop.ui.kit.theme import set_role

_PAGES = {Qt.Key.Key_Space: 1, Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}
_LINES = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_FAR = {
    Qt.Key.Key_Home: QScrollBar.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QScrollBar.SliderAction.SliderToMaximum,
}


class FocusView(QWidget):
    """A page of the window. `begin` and `end` are called when it comes and goes."""

    leaveAsked = Signal()

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        scorer: Scorer,
        review: StartReview,
        preferences: Preferences,
        messages: Messages,
        repeats: Repeats,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Focus mode"))
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._on = False
        self.progress = ProgressLine(workspace, navigation, preferences)
        self.row = FocusRow(workspace, navigation, edits, scorer, review, preferences, messages, repeats)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.progress)
        layout.addWidget(self.row, 1)
        self.progress.leaveAsked.connect(self.leaveAsked)
        self.progress.edited.connect(self.take_focus)
        navigation.rowsFocusAsked.connect(self._on_rows_focus)

    def begin(self) -> None:
        """Show the current row, and take its keys."""
        self._on = True
        self.row.set_active(True)
        self.take_focus()

    def end(self) -> None:
        """Follow nothing any more."""
        self._on = False
        self.progress.end_editing()
        self.row.set_active(False)

    @Slot()
    def take_focus(self) -> None:
        """Let keys decide about the row, and scroll its text."""
        self.row.text.view.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _on_rows_focus(self) -> None:
        if self._on:  # the table is not seen
            self.take_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave by Escape; scroll the text by the keys that would scroll it, whatever has the focus."""
        bar, action = self.row.text.view.verticalScrollBar(), QScrollBar.SliderAction
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.leaveAsked.emit()
        elif key in _PAGES:
            down = _PAGES[key] > 0 and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            bar.triggerAction(action.SliderPageStepAdd if down else action.SliderPageStepSub)
        elif key in _LINES:
            bar.triggerAction(action.SliderSingleStepAdd if _LINES[key] > 0 else action.SliderSingleStepSub)
        elif key in _FAR:
            bar.triggerAction(_FAR[key])
        else:
            super().keyPressEvent(event)
