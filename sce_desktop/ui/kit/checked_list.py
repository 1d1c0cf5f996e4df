"""A list to check things in, with their rows, and a field to find them by typing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeWidgetItem, QVBoxLayout, QWidget

from sce_desktop.core.i18n import _, number
from sce_desktop.ui.kit.dialog_parts import flat_list
from sce_desktop.ui.kit.palette import matches
from sce_desktop.ui.kit.theme import SPACE_M, px

_VALUE = Qt.ItemDataRole.UserRole
Thing = Literal["label", "value", "column"]


class _Words(NamedTuple):
    """What a list of one kind of thing says: its search field, its name for screen readers, its heading."""

    search: str
    hint: str
    name: str
    heading: str


_WORDS: dict[Thing, _Words] = {
    "label": _Words(_("Find a label"), _("Find a label…"), _("Labels and their rows"), _("Label")),
    "column": _Words(_("Find a column"), _("Find a column…"), _("Columns of the table"), _("Column")),
    "value": _Words(_("Find a value"), _("Find a value…"), _("Values and their rows"), _("Value")),
}


class CheckedList(QWidget):
    """What a dialog filters by, each a ``thing``: a value, a label. With ``one`` a single one is selected."""

    taken = Signal()  # the one was double-clicked

    def __init__(self, thing: Thing, parent: QWidget | None = None, *, one: bool = False) -> None:
        super().__init__(parent)
        self._one = one
        words = _WORDS[thing]
        self.search = QLineEdit(placeholderText=words.hint)
        self.search.setAccessibleName(words.search)
        self.list = flat_list(words.name, (words.heading, _("Rows")))
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.search.textChanged.connect(self.narrow)
        if one:
            self.list.itemDoubleClicked.connect(self.taken)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_M))
        layout.addWidget(self.search)
        layout.addWidget(self.list)

    def add(
        self, name: str, rows: int | None, value: object, *, checked: bool, icon: QIcon | None = None
    ) -> None:
        """Add a thing that so many rows have (None: not known); ``value`` stands for it in `checked`."""
        item = QTreeWidgetItem([name, "" if rows is None else number(rows)])
        item.setData(0, _VALUE, value)
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)  # trailing: Qt mirrors it
        if icon is not None:
            item.setIcon(0, icon)
        self.list.addTopLevelItem(item)
        if self._one:
            item.setSelected(checked)
        else:
            item.setCheckState(0, Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked)

    @property
    def checked(self) -> list[Any]:
        """What is checked, whether it is shown or not."""
        chosen = self.list.selectedItems() if self._one else [i for i in self._items() if _is_checked(i)]
        return [item.data(0, _VALUE) for item in chosen]

    @property
    def every(self) -> list[Any]:
        """All that is listed, checked or not."""
        return [item.data(0, _VALUE) for item in self._items()]

    @property
    def shown(self) -> list[Any]:
        """What is shown for the words that were typed; all, where none were."""
        return [item.data(0, _VALUE) for item in self._items() if not item.isHidden()]

    def check(self, values: Iterable[object], *, on: bool) -> None:
        """Check or uncheck some of what is listed, without a signal."""
        wanted = set(values)
        self.list.blockSignals(True)
        for item in self._items():
            if item.data(0, _VALUE) in wanted:
                item.setCheckState(0, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        self.list.blockSignals(False)
        self.list.viewport().update()

    @property
    def found(self) -> list[Any]:
        """What is shown for the words that were typed; nothing, where none were."""
        typed = bool(self.search.text().strip())
        return [item.data(0, _VALUE) for item in self._items() if typed and not item.isHidden()]

    @Slot()
    def narrow(self) -> None:
        """Show what fits the words that were typed."""
        words = self.search.text()
        for item in self._items():
            item.setHidden(not matches(item.text(0), words))

    def _items(self) -> list[QTreeWidgetItem]:
        found = (self.list.topLevelItem(place) for place in range(self.list.topLevelItemCount()))
        return [item for item in found if item is not None]


def _is_checked(item: QTreeWidgetItem) -> bool:
    return item.checkState(0) is Qt.CheckState.Checked
