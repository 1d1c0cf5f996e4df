"""Final labels in the window: the dialog, the column of the table, the filter and the count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import rows_text
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.queries import follow_runs, has_filters
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import FinalSource, RowQuery
from sce_desktop.store.project import Project
from sce_desktop.ui.evaluate.audit_dialog import AuditDialog
from sce_desktop.ui.evaluate.final_dialog import FinalDialog
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.rows.filter_bar import FilterBar
from sce_desktop.ui.rows.filter_words import filters_in_words
from sce_desktop.ui.rows.rows_model import Column
from tests.tasks.finals import audit, scored_project
from tests.ui.panels import open_in, score_no_edits, settle
from tests.ui.row_bench import Bench
from tests.ui.wiring import wired


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> Iterator[Bench]:
    """600 scored rows of which 200 are an audit sample, labelled."""
    project, gold = scored_project(tmp_path / "p.sce")
    with project:
        audit(project, gold, 200)
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.resize(1200, 700)
    bench.show()
    bench.activateWindow()
    open_in(qtbot, controllers, tmp_path / "p.sce")
    score_no_edits(controllers)
    settle(qtbot, controllers)
    yield bench
    settle(qtbot, controllers)


def dialog_of(qtbot: QtBot, controllers: Controllers) -> FinalDialog:
    dialog = wired(FinalDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.facts is not None)
    return dialog


def test_the_slider_says_with_numbers_what_a_threshold_means(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    dialog = dialog_of(qtbot, controllers)
    assert dialog.facts is not None
    assert dialog.summary.text().startswith("400 rows labelled by the model, 0 to review; error at most ")
    assert dialog.summary.text().endswith("(95% confidence, 200 audited rows).")
    dialog.slider.setValue(90)
    model, review = dialog.facts.counts(0.9)
    assert dialog.spin.value() == 90
    assert dialog.summary.text().startswith(f"{model} rows labelled by the model, {review} to review")
    assert dialog.slider.accessibleDescription() == dialog.summary.text()
    assert "Expected error" in dialog.notes.text()
    assert dialog.chart.chosen is not None
    assert dialog.chart.chosen.x == pytest.approx(model / 400)
    assert not dialog.draw.isVisible()
    qtbot.keyClick(dialog.slider, Qt.Key.Key_Left)
    assert dialog.spin.value() == 89
    dialog.reject()


def test_a_maximum_error_chooses_the_threshold_or_says_why_not(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    dialog = dialog_of(qtbot, controllers)
    dialog.max_error.setValue(1)
    dialog.choose.click()
    assert (
        "audited rows are the least for an error of 1%, more where some are wrong: label at least "
        in dialog.notes.text()
    )
    assert dialog.spin.value() == 0
    dialog.max_error.setValue(30)
    assert "are the least" not in dialog.notes.text()
    dialog.choose.click()
    assert dialog.facts is not None
    assert dialog.facts.audited is not None
    chosen = dialog.facts.audited.choose(0.3)
    assert dialog.spin.value() == round(100 * chosen.threshold)
    dialog.accept()
    project = controllers.workspace.project
    assert project is not None
    assert (project.threshold() or 0.0) == pytest.approx(chosen.threshold)
    assert controllers.preferences.settings["final_column"]


def test_the_chart_names_its_figures(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    dialog = dialog_of(qtbot, controllers)
    assert "if the model labels every row" in dialog.chart.accessibleDescription()
    points = dialog.chart.lines[0].there
    assert points[-1].x == 1.0
    assert 0 < points[-1].y < points[-1].interval[1] <= dialog.chart.y_range[1] * 2
    said = dialog.chart.text_at(QPointF(dialog.chart.at(points[-1].x, points[-1].y)))
    assert "100.0% of the open rows labelled by the model: expected error" in said
    dialog.reject()


def test_without_an_audit_it_says_what_to_do(
    qtbot: QtBot, controllers: Controllers, theme: Theme, tmp_path: Path
) -> None:
    project, _gold = scored_project(tmp_path / "p.sce", rows=50)
    project.close()
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.show()
    open_in(qtbot, controllers, tmp_path / "p.sce")
    score_no_edits(controllers)
    settle(qtbot, controllers)
    dialog = open_dialog(wired(FinalDialog, controllers)(bench))
    qtbot.waitUntil(lambda: dialog.facts is not None)
    assert dialog.summary.text() == "50 rows labelled by the model, 0 to review."
    assert dialog.notes.text() == "No error can be told yet: label an audit sample, or import gold labels."
    assert dialog.draw.isVisible()
    assert not dialog.choose.isEnabled()
    assert not dialog.chart.isVisible()
    dialog.draw.click()
    qtbot.waitUntil(lambda: bool(bench.findChildren(AuditDialog)))
    (asked,) = bench.findChildren(AuditDialog)
    qtbot.waitUntil(lambda: asked.plan is not None)
    asked.reject()
    settle(qtbot, controllers)


def test_the_column_shows_one_answer_a_row(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    table, model = opened.rows.table, opened.rows.model
    assert table.isColumnHidden(Column.FINAL)
    controllers.preferences.change_setting("final_column", True)
    assert not table.isColumnHidden(Column.FINAL)
    assert model.headerData(Column.FINAL, Qt.Orientation.Horizontal) == "Final"
    controllers.edits.set_threshold(0.9)
    settle(qtbot, controllers)
    project = controllers.workspace.project
    assert project is not None
    ids, codes = project.final_sources(1)
    words = {0: "To review", 1: ", by you", 2: "late, by the model"}
    for place in range(40):
        said = model.index(place, Column.FINAL).data(Qt.ItemDataRole.AccessibleTextRole)
        code = int(codes[list(ids).index(int(model.ids[place]))])
        assert said.endswith(words[code]), (place, said, code)
    assert {int(code) for code in codes[:40]} == {0, 1, 2}
    row_id = next(int(ids[n]) for n in range(40) if codes[n] == 0)
    controllers.edits.decide([row_id], Decision.LABEL, [controllers.workspace.labels[1].id or 0])
    place = model.place_of(row_id)
    assert place is not None
    assert model.index(place, Column.FINAL).data() == "damaged, by you"
    controllers.edits.decide([row_id], Decision.SKIPPED)
    assert model.index(place, Column.FINAL).data() == "To review"
    assert not table.grab().isNull()
    assert table.columnWidth(Column.FINAL) >= 60


def entry(menu: QMenu, name: str) -> QAction:
    return next(action for action in menu.actions() if action.text().startswith(name))


def test_rows_to_review_are_counted_and_found(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    bar = wired(FilterBar, controllers)()
    qtbot.addWidget(bar)
    controllers.edits.set_threshold(0.9)
    settle(qtbot, controllers)
    counts = controllers.workspace.counts
    assert counts is not None
    review = counts.final[FinalSource.NONE]
    assert counts.final[FinalSource.ANNOTATOR] == 200
    assert sum(counts.final.values()) == 600
    menu = bar.more_menu()
    assert entry(menu, "To review").text() == f"To review  {review}"
    entry(menu, "To review").trigger()
    assert controllers.navigation.query.final is FinalSource.NONE
    qtbot.waitUntil(lambda: len(opened.rows.model.ids) == review)
    assert filters_in_words(controllers.navigation.query, (), ()) == ["To review"]
    controllers.edits.set_threshold(0.5)  # found again by the other threshold
    qtbot.waitUntil(lambda: len(opened.rows.model.ids) == 0)
    controllers.edits.set_threshold(0.9)
    qtbot.waitUntil(lambda: len(opened.rows.model.ids) == review)
    entry(bar.more_menu(), "To review").trigger()
    assert controllers.navigation.query.final is None
    qtbot.waitUntil(lambda: len(opened.rows.model.ids) == 600)


def test_a_query_by_final_label_is_a_filter_of_the_main_run(controllers: Controllers) -> None:
    query = RowQuery(final=FinalSource.MODEL)
    assert has_filters(query)
    assert follow_runs(query, ()).run_id is None
    assert replace(query, final=None) == RowQuery()


def test_several_labels_of_a_row_are_all_shown(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    import numpy as np

    from sce_desktop.core.runs import Scores

    with Project.create(tmp_path / "m.sce") as project:
        project.add_rows(("text",), [[("one",), ("two",)]], text_columns=[0], source={})
        labels = project.set_labels([Label("a"), Label("b")], multi_label=True).labels
        run = project.open_run("sce", "sce", "m", "f", labels, multi_label=True)
        project.add_scores(run.id, [1, 2], Scores(np.asarray([[0.9, 0.8], [0.1, 0.2]], np.float32)))
        project.finish_run(run.id)
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.show()
    open_in(qtbot, controllers, tmp_path / "m.sce")
    score_no_edits(controllers)
    settle(qtbot, controllers)
    model = bench.rows.model
    rows = [model.row_at(place) for place in range(2)]
    assert rows[0] is not None
    assert rows[1] is not None
    assert rows_text.final_words(rows[0], model.labels, 0.0) == "a, b, by the model"
    assert rows_text.final_words(rows[1], model.labels, 0.0) == "To review"
    dialog = dialog_of(qtbot, controllers)
    assert "only where a row has one label" in dialog.notes.text()
    assert not dialog.draw.isVisible()
    dialog.reject()
    settle(qtbot, controllers)
