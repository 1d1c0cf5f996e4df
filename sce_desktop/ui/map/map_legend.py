"""What the colours and marks of the map mean; what is chosen here stands out there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor, QIcon, QImage, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidgetItem, QVBoxLayout, QWidget

from sce_desktop.core.i18n import _, number
from sce_desktop.ui.kit.dialog_parts import flat_list
from sce_desktop.ui.kit.theme import px, tokens
from sce_desktop.ui.map.map_raster import Mark, argb, stamp

_SHARP = 4  # icons are drawn that much larger and shrunk


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: what it stands for, as `map_work` codes it, and how its points look."""

    code: int
    name: str
    colour: str
    mark: Mark
    count: int


def mark_icon(mark: Mark, colour: str) -> QIcon:
    """A point of the map, for the legend."""
    side = px(16) * _SHARP
    pixels = np.zeros((side, side), np.uint32)
    own, _outline = stamp(mark, px(3) * _SHARP)
    pixels[tuple((own + side // 2).T)] = argb(QColor(colour).name())
    image = QImage(pixels.data, side, side, 4 * side, QImage.Format.Format_ARGB32_Premultiplied)
    return QIcon(QPixmap.fromImage(image.copy()))


class MapLegend(QWidget):
    """A list of labels with their rows; several can be chosen."""

    chosen = Signal(object)  # codes that are to stand out; none: all

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[Entry, ...] = ()
        self._theme = ""
        self.list = flat_list(_("Legend"), (_("Label"), _("Rows")))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setToolTip(_("Choose labels to highlight their rows; Esc highlights all"))
        self.list.header().hide()  # a label and a number say what they are
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.itemSelectionChanged.connect(self._on_selection)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.list)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is shown."""
        return self._entries

    def codes(self) -> list[int]:
        """What is chosen."""
        return [item.data(0, Qt.ItemDataRole.UserRole) for item in self.list.selectedItems()]

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show ``entries``; what is chosen stays so."""
        if tuple(entries) == self._entries and tokens().name == self._theme:
            return
        chosen = set(self.codes())
        self._entries, self._theme = tuple(entries), tokens().name
        self.list.blockSignals(True)
        self.list.clear()
        for entry in entries:
            item = QTreeWidgetItem([" ".join(entry.name.split()), number(entry.count)])
            item.setIcon(0, mark_icon(entry.mark, entry.colour))
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setData(0, Qt.ItemDataRole.UserRole, entry.code)
            item.setToolTip(0, entry.name)
            self.list.addTopLevelItem(item)
            item.setSelected(entry.code in chosen)
        self.list.blockSignals(False)
        if set(self.codes()) != chosen:
            self._on_selection()

    @Slot()
    def clear_choice(self) -> None:
        """Let nothing stand out."""
        self.list.clearSelection()

    @Slot()
    def _on_selection(self) -> None:
        self.chosen.emit(self.codes())
