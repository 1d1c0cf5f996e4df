"""The tour: it comes once, points at the controls wherever they are, never stands in the way, and is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.settings import Settings
from sce_desktop.ui.kit.callout import Callout, place_beside
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.tour import MOST_WORK, WORDS, Stop, Tour
from tests.ui.panels import open_in, settle

MakeProject = Callable[..., Path]
LABELS = ("Late", "Damaged")


@pytest.fixture
def tour(real_window: MainWindow) -> Iterator[Tour]:
    yield real_window.tour
    real_window.tour.leave()


def press(window: QWidget, key: Qt.Key) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, key)


def placed(callout: Callout) -> None:
    """Let what was asked to be placed soon be placed."""
    if callout._place_soon.isActive():
        callout._place_soon.stop()
        callout.place()


def around(tour: Tour, target: QWidget) -> None:
    """The ring lies round the control, the card beside it and within the window."""
    callout, window = tour.callout, tour._window
    placed(callout)
    seen = QRect(target.mapTo(window, QPoint(0, 0)), target.size()).intersected(window.rect())
    assert callout.isVisible()
    assert callout.ring.isVisible()
    assert callout.ring.geometry().contains(seen)
    assert window.rect().contains(callout.geometry())
    assert callout.side != "foot"
    card = callout._card().toRect().translated(callout.pos())
    assert not card.intersects(seen)


# --- where the card goes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_card_lies_beside_any_control_and_never_over_it(mirrored: bool) -> None:
    inside, size = QRect(8, 8, 1008, 684), QSize(330, 130)
    sides = set()
    for x, y, (width, height) in product(
        range(0, 1000, 90), range(0, 690, 80), ((20, 20), (300, 30), (620, 210), (280, 660), (1020, 40))
    ):
        target = QRect(x, y, width, height).intersected(QRect(0, 0, 1024, 700))
        corner, side = place_beside(target, size, inside, 9, mirrored=mirrored)
        sides.add(side)
        card = QRect(corner, size)
        assert inside.contains(card)
        assert side == "foot" or not card.intersects(target)
    assert sides >= {"below", "above", "left", "right"}


def test_a_card_goes_where_reading_goes_on() -> None:
    inside, size, tall = QRect(0, 0, 1000, 700), QSize(300, 100), QRect(400, 0, 200, 700)
    assert place_beside(tall, size, inside, 9)[1] == "right"
    assert place_beside(tall, size, inside, 9, mirrored=True)[1] == "left"
    assert place_beside(inside, size, inside, 9) == (QPoint(350, 600), "foot")


# --- coming and going --------------------------------------------------------------------------------------


def test_it_comes_by_itself_once(real_window: MainWindow, tour: Tour, controllers: Controllers) -> None:
    real_window.greet()
    assert tour.at == Stop.OPEN
    tour.leave()
    assert not tour.callout.isVisible()
    assert not tour.callout.ring.isVisible()
    real_window.greet()
    assert not tour.active
    assert Settings.load(controllers.preferences.settings.file)["tour_seen"] is True


def test_who_has_projects_needs_no_tour(real_window: MainWindow, tour: Tour, tmp_path: Path) -> None:
    real_window._recent.remember(tmp_path / "a.sce", rows=1, labelled=0, scored=0)
    real_window.greet()
    assert not tour.active


def test_the_help_menu_and_the_start_page_bring_it_again(real_window: MainWindow, tour: Tour) -> None:
    action = real_window.findChild(QAction, "Take the tour")
    for bring in (action.trigger, real_window.start_page.tour_button.click):
        bring()
        assert tour.at == Stop.OPEN
        tour.callout.leave_button.click()
        assert not tour.active


def test_escape_leaves_wherever_the_focus_is(qtbot: QtBot, real_window: MainWindow, tour: Tour) -> None:
    tour.begin()
    assert tour.callout.isAncestorOf(QApplication.focusWidget())
    press(real_window, Qt.Key.Key_Escape)
    assert not tour.active
    assert QApplication.focusWidget() is real_window.start_page.open_button
    tour.begin()
    real_window.start_page.sample_button.setFocus()
    press(real_window, Qt.Key.Key_Escape)
    assert not tour.active
    assert QApplication.focusWidget() is real_window.start_page.sample_button


def test_escape_means_what_it_meant_after_the_tour(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    tour.begin()
    real_window.focus.enter()  # left by Esc, too
    assert not tour.active  # what it points at is not there
    assert real_window.focus.on
    assert real_window.focus.view is not None
    real_window.focus.view.take_focus()
    press(real_window, Qt.Key.Key_Escape)
    assert not real_window.focus.on


# --- the steps ---------------------------------------------------------------------------------------------


def test_the_first_step_opens_the_sample(
    real_window: MainWindow, tour: Tour, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[bool] = []
    monkeypatch.setattr(tour, "_open_sample", lambda: opened.append(True))
    tour.begin()
    around(tour, real_window.start_page.drop)
    assert tour.callout.next_button.text() == "Try the sample"
    tour.callout.next_button.click()
    assert opened == [True]
    assert tour.at == Stop.OPEN  # until it is there


def test_every_step_points_at_its_control_and_says_so(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    tour.begin()
    open_in(qtbot, controllers, make_project(labels=LABELS))
    for stop in list(Stop)[1:]:
        assert tour.at == stop
        target = tour.steps[stop].target()
        assert target is not None
        around(tour, target)
        title, text = WORDS[stop]
        assert tour.callout.title.text() == title
        assert tour.callout.accessibleName() == f"Tour, {stop + 1} of 5: {title}"
        assert tour.callout.accessibleDescription() == text
        tour.callout.next_button.click()
    assert not tour.active


def test_keys_alone_go_through_it(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    real_window.setFocus()
    tour.begin()
    seen = [tour.at]
    while tour.active:
        press(real_window, Qt.Key.Key_Space)  # the focus is on Next
        seen.append(tour.at)
    assert seen == [*Stop, None]
    assert QApplication.focusWidget() is real_window.workspace.rows.table  # type: ignore[attr-defined]
    tour.begin()
    tour.callout.next_button.click()
    tour.callout.back_button.click()
    assert tour.at == Stop.OPEN
    assert not tour.callout.back_button.isVisible()


def test_it_does_not_take_the_field_from_who_types(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    tour.begin()
    open_in(qtbot, controllers, make_project())
    assert tour.at == Stop.LABELS
    field = real_window.workspace.labels.field  # type: ignore[attr-defined]
    assert QApplication.focusWidget() is field
    qtbot.keyClicks(field, "Late")
    press(real_window, Qt.Key.Key_Return)
    settle(qtbot, controllers)
    assert [label.name for label in controllers.workspace.labels] == ["Late"]
    assert tour.at == Stop.LABELS


def test_working_goes_on_and_then_leaves(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    tour.begin()
    open_in(qtbot, controllers, make_project(labels=LABELS))
    ids = [label.id or 0 for label in controllers.workspace.labels]
    controllers.edits.decide([1], Decision.LABEL, ids[:1])
    assert tour.at == Stop.EXPORT  # whoever labels a row knows the steps before
    for row in (2, 4, 5)[:MOST_WORK]:
        assert tour.active
        controllers.edits.decide([row], Decision.LABEL, ids[:1])
    assert not tour.active


def test_export_ends_it(
    qtbot: QtBot,
    controllers: Controllers,
    real_window: MainWindow,
    tour: Tour,
    make_project: MakeProject,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tour.begin()
    open_in(qtbot, controllers, make_project(labels=LABELS))
    real_window.tool_bar.exportAsked.disconnect(real_window.file_commands.ask_export)
    real_window.tool_bar.export_button.click()
    assert not tour.active


def test_closing_the_project_ends_it(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    tour.begin()
    open_in(qtbot, controllers, make_project(labels=LABELS))
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert not tour.active


# --- what may happen to the control ------------------------------------------------------------------------


def test_it_follows_its_control_through_any_size(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    tour.begin()
    open_in(qtbot, controllers, make_project(labels=LABELS))
    for stop in list(Stop)[1:]:
        for width, height in ((1024, 700), (1600, 900), (1280, 800)):
            real_window.resize(width, height)
            QApplication.processEvents()
            target = tour.steps[stop].target()
            assert target is not None
            around(tour, target)
        tour.callout.next_button.click()


@pytest.fixture
def right_to_left(qapp: QApplication) -> Iterator[None]:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.mark.usefixtures("right_to_left")
def test_right_to_left_it_lies_at_the_other_side(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    tour.begin()
    tour._show(Stop.CHECK)
    around(tour, real_window.workspace.row)
    assert tour.callout.side == "right"


def test_a_hidden_control_is_explained_at_the_foot(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, tour: Tour, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    tour.begin()  # its first control is on the start page, which is behind
    assert (tour.callout.side, tour.callout.ring.isVisible()) == ("foot", False)
    assert real_window.rect().contains(tour.callout.geometry())
    tour._show(Stop.CHECK)
    row = real_window.workspace.row
    around(tour, row)
    assert tour.callout.side == "left"
    row.hide()
    placed(tour.callout)
    assert (tour.callout.side, tour.callout.ring.isVisible()) == ("foot", False)
    row.show()
    QApplication.processEvents()
    around(tour, row)


def test_a_control_that_is_gone_does_no_harm(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(600, 400)
    target = QWidget(window)
    target.setGeometry(10, 10, 50, 30)
    callout = Callout(window)
    window.show()
    callout.show_words(step="1 of 1", title="A", text="B", next_text="Done", back=False)
    callout.point_at(target)
    assert callout.side == "below"
    target.setParent(None)
    del target
    qtbot.waitUntil(lambda: callout.side == "foot")
    callout.point_at(None)
    callout.put_away()
