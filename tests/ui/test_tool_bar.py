"""The tool bar in the program's own window, narrow and with all that makes it long."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from sce_desktop.app import make_window
from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.training import Fit
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.theme import Mode
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.run_bar import RunBar
from sce_desktop.ui.window.tool_bar import ToolBar
from tests.ui.conftest import MakeProject
from tests.ui.panels import add_version, open_in, settle

BASE = "paketdienst-kundenrueckmeldungen-jahrgang-2026"
TITLE = f"{BASE} + version 1 (joint)"
NAME = "Rückmeldungen Paketdienst"
LABELS = (
    "Lieferverzögerung trotz fest zugesagtem Zustelltermin",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenversandverzögerung",
    "Beschädigte Verpackung, Inhalt vollständig und brauchbar",
)
WRONG = "The pattern is not one that can be searched: a bracket is open at its fourth place."


@pytest.fixture
def window(
    qtbot: QtBot,
    controllers: Controllers,
    theme: Theme,
    make_project: MakeProject,
    monkeypatch: pytest.MonkeyPatch,
) -> MainWindow:
    """A project of a long name that uses a version of a long name, and the whole table; an LLM beside it."""
    monkeypatch.setattr(work.ModelCache, "load", lambda *_, **__: [])
    monkeypatch.setattr(work, "score", lambda *_, **__: [])
    on_screen(monkeypatch, 1920)
    path = make_project(NAME, labels=LABELS)
    with Project.open(path) as project:
        project.activate_version(add_version(project, Fit(), base=f"/models/{BASE}").id)
        project.use_whole_table(True)
    window = make_window(controllers, theme)
    qtbot.addWidget(window, before_close_func=lambda _: setattr(window, "_settled", True))
    window.show()
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    return window


def on_screen(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    screen = SimpleNamespace(availableSize=lambda: QSize(width, 1080))
    monkeypatch.setattr(ToolBar, "screen", lambda _: screen)


def resize(qtbot: QtBot, window: MainWindow, width: int) -> None:
    window.resize(width, 700)
    qtbot.waitUntil(lambda: window.tool_bar.width() == window.width())
    qtbot.wait(1)


def run_bar(window: MainWindow) -> RunBar:
    (found,) = window.findChildren(RunBar)
    return found


def cut(window: MainWindow) -> list[str]:
    """What is not wholly to be seen in the tool bar, by name; what may be cut says so by an ellipsis."""
    bar, scoring = window.tool_bar, run_bar(window)
    shown = [bar.widgetForAction(action) for action in bar.actions() if action.isVisible()]
    buttons = (scoring.score_button, scoring.baseline_button, scoring.llm_button, scoring.device_button)
    squeezed = [
        button for button in buttons if button.width() < (button.minimumWidth() or button.sizeHint().width())
    ]
    hidden = [one for one in shown if not one.isVisible() or not bar.rect().contains(one.geometry())]
    (extension,) = bar.findChildren(QToolButton, "qt_toolbar_ext_button")
    return [one.accessibleName() for one in (*hidden, *squeezed)] + ["extension"] * extension.isVisible()


def plain(_window: MainWindow) -> None:
    pass


def with_an_llm(window: MainWindow) -> None:
    window._controllers.scorer.show_baseline("llm:some")
    assert run_bar(window).llm_button.text() == "LLM: visible ✓ ▾"


def with_a_wrong_search(window: MainWindow) -> None:
    window._controllers.navigation.queryFailed.emit(WRONG)


@pytest.mark.parametrize("state", [plain, with_an_llm, with_a_wrong_search])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_nothing_is_cut_off_however_narrow_the_window(
    qtbot: QtBot, window: MainWindow, theme: Theme, mode: Mode, state: Callable[[MainWindow], None]
) -> None:
    theme.set_mode(mode)
    state(window)
    for width in (1600, 1280, 1100, 1000):
        resize(qtbot, window, width)
        assert window.width() == width
        assert cut(window) == [], width
    resize(qtbot, window, 1)
    assert window.width() == window.minimumSizeHint().width() < 1000
    assert cut(window) == []


def test_what_gives_way_is_whole_again_where_there_is_room(qtbot: QtBot, window: MainWindow) -> None:
    bar, model = window.tool_bar, run_bar(window).model_button
    resize(qtbot, window, 1000)
    assert bar.search.width() < 220
    assert model.text().startswith("pa")
    assert "…" in model.text()
    assert model.text().endswith(" 1 (joint) ▾")
    assert model.toolTip() == f"Model: {TITLE}"
    assert model.accessibleDescription() == TITLE
    assert bar.name.text().endswith("…")
    assert window._controllers.workspace.project is not None
    assert bar.name.toolTip() == f"{NAME}\n{window._controllers.workspace.project.path}"
    assert not bar.rows.isVisible()
    window._controllers.scorer.use_version(None, score=False)
    qtbot.waitUntil(lambda: model.text() == "sce-mini (joint) ▾")
    resize(qtbot, window, 1600)
    assert bar.search.width() == 220
    assert bar.name.text() == NAME
    assert bar.name.toolTip() == str(window._controllers.workspace.project.path)
    assert bar.rows.isVisible()


def test_a_wrong_search_does_not_push_the_window(qtbot: QtBot, window: MainWindow) -> None:
    resize(qtbot, window, 1)
    width = window.width()
    with_a_wrong_search(window)
    qtbot.wait(1)
    assert window.width() == width
    assert window.tool_bar.search.toolTip() == WRONG


def test_a_small_screen_holds_the_window(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_screen(monkeypatch, 800)
    window.tool_bar.updateGeometry()
    qtbot.wait(1)
    resize(qtbot, window, 1)
    assert window.width() == 800
    assert {"Export", "extension"} <= set(cut(window))  # Qt's arrow leads to it


def test_the_switch_of_regular_expressions_looks_pressed(window: MainWindow) -> None:
    pattern = window.tool_bar.pattern
    off = pattern.grab().toImage()
    pattern.setChecked(True)
    assert pattern.grab().toImage() != off
    pattern.setChecked(False)
    assert pattern.grab().toImage() == off
