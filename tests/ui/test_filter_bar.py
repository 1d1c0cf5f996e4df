"""The filter bar: chips are steps of the query, and follow it whoever changes it."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.labels_dialog import LabelsDialog
from sce_desktop.ui.rows.filter_bar import FilterBar
from tests.ui.conftest import MakeProject
from tests.ui.filter_bar_bench import bar_fixture, entries, opened_fixture  # noqa: F401
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, score_no_edits, settle
from tests.ui.wiring import wired


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
