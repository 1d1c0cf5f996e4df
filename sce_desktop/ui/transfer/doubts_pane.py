"""Guesses of the import dialog that may as well be otherwise, each with a button that says so."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from sce_desktop.core.tables import Doubt
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role


class DoubtsPane(QWidget):
    """Between the preview and the numbers; hidden where nothing is doubtful."""

    chosen = Signal(object)  # Doubt

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(px(SPACE_S))
        self.hide()

    def show_doubts(self, doubts: Sequence[Doubt]) -> None:
        """Show these in place of others."""
        while (item := self._lines.takeAt(0)) is not None:
            if (line := item.widget()) is not None:
                line.hide()
                line.deleteLater()
        for doubt in doubts:
            self._lines.addWidget(self._line(doubt))
        self.setVisible(bool(doubts))

    def _line(self, doubt: Doubt) -> QWidget:
        line = QWidget()
        words = QLabel(doubt.sentence, wordWrap=True)
        words.setTextFormat(Qt.TextFormat.PlainText)
        words.setAccessibleName(doubt.sentence)
        set_role(words, "warn")
        button = QPushButton(doubt.offer)
        button.setAccessibleName(doubt.offer)
        button.setAccessibleDescription(doubt.sentence)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda: self.chosen.emit(doubt))
        layout = QHBoxLayout(line)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_M))
        layout.addWidget(words, 1)
        layout.addWidget(button)
        return line

    def texts(self) -> list[str]:
        """The sentences shown, for tests."""
        return [label.accessibleName() for label in self.findChildren(QLabel) if not label.isHidden()]
