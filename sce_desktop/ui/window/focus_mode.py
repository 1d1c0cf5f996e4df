"""Entering and leaving focus mode: the window as it was before, when one comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from sce_desktop.ui.focus.focus_view import FocusView
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.rows.table_place import TablePlace


class FocusMode(QObject):
    """Shows the focus view in place of the workspace. It is made when it is first wanted."""

    changed = Signal(bool)  # it is on, or off

    def __init__(
        self,
        pages: QStackedWidget,
        home: QWidget,
        rows: QWidget,
        row: QWidget,
        make: Callable[[], FocusView],
        aside: Callable[[], Sequence[QWidget]],
        parent: QObject,
    ) -> None:
        """``home`` is the page to come back to; ``aside`` says what is hidden meanwhile, front one last."""
        super().__init__(parent)
        self._pages = pages
        self._home = home
        self._rows = rows
        self._row = row
        self._make = make
        self._aside = aside
        self.view: FocusView | None = None
        self.on = False
        self._hidden: list[QWidget] = []
        self._place: TablePlace | None = None

    @Slot()
    def toggle(self) -> None:
        """Enter or leave it."""
        self.leave() if self.on else self.enter()

    def enter(self) -> None:
        """Show the current row alone; not without a project."""
        if self.on or self._pages.currentWidget() is not self._home:
            return
        if self.view is None:
            self.view = self._make()
            self._pages.addWidget(self.view)
            self.view.leaveAsked.connect(self.leave)
        self._place = TablePlace.of(self._rows) if isinstance(self._rows, RowsView) else None
        self._hidden = [widget for widget in self._aside() if not widget.isHidden()]
        for widget in self._hidden:
            widget.hide()
        self.on = True
        if isinstance(self._row, RowPanel):
            self._row.set_active(False)  # nobody sees it
        self._pages.setCurrentWidget(self.view)
        self.view.begin()
        self.changed.emit(True)

    @Slot()
    def leave(self) -> None:
        """Show the table again, as it was."""
        if not self.on or self.view is None:
            return
        self.on = False
        self.view.end()
        if isinstance(self._row, RowPanel):
            self._row.set_active(True)
        for widget in self._hidden:
            widget.show()
        if self._hidden:
            self._hidden[-1].raise_()
        self._hidden = []
        if self._pages.currentWidget() is self.view:  # else the project was closed
            self._pages.setCurrentWidget(self._home)
            self._restore()
            QTimer.singleShot(0, self, self._restore)  # when panels have their height again
            self._table().setFocus(Qt.FocusReason.OtherFocusReason)  # where the keys that decide work
        self.changed.emit(False)

    def _table(self) -> QWidget:
        return self._rows.table if isinstance(self._rows, RowsView) else self._rows

    @Slot()
    def _restore(self) -> None:
        if self._place is not None and isinstance(self._rows, RowsView) and not self.on:
            self._place.restore(self._rows)
