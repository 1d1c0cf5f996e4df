"""Jobs and log: what ran, how long, how it ended; and the newest lines of the log."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPlainTextEdit,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.jobs import Job, JobState, WorkerQueue
from sce_desktop.controllers.words import progress_text
from sce_desktop.core.i18n import _
from sce_desktop.core.text import duration
from sce_desktop.log import ScrubbedFormatter
from sce_desktop.ui.kit.empty_text import EmptyText
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role
from sce_desktop.ui.kit.visibility import VisibilityGate

_MOST_JOBS = 200
_MOST_LINES = 500
_COLUMNS = (_("Job"), _("State"), _("Time"), _("Message"))
_ICONS = {
    JobState.WAITING: ("clock", "muted"),
    JobState.RUNNING: ("play", "accent"),
    JobState.CANCELLING: ("clock", "muted"),
    JobState.FINISHED: ("check", "good"),
    JobState.FAILED: ("error", "warn"),
    JobState.CANCELLED: ("stop", "muted"),
}
_STATES = {
    JobState.WAITING: _("Waiting"),
    JobState.RUNNING: _("Running"),
    JobState.CANCELLING: _("Stopping"),
    JobState.FINISHED: _("Finished"),
    JobState.FAILED: _("Failed"),
    JobState.CANCELLED: _("Stopped"),
}
_NO_PARENT = QModelIndex()


def message_of(job: Job) -> str:
    """What there is to say about a job: its failure, else its warnings, else how far it is."""
    if job.error is not None:
        return str(job.error)
    if job.active:
        return progress_text(job, title=False)
    return " ".join(job.warnings)


class JobsModel(QAbstractTableModel):
    """The jobs of the workers, newest first, without quiet ones."""

    def __init__(self, workers: Iterable[WorkerQueue], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.jobs: list[Job] = []
        for worker in workers:
            worker.jobSubmitted.connect(self._on_submitted)
            worker.jobChanged.connect(self._on_changed)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """One row per job."""
        return 0 if parent.isValid() else len(self.jobs)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """Job, state, time, message."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Names of the columns."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Text of a cell, and an icon of the state."""
        job = self.jobs[index.row()]
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            return icon(*_ICONS[job.state])
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return (
                job.title,
                _STATES[job.state],
                duration(job.seconds) if job.started_at is not None else "",
                message_of(job),
            )[index.column()]
        return None

    @Slot(object)
    def _on_submitted(self, job: Job) -> None:
        if job.quiet:
            return
        self.beginInsertRows(QModelIndex(), 0, 0)
        self.jobs.insert(0, job)
        self.endInsertRows()
        if len(self.jobs) > _MOST_JOBS and not self.jobs[-1].active:
            last = len(self.jobs) - 1
            self.beginRemoveRows(QModelIndex(), last, last)
            self.jobs.pop()
            self.endRemoveRows()

    @Slot(object)
    def _on_changed(self, job: Job) -> None:
        if not job.quiet and job in self.jobs:
            row = self.jobs.index(job)
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(_COLUMNS) - 1))


class _LogLines(logging.Handler):
    """Keeps the newest lines of the log, from whatever thread, for the panel to fetch."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(
            ScrubbedFormatter("%(asctime)s  %(levelname)s  %(message)s", "%H:%M:%S", traces=False)
        )
        self.new: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        self.new = [*self.new[-_MOST_LINES:], line]

    def fetch(self) -> list[str]:
        lines, self.new = self.new, []
        return lines


class JobsPanel(QWidget):
    """The list of jobs above the tail of the log."""

    cancelAsked = Signal(object)  # Job

    def __init__(self, workers: Iterable[WorkerQueue], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Jobs and log"))
        self.model = JobsModel(workers, self)
        self.table = QTableView()
        self.table.setTabKeyNavigation(False)
        self.table.setModel(self.model)
        self.table.setAccessibleName(_("Jobs"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(px(26))
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        for column, width in enumerate((220, 90, 70)):
            self.table.setColumnWidth(column, px(width))
        self.log = QPlainTextEdit(readOnly=True, maximumBlockCount=_MOST_LINES)
        self.log.setAccessibleName(_("Log"))
        self.log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.log.document().setDocumentMargin(px(SPACE_S))
        set_role(self.log, "plain")
        EmptyText(self.table, _("No jobs yet. Open a table: imports, scoring and exports are listed here."))
        EmptyText(self.log, _("No messages yet. What happens from now on is listed here."))
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.table)
        split.addWidget(self.log)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(split)
        self._lines = _LogLines()
        logging.getLogger().addHandler(self._lines)
        self.destroyed.connect(lambda _=None, lines=self._lines: logging.getLogger().removeHandler(lines))
        self._tail = QTimer(
            self, interval=500
        )  # a signal a line would let a chatty library freeze the window
        self._tail.timeout.connect(self._append)
        self._visibility = VisibilityGate(self, 0)
        self._visibility.changed.connect(self._on_seen)

    @Slot(bool)
    def _on_seen(self, seen: bool) -> None:
        if seen:
            self._append()
            self._tail.start()
        else:
            self._tail.stop()

    @Slot()
    def _append(self) -> None:
        if self._lines.new:
            self.log.appendPlainText("\n".join(self._lines.fetch()))
