"""What the window announces to a screen reader: labels given, messages, and long jobs that end.

Undo and redo, errors and offers are messages. Where the focus goes, and what is in a cell that it comes to,
the screen reader says without our help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import Job, JobState
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.ui.kit.announcer import Announcer

LONG_S = 1.0  # a job that took less is over before one could wonder


class Announcements(QObject):
    """Follows the controllers as long as the window lives."""

    def __init__(self, controllers: Controllers, window: QWidget, announcer: Announcer | None = None) -> None:
        super().__init__(window)
        self._announcer = announcer or Announcer(window)
        controllers.edits.decided.connect(self._on_decided)
        controllers.messages.notified.connect(self._on_message)
        controllers.messages.offered.connect(self._on_offer)
        controllers.messages.asked.connect(self._on_question)
        for worker in controllers.workspace.workers:
            worker.jobChanged.connect(self._on_job)

    @Slot(object, object)
    def _on_decided(self, row_ids: Sequence[int], label: str) -> None:
        if not self._announcer.active:  # with every label, which must cost nothing
            return
        words = _("Labelled: {label}.", label=label)
        if (count := len(row_ids)) > 1:
            words = ngettext("{count} row: {label}.", "{count} rows: {label}.", count, label=label)
        self._announcer.say(words, topic="label")

    @Slot(object, object)
    def _on_message(self, sentence: str, tone: str) -> None:
        self._announcer.say(sentence, topic="message", urgent=tone == "warn")

    @Slot(object, object, object, object)
    def _on_offer(self, sentence: str, button: str, _do: Callable[[], object], tone: str) -> None:
        offered = _("{sentence} Button: {button}.", sentence=sentence, button=button)
        self._announcer.say(offered, topic="message", urgent=tone == "warn")

    @Slot(object, object)
    def _on_question(self, question: str, answers: Sequence[tuple[str, Callable[[], object]]]) -> None:
        words = [answer for answer, _do in answers]
        asked = _("{question} Buttons: {answers}.", question=question, answers=", ".join(words))
        self._announcer.say(asked, topic="message")

    @Slot(object)
    def _on_job(self, job: Job) -> None:
        """Say that a long job has ended; why one failed is a message."""
        if job.active or job.quiet or job.seconds < LONG_S:
            return
        if job.state is JobState.FINISHED:
            self._announcer.say(_("Finished: {job}.", job=job.title), topic=f"job {job.id}")
        elif job.state is JobState.CANCELLED:
            self._announcer.say(_("Stopped: {job}.", job=job.title), topic=f"job {job.id}")
