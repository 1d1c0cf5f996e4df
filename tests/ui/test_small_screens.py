"""What needs more room than the screen has scrolls; what has room is left alone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel, open_dialog
from sce_desktop.ui.kit.small_screens import ScreenScroll, room_for
from sce_desktop.ui.kit.title_tabs import TitleTabs
from sce_desktop.ui.kit.wrapped_button import WrappedButton

BAR = 40


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 600)
    window.show()
    return window


def boxes(dialog: QDialog, count: int) -> list[QCheckBox]:
    """Give a dialog so many boxes, a label that breaks, and OK and Cancel at its foot."""
    column = dialog_column(dialog)
    column.addWidget(QLabel("A sentence that breaks where the dialog is narrow. " * 4, wordWrap=True))
    made = [QCheckBox(f"Column {place}") for place in range(count)]
    for box in made:
        column.addWidget(box)
    column.addWidget(ok_and_cancel(dialog))
    return made


def within(inner: QWidget, outer: QWidget) -> bool:
    return outer.rect().contains(QRect(inner.mapTo(outer, QPoint()), inner.size()))


def test_a_dialog_larger_than_the_screen_scrolls_and_keeps_its_buttons(qtbot: QtBot, parent: QWidget) -> None:
    dialog = QDialog(parent)
    made = boxes(dialog, 80)
    open_dialog(dialog)
    room = room_for(dialog)
    assert dialog.height() <= room.height()
    assert dialog.width() <= room.width()
    buttons = dialog.findChild(QDialogButtonBox)
    assert within(buttons, dialog)
    scroll = dialog.findChild(ScreenScroll)
    assert not within(made[-1], scroll.viewport())
    dialog.activateWindow()
    made[-1].setFocus()
    qtbot.waitUntil(lambda: within(made[-1], scroll.viewport()))
    qtbot.mouseClick(buttons.button(QDialogButtonBox.StandardButton.Ok), Qt.MouseButton.LeftButton)
    assert dialog.result() == QDialog.DialogCode.Accepted


def test_buttons_wider_than_the_screen_stand_one_below_the_other(qtbot: QtBot, parent: QWidget) -> None:
    dialog = QDialog(parent)
    boxes(dialog, 80)
    buttons = dialog.findChild(QDialogButtonBox)
    for word in ("Remove", "Delete", "Show"):
        wide = QPushButton(f"{word} what nobody wants any more")
        wide.setMinimumWidth(room_for(dialog).width() // 3)
        buttons.addButton(wide, QDialogButtonBox.ButtonRole.ActionRole)
    open_dialog(dialog)
    assert dialog.width() <= room_for(dialog).width()
    assert within(buttons, dialog)


def test_a_dialog_that_fits_is_left_alone(qtbot: QtBot, parent: QWidget) -> None:
    dialog = QDialog(parent)
    boxes(dialog, 4)
    layout = dialog.layout()
    open_dialog(dialog)
    assert dialog.layout() is layout
    assert dialog.findChild(ScreenScroll) is None


def test_a_window_asks_for_what_it_shows_and_never_for_more_than_the_screen(
    qtbot: QtBot, parent: QWidget
) -> None:
    inside = QWidget()
    column = QVBoxLayout(inside)
    button = QPushButton("Far away")
    column.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight)
    high = QWidget()
    QVBoxLayout(high).addSpacing(BAR)
    scroll = ScreenScroll(inside, (high,))
    around = QVBoxLayout(parent)
    around.addWidget(high)
    around.addWidget(scroll)
    high.show()
    screen = parent.screen().availableSize()
    inside.setMinimumSize(200, 150)
    assert scroll.minimumSizeHint().toTuple() == (200, 150)
    inside.setMinimumSize(3 * screen.width(), 3 * screen.height())
    least = scroll.minimumSizeHint()
    assert least.width() == screen.width()
    assert screen.height() - 3 * BAR < least.height() <= screen.height() - BAR
    qtbot.waitUntil(lambda: scroll.verticalScrollBar().maximum() > 0)
    parent.activateWindow()
    assert not within(button, scroll.viewport())
    button.setFocus()
    qtbot.waitUntil(lambda: within(button, scroll.viewport()))


def test_words_of_a_button_break_where_one_line_has_no_room(qtbot: QtBot) -> None:
    button = WrappedButton("Suggest labels from the rows…")
    qtbot.addWidget(button)
    button.show()
    button.resize(button.sizeHint().width() + 4, button.sizeHint().height())
    assert "\n" not in button.text()
    low = button.sizeHint().height()
    button.resize(button.minimumSizeHint().width(), button.sizeHint().height())
    assert button.text() == "Suggest labels\nfrom the rows…"
    assert button.sizeHint().height() > low
    assert button.minimumSizeHint().width() < 260


def test_short_titles_of_tabs_stay_whole(qtbot: QtBot) -> None:
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    tabs.setTabBar(TitleTabs())
    tabs.setUsesScrollButtons(False)
    tabs.setElideMode(Qt.TextElideMode.ElideRight)
    for title in ("Result", "A title that is long", "Another one that is long"):
        tabs.addTab(QWidget(), title)
    bar = tabs.tabBar()
    tabs.resize(bar.sizeHint().width() - 60, 100)
    tabs.show()
    qtbot.waitUntil(lambda: bar.tabRect(2).width() < bar.tabSizeHint(2).width())
    assert bar.tabRect(0).width() >= bar.tabSizeHint(0).width()
    assert bar.tabRect(2).right() <= tabs.width()
