"""Gold labels in the Evaluate panel: measured against, named, rolled up."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.annotators import GOLD as GOLD_CODER
from sce_desktop.tasks.evaluation.evidence import Source, gather, rolled_up
from sce_desktop.tasks.evaluation.quality import assess
from tests.ui.evaluate_bench import GOLD, LABELS, Open, cells, show_fixture  # noqa: F401
from tests.ui.wiring import controllers_of


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
    assert [row[:2] for row in cells(panel)] == [["SCE", "73%"], ["Similarity", "27%"]]
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
    assert cells(panel)[0][:2] == ["SCE", "80%"]
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
    panel.measuring.visibility.within(0)  # it waits longer the longer the last one took
    qtbot.waitUntil(lambda: "Nothing is labelled yet" in panel.message.text())
    controllers.edits.undo()
    panel.measuring.visibility.within(0)
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
