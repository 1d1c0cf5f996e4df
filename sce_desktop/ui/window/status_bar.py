"""The line at the bottom: counts, the running job, the device, and that everything is saved."""

from __future__ import annotations

import math
from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QStatusBar, QWidget

from sce_desktop.controllers.answering import CalmTimer
from sce_desktop.controllers.jobs import Job, JobState, WorkerQueue
from sce_desktop.controllers.words import progress_text
from sce_desktop.core.choices import Counts
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.query import RowState
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.motion import ProgressBar
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role

SHOW_MS = 250  # a progress bar paints every value at once: not while something else waits for it


def _rows(rows: int, found: int | None) -> str:
    """How many rows there are and, with filters, how many of them are found."""
    if found is None:
        return ngettext("{count} row", "{count} rows", rows)
    return ngettext("{found} of {count} row", "{found} of {count} rows", rows, found=number(found))


def _surely_long(job: Job) -> bool:
    """Whether a job has begun to say how far it is, and most of it is to come: it will not end at once."""
    return bool(job.active and job.total and 0 < job.done < job.total / 4)


class StatusBar(QStatusBar):
    """Counts first, the running job beside them; device and "Saved" at the other end."""

    stopAsked = Signal(object)  # the Job that is shown

    def __init__(self, workers: Iterable[WorkerQueue], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Status"))
        self.setSizeGripEnabled(False)
        self.setContentsMargins(px(SPACE_S), 0, px(SPACE_S), 0)
        self._workers = tuple(workers)
        self._job: Job | None = None
        self._paused = ""
        self.counts = ElidedLabel()  # a plain one would widen the window: millions of rows, drafts, German
        self.counts.setAccessibleName(_("Rows, labelled, scored"))
        self.counts.setContentsMargins(0, 0, px(SPACE_M), 0)
        self.addWidget(self.counts)
        self.bar = ProgressBar(textVisible=False)
        self.bar.setFixedWidth(px(140))
        self.bar.setAccessibleName(_("Progress"))
        self.addWidget(self.bar)
        self.progress = ElidedLabel()  # a plain one would widen the window while a job with a long name runs
        self.progress.setAccessibleName(_("Running job"))
        self.addWidget(self.progress)
        self.stop_button = QPushButton(_("Stop"))
        self.stop_button.setAccessibleName(_("Stop the running job"))
        self.stop_button.setToolTip(_("Finished work is kept"))
        set_role(self.stop_button, "quiet")
        set_icon(self.stop_button, "stop", "muted")
        self.stop_button.clicked.connect(self._on_stop)
        self.addWidget(self.stop_button)
        self.device = self._label(_("Device"))
        self.addPermanentWidget(self.device)
        self.saved = self._label(_("Saved"))
        self.addPermanentWidget(self.saved)
        self._show_soon = CalmTimer(self, interval=SHOW_MS)
        self._show_soon.calm.connect(self._show_running)
        self._show_job(None)
        for worker in self._workers:
            worker.jobSubmitted.connect(self._on_changed)
            worker.jobChanged.connect(self._on_changed)

    @staticmethod
    def _label(name: str) -> QLabel:
        label = QLabel()
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setAccessibleName(name)
        return label

    def set_counts(self, counts: Counts | None, *, found: int | None = None, scored: int = 0) -> None:
        """Show how many rows there are, labelled and scored; nothing without a project.

        ``found``: how many of them the filters leave; None: there is no filter. ``scored``: by now, where
        that is more than was counted.
        """
        parts: tuple[str, ...] = ()
        if counts is not None:
            by_now = max(scored, counts.scored)
            said = _("{count} scored", count=number(by_now))
            if counts.draft:
                said = _(
                    "Draft for {draft} rows; model scores for {count}",
                    draft=number(counts.draft),
                    count=number(by_now),
                )
            parts = (
                _rows(counts.rows, found),
                _("{count} labelled", count=number(counts.labelled)),
                said,
            )
        none = counts.states[RowState.NONE] if counts else 0
        labelled_none = ngettext(
            "{count} row is labelled “None of these”", "{count} rows are labelled “None of these”", none
        )
        self.counts.setText("    ".join(parts), labelled_none if none else "")

    def set_device(self, text: str) -> None:
        """Say where models run."""
        self.device.setText(text)

    def set_saved(self, text: str) -> None:
        """Say what is saved: everything, always, unless the project is read-only."""
        self.saved.setText(text)

    def set_paused(self, text: str) -> None:
        """Say what is paused where no job is shown; nothing if ``text`` is empty."""
        self._paused = text
        if self._job is None:
            self._show_job(None)

    @Slot(object)
    def _on_changed(self, job: Job) -> None:
        ended = job is self._job and not job.active  # the button must not stop what has ended
        begun = self._job is None and not job.quiet and _surely_long(job)
        if ended or begun:
            self._show_running()
        elif not self._show_soon.isActive() and not job.quiet:
            self._show_soon.start()

    @Slot()
    def _show_running(self) -> None:
        running = [job for worker in self._workers for job in worker.jobs if not job.quiet]
        # What began last, an export or labels of all rows while a table is scored for hours; then what waits.
        running.sort(key=lambda job: -job.started_at if job.started_at is not None else math.inf)
        self._show_job(running[0] if running else None)

    def _show_job(self, job: Job | None) -> None:
        self._job = job
        for widget in (self.bar, self.progress, self.stop_button):
            widget.setVisible(job is not None)
        if job is None:
            self.progress.setText(self._paused)
            self.progress.setVisible(bool(self._paused))
            return
        if job.total:
            self.bar.setRange(0, 1000)
            self.bar.setValue(int(1000 * min(1.0, job.done / job.total)))
        else:
            self.bar.setRange(0, 0)
        self.progress.setText(progress_text(job))
        self.stop_button.setEnabled(job.state is not JobState.CANCELLING)

    @Slot()
    def _on_stop(self) -> None:
        if self._job is not None:
            job = self._job
            job.cancel()
            self._show_running()
            self.stopAsked.emit(job)
