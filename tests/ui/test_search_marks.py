"""Hits of the search: where they are marked in the table and in the text of the row."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QTextEdit
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.colours import contrast
from sce_desktop.core.query import RowQuery
from sce_desktop.ui.kit.painting import draw_lines
from sce_desktop.ui.kit.tokens import THEMES
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.rows.search_marks import draw_hits, hit_ground, utf16_spans
from sce_desktop.ui.rows.text_marks import Mark, TextMarks
from tests.ui.conftest import MakeProject
from tests.ui.panels import open_in, settle
from tests.ui.wiring import wired


def selected(view: QTextEdit) -> list[str]:
    return [one.cursor.selectedText() for one in view.extraSelections()]  # type: ignore[attr-defined]


@pytest.fixture
def marks(qtbot: QtBot) -> TextMarks:
    view = QTextEdit()
    qtbot.addWidget(view)
    marks = TextMarks(view)
    marks.setParent(view)
    return marks


def show(marks: TextMarks, text: str, shown: int | None = None) -> QTextEdit:
    view = marks.parent()
    assert isinstance(view, QTextEdit)
    view.setPlainText(text[:shown])
    marks.set_text(text, len(text) if shown is None else shown)
    return view


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The parcel was late", "late"),
        ("😡😡 late", "late"),
        ("one\r\ntwo\r\nlate", "late"),
        ("one\ntwo\r\n\r\n😡 late 😡", "late"),
        ("وصلت الشحنة متأخرة", "الشحنة"),
    ],
)
def test_marks_lie_on_their_words(marks: TextMarks, text: str, word: str) -> None:
    view = show(marks, text)
    at = text.index(word)
    marks.set_layer("search", [Mark(at, at + len(word), "hit")])
    assert selected(view) == [word]


def test_layers_come_and_go_on_their_own(marks: TextMarks) -> None:
    view = show(marks, "late parcel")
    marks.set_layer("search", [Mark(0, 4, "hit")])
    marks.set_layer("reasons", [Mark(0, 4, "strong", "#3b6fd8"), Mark(5, 11, "against")])
    assert selected(view) == ["late", "parcel", "late"]
    marks.set_layer("search", [])
    assert selected(view) == ["late", "parcel"]
    show(marks, "another text")
    assert selected(view) == []


def test_what_is_not_shown_yet_is_marked_later(marks: TextMarks) -> None:
    text = "parcel " * 10 + "late"
    view = show(marks, text, 20)
    marks.set_layer("search", [Mark(0, 6, "hit"), Mark(70, 74, "hit")])
    assert selected(view) == ["parcel"]
    view.setPlainText(text)
    marks.set_text(text, len(text))
    assert selected(view) == ["parcel", "late"]


def test_places_as_qt_counts() -> None:
    assert utf16_spans("a late", [(2, 6)]) == [(2, 6)]
    assert utf16_spans("😡 late 😡 x", [(2, 6), (9, 10)]) == [(3, 7), (11, 12)]


def test_text_on_a_hit_is_readable() -> None:
    for theme in THEMES.values():
        ground = theme.hit
        assert contrast(theme.ink, ground) >= 4.5
        assert contrast(theme.pane, ground) >= 1.2  # it is seen


@pytest.mark.parametrize("right", [False, True])
def test_a_hit_in_the_table_lies_behind_its_word(qtbot: QtBot, right: bool) -> None:
    def picture(needles: tuple[str, ...]) -> QImage:
        image = QImage(300, 40, QImage.Format.Format_RGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        area = QRect(5, 0, 280, 40)
        draw_hits(painter, area, text, 1, needles, right_to_left=right)
        painter.setPen(QColor("black"))
        draw_lines(painter, area, text, 1, right_to_left=right)
        painter.end()
        return image

    def columns(image: QImage) -> list[int]:
        ground = hit_ground().rgb()
        return [x for x in range(300) if any(image.pixel(x, y) == ground for y in range(40))]

    text = "late parcel" if not right else "متأخرة الشحنة"
    first, second = text.split()
    plain = picture(("nothing",))
    assert columns(plain) == []
    beginning, end = columns(picture((first,))), columns(picture((second,)))
    assert beginning
    assert end
    assert (min(beginning) > max(end)) if right else (max(beginning) < min(end))
    both = columns(picture((first, second)))
    assert set(beginning) | set(end) <= set(both)


def test_a_search_marks_table_and_text(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    path = make_project(texts=["Le Café est fermé", "the cafe was closed", "other"], labels=["Open"])
    rows, panel = wired(RowsView, controllers)(), wired(RowPanel, controllers)()
    for widget in (rows, panel):
        qtbot.addWidget(widget)
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    controllers.navigation.set_query(RowQuery(search="cafe -closed"))
    settle(qtbot, controllers)
    assert rows.model.ids.tolist() == [1]
    assert rows.table.painting.cells.needles == ("cafe",)
    assert selected(panel.text.view) == ["Café"]
    controllers.navigation.set_query(RowQuery(search="text:fermé -ca"))
    settle(qtbot, controllers)
    assert rows.empty.text() == "No row matches “text:fermé -ca”. Try fewer words, or clear the search."
    controllers.navigation.set_query(RowQuery(search="zebra"))
    settle(qtbot, controllers)
    assert rows.empty.text() == "No text contains “zebra”. Try fewer words, or clear the search."
    controllers.navigation.set_query(RowQuery())
    settle(qtbot, controllers)
    assert rows.table.painting.cells.needles == ()
    assert selected(panel.text.view) == []
