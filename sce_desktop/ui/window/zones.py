"""Where things are in the window: pages with the panels below, and beside them the row at full height."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QSplitter, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.theme import px

_STATE_VERSION = 3  # of the dock; raise it when it is renamed
_ROW_WIDTH, _LEAST_ROW = 322, 250
_SIDES = (
    Qt.DockWidgetArea.BottomDockWidgetArea,
    Qt.DockWidgetArea.RightDockWidgetArea,
    Qt.DockWidgetArea.TopDockWidgetArea,
    Qt.DockWidgetArea.LeftDockWidgetArea,
)


class Zones(QSplitter):
    """The row panel keeps the height of the window whatever panel is open: its text and labels come first."""

    def __init__(self, pages: QWidget, panels: QDockWidget, row: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setAccessibleName(_("Zones"))
        self.setChildrenCollapsible(False)
        self._row = row
        self._panels = panels
        self._row_wanted = True
        self._project: bool | None = None
        self._deck = QMainWindow()
        self._deck.setWindowFlags(Qt.WindowType.Widget)
        self._deck.setAccessibleName(_("Rows and panels"))
        self._deck.setCentralWidget(pages)
        self._deck.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, panels)
        row.setMinimumWidth(px(_LEAST_ROW))
        self.addWidget(self._deck)
        self.addWidget(row)
        self.setStretchFactor(0, 3)
        self.setStretchFactor(1, 1)
        self._sizes = [px(1280 - _ROW_WIDTH), px(_ROW_WIDTH)]  # with the row panel
        self.setSizes(self._sizes)

    def set_project_open(self, on: bool) -> None:
        """Show the row panel, unless the user has closed it; without a project it is not there."""
        if on == self._project:
            return
        if self._project:
            self._row_wanted = not self._row.isHidden()
            self._sizes = self.sizes() if self._row_wanted else self._sizes
        self._project = on
        self._row.setVisible(on and self._row_wanted)
        if on and self._row_wanted:
            self.setSizes(self._sizes)  # hidden while the window was laid out, it would begin with none

    def move_panels(self) -> None:
        """Dock the panels at the next side of the rows, as dragging their title does."""
        self._panels.setFloating(False)
        here = self._deck.dockWidgetArea(self._panels)
        at = _SIDES.index(here) if here in _SIDES else -1
        self._deck.addDockWidget(_SIDES[(at + 1) % len(_SIDES)], self._panels)

    def save(self, state: QSettings) -> None:
        """Note where everything is."""
        state.setValue("docks", self._deck.saveState(_STATE_VERSION))
        state.setValue("beside", self.saveState())

    def restore(self, state: QSettings) -> None:
        """Put everything where it was; the file may hold anything."""
        if isinstance(docks := state.value("docks"), QByteArray):
            self._deck.restoreState(docks, _STATE_VERSION)
        if isinstance(beside := state.value("beside"), QByteArray):
            self.resize(self.window().size())  # not laid out yet: in a small one the row takes a larger share
            self.restoreState(beside)
            self._sizes = self.sizes() if all(self.sizes()) else self._sizes
