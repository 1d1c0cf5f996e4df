"""The label given a moment ago, with Undo: the row itself is gone from the panel by then."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.still_label import StillLabel
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role

MOMENT_MS = 6000


class LastDecision(QFrame):
    """One line; it keeps its place when it is empty, so that nothing that one aims at moves."""

    undoAsked = Signal()
    copiesAsked = Signal()
    cleared = Signal()  # the moment is over, and with it what was offered

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Last label"))
        self.words = StillLabel()
        self.words.setAccessibleName(_("Last label"))
        set_role(self.words, "muted")
        self.button = QPushButton(_("Undo"))
        self.button.setAccessibleName(_("Undo the last label"))
        self.button.setToolTip(_("Undo (Ctrl+Z)"))
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(self.button, "quiet")
        set_icon(self.button, "undo", "muted")
        self.button.clicked.connect(self.undoAsked)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(self.words, 1)
        self.copies = QPushButton()
        self.copies.setAccessibleName(_("Apply label to duplicates"))
        self.copies.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(self.copies, "quiet")
        self.copies.clicked.connect(self.copiesAsked)
        layout.addWidget(self.copies)
        layout.addWidget(self.button)
        self.setFixedHeight(self.button.sizeHint().height())
        self._moment = QTimer(self, singleShot=True, interval=MOMENT_MS)
        self._moment.timeout.connect(self.clear)
        self.clear()

    def show_label(self, row: int | None, count: int, label: str) -> None:
        """Show which ``label`` a ``row`` (1-based) got, or where it is None ``count`` rows."""
        if row is None:
            self.show_words(ngettext("{count} row: {label}", "{count} rows: {label}", count, label=label))
        else:
            self.show_words(_("Row {number}: {label}", number=number(row), label=label))

    def show_words(self, words: str) -> None:
        """Show the last label, for a moment."""
        self.copies.hide()
        self.button.show()
        self.words.setText(words)
        self._moment.start()

    @Slot(object, object)
    def offer_copies(self, count: int, key: str) -> None:
        """Offer, beside the last label, to give it to ``count`` unlabelled rows of the same text."""
        if not self._moment.isActive():
            return
        words = ngettext("Apply label to {count} duplicate", "Apply label to {count} duplicates", count)
        self.copies.setText(f"+{number(count)}  {key}".rstrip())  # the panel is narrow
        self.copies.setToolTip(f"{words} ({key})" if key else words)
        self.copies.setAccessibleName(words)
        self.copies.setVisible(count > 0)

    @Slot()
    def clear(self) -> None:
        """Show nothing."""
        self._moment.stop()
        self.words.clear()
        self.button.hide()
        self.copies.hide()
        self.cleared.emit()
