"""The table's model: pages behind the window, precise news, and a reset for another query alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import rows_data, rows_spoken, rows_text
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.rows_data import PAGE
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.core.scored import ALL_SCORES
from sce_desktop.store.project import Project
from sce_desktop.ui.rows.row_pages import PAGES_A_JOB
from sce_desktop.ui.rows.rows_finder import RowsFinder
from sce_desktop.ui.rows.rows_model import Column, RowsModel
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, score_no_edits, settle
from tests.ui.wiring import controllers_of, wired


@pytest.fixture
def path(make_project: MakeProject) -> Path:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0, 1, 2, 0])
        give_scores(project, [0, 2, 2, 0], alias="similarity", share=0.6)
    return path


@pytest.fixture
def model(qtbot: QtBot, controllers: Controllers, path: Path) -> Iterator[RowsModel]:
    model = wired(RowsModel, controllers)()
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    read_all(qtbot, model)
    yield model
    settle(qtbot, controllers)


def read_all(qtbot: QtBot, model: RowsModel) -> None:
    qtbot.waitUntil(lambda: all(model.row_at(place) is not None for place in range(model.rowCount())))
    settle(qtbot, controllers_of(model))


def said(model: RowsModel, row: int, column: int) -> str:
    return model.data(model.index(row, column), Qt.ItemDataRole.AccessibleTextRole)


def test_it_keeps_the_rules_of_qt(qtmodeltester: ModelTester, model: RowsModel) -> None:
    qtmodeltester.check(model)


def test_cells_say_in_words_what_they_draw(model: RowsModel) -> None:
    assert said(model, 0, Column.NUMBER) == "1"
    assert said(model, 0, Column.TEXT) == "Two days late"
    assert said(model, 0, Column.YOURS) == rows_spoken.NOT_LABELLED
    assert said(model, 0, Column.SCE) == "Late, 80%"
    assert said(model, 0, Column.CELLS) == "Late 80%, Damaged 10%, Praise 10%"
    assert said(model, 0, Column.BASELINE) == "Late, 60%, as the model"
    assert said(model, 1, Column.BASELINE) == "Praise, 60%, unlike the model"
    assert said(model, 2, Column.SCE) == "no text"
    assert [model.row_at(place).right_to_left for place in (0, 4)] == [False, True]  # type: ignore[union-attr]
    headings = [model.headerData(c, Qt.Orientation.Horizontal) for c in range(model.columnCount())]
    assert headings == ["#", "Text", "You", "SCE", "All labels", "Final", "Similarity"]


def test_nothing_is_read_in_the_gui_thread(
    qtbot: QtBot, controllers: Controllers, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gui, guilty = threading.get_ident(), []

    def watched(name: str) -> None:
        real = getattr(Project, name)

        def method(self: Project, *args: object, **keywords: object) -> object:
            if threading.get_ident() == gui:
                guilty.append(name)
            return real(self, *args, **keywords)

        monkeypatch.setattr(Project, name, method)

    model = wired(RowsModel, controllers)()
    for name in ("rows", "row_ids", "scores", "annotations", "marks", "texts"):
        watched(name)
    open_in(qtbot, controllers, path)
    qtbot.waitUntil(lambda: model.rowCount() == 5)
    model.pages.clear()
    assert said(model, 0, Column.TEXT) == rows_text.LOADING
    read_all(qtbot, model)
    for column in range(model.columnCount()):
        said(model, 0, column)
    assert guilty == []


def test_a_decision_is_reported_for_its_row_alone(
    qtbot: QtBot, controllers: Controllers, model: RowsModel
) -> None:
    told: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last, _roles: told.append((first.row(), last.row())))
    with qtbot.assertNotEmitted(model.modelReset):
        controllers.edits.decide([2], Decision.LABEL, [controllers.workspace.labels[1].id or 0])
    assert told == [(1, 1)]
    assert said(model, 1, Column.YOURS) == "Damaged"
    controllers.edits.set_marks([2], flag=True)
    assert said(model, 1, Column.NUMBER) == "2, flagged"


def test_new_scores_are_reported_for_the_rows_that_have_them(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0], finish=False)
    model = wired(RowsModel, controllers)()
    project = open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    read_all(qtbot, model)
    assert said(model, 1, Column.SCE) == "not scored"
    told: list[int] = []
    model.dataChanged.connect(lambda first, last, _r: told.extend(range(first.row(), last.row() + 1)))
    model.set_shown(0, 4)
    give_scores(project, [2], finish=False)  # the next row without a score
    with qtbot.assertNotEmitted(model.modelReset):
        controllers.scorer.refresh()
        controllers.workspace.scoresChanged.emit(ALL_SCORES)
        settle(qtbot, controllers)
    assert set(told) == {1}
    assert said(model, 1, Column.SCE) == "Praise, 80%"


def test_rows_that_a_new_run_has_not_reached_show_the_old_one_as_stale(
    qtbot: QtBot, controllers: Controllers, model: RowsModel
) -> None:
    project = controllers.workspace.project
    assert project is not None
    labels = [Label(f"{label.name}!", id=label.id) for label in controllers.workspace.labels]
    score_no_edits(controllers)
    assert controllers.edits.set_labels(labels)
    settle(qtbot, controllers)
    read_all(qtbot, model)
    assert said(model, 0, Column.SCE) == "Late!, 80%, from an older label set"
    give_scores(project, [1], fingerprint="new", finish=False)
    controllers.scorer.refresh()
    settle(qtbot, controllers)
    read_all(qtbot, model)
    assert said(model, 0, Column.SCE) == "Damaged!, 80%"
    assert said(model, 1, Column.SCE) == "Damaged!, 80%, from an older label set"


def test_another_query_resets(qtbot: QtBot, controllers: Controllers, model: RowsModel) -> None:
    with qtbot.waitSignal(model.modelReset):
        controllers.navigation.set_query(RowQuery(search="late"))
    assert model.ids.tolist() == [1]
    with qtbot.waitSignal(model.modelReset):
        controllers.navigation.set_query(RowQuery(order=RowOrder.FILE, descending=True))
    assert model.ids.tolist() == [5, 4, 3, 2, 1]
    assert model.place_of(4) == 1
    assert model.place_of(99) is None


def test_only_the_newest_query_is_answered(qtbot: QtBot, controllers: Controllers, model: RowsModel) -> None:
    found: list[list[int]] = []
    model.idsChanged.connect(lambda: found.append(model.ids.tolist()))
    for search in ("la", "lat", "kind"):
        controllers.navigation.set_query(RowQuery(search=search))
    settle(qtbot, controllers)
    assert found[-1] == [4]
    assert [1] not in found


def test_pages_that_were_scrolled_past_are_not_fetched(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    count = 40 * PAGE
    model = wired(RowsModel, controllers)()
    open_in(qtbot, controllers, make_project(texts=tuple(f"Row {i}" for i in range(count))))
    qtbot.waitUntil(lambda: model.rowCount() == count)
    settle(qtbot, controllers)
    for page in range(40):
        model.row_at(page * PAGE)
    settle(qtbot, controllers)
    assert sorted(model.pages.numbers) == [0, *range(40 - PAGES_A_JOB, 40)]  # the first came with the ids
    assert said(model, 39 * PAGE + 3, Column.TEXT) == f"Row {39 * PAGE + 3}"


def test_rows_come_with_the_answer_to_a_query(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is painted once, with its rows, and not with placeholders first."""
    count = 6 * PAGE
    model = wired(RowsModel, controllers)()
    open_in(qtbot, controllers, make_project(texts=tuple("even" if i % 2 else "odd" for i in range(count))))
    qtbot.waitUntil(lambda: model.rowCount() == count)
    settle(qtbot, controllers)
    controllers.navigation.set_current_row(4 * PAGE)
    with monkeypatch.context() as patch:
        patch.setattr(model.pages, "read", lambda: None)
        for query, place in (
            (RowQuery(search="even"), 2 * PAGE - 1),  # around the row that one looks at
            (RowQuery(), 4 * PAGE - 1),
            (RowQuery(order=RowOrder.LENGTH), 0),  # one works down another order from its top
            (RowQuery(order=RowOrder.LENGTH, search="no such"), None),
        ):
            with qtbot.waitSignal(model.idsChanged):
                controllers.navigation.set_query(query)
            here = [number for number, page in model.pages._pages.items() for _ in page]
            assert (place is None and not here) or (place is not None and place // PAGE in here)
            if place is not None:
                assert said(model, place, Column.NUMBER) == f"{model.ids[place]:,}"
        settle(qtbot, controllers)


def test_what_is_decided_while_a_query_is_answered_is_shown(
    qtbot: QtBot, controllers: Controllers, model: RowsModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    plain = rows_data.find_rows

    def find_rows(*args: Any, **keywords: Any) -> Any:
        found = plain(*args, **keywords)
        answered.set()
        return found

    monkeypatch.setattr(rows_data, "find_rows", find_rows)
    controllers.navigation.set_query(RowQuery(search="a"))
    assert answered.wait(10)  # and its rows are read, but not heard of here
    controllers.edits.decide([1], Decision.NONE)
    with qtbot.waitSignal(model.idsChanged):
        pass
    place = model.place_of(1)
    assert place is not None
    qtbot.waitUntil(lambda: said(model, place, Column.YOURS) != rows_spoken.NOT_LABELLED)
    settle(qtbot, controllers)


def test_opening_a_project_finds_its_rows_once(
    qtbot: QtBot, controllers: Controllers, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[RowQuery] = []
    find = RowsFinder.find

    def noted(self: RowsFinder, columns: Sequence[int]) -> None:
        asked.append(controllers.navigation.query)
        find(self, columns)

    monkeypatch.setattr(RowsFinder, "find", noted)
    model = wired(RowsModel, controllers)()
    open_in(qtbot, controllers, path)
    qtbot.waitUntil(lambda: model.rowCount() == len(TEXTS))
    settle(qtbot, controllers)
    assert asked == [RowQuery()]


def test_the_next_screen_is_read_ahead(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    count = 4 * PAGE
    model = wired(RowsModel, controllers)()
    open_in(qtbot, controllers, make_project(texts=tuple(f"Row {i}" for i in range(count))))
    qtbot.waitUntil(lambda: model.rowCount() == count)
    settle(qtbot, controllers)
    model.set_shown(PAGE + 30, PAGE + 50)  # 64 rows a page: the next screen begins in the next one
    settle(qtbot, controllers)
    assert sorted(model.pages.numbers) == [0, 1, 2]
    model.set_shown(count - 21, count - 1)  # nothing comes behind
    settle(qtbot, controllers)
    assert sorted(model.pages.numbers) == [0, 1, 2, 3]


def test_a_screen_is_read_while_one_scrolls_towards_it(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    count = 6 * PAGE
    model = wired(RowsModel, controllers)()
    open_in(qtbot, controllers, make_project(texts=tuple(f"Row {i}" for i in range(count))))
    qtbot.waitUntil(lambda: model.rowCount() == count)
    settle(qtbot, controllers)
    for first in (21, 24):  # the next screen begins in the second page
        model.read_ahead(first, first + 20)
    settle(qtbot, controllers)
    assert sorted(model.pages.numbers) == [0, 1]
    model.read_ahead(4 * PAGE - 2, 4 * PAGE + 18)  # a leap goes on nowhere yet
    settle(qtbot, controllers)
    assert sorted(model.pages.numbers) == [0, 1]
    model.read_ahead(4 * PAGE - 5, 4 * PAGE + 15)  # and upwards
    settle(qtbot, controllers)
    assert sorted(model.pages.numbers) == [0, 1, 3]


def test_new_scores_leave_the_texts_as_they_are_painted(
    qtbot: QtBot, controllers: Controllers, model: RowsModel
) -> None:
    read_all(qtbot, model)
    told: list[int] = []
    model.dataChanged.connect(lambda first, _last, _roles: told.append(first.column()))
    assert controllers.workspace.project is not None
    labels = controllers.workspace.labels
    run = controllers.workspace.project.open_run("sce", "sce", "other", "another model", labels)
    controllers.workspace.project.activate(run.id)
    controllers.workspace.project.add_scores(
        run.id, [1], Scores(np.full((1, len(labels)), 1 / len(labels), np.float32))
    )
    model.set_shown(0, 4)
    controllers.scorer.refresh()
    settle(qtbot, controllers)
    qtbot.waitUntil(lambda: bool(told))
    assert set(told) == {Column.SCE}


def test_a_page_that_is_read_while_a_label_is_renamed_comes_aged(
    qtbot: QtBot, controllers: Controllers, model: RowsModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, calls, load = threading.Event(), [], rows_data.load_rows

    def held(*args: Any, **keywords: Any) -> list[rows_data.RowData]:
        calls.append(args)
        rows = load(*args, **keywords)
        assert go.wait(10)
        return rows

    monkeypatch.setattr(rows_data, "load_rows", held)
    monkeypatch.setattr(controllers.scorer, "follow", lambda: None)
    model.set_shown(0, 3)
    controllers.workspace.annotationsChanged.emit(None)
    qtbot.waitUntil(lambda: bool(calls))
    told: list[int] = []
    model.dataChanged.connect(lambda top, _bottom: told.append(top.column()))
    first, *rest = controllers.workspace.labels
    controllers.edits.set_labels([replace(first, name="Another name"), *rest])
    assert told == [Column.YOURS]  # at once
    go.set()
    settle(qtbot, controllers)
    assert said(model, 0, Column.SCE).startswith("Another name")
    assert said(model, 0, Column.SCE).endswith("from an older label set")
    assert told == [Column.YOURS]  # painted once, for the names
    assert len(calls) == 1


def test_closing_empties_it(qtbot: QtBot, controllers: Controllers, model: RowsModel) -> None:
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert model.rowCount() == 0


def test_baselines_have_columns_of_their_own(
    qtbot: QtBot, controllers: Controllers, model: RowsModel
) -> None:
    assert controllers.workspace.project is not None
    give_scores(controllers.workspace.project, [1, 1, 1, 1], alias="other")
    controllers.scorer.set_baselines(("similarity", "other=similarity"))
    settle(qtbot, controllers)
    read_all(qtbot, model)
    assert model.columnCount() == Column.BASELINE + 2
    assert model.headerData(Column.BASELINE + 1, Qt.Orientation.Horizontal) == "Other"
    assert said(model, 0, Column.BASELINE + 1) == "Damaged, 80%, unlike the model"
    controllers.scorer.set_baselines(())
    assert model.columnCount() == Column.BASELINE + 1
