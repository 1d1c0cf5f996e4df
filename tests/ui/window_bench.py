"""A main window with panels and dialogs that only note what they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.parts import Parts
from sce_desktop.ui.window.main_window import MainWindow


class Panel(QWidget):
    """A panel with a text field, as every real one has."""

    def __init__(self, controllers: Controllers) -> None:
        super().__init__()
        self.field = QLineEdit()
        self.field.setAccessibleName("Field")
        layout = QVBoxLayout(self)
        layout.addWidget(QLabel("Panel"))
        layout.addWidget(self.field)


class Asked(QDialog):
    """A dialog that notes what it was opened for."""

    opened: list[tuple[Path | None, bool]] = []  # noqa: RUF012 - emptied by the fixture
    message = ""  # to the last one

    def __init__(
        self,
        controllers: Controllers,
        path: Path | None = None,
        *,
        append: bool = False,
        message: str = "",
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        Asked.message = message
        Asked.opened.append((path, append))


MakeWindow = Callable[[], MainWindow]


@pytest.fixture(name="make_window")
def make_window_fixture(controllers: Controllers, theme: Theme, tmp_path: Path) -> Iterator[MakeWindow]:
    Asked.opened = []
    windows: list[MainWindow] = []

    def make() -> MainWindow:
        window = MainWindow(
            controllers,
            Parts(Panel, Panel, Panel, Panel, Panel, import_dialog=Asked, export_dialog=Asked),
            theme,
            recent=RecentProjects(tmp_path / "recent.json"),
            state=QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat),
        )
        window.show()
        windows.append(window)
        return window

    yield make
    for window in filter(isValid, windows):
        window._settled = True  # the fixture ends the work
        window.close()
        window.deleteLater()


@pytest.fixture(name="window")
def window_fixture(make_window: MakeWindow) -> MainWindow:
    return make_window()


def open_in(qtbot: QtBot, window: MainWindow, path: Path) -> Controllers:
    controllers = window._controllers
    with qtbot.waitSignal(controllers.workspace.countsChanged):
        window.open_path(path)
    return controllers


def action(window: MainWindow, text: str) -> QAction:
    return next(a for a in window.findChildren(QAction) if a.text().replace("&", "").rstrip("…") == text)
