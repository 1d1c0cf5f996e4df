"""What guards the pace of a review: the GUI thread asks little of the project, and paints what has changed.

Times are measured by ``make bench ARGS=review``; here it is counted, which a busy machine does not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import rows_data, work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job, JobState
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.core.scored import ALL_SCORES, ScoredChunk, scores_since
from sce_desktop.store.project import Project
from sce_desktop.ui.rows.row_labels import SHOWN
from sce_desktop.ui.rows.rows_model import RowsModel
from tests.store.statements import scans, statements
from tests.ui.panels import open_in, score_no_edits, settle
from tests.ui.row_bench import Bench, bench_fixture  # noqa: F401
from tests.ui.wiring import wired

ROWS, LABELS = 600, 60
MOST_TRANSACTIONS = 6  # one of them finds the next row without an answer, in one statement
MOST_STATEMENTS = 43  # of the GUI thread for a key that decides, those of its transactions included


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "many.sce"
    rng = np.random.default_rng(0)
    with Project.create(path) as project:
        rows = [(str(number), f"text {number % 500}") for number in range(ROWS)]
        project.add_rows(("ref", "text"), [rows], text_columns=[1], source={})
        labels = project.set_labels([Label(f"label {n}", colour="#3b6fd8") for n in range(LABELS)]).labels
        for alias in ("sce", "similarity"):
            run = project.open_run(alias, "sce", "m", alias, labels)
            project.activate(run.id)
            raw = rng.random((ROWS, LABELS), dtype=np.float32) ** 4
            project.add_scores(run.id, range(1, ROWS + 1), Scores(raw / raw.sum(axis=1, keepdims=True)))
            project.finish_run(run.id)
    return path


@pytest.fixture
def many(qtbot: QtBot, controllers: Controllers, bench: Bench, path: Path) -> Iterator[Bench]:
    score_no_edits(controllers)
    controllers.scorer.set_baselines(("similarity",))
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    bench.rows.table.setFocus()
    qtbot.waitUntil(lambda: bench.rows.table.hasFocus() and bool(controllers.navigation.visible_rows))
    settle(qtbot, controllers)
    yield bench
    settle(qtbot, controllers)


def test_a_key_that_decides_asks_little_and_looks_at_no_table_whole(
    qtbot: QtBot, controllers: Controllers, many: Bench
) -> None:
    project = controllers.workspace.project
    assert project is not None
    QTest.keyClick(many.rows.table, Qt.Key.Key_1)  # the first time connections are told how durable to be
    settle(qtbot, controllers)
    with statements(project) as told:
        for key in (Qt.Key.Key_1, Qt.Key.Key_0, Qt.Key.Key_2):
            before, asked = controllers.navigation.current_row, len(told)
            QTest.keyClick(many.rows.table, key)
            assert controllers.navigation.current_row != before
            assert len(told) - asked <= MOST_STATEMENTS, "\n".join(told[asked:])
            assert told[asked:].count("COMMIT") <= MOST_TRANSACTIONS
        settle(qtbot, controllers)  # what follows a little later: the menus, the counts
    assert scans(project, told) == []


def test_lines_are_made_for_the_labels_that_are_shown(
    controllers: Controllers, many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sce_desktop.ui.rows import row_lines

    made: list[int | None] = []
    plain = row_lines.colour_of

    def colour_of(label: Label) -> str:
        made.append(label.id)
        return plain(label)

    monkeypatch.setattr(row_lines, "colour_of", colour_of)
    QTest.keyClick(many.rows.table, Qt.Key.Key_J)
    assert 0 < len(made) <= SHOWN
    many.panel.labels.start_finding()
    QTest.keyClicks(many.panel.labels.finder, "label 59")
    assert [line.name for line in many.panel.labels.shown()] == ["label 59"]


def test_decisions_have_no_disagreement_of_models_counted(
    qtbot: QtBot, controllers: Controllers, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sce_desktop.ui.rows.filter_bar import FilterBar

    counted: list[object] = []
    plain = rows_data.count_rows

    def count_rows(*args: Any, **keywords: Any) -> int:
        counted.append(args)
        return plain(*args, **keywords)

    monkeypatch.setattr(rows_data, "count_rows", count_rows)
    bar = wired(FilterBar, controllers)()
    qtbot.addWidget(bar)
    bar._count_soon.setInterval(0)
    controllers.scorer.set_baselines(("similarity",))
    project = open_in(qtbot, controllers, path)
    qtbot.waitUntil(lambda: bar.disagree.text() != "Disagree")
    settle(qtbot, controllers)
    before = len(counted)
    with qtbot.waitSignal(controllers.workspace.countsChanged):
        assert controllers.edits.decide([1], Decision.NONE)
    settle(qtbot, controllers)
    assert len(counted) == before
    run = project.active_run("similarity")
    assert run is not None
    project.add_rows(("ref", "text"), [[("x", "another text")]], text_columns=[1], source={})
    new = np.full((1, LABELS), 1 / LABELS, np.float32)
    project.add_scores(run.id, [ROWS + 1], Scores(new))
    controllers.scorer.refresh()
    controllers.workspace.count_soon()
    qtbot.waitUntil(lambda: len(counted) > before)
    settle(qtbot, controllers)


class _Told(QObject):
    """How often a model says that what is shown has changed."""

    def __init__(self, model: RowsModel) -> None:
        super().__init__()
        self.headings = self.cells = 0
        model.headerDataChanged.connect(self._on_headings)
        model.dataChanged.connect(self._on_cells)

    def _on_headings(self) -> None:
        self.headings += 1

    def _on_cells(self) -> None:
        self.cells += 1


def test_a_rename_marks_what_is_on_the_screen_without_reading_it_again(
    qtbot: QtBot, controllers: Controllers, many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = many.rows.model
    first = model.row_at(0)
    assert first is not None
    assert first.scores[0] is not None
    assert not first.scores[0].stale
    told = _Told(model)
    read: list[object] = []
    plain = rows_data.load_rows

    def load_rows(*args: Any, **keywords: Any) -> list[rows_data.RowData]:
        read.append(args)
        return plain(*args, **keywords)

    monkeypatch.setattr(rows_data, "load_rows", load_rows)
    before = controllers.workspace.labels
    controllers.edits.set_labels([replace(before[0], name="another name"), *before[1:]])
    aged = model.row_at(0)
    assert aged is not None
    assert [score.stale for score in aged.scores if score] == [True, True]
    qtbot.waitUntil(lambda: told.cells == 1)
    settle(qtbot, controllers)
    assert (read, told.headings, told.cells) == ([], 0, 1)
    controllers.edits.set_labels(before)  # what the runs say fits again
    controllers.workspace.scoresChanged.emit(ALL_SCORES)
    qtbot.waitUntil(lambda: not model.row_at(0).scores[0].stale)  # type: ignore[union-attr]


def test_label_that_goes_has_the_answers_read_again(
    qtbot: QtBot, controllers: Controllers, many: Bench
) -> None:
    QTest.keyClick(many.rows.table, Qt.Key.Key_1)
    settle(qtbot, controllers)
    row = many.rows.model.row_at(0)
    assert row is not None
    assert row.annotation is not None
    (label_id,) = row.annotation.label_ids
    controllers.edits.set_labels([label for label in controllers.workspace.labels if label.id != label_id])
    qtbot.waitUntil(lambda: many.rows.model.row_at(0).annotation is None)  # type: ignore[union-attr]


class _Paints(QObject):
    """How often a widget is painted."""

    def __init__(self, widget: QObject) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.Paint
        return False


class _Area(QObject):
    """How high what is painted of a widget is, paint by paint."""

    def __init__(self, widget: QObject) -> None:
        super().__init__(widget)
        self.heights: list[int] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.heights.append(event.rect().height())
        return False


def test_headings_that_say_the_same_are_not_told_anew(
    qtbot: QtBot, controllers: Controllers, many: Bench
) -> None:
    told = _Told(many.rows.model)
    paints = _Paints(many.rows.table.viewport())
    controllers.workspace.scoresChanged.emit(ALL_SCORES)  # as while scores come
    settle(qtbot, controllers)
    assert (told.headings, told.cells, paints.count) == (0, 0, 0)


def test_an_edit_is_scored_before_the_window_is_painted(
    qtbot: QtBot, controllers: Controllers, many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both take as long: side by side the scores are there when the window is."""
    scorer = controllers.scorer
    del scorer.labels_changed  # that of the class again
    paints = _Paints(many.rows.table.viewport())
    followed: list[int] = []
    monkeypatch.setattr(scorer, "_submit", lambda *_: followed.append(paints.count))
    before = controllers.workspace.labels
    controllers.edits.set_labels([replace(before[0], name="another name"), *before[1:]])
    many.rows.table.viewport().update()
    qtbot.waitUntil(lambda: paints.count > 0)
    assert followed == [0]


def test_of_edits_that_come_together_the_last_one_is_scored(
    qtbot: QtBot, controllers: Controllers, many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = controllers.scorer
    del scorer.labels_changed  # that of the class again
    jobs: list[Job] = []
    controllers.workspace.workers.models.jobSubmitted.connect(jobs.append)
    monkeypatch.setattr(work, "score", lambda *_, progress, **__: progress.check())
    before = controllers.workspace.labels
    for name in ("one name", "another name"):
        controllers.edits.set_labels([replace(before[0], name=name), *before[1:]])
    first, second = jobs
    settle(qtbot, controllers)
    assert not first.attached
    assert second.state is JobState.FINISHED


def test_scores_of_rows_on_the_screen_are_shown_without_reading_them(
    qtbot: QtBot, controllers: Controllers, many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker of models hands them over; what was read of other pages is read again when one looks."""
    model, project = many.rows.model, controllers.workspace.project
    assert project is not None
    model.row_at(ROWS - 1)
    settle(qtbot, controllers)
    read: list[list[int]] = []
    plain = rows_data.load_rows

    def load_rows(project: Project, ids: Any, *args: Any, **keywords: Any) -> list[rows_data.RowData]:
        read.append(ids.tolist())
        return plain(project, ids, *args, **keywords)

    monkeypatch.setattr(rows_data, "load_rows", load_rows)
    before = controllers.workspace.labels
    controllers.edits.set_labels([replace(before[0], name="another name"), *before[1:]])
    old = controllers.workspace.runs
    run = project.open_run("sce", "sce", "m", "sce", controllers.workspace.labels)
    project.activate(run.id)
    scores = Scores(np.full((2, LABELS), 1 / LABELS, np.float32))
    project.add_scores(run.id, [1, ROWS], scores)
    controllers.workspace.runs = (run, old[1])
    chunk = ScoredChunk(run, np.array([1, ROWS]), scores)
    told = _Told(model)
    change = scores_since(old, controllers.workspace.runs, [chunk])
    controllers.workspace.scoresChanged.emit(change)
    settle(qtbot, controllers)
    assert read == []
    shown = [model.row_at(place) for place in (0, 1)]
    assert [row.scores[0].run.id for row in shown if row and row.scores[0]] == [run.id, old[0].id]
    assert [row.scores[0].stale for row in shown if row and row.scores[0]] == [False, True]
    assert told.cells >= 1
    assert shown == plain(
        project,
        np.array([1, 2]),
        controllers.workspace.runs,
        controllers.workspace.labels,
        progress=SilentProgress(),
    )  # what is shown is what would have been read
    model.row_at(ROWS - 1)
    settle(qtbot, controllers)
    (again,) = read
    assert ROWS in again
    assert 1 not in again
    last = model.row_at(ROWS - 1)
    assert last is not None
    assert last.scores[0] is not None
    assert last.scores[0].run.id == run.id


def test_pages_whose_rows_have_no_new_scores_are_let_be(
    qtbot: QtBot, controllers: Controllers, many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, runs = many.rows.model, controllers.workspace.runs
    model.row_at(ROWS - 1)
    settle(qtbot, controllers)
    monkeypatch.setattr(rows_data, "load_rows", lambda *_, **__: pytest.fail("nothing is to be read"))
    told = _Told(model)
    panel_reads: list[object] = []
    monkeypatch.setattr(many.panel, "_read_scores", lambda: panel_reads.append(1))
    scores = Scores(np.full((1, LABELS), 1 / LABELS, np.float32))
    chunk = ScoredChunk(runs[0], np.array([300]), scores)  # in no page that is here
    controllers.workspace.scoresChanged.emit(scores_since(runs, runs, [chunk]))
    model.row_at(ROWS - 1)
    settle(qtbot, controllers)
    assert (told.cells, panel_reads) == (0, [])


def test_scrolling_paints_the_rows_that_come(qtbot: QtBot, controllers: Controllers, many: Bench) -> None:
    table = many.rows.table
    painted = _Area(table.viewport())
    whole = table.viewport().height()
    table.verticalScrollBar().setValue(table.verticalScrollBar().value() + whole // 4)
    qtbot.waitUntil(lambda: painted.heights != [])
    assert sum(painted.heights) < whole // 2


def test_half_a_page_is_painted_after_a_key_and_not_in_it(
    qtbot: QtBot, controllers: Controllers, many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = many.rows.table
    place = table.shown_places()[1] - 2  # the row before the last one that is seen whole
    table.choose(place)
    settle(qtbot, controllers)
    top = table.verticalScrollBar().value()
    painted = _Area(table.viewport())
    drawn: list[int] = []
    plain = table.painting.cells.draw

    def draw(painter: QPainter, area: QRect, column: int, row: rows_data.RowData, *, selected: bool) -> None:
        drawn.append(row.id)
        plain(painter, area, column, row, selected=selected)

    monkeypatch.setattr(table.painting.cells, "draw", draw)
    turns = table._ahead.interval()
    table._ahead.setInterval(600_000)  # the keys come faster than the table turns its page
    for step in range(1, 5):
        settle(qtbot, controllers)  # what is read meanwhile paints rows of its own
        drawn.clear()
        painted.heights.clear()
        QTest.keyClick(table, Qt.Key.Key_1)
        qtbot.waitUntil(lambda: painted.heights != [])
        assert table.currentIndex().row() == place + step
        assert table.shown_places()[0] <= place + step <= table.shown_places()[1]
        assert 0 < len(set(drawn)) <= 5
    assert table._ahead.isActive()
    table._ahead.start(turns)
    qtbot.waitUntil(lambda: table.verticalScrollBar().value() > top + 5 * table.rowHeight(place))
    first, last = table.shown_places()
    assert abs(table.currentIndex().row() - (first + last) // 2) <= 2


def test_a_step_does_not_bring_back_who_has_scrolled_away(
    qtbot: QtBot, controllers: Controllers, many: Bench
) -> None:
    table = many.rows.table
    table.choose(table.shown_places()[1] - 2)
    QTest.keyClick(table, Qt.Key.Key_J)
    assert table._ahead.isActive()
    table.verticalScrollBar().setValue(table.verticalScrollBar().maximum())
    qtbot.waitUntil(lambda: not table._ahead.isActive())
    assert table.verticalScrollBar().value() == table.verticalScrollBar().maximum()


def test_counts_that_are_the_same_are_not_painted_anew(controllers: Controllers, many: Bench) -> None:
    from sce_desktop.ui.labels.labels_model import LabelsModel

    model = wired(LabelsModel, controllers)()
    told: list[object] = []
    model.dataChanged.connect(lambda *_: told.append(_))
    controllers.workspace.scoresChanged.emit(ALL_SCORES)
    controllers.workspace.countsChanged.emit()
    assert told == []
    assert controllers.workspace.counts is not None
    first = controllers.workspace.labels[0].id
    controllers.workspace.counts = replace(controllers.workspace.counts, labels={first: 7})
    controllers.workspace.countsChanged.emit()
    assert len(told) == 1
    controllers.edits.set_labels(
        [replace(controllers.workspace.labels[0], colour="#123456"), *controllers.workspace.labels[1:]]
    )
    assert len(told) == 2
