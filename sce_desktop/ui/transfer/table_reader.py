"""Reading the head of a table and counting its rows, in the background, while one chooses how."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import table_work
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.core.tables import TableOptions

if TYPE_CHECKING:
    from sce_desktop.controllers.table_work import Look
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.tables.scan import TableScan


class TableReader(QObject):
    """What is known of the table at ``path``; an answer to an older question is dropped."""

    looked = Signal(object)  # the head was read: a `Look`
    unreadable = Signal(object)  # why not
    progressed = Signal(object, object)  # rows counted, and of how many
    counted = Signal(object)  # all rows were: a `TableScan`
    uncountable = Signal(object)  # why not

    def __init__(self, workspace: Workspace, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._path = path
        self.look: Look | None = None
        self.scan: TableScan | None = None
        self.failure = ""  # why it cannot be read or counted
        self.look_job: Job | None = None
        self.count_job: Job | None = None

    def read(self, options: TableOptions, models: tuple[str, ...]) -> None:
        """Read the head with ``options``, in place of what is being read; ``models`` may score the table."""
        drop(self.look_job)
        drop(self.count_job)
        self.scan = None
        self.look_job = self._workspace.workers.reads.submit(
            table_work.look,
            self._path,
            options,
            models,
            title=_("Reading {file}", file=self._path.name),
            first=True,
            quiet=True,
        )
        self.look_job.finished.connect(self._on_look)
        self.look_job.failed.connect(self._on_unreadable)

    @Slot(object)
    def _on_look(self, look: Look) -> None:
        self.look, self.failure = look, ""
        self.looked.emit(look)

    @Slot(object)
    def _on_unreadable(self, error: object) -> None:
        self.failure = str(error)
        self.unreadable.emit(self.failure)

    def forget_count(self) -> None:
        """Stop counting: what is counted would be another table."""
        drop(self.count_job)
        self.count_job = self.scan = None

    def count(
        self, text: tuple[int, ...], label: int | None, *, lists: bool, project: Project | None
    ) -> None:
        """Count the rows; with ``project`` those that it has already, too.

        Args:
            text: Places of the columns of text.
            label: Place of the column of labels.
            lists: Whether it holds lists of labels.
            project: The open project, where rows are added to it.
        """
        assert self.look is not None
        scan = partial(
            in_worker("sce_desktop.tasks.tables.scan", "scan_table"),
            self._path,
            text_columns=text,
            label_column=label,
            lists=lists,
            project=project,
            options=self.look.preview.options.settled,
            get_it=table_work.DOWNLOAD_IN_WINDOW,
        )
        title = _("Counting {file}", file=self._path.name)
        if project is not None:
            self.count_job = self._workspace.submit(scan, title=title, quiet=True, notify_failure=False)
        else:
            self.count_job = self._workspace.workers.files.submit(scan, title=title, quiet=True)
        self.count_job.progressed.connect(self._on_progress)
        self.count_job.finished.connect(self._on_counted)
        self.count_job.failed.connect(self._on_uncountable)

    @Slot(object, object, object)
    def _on_progress(self, done: int, total: int | None, _stage: str) -> None:
        self.progressed.emit(done, total)

    @Slot(object)
    def _on_counted(self, scan: TableScan) -> None:
        self.scan = scan
        self.counted.emit(scan)

    @Slot(object)
    def _on_uncountable(self, error: object) -> None:
        self.failure = str(error)
        self.uncountable.emit(self.failure)

    def stop(self) -> None:
        """Stop what is read and counted."""
        drop(self.look_job)
        drop(self.count_job)
