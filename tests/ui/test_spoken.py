"""What a screen reader is given of labels, drawings, combo boxes and the cells of the table."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QPixmap
from PySide6.QtWidgets import QApplication, QLabel, QListWidget, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.store.project import Project
from sce_desktop.ui.kit import spoken
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.loss_curve import LossCurve
from sce_desktop.ui.kit.spoken import label_words, speak_widgets
from sce_desktop.ui.rows.rows_model import Column, RowsModel
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, score_no_edits, settle

SPOKEN = Qt.ItemDataRole.AccessibleTextRole
BEHIND = Qt.ItemDataRole.AccessibleDescriptionRole


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("Number of rows", "40 rows", "Number of rows: 40 rows"),
        ("Number of rows", "", "Number of rows"),
        ("", "40 rows", "40 rows"),
        ("Rows", "40 Rows", "40 Rows"),
        ("Note", "See <a href='#'>More</a>", "Note: See More"),
    ],
)
def test_a_label_is_known_by_its_name_and_its_text(qtbot: QtBot, name: str, text: str, words: str) -> None:
    label = QLabel(text)
    qtbot.addWidget(label)
    label.setAccessibleName(name)
    assert label_words(label) == words


def test_a_label_that_is_cut_is_known_by_all_of_its_text(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.resize(30, 20)
    label.setText("A rather long sentence about very little")
    assert label.text() != label.whole()
    assert label_words(label) == label.whole()


def test_plain_text_that_looks_like_markup_is_left_as_it_is(qtbot: QtBot) -> None:
    label = QLabel("a <b> c")
    qtbot.addWidget(label)
    label.setTextFormat(Qt.TextFormat.PlainText)
    assert label_words(label) == "a <b> c"


def test_qt_is_told(qtbot: QtBot, qapp: QApplication) -> None:
    speak_widgets(qapp)
    label, picture, curve = QLabel("40 rows"), QLabel(), LossCurve()
    pixels = QPixmap(4, 4)
    pixels.fill(Qt.GlobalColor.red)
    picture.setPixmap(pixels)
    for widget, role in (
        (label, QAccessible.Role.StaticText),
        (picture, QAccessible.Role.Graphic),
        (curve, QAccessible.Role.Chart),
    ):
        qtbot.addWidget(widget)
        widget.setAccessibleName("Name")
        known = QAccessible.queryAccessibleInterface(widget)
        assert known.role() == role
        assert known.text(QAccessible.Text.Name).startswith("Name")
    label.setText("41 rows")  # the words follow
    known = QAccessible.queryAccessibleInterface(label)
    assert known.text(QAccessible.Text.Name) == "Name: 41 rows"


def test_a_list_that_gets_the_focus_says_at_which_item_it_is(
    qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def hear(event: object) -> None:
        told.append(event.accessibleInterface().text(QAccessible.Text.Name))  # type: ignore[attr-defined]

    window = QWidget()
    rows = QListWidget(window)
    rows.addItems(["First", "Second"])
    rows.setCurrentRow(1)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    rows.setFocus()
    qtbot.waitUntil(rows.hasFocus)
    monkeypatch.setattr(spoken.QAccessible, "updateAccessibility", hear)
    spoken.tell_item(rows)
    rows.setCurrentItem(None)  # type: ignore[call-overload]
    spoken.tell_item(rows)
    assert told == ["Second"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there a combo box is known by its name")
def test_a_combo_box_says_what_is_chosen_in_it(qtbot: QtBot) -> None:
    box = ComboBox()
    qtbot.addWidget(box)
    box.setAccessibleName("Colours")
    assert box.accessibleDescription() == "Colours"
    box.setAccessibleDescription("Hidden in blind mode")
    assert box.accessibleDescription() == "Colours. Hidden in blind mode"


def test_cells_say_in_words_what_is_drawn_as_a_sign(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> None:
    path = make_project(texts=("Late", "Box", "Kind", "", "Slow"), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, (0, 1, 2, 0))
        give_scores(project, (0, 0, 2, 0), alias="similarity", fingerprint="near")
    project = open_in(qtbot, controllers, path)
    score_no_edits(controllers)
    late = controllers.workspace.labels[0].id or 0
    controllers.edits.decide([1], Decision.LABEL, [late])
    controllers.edits.decide([2], Decision.LABEL, [late], origin=Origin.IMPORTED)
    controllers.edits.set_marks([1], flag=True, unsure=True)
    settle(qtbot, controllers)
    model = real_window.workspace.rows.model  # type: ignore[attr-defined]
    assert isinstance(model, RowsModel)

    def labelled() -> bool:
        row = model.row_at(0)
        return row is not None and row.annotation is not None

    qtbot.waitUntil(labelled)

    def said(row: int, column: int, role: Qt.ItemDataRole = SPOKEN) -> str:
        return str(model.index(row, column).data(role))

    assert said(0, Column.NUMBER) == "1, flagged, unsure"
    assert [said(row, Column.YOURS) for row in range(3)] == ["Late", "Late, imported", "not labelled"]
    assert said(0, Column.BASELINE) == "Late, 80%, as the model"
    assert said(1, Column.BASELINE) == "Late, 80%, unlike the model"
    assert said(3, Column.TEXT) == "no text"
    assert said(0, Column.TEXT, BEHIND) == "Your label: Late. SCE: Late, 80%. Marked: flagged, unsure."
    assert said(2, Column.TEXT, BEHIND) == "Not labelled. SCE: Praise, 80%."
    controllers.navigation.toggle_blind()
    assert said(2, Column.TEXT, BEHIND) == "Not labelled."
    assert model.index(0, Column.SCE).data(BEHIND) is None
