"""Many rows decided at once from the window: not in the way of anything, and told in one sentence."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.bulk_work import decide_many, submit_bulk, undecided_copies
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import bulk
from sce_desktop.tasks.insight.bulk import BulkOutcome
from sce_desktop.ui.kit.labels_dialog import LabelsDialog
from sce_desktop.ui.rows.row_actions import RowActions
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.wiring import wired


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Controllers:
    open_in(qtbot, controllers, make_project(texts=("same",) * 8, labels=LABELS))
    return controllers


@pytest.fixture
def told(controllers: Controllers) -> list[str]:
    said: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: said.append(sentence))
    return said


def test_rows_of_a_sample_are_left_out_and_that_is_reported(
    qtbot: QtBot, opened: Controllers, told: list[str]
) -> None:
    project = opened.workspace.project
    assert project is not None
    project.create_audit([3, 5], seed=0)
    job = wired(decide_many, opened)(range(1, 9), Decision.NONE)
    assert job is not None
    assert job.worker == "files"  # the table must not wait for it
    with qtbot.waitSignal(job.ended):
        pass
    assert told == [
        "6 rows labelled “None of these”. Undo with Ctrl+Z. "
        "2 audit-sample rows not changed: label them one by one."
    ]
    found = project.annotations(range(1, 9))
    assert sorted(found) == [1, 2, 4, 6, 7, 8]
    assert {a.origin for a in found.values()} == {Origin.BULK}
    settle(qtbot, opened)


def test_the_menu_of_several_rows_spares_a_sample_and_that_of_one_does_not(
    qtbot: QtBot, opened: Controllers
) -> None:
    project = opened.workspace.project
    assert project is not None
    project.create_audit([3, 5], seed=0)
    parent = QWidget()
    qtbot.addWidget(parent)
    for ids in ([2, 3], [5]):
        menu = wired(RowActions, opened)(parent).menu(ids)
        next(action for action in menu.actions() if action.text() == "None of these").trigger()
    qtbot.waitUntil(lambda: sorted(project.annotations(range(1, 9))) == [2, 5])
    qtbot.waitUntil(lambda: not opened.workspace.workers.files.busy)
    assert project.annotations([5])[5].origin is Origin.HAND
    settle(qtbot, opened)


MANY = tuple(f"Topic {number}" for number in range(50))


@pytest.fixture
def of_50_labels(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Controllers:
    path = make_project(texts=("a", "b", "c", "d"), labels=MANY)
    with Project.open(path) as project:
        give_scores(project, [45, 0, 0, 0])
    open_in(qtbot, controllers, path)
    return controllers


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    parent = QWidget()
    qtbot.addWidget(parent)
    return parent


def offered(controllers: Controllers, parent: QWidget, ids: list[int]) -> dict[str, QAction]:
    labels = wired(RowActions, controllers)(parent).menu(ids).actions()[0].menu()
    assert isinstance(labels, QMenu)
    return {action.text(): action for action in labels.actions()}


def test_of_many_labels_a_row_is_offered_the_most_probable(
    qtbot: QtBot, of_50_labels: Controllers, parent: QWidget
) -> None:
    controllers = of_50_labels
    of_row = list(offered(controllers, parent, [1]))
    assert (of_row[0], of_row[-1], len(of_row)) == ("Topic 45", "Another label…", 31)
    assert list(offered(controllers, parent, [1, 2]))[:2] == ["Topic 0", "Topic 1"]  # rows differ
    controllers.preferences.change_setting("blind", True)
    assert next(iter(offered(controllers, parent, [1]))) == "Topic 0"  # no hint of what the model says
    settle(qtbot, controllers)


def test_any_label_can_be_given_to_rows(qtbot: QtBot, of_50_labels: Controllers, parent: QWidget) -> None:
    controllers = of_50_labels
    project = controllers.workspace.project
    assert project is not None
    offered(controllers, parent, [1])["Another label…"].trigger()
    (dialog,) = parent.findChildren(LabelsDialog)
    dialog.labels.search.setText("topic 49")
    qtbot.keyClick(dialog.labels.search, Qt.Key.Key_Return)
    assert project.annotations([1])[1].label_ids == (controllers.workspace.labels[49].id,)
    offered(controllers, parent, [2, 3])["Another label…"].trigger()
    dialog = parent.findChildren(LabelsDialog)[-1]
    assert dialog.windowTitle() == "Label 2 rows as"
    item = dialog.labels.list.topLevelItem(40)
    assert item is not None
    dialog.labels.list.setCurrentItem(item)
    dialog.labels.list.itemDoubleClicked.emit(item, 0)
    qtbot.waitUntil(lambda: sorted(project.annotations([2, 3])) == [2, 3])
    assert project.annotations([2])[2].label_ids == (controllers.workspace.labels[40].id,)
    settle(qtbot, controllers)


def test_several_labels_can_be_given_where_several_may_fit(
    qtbot: QtBot, of_50_labels: Controllers, parent: QWidget
) -> None:
    controllers = of_50_labels
    controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    offered(controllers, parent, [4])["Another label…"].trigger()
    (dialog,) = parent.findChildren(LabelsDialog)
    for place in (0, 49):
        item = dialog.labels.list.topLevelItem(place)
        assert item is not None
        item.setCheckState(0, Qt.CheckState.Checked)
    dialog.accept()
    assert controllers.workspace.project is not None
    ids = controllers.workspace.project.annotations([4])[4].label_ids
    assert ids == (controllers.workspace.labels[0].id, controllers.workspace.labels[49].id)
    settle(qtbot, controllers)


def test_copies_in_a_sample_are_not_offered(opened: Controllers) -> None:
    project = opened.workspace.project
    assert project is not None
    project.create_audit([3, 5], seed=0)
    project.decide([1], Decision.NONE)
    assert undecided_copies(project, 1, progress=SilentProgress()).tolist() == [2, 4, 6, 7, 8]


class Halting:
    """Halts a job after each step."""

    def __init__(self, progress: Progress, written: threading.Event, go_on: threading.Event) -> None:
        self.check, self.warn = progress.check, progress.warn
        self._progress, self._written, self._go_on = progress, written, go_on

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        self._progress.report(done, total, stage=stage)
        self._written.set()
        assert self._go_on.wait(10)


def test_one_decides_by_hand_between_two_steps_and_stops_the_rest(
    qtbot: QtBot, opened: Controllers, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "STEP", 2)
    project = opened.workspace.project
    assert project is not None
    written, go_on = threading.Event(), threading.Event()

    def halting(project: object, *, queue: str, progress: Progress) -> BulkOutcome:
        wanted = dict.fromkeys(range(1, 8), (0,))
        return bulk.decide_all(project, wanted, queue=queue, progress=Halting(progress, written, go_on))

    job = wired(submit_bulk, opened)(halting)
    assert job is not None
    qtbot.waitUntil(written.is_set)
    assert opened.edits.decide([8], Decision.SKIPPED)  # while the job is between two steps
    with qtbot.waitSignals([job.cancelled, opened.workspace.historyChanged]):
        job.cancel()
        go_on.set()
    assert told == ["Stopped. 2 rows labelled in bulk. Undo with Ctrl+Z."]
    assert sorted(project.annotations(range(1, 9))) == [1, 2, 8]
    settle(qtbot, opened)
