"""Where the tour's steps point to in the main window, and what counts as having done them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.window.run_bar import RunBar
from sce_desktop.ui.window.tour import Stop, Tour

if TYPE_CHECKING:
    from sce_desktop.ui.window.main_window import MainWindow


def tour_of(window: MainWindow, controllers: Controllers) -> Tour:
    """Return the tour of ``window``; it does not begin yet."""

    def labels() -> QWidget:
        panel = window.workspace.labels
        return panel.field if isinstance(panel, LabelsPanel) else panel

    def focus_back() -> None:
        if controllers.workspace.project is None:
            window.start_page.open_button.setFocus()
        else:
            controllers.navigation.rowsFocusAsked.emit()

    tour = Tour(
        window,
        (
            lambda: window.start_page.drop,
            labels,
            lambda: _score_button(window),
            lambda: window.workspace.row,
            lambda: window.tool_bar.export_button,
        ),
        controllers.preferences,
        is_open=lambda: controllers.workspace.project is not None,
        open_sample=controllers.projects.open_sample,
        focus_back=focus_back,
    )
    controllers.workspace.projectOpened.connect(partial(_done, tour, Stop.OPEN))
    controllers.workspace.projectClosed.connect(tour.project_closed)
    controllers.edits.decided.connect(partial(_done, tour, Stop.CHECK))
    scored, exported = partial(_done, tour, Stop.SCORE), partial(_done, tour, Stop.EXPORT)
    window.tool_bar.exportAsked.connect(exported)
    if (button := _score_button(window)) is not None:
        button.clicked.connect(scored)
    for name, heard in (("Score", scored), ("Export", exported)):
        if (action := window.findChild(QAction, name)) is not None:
            action.triggered.connect(heard)
    window.focus.changed.connect(tour.leave)
    controllers.navigation.panelAsked.connect(tour.other_work)
    return tour


def _done(tour: Tour, stop: Stop, *_arguments: object) -> None:
    tour.done(stop)


def _score_button(window: MainWindow) -> QPushButton | None:
    bar = window.tool_bar.findChild(RunBar)
    return bar.score_button if bar is not None else None
