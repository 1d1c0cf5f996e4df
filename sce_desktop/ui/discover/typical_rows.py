"""Beside the list: what a cluster may be called, and its most typical rows."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.discovery import Cluster
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role

_TEXT = 400  # characters of a row


class TypicalRows(QWidget):
    """The names and the rows of one cluster."""

    nameChosen = Signal(object)  # one of the names

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Cluster"))
        label = QLabel(_("&Name"))
        self.names = ComboBox()
        self.names.setAccessibleName(_("Suggested names"))
        self.names.setToolTip(_("Names by which the model finds these rows, best first"))
        self.names.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.names.activated.connect(self._on_chosen)
        label.setBuddy(self.names)
        self.heading = QLabel(_("Typical rows"))
        set_role(self.heading, "heading")
        self.list = QListWidget()
        self.list.setAccessibleName(_("Typical rows"))
        self.list.setWordWrap(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        line = QHBoxLayout()
        line.addWidget(label)
        line.addWidget(self.names, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), 0, px(SPACE_M), 0)
        layout.setSpacing(px(SPACE_S))
        layout.addLayout(line)
        layout.addWidget(self.heading)
        layout.addWidget(self.list, 1)
        self.show_cluster(None)

    def show_cluster(self, cluster: Cluster | None) -> None:
        """Show a cluster, or nothing."""
        self.names.clear()
        self.list.clear()
        self.setEnabled(cluster is not None)
        if cluster is None:
            return
        for name in cluster.names:
            text = _("{name} (LLM)", name=name) if name == cluster.llm_name else name
            self.names.addItem(text, name)
        for row in cluster.typical:
            text = " ".join(row.text[: 2 * _TEXT].split())
            self.list.addItem(QListWidgetItem(text if len(text) <= _TEXT else text[:_TEXT].rstrip() + "…"))

    @Slot()
    def _on_chosen(self) -> None:
        self.nameChosen.emit(self.names.currentData())
