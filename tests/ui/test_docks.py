"""Docks: their panels come when they are looked at, and go with the project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, QSize
from PySide6.QtWidgets import QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.parts import DockPart, Parts
from sce_desktop.ui.kit.theme import px
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject

built: list[str] = []


class _High(QLabel):
    """A panel that would like to be very high."""

    def sizeHint(self) -> QSize:
        return QSize(400, 1500)


def _maker(name: str) -> Callable[[Controllers], QWidget]:
    def make(controllers: Controllers) -> QWidget:
        built.append(name)
        return _High(name) if name == "Second" else QLabel(name)

    return make


@pytest.fixture
def window(controllers: Controllers, theme: Theme, tmp_path: Path) -> Iterator[MainWindow]:
    built.clear()

    def plain(_session: Controllers) -> QWidget:
        return QWidget()

    window = MainWindow(
        controllers,
        Parts(
            *(plain,) * 5,
            import_dialog=None,  # type: ignore[arg-type]
            export_dialog=None,  # type: ignore[arg-type]
            docks=(
                DockPart("First", "First", "Ctrl+1", _maker("First")),
                DockPart("Second", "Second", "", _maker("Second")),
            ),
        ),
        theme,
        recent=RecentProjects(tmp_path / "recent.json"),
        state=QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat),
    )
    window.show()
    yield window
    window._settled = True
    window.close()
    window.deleteLater()


def _open(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    with qtbot.waitSignal(window._controllers.workspace.countsChanged):
        window.open_path(path)


def tabs(window: MainWindow) -> list[str]:
    bar = window.panels.tabs
    return [bar.tabText(place) for place in range(bar.count()) if bar.isTabVisible(place)]


def test_a_panel_is_built_when_it_is_first_shown(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    _open(qtbot, window, make_project())
    assert built == []
    first = window.docks["First"]
    first.toggle()
    qtbot.waitUntil(lambda: first.seen)
    first.toggle()
    assert not first.isVisible()
    first.toggle()
    assert built == ["First"]


def test_a_panel_behind_a_tab_comes_to_the_front(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    _open(qtbot, window, make_project())
    first, second = window.docks["First"], window.docks["Second"]
    first.bring()
    second.bring()
    qtbot.waitUntil(lambda: second.seen and not first.seen)
    first.toggle()
    qtbot.waitUntil(lambda: first.seen and not second.seen)
    window._controllers.navigation.panelAsked.emit("Second")
    qtbot.waitUntil(lambda: second.seen)


def test_panels_of_a_project_go_and_come_with_it(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, controllers: Controllers
) -> None:
    _open(qtbot, window, make_project())
    window.docks["First"].bring()
    assert tabs(window) == ["First", "Second", "Jobs and log"]
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert window.panels.isHidden()
    assert tabs(window) == ["Jobs and log"]  # what needs no project
    window.docks["Jobs and log"].bring()
    window.close_panels()
    _open(qtbot, window, make_project("Other"))
    qtbot.waitUntil(lambda: window.docks["First"].seen)


@pytest.mark.parametrize("by", ["all", "its key", "its button"])
def test_a_panel_that_is_put_away_gives_the_keys_back_to_the_rows(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, controllers: Controllers, by: str
) -> None:
    _open(qtbot, window, make_project())
    window.activateWindow()
    first = window.docks["First"]
    first.bring()
    close = next(b for b in window.panels.findChildren(QToolButton) if b.toolTip() == "Close (Ctrl+0)")
    close.setFocus()
    qtbot.waitUntil(close.hasFocus)
    with qtbot.waitSignal(controllers.navigation.rowsFocusAsked):
        {"all": window.close_panels, "its key": first.toggle, "its button": close.click}[by]()
    assert window.panels.isHidden()
    first.bring()
    with qtbot.assertNotEmitted(controllers.navigation.rowsFocusAsked):  # the keys are for something else
        window.close_panels()


@pytest.mark.parametrize("front", ["First", "Second", "Jobs and log"])
def test_the_next_project_opens_on_the_panel_that_was_seen(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, controllers: Controllers, front: str
) -> None:
    _open(qtbot, window, make_project())
    for title in ("First", "Second", "Jobs and log", front):
        window.docks[title].bring()
    qtbot.waitUntil(lambda: window.docks[front].seen)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    _open(qtbot, window, make_project("Other"))
    qtbot.waitUntil(lambda: window.docks[front].seen)
    assert [name for name, page in window.docks.items() if page.seen] == [front]


def test_a_project_opens_on_no_panel_where_none_was_shown(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    _open(qtbot, window, make_project())
    assert window.panels.isHidden()
    assert built == []


def test_one_command_closes_all_panels_and_opens_them_again(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, controllers: Controllers
) -> None:
    _open(qtbot, window, make_project())
    for dock in window.docks.values():
        dock.bring()
    window.docks["Second"].bring()
    window.panels.setFloating(True)
    (action,) = (a for a in window.menus.all_actions() if a.text() == "&Close or reopen panels")
    assert action.shortcut().toString() == "Ctrl+0"
    action.trigger()
    assert window.panels.isHidden()
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    _open(qtbot, window, make_project("Other"))
    assert window.panels.isHidden()  # closed is closed
    action.trigger()
    qtbot.waitUntil(lambda: window.docks["Second"].seen)
    assert window.panels.isFloating()
    window.panels.setFloating(False)


def test_a_tab_shows_its_panel(qtbot: QtBot, window: MainWindow, make_project: MakeProject) -> None:
    _open(qtbot, window, make_project())
    window.docks["First"].bring()
    assert built == ["First"]
    window.panels.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: window.docks["Second"].seen)
    assert built == ["First", "Second"]
    assert window.panels.windowTitle() == "Second"
    window.panels.toggle()
    window.panels.toggle()
    qtbot.waitUntil(lambda: window.docks["Second"].seen)


def test_every_panel_is_as_high_and_stays_so_in_another_theme(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, theme: Theme
) -> None:
    _open(qtbot, window, make_project())  # now also on the start page, hidden behind
    window.resize(px(1280), px(800))
    first, second = window.docks["First"], window.docks["Second"]
    first.bring()
    qtbot.waitUntil(lambda: abs(window.panels.height() - px(300)) <= px(6))
    height, rows = first.height(), window.workspace.height()
    second.bring()
    qtbot.waitUntil(lambda: second.seen)
    assert abs(second.height() - height) <= 2
    assert rows == window.workspace.height()
    for mode in ("dark", "light"):
        theme.set_mode(mode)
        window.start_page.refresh()
        qtbot.waitUntil(lambda: second.isVisible())
        window.grab()  # lays everything out
        assert abs(second.height() - height) <= 2
    assert window.height() == px(800)


def test_the_title_floats_and_closes_its_panel(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    _open(qtbot, window, make_project())
    window.docks["First"].bring()
    panels = window.panels
    buttons = {button.toolTip(): button for button in panels.findChildren(QToolButton)}
    buttons["Float or dock"].click()
    assert panels.isFloating()
    buttons["Float or dock"].click()
    assert not panels.isFloating()
    assert panels.isVisible()
    buttons["Close (Ctrl+0)"].click()
    assert panels.isHidden()
