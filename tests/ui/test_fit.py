"""The window in German at its least size: no text is cut. ``python -m tests.fit`` asks all there are."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QTabBar,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from sce_desktop.ui.kit.elided_label import ElidedLabel
from tests.fit.__main__ import Display, line, walk
from tests.fit.checks import misfits
from tests.fit.exceptions import uncovered

LONG = "Vertrauensschwelle für Vorhersagen"


def kinds(qtbot: QtBot, widget: QWidget, width: int, height: int = 30) -> set[str]:
    """What is found wrong with a widget that has so much room."""
    top = QWidget()
    qtbot.addWidget(top)
    top.resize(400, 300)
    widget.setParent(top)
    widget.setGeometry(5, 5, width, height)
    top.show()
    return {one.kind for one in misfits(top)}


def combo() -> QComboBox:
    box = QComboBox()
    box.addItem(LONG)
    return box


def tree() -> QTreeWidget:
    view = QTreeWidget(columnCount=2)
    view.setHeaderLabels(["A", LONG])
    view.addTopLevelItem(QTreeWidgetItem(["B", "C"]))
    view.setColumnWidth(0, 250)
    view.header().setStretchLastSection(False)
    view.setColumnWidth(1, 40)
    return view


def tabs() -> QTabBar:
    bar = QTabBar(usesScrollButtons=False, elideMode=Qt.TextElideMode.ElideRight)
    for _number in range(3):
        bar.addTab(LONG)
    return bar


CUT = {
    "label": lambda: QLabel(LONG),
    "label's height": lambda: QLabel(f"{LONG} {LONG}", wordWrap=True),
    "button": lambda: QPushButton(LONG),
    "box": lambda: QCheckBox(LONG),
    "choice": combo,
    "hint in a field": lambda: QLineEdit(placeholderText=LONG),
    "heading": tree,
    "tab": tabs,
}


@pytest.mark.parametrize("kind", CUT)
def test_what_is_cut_is_found_and_what_fits_is_not(qtbot: QtBot, kind: str) -> None:
    assert kind in kinds(qtbot, CUT[kind](), 70)
    if kind not in ("heading", "tab"):
        assert not kinds(qtbot, CUT[kind](), 380, 60)


def test_a_cut_text_passes_where_a_tip_has_it(qtbot: QtBot) -> None:
    top, label = QWidget(), ElidedLabel()
    qtbot.addWidget(top)
    label.setText(LONG)
    label.setParent(top)
    label.setGeometry(0, 0, 60, 30)
    top.show()
    assert label.text() != LONG
    assert list(misfits(top)) == []
    label.setToolTip("")
    assert {one.kind for one in misfits(top)} == {"cut label without a tip"}
    cell = tree()
    cell.headerItem().setToolTip(1, LONG)
    assert kinds(qtbot, cell, 350, 90) == set()


def test_what_lies_outside_passes_where_one_can_scroll_to_it(qtbot: QtBot) -> None:
    assert "label outside" in kinds(qtbot, QLabel(LONG), 900)
    area, page = QScrollArea(), QWidget()
    QVBoxLayout(page).addWidget(QLabel("\n".join([LONG] * 30)))
    area.setWidget(page)
    assert kinds(qtbot, area, 350, 100) == set()
    narrow, wide = QScrollArea(), QLabel(LONG)
    narrow.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    wide.resize(600, 20)
    narrow.setWidget(wide)
    assert kinds(qtbot, narrow, 100, 100) == {"label outside"}


def cut(language: str, display: Display) -> str:
    done = walk(language, display)
    assert done.asked > 300
    places = dict(done.misfits)
    return "\n".join(line(one, places[one]) for one in uncovered(places))


def test_nothing_is_cut_in_german_in_the_least_window() -> None:
    assert not cut("de", Display(1024, 700))
