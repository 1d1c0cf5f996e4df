"""What a screen reader says by itself: news that no move of the focus tells.

    announcer = Announcer(window)
    announcer.say(_("Labelled: {label}.", label=name), topic="label")

News comes in bursts: what is said within a moment becomes one announcement, with the newest sentence of each
topic. Where no screen reader listens, `Announcer.say` returns at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6 import QtGui
from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

MOMENT_MS = 200  # a label, the next row and its count come within it
MOST_SPOKEN = 400  # characters of one sentence: a message may hold the name of a long path
Speak = Callable[[str, bool], None]  # a text, and whether it interrupts


def listening() -> bool:
    """Whether a screen reader, or something like it, reads this window."""
    return QAccessible.isActive()


def announce(source: QObject, text: str, urgent: bool) -> None:
    """Let the screen reader say ``text``; ``urgent``: at once, instead of after what it is saying.

    Qt has announcements since 6.8; under an older one nothing is said.
    """
    make = getattr(QtGui, "QAccessibleAnnouncementEvent", None)
    if make is None:
        return
    event = make(source, text)
    politeness = QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
    QAccessible.updateAccessibility(event)


class Announcer(QObject):
    """Announces for ``source``, a widget that a screen reader knows; ``speak`` is for tests."""

    def __init__(self, source: QWidget, speak: Speak | None = None) -> None:
        super().__init__(source)
        self._speak: Speak = speak or partial(announce, source)
        self._waiting: dict[str, str] = {}  # sentences by topic, the newest last
        self._urgent = False
        self._soon = QTimer(self, singleShot=True, interval=MOMENT_MS)
        self._soon.timeout.connect(self._flush)

    @property
    def active(self) -> bool:
        """Whether anything is said at all: else the words need not be made."""
        return listening()

    def say(self, sentence: str, *, topic: str, urgent: bool = False) -> None:
        """Say ``sentence`` in a moment, in place of what waits of the same ``topic``."""
        if not sentence or not listening():
            return
        self._waiting.pop(topic, None)
        self._waiting[topic] = sentence[:MOST_SPOKEN]
        self._urgent = self._urgent or urgent
        if not self._soon.isActive():
            self._soon.start()

    @Slot()
    def _flush(self) -> None:
        sentences, urgent = self._waiting, self._urgent
        self._waiting, self._urgent = {}, False
        if sentences:
            self._speak(" ".join(dict.fromkeys(sentences.values())), urgent)
