"""Duplicates: found by a job that can be stopped, decided once for all, undone in one step."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.progress import Progress
from sce_desktop.tasks.insight import duplicates
from sce_desktop.ui.duplicates.duplicates_model import LABELLED, LABELS
from sce_desktop.ui.duplicates.duplicates_panel import DuplicatesPanel
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.labels_dialog import LabelsDialog
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS as NAMES
from tests.ui.panels import open_in, settle
from tests.ui.wiring import wired

LETTER = "The parcel came two weeks late and nobody answered my letters about it"
TEXTS = (LETTER, "Kind driver", f"{LETTER}!", "", f"{LETTER.replace('letters', 'letter')}?", "kind driver.")
LATE, DAMAGED = 1, 2  # label ids


@pytest.fixture
def path(make_project: MakeProject) -> Path:
    return make_project(texts=TEXTS, labels=NAMES)


@pytest.fixture
def panel(qtbot: QtBot, controllers: Controllers, theme: Theme, path: Path) -> Iterator[DuplicatesPanel]:
    panel = wired(DuplicatesPanel, controllers)()
    qtbot.addWidget(panel)
    panel.resize(1000, 320)
    panel.show()
    open_in(qtbot, controllers, path)
    yield panel
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    settle(qtbot, controllers)


@pytest.fixture
def found(qtbot: QtBot, panel: DuplicatesPanel) -> DuplicatesPanel:
    panel.find_button.click()
    qtbot.waitUntil(lambda: panel._search is None, timeout=60_000)  # the first import takes long
    return panel


def cells(panel: DuplicatesPanel, column: int) -> list[str]:
    return [panel.model.index(row, column).data() for row in range(panel.model.rowCount())]


def choose(panel: DuplicatesPanel, *names: str) -> None:
    for action in panel.label_menu().actions():
        if action.text() in names:
            action.trigger()


def test_groups_are_listed_with_what_is_decided(
    qtbot: QtBot, controllers: Controllers, found: DuplicatesPanel
) -> None:
    assert found.facts.text() == "2 groups, 5 rows."
    table = [[found.model.index(row, column).data() for column in range(5)] for row in range(2)]
    assert table == [["3", LETTER, "near", "–", "–"], ["2", "Kind driver", "exact", "–", "–"]]
    controllers.edits.decide([1], Decision.LABEL, [LATE])
    controllers.edits.decide([3], Decision.LABEL, [DAMAGED])
    qtbot.waitUntil(lambda: cells(found, LABELS)[0] == "contradictory: Late 1, Damaged 1")
    assert found.facts.text() == "2 groups, 5 rows. 1 is contradictory."
    assert found.model.index(0, LABELS).data(Qt.ItemDataRole.DecorationRole) is not None
    found.only.setChecked(True)
    assert found.model.rowCount() == 1
    found.table.selectRow(0)
    assert not found.rest_button.isEnabled()  # nobody can know which answer is right
    found.show_button.click()
    assert controllers.navigation.query.among == (1, 3, 5)


def test_enter_shows_the_rows_of_a_group(
    qtbot: QtBot, controllers: Controllers, found: DuplicatesPanel
) -> None:
    found.window().activateWindow()
    found.table.selectRow(1)
    found.table.setFocus()
    qtbot.keyClick(found.table, Qt.Key.Key_Return)
    assert controllers.navigation.query.among == tuple(found.chosen()[0].row_ids.tolist())


def test_all_get_one_label_and_one_undo_takes_it_back(
    qtbot: QtBot, controllers: Controllers, found: DuplicatesPanel
) -> None:
    controllers.edits.decide([1], Decision.LABEL, [LATE])
    assert [action.text() for action in found.label_menu().actions()][-1] == "None of these"
    choose(found, "Damaged")
    qtbot.waitUntil(lambda: cells(found, LABELLED)[0] == "3 of 3")
    assert cells(found, LABELS)[0] == "Damaged"
    assert controllers.workspace.project is not None
    assert {a.origin for a in controllers.workspace.project.annotations([1, 3, 5]).values()} == {Origin.BULK}
    controllers.edits.undo()
    qtbot.waitUntil(lambda: cells(found, LABELLED)[0] == "1 of 3")
    assert cells(found, LABELS)[0] == "Late"


def test_of_many_labels_another_one_can_be_found(
    qtbot: QtBot, controllers: Controllers, found: DuplicatesPanel
) -> None:
    controllers.edits.set_labels(
        [*controllers.workspace.labels, *(Label(f"Topic {number}") for number in range(50))]
    )
    found.table.selectRow(0)
    choose(found, "Another label…")
    (dialog,) = found.findChildren(LabelsDialog)
    dialog.labels.search.setText("topic 49")
    qtbot.keyClick(dialog.labels.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: cells(found, LABELS)[0] == "Topic 49")


def test_the_rest_of_several_groups_is_decided_alike(
    qtbot: QtBot, controllers: Controllers, found: DuplicatesPanel
) -> None:
    controllers.edits.decide([3], Decision.LABEL, [LATE])
    controllers.edits.decide([6], Decision.NONE)
    qtbot.waitUntil(lambda: cells(found, LABELLED) == ["1 of 3", "1 of 2"])
    found.table.selectAll()
    found.rest_button.click()
    qtbot.waitUntil(lambda: cells(found, LABELLED) == ["3 of 3", "2 of 2"])
    assert cells(found, LABELS) == ["Late", "None of these"]
    assert not found.rest_button.isEnabled()
    controllers.edits.undo()
    qtbot.waitUntil(lambda: cells(found, LABELLED) == ["1 of 3", "1 of 2"])


def test_a_search_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, panel: DuplicatesPanel
) -> None:
    going = threading.Event()

    def endless(project: object, similarity: float, *, progress: Progress) -> None:
        going.set()
        while True:
            progress.check()

    monkeypatch.setattr(duplicates, "find_with_answers", endless)
    panel.find_button.click()
    qtbot.waitUntil(going.is_set)
    assert panel.find_button.text() == "Stop"
    panel.find_button.click()
    qtbot.waitUntil(lambda: panel.find_button.text() == "Find")
    assert panel.facts.text().startswith("Stopped.")


def test_a_search_ends_with_the_project(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, controllers: Controllers, panel: DuplicatesPanel
) -> None:
    going = threading.Event()

    def endless(project: object, similarity: float, *, progress: Progress) -> None:
        going.set()
        while True:
            progress.check()

    monkeypatch.setattr(duplicates, "find_with_answers", endless)
    panel.find_button.click()
    qtbot.waitUntil(going.is_set)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert panel.model.rowCount() == 0
    assert not panel.find_button.isEnabled()


def test_decisions_made_while_nobody_looks_are_seen_later(
    qtbot: QtBot, controllers: Controllers, found: DuplicatesPanel
) -> None:
    found.hide()
    controllers.edits.decide([2], Decision.SKIPPED)
    controllers.edits.decide([6], Decision.LABEL, [LATE])
    settle(qtbot, controllers)
    assert cells(found, LABELLED) == ["–", "–"]
    found.show()
    qtbot.waitUntil(lambda: cells(found, LABELLED) == ["–", "1 of 2"])
