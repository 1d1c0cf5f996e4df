"""The random sample through the window: drawn, blind, continued after a restart, left at its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.queries import order_by
from sce_desktop.core.annotations import ACCEPTED, Annotation, Decision, Origin
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import AUDIT, OPEN_AUDIT, RowOrder
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation import audits
from sce_desktop.tasks.evaluation.quality import suggested_audit
from sce_desktop.ui.evaluate.audit_dialog import AuditDialog
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.row_bench import Bench, press
from tests.ui.wiring import wired

TEXTS = tuple(f"text number {n}" for n in range(120))


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Iterator[Bench]:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0, 1, 2] * 40)
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.resize(900, 900)
    bench.show()
    bench.activateWindow()
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    yield bench
    settle(qtbot, controllers)


def test_a_draw_that_is_stopped_closes_its_dialog(
    qtbot: QtBot, controllers: Controllers, opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(project: Project, size: int, seed: int, blind: bool, *, progress: Progress) -> object:
        begun.set()
        go.wait(10)
        progress.check()
        raise AssertionError("it was stopped")

    monkeypatch.setattr(audits, "draw_and_look", slow)
    dialog = wired(AuditDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.plan is not None)
    dialog.accept()
    assert not dialog.isEnabled()
    qtbot.waitUntil(begun.is_set)
    with qtbot.waitSignal(dialog.rejected):
        for job in controllers.workspace.workers.reads.jobs:
            job.cancel()
        go.set()
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.audits() == ()


def _draw(qtbot: QtBot, controllers: Controllers, size: int = 4, *, blind: bool = True) -> list[int]:
    job = controllers.audit.draw(size, blind=blind)
    assert job is not None
    qtbot.waitUntil(lambda: controllers.audit.shown and not job.active)
    assert controllers.audit.state is not None
    return [int(row_id) for row_id in controllers.audit.state.row_ids]


def test_the_dialog_suggests_as_many_rows_as_the_interval_takes(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    controllers.edits.decide([1, 2], Decision.SKIPPED)
    controllers.edits.decide([3], Decision.NONE)
    dialog = wired(AuditDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert not ok.isEnabled()
    qtbot.waitUntil(ok.isEnabled)
    assert dialog.size_box.value() == suggested_audit(119, width=0.1)
    assert "The 1 row already labelled is not resampled." in dialog.facts.text()
    dialog.points.setValue(20)
    assert dialog.size_box.value() == 50  # never fewer
    dialog.size_box.setValue(60)
    assert "60 of 119 rows: margin of error at most ±8.8 points." in dialog.facts.text()
    assert ok.text() == "Draw 60 rows"
    with qtbot.waitSignal(dialog.accepted):
        dialog.accept()
    assert controllers.workspace.project is not None
    assert [audit.size for audit in controllers.workspace.project.audits()] == [60]
    assert controllers.navigation.query.among == tuple(controllers.workspace.project.audit_rows(1).tolist())
    larger = wired(AuditDialog, controllers)()
    qtbot.addWidget(larger)
    qtbot.waitUntil(lambda: larger.plan is not None)
    larger.size_box.setValue(70)
    assert "The current sample is kept: 60 rows, 0 labelled." in larger.facts.text()


def test_the_rows_of_the_sample_come_blind_in_the_order_of_the_draw(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    assert not controllers.navigation.blind
    ids = _draw(qtbot, controllers)
    assert controllers.navigation.blind
    assert not controllers.preferences.settings["blind"]  # nothing is left behind when it ends
    qtbot.waitUntil(lambda: list(opened.rows.model.ids) == ids)
    assert opened.rows.table.isColumnHidden(3)
    opened.rows.table.setFocus()
    qtbot.waitUntil(opened.rows.table.hasFocus)
    assert controllers.navigation.current_row == ids[0]
    press(opened, Qt.Key.Key_1)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.annotations(ids)[ids[0]].queue == AUDIT
    qtbot.waitUntil(lambda: controllers.navigation.current_row == ids[1])
    controllers.navigation.show_ids(range(1, 5))
    assert not controllers.navigation.blind
    assert not opened.rows.table.isColumnHidden(3)


def test_at_its_end_the_sample_is_left_and_what_models_say_is_seen_again(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    ids = _draw(qtbot, controllers)
    for row_id in ids[:3]:
        controllers.edits.decide([row_id], Decision.NONE)
    settle(qtbot, controllers)
    assert controllers.audit.shown
    with qtbot.waitSignal(controllers.messages.notified) as told:
        controllers.edits.decide([ids[3]], Decision.SKIPPED)
    assert "The audit sample is complete: 4 rows." in told.args[0]
    assert not controllers.audit.shown
    assert not controllers.navigation.blind
    assert controllers.audit.state is not None
    assert (controllers.audit.state.decided, controllers.audit.state.skipped) == (3, 1)


def test_a_sample_goes_on_after_a_restart(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    ids = _draw(qtbot, controllers)
    controllers.edits.decide(ids[:2], Decision.NONE)
    assert controllers.workspace.project is not None
    path = Path(controllers.workspace.project.path)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert not controllers.navigation.blind
    assert controllers.audit.state is None
    open_in(qtbot, controllers, path)
    assert controllers.navigation.blind
    qtbot.waitUntil(lambda: controllers.audit.state is not None)
    assert controllers.audit.shown
    controllers.navigation.show_ids([1])
    controllers.audit.go_on()
    assert controllers.navigation.query.among == tuple(ids)
    settle(qtbot, controllers)
    qtbot.waitUntil(lambda: list(opened.rows.model.ids) == ids)
    assert controllers.navigation.current_row == ids[2]


def test_who_looks_at_the_models_is_blind_no_more_and_it_is_kept(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    ids = _draw(qtbot, controllers)
    controllers.navigation.toggle_blind()
    assert controllers.audit.shown
    assert not controllers.navigation.blind
    controllers.edits.decide([ids[0]], Decision.NONE)
    controllers.navigation.toggle_blind()
    assert controllers.navigation.blind
    assert not controllers.preferences.settings["blind"]
    controllers.edits.decide([ids[1]], Decision.NONE)
    by_length = order_by(controllers.navigation.query, RowOrder.LENGTH, controllers.workspace.runs)
    assert by_length is not None
    controllers.navigation.set_query(by_length)
    assert not controllers.navigation.blind
    controllers.edits.decide([ids[2]], Decision.NONE)
    assert controllers.workspace.project is not None
    found = controllers.workspace.project.annotations(ids)
    assert [found[row_id].queue for row_id in ids[:3]] == [OPEN_AUDIT, AUDIT, "shortest text"]


def test_blind_mode_of_the_user_stays_after_the_sample(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    controllers.navigation.toggle_blind()
    _draw(qtbot, controllers)
    controllers.navigation.show_ids([1])
    assert controllers.navigation.blind
    controllers.navigation.toggle_blind()
    assert not controllers.navigation.blind


def test_answers_accepted_in_bulk_are_not_seen_in_the_sample(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    assert controllers.workspace.project is not None
    late = (controllers.workspace.labels[0].id or 0,)
    moment = "2026-01-01T00:00:00.000"
    controllers.workspace.project.annotate(
        Annotation(row_id, Decision.LABEL, late, Origin.BULK, moment, ACCEPTED) for row_id in range(1, 121)
    )
    with qtbot.waitSignal(controllers.messages.notified) as told:
        ids = _draw(qtbot, controllers)
    assert told.args[0].startswith("4 accepted predictions were cleared")
    assert not controllers.workspace.project.annotations(ids)


def test_what_a_person_gave_to_many_rows_is_not_taken_back(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    together = list(range(1, 21))
    controllers.edits.decide(
        together, Decision.LABEL, [controllers.workspace.labels[0].id or 0], origin=Origin.BULK
    )
    ids = _draw(qtbot, controllers)
    assert controllers.workspace.project is not None
    assert not set(ids) & set(together)  # they are decided, and out of what the sample is drawn from
    assert len(controllers.workspace.project.annotations(together)) == len(together)


def test_a_draw_that_is_undone_leaves_the_queue(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    _draw(qtbot, controllers)
    controllers.edits.undo()
    assert not controllers.audit.shown
    assert not controllers.navigation.blind
    qtbot.waitUntil(lambda: controllers.audit.state is None)
