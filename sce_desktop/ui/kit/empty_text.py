"""What an empty list or field says: one line with the next step, over the place where its rows would be.

    EmptyText(table, _("No jobs yet. Imports, scoring and exports are listed here."))

It follows the list's model. Where rows are hidden instead of taken away, call `set_text` and `follow`.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Slot
from PySide6.QtWidgets import QAbstractItemView, QLabel, QPlainTextEdit

from sce_desktop.ui.kit.theme import SPACE_M, px, set_role


class EmptyText(QLabel):
    """Lies over the list while it has no rows; the mouse goes through it."""

    def __init__(self, view: QAbstractItemView | QPlainTextEdit, sentence: str) -> None:
        super().__init__(view.viewport())
        self._view = view
        self._none_seen = False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setContentsMargins(px(SPACE_M), 0, px(SPACE_M), 0)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        set_role(self, "muted")
        self.set_text(sentence)
        view.viewport().installEventFilter(self)
        if isinstance(view, QPlainTextEdit):
            view.textChanged.connect(self.follow)
        else:
            model = view.model()
            for signal in (model.rowsInserted, model.rowsRemoved, model.modelReset, model.layoutChanged):
                signal.connect(self.follow)
        self.follow()

    def set_text(self, sentence: str) -> None:
        """Say something else."""
        self.setText(sentence)
        self._view.setAccessibleDescription(sentence if not self.isHidden() else "")

    def set_none_seen(self, none: bool) -> None:
        """Take it that there is nothing to see, though the model has rows: they are hidden."""
        self._none_seen = none
        self.follow()

    @Slot()
    def follow(self) -> None:
        """Be there while there is nothing else."""
        if isinstance(self._view, QPlainTextEdit):
            empty = self._view.document().isEmpty()
        else:
            empty = self._none_seen or not self._view.model().rowCount(QModelIndex())
        self.setVisible(empty)
        self._view.setAccessibleDescription(self.text() if empty else "")
        self._fill()

    def _fill(self) -> None:
        self.setGeometry(self._view.viewport().rect())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as the list."""
        if event.type() is QEvent.Type.Resize:
            self._fill()
        return super().eventFilter(watched, event)
