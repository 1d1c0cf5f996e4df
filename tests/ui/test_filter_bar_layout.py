"""How the filter bar is laid out: on one line as long as it goes, and no more often than it has to be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.query import CellFilter, RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.rows.filter_bar import FilterBar
from tests.ui.conftest import MakeProject
from tests.ui.filter_bar_bench import bar_fixture, entries, opened_fixture  # noqa: F401
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, score_no_edits, settle


def test_chips_go_to_a_second_line_where_there_is_no_room(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    flow = FlowLayout(box, gap=4)
    chips = [QPushButton("x") for _ in range(4)]
    for chip in chips:
        chip.setFixedSize(QSize(50, 20))
        flow.addWidget(chip)
    assert flow.heightForWidth(220) == 20
    assert flow.heightForWidth(105) == 44
    flow.setGeometry(QRect(0, 0, 105, 44))
    assert [chip.y() for chip in chips] == [0, 0, 24, 24]
    chips[1].hide()
    chips[0].show()
    flow.setGeometry(QRect(0, 0, 220, 44))
    assert flow.sizeHint().width() == 3 * 50 + 2 * 4


def test_in_a_narrow_window_the_menu_has_what_has_no_chip(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar
) -> None:
    opened.resize(300, 60)
    assert not opened.unlabelled.isVisible()
    entries(opened.more_menu())["Unlabelled  5"].trigger()
    assert controllers.navigation.query.state is RowState.UNLABELLED
    assert opened.more.text() == "Unlabelled ▾"
    opened.resize(760, 60)
    assert opened.unlabelled.isChecked()
    assert opened.more.text() == "More ▾"


def test_the_chips_say_less_before_they_take_a_second_line(opened: FilterBar) -> None:
    chips = [opened.all, opened.disagree, opened.unlabelled, opened.flagged, opened.confidence, opened.more]

    def lines() -> int:
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        return len({chip.y() for chip in chips})

    opened.resize(1000, 60)
    whole = opened._needed()
    words = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    for width, short, bare in ((whole, False, False), (whole - 1, True, False), (whole - 120, True, True)):
        opened.resize(width, 60)
        assert lines() == 1, width
        assert opened.confidence.text() == ("Below 60%" if short else "Confidence < 60%")
        assert (opened.order.toolButtonStyle() is not words) is bare
        assert opened.confidence.accessibleName() == "Confidence < 60%"
        assert opened.order.toolTip() == "Order of rows: File order"
    opened.resize(1000, 60)
    assert opened.confidence.text() == "Confidence < 60%"


def test_the_rows_stay_where_they_are_when_a_chip_finds_room_on_the_line(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar
) -> None:
    window, rows = QWidget(), QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.addWidget(opened)
    column.addWidget(rows, 1)
    window.resize(2_000, 400)
    window.show()
    filtered = RowQuery(cells=(CellFilter(0, contains="parcel"),))

    def ask(query: RowQuery) -> None:
        controllers.navigation.set_query(query)
        settle(qtbot, controllers)
        QApplication.processEvents()

    ask(filtered)
    around = window.width() - opened.width()
    width = opened._needed() - 1 + around
    ask(RowQuery())
    window.resize(width, 400)  # room for the chip once others say less
    QApplication.processEvents()
    moved: list[int] = []

    class Watch(QObject):
        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
            if isinstance(event, QResizeEvent):
                moved.append(event.size().height())
            return False

    watch = Watch()
    rows.installEventFilter(watch)
    ask(filtered)
    (chip,) = opened.columns.chips
    assert chip.isVisible()
    assert chip.y() == opened.all.y()
    assert moved == []
    opened.setParent(None)  # its fixture has it


def test_the_bar_is_laid_out_where_what_it_says_changes(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_no_edits(controllers)  # new runs are said, too
    qtbot.waitUntil(lambda: opened.disagree.text().endswith("isagree 1"))
    settle(qtbot, controllers)
    laid_out: list[str] = []
    needed = FilterBar._needed

    def noted(self: FilterBar) -> int:
        laid_out.append(self.order.text())
        return needed(self)

    monkeypatch.setattr(FilterBar, "_needed", noted)

    def rename(name: str) -> None:
        labels = list(controllers.workspace.labels)
        labels[0] = replace(labels[0], name=name)
        controllers.edits.set_labels(labels)
        settle(qtbot, controllers)

    rename("another name")
    opened._count_disagreement()
    settle(qtbot, controllers)
    assert laid_out == []
    first = controllers.workspace.labels[0].id or 0
    controllers.navigation.set_query(RowQuery(label_ids=(first,)))
    assert opened.more.text() == "You: another name ▾"
    laid_out.clear()
    rename("a third name")
    assert opened.more.text() == "You: a third name ▾"
    assert laid_out


def test_opening_lays_the_bar_out_a_few_times(
    qtbot: QtBot,
    controllers: Controllers,
    bar: FilterBar,
    make_project: MakeProject,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0, 1, 2, 0])
    asked: list[str] = []
    fit = FilterBar._fit

    def noted(self: FilterBar) -> None:
        asked.append(self.all.text())
        fit(self)

    monkeypatch.setattr(FilterBar, "_fit", noted)
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    assert bar.all.text() == "All 5"
    assert bar.confidence.isEnabled()
    assert len(asked) <= 4
