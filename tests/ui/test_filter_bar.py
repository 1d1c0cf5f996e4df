"""The filter bar: chips are steps of the query, and follow it whoever changes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.labels_dialog import LabelsDialog
from sce_desktop.ui.rows import filter_bar
from sce_desktop.ui.rows.filter_bar import FilterBar
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, score_no_edits, settle
from tests.ui.wiring import wired


@pytest.fixture
def bar(qtbot: QtBot, controllers: Controllers, monkeypatch: pytest.MonkeyPatch) -> Iterator[FilterBar]:
    monkeypatch.setattr(filter_bar, "_COUNT_MS", 0)
    bar = wired(FilterBar, controllers)()
    qtbot.addWidget(bar)
    bar.resize(760, 60)
    bar.show()
    yield bar
    settle(qtbot, controllers)


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, bar: FilterBar, make_project: MakeProject) -> FilterBar:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0, 1, 2, 0])
        give_scores(project, [0, 2, 2, 0], alias="similarity", share=0.6)
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    return bar


def entries(menu: QMenu) -> dict[str, QAction]:
    found: dict[str, QAction] = {}
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            found |= {f"{action.text()}/{text}": each for text, each in entries(inner).items()}
        elif action.text():
            found[action.text()] = action
    return found


def test_chips_show_how_many_rows_they_would_leave(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar
) -> None:
    qtbot.waitUntil(lambda: opened.disagree.text().endswith("isagree 1"))
    assert opened.all.text() == "All 5"
    controllers.edits.decide([1, 2], Decision.NONE)
    controllers.edits.set_marks([4], flag=True)
    qtbot.waitUntil(lambda: opened.unlabelled.text() == "Unlabelled 3")
    assert opened.flagged.text() == "Flagged 1"
    assert opened.disagree.accessibleName() == "Models disagree"
    assert opened.flagged.accessibleDescription() == "1 row"


def test_a_chip_is_a_step_of_the_query_and_back(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar
) -> None:
    assert opened.all.isChecked()
    opened.unlabelled.click()
    assert controllers.navigation.query.state is RowState.UNLABELLED
    opened.disagree.click()
    first, second = controllers.workspace.runs
    assert (controllers.navigation.query.disagree, controllers.navigation.query.compare) == (
        True,
        (first.id, second.id),
    )
    assert not opened.all.isChecked()
    opened.flagged.click()
    assert controllers.navigation.query.state is RowState.FLAGGED
    opened.flagged.click()
    opened.disagree.click()
    assert controllers.navigation.query == RowQuery()
    opened.unlabelled.click()
    controllers.navigation.set_query(RowQuery(search="late", state=RowState.UNLABELLED))
    opened.all.click()
    assert controllers.navigation.query == RowQuery()
    opened.all.click()
    assert opened.all.isChecked()  # a second click does not switch "all" off


def test_chips_follow_a_query_from_elsewhere(controllers: Controllers, opened: FilterBar) -> None:
    run_id = controllers.workspace.runs[0].id
    controllers.navigation.set_query(RowQuery(state=RowState.SKIPPED, run_id=run_id, confidence=(0.0, 0.35)))
    assert opened.more.text() == "Skipped ▾"
    assert opened.confidence.accessibleName() == "Confidence < 35%"
    assert opened.confidence.isChecked()
    assert opened.order.accessibleDescription() == "File order"


def test_the_confidence_slider_changes_the_query(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar
) -> None:
    opened.confidence.click()
    menu = opened.confidence_menu
    assert menu.isVisible()
    assert controllers.navigation.query.confidence == (0.0, 0.6)
    menu.slider.setValue(85)
    qtbot.waitUntil(lambda: controllers.navigation.query.confidence == (0.0, 0.85))
    menu.spin.setValue(20)
    menu.close()  # what was chosen last counts
    assert controllers.navigation.query.confidence == (0.0, 0.2)
    opened.confidence.click()
    assert controllers.navigation.query.confidence is None
    assert opened.confidence.accessibleName() == "Confidence < 20%"


def test_orders(controllers: Controllers, opened: FilterBar) -> None:
    entries(opened.order_menu())["Least confident"].trigger()
    assert (controllers.navigation.query.order, controllers.navigation.query.run_id) == (
        RowOrder.CONFIDENCE,
        controllers.workspace.runs[0].id,
    )
    assert opened.order.text() == "Least confident ▾"
    entries(opened.order_menu())["Models disagree"].trigger()
    assert controllers.navigation.query.compare == tuple(run.id for run in controllers.workspace.runs)
    entries(opened.order_menu())["Random"].trigger()
    assert controllers.navigation.query.seed
    assert opened.order.text() == "Random ▾"


def test_labels_and_other_answers_are_in_the_menu(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar
) -> None:
    entries(opened.more_menu())["SCE label/Late  2"].trigger()
    entries(opened.more_menu())["SCE label/Praise  1"].trigger()
    late, _, praise = (label.id for label in controllers.workspace.labels)
    assert controllers.navigation.query.predicted_ids == (late, praise)
    assert opened.more.text() == "2 filters ▾"
    assert entries(opened.more_menu())["SCE label/Late  2"].isChecked()
    entries(opened.more_menu())["SCE label/Any label"].trigger()
    entries(opened.more_menu())["No text  1"].trigger()
    assert controllers.navigation.query == RowQuery(blank=True)
    entries(opened.more_menu())["No text  1"].trigger()
    entries(opened.more_menu())["Models agree"].trigger()
    assert controllers.navigation.query.disagree is False
    assert opened.more.accessibleDescription() == "Models agree"


def test_rows_with_several_labels_are_in_the_menu_where_there_can_be_some(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar
) -> None:
    assert not any(name.startswith("Several") for name in entries(opened.more_menu()))
    controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    ids = [label.id for label in controllers.workspace.labels if label.id is not None]
    with qtbot.waitSignal(controllers.workspace.countsChanged):
        controllers.edits.decide([1], Decision.LABEL, ids[:2])
    entries(opened.more_menu())["Several labels  1"].trigger()
    assert controllers.navigation.query == RowQuery(state=RowState.SEVERAL)
    assert opened.more.text() == "Several labels ▾"


def test_every_one_of_200_labels_can_be_filtered_by(
    qtbot: QtBot, controllers: Controllers, bar: FilterBar, make_project: MakeProject
) -> None:
    path = make_project(texts=TEXTS, labels=tuple(f"Topic number {n}" for n in range(200)))
    with Project.open(path) as project:
        give_scores(project, [199, 0, 150, 150])
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    menu = entries(bar.more_menu())
    assert "SCE label/Topic number 39  0" in menu
    assert "SCE label/Topic number 40  0" not in menu
    menu["SCE label/Another label…"].trigger()
    (dialog,) = bar.findChildren(LabelsDialog)
    assert dialog.windowTitle() == "Filter by SCE label"
    shown = dialog.labels.list
    assert shown.topLevelItemCount() == 200
    assert not shown.findItems("Topic number 7", Qt.MatchFlag.MatchExactly)[0].icon(0).isNull()
    qtbot.keyClicks(dialog.labels.search, "15 topic")
    assert [item.text(0) for item in shown.findItems("", Qt.MatchFlag.MatchContains) if not item.isHidden()][
        :2
    ] == ["Topic number 15", "Topic number 115"]
    dialog.labels.search.setText("topic 150")
    qtbot.keyClick(dialog.labels.search, Qt.Key.Key_Return)
    label_id = controllers.workspace.labels[150].id
    assert controllers.navigation.query.predicted_ids == (label_id,)
    assert bar.more.accessibleDescription() == "SCE: Topic number 150"
    entries(bar.more_menu())["SCE label/Topic number 150  2"].trigger()  # chosen: it is in the menu
    assert controllers.navigation.query.predicted_ids == ()
    entries(bar.more_menu())["Your label/Another label…"].trigger()
    dialog = bar.findChildren(LabelsDialog)[-1]
    assert dialog.windowTitle() == "Filter by your label"
    for place in (3, 199):
        item = dialog.labels.list.topLevelItem(place)
        assert item is not None
        item.setCheckState(0, Qt.CheckState.Checked)
    dialog.accept()
    assert controllers.navigation.query.label_ids == (
        controllers.workspace.labels[3].id,
        controllers.workspace.labels[199].id,
    )


def test_filters_that_need_scores_say_so(
    qtbot: QtBot, controllers: Controllers, bar: FilterBar, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    assert not bar.disagree.isEnabled()
    assert "Needs scores" in bar.disagree.toolTip()
    assert not bar.confidence.isEnabled()
    assert not entries(bar.order_menu())["Least confident"].isEnabled()
    assert entries(bar.order_menu())["Random"].isEnabled()


def test_the_query_follows_another_run(qtbot: QtBot, controllers: Controllers, opened: FilterBar) -> None:
    opened.confidence.click()
    opened.confidence_menu.close()
    assert controllers.workspace.project is not None
    new = give_scores(controllers.workspace.project, [1, 1, 1, 1], fingerprint="new")
    controllers.scorer.refresh()
    assert controllers.navigation.query.run_id == new.id


def test_a_removed_label_leaves_the_filter(qtbot: QtBot, controllers: Controllers, opened: FilterBar) -> None:
    entries(opened.more_menu())["Your label/Praise  0"].trigger()
    score_no_edits(controllers)
    controllers.edits.set_labels(controllers.workspace.labels[:2])
    assert controllers.navigation.query.label_ids == ()


def test_the_filter_of_a_split_goes_when_it_is_undone(controllers: Controllers, opened: FilterBar) -> None:
    label_id = controllers.workspace.labels[0].id or 0
    controllers.edits.decide([1, 3], Decision.LABEL, [label_id])
    waiting = RowQuery(former_ids=(label_id,))
    controllers.edits.split_label(
        label_id, [Label("one"), Label("two")], then=lambda: controllers.navigation.set_query(waiting)
    )
    assert opened.more.text().startswith("Label no longer in use")
    controllers.edits.undo()
    assert controllers.navigation.query == RowQuery()
    assert "no longer" not in opened.more.text()


def test_an_ampersand_in_a_label_stays(
    qtbot: QtBot, controllers: Controllers, bar: FilterBar, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=("R&D", "Other")))
    assert "Your label/R&&D  0" in entries(bar.more_menu())


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
    qtbot.waitUntil(lambda: opened.disagree.text().endswith("isagree 1"))
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


def test_chosen_rows_are_shown_in_no_order_of_the_menu(controllers: Controllers, opened: FilterBar) -> None:
    controllers.navigation.show_ids([3, 1])
    assert opened.order.text() == "Chosen rows ▾"
    assert opened.more.text() == "2 chosen rows ▾"
    assert not [text for text, action in entries(opened.order_menu()).items() if action.isChecked()]
    opened.all.click()
    assert controllers.navigation.query == RowQuery()


def test_a_count_may_end_after_the_bar_has_gone(
    qtbot: QtBot, controllers: Controllers, opened: FilterBar, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = Event()

    def slow_count(*_: Any, progress: Progress) -> int:
        go_on.wait(20)
        return 1

    monkeypatch.setattr(rows_data, "count_rows", slow_count)
    bar = wired(FilterBar, controllers)()
    bar._count_disagreement()
    assert bar._count_job is not None
    delete(bar)
    go_on.set()
    settle(qtbot, controllers)  # what goes wrong in a slot fails the test
