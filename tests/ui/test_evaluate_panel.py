"""The panel Evaluate: its figures, what they rest on, and the ways to the rows behind them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import evaluate_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.evaluate_work import Evaluation
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import AUDIT
from sce_desktop.core.runs import Scores
from sce_desktop.core.training import Fit
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.annotators import GOLD as GOLD_CODER
from sce_desktop.tasks.evaluation.evidence import Source, gather, rolled_up
from sce_desktop.tasks.evaluation.quality import Quality, assess
from sce_desktop.ui.evaluate.evaluate_panel import CONFUSIONS, EvaluatePanel
from sce_desktop.ui.evaluate.evaluate_words import BLIND, BLIND_AUDIT
from sce_desktop.ui.kit.theme import font, px
from tests.ui.conftest import MakeProject
from tests.ui.panels import add_version, give_scores, open_in, settle
from tests.ui.wiring import controllers_of, wired

LABELS = ("Late", "Damaged", "Praise")
TEXTS = tuple(f"text number {n}" for n in range(12))
TOPS = [0, 1, 2] * 4
GOLD = [0, 1, 2, 0, 1, 0, 1, 1, 2, 0]  # rows 6 and 7 are wrong: Praise for Late, Late for Damaged

Open = Callable[..., EvaluatePanel]


@pytest.fixture
def show(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Iterator[Open]:
    """Open a project that was scored, and some of it decided, and show the panel."""

    def show(
        gold: list[int] = GOLD,
        *,
        labels: tuple[str, ...] = LABELS,
        scored: bool = True,
        origin: Origin = Origin.HAND,
        prepare: Callable[[Project], object] = lambda _: None,
    ) -> EvaluatePanel:
        path = make_project(texts=TEXTS, labels=labels)
        with Project.open(path) as project:
            prepare(project)
            if scored:
                give_scores(project, TOPS)
                give_scores(project, [0] * 12, alias="similarity", share=0.5)
            label_set = project.label_set()
            for row_id, place in enumerate(gold, 1):
                assert label_set is not None
                project.decide([row_id], Decision.LABEL, [label_set.labels[place].id or 0], origin=origin)
        open_in(qtbot, controllers, path)
        panel = wired(EvaluatePanel, controllers)()
        qtbot.addWidget(panel)
        panel.resize(1280, 300)
        panel.show()
        if scored:
            qtbot.waitUntil(lambda: panel.found is not None, timeout=60_000)  # scikit-learn is imported
        return panel

    yield show
    settle(qtbot, controllers)


def _quality(controllers: Controllers, *, rolled: bool = False) -> Quality:
    assert controllers.workspace.project is not None
    evidence = gather(controllers.workspace.project, ["sce", "similarity"])
    return assess(rolled_up(evidence) if rolled else evidence)


def _cells(panel: EvaluatePanel, table: str = "models") -> list[list[str]]:
    model = getattr(panel, table).figures
    return [
        [model.data(model.index(row, column)) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_the_figures_are_those_of_the_task(controllers: Controllers, show: Open) -> None:
    panel = show()
    part = _quality(controllers).parts[0]
    assert part.source is Source.HAND
    measures = part.models[0].measures
    low, high = measures.accuracy_interval
    assert _cells(panel)[0] == [
        "SCE",
        "80%",
        f"{100 * low:.0f} to {100 * high:.0f}%",
        f"{100 * measures.macro_f1:.0f}%",
        f"{100 * measures.ece:.0f}%",
    ]
    assert [row[:2] for row in _cells(panel)] == [["SCE", "80%"], ["Similarity", "40%"]]
    late = measures.labels[0]
    assert panel.labels.figures.rows[0][:3] == ("Late", 4, late.f1)
    panel.details.click()
    assert panel.labels.figures.rows[0][:5] == ("Late", 4, late.precision, late.recall, late.f1)
    assert panel.labels.figures.rows[1][5] is None  # similarity never says Damaged: it has no precision
    assert panel.bar.result.text() == f"SCE 80% ({100 * low:.0f} to {100 * high:.0f}%) vs. Similarity 40%"
    assert panel.bar.basis.text() == "10 of 10 labelled rows, not a random sample."
    assert part.validity in panel.bar.info.toolTip()
    assert panel.bar.info.accessibleDescription() == panel.bar.info.toolTip()
    tip = panel.models.figures.headings[4].tip
    assert "adaptive" in tip
    assert f"{100 * part.models[0].width_ece:.0f}% (equal-width bins)" in tip
    assert "SCE vs. Similarity: no clear difference yet" in panel.summary.text()


def test_macro_f1_is_the_mean_of_the_f1_that_is_shown(controllers: Controllers, show: Open) -> None:
    """What is given and no row has counts as 0, and is shown so; what is neither is a dash."""
    panel = show([0, 1, 0, 0, 1], labels=(*LABELS, "Never"))
    panel.details.click()
    headings = [heading.name for heading in panel.labels.figures.headings]
    column = headings.index("SCE F1")
    shown = [row[column] for row in panel.labels.figures.rows]
    assert shown == [pytest.approx(0.8), 1, 0, None]
    assert panel.models.figures.rows[0][3] == pytest.approx((0.8 + 1 + 0) / 3)
    assert [row[column] for row in _cells(panel, "labels")] == ["80%", "100%", "0%", "–"]
    assert [row[column - 1] for row in _cells(panel, "labels")] == ["67%", "100%", "–", "–"]
    assert "0 if only predicted" in panel.models.figures.headings[3].tip


def test_the_charts_say_the_same_in_words(qtbot: QtBot, controllers: Controllers, show: Open) -> None:
    panel = show()
    ece = _quality(controllers).parts[0].models[0].measures.ece
    assert (
        f"SCE calibration error (ECE): {100 * ece:.0f}% (adaptive)"
        in panel.charts.reliability.accessibleDescription()
    )
    assert panel.summary.text().startswith("100% coverage: 80% correct\n")
    controllers.edits.set_threshold(0.9)  # no row is that certain
    assert "confidence ≥ 90%" not in panel.summary.text()
    controllers.edits.set_threshold(0.8)
    assert "100% coverage (confidence ≥ 80%): 80% correct" in panel.summary.text()
    chart = panel.charts.coverage
    assert [name for name, _ in chart.lines] == ["SCE", "Similarity"]
    assert (chart.lines[0][1][-1].x, chart.lines[0][1][-1].y) == (1.0, 0.8)
    panel.tabs.setCurrentWidget(panel.charts)
    assert chart.grab().size().width() > 200
    assert chart.text_at(chart._at(1.0, 0.8)).startswith("SCE at 100.0%: 80.0% correct (")
    assert chart.text_at(chart._at(0.0, 1.0)) == ""


def test_a_click_on_a_confusion_shows_exactly_its_rows(
    qtbot: QtBot, controllers: Controllers, show: Open
) -> None:
    panel = show()
    panel.tabs.setCurrentWidget(panel.confusions)
    square = panel.confusions.square
    square.clicked.emit(square.model().index(0, 2))
    assert controllers.navigation.query.among == (6,)
    assert controllers.navigation.query.name == CONFUSIONS
    square.setCurrentIndex(square.model().index(1, 0))
    qtbot.keyClick(square, Qt.Key.Key_Return)
    assert controllers.navigation.query.among == (7,)
    square.clicked.emit(square.model().index(2, 1))  # no such row
    assert controllers.navigation.query.among == (7,)
    panel.models.selectRow(1)  # similarity always says Late
    assert panel.tabs.tabText(1) == "Confusion matrix: Similarity"
    square.clicked.emit(square.model().index(2, 0))
    assert controllers.navigation.query.among == (3, 9)
    controllers.edits.decide([3], Decision.SKIPPED)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.annotations([3])[3].queue == CONFUSIONS


def test_names_over_confusions_are_cut_where_they_differ(show: Open) -> None:
    names = ("Delivery > Late by more than a week", "Delivery > Lost", "Praise")
    panel = show(labels=names)
    panel.tabs.setCurrentWidget(panel.confusions)
    pairs, across, down = panel.confusions.pairs, Qt.Orientation.Horizontal, Qt.Orientation.Vertical
    assert pairs.cell == px(120)  # as wide as is good, of more
    # Qt would take the two lines for one, and cut that.
    assert panel.confusions.square.horizontalHeader().textElideMode() is Qt.TextElideMode.ElideNone
    panel.confusions.square.resize(px(170 + 3 * 80), 200)
    assert px(72) <= pairs.cell <= px(80)
    assert panel.confusions.square.columnWidth(0) == pairs.cell
    assert pairs.headerData(0, across).startswith("Delivery >\nLate")
    assert pairs.headerData(0, across).endswith("…")
    assert pairs.headerData(1, across) == "Delivery >\nLost"
    assert pairs.headerData(1, down) == "Delivery > Lost"
    for place, name in enumerate(names):
        assert pairs.headerData(place, across, Qt.ItemDataRole.AccessibleTextRole) == name
        assert name in pairs.headerData(place, across, Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize("width", [500, 640, 700, 830, 900, 1150, 1500])
def test_no_name_over_confusions_is_seen_in_half(show: Open, width: int) -> None:
    panel = show(labels=tuple(f"Label number {n}" for n in range(12)))
    panel.tabs.setCurrentWidget(panel.confusions)
    square = panel.confusions.square
    square.resize(px(width), 200)
    cell, room = panel.confusions.pairs.cell, square.viewport().width()
    assert px(72) <= cell <= px(120)
    assert 12 * cell <= room or room % cell < 12  # whole columns, but for what a division leaves over


def test_confusions_say_which_axis_is_the_truth(show: Open) -> None:
    panel = show()
    panel.tabs.setCurrentWidget(panel.confusions)
    square = panel.confusions.square
    assert (square.across.text(), square.down.text()) == ("Predicted →", "Your label ↓")
    across, down = square.horizontalHeader().geometry(), square.verticalHeader().geometry()
    corner = QRect(down.left(), across.top(), down.width(), across.height())
    for label in (square.across, square.down):
        assert label.isVisible()
        assert corner.contains(QRect(label.mapTo(square, QPoint()), label.size()))
        assert label.height() >= label.sizeHint().height()
        assert label.width() >= label.sizeHint().width()


def test_the_headings_of_the_commonest_confusions_fit_a_narrow_panel(show: Open) -> None:
    panel = show(labels=(*LABELS, *(f"Label {n}" for n in range(20))))
    panel.tabs.setCurrentWidget(panel.confusions)
    table = panel.confusions.list
    table.resize(px(420), 200)
    metrics = QFontMetrics(font("column"))
    for column, heading in enumerate(table.figures.headings):
        assert metrics.horizontalAdvance(heading.title) <= table.columnWidth(column) - px(12)


def test_whose_figure_it_is_stands_on_a_line_of_its_own(show: Open) -> None:
    panel = show()
    panel.details.click()
    figures = panel.labels.figures
    across = Qt.Orientation.Horizontal
    assert figures.headerData(2, across) == "SCE\nPrecision"
    assert figures.headerData(7, across) == "Similarity\nF1"
    assert figures.headerData(7, across, Qt.ItemDataRole.AccessibleTextRole) == "Similarity F1"
    assert figures.tsv().splitlines()[0].split("\t")[2] == "SCE Precision"
    assert "–: no rows and never predicted" in figures.headerData(7, across, Qt.ItemDataRole.ToolTipRole)


def test_of_many_labels_the_commonest_confusions_are_listed(controllers: Controllers, show: Open) -> None:
    panel = show(labels=(*LABELS, *(f"Label {n}" for n in range(20))))
    assert panel.confusions.currentWidget() is panel.confusions.list
    assert [row[:3] for row in panel.confusions.list.figures.rows] == [
        ("Late", "Praise", 1),
        ("Damaged", "Late", 1),
    ]
    panel.confusions.list.chosen.emit(1)
    assert controllers.navigation.query.among == (7,)


def test_labels_are_sorted_and_lead_to_their_rows(controllers: Controllers, show: Open) -> None:
    panel = show()
    panel.labels.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in _cells(panel, "labels")] == ["Praise", "Late", "Damaged"]
    panel.labels.clicked.emit(panel.labels.figures.index(0, 0))
    assert controllers.navigation.query.among == (3, 9)


def test_new_decisions_are_measured_while_somebody_looks(
    qtbot: QtBot, controllers: Controllers, show: Open
) -> None:
    panel = show()
    qtbot.waitUntil(lambda: panel.visibility.idle)
    controllers.edits.decide([11], Decision.LABEL, [controllers.workspace.labels[1].id or 0])
    panel.visibility.within(0)  # it waits longer the longer the last one took, and that one had imports to do
    qtbot.waitUntil(lambda: panel.bar.basis.text().startswith("11 of 11"))
    panel.hide()
    controllers.edits.decide([12], Decision.NONE)
    settle(qtbot, controllers)
    assert panel.visibility.job is None
    assert not panel.visibility.idle
    assert "11 of 11" in panel.bar.basis.text()
    panel.show()
    qtbot.waitUntil(lambda: "Excluded from accuracy: 1 row labelled" in panel.bar.info.toolTip())


def test_figures_that_are_late_say_so(qtbot: QtBot, controllers: Controllers, show: Open) -> None:
    panel = show()
    qtbot.waitUntil(lambda: panel.visibility.idle)
    panel.visibility._rests = 3_600_000  # as after a measuring that took long
    controllers.edits.decide([11], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    assert panel.bar.basis.text().startswith("Updating after your last changes. 10 of 10")
    panel.visibility.within(0)
    qtbot.waitUntil(lambda: panel.bar.basis.text().startswith("11 of 11"))


def test_ways_of_deciding_are_chosen_and_never_mixed(controllers: Controllers, show: Open) -> None:
    def imported(project: Project) -> None:
        label_set = project.label_set()
        assert label_set is not None
        project.decide([12], Decision.LABEL, [label_set.labels[0].id or 0], origin=Origin.IMPORTED)
        project.decide([11], Decision.LABEL, [label_set.labels[1].id or 0], origin=Origin.BULK)

    panel = show(prepare=imported)
    box = panel.bar.source
    assert [box.itemText(place) for place in range(box.count())] == [
        "Your labels (10)",
        "Accepted predictions (1)",
        "Imported labels (1)",
    ]
    assert box.currentIndex() == 0
    box.setCurrentIndex(2)
    box.activated.emit(2)
    assert _cells(panel)[0][1] == "0%"
    assert panel.bar.basis.text() == "1 of 1 labelled row, not a random sample."
    assert "Imported labels: quality unknown." in panel.bar.info.toolTip()
    box.activated.emit(box.setCurrentIndex(1) or 1)
    assert panel.pages.currentWidget() is panel.message
    assert "agree with the model by construction" in panel.message.text()


def test_right_answers_of_a_column_are_measured_against(controllers: Controllers, show: Open) -> None:
    """Every row has one: they come first, are exact, and say that they are no random sample."""

    def prepare(project: Project) -> None:
        right = {
            row_id: LABELS[place] for row_id, place in enumerate([0, 1, 2, 0, 1, 1, 2, 2, 2, 0, 1, 2], 1)
        }
        project.add_coder(GOLD_CODER, "column truth", right | {12: "No such label"})

    panel = show(prepare=prepare)
    said = [panel.bar.source.itemText(place) for place in range(panel.bar.source.count())]
    assert said == ["Gold labels (12)", "Your labels (10)"]
    assert [row[:2] for row in _cells(panel)] == [["SCE", "73%"], ["Similarity", "27%"]]
    assert panel.bar.basis.text() == "11 of 12 rows with gold labels."
    assert "Excluded: 1 row whose gold label is not in your labels." in panel.bar.info.toolTip()
    assert "Gold labels from column truth for every row" in panel.bar.info.toolTip()
    square = panel.confusions.square
    assert (square.down.text(), square.down.toolTip()) == ("Gold: column truth ↓", "Gold: column truth")
    assert (
        panel.confusions.pairs.headerData(0, Qt.Orientation.Vertical, Qt.ItemDataRole.ToolTipRole)
        == "Gold: column truth: Late"
    )
    assert panel.confusions.tsv().startswith("Gold: column truth / predicted\t")
    panel.confusions.chosen.emit((1, 2))
    assert list(controllers.navigation.query.given) == [6]
    panel.bar.source.setCurrentIndex(1)
    panel.bar.source.activated.emit(1)
    assert _cells(panel)[0][:2] == ["SCE", "80%"]
    assert panel.bar.basis.text().startswith("10 of 10 labelled rows")
    assert square.down.text() == "Your label ↓"


LONG_SOURCE = "column what three annotators agreed on"


def with_gold(project: Project) -> None:
    project.add_coder(GOLD_CODER, LONG_SOURCE, {1: "Late", 2: "Late"})


def test_a_long_gold_source_is_cut_over_confusions(show: Open) -> None:
    panel = show(prepare=with_gold)
    panel.tabs.setCurrentWidget(panel.confusions)
    down = panel.confusions.square.down
    assert down.width() >= down.sizeHint().width()
    assert "…" in down.text()
    assert down.text().endswith("↓")
    assert down.toolTip() == f"Gold: {LONG_SOURCE}"


def test_the_commonest_confusions_name_the_gold_source(show: Open) -> None:
    panel = show(labels=(*LABELS, *(f"Label {n}" for n in range(20))), prepare=with_gold)
    assert panel.confusions.list.figures.headings[0].title == f"Gold: {LONG_SOURCE}"


def test_right_answers_come_and_go_while_one_looks(
    qtbot: QtBot, controllers: Controllers, show: Open
) -> None:
    panel = show([], prepare=lambda project: project.add_coder(GOLD_CODER, "column truth", {1: "Late"}))
    assert panel.part is not None
    assert (panel.part.source, panel.part.rows) == (Source.GOLD, 1)
    assert "apply to all rows only if" in panel.bar.info.toolTip()
    assert controllers.workspace.project is not None
    assert controllers.edits.remove_coder(controllers.workspace.project.coders()[0].id)
    panel.visibility.within(0)  # it waits longer the longer the last one took
    qtbot.waitUntil(lambda: "Nothing is labelled yet" in panel.message.text())
    controllers.edits.undo()
    panel.visibility.within(0)
    qtbot.waitUntil(lambda: panel.part is not None and panel.part.source is Source.GOLD)


def test_right_answers_are_rolled_up_and_any_of_several_is_right(show: Open) -> None:
    children = ("Trouble > Late", "Trouble > Damaged", "Praise")

    def prepare(project: Project) -> None:
        project.set_labels(project.label_set().labels, multi_label=True)  # type: ignore[union-attr]
        project.add_coder(
            GOLD_CODER, "column truth", {1: children[1], 2: [children[1], "Praise"], 3: "Praise"}
        )

    panel = show([], labels=children, prepare=prepare)
    assert panel.part is not None
    assert panel.part.models[0].measures.accuracy == pytest.approx(2 / 3)
    panel.bar.rolled.click()
    assert controllers_of(panel).workspace.project is not None
    evidence = rolled_up(gather(controllers_of(panel).workspace.project, ["sce"], gold=True))
    assert assess(evidence).parts[0].models[0].measures.accuracy == 1.0


def test_children_are_rolled_up(qtbot: QtBot, controllers: Controllers, show: Open) -> None:
    panel = show(labels=("Late", "Parcel > Damaged", "Parcel > Lost"))
    assert panel.bar.rolled.isVisible()
    panel.bar.rolled.setChecked(True)
    qtbot.waitUntil(lambda: panel.found is not None)
    assert [row[0] for row in _cells(panel, "labels")] == ["Late", "Parcel"]
    accuracy = _quality(controllers, rolled=True).parts[0].models[0].measures.accuracy
    assert panel.models.figures.rows[0][1] == accuracy
    panel.bar.rolled.setChecked(False)
    qtbot.waitUntil(lambda: panel.labels.figures.rowCount() == 3)


def test_what_is_shown_is_copied_for_a_spreadsheet(controllers: Controllers, show: Open) -> None:
    panel = show(labels=("Late", "=SUM(1)\tx", "Praise"))
    panel.details.click()
    panel.bar.copy.click()
    said, *lines = QGuiApplication.clipboard().text().splitlines()
    assert said.startswith("10 of 10 labelled rows, not a random sample. Not a random sample: results")
    assert lines[0].split("\t")[:2] == ["Model", "Accuracy"]
    assert lines[1].split("\t")[:2] == ["SCE", "0.8000"]
    assert lines[3] == ""
    assert lines[6].startswith('"\'\u2060=SUM(1)\tx"\t4\t1.0000\t')  # text, not a formula
    panel.tabs.setCurrentWidget(panel.confusions)
    panel.bar.copy.click()
    assert QGuiApplication.clipboard().text().splitlines()[-3] == "Late\t3\t0\t1"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"labels": (), "scored": False, "gold": []}, "No labels yet"),
        ({"scored": False, "gold": []}, "Nothing is scored yet: press Score"),
        ({"gold": []}, "Nothing is labelled yet. Draw an audit sample"),
        ({"origin": Origin.BULK}, "Accepted predictions: 10 rows"),
    ],
)
def test_where_there_is_nothing_to_measure_it_says_why(
    qtbot: QtBot, show: Open, how: dict[str, object], said: str
) -> None:
    panel = show(**how)
    qtbot.waitUntil(lambda: said in panel.message.text())
    assert panel.pages.currentWidget() is panel.message
    assert panel.bar.draw.isVisible() == ("No labels" not in said)
    assert not panel.bar.copy.isVisible()


def _tuned(project: Project, row_ids: list[int]) -> None:
    """Let the scores be those of a version that learned from ``row_ids``."""
    version = add_version(project, Fit(row_ids=tuple(row_ids)))
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", version.title, "g", label_set.labels)
    project.activate(run.id)
    scores = np.full((12, 3), 0.1, np.float32)
    scores[np.arange(12), TOPS] = 0.8
    project.add_scores(run.id, project.unscored_ids(run.id), Scores(scores))
    project.finish_run(run.id)


def test_it_says_which_rows_and_which_models_are_left_out(qtbot: QtBot, show: Open) -> None:
    def prepare(project: Project) -> None:
        give_scores(project, [0, 1], alias="similarity", finish=False)  # as of the rows on the screen
        _tuned(project, [1, 2, 6])

    panel = show(prepare=prepare, scored=False)
    qtbot.waitUntil(lambda: panel.found is not None, timeout=60_000)
    assert panel.bar.basis.text() == "7 of 10 labelled rows, not a random sample."
    assert "Excluded: 3 rows that version 1 was trained on." in panel.bar.info.toolTip()
    assert "Similarity is not evaluated: only 2 of 12 rows are scored." in panel.summary.text()
    assert [row[:2] for row in _cells(panel)] == [["SCE", "86%"]]
    panel.bar.copy.click()
    assert "Similarity is not evaluated" in QGuiApplication.clipboard().text().splitlines()[0]


def test_two_figures_of_being_right_say_what_they_are_made_of(
    qtbot: QtBot, controllers: Controllers, show: Open
) -> None:
    panel = show()
    assert panel.summary.toolTip() == ""  # both are the same
    controllers.edits.decide([11], Decision.NONE)
    qtbot.waitUntil(lambda: bool(panel.summary.toolTip()), timeout=60_000)
    assert panel.summary.toolTip() == "Coverage counts 1 row labelled “None of these” as wrong."
    controllers.edits.decide([12], Decision.NONE)
    correct = "100% coverage: 67% correct"
    qtbot.waitUntil(lambda: correct in panel.summary.text(), timeout=60_000)
    assert _cells(panel)[0][1] == "80%"
    tip = panel.summary.toolTip()
    assert tip == "Coverage counts 2 rows labelled “None of these” as wrong."
    assert tip in panel.bar.info.toolTip()
    assert tip in panel.charts.coverage.accessibleDescription()


def test_where_the_model_learned_from_all_it_says_so(qtbot: QtBot, show: Open) -> None:
    panel = show(prepare=lambda project: _tuned(project, [*range(1, 11)]), scored=False)
    qtbot.waitUntil(lambda: panel.found is not None, timeout=60_000)
    assert panel.pages.currentWidget() is panel.message
    assert "10 rows. version 1 was trained on 10 of them" in panel.message.text()


def test_of_right_answers_that_it_learned_from_it_says_so(qtbot: QtBot, show: Open) -> None:
    def prepare(project: Project) -> None:
        project.add_coder(GOLD_CODER, "column truth", {1: "Late", 2: "Damaged"})
        _tuned(project, [1, 2])

    panel = show([], prepare=prepare, scored=False)
    qtbot.waitUntil(lambda: panel.found is not None, timeout=60_000)
    assert panel.message.text() == (
        "Gold labels: 2 rows. version 1 was trained on 2 of them, so they cannot evaluate it. "
        "Draw an audit sample, or label other rows."
    )


def test_several_labels_a_row_are_measured_by_the_best_one(show: Open) -> None:
    def several(project: Project) -> None:
        project.set_labels([Label(name) for name in LABELS], multi_label=True)

        ids = [label.id or 0 for label in project.label_set().labels]  # type: ignore[union-attr]
        project.decide([11], Decision.LABEL, [ids[0], ids[1]])  # the model says the second
        project.decide([12], Decision.LABEL, [ids[0], ids[1]])  # the model says the third

    panel = show(labels=(), prepare=several, gold=[0])
    assert "Multi-label: a prediction is correct if" in panel.bar.info.toolTip()
    assert _cells(panel)[0][1] == "67%"


def test_the_project_is_closed_while_it_measures(
    qtbot: QtBot, controllers: Controllers, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = show()
    begun = threading.Event()

    def slow(*_: object, progress: Progress) -> Evaluation | None:
        begun.set()
        while True:
            progress.check()

    monkeypatch.setattr(evaluate_work, "evaluate", slow)
    panel.visibility.within(0)  # it waits longer the longer the last one took, and that one had imports to do
    qtbot.waitUntil(begun.is_set)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert panel.found is None
    assert panel.message.text() == ""
    assert not panel.bar.draw.isVisible()


def test_what_was_measured_with_other_labels_is_dropped(
    qtbot: QtBot, controllers: Controllers, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = show()
    stale, go = panel.found, threading.Event()
    monkeypatch.setattr(evaluate_work, "evaluate", lambda *_, progress: stale if go.wait(5) else None)
    panel.visibility.within(0)
    qtbot.waitUntil(lambda: panel.visibility.job is not None)
    monkeypatch.undo()
    controllers.scorer._edited.disconnect()
    controllers.edits.set_labels([*controllers.workspace.labels, Label("Fourth")])
    go.set()
    assert panel.found is None
    settle(qtbot, controllers)
    qtbot.waitUntil(lambda: panel.found is not None and panel.found is not stale)
    assert panel.found is not None
    assert panel.found.quality.labels == (*LABELS, "Fourth")


def test_decisions_that_do_not_fit_are_found_by_vectors(
    qtbot: QtBot, controllers: Controllers, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sce_desktop.store.runs.vector_cache import VectorCache
    from sce_desktop.tasks.evaluation.doubts import doubts as find_doubts
    from sce_desktop.tasks.scoring.vectors import KnownVectors

    gold = [0, 1] * 6
    gold[4] = 1  # its vector says 0
    panel = show(gold)
    doubts = panel.doubts
    doubts.look_button.click()
    assert "still loading" in doubts.result_label.text()
    controllers.scorer.ready = True  # with an LLM
    doubts.look_button.click()
    assert "No text vectors" in doubts.result_label.text()
    cache = VectorCache(Path(controllers.preferences.settings.file).with_name("vectors.db"))
    vectors = np.eye(2, dtype=np.float32)[[0, 1] * 6] + np.linspace(0, 0.1, 12, dtype=np.float32)[:, None]
    cache.put("e", list(TEXTS), vectors)
    monkeypatch.setattr(controllers.scorer._model_cache, "known_vectors", KnownVectors("e", cache))
    doubts.look_button.click()
    qtbot.waitUntil(lambda: doubts.found is not None)
    assert doubts.found is not None
    assert [(one.row_id, one.given.name, one.proposed.name) for one in doubts.found.rows] == [
        (5, "Damaged", "Late")
    ]
    assert "1 of 12 checked rows does not fit" in doubts.result_label.text()
    assert controllers.workspace.project is not None
    controllers.workspace.project.create_audit([5, 6], 0)
    controllers.workspace.project.clear_decision([6])
    left = find_doubts(controllers.workspace.project, KnownVectors("e", cache), progress=SilentProgress())
    assert (left.rows, left.decided, left.sampled) == ((), 10, 1)  # its first look is still to be finished
    for _ in range(2):
        controllers.workspace.project.undo()
    with qtbot.waitSignal(controllers.navigation.rowAsked) as asked:
        doubts.table.clicked.emit(doubts.table.figures.index(0, 0))
    assert asked.args == [5]
    doubts.all_button.click()
    assert (controllers.navigation.query.among, controllers.navigation.query.name) == ((5,), "probably wrong")
    controllers.edits.decide([5], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    assert "Labels have changed since" in doubts.result_label.text()
    version = add_version(controllers.workspace.project, Fit(encoder_key="e, adapted"))
    controllers.scorer.use_version(version.id, score=False)  # by its vectors other rows are probably wrong
    assert doubts.found is None
    assert not doubts.all_button.isVisibleTo(doubts)
    assert not doubts.table.figures.rowCount()


def test_work_functions_need_labels(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        assert evaluate_work.evaluate(project, ["sce"], False, progress=SilentProgress()) is None


def test_the_sample_alone_is_measured_once_it_is_begun(
    qtbot: QtBot, controllers: Controllers, show: Open
) -> None:
    panel = show(gold=[0, 0])
    assert panel.part is not None
    assert panel.part.source is Source.HAND
    controllers.audit.draw(6)
    qtbot.waitUntil(lambda: controllers.audit.shown)
    assert controllers.audit.state is not None
    ids = controllers.audit.state.row_ids.tolist()
    for row_id in ids[:4]:
        controllers.edits.decide(
            [row_id], Decision.LABEL, [controllers.workspace.labels[TOPS[row_id - 1]].id or 0]
        )
    qtbot.waitUntil(lambda: panel.bar.progress.text() == "4 of 6 labelled")
    assert panel.pages.currentWidget() is panel.message  # blind
    assert panel.message.text() == BLIND_AUDIT
    assert panel.bar.stop.isVisible()
    assert not panel.bar.draw.isVisible()
    assert panel.bar.basis.text() == ""
    assert not panel.bar.source.isVisible()
    panel.visibility._rests = 60_000  # as after a measuring that took long
    QGuiApplication.clipboard().setText("before")
    panel.copy()
    assert QGuiApplication.clipboard().text() == "before"
    panel.bar.stop.click()
    assert not controllers.audit.shown
    assert not panel.bar.stop.isVisible()
    assert panel.found is None  # the figures of before the sample are not shown again
    assert panel.message.text() == "Evaluating…"
    qtbot.waitUntil(lambda: panel.bar.basis.text().startswith("4 of 4"))
    assert panel.pages.currentWidget() is not panel.message
    controllers.navigation.toggle_blind()
    assert panel.pages.currentWidget() is panel.message
    assert panel.message.text() == BLIND
    controllers.navigation.toggle_blind()
    assert panel.pages.currentWidget() is not panel.message
    assert panel.part.source is Source.AUDIT
    assert sorted(panel.part.row_ids.tolist()) == sorted(ids[:4])
    assert _cells(panel)[0][1] == "100%"
    assert panel.bar.source.currentText() == "Audit sample (4)"
    qtbot.waitUntil(lambda: panel.bar.progress.text() == "Audit sample: 4 of 6 labelled")
    assert controllers.workspace.project is not None
    assert {one.queue for one in controllers.workspace.project.annotations(ids[:4]).values()} == {AUDIT}
