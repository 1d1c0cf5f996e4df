"""Work for a panel that is done only while the panel is visible, and caught up with when it becomes so.

self.visibility = VisibilityGate(self, PAUSE_MS)
self.visibility.due.connect(self._measure)         # the panel is on the screen, and something has changed
workspace.annotationsChanged.connect(self.visibility.soon)
self.visibility.follow(workspace.submit(...))      # nothing is due while this job runs
self.visibility.forget()                           # another project: no job, nothing due
self.visibility.changed.connect(...)               # whether anybody looks
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QDockWidget, QWidget

from sce_desktop.controllers.jobs import Job, drop


def is_seen(widget: QWidget) -> bool:
    """Whether ``widget`` is on the screen; behind the tab of another Qt calls it visible."""
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


class VisibilityGate(QObject):
    """Belongs to a panel. ``pause`` is in ms, between a change and the work that follows it.

    With ``rest``, a job is followed by a pause of at least so many times its length: what is slow must leave
    its worker to the table.
    """

    changed = Signal(bool)  # somebody looks, or nobody any more
    due = Signal()

    def __init__(self, panel: QWidget, pause: int, *, rest: int = 0) -> None:
        super().__init__(panel)
        self.pause = pause
        self.job: Job | None = None
        self._rest = rest
        self._rests = 0  # ms after the last job
        self._wanted: int | None = None  # ms until it is due; None: nothing has changed
        self._was_seen = False
        self._in_dock = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._on_time)
        panel.installEventFilter(self)

    @property
    def seen(self) -> bool:
        """Whether anybody can see the panel."""
        panel = self.parent()  # no attribute: Qt crashes on a widget that only the garbage collector can free
        return isinstance(panel, QWidget) and is_seen(panel)

    @property
    def idle(self) -> bool:
        """Whether nothing has changed and nothing runs."""
        return self._wanted is None and self.job is None

    @property
    def wait(self) -> int:
        """Ms between a change and the work for it, while somebody looks."""
        return max(self.pause, self._rests)

    @Slot()
    def soon(self) -> None:
        """Something has changed: ``due`` comes after the pause, or when somebody looks."""
        self.within(self.wait)

    def within(self, pause: int) -> None:
        """Let ``due`` come after ``pause`` ms, or when somebody looks; the earliest wish counts."""
        self._wanted = pause if self._wanted is None else min(pause, self._wanted)
        self._start()

    def follow(self, job: Job) -> Job:
        """Let nothing be due while ``job`` runs."""
        self.drop()
        self.job = job
        job.ended.connect(self._on_ended)
        return job

    def drop(self) -> None:
        """Want the job no more that runs."""
        drop(self.job)
        self.job = None

    def forget(self) -> None:
        """Want neither the job that runs nor one after it."""
        self.drop()
        self._timer.stop()
        self._wanted, self._rests = None, 0

    def _start(self) -> None:
        if self._wanted is None or self.job is not None or not self.seen:
            return
        if not 0 <= self._timer.remainingTime() <= self._wanted:
            self._timer.start(self._wanted)

    @Slot()
    def _on_time(self) -> None:
        if self._wanted is not None and self.job is None and self.seen:
            self._wanted = None
            self.due.emit()

    @Slot()
    def _on_ended(self) -> None:
        assert self.job is not None
        self._rests = round(1000 * self._rest * self.job.seconds)
        self.job = None
        if self._wanted is not None:
            self._wanted = max(self._wanted, self._rests)
            self._start()

    # --- who looks -----------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the panel coming and going, and its dock, which knows of tabs."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._find_dock()
            self._check()
        return False

    def _find_dock(self) -> None:
        above = None if self._in_dock else self.parent()
        while above is not None and not isinstance(above, QDockWidget):
            above = above.parent()
        if above is not None:
            above.visibilityChanged.connect(self._check)
            self._in_dock = True

    @Slot()
    def _check(self) -> None:
        QTimer.singleShot(0, self, self._update_seen)  # when everything has its place

    @Slot()
    def _update_seen(self) -> None:
        seen = self.seen
        if seen and self._wanted is not None and self.job is None and not self._timer.isActive():
            self._timer.start(0)
        if seen != self._was_seen:
            self._was_seen = seen
            self.changed.emit(seen)
