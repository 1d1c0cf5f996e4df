"""The panel Evaluate: its figures, what they rest on, and the ways to the rows behind them."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
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
from sce_desktop.tasks.evaluation.evidence import Source
from sce_desktop.ui.evaluate.evaluate_words import BLIND, BLIND_AUDIT
from tests.ui.evaluate_bench import LABELS, TEXTS, TOPS, Open, cells, quality, show_fixture  # noqa: F401
from tests.ui.panels import add_version, give_scores, score_no_edits, settle


def test_the_figures_are_those_of_the_task(controllers: Controllers, show: Open) -> None:
    panel = show()
    part = quality(controllers).parts[0]
    assert part.source is Source.HAND
    measures = part.models[0].measures
    low, high = measures.accuracy_interval
    assert cells(panel)[0] == [
        "SCE",
        "80%",
        f"{100 * low:.0f} to {100 * high:.0f}%",
        f"{100 * measures.macro_f1:.0f}%",
        f"{100 * measures.ece:.0f}%",
    ]
    assert [row[:2] for row in cells(panel)] == [["SCE", "80%"], ["Similarity", "40%"]]
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
    assert [row[column] for row in cells(panel, "labels")] == ["80%", "100%", "0%", "–"]
    assert [row[column - 1] for row in cells(panel, "labels")] == ["67%", "100%", "–", "–"]
    assert "0 if only predicted" in panel.models.figures.headings[3].tip


def test_the_charts_say_the_same_in_words(qtbot: QtBot, controllers: Controllers, show: Open) -> None:
    panel = show()
    ece = quality(controllers).parts[0].models[0].measures.ece
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
    assert [line.name for line in chart.lines] == ["SCE", "Similarity"]
    last = chart.lines[0].there[-1]
    assert (last.x, last.y) == (1.0, 0.8)
    panel.tabs.setCurrentWidget(panel.charts)
    assert chart.grab().size().width() > 200
    assert chart.text_at(chart.at(1.0, 0.8)).startswith("SCE at 100.0%: 80.0% correct (")
    assert chart.text_at(chart.at(0.0, 1.0)) == ""


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


def test_labels_are_sorted_and_lead_to_their_rows(controllers: Controllers, show: Open) -> None:
    panel = show()
    panel.labels.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in cells(panel, "labels")] == ["Praise", "Late", "Damaged"]
    panel.labels.clicked.emit(panel.labels.figures.index(0, 0))
    assert controllers.navigation.query.among == (3, 9)


def test_new_decisions_are_measured_while_somebody_looks(
    qtbot: QtBot, controllers: Controllers, show: Open
) -> None:
    panel = show()
    qtbot.waitUntil(lambda: panel.measuring.visibility.idle)
    controllers.edits.decide([11], Decision.LABEL, [controllers.workspace.labels[1].id or 0])
    # It waits longer the longer the last one took, and that one had imports to do.
    panel.measuring.visibility.within(0)
    qtbot.waitUntil(lambda: panel.bar.basis.text().startswith("11 of 11"))
    panel.hide()
    controllers.edits.decide([12], Decision.NONE)
    settle(qtbot, controllers)
    assert panel.measuring.visibility.job is None
    assert not panel.measuring.visibility.idle
    assert "11 of 11" in panel.bar.basis.text()
    panel.show()
    qtbot.waitUntil(lambda: "Excluded from accuracy: 1 row labelled" in panel.bar.info.toolTip())


def test_figures_that_are_late_say_so(qtbot: QtBot, controllers: Controllers, show: Open) -> None:
    panel = show()
    qtbot.waitUntil(lambda: panel.measuring.visibility.idle)
    panel.measuring.visibility._rests = 3_600_000  # as after a measuring that took long
    controllers.edits.decide([11], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    assert panel.bar.basis.text().startswith("Updating after your last changes. 10 of 10")
    panel.measuring.visibility.within(0)
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
    assert cells(panel)[0][1] == "0%"
    assert panel.bar.basis.text() == "1 of 1 labelled row, not a random sample."
    assert "Imported labels: quality unknown." in panel.bar.info.toolTip()
    box.activated.emit(box.setCurrentIndex(1) or 1)
    assert panel.pages.currentWidget() is panel.message
    assert "agree with the model by construction" in panel.message.text()


def test_children_are_rolled_up(qtbot: QtBot, controllers: Controllers, show: Open) -> None:
    panel = show(labels=("Late", "Parcel > Damaged", "Parcel > Lost"))
    assert panel.bar.rolled.isVisible()
    panel.bar.rolled.setChecked(True)
    qtbot.waitUntil(lambda: panel.measuring.found is not None)
    assert [row[0] for row in cells(panel, "labels")] == ["Late", "Parcel"]
    accuracy = quality(controllers, rolled=True).parts[0].models[0].measures.accuracy
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
    qtbot.waitUntil(lambda: panel.measuring.found is not None, timeout=60_000)
    assert panel.bar.basis.text() == "7 of 10 labelled rows, not a random sample."
    assert "Excluded: 3 rows that version 1 was trained on." in panel.bar.info.toolTip()
    assert "Similarity is not evaluated: only 2 of 12 rows are scored." in panel.summary.text()
    assert [row[:2] for row in cells(panel)] == [["SCE", "86%"]]
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
    assert cells(panel)[0][1] == "80%"
    tip = panel.summary.toolTip()
    assert tip == "Coverage counts 2 rows labelled “None of these” as wrong."
    assert tip in panel.bar.info.toolTip()
    assert tip in panel.charts.coverage.accessibleDescription()


def test_where_the_model_learned_from_all_it_says_so(qtbot: QtBot, show: Open) -> None:
    panel = show(prepare=lambda project: _tuned(project, [*range(1, 11)]), scored=False)
    qtbot.waitUntil(lambda: panel.measuring.found is not None, timeout=60_000)
    assert panel.pages.currentWidget() is panel.message
    assert "10 rows. version 1 was trained on 10 of them" in panel.message.text()


def test_of_right_answers_that_it_learned_from_it_says_so(qtbot: QtBot, show: Open) -> None:
    def prepare(project: Project) -> None:
        project.add_coder(GOLD_CODER, "column truth", {1: "Late", 2: "Damaged"})
        _tuned(project, [1, 2])

    panel = show([], prepare=prepare, scored=False)
    qtbot.waitUntil(lambda: panel.measuring.found is not None, timeout=60_000)
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
    assert cells(panel)[0][1] == "67%"


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
    # It waits longer the longer the last one took, and that one had imports to do.
    panel.measuring.visibility.within(0)
    qtbot.waitUntil(begun.is_set)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert panel.measuring.found is None
    assert panel.message.text() == ""
    assert not panel.bar.draw.isVisible()


def test_what_was_measured_with_other_labels_is_dropped(
    qtbot: QtBot, controllers: Controllers, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = show()
    stale, go = panel.measuring.found, threading.Event()
    monkeypatch.setattr(evaluate_work, "evaluate", lambda *_, progress: stale if go.wait(5) else None)
    panel.measuring.visibility.within(0)
    qtbot.waitUntil(lambda: panel.measuring.visibility.job is not None)
    monkeypatch.undo()
    score_no_edits(controllers)
    controllers.edits.set_labels([*controllers.workspace.labels, Label("Fourth")])
    go.set()
    assert panel.measuring.found is None
    settle(qtbot, controllers)
    qtbot.waitUntil(lambda: panel.measuring.found is not None and panel.measuring.found is not stale)
    assert panel.measuring.found is not None
    assert panel.measuring.found.quality.labels == (*LABELS, "Fourth")


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
    panel.measuring.visibility._rests = 60_000  # as after a measuring that took long
    QGuiApplication.clipboard().setText("before")
    panel.copy()
    assert QGuiApplication.clipboard().text() == "before"
    panel.bar.stop.click()
    assert not controllers.audit.shown
    assert not panel.bar.stop.isVisible()
    assert panel.measuring.found is None  # the figures of before the sample are not shown again
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
    assert cells(panel)[0][1] == "100%"
    assert panel.bar.source.currentText() == "Audit sample (4)"
    qtbot.waitUntil(lambda: panel.bar.progress.text() == "Audit sample: 4 of 6 labelled")
    assert controllers.workspace.project is not None
    assert {one.queue for one in controllers.workspace.project.annotations(ids[:4]).values()} == {AUDIT}
