"""The field above a long list of labels that shows only those with what is typed in their names."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.core.text import isolated
from sce_desktop.ui.kit.empty_text import EmptyText
from sce_desktop.ui.labels.labels_list import LabelsList
from sce_desktop.ui.labels.labels_model import LabelsModel

FILTER_FROM = 13  # labels; so many and fewer are seen at a glance


class LabelFilter(QLineEdit):
    """Return goes to the first label found, Escape shows all labels again."""

    filtered = Signal()  # other labels are shown

    def __init__(self, model: LabelsModel, labels: LabelsList, parent: QWidget | None = None) -> None:
        super().__init__(parent, placeholderText=_("Filter labels…"), clearButtonEnabled=True)
        self._model = model
        self._list = labels
        self._nothing = EmptyText(labels, "")
        self.setAccessibleName(_("Filter labels"))
        for clear in self.findChildren(QAbstractButton):
            clear.setAccessibleName(_("Clear filter"))
        self.textChanged.connect(self._filter)
        self.returnPressed.connect(self._choose)
        self.installEventFilter(self)
        self.follow(0)

    def follow(self, count: int) -> None:
        """Be there where there are so many labels that one searches; a filter that is used stays."""
        self.setVisible(count >= FILTER_FROM or bool(self.text()))

    @Slot(str)
    def _filter(self, text: str) -> None:
        self._model.set_filter(text)
        self._nothing.set_text(
            _("No label contains “{text}”. Press Esc to show all.", text=isolated(text.strip()))
        )
        self._nothing.set_none_seen(
            bool(text.strip()) and len(self._model.hidden_rows()) == self._model.rowCount()
        )
        self.filtered.emit()

    @Slot()
    def _choose(self) -> None:
        hidden = self._model.hidden_rows()
        row = next((row for row in range(self._model.rowCount()) if row not in hidden), None)
        if row is not None:
            self._list.reveal(row)
            self._list.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Escape clears what was typed."""
        pressed = isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress
        if pressed and event.key() == Qt.Key.Key_Escape and self.text():  # type: ignore[attr-defined]
            self.clear()
            return True
        return super().eventFilter(watched, event)
