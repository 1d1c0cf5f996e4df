"""Focus mode: one text and its labels by the keys of the table, and the window as it was on the way back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import repeats as repeats_module
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.ui.focus.focus_row import CHARACTERS
from sce_desktop.ui.focus.focus_view import FocusView
from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.guide_pages import page_for
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, score_no_edits, settle
from tests.ui.row_bench import decided

LONG = "The courier rang twice and left the parcel with a neighbour. " * 60
TEXTS = ("Two days late", "Box crushed", "", "Driver was kind", "وصلت الشحنة متأخرة", LONG)
TOPS = (1, 0, 2, 0, 1)  # of the rows with text


@pytest.fixture
def window(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> Iterator[MainWindow]:
    path = make_project(texts=TEXTS * 12, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, TOPS * 12)
        give_scores(project, (2,) * 60, alias="similarity", share=0.6)
    controllers.preferences.change_setting("digit_keys_asked", True)
    qtbot.waitExposed(real_window)
    open_in(qtbot, controllers, path)
    score_no_edits(controllers)
    settle(qtbot, controllers)
    rows(real_window).table.setFocus()
    yield real_window
    real_window.focus.leave()
    settle(qtbot, controllers)


def rows(window: MainWindow) -> RowsView:
    view = window.workspace.rows
    assert isinstance(view, RowsView)
    return view


def enter(window: MainWindow) -> FocusView:
    press(window, Qt.Key.Key_F9)
    assert window.focus.on
    view = window.focus.view
    assert view is not None
    return view


def press(
    window: MainWindow, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, key, modifier)


def caps(view: FocusView) -> dict[str, str]:
    buttons = [button for button in view.row.labels.buttons if not button.isHidden()]
    return {button.accessibleName(): button._key for button in buttons}


def test_one_key_shows_the_text_and_the_same_keys_label_it(
    window: MainWindow, controllers: Controllers
) -> None:
    view = enter(window)
    assert view.isVisible()
    assert not window.tool_bar.isVisible()
    assert view.row.text.view.toPlainText() == TEXTS[0]
    assert caps(view) == {"Damaged": "1", "Late": "2", "Praise": "3"}
    press(window, Qt.Key.Key_2)
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[0].id,))
    assert view.row.text.view.toPlainText() == TEXTS[1]
    press(window, Qt.Key.Key_Return)  # accepts the prediction, and passes over the row without text
    assert decided(controllers, 2) == (Decision.LABEL, (controllers.workspace.labels[0].id,))
    assert controllers.navigation.current_row == 4
    press(window, Qt.Key.Key_0)
    press(window, Qt.Key.Key_S)
    assert (decided(controllers, 4), decided(controllers, 5)) == ((Decision.NONE, ()), (Decision.SKIPPED, ()))
    press(window, Qt.Key.Key_K)
    press(window, Qt.Key.Key_U)
    project = controllers.workspace.project
    assert project is not None
    assert project.marks([5])[5].unsure
    press(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not project.marks([5])
    press(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert decided(controllers, 5) is None


def test_fixed_keys_are_those_that_the_labels_show(window: MainWindow, controllers: Controllers) -> None:
    controllers.review.choose_digits("fixed")
    view = enter(window)
    for row_id in (1, 2):
        assert caps(view) == {"Late": "1", "Damaged": "2", "Praise": "3"}
        press(window, Qt.Key.Key_3)
        assert decided(controllers, row_id) == (Decision.LABEL, (controllers.workspace.labels[2].id,))


def test_text_is_large_and_of_a_readable_width(window: MainWindow) -> None:
    view = enter(window)
    text, usual = view.row.text.view, window.workspace.row.text.view
    assert 1.5 <= text.fontMetrics().height() / usual.fontMetrics().height() <= 2
    prose = text.fontMetrics().horizontalAdvance(LONG[:CHARACTERS])
    assert 0.85 * prose < text.width() < 1.15 * prose
    margin = text.mapTo(view, text.rect().topLeft()).x()
    assert abs(margin - (view.width() - text.width() - margin)) <= 2  # centred


def test_long_texts_scroll_by_space(window: MainWindow, controllers: Controllers) -> None:
    controllers.navigation.set_current_row(6)
    view = enter(window)
    bar = view.row.text.view.verticalScrollBar()
    assert bar.maximum() > 0
    press(window, Qt.Key.Key_Space)
    assert bar.value() > 0
    press(window, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    assert bar.value() == 0
    press(window, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    assert decided(controllers, 6) is None


def test_evidence_is_folded_until_its_key(window: MainWindow) -> None:
    view = enter(window)
    button = view.row.labels.buttons[0]
    assert (button.line.in_words if button.line else "") == "SCE 80%"
    assert not view.row.cells.isVisible()
    press(window, Qt.Key.Key_Period)
    assert (button.line.in_words if button.line else "") == "SCE 80%, Similarity 20%"
    assert view.row.cells.body.isVisible()
    press(window, Qt.Key.Key_Period)
    assert not view.row.cells.isVisible()


def test_escape_leads_back_to_where_one_was(
    window: MainWindow, controllers: Controllers, qtbot: QtBot
) -> None:
    controllers.navigation.set_query(RowQuery(search="o"))
    qtbot.waitUntil(lambda: len(rows(window).model.ids) < len(TEXTS) * 12)
    settle(qtbot, controllers)
    view, query = rows(window), controllers.navigation.query
    window.docks["Map"].bring()
    qtbot.waitUntil(lambda: window.docks["Map"].seen)
    flags = QItemSelectionModel.SelectionFlag
    view.table.choose(3)
    index = view.table.model().index(4, Column.TEXT)
    view.table.selectionModel().setCurrentIndex(index, flags.Select | flags.Rows)
    scroll, selected = view.table.verticalScrollBar().value(), controllers.navigation.selected
    assert len(selected) == 2
    view.table.setFocus()
    enter(window)
    assert controllers.navigation.selected == ()  # keys are about the row that is seen
    assert not window.docks["Map"].isVisible()
    press(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.docks["Map"].seen and view.table.hasFocus())
    assert controllers.navigation.query == query
    assert controllers.navigation.selected == selected
    qtbot.waitUntil(lambda: view.table.verticalScrollBar().value() == scroll)
    assert window.tool_bar.isVisible()


def test_the_table_shows_the_row_that_one_came_to(
    window: MainWindow, controllers: Controllers, qtbot: QtBot
) -> None:
    view = rows(window)
    enter(window)
    for _ in range(40):
        press(window, Qt.Key.Key_J)
    press(window, Qt.Key.Key_F9)
    assert not window.focus.on

    def seen() -> bool:
        first, last = view.table.shown_places()
        return first <= view.table.currentIndex().row() <= last

    qtbot.waitUntil(seen)
    assert controllers.navigation.current_row == 41
    assert window.workspace.row.title.whole() == "Row 41"
    press(window, Qt.Key.Key_3)  # by the panel again, and once
    assert controllers.navigation.current_row == 42


def test_closing_the_project_leaves_it(window: MainWindow, controllers: Controllers, qtbot: QtBot) -> None:
    enter(window)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert not window.focus.on
    assert window.pages.currentWidget() is window.start_page
    press(window, Qt.Key.Key_F9)
    assert not window.focus.on


def test_the_key_that_finds_a_label_types_and_comes_back(
    window: MainWindow, controllers: Controllers
) -> None:
    view = enter(window)
    press(window, Qt.Key.Key_Slash)
    finder = view.row.labels.finder
    assert finder.hasFocus()
    QTest.keyClicks(finder, "pra")
    press(window, Qt.Key.Key_Return)
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[2].id,))
    assert view.row.text.view.hasFocus()
    press(window, Qt.Key.Key_Slash)
    press(window, Qt.Key.Key_Escape)  # leaves the field, not focus mode
    assert window.focus.on
    assert view.row.text.view.hasFocus()


def test_progress_and_a_goal_set_in_place(window: MainWindow, controllers: Controllers, qtbot: QtBot) -> None:
    view = enter(window)
    qtbot.waitUntil(lambda: view.progress.words.whole().startswith("0 rows labelled today"))
    view.progress.goal_button.click()
    QTest.keyClicks(view.progress.amount, "2")
    press(window, Qt.Key.Key_Return)
    assert view.row.text.view.hasFocus()
    assert controllers.preferences.settings["daily_goal"] == 2
    assert view.progress.words.whole().startswith("0 of 2 rows, today's goal")
    press(window, Qt.Key.Key_1)
    qtbot.waitUntil(lambda: view.progress.words.whole().startswith("1 of 2 rows"))
    press(window, Qt.Key.Key_1)
    qtbot.waitUntil(lambda: view.progress.words.whole().startswith("Today's goal of 2 rows is reached"))
    assert controllers.navigation.current_row == 4  # nothing came in between


def test_a_goal_that_is_left_stays_as_it_was(window: MainWindow, controllers: Controllers) -> None:
    view = enter(window)
    view.progress.goal_button.click()
    QTest.keyClicks(view.progress.amount, "7")
    press(window, Qt.Key.Key_Escape)
    assert window.focus.on
    assert controllers.preferences.settings["daily_goal"] == 0


def test_a_row_comes_again_without_its_label(
    window: MainWindow, controllers: Controllers, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats_module, "EVERY", 3)
    monkeypatch.setattr("sce_desktop.tasks.insight.sessions.APART", 0)
    project = controllers.workspace.project
    assert project is not None
    project.decide([10], Decision.LABEL, [controllers.workspace.labels[2].id or 0])
    controllers.repeats.toggle()
    view = enter(window)
    press(window, Qt.Key.Key_1)
    qtbot.waitUntil(lambda: controllers.repeats._drawn is not None)
    drawn = controllers.repeats._drawn
    press(window, Qt.Key.Key_1)
    assert drawn in (1, 10)
    assert controllers.navigation.current_row == 4
    before = project.annotations([drawn])
    assert view.row.again.isVisible()
    assert view.row.title.whole() == f"Row {drawn}"
    assert view.row.decision.state_line.isHidden()
    assert view.row.decision.accept.isHidden()
    assert caps(view) == {"Late": "1", "Damaged": "2", "Praise": "3"}  # no prediction says which is likely
    assert all(not button.line.bars for button in view.row.labels.buttons if button.line)
    press(window, Qt.Key.Key_Period)
    assert not view.row.others.isVisible()
    press(window, Qt.Key.Key_1)
    assert project.annotations([drawn]) == before
    (found,) = project.repeats()
    assert (found.row_id, found.second) == (drawn, {controllers.workspace.labels[0].id})
    assert not view.row.again.isVisible()
    assert view.row.title.whole() == "Row 4"
    press(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert project.repeats() == []
    assert project.annotations([drawn]) == before


def test_who_goes_on_answers_no_repeat(
    window: MainWindow, controllers: Controllers, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats_module, "EVERY", 2)
    monkeypatch.setattr("sce_desktop.tasks.insight.sessions.APART", 0)
    controllers.repeats.toggle()
    view = enter(window)
    press(window, Qt.Key.Key_1)
    qtbot.waitUntil(lambda: controllers.repeats._drawn is not None)
    press(window, Qt.Key.Key_1)
    assert view.row.again.isVisible()
    press(window, Qt.Key.Key_J)
    assert not view.row.again.isVisible()
    assert view.row.title.whole() == "Row 5"
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.repeats() == []


def test_without_the_option_no_row_comes_again(
    window: MainWindow, controllers: Controllers, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats_module, "EVERY", 2)
    monkeypatch.setattr("sce_desktop.tasks.insight.sessions.APART", 0)
    view = enter(window)
    for _ in range(6):
        press(window, Qt.Key.Key_1)
        settle(qtbot, controllers)
        assert not view.row.again.isVisible()


def test_messages_lie_over_neither_labels_nor_text(window: MainWindow, controllers: Controllers) -> None:
    view = enter(window)
    controllers.messages.notify("Something happened.")
    strip = window.strip
    assert strip.isVisible()
    for part in (view.row.text.view, view.row.labels, view.row.decision):
        assert (
            strip.mapTo(window, strip.rect().bottomLeft()).y() < part.mapTo(window, part.rect().topLeft()).y()
        )


def test_filters_stay_and_a_list_that_ends_is_said(
    window: MainWindow, controllers: Controllers, qtbot: QtBot
) -> None:
    controllers.navigation.set_query(RowQuery(state=RowState.UNLABELLED, search="Driver"))
    qtbot.waitUntil(lambda: len(rows(window).model.ids) == 12)
    settle(qtbot, controllers)
    view = enter(window)
    for _ in range(12):
        press(window, Qt.Key.Key_3)
    qtbot.waitUntil(lambda: "no rows left in this list" in view.progress.words.whole())
    assert len(rows(window).model.ids) == 12


def test_f1_leads_to_its_page(window: MainWindow) -> None:
    assert page_for(enter(window).row.text.view) == "guide/focus-mode.md"
