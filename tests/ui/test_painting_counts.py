"""A screen of rows is painted once for an order, a filter or a search, and each of its rows once.

Counted and not timed: a busy machine changes nothing in it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, QRect
from PySide6.QtGui import QFont, QHoverEvent, QImage, QPainter
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.rows_data import PAGE
from sce_desktop.core.annotations import Label
from sce_desktop.core.giving_way import is_answering
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.ui.kit import icons
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.fitted import Face, laid_out, lines_of
from sce_desktop.ui.kit.painting import draw_line, draw_lines
from sce_desktop.ui.rows.rows_model import Column
from tests.ui.panels import open_in, score_no_edits, settle
from tests.ui.row_bench import Bench, bench_fixture  # noqa: F401

ROWS, LABELS = 300, 8
WORDS = ("My card has not arrived", "–", "1,234", "None of these", "Kündigung des Vertrags…", "=")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows.sce"
    rng = np.random.default_rng(0)
    with Project.create(path) as project:
        rows = [
            (str(number), f"text {number} {'rare' if number % 50 == 0 else ''}") for number in range(ROWS)
        ]
        project.add_rows(("ref", "text"), [rows], text_columns=[1], source={})
        labels = project.set_labels([Label(f"label {n}", colour="#3b6fd8") for n in range(LABELS)]).labels
        run = project.open_run("sce", "sce", "m", "sce", labels)
        project.activate(run.id)
        raw = rng.random((ROWS, LABELS), dtype=np.float32) ** 4
        project.add_scores(run.id, range(1, ROWS + 1), Scores(raw / raw.sum(axis=1, keepdims=True)))
        project.finish_run(run.id)
    return path


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, bench: Bench, path: Path) -> Bench:
    score_no_edits(controllers)
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    return bench


class Counted(QObject):
    """How often the table is painted, its headings are, and each cell is drawn."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.table = bench.rows.table
        self.events: Counter[object] = Counter()
        self.cells: Counter[tuple[int, int]] = Counter()
        for widget in (self.table.viewport(), self.table.header.viewport()):
            widget.installEventFilter(self)
        plain = self.table.painting.cells.draw

        def draw(painter: QPainter, area: QRect, column: int, row: object, *, selected: bool) -> None:
            self.cells[row.id, column] += 1  # type: ignore[attr-defined]
            plain(painter, area, column, row, selected=selected)  # type: ignore[arg-type]

        monkeypatch.setattr(self.table.painting.cells, "draw", draw)

    def clear(self) -> None:
        """Forget what was painted so far."""
        self.cells.clear()
        self.events.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            self.events[watched] += 1
        return False

    @property
    def of_table(self) -> int:
        return self.events[self.table.viewport()]

    @property
    def of_headings(self) -> int:
        return self.events[self.table.header.viewport()]


@pytest.mark.parametrize(
    "query",
    [
        RowQuery(order=RowOrder.RANDOM),
        RowQuery(search="rare"),
        RowQuery(blank=False, descending=True),
    ],
    ids=["order", "search", "filter"],
)
def test_a_query_paints_each_cell_of_the_screen_once(
    qtbot: QtBot, controllers: Controllers, opened: Bench, monkeypatch: pytest.MonkeyPatch, query: RowQuery
) -> None:
    counted = Counted(opened, monkeypatch)
    # What is painted while the query is slow shows the rows of before.
    opened.rows.model.idsChanged.connect(counted.clear)
    with qtbot.waitSignal(opened.rows.model.idsChanged):
        controllers.navigation.set_query(query)
    qtbot.waitUntil(lambda: counted.of_table > 0)
    first, last = counted.table.shown_places()
    seen = {opened.rows.model.row_at(place).id for place in range(first, last + 1)}  # type: ignore[union-attr]
    assert seen == {row_id for row_id, _column in counted.cells}
    assert max(counted.cells.values()) <= counted.of_table
    settle(qtbot, controllers)
    assert counted.of_table <= 2  # counts that come later may mark rows


def test_rows_that_are_read_ahead_paint_nothing(
    qtbot: QtBot, controllers: Controllers, opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    QCoreApplication.processEvents()
    counted = Counted(opened, monkeypatch)
    _first, last = counted.table.shown_places()
    model = opened.rows.model
    page = last // PAGE + 2
    assert model.row_at(page * PAGE) is None
    qtbot.waitUntil(lambda: page in model.pages.numbers)
    settle(qtbot, controllers)
    QCoreApplication.processEvents()
    assert counted.of_table == 0
    model.dataChanged.emit(model.index(last, 0), model.index(page * PAGE, 0))
    QCoreApplication.processEvents()
    assert counted.of_table == 1


def test_a_new_name_of_a_label_is_painted_at_once(
    qtbot: QtBot, controllers: Controllers, opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    QCoreApplication.processEvents()
    counted = Counted(opened, monkeypatch)
    first, *others = controllers.workspace.labels
    controllers.edits.set_labels([replace(first, name="lab_l 0"), *others])  # as wide as before
    QCoreApplication.processEvents()  # and no timer
    first_row, last_row = counted.table.shown_places()
    seen = {opened.rows.model.row_at(place).id for place in range(first_row, last_row + 1)}  # type: ignore[union-attr]
    assert {row_id for row_id, column in counted.cells if column == Column.SCE} == seen


def test_marks_that_are_the_same_paint_no_headings(
    qtbot: QtBot, controllers: Controllers, opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(opened, monkeypatch)
    opened.rows.columns.show_filters()
    opened.rows.table.viewport().update()
    qtbot.waitUntil(lambda: counted.of_table > 0)
    assert counted.of_headings == 0


def test_widths_are_shared_out_again_only_for_another_arrow(
    opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared: list[int] = []
    monkeypatch.setattr(opened.rows.table, "_share_width", lambda: shared.append(1))
    opened.rows.table.show_sorting(None, False)
    opened.rows.table.show_sorting(Column.TEXT, False)
    opened.rows.table.show_sorting(Column.TEXT, True)
    assert len(shared) == 1


def test_rows_that_are_found_hold_up_other_work_until_they_are_painted(
    qtbot: QtBot, controllers: Controllers, opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(opened, monkeypatch)
    held: list[bool] = []
    opened.rows.model.idsChanged.connect(lambda: held.append(is_answering()))
    controllers.navigation.set_query(RowQuery(blank=False))  # the same rows: no other becomes the current one
    qtbot.waitUntil(lambda: held != [])
    opened.rows.table.viewport().update()
    qtbot.waitUntil(lambda: counted.of_table > 0)
    assert held == [True]
    qtbot.waitUntil(lambda: not is_answering())


def test_a_cell_under_the_mouse_is_seen(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    table = opened.rows.table
    area = table.visualRect(opened.rows.model.index(4, Column.TEXT))
    at = QPointF(area.center())

    def picture() -> QImage:
        return table.viewport().grab(area).toImage()

    before = picture()
    for kind, same in ((QEvent.Type.HoverMove, False), (QEvent.Type.HoverLeave, True)):
        QCoreApplication.sendEvent(table.viewport(), QHoverEvent(kind, at, at, QPointF(0, 0)))
        assert (picture() == before) is same


def test_a_label_that_says_the_same_asks_for_no_layout(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    asked: list[int] = []
    monkeypatch.setattr(label, "updateGeometry", lambda: asked.append(1))
    for text in ("", "wrong", "wrong", ""):
        label.setText(text)
    assert len(asked) == 2


def test_an_icon_is_read_once(qtbot: QtBot) -> None:
    assert icons.icon("flag", "muted").cacheKey() == icons.icon("flag", "muted").cacheKey()


def _drawn(words: str, font: QFont, *, by_qt: bool) -> QImage:
    image = QImage(260, 30, QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)
    painter = QPainter(image)
    painter.setFont(font)
    face, area = Face.of(painter), QRect(4, 2, 250, 26)
    if by_qt:
        laid_out.cache_clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sce_desktop.ui.kit.painting.laid_out", lambda *_: None)
            draw_line(painter, face, area, words)
    else:
        draw_line(painter, face, area, words)
    painter.end()
    return image


@pytest.mark.parametrize("words", [*WORDS, "日本語", "a😀b", "tab\there"])
def test_a_line_looks_as_qt_draws_it(qtbot: QtBot, words: str) -> None:
    font = QFont()
    assert _drawn(words, font, by_qt=False) == _drawn(words, font, by_qt=True)
    assert _drawn(words, font, by_qt=False) != _drawn("", font, by_qt=False)


def test_a_long_text_is_cut_where_it_was_and_shaped_no_further(qtbot: QtBot) -> None:
    image = QImage(400, 60, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    face = Face.of(painter)
    long = "several words of a text that goes on and on " * 100
    for lines in (1, 2, 4):
        lines_of.cache_clear()
        laid_out.cache_clear()
        (*_, last) = lines_of(face, long, 300, lines)
        assert last.endswith("…")
        assert lines_of(face, long[:600], 300, lines) == lines_of(face, long, 300, lines)
        draw_lines(painter, QRect(0, 0, 300, 60), long, lines, face=face)
        draw_lines(painter, QRect(0, 0, 300, 60), long, lines, face=face)
        assert laid_out.cache_info().misses <= lines
    painter.end()
