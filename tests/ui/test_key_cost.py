"""What a key that labels costs the window: counted, not timed, so that a busy machine says the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPaintEvent, QRegion
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.choices import Counts
from sce_desktop.store.project import Project
from sce_desktop.ui.labels.labels_model import LabelsModel
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_view import RowsView
from tests.store.statements import statements
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.wiring import wired


class Seen(QObject):
    """What was painted of a widget, and how often it was asked for a new layout."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.painted, self.layouts = QRegion(), 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.painted += event.region()
        self.layouts += event.type() is QEvent.Type.LayoutRequest
        return False


@pytest.fixture
def window(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> tuple[RowsView, RowPanel]:
    path = make_project(texts=[f"a text of number {n}" for n in range(12)], labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [n % len(LABELS) for n in range(12)])
    rows, panel = wired(RowsView, controllers)(), wired(RowPanel, controllers)()
    for widget in (rows, panel):
        qtbot.addWidget(widget)
        widget.resize(600, 900)
        widget.show()
        qtbot.waitExposed(widget)
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    for _ in range(2):  # until nothing comes for the first time
        panel.choose_label(controllers.workspace.labels[0].id)
        settle(qtbot, controllers)
        QApplication.processEvents()
    return rows, panel


def test_two_rows_of_the_table_are_painted(
    qtbot: QtBot, controllers: Controllers, window: tuple[RowsView, RowPanel]
) -> None:
    rows, panel = window
    here = rows.table.currentIndex().row()
    seen = Seen(rows.table.viewport())
    panel.choose_label(controllers.workspace.labels[1].id)
    high = rows.table.rowHeight(here)
    top = rows.table.rowViewportPosition(here)
    qtbot.waitUntil(lambda: not seen.painted.isEmpty())
    assert rows.table.currentIndex().row() == here + 1
    box = seen.painted.boundingRect()
    assert (box.top(), box.height()) == (top, 2 * high)
    settle(qtbot, controllers)


def test_three_transactions_are_enough(
    qtbot: QtBot, controllers: Controllers, window: tuple[RowsView, RowPanel]
) -> None:
    _rows, panel = window
    assert controllers.workspace.project is not None
    with statements(controllers.workspace.project) as told:
        panel.choose_label(controllers.workspace.labels[1].id)
    assert sum(one.startswith("BEGIN") for one in told) == 3, "\n".join(told)
    settle(qtbot, controllers)


def test_what_stands_beside_the_text_is_not_laid_out_again(
    qtbot: QtBot, controllers: Controllers, window: tuple[RowsView, RowPanel]
) -> None:
    _rows, panel = window
    QApplication.sendPostedEvents()
    seen = Seen(panel.last)
    panel.choose_label(controllers.workspace.labels[0].id)
    QApplication.sendPostedEvents()
    assert panel.last.words.text() == f"Row 3: {LABELS[0]}"
    assert seen.layouts == 0
    settle(qtbot, controllers)


def test_only_labels_whose_counts_changed_are_painted(
    controllers: Controllers, window: tuple[RowsView, RowPanel]
) -> None:
    model = wired(LabelsModel, controllers)()
    counts = controllers.workspace.counts
    assert isinstance(counts, Counts)
    second = controllers.workspace.labels[1].id
    assert second is not None
    changed: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last, _roles: changed.append((first.row(), last.row())))
    more = {**counts.labels, second: counts.labels.get(second, 0) + 1}
    controllers.workspace.counts = replace(counts, labels=more)
    controllers.workspace.countsChanged.emit()
    assert changed == [(1, 1)]
