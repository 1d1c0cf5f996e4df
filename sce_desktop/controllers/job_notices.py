"""Jobs that took long and end while the window is behind others: what the system's notification says.

    notices = JobNotices(workers, preferences, in_front)
    notices.noticed.connect(system.show_notice)     # (Notice)

A notification is seen on a locked screen, and by who walks past. It says what ended, perhaps of which file,
and how long it took: never why something failed, as a failure may quote a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers.jobs import Job, JobState, WorkerQueue
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.core.escapes import in_message
from sce_desktop.core.i18n import Message, _
from sce_desktop.core.text import duration

LONG_S: Final = 10.0
_NAMES: Final = frozenset(("name", "file", "model", "version", "count"))
"""Placeholders in the titles of jobs that hold the name of a file or a model, or a number."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What a notification says."""

    title: str
    body: str
    failed: bool = False


class JobNotices(QObject):
    """Watches the workers; quiet jobs, and jobs that were stopped, are nobody's news.

    Args:
        workers: Whose jobs count.
        preferences: The setting ``notify`` turns all of it off.
        in_front: Whether the window, or a dialog of it, is in front.
    """

    noticed = Signal(object)  # Notice

    def __init__(
        self,
        workers: Iterable[WorkerQueue],
        preferences: Preferences,
        in_front: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._in_front = in_front
        for worker in workers:
            worker.jobChanged.connect(self._on_changed)

    @Slot(object)
    def _on_changed(self, job: Job) -> None:
        if job.state not in (JobState.FINISHED, JobState.FAILED) or job.quiet or job.seconds < LONG_S:
            return
        if self._preferences.settings["notify"] and not self._in_front():
            self.noticed.emit(notice_of(job))


def notice_of(job: Job) -> Notice:
    """Return what is said about a job that has ended."""
    title = public_title(job.title)
    if job.state is JobState.FAILED:
        return Notice(_("{job}: failed", job=title), _("Open SCE Desktop to see why."), failed=True)
    return Notice(_("{job}: finished", job=title), _("It took {time}.", time=duration(job.seconds)))


def public_title(title: str) -> str:
    """Return the title of a job with names of files and models alone; another title says nothing."""
    if not isinstance(title, Message) or not title.values.keys() <= _NAMES:
        return _("A long job")
    if not title.values:
        return title
    names = {key: in_message(_without_folder(value)) for key, value in title.values.items()}
    return title.template.format(**names)


def _without_folder(value: object) -> object:
    return PurePath(value).name if isinstance(value, str) else value
