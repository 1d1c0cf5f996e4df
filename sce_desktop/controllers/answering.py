"""When the window answers the user: from what a key does until nothing is left to lay out and to paint.

What is not the answer comes after it, in the window's own thread too: counts, progress, menus (`CalmTimer`).
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.core.giving_way import begin_answer, end_answer, is_held_up

LOOK_MS = 10  # again, whether the answer is there
ROUNDS = 3  # of the event loop: what a key changes asks for a layout, that for heights, these for painting


class Answering(QObject):
    """Has workers give way (`core.giving_way`) from `begin` until the event loop has nothing else to do."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rounds = 0
        # Painting and layouts are posted events: a timer of nothing comes after them.
        self._round = QTimer(self, singleShot=True, interval=0)
        self._round.timeout.connect(self._on_round)

    def begin(self) -> None:
        """Say that an answer begins; it ends by itself."""
        begin_answer()
        self._rounds = ROUNDS
        self._round.start()

    @Slot()
    def _on_round(self) -> None:
        self._rounds -= 1
        if self._rounds:
            self._round.start()
        else:
            end_answer()


class CalmTimer(QTimer):
    """A timer that goes off once, and not while the window answers: what it brings can wait that long.

    Connect to ``calm`` in place of ``timeout``.
    """

    calm = Signal()

    def __init__(self, parent: QObject | None = None, *, interval: int = 0) -> None:
        super().__init__(parent, singleShot=True)
        self._usual = interval
        self.setInterval(interval)
        self.timeout.connect(self._on_timeout)

    @Slot()
    def _on_timeout(self) -> None:
        if is_held_up():
            self.setInterval(LOOK_MS)
            self.start()
            return
        self.setInterval(self._usual)
        self.calm.emit()
