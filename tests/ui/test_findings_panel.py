"""The findings panel: its figures are those of the tasks, and the rows behind them can be seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from sce_desktop.app import make_window
from sce_desktop.controllers import findings_work, work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.scored import ALL_SCORES
from sce_desktop.core.text import exact_share_text, interval_text
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import rolled_up
from sce_desktop.tasks.insight.findings import by_value, column_values, find
from sce_desktop.tasks.tables.periods import by_period
from sce_desktop.ui.findings.findings_models import FigureRole
from sce_desktop.ui.findings.findings_panel import FindingsPanel
from sce_desktop.ui.kit.appearance import Theme
from tests.ui.findings_bench import (  # noqa: F401
    LABELS,
    ROWS,
    evidence,
    opened,
    panel_fixture,
    path_fixture,
    shown_shares,
    wait,
    written,
)
from tests.ui.panels import give_scores, open_in, settle

CHANNEL, DATE = 0, 1


# --- the figures -------------------------------------------------------------------------------------------


def test_shares_are_those_of_the_tasks(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    project = opened(qtbot, controllers, panel, path)
    known = evidence(project)
    found = find(known, alias="sce")
    assert panel.answer is not None
    assert panel.answer.findings.whole == found.whole
    assert shown_shares(panel) == written(found)
    assert found.basis in panel.basis.text()
    assert not panel.sample.isVisible()
    intervals = [panel.shares_model.index(row, 1).data() for row in range(4)]
    low, high = found.whole.shares[0].share.interval or (0, 0)
    assert intervals[0] == interval_text((low, high))

    panel.bar.model.setCurrentIndex(panel.bar.model.findData(""))
    panel.bar.model.activated.emit(1)
    wait(qtbot, panel)
    assert shown_shares(panel) == written(find(evidence(project, "")))
    assert shown_shares(panel) != written(found)


def test_parents_are_summed_up(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controllers.scorer, "labels_changed", lambda: None)
    project = opened(qtbot, controllers, panel, path)
    panel.bar.rolled.click()
    wait(qtbot, panel)
    found = find(rolled_up(evidence(project)), alias="sce")
    assert found.answers == ("Delivery", "Praise", "none of these")
    assert shown_shares(panel) == written(found)
    controllers.edits.set_labels([Label("Late"), Label("Lost")])
    wait(qtbot, panel)
    assert not panel.bar.rolled.isVisible()
    assert panel.answer is not None
    assert panel.answer.findings.answers == ("Late", "Lost", "none of these")


def test_a_column_parts_the_table(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    project = opened(qtbot, controllers, panel, path)
    panel.bar.views["column"].click()
    wait(qtbot, panel)
    known = evidence(project)
    codes, names = by_value(column_values(project, known.row_ids, CHANNEL, SilentProgress()))
    found = find(known, alias="sce", column="channel", codes=codes, names=names)
    assert panel.bar.column.currentText() == "channel"
    assert panel.answer is not None
    assert panel.answer.findings.groups == found.groups
    model = panel.parts_model
    assert [[model.index(row, part).data() for part in range(3)] for row in range(4)] == [
        [exact_share_text(group.shares[row].share.value) for group in found.groups] for row in range(4)
    ]
    assert model.index(1, 2).data(FigureRole) == found.groups[2].shares[1].share
    heading = [model.headerData(part, Qt.Orientation.Horizontal) for part in range(3)]
    assert heading == [f"{group.name}\n{group.rows:,} rows" for group in found.groups]


def test_dates_are_counted_by_period(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    project = opened(qtbot, controllers, panel, path)
    panel.bar.views["time"].click()
    wait(qtbot, panel)
    assert panel.bar.column.currentText() == "date"
    assert "1 row is in no period: its date cannot be read." in panel.basis.text()
    panel.bar.unit.setCurrentIndex(panel.bar.unit.findData("quarter"))
    panel.bar.unit.activated.emit(0)
    wait(qtbot, panel)
    known = evidence(project)
    cells = column_values(project, known.row_ids, DATE, SilentProgress())
    periods = by_period(cells, unit="quarter", progress=SilentProgress())
    found = find(known, alias="sce", column="date", codes=periods.codes, names=periods.names)
    assert panel.answer is not None
    assert [group.name for group in panel.answer.findings.groups] == ["2024Q1", "2024Q2"]
    assert panel.answer.findings.groups == found.groups


def test_the_chart_draws_what_is_checked(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    opened(qtbot, controllers, panel, path)
    panel.bar.views["time"].click()
    wait(qtbot, panel)
    chart = panel.chart
    assert chart is not None
    assert panel.answer is not None
    assert chart.isVisible()
    groups = panel.answer.findings.groups
    assert groups[1].rows == 0  # a week without rows is a gap
    shares = [[group.shares[place].share.value for group in groups] for place in range(4)]
    assert len(chart.plot.lines) == len(chart.drawn())
    for line, place in zip(chart.plot.lines, chart.drawn(), strict=True):
        assert line.name == panel.answer.findings.answers[place]
        first, gap, *_between, last = line.points
        assert first is not None
        assert last is not None
        assert (first.y, gap, last.y) == (shares[place][0], None, shares[place][-1])
        assert last.tip.startswith(f"{line.name}, {groups[-1].name}: ")
    top = max((line.there[-1] for line in chart.plot.lines), key=lambda point: point.y)
    assert chart.plot.text_at(chart.plot.at(top.x, top.y)) == top.tip
    ticks, heights = chart.plot.ticks()
    named = chart.plot.fontMetrics().horizontalAdvance(ticks[-1][1])
    assert chart.plot.at(ticks[-1][0], 0).x() + named / 2 <= chart.plot.width()  # the last name is not cut
    assert heights[0] == (0.0, "0%")
    item = chart.labels.item(0)
    assert item.text() in LABELS
    item.setCheckState(Qt.CheckState.Unchecked)
    assert item.text() not in [line.name for line in chart.plot.lines]
    place = chart.drawn()[0]
    at = chart.plot.at(len(groups) - 1, shares[place][-1]).toPoint()
    QTest.mouseClick(chart.plot, Qt.MouseButton.LeftButton, pos=at)
    wait(qtbot, panel)
    assert panel.examples.title.text() == f"{panel.answer.findings.answers[place]} · {groups[-1].name}"
    panel.bar.table.click()
    wait(qtbot, panel)
    assert panel.parts.isVisible()


def test_a_narrow_window_stays_narrow_and_shows_all_that_can_be_asked(
    qtbot: QtBot, controllers: Controllers, theme: Theme, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work.ModelCache, "load", lambda *_, **__: [])
    monkeypatch.setattr(work, "score", lambda *_, **__: [])
    window = make_window(controllers, theme)
    qtbot.addWidget(window, before_close_func=lambda _: setattr(window, "_settled", True))
    window.show()
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    least = window.minimumSizeHint().width()
    controllers.navigation.panelAsked.emit("Findings")
    (panel,) = window.findChildren(FindingsPanel)
    wait(qtbot, panel)
    bar = panel.bar
    bar.views["time"].click()
    wait(qtbot, panel)
    controls = (*bar.views.values(), bar.column, bar.unit, bar.table, bar.counts, bar.model, bar.rolled)
    tops = {}
    for width in (1600, 1330, least):  # the row panel stands beside it
        window.resize(width, 700)
        qtbot.waitUntil(lambda width=width: window.width() == width and bar.width() == window.panels.width())
        qtbot.wait(1)
        for one in (*controls, bar.copy, bar.export):
            at = QRect(one.mapTo(bar, QPoint()), one.size())
            assert bar.rect().contains(at), (width, one.accessibleName())
            assert one.width() >= one.minimumSizeHint().width(), (width, one.accessibleName())
        middles = {one.mapTo(bar, one.rect().center()).y() for one in controls}
        tops[width] = max(middles) - min(middles), bar.copy.text(), bar.rolled.text()
    assert tops[1600][0] <= 2  # a line
    assert tops[1600][1:] == ("Copy", "Roll up to parent labels")
    assert tops[1330][0] <= 2
    assert tops[1330][1:] == ("", "Roll up")
    assert tops[least][0] > 10  # two lines


def test_counts_take_the_place_of_shares(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    opened(qtbot, controllers, panel, path)
    panel.bar.counts.click()
    wait(qtbot, panel)
    assert panel.answer is not None
    whole = panel.answer.findings.whole
    rows = [one.share.as_count(whole.rows) for one in whole.shares]
    model = panel.shares_model
    assert model.headerData(0, Qt.Orientation.Horizontal) == "Rows"
    assert [model.index(row, 0).data() for row in range(4)] == [f"{one.value:,.0f}" for one in rows]
    low, high = rows[1].interval or (0, 0)
    assert model.index(1, 1).data() == f"{low:,.0f} to {high:,.0f}"
    panel.bar.views["time"].click()
    wait(qtbot, panel)
    chart, groups = panel.chart, panel.answer.findings.groups
    assert chart is not None
    first = groups[0]
    for line, place in zip(chart.plot.lines, chart.drawn(), strict=True):
        point = line.points[0]
        assert point is not None
        assert point.y == pytest.approx(first.shares[place].share.value * first.rows)
    place = chart.drawn()[0]
    parts = [n for n, group in enumerate(groups) if group.rows and not group.shares[place].share.counted]
    parts = [n for n in parts if groups[n].shares[place].share.interval]
    ends = [panel.answer.figure(place, n).interval or (0, 0) for n in parts]
    drawn = [point.interval for point in chart.plot.lines[0].there if point.interval is not None]
    assert np.array(drawn) == pytest.approx(np.array(ends))
    aside = {round(line.there[0].x, 3) for line in chart.plot.lines}
    assert len(aside) == len(chart.plot.lines)  # whiskers do not cover one another
    with qtbot.waitSignal(controllers.messages.notified):
        panel.bar.copy.click()
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert lines[2][1] == f"{panel.answer.figure(0, 0).value:.0f}"
    panel.bar.table.click()
    wait(qtbot, panel)
    assert panel.parts_model.index(0, 0).data() == f"{panel.answer.figure(0, 0).value:,.0f}"


def test_figures_follow_decisions_and_what_is_read_is_kept(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened(qtbot, controllers, panel, path)
    assert panel.answer is not None
    before = panel.answer
    free = [row_id for row_id in range(1, ROWS + 1) if row_id not in set(project.audit_rows(1).tolist())]
    controllers.edits.decide(free[:30], Decision.NONE)
    wait(qtbot, panel)
    assert panel.answer.findings.decided == before.findings.decided + 30
    assert panel.answer.findings.whole == find(evidence(project), alias="sce").whole
    matrix = before.read.evidence.probabilities["sce"]
    assert panel.answer.read.evidence.probabilities["sce"] is matrix
    give_scores(project, [0] * ROWS, fingerprint="another")
    controllers.scorer.refresh()
    controllers.workspace.scoresChanged.emit(ALL_SCORES)
    wait(qtbot, panel)
    assert panel.answer.read.evidence.probabilities["sce"] is not matrix
    assert panel.answer.findings.whole == find(evidence(project), alias="sce").whole


def test_nothing_is_computed_out_of_sight(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened(qtbot, controllers, panel, path)
    looked: list[bool] = []
    look = findings_work.look

    def counted(*args: object, **keywords: object) -> object:
        looked.append(True)
        return look(*args, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(findings_work, "look", counted)
    panel.hide()
    controllers.edits.decide([1], Decision.NONE)
    settle(qtbot, controllers)
    assert not panel.visibility.idle
    assert looked == []
    panel.show()
    wait(qtbot, panel)
    assert looked == [True]
    assert panel.answer is not None
    assert panel.answer.findings.whole == find(evidence(project), alias="sce").whole


def test_the_table_goes_first(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    opened(qtbot, controllers, panel, path)
    panel._on_asked()
    panel._look()
    mine = panel.visibility.job
    assert mine is not None
    order: list[str] = []
    other = controllers.workspace.submit(
        _nothing, controllers.workspace.project, title="A filter", worker="reads", quiet=True
    )
    other.finished.connect(lambda _: order.append("filter"))
    assert panel.visibility.job is None
    assert not mine.attached
    wait(qtbot, panel)
    assert order == ["filter"]
    assert panel.answer is not None


def _nothing(project: Project, *, progress: object) -> None:
    return None


# --- the rows behind a figure ------------------------------------------------------------------------------


def test_rows_of_a_cell(qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path) -> None:
    project = opened(qtbot, controllers, panel, path)
    panel.bar.views["column"].click()
    wait(qtbot, panel)
    panel.parts.setCurrentIndex(panel.parts_model.index(0, 1))
    wait(qtbot, panel)
    examples = panel.examples
    assert examples.title.text() == "Delivery > Late · chat"
    assert examples.found is not None
    late = project.label_set().labels[0].id  # type: ignore[union-attr]
    ids, matrix = project.run_matrix(controllers.workspace.runs[0].id)
    tops = dict(zip(ids.tolist(), matrix.argmax(axis=1).tolist(), strict=True))
    wanted = {row_id for row_id in range(1, ROWS + 1) if (row_id - 1) % 3 == 1 and tops[row_id] == 0}
    assert set(examples.found.ids) == wanted  # what was decided is what the model says in this project
    decided = project.annotations(list(wanted))
    assert examples.found.decided == len(decided)
    assert all(decided[row_id].label_ids == (late,) for row_id in examples.found.ids[: len(decided)])
    assert examples.list.item(0).text().splitlines()[1] == f"text {examples.found.ids[0] - 1}"
    examples.button.click()
    assert controllers.navigation.query.among == examples.found.ids
    with qtbot.waitSignal(controllers.navigation.rowAsked) as asked:
        examples.list.itemActivated.emit(examples.list.item(1))
    assert asked.args == [examples.found.ids[1]]
    controllers.navigation.set_query(RowQuery())
    qtbot.keyClick(panel.parts, Qt.Key.Key_Return)  # as a double click
    assert controllers.navigation.query.among == examples.found.ids


def test_sorting_keeps_the_cell(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    opened(qtbot, controllers, panel, path)
    panel.shares.choose(1, -1)
    panel.shares.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    wait(qtbot, panel)
    shares = [float(text.rstrip(" %")) for text in shown_shares(panel)]
    assert shares == sorted(shares, reverse=True)
    assert panel.examples.title.text() == "Delivery > Lost"
    assert panel.shares_model.order[panel.shares.currentIndex().row()] == 1


# --- handing on --------------------------------------------------------------------------------------------


def test_copied_cells_are_no_formulas(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path
) -> None:
    opened(qtbot, controllers, panel, path)
    panel.bar.views["column"].click()
    wait(qtbot, panel)
    with qtbot.waitSignal(controllers.messages.notified):
        panel.bar.copy.click()
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert panel.answer is not None
    groups = panel.answer.findings.groups
    assert lines[0][:4] == ["channel", "mail", "mail: from", "mail: to"]
    assert lines[0][7].endswith("=shop")
    assert not lines[0][7].startswith("=")
    assert lines[1][1] == "40"
    low, high = groups[0].shares[0].share.interval or (0, 0)
    assert lines[2][:4] == [
        "Delivery > Late",
        *(f"{share:.1%}" for share in (groups[0].shares[0].share.value, low, high)),
    ]


def test_reports_are_those_of_the_tasks(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path, tmp_path: Path
) -> None:
    opened(qtbot, controllers, panel, path)
    panel.bar.views["time"].click()
    wait(qtbot, panel)
    page, workbook = tmp_path / "page.html", tmp_path / "book.xlsx"
    for target in (page, workbook):
        with qtbot.waitSignal(controllers.messages.notified) as told:
            panel.exports.save_to(target)
        assert told.args == [f"The findings were written to {target}.", "info"]
    assert panel.answer is not None
    text = page.read_text(encoding="utf-8")
    whole = panel.answer.findings.whole
    assert f"{whole.shares[0].share.value:.1%}" in text
    assert "1 row is in no period: its date cannot be read." in text
    assert "<h1" in text
    assert "Feedback" in text
    book = openpyxl.load_workbook(workbook)
    assert book.sheetnames == ["Shares", "Parts", "Examples", "About"]
    cells = list(book["Shares"].iter_rows(min_row=2, max_col=2, values_only=True))
    assert [name for name, _ in cells] == [*LABELS, "none of these"]
    assert [value for _, value in cells] == pytest.approx([one.share.value for one in whole.shares])
    said = [cell.value for cell in book["About"]["A"]]
    (model,) = [line for line in said if str(line).startswith("Model: sce: ")]
    assert model in text
    assert panel.answer.findings.basis in " ".join(map(str, said))


def test_a_place_that_cannot_be_written_to_is_reported(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path, tmp_path: Path
) -> None:
    opened(qtbot, controllers, panel, path)
    with qtbot.waitSignal(controllers.messages.notified) as told:
        panel.exports.save_to(tmp_path / "no folder" / "page.html")
    assert told.args[1] == "warn"


def test_the_file_is_asked_for_without_a_nested_loop(
    qtbot: QtBot, controllers: Controllers, panel: FindingsPanel, path: Path, tmp_path: Path
) -> None:
    opened(qtbot, controllers, panel, path)
    panel.bar.workbook.trigger()
    dialog = panel.findChild(QFileDialog)
    assert dialog is not None
    with qtbot.waitSignal(controllers.messages.notified):
        dialog.fileSelected.emit(str(tmp_path / "chosen.xlsx"))
    assert openpyxl.load_workbook(tmp_path / "chosen.xlsx")["Shares"]["A2"].value == LABELS[0]
    dialog.reject()
