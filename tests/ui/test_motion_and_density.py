"""Nothing moves by itself where motion is reduced; the density changes what is open and what opens later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMargins, Qt
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMainWindow, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.ui.kit import motion
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.density import change_density
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, density, px
from sce_desktop.ui.kit.tokens import COMPACT_ROW_HEIGHTS, COMPACT_SPACES, ROW_HEIGHTS, SPACES
from sce_desktop.ui.labels.other_answers import OtherAnswers
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.main_window import MainWindow

UI = Path(__file__).parents[2] / "sce_desktop" / "ui"


@pytest.fixture
def still(qapp: QApplication) -> Iterator[QApplication]:
    before = qapp.cursorFlashTime()
    yield qapp
    motion.set_reduced(qapp, False)
    change_density(qapp, "comfortable")
    assert qapp.cursorFlashTime() == before


def test_only_one_module_starts_what_moves() -> None:
    moving = re.compile(
        r"QPropertyAnimation|QVariantAnimation|QTimeLine|QSequentialAnimation|QMovie|QProgressBar\b|setAnimated"
    )
    found = {
        path.name: hits
        for path in sorted(UI.rglob("*.py"))
        if path.name != "motion.py"
        and (hits := set(moving.findall(path.read_text(encoding="utf-8"))))
        and "is_reduced" not in path.read_text(encoding="utf-8")
        and path.name != "stylesheet.py"
    }
    assert not found


def test_reduced_motion_reaches_menus_windows_and_the_cursor(still: QApplication, qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    still.setEffectEnabled(Qt.UIEffect.UI_General, True)
    still.setEffectEnabled(Qt.UIEffect.UI_AnimateMenu, True)
    flash = still.cursorFlashTime()
    motion.set_reduced(still, True)
    assert motion.is_reduced()
    assert not still.isEffectEnabled(Qt.UIEffect.UI_AnimateMenu)
    assert still.cursorFlashTime() == 0
    assert not window.isAnimated()
    motion.set_reduced(still, False)
    assert still.isEffectEnabled(Qt.UIEffect.UI_AnimateMenu)
    assert still.cursorFlashTime() == flash
    assert window.isAnimated()
    still.setEffectEnabled(Qt.UIEffect.UI_AnimateMenu, False)


def test_a_bar_without_an_end_stands_still_and_moves_again(still: QApplication, qtbot: QtBot) -> None:
    bar = motion.ProgressBar(textVisible=False)
    qtbot.addWidget(bar)
    bar.setRange(0, 0)
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    motion.set_reduced(still, True)
    assert (bar.maximum(), bar.value(), bar.property("still")) == (1, 1, True)
    bar.setRange(0, 1000)
    bar.setValue(300)
    assert (bar.maximum(), bar.value(), bar.property("still")) == (1000, 300, False)
    bar.setRange(0, 0)
    motion.set_reduced(still, False)
    assert (bar.maximum(), bar.property("still")) == (0, False)


def test_the_density_reaches_what_is_open_and_what_opens_later(still: QApplication, qtbot: QtBot) -> None:
    top = QWidget()
    qtbot.addWidget(top)
    outer = QHBoxLayout(top)
    holder = QWidget()
    outer.addWidget(holder)
    layout = QHBoxLayout(holder)
    layout.setContentsMargins(px(SPACE_M), 1, 2, px(SPACE_S))
    layout.setSpacing(px(SPACE_S))
    wide, gap = px(SPACE_M), px(SPACE_S)
    assert change_density(still, "compact")
    assert not change_density(still, "compact")
    assert density() == "compact"
    assert (px(SPACE_M), px(SPACE_S)) < (wide, gap)
    assert layout.contentsMargins() == QMargins(px(SPACE_M), 1, 2, px(SPACE_S))
    assert layout.spacing() == px(SPACE_S)
    assert px(12) == wide  # a length that is no gap stays
    change_density(still, "comfortable")
    assert (layout.contentsMargins().left(), layout.spacing()) == (wide, gap)


def test_compact_is_smaller_everywhere() -> None:
    assert set(COMPACT_SPACES) == set(SPACES)
    assert all(COMPACT_SPACES[length] < length for length in SPACES)
    assert set(COMPACT_ROW_HEIGHTS) == set(ROW_HEIGHTS)
    assert all(COMPACT_ROW_HEIGHTS[name] < ROW_HEIGHTS[name] for name in ROW_HEIGHTS)


def test_the_window_follows_the_settings(
    qtbot: QtBot, still: QApplication, controllers: Controllers, real_window: MainWindow, theme: Theme
) -> None:
    (rows,) = real_window.findChildren(RowsView)
    button = QPushButton("Score", real_window)
    wide, high = rows.table.verticalHeader().defaultSectionSize(), button.sizeHint().height()
    (answers,) = real_window.findChildren(OtherAnswers)
    answer = answers.sizeHint().height()
    controllers.preferences.change_setting("density", "compact")
    qtbot.waitUntil(lambda: answers.sizeHint().height() < answer)
    assert rows.table.verticalHeader().defaultSectionSize() < wide
    assert button.sizeHint().height() < high
    (action,) = (a for a in real_window.menus.all_actions() if a.objectName() == "Compact density")
    assert action.isChecked()
    action.trigger()
    assert controllers.preferences.settings["density"] == "comfortable"
    assert rows.table.verticalHeader().defaultSectionSize() == wide
    controllers.preferences.change_setting("reduced_motion", True)
    assert motion.is_reduced()
    assert not real_window.isAnimated()
    controllers.preferences.change_setting("reduced_motion", False)
    assert not motion.is_reduced()
