"""The list of clusters, worked through by keyboard alone."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.ui.discover.clusters_model import NAME, ROWS, ClustersModel
from sce_desktop.ui.kit.directed_cells import DirectedCells


class ClustersList(QTreeView):
    """Up and Down go through; Enter renames, Space accepts, A, M, Del and Ctrl+Z as `keyPressEvent` says."""

    shown = Signal()  # another cluster is the current one

    def __init__(self, model: ClustersModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clusters = model
        self.setModel(model)
        self.setAccessibleName(_("Suggested labels"))
        self.setAccessibleDescription(
            _("Space accepts, Enter renames, A takes another name, M merges, Del drops")
        )
        self.setItemDelegate(DirectedCells(self))
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.header().setStretchLastSection(False)
        self.header().setSectionsMovable(False)
        self.header().setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(ROWS, QHeaderView.ResizeMode.ResizeToContents)
        self.selectionModel().currentRowChanged.connect(lambda _now, _before: self.shown.emit())

    @property
    def place(self) -> int:
        """Which cluster is the current one; -1: none."""
        return self.currentIndex().row()

    @property
    def chosen(self) -> list[int]:
        """The selected clusters, from the top."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def go_to(self, place: int) -> None:
        """Make a cluster the current one, or the last one that there is."""
        last = self._clusters.rowCount() - 1
        if last >= 0:
            index = self._clusters.index(min(max(place, 0), last), NAME)
            how = QItemSelectionModel.SelectionFlag
            self.selectionModel().setCurrentIndex(index, how.ClearAndSelect | how.Rows)
        self.shown.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do what the key stands for; all others go on as usual."""
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        place = self.place
        if self.state() is QAbstractItemView.State.EditingState:
            event.accept()  # the field passes Enter on, which is done with
        elif event.matches(QKeySequence.StandardKey.Undo):
            if self._clusters.undo():
                self.go_to(place)
        elif not plain or place < 0:
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.edit(self._clusters.index(place, NAME))
        elif event.key() == Qt.Key.Key_Space:
            self._clusters.accept(self.chosen or [place])
        elif event.key() == Qt.Key.Key_A:
            self._clusters.next_name(place)
        elif event.key() == Qt.Key.Key_M:
            self.merge()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.drop()
        else:
            super().keyPressEvent(event)

    def merge(self) -> None:
        """Merge the selected clusters into the largest of them; one alone with the one above it."""
        chosen = self.chosen
        if len(chosen) == 1 and chosen[0] > 0:
            chosen = [chosen[0] - 1, chosen[0]]
        if len(chosen) > 1:
            self._clusters.merge(chosen[0], chosen[1:])
            self.go_to(chosen[0])

    def drop(self) -> None:
        """Take the selected clusters out."""
        chosen = self.chosen
        if chosen:
            self._clusters.drop(chosen)
            self.go_to(chosen[0])
