"""The licences of all that the program consists of: a list, and the text of the selected part."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.components import Component
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.dialog_parts import dialog_column
from sce_desktop.ui.kit.theme import SPACE_S, px

_PART = Qt.ItemDataRole.UserRole


class LicencesDialog(QDialog):
    """Shows ``parts``, those of `core.components.components`."""

    def __init__(self, parts: Sequence[Component], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("Licences"))
        self.setAccessibleName(_("Licences"))
        words = QLabel(
            _(
                "SCE Desktop is free software under the Apache License 2.0. "
                "It uses the components below, each under its own licence."
            ),
            wordWrap=True,
        )
        self.search = QLineEdit(placeholderText=_("Search components and licences"))
        self.search.setAccessibleName(_("Search components and licences"))
        self.search.textChanged.connect(self._filter)
        self.list = QListWidget()
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(_("Components"))
        for part in parts:
            name = f"{part.name} {part.version}".strip()
            item = QListWidgetItem(f"{name}\n{part.licence}", self.list)
            item.setData(_PART, part)
            item.setToolTip(part.licence)
        self.list.currentItemChanged.connect(self._show)
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setAccessibleName(_("Licence text"))
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(SPACE_S))
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        both = QSplitter(Qt.Orientation.Horizontal)
        both.setChildrenCollapsible(False)
        both.addWidget(left)
        both.addWidget(self.text)
        both.setStretchFactor(1, 1)
        both.setSizes([px(260), px(700)])
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setAccessibleName(_("Close"))
        buttons.rejected.connect(self.reject)
        layout = dialog_column(self)
        layout.addWidget(words)
        layout.addWidget(both, 1)
        layout.addWidget(buttons)
        self.resize(px(980), px(600))
        self.list.setCurrentRow(0)
        self.list.setFocus()

    @Slot()
    def _show(self) -> None:
        item = self.list.currentItem()
        part = None if item is None else item.data(_PART)
        text = part.text() if isinstance(part, Component) else ""
        self.text.setPlainText(text or _("This component comes without a licence text."))

    @Slot(str)
    def _filter(self, words: str) -> None:
        wanted = words.casefold().split()
        for row in range(self.list.count()):
            item = self.list.item(row)
            item.setHidden(not all(word in item.text().casefold() for word in wanted))
        current = self.list.currentItem()
        if current is None or current.isHidden():
            shown = (r for r in range(self.list.count()) if not self.list.item(r).isHidden())
            self.list.setCurrentRow(next(shown, -1))
