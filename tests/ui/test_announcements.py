"""What is announced to a screen reader, and that nothing is done where none listens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job
from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.ui.kit import announcer
from sce_desktop.ui.kit.announcer import MOST_SPOKEN, Announcer
from sce_desktop.ui.window import announcements
from sce_desktop.ui.window.announcements import Announcements
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, open_in, score_no_edits, settle

Spoken = list[tuple[str, bool]]


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcer, "listening", lambda: True)


@pytest.fixture
def spoken(qtbot: QtBot, controllers: Controllers, listening: None) -> Iterator[Spoken]:
    """What is announced, with whether it interrupts."""
    heard: Spoken = []
    window = QWidget()
    qtbot.addWidget(window)
    Announcements(controllers, window, Announcer(window, lambda text, urgent: heard.append((text, urgent))))
    yield heard
    window.close()  # it lives until here


def test_nothing_is_kept_or_timed_where_nobody_listens(qtbot: QtBot) -> None:
    window, heard = QWidget(), []
    qtbot.addWidget(window)
    quiet = Announcer(window, lambda text, urgent: heard.append((text, urgent)))
    assert not QAccessible.isActive()
    quiet.say("Labelled: Late.", topic="label")
    assert not quiet._soon.isActive()
    assert not quiet._waiting
    assert not heard


def test_a_burst_is_one_announcement_with_the_newest_of_each_topic(qtbot: QtBot, listening: None) -> None:
    window, heard = QWidget(), []
    qtbot.addWidget(window)
    speaker = Announcer(window, lambda text, urgent: heard.append((text, urgent)))
    for label in ("Late", "Damaged", "Praise"):
        speaker.say(f"Labelled: {label}.", topic="label")
    speaker.say("Saved.", topic="message")
    speaker.say("", topic="message")
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [("Labelled: Praise. Saved.", False)]


def test_one_urgent_sentence_makes_the_announcement_urgent(qtbot: QtBot, listening: None) -> None:
    window, heard = QWidget(), []
    qtbot.addWidget(window)
    speaker = Announcer(window, lambda text, urgent: heard.append((text, urgent)))
    speaker.say("The disk is full. " + "x" * 2 * MOST_SPOKEN, topic="message", urgent=True)
    qtbot.waitUntil(lambda: bool(heard))
    speaker.say("Labelled: Late.", topic="label")
    qtbot.waitUntil(lambda: len(heard) == 2)
    assert [urgent for _text, urgent in heard] == [True, False]
    assert len(heard[0][0]) == MOST_SPOKEN


def test_qt_takes_the_announcement(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    QAccessible.setActive(True)
    try:
        announcer.announce(window, "Labelled: Late.", False)
        announcer.announce(window, "The disk is full.", True)
    finally:
        QAccessible.setActive(False)


def test_labels_and_undo_are_announced(
    qtbot: QtBot, controllers: Controllers, spoken: Spoken, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    score_no_edits(controllers)
    settle(qtbot, controllers)
    late = controllers.workspace.labels[0].id or 0
    spoken.clear()
    controllers.edits.decide([1], Decision.LABEL, [late])
    qtbot.waitUntil(lambda: bool(spoken))
    assert spoken == [("Labelled: Late.", False)]
    controllers.edits.decide([1, 2], Decision.NONE)
    qtbot.waitUntil(lambda: len(spoken) == 2)
    assert spoken[1] == ("2 rows: None of these.", False)
    controllers.edits.undo()
    qtbot.waitUntil(lambda: len(spoken) == 3)
    assert spoken[2][0].startswith("Undone: ")


def test_errors_interrupt_and_offers_name_their_button(
    qtbot: QtBot, controllers: Controllers, spoken: Spoken
) -> None:
    controllers.messages.notify_error(UserError("The disk is full."))
    qtbot.waitUntil(lambda: bool(spoken))
    controllers.messages.offer("All rows are scored.", "Start reviewing", lambda: None)
    qtbot.waitUntil(lambda: len(spoken) == 2)
    controllers.messages.ask("Replace it?", [("Replace", lambda: None), ("Keep", lambda: None)])
    qtbot.waitUntil(lambda: len(spoken) == 3)
    assert spoken == [
        ("The disk is full.", True),
        ("All rows are scored. Button: Start reviewing.", False),
        ("Replace it? Buttons: Replace, Keep.", False),
    ]


def work(*, progress: Progress) -> None:
    progress.check()


@pytest.mark.parametrize(
    ("least", "quiet", "heard"), [(0.0, False, True), (0.0, True, False), (60.0, False, False)]
)
def test_the_end_of_a_long_job_is_announced(
    qtbot: QtBot,
    controllers: Controllers,
    spoken: Spoken,
    monkeypatch: pytest.MonkeyPatch,
    least: float,
    quiet: bool,
    heard: bool,
) -> None:
    monkeypatch.setattr(announcements, "LONG_S", least)
    worker = controllers.workspace.workers.files
    job: Job = worker.submit(work, title="Exporting", quiet=quiet)
    qtbot.waitUntil(lambda: not job.active and not worker.busy)
    controllers.messages.notify("Now.")
    qtbot.waitUntil(lambda: bool(spoken))
    assert spoken[0][0] == ("Finished: Exporting. Now." if heard else "Now.")
