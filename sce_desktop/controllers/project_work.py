"""The jobs that use the open project, and what has to wait until none of them is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers.jobs import Job, WorkerQueue


class ProjectWork(QObject):
    """A project is closed only when nothing works on it any more; this knows when that is."""

    def __init__(self, workers: Iterable[WorkerQueue], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: set[Job] = set()
        self._then: list[Callable[[], object]] = []
        for worker in workers:
            worker.jobChanged.connect(self._on_changed)

    def add(self, *jobs: Job) -> None:
        """Count these jobs as work on the project."""
        self._jobs.update(job for job in jobs if job.active)

    @property
    def stopping(self) -> bool:
        """Whether all work is being stopped: none is to begin."""
        return bool(self._then)

    def stop_then(self, then: Callable[[], object]) -> None:
        """Cancel all work and call ``then`` when the last of it has stopped; at once if there is none."""
        self._then.append(then)
        for job in list(self._jobs):
            job.cancel()
        self._run_waiting()

    @Slot(object)
    def _on_changed(self, job: Job) -> None:
        if not job.active:
            self._jobs.discard(job)
            self._run_waiting()

    def _run_waiting(self) -> None:
        while self._then and not self._jobs:
            self._then.pop(0)()
