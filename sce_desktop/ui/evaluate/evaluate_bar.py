"""The line above the figures: the result, the rows that it is from, and the audit sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.i18n import _, number
from sce_desktop.ui.evaluate.evaluate_words import SOURCES, audit_progress
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XS, px, set_role

if TYPE_CHECKING:
    from sce_desktop.controllers.evaluate_work import Evaluation
    from sce_desktop.tasks.evaluation.audits import AuditState
    from sce_desktop.tasks.evaluation.quality import Part


_WIDE = 1180  # pixels that one line needs


class EvaluateBar(QWidget):
    """Shows what was chosen; knows nothing of controllers."""

    sourceChosen = Signal(object)
    rolledUp = Signal()
    drawAsked = Signal()
    continueAsked = Signal()
    stopAsked = Signal()
    copyAsked = Signal()
    arranged = Signal(bool)  # on two lines

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(_("Result"))
        self.source = ComboBox()
        self.source.setAccessibleName(_("Evaluate on"))
        self.source.setToolTip(_("Choose the labels to evaluate on"))
        self.source.activated.connect(self._on_source)
        self.result = QLabel()
        self.result.setTextFormat(Qt.TextFormat.PlainText)
        self.result.setAccessibleName(_("Accuracy"))
        set_role(self.result, "title")
        self.basis = QLabel(wordWrap=True)
        self.basis.setTextFormat(Qt.TextFormat.PlainText)
        self.basis.setAccessibleName(_("Rows evaluated"))
        self.basis.setMinimumWidth(px(160))
        set_role(self.basis, "muted")
        self.info = QToolButton()
        self.info.setAccessibleName(_("About these results"))
        set_icon(self.info, "info", "muted")
        self.info.clicked.connect(self._show_caveats)
        self.rolled = QCheckBox(_("Roll up to parent labels"))
        self.rolled.setToolTip(_("Count labels “Parent > Child” as their parent"))
        self.rolled.toggled.connect(self.rolledUp)
        self.progress = QLabel()
        self.progress.setAccessibleName(_("Audit sample"))
        self.resume = QPushButton(_("Continue"))
        self.resume.setToolTip(_("Label the remaining rows of the sample"))
        self.resume.clicked.connect(self.continueAsked)
        self.stop = QPushButton(_("Stop"))
        self.stop.setToolTip(_("Leave the sample; you can continue later"))
        self.stop.clicked.connect(self.stopAsked)
        self.draw = QPushButton()
        self.draw.clicked.connect(self.drawAsked)
        self.copy = QPushButton(_("Copy"))
        self.copy.setToolTip(_("Copy the figures shown, for a spreadsheet"))
        set_role(self.copy, "quiet")
        set_icon(self.copy, "copy", "muted")
        self.copy.clicked.connect(self.copyAsked)
        self.narrow: bool | None = None  # nobody has looked yet
        self._lines = QHBoxLayout(), QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        layout.setSpacing(px(SPACE_XS))
        for line in self._lines:
            line.setSpacing(px(SPACE_S))
            layout.addLayout(line)
        self._arrange(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take a second line where one is too short: what is pressed next must not be off the screen."""
        super().resizeEvent(event)
        self._arrange(self.width() < px(_WIDE))

    def _arrange(self, narrow: bool) -> None:
        if narrow == self.narrow:
            return
        self.narrow = narrow
        facts: list[tuple[QWidget, int]] = [(self.basis, 1), (self.info, 0), (self.rolled, 0), (self.copy, 0)]
        steps = [(widget, 0) for widget in (self.progress, self.resume, self.stop, self.draw)]
        first, second = self._lines
        for line in self._lines:
            while line.takeAt(0) is not None:
                pass
        first.addWidget(self.source)
        first.addWidget(self.result)
        if narrow:
            first.addStretch(1)
        for widget, stretch in facts:
            (second if narrow else first).addWidget(widget, stretch)
        for widget, stretch in steps:
            first.addWidget(widget, stretch)
        self.arranged.emit(narrow)

    def add_beside(self, widget: QWidget) -> None:
        """Put something at the end of the second line, while there is one."""
        self._lines[1].insertWidget(self._lines[1].count() - 1, widget)

    @Slot()
    def _on_source(self) -> None:
        self.sourceChosen.emit(self.source.currentData())

    @Slot()
    def _show_caveats(self) -> None:
        QToolTip.showText(
            self.info.mapToGlobal(QPoint(0, self.info.height())), self.info.toolTip(), self.info
        )

    def show_result(self, result: str, basis: str, caveats: str) -> None:
        """Show the result and the rows that it is from; ``caveats`` are behind the info mark."""
        self.result.setText(result)
        self.result.setVisible(bool(result))
        self.basis.setText(basis)
        self.info.setToolTip(caveats)
        self.info.setAccessibleDescription(caveats)
        self.info.setVisible(bool(caveats))

    def show_parts(self, found: Evaluation | None, shown: Part | None) -> None:
        """Offer the kinds of labels that there are."""
        parts = () if found is None else found.quality.parts
        self.source.clear()
        for part in parts:
            name = _("{source} ({rows})", source=SOURCES[part.source], rows=number(part.decided))
            self.source.addItem(name, int(part.source))
        if shown is not None:
            self.source.setCurrentIndex(self.source.findData(int(shown.source)))
        self.source.setVisible(bool(parts))
        self.copy.setVisible(shown is not None and bool(shown.models))
        if found is not None:
            self.rolled.setVisible(found.nested)
        elif not self.rolled.isChecked():
            self.rolled.hide()

    def show_audit(self, state: AuditState | None, *, ready: bool, shown: bool) -> None:
        """Show how far the sample is; ``ready``: one can be drawn, ``shown``: its rows are in the table."""
        if state is None:
            self.progress.setText("")
        else:
            done = audit_progress(state)
            self.progress.setText(done if shown else _("Audit sample: {progress}", progress=done))
        self.progress.setVisible(state is not None)
        waits = state is not None and state.waiting > 0
        self.resume.setVisible(waits and not shown)
        self.stop.setVisible(state is not None and shown)
        self.draw.setText(_("Draw an audit sample…") if state is None else _("Larger sample…"))
        self.draw.setVisible(ready and not (waits and shown))
        set_role(self.draw, "primary" if state is None else "quiet")
        set_role(self.resume, "primary")
