"""A review goes on where it stopped: filters, order and row of each project."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import view_state
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.view_state import MOST_PROJECTS, ViewState
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery, RowState
from tests.ui.conftest import MakeProject
from tests.ui.panels import open_in, settle
from tests.ui.row_bench import Bench

QUERIES = (
    RowQuery(),
    RowQuery(state=RowState.FLAGGED, order=RowOrder.RANDOM, seed=2**31, descending=True),
    RowQuery(cells=(CellFilter(1, ("é", None)),), among=(3, 1), given=(3, 1), order=RowOrder.GIVEN),
    RowQuery(search="late", state=RowState.LABELLED),
    RowQuery(run_id=4, confidence=(0.0, 0.6), predicted_ids=(2,), disagreeing=(0, 1), pattern="a|b"),
)


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_comes_back_as_it_was(tmp_path: Path, query: RowQuery) -> None:
    kept = ViewState(tmp_path / "places.json")
    kept.keep(tmp_path / "p.sce", query, 7)
    assert kept.shown_last(tmp_path / "p.sce") == (query, 7)
    later = ViewState(tmp_path / "places.json")  # of another start
    assert later.shown_last(tmp_path / "p.sce") == (replace(query, search="", pattern="", cells=()), 7)
    assert later.folded(tmp_path / "p.sce") == frozenset()


def test_texts_stay_out_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "places.json"
    old = {
        "query": {"search": "Mrs Smith", "cells": [{"column": 1, "values": ["Smith"]}]},
        "folded": ["Smith"],
    }
    file.write_text(json.dumps({"/old.sce": old}), encoding="utf-8")
    query = RowQuery(
        search="Mrs Smith", pattern="Smith", cells=(CellFilter(1, ("Smith",), contains="Smith"),)
    )
    ViewState(file).keep(tmp_path / "p.sce", query, 7, folded=(3, 4))
    assert "Smith" not in file.read_text(encoding="utf-8")
    assert ViewState(file).folded(tmp_path / "p.sce") == {3, 4}
    assert ViewState(file).shown_last(Path("/old.sce")) == (RowQuery(), None)


@pytest.mark.parametrize(
    "text", ["", "[1]", "[" * 200_000, '{"/p.sce": 3}', '{"/p.sce": {"query": {"order": "?"}}}']
)
def test_a_broken_file_means_the_top(tmp_path: Path, text: str) -> None:
    (tmp_path / "places.json").write_text(text, encoding="utf-8")
    assert ViewState(tmp_path / "places.json").shown_last(Path("/p.sce")) == (RowQuery(), None)
    assert ViewState(tmp_path / "places.json").folded(Path("/p.sce")) == frozenset()


def test_old_projects_are_forgotten(tmp_path: Path) -> None:
    kept = ViewState(tmp_path / "places.json")
    for number in range(MOST_PROJECTS + 1):
        kept.keep(tmp_path / f"{number}.sce", RowQuery(seed=number), 1)
    assert kept.shown_last(tmp_path / "0.sce") == (RowQuery(), None)
    assert kept.shown_last(tmp_path / f"{MOST_PROJECTS}.sce")[0].seed == MOST_PROJECTS


def test_a_project_opens_where_it_was_closed(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(texts=tuple(f"text {place}" for place in range(30)), labels=("A", "B"))
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.show()
    open_in(qtbot, controllers, path)
    controllers.navigation.set_query(
        replace(controllers.navigation.query, order=RowOrder.LENGTH, descending=True)
    )
    settle(qtbot, controllers)
    controllers.navigation.set_current_row(12)
    query = controllers.navigation.query
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    assert controllers.navigation.query == query
    assert controllers.navigation.current_row == 12
    assert bench.panel.title.text() == "Row 12"
    assert bench.rows.table.currentIndex().row() == bench.rows.model.place_of(12)


def test_a_choice_of_very_many_rows_is_not_kept_in_part(tmp_path: Path) -> None:
    many = tuple(range(1, view_state.MOST_ROW_IDS + 2))
    kept = ViewState(tmp_path / "places.json")
    kept.keep(tmp_path / "p.sce", RowQuery(among=many, given=many, order=RowOrder.GIVEN), 7)
    assert kept.shown_last(tmp_path / "p.sce") == (RowQuery(), 7)
    kept.keep(tmp_path / "p.sce", RowQuery(among=many, order=RowOrder.RANDOM, seed=3), 7)
    assert kept.shown_last(tmp_path / "p.sce")[0] == RowQuery(order=RowOrder.RANDOM, seed=3)
    kept.keep(tmp_path / "p.sce", RowQuery(given=many, order=RowOrder.GIVEN), 7)  # a queue of all rows
    assert kept.shown_last(tmp_path / "p.sce")[0] == RowQuery(given=many[:-1], order=RowOrder.GIVEN)
