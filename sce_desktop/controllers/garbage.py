"""Python's garbage collection, kept in the GUI thread.

Python collects reference cycles in whatever thread happens to allocate. A dialog or a controller that nobody
needs any more, but that refers to itself by its signals, would be destroyed by a worker's thread, and Qt
aborts when a timer or a widget dies in another thread than its own. So as long as workers run, automatic
collection is off, and a timer of the GUI thread collects by Python's own thresholds instead.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer, Slot

from sce_desktop import imports
from sce_desktop.core.giving_way import is_held_up, since_answer

INTERVAL_MS = 1000
_AGAIN_MS = 20
CALM_S = 0.5  # since the last answer: collecting takes up to 40 ms, which the next one would wait for
MOST_YOUNG = 100_000  # objects since the last time, after which nobody's pause is waited for


class GuiCollector(QObject):
    """Collects in the thread it was made in, one a worker; the last to stop turns Python's own on again."""

    _users = 0

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        if GuiCollector._users == 0:
            gc.disable()
        GuiCollector._users += 1
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def stop(self) -> None:
        """Leave collection to Python again, if no other collector is at work. Call it once."""
        self._timer.stop()
        GuiCollector._users -= 1
        if GuiCollector._users == 0:
            gc.enable()

    @Slot()
    def collect(self) -> None:
        """Collect the oldest generation whose threshold is exceeded, as Python would have done."""
        if imports.under_way():
            return
        if is_held_up():  # collecting takes as long as half a key
            QTimer.singleShot(_AGAIN_MS, self, self.collect)
            return
        counts, thresholds = gc.get_count(), gc.get_threshold()
        if since_answer() < CALM_S and counts[0] < MOST_YOUNG:
            return  # until the user pauses; the timer comes again
        for generation in (2, 1, 0):
            if thresholds[generation] and counts[generation] > thresholds[generation]:
                gc.collect(generation)
                return
