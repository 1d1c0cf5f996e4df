"""The table and the row panel in one window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.store.project import Project
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_view import RowsView
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, score_no_edits, settle
from tests.ui.wiring import wired


class Bench(QWidget):
    """Table, panel and a text field in one window."""

    def __init__(self, controllers: Controllers) -> None:
        super().__init__()
        self.rows = wired(RowsView, controllers)()
        self.panel = wired(RowPanel, controllers)()
        self.field = QLineEdit()
        layout = QVBoxLayout(self)
        for widget in (self.rows, self.panel, self.field):
            layout.addWidget(widget)


@pytest.fixture(name="path")
def path_fixture(make_project: MakeProject) -> Path:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [1, 1, 2, 0])
        give_scores(project, [0, 2, 2, 0], alias="similarity", share=0.6)
    return path


@pytest.fixture(name="bench")
def bench_fixture(qtbot: QtBot, controllers: Controllers) -> Iterator[Bench]:
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.resize(500, 1250)
    bench.show()
    qtbot.waitExposed(bench)
    bench.activateWindow()
    yield bench
    settle(qtbot, controllers)


@pytest.fixture(name="opened")
def opened_fixture(qtbot: QtBot, controllers: Controllers, bench: Bench, path: Path) -> Bench:
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    bench.rows.table.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is bench.rows.table)
    return bench


@contextmanager
def open_bench(
    qtbot: QtBot, controllers: Controllers, path: Path, *, width: int = 500, height: int = 1100
) -> Iterator[Bench]:
    """Show the project at ``path``, with the focus in the table; edits of labels are not scored."""
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.resize(width, height)
    bench.show()
    bench.activateWindow()
    open_in(qtbot, controllers, path)
    score_no_edits(controllers)
    settle(qtbot, controllers)
    bench.rows.table.setFocus()
    qtbot.waitUntil(bench.rows.table.hasFocus)
    yield bench
    settle(qtbot, controllers)


def press(bench: Bench, key: Qt.Key) -> None:
    QTest.keyClick(QApplication.focusWidget() or bench, key)


def decided(controllers: Controllers, row_id: int) -> tuple[Decision, tuple[int, ...]] | None:
    assert controllers.workspace.project is not None
    found = controllers.workspace.project.annotations([row_id]).get(row_id)
    return None if found is None else (found.decision, found.label_ids)


def names(bench: Bench) -> list[str]:
    return [line.name for line in bench.panel.labels.shown()]
