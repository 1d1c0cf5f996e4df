"""Suggest labels from the rows: by keyboard, into labels, coverage, stopping; the news of a sample."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import discover_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState
from sce_desktop.core.annotations import Label
from sce_desktop.core.discovery import Cluster, Discovery, TypicalRow, Wanted
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.tasks.scoring.sample_first import SampleReport
from sce_desktop.ui.discover.discover_dialog import UNFITTING, DiscoverDialog
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import give_scores, open_in
from tests.ui.wiring import wired

Key = Qt.Key
LATE = Cluster(("Late", "Delay", "Days"), 30, (TypicalRow(1, "two days\nlate"), TypicalRow(2, "<b>late</b>")))
PRICE = Cluster(("Price", "Fee"), 20, (TypicalRow(3, "too dear"),), llm_name="Fee")
APP = Cluster(("App",), 10, (TypicalRow(4, "it crashed"),))
TEXTS = tuple(f"text {n}" for n in range(30))


class FakeDiscover:
    """Finds three clusters, or one among the rows that no label fits."""

    def __init__(self) -> None:
        self.wanted: list[Wanted] = []
        self.error: UserError | None = None
        self.go_on = threading.Event()
        self.go_on.set()

    def __call__(
        self, _project: object, _model_cache: object, _choice: object, wanted: Wanted, *, progress: Progress
    ) -> Discovery:
        self.wanted.append(wanted)
        progress.report(1, 4, stage="embedding")
        while not self.go_on.wait(0.002):
            progress.check()
        if self.error is not None:
            raise self.error
        if wanted.covering:
            return Discovery((APP,), 60, 1000, covered=50, fits_from=0.6)
        return Discovery((LATE, PRICE, APP), 60, 1000)


@pytest.fixture
def finds(monkeypatch: pytest.MonkeyPatch) -> FakeDiscover:
    fake = FakeDiscover()
    monkeypatch.setattr(discover_work, "discover", fake)
    return fake


@pytest.fixture
def opened(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, finds: FakeDiscover
) -> Controllers:
    open_in(qtbot, controllers, make_project(texts=TEXTS))
    return controllers


def show(qtbot: QtBot, controllers: Controllers, *, wait: bool = True) -> DiscoverDialog:
    dialog = wired(DiscoverDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    if wait:
        qtbot.waitUntil(lambda: dialog.again.isEnabled())
    return dialog


def names(dialog: DiscoverDialog) -> list[str]:
    return [cluster.name for cluster in dialog.model.clusters]


def accepted(dialog: DiscoverDialog) -> list[str]:
    return [cluster.name for cluster in dialog.model.accepted]


def press(qtbot: QtBot, dialog: DiscoverDialog, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(dialog.list, key)


def test_clusters_are_shown_with_typical_rows(qtbot: QtBot, opened: Controllers, finds: FakeDiscover) -> None:
    dialog = show(qtbot, opened)
    assert finds.wanted == [Wanted()]
    assert names(dialog) == ["Late", "Price", "App"]
    assert dialog.words.text() == "60 of 1,000 rows, drawn at random. 3 clusters."
    assert [dialog.side.list.item(place).text() for place in range(2)] == ["two days late", "<b>late</b>"]
    assert not dialog.add_button.isEnabled()
    press(qtbot, dialog, Key.Key_Down)
    assert [dialog.side.names.itemText(place) for place in range(2)] == ["Price", "Fee (LLM)"]
    index = dialog.model.index(1, 0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Price, 20 rows, not accepted"
    assert dialog.model.index(1, 1).data() == "20"


def test_labels_by_keyboard_alone_in_one_step_to_undo(qtbot: QtBot, opened: Controllers) -> None:
    dialog = show(qtbot, opened)
    press(qtbot, dialog, Key.Key_Space, Key.Key_Down, Key.Key_A, Key.Key_Space, Key.Key_Down, Key.Key_Return)
    editor = dialog.list.findChild(QLineEdit)
    assert editor is not None
    assert editor.text() == "App"
    qtbot.keyClicks(editor, "App problem")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: accepted(dialog) == ["Late", "Fee", "App problem"])  # another name accepts
    assert dialog.add_button.text() == "Add 3 labels"
    with qtbot.waitSignal(dialog.finished):
        qtbot.keyClick(dialog.list, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [(label.name, label.description) for label in opened.workspace.labels] == [
        ("Late", "Delay, Days"),
        ("Fee", "Price"),
        ("App problem", "App"),
    ]
    opened.edits.undo()
    assert not opened.workspace.labels


def test_a_name_that_is_being_typed_counts(qtbot: QtBot, opened: Controllers) -> None:
    dialog = show(qtbot, opened)
    press(qtbot, dialog, Key.Key_Return)
    editor = dialog.list.findChild(QLineEdit)
    assert editor is not None
    qtbot.keyClicks(editor, "Delivery")
    dialog.accept()
    assert [label.name for label in opened.workspace.labels] == ["Delivery"]


def test_an_empty_name_changes_nothing(qtbot: QtBot, opened: Controllers) -> None:
    dialog = show(qtbot, opened)
    assert not dialog.model.setData(dialog.model.index(0, 0), "  ")
    assert names(dialog) == ["Late", "Price", "App"]
    dialog.accept()
    assert dialog.isVisible()
    assert not opened.workspace.labels


def test_merging_dropping_and_undoing(qtbot: QtBot, opened: Controllers) -> None:
    dialog = show(qtbot, opened)
    press(qtbot, dialog, Key.Key_Down)
    qtbot.keyClick(dialog.list, Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert dialog.list.chosen == [1, 2]
    press(qtbot, dialog, Key.Key_M)
    assert names(dialog) == ["Late", "Price"]
    assert dialog.model.clusters[1].rows == 30
    assert dialog.list.place == 1
    assert dialog.side.list.count() == 2
    press(qtbot, dialog, Key.Key_M)  # one alone: with the one above
    assert names(dialog) == ["Late"]
    press(qtbot, dialog, Key.Key_Delete)
    assert names(dialog) == []
    assert dialog.side.list.count() == 0
    for expected in (["Late"], ["Late", "Price"], ["Late", "Price", "App"], ["Late", "Price", "App"]):
        qtbot.keyClick(dialog.list, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert names(dialog) == expected


def test_several_are_accepted_at_once_and_again_none(qtbot: QtBot, opened: Controllers) -> None:
    dialog = show(qtbot, opened)
    dialog.list.selectAll()
    press(qtbot, dialog, Key.Key_Space)
    assert accepted(dialog) == ["Late", "Price", "App"]
    press(qtbot, dialog, Key.Key_Space)
    assert accepted(dialog) == []


def test_a_name_is_chosen_beside_the_list(qtbot: QtBot, opened: Controllers) -> None:
    dialog = show(qtbot, opened)
    dialog.side.names.setCurrentIndex(2)
    dialog.side.names.activated.emit(2)
    assert names(dialog)[0] == "Days"
    assert accepted(dialog) == ["Days"]
    assert dialog.side.names.currentData() == "Days"


def test_what_no_label_fits_is_clustered_again(
    qtbot: QtBot, opened: Controllers, finds: FakeDiscover
) -> None:
    dialog = show(qtbot, opened)
    dialog.scope.setCurrentIndex(UNFITTING)
    dialog.again.click()
    assert dialog.words.text() == "Accept a cluster first: there are no labels yet."
    press(qtbot, dialog, Key.Key_Space)
    dialog.again.click()
    qtbot.waitUntil(lambda: len(finds.wanted) == 2 and dialog.again.isEnabled())
    assert finds.wanted[1].covering == (Label("Late", description="Delay, Days"),)
    assert names(dialog) == ["Late", "App"]  # what was accepted stays
    assert dialog.list.place == 1
    assert (
        "A label fits 50 of them (probability ≥ 60%); no label fits 10 rows. 1 cluster."
        in dialog.words.text()
    )


def test_with_labels_it_begins_with_the_rows_that_none_fits(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, finds: FakeDiscover
) -> None:
    open_in(qtbot, controllers, make_project(texts=TEXTS, labels=("Late", "App")))
    dialog = show(qtbot, controllers)
    assert [label.name for label in finds.wanted[0].covering] == ["Late", "App"]
    press(qtbot, dialog, Key.Key_Space)
    assert not dialog.add_button.isEnabled()  # the project has an App already


def test_the_number_of_clusters_can_be_said(qtbot: QtBot, opened: Controllers, finds: FakeDiscover) -> None:
    dialog = show(qtbot, opened)
    dialog.count.setValue(7)
    dialog.again.click()
    qtbot.waitUntil(lambda: len(finds.wanted) == 2 and dialog.again.isEnabled())
    assert finds.wanted[1] == Wanted(clusters=7)


def test_the_llm_is_asked_where_one_is_chosen(
    qtbot: QtBot, opened: Controllers, finds: FakeDiscover, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not show(qtbot, opened).llm.isVisible()
    monkeypatch.setattr(opened.scorer, "baselines", ("similarity", "llm:tiny-chat"))
    dialog = show(qtbot, opened)
    dialog.llm.setChecked(True)
    dialog.again.click()
    qtbot.waitUntil(lambda: len(finds.wanted) == 3)
    assert [wanted.llm for wanted in finds.wanted] == ["", "", "llm:tiny-chat"]
    qtbot.waitUntil(lambda: dialog.again.isEnabled())


def test_progress_is_shown_and_closing_stops_the_work(
    qtbot: QtBot, opened: Controllers, finds: FakeDiscover
) -> None:
    finds.go_on.clear()
    dialog = show(qtbot, opened, wait=False)
    qtbot.waitUntil(lambda: dialog.words.text() == "Embedding… 25%")
    assert dialog.bar.isVisible()
    assert not dialog.again.isEnabled()
    job = dialog._job
    assert job is not None
    dialog.reject()
    qtbot.waitUntil(lambda: job.state is JobState.CANCELLED)


def test_what_goes_wrong_is_one_sentence(qtbot: QtBot, opened: Controllers, finds: FakeDiscover) -> None:
    finds.error = UserError("Suggestions need at least 20 different texts.")
    dialog = show(qtbot, opened)
    assert dialog.words.text() == "Suggestions need at least 20 different texts."
    assert dialog.words.property("role") == "warn"
    assert not dialog.bar.isVisible()


def test_it_goes_with_the_project(qtbot: QtBot, opened: Controllers) -> None:
    dialog = show(qtbot, opened)
    with qtbot.waitSignals([dialog.finished, opened.workspace.projectClosed]):
        opened.projects.close_project()


def test_the_panel_the_menu_and_the_palette_open_it(
    qtbot: QtBot,
    real_window: MainWindow,
    controllers: Controllers,
    make_project: MakeProject,
    finds: FakeDiscover,
) -> None:
    action = real_window.menus.suggest
    assert not action.isEnabled()
    open_in(qtbot, controllers, make_project(texts=TEXTS))
    assert action in real_window.menus.all_actions()
    button = real_window.workspace.labels.suggest_button  # type: ignore[attr-defined]
    assert button.isVisible()
    button.click()
    (dialog,) = real_window.findChildren(DiscoverDialog)
    qtbot.waitUntil(lambda: dialog.again.isEnabled())
    dialog.reject()


# --- the sample of a large table ---------------------------------------------------------------------------


def test_the_sample_is_reported_once_it_is_through_and_to_its_project_alone(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    project = open_in(qtbot, controllers, make_project(labels=("Late", "Lost")))
    run = give_scores(project, [0, 0, 1])
    report = SampleReport(project.path, run.id, 2000, 100_000, (("Late", 0.6), ("Lost", 0.4)), 6600.0)
    told: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: told.append(sentence))

    def from_a_worker(found: SampleReport) -> None:
        thread = threading.Thread(target=controllers.scorer._news.arrived.emit, args=(found,))
        thread.start()
        thread.join()

    with qtbot.waitSignal(controllers.messages.notified):
        from_a_worker(report)
    from_a_worker(SampleReport(Path("other.sce"), run.id, 1, 2, (), 99.0))
    from_a_worker(SampleReport(project.path, run.id + 1, 1, 2, (), 99.0))
    with qtbot.waitSignal(controllers.scorer._news.arrived):
        from_a_worker(SampleReport(Path("other.sce"), run.id, 1, 2, (), 99.0))
    assert told == [
        "2,000 of 100,000 rows scored at random: Late 60%, Lost 40%. "
        "The rest takes about 1 h 50 min in the background."
    ]
