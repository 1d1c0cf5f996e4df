"""The line above the figures: what they rest on, and the random sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QPushButton, QWidget

from sce_desktop.ui.evaluate.evaluate_words import SOURCES, audit_progress
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role

if TYPE_CHECKING:
    from sce_desktop.controllers.evaluate_work import Evaluation
    from sce_desktop.tasks.evaluation.audits import AuditState
    from sce_desktop.tasks.evaluation.quality import Part


class EvaluateBar(QWidget):
    """Says what was chosen; knows nothing of controllers."""

    sourceChosen = Signal(object)
    rolledUp = Signal()
    drawAsked = Signal()
    goOnAsked = Signal()
    copyAsked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("What the figures rest on")
        self.source = ComboBox()
        self.source.setAccessibleName("Measured on")
        self.source.setToolTip("Which labels the models are measured on")
        self.source.activated.connect(self._on_source)
        self.basis = QLabel(wordWrap=True)
        self.basis.setTextFormat(Qt.TextFormat.PlainText)
        self.basis.setAccessibleName("What the figures are worth")
        self.basis.setMinimumWidth(px(160))
        set_role(self.basis, "muted")
        self.rolled = QCheckBox("Sum up parents")
        self.rolled.setToolTip("Count labels “Parent > Child” as their parent")
        self.rolled.toggled.connect(self.rolledUp)
        self.progress = QLabel()
        self.progress.setAccessibleName("Audit sample")
        self.go_on = QPushButton("Go on")
        self.go_on.setToolTip("Decide the rows of the sample that wait")
        self.go_on.clicked.connect(self.goOnAsked)
        self.draw = QPushButton()
        self.draw.clicked.connect(self.drawAsked)
        self.copy = QPushButton("Copy")
        self.copy.setToolTip("Copy the figures that are shown, for a spreadsheet")
        set_role(self.copy, "quiet")
        set_icon(self.copy, "copy", "muted")
        self.copy.clicked.connect(self.copyAsked)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(self.source)
        layout.addWidget(self.basis, 1)
        for widget in (self.rolled, self.copy, self.progress, self.go_on, self.draw):
            layout.addWidget(widget)

    @Slot()
    def _on_source(self) -> None:
        self.sourceChosen.emit(self.source.currentData())

    def show_parts(self, found: Evaluation | None, shown: Part | None) -> None:
        """Offer the kinds of decisions that there are, and right answers."""
        parts = () if found is None else found.quality.parts
        self.source.clear()
        for part in parts:
            self.source.addItem(f"{SOURCES[part.source]} ({part.decided:,})", int(part.source))
        if shown is not None:
            self.source.setCurrentIndex(self.source.findData(int(shown.source)))
        self.source.setVisible(bool(parts))
        self.copy.setVisible(shown is not None and bool(shown.models))
        if found is not None:
            self.rolled.setVisible(found.nested)
        elif not self.rolled.isChecked():
            self.rolled.hide()

    def show_audit(self, state: AuditState | None, *, ready: bool, shown: bool) -> None:
        """Say how far the sample is; ``ready``: one can be drawn, ``shown``: its rows are in the table."""
        self.progress.setText("" if state is None else f"Sample: {audit_progress(state)}")
        self.progress.setVisible(state is not None)
        waits = state is not None and state.waiting > 0
        self.go_on.setVisible(waits and not shown)
        self.draw.setText("Draw an audit sample…" if state is None else "Larger sample…")
        self.draw.setVisible(ready)
        set_role(self.draw, "primary" if state is None else "quiet")
        set_role(self.go_on, "primary")
