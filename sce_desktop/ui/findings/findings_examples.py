"""The rows behind one cell of the findings: some to read, and all of them in the table."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.findings_work import CellRows
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.preview_model import plain_tip
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role

_TEXT = 300  # characters of an example
_ROW_ID = Qt.ItemDataRole.UserRole
HINT = _("Click a figure to read rows behind it.")


class Examples(QWidget):
    """Beside the figures."""

    rowsAsked = Signal(object)  # `CellRows`: show them in the table
    rowAsked = Signal(object)  # the id of one

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found: CellRows | None = None
        self.setAccessibleName(_("Examples"))
        self.title = QLabel(wordWrap=True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setAccessibleName(_("Label of the examples"))
        self.list = QListWidget()
        self.list.setAccessibleName(_("Example rows"))
        self.list.setWordWrap(True)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemActivated.connect(self._on_activated)
        self.button = QPushButton(_("Show these rows"))
        self.button.setAccessibleName(_("Show these rows in the table"))
        self.button.clicked.connect(self.ask_rows)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), 0, px(SPACE_M), px(SPACE_S))
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(self.title)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        self.show_rows("", None)

    def show_rows(self, title: str, found: CellRows | None) -> None:
        """Show the rows of a cell; None: there is none yet, or they are being looked up."""
        self.found = found
        self.title.setText(title or HINT)
        set_role(self.title, "title" if title else "muted")
        self.list.clear()
        self.list.setVisible(found is not None)
        self.button.setVisible(found is not None and bool(found.ids))
        if found is None:
            return
        for place, row in enumerate(found.shown):
            text = " ".join(row.text[: 2 * _TEXT].split())
            text = text if len(text) <= _TEXT else text[:_TEXT].rstrip() + "…"
            how = _("labelled") if place < found.decided else _("predicted")
            item = QListWidgetItem(f"{number(row.position + 1)} · {how}\n{text}")
            item.setData(_ROW_ID, row.id)
            item.setToolTip(plain_tip(_("Double-click to show this row")))
            self.list.addItem(item)
        if not found.ids:
            item = QListWidgetItem(_("No row: the share comes from small probabilities of many rows."))
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        count = len(found.ids)
        self.button.setText(ngettext("Show this row", "Show these {count} rows", count))

    @Slot()
    def ask_rows(self) -> None:
        """Ask for all rows of the cell in the table."""
        if self.found is not None and self.found.ids:
            self.rowsAsked.emit(self.found)

    @Slot(QListWidgetItem)
    def _on_activated(self, item: QListWidgetItem) -> None:
        if (row_id := item.data(_ROW_ID)) is not None:
            self.rowAsked.emit(row_id)
