"""Messages in passing: one sentence in the message strip, perhaps with buttons.

    messages.notify("One sentence.", "warn")
    messages.offer("All rows are scored.", "Start reviewing", begin)
    messages.ask("A question?", [("Yes", do), ("No", dont)])

Nobody has to answer, and nothing waits for an answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.core.errors import DamagedProject
from sce_desktop.core.i18n import _

log = logging.getLogger(__name__)

Tone = Literal["info", "warn"]


class Messages(QObject):
    """Passes sentences on to whoever shows them."""

    notified = Signal(object, object)  # a sentence, "info" or "warn"
    notificationLasts = Signal()  # the last message is about no project: it stays when one opens or closes
    offered = Signal(object, object, object, object)  # a sentence, a button's words, what it does, tone
    asked = Signal(object, object)  # a question, and its answers: what each button says and does
    repairAsked = Signal(object)  # path of a damaged project: where is what can be read of it to go?

    def notify(self, sentence: str, tone: Tone = "info") -> None:
        """Show one sentence."""
        log.info("Message: %s", sentence)
        self.notified.emit(sentence, tone)

    def notify_of_program(self, sentence: str, tone: Tone = "info") -> None:
        """Show one sentence that is about no project: it stays when another one opens."""
        self.notify(sentence, tone)
        self.notificationLasts.emit()

    def offer(self, sentence: str, button: str, do: Callable[[], object], tone: Tone = "info") -> None:
        """Show one sentence with a button beside it."""
        log.info("Message: %s", sentence)
        self.offered.emit(sentence, button, do, tone)

    @Slot(object)
    def notify_error(self, error: object) -> None:
        """Show what went wrong, with a way out where a file is damaged."""
        if isinstance(error, DamagedProject):
            path = error.path
            self.offer(error.what, _("Repair…"), lambda: self.repairAsked.emit(path), "warn")
        else:
            self.notify(str(error), "warn")

    def ask(self, question: str, answers: Sequence[tuple[str, Callable[[], object]]]) -> None:
        """Ask, with a button for each answer; nobody has to answer."""
        log.info("Asked: %s", question)
        self.asked.emit(question, answers)
