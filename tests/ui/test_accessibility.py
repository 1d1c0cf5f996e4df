"""Every window, dialog and panel: names, roles, the order of Tab, visible focus, and no mnemonic twice.

`tests.atspi` asks the same of the real program from outside, by what a screen reader is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.crashes import Crash
from sce_desktop.core.annotations import Decision
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.spoken import speak_widgets
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui import accessible
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, score_no_edits, settle

# Actions that leave the project, or need a model or another program.
NOT_TRIGGERED = {
    "Close project", "Try the sample", "Quit", "Open the log folder", "Score", "Stop scoring", "Full screen",
    "Start reviewing", "Undo", "Redo", "Pause or resume scoring", "Command palette", "Find",
}  # fmt: skip


@pytest.fixture
def scored(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> MainWindow:
    """The window with a scored project of forty rows, three of them labelled."""
    path = make_project(texts=tuple(f"Text {n}" for n in range(40)), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [n % 3 for n in range(40)])
        give_scores(project, [n % 2 for n in range(40)], alias="similarity")
    project = open_in(qtbot, controllers, path)
    score_no_edits(controllers)
    for row, label in enumerate(controllers.workspace.labels):
        controllers.edits.decide([row + 2], Decision.LABEL, [label.id or 0])
    settle(qtbot, controllers)
    return real_window


def close_dialogs() -> None:
    for top in QApplication.topLevelWidgets():
        if isinstance(top, QDialog) and top.isVisible():
            top.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def idle(controllers: Controllers) -> bool:
    """Whether all has been read that is shown; a model, which takes long to load, is not waited for."""
    workers = controllers.workspace.workers
    return not any(worker.busy for worker in (workers.reads, workers.orders, workers.files))


def dialogs(window: MainWindow) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what opens each dialog, by name."""
    for action in window.menus.all_actions():
        dialog = action.isEnabled() and not action.isCheckable() and not action.isSeparator()
        if dialog and action.objectName() not in NOT_TRIGGERED:
            yield action.objectName(), action.trigger
    yield "crash", lambda: window.crash_reports.show_crash(Crash("Trace", "…"))
    labels = window.workspace.labels
    assert isinstance(labels, LabelsPanel)
    yield "label", labels.show_details
    yield "several labels", partial(select_and_merge, labels)


def select_and_merge(labels: LabelsPanel) -> None:
    labels.list.selectAll()
    labels.merge_selected()


def visit(
    qtbot: QtBot, controllers: Controllers, window: MainWindow, table: Path
) -> Iterator[tuple[str, QWidget]]:
    """Yield every window, panel and dialog, while it is shown."""
    for name in window.docks:
        window.show_panel(name)
        qtbot.waitUntil(lambda: idle(controllers))
        yield f"panel {name}", window
    window.close_panels()
    window.focus.enter()
    qtbot.waitUntil(lambda: idle(controllers))
    yield "focus mode", window
    window.focus.leave()
    openers = [*dialogs(window), ("import", lambda: window.open_path(table))]
    for name, show in openers:
        show()
        qtbot.waitUntil(lambda: idle(controllers))
        for top in QApplication.topLevelWidgets():
            ours = top.isVisible() and top is not window and top.isWindow()
            if ours and not isinstance(top, QFileDialog | QMenu):  # the first is Qt's own
                yield f"{name}: {type(top).__name__}", top
        close_dialogs()
        qtbot.waitUntil(lambda: idle(controllers))
    window.close_panels()


def test_every_control_has_name_role_place_and_visible_focus(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow, tmp_path: Path, qapp: QApplication
) -> None:
    speak_widgets(qapp)
    table = tmp_path / "more.csv"
    table.write_text("ref,text\n1,Late again\n2,Broken box\n", encoding="utf-8")
    found: dict[str, list[str]] = {"names": [], "keys": [], "order": [], "focus": [], "mnemonics": []}
    drawn: set[QWidget] = set()
    seen: list[str] = []
    for scene, top in visit(qtbot, controllers, scored, table):
        seen.append(scene)
        top.activateWindow()
        QApplication.processEvents()
        for kind, problems in (
            ("names", accessible.unnamed(top)),
            ("keys", accessible.unreachable(top)),
            ("order", accessible.out_of_order(top)),
            ("focus", accessible.without_visible_focus(top, drawn)),
            ("mnemonics", accessible.twice(top)),
        ):
            found[kind] += [f"{kind}: {scene}: {problem}" for problem in problems]
    assert "\n".join(problem for kind in found.values() for problem in kind) == ""
    assert len(seen) > 25
    assert len(drawn) > 150


def test_tab_follows_a_language_that_is_read_from_right_to_left(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow, qapp: QApplication
) -> None:
    scored.show_panel("Evaluate")
    before = accessible.stops(scored)
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        settle(qtbot, controllers)
        assert list(accessible.out_of_order(scored)) == []
        assert accessible.stops(scored) != before
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_the_walk_sees_what_is_wrong(qtbot: QtBot) -> None:
    """A nameless control, a wrong order, a button without Tab and a mnemonic twice are found."""
    window = QWidget()
    qtbot.addWidget(window)
    nameless, first, second = QLineEdit(window), QPushButton("&Go", window), QPushButton("&Get", window)
    mouse_only = QPushButton("Mouse", window)
    mouse_only.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    for place, widget in enumerate((second, first, nameless, mouse_only)):
        widget.move(10, 40 * place)
    window.show()
    assert [problem.split(":")[0] for problem in accessible.unnamed(window)] == ["no name"]
    assert len(list(accessible.out_of_order(window))) == 2
    assert len(list(accessible.unreachable(window))) == 1
    assert len(list(accessible.twice(window))) == 1
