"""Which project is open: opening, importing, repairing, saving, exporting and closing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.controllers import purge_work, work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.labels_groups import ids_in, parents_of
from sce_desktop.controllers.messages import Messages, Tone
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.queries import follow_runs
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.view_state import ViewState
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.choices import ExportChoices, ImportChoices
from sce_desktop.core.errors import RescuedProject
from sce_desktop.core.exchange import Exchange
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.purging import PurgeScope
from sce_desktop.core.query import RowQuery
from sce_desktop.core.tables import TableOptions

if TYPE_CHECKING:
    from sce_desktop.store.content.rows import ImportReport
    from sce_desktop.store.project import Project

_PROJECT = "sce_desktop.store.project"
_OPEN = in_worker(_PROJECT, "Project.open", takes_progress=False)


class Projects(QObject):
    """Opens and closes projects, and moves tables in and out of the open one."""

    rescued = Signal(object, object)  # path of a project whose file was lost, and of the copy that was made
    settled = Signal()  # `shut_down` has finished: nothing runs, the project is closed

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        scorer: Scorer,
        preferences: Preferences,
        messages: Messages,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._edits = edits
        self._scorer = scorer
        self._preferences = preferences
        self._messages = messages
        self._view_state = ViewState(preferences.settings.file.with_name("places.json"))
        self._closing = False

    @Slot()
    def warm_up(self) -> None:
        """Load the model and the libraries for files, so that they are there when they are needed."""
        self._workspace.workers.files.submit(work.import_libraries, title=_("Getting ready"), quiet=True)
        self._scorer.warm_up()

    # --- opening and closing -------------------------------------------------------------------------------

    def open_project(self, path: Path) -> None:
        """Open the project at ``path`` in place of the present one; nothing to do if it is that one.

        One that was open elsewhere is opened again: it may be closed there by now.
        """
        now = self._workspace.project
        if now is not None and now.path.exists() and now.path.samefile(path) and not now.open_elsewhere:
            return
        self._replace_project(_OPEN, path, title=_("Opening {name}", name=path.stem))

    def import_table(self, choices: ImportChoices) -> Job | None:
        """Make a new project of a table and open it, or add the table's rows to the open one.

        Returns the job, or None where it has to wait until the open project has come to rest.
        """
        if choices.append:
            if self._workspace.project is None or self._workspace.refuses_edit():
                return None
            job = self._workspace.submit(
                work.append_table,
                self._workspace.project,
                choices,
                title=_("Adding {name}", name=choices.path.name),
            )
            job.finished.connect(lambda report: self._on_appended(report, job.warnings))
            job.cancelled.connect(self._remove_unfinished)
            return job
        target = choices.project_path or work.free_path(
            work.projects_folder(self._preferences.settings), choices.path.stem
        )
        return self._replace_project(
            work.import_table, choices, target, title=_("Importing {name}", name=choices.path.name)
        )

    def repair_project(self, path: Path, copy: Path, replace: bool = False) -> Job:
        """Make a new project at ``copy`` of what can be read of a damaged one, open it and say what came."""
        return self._replace_project(
            partial(work.repair_project, replace=replace),
            path,
            copy,
            title=_("Repairing {name}", name=path.stem),
            tone="warn",
        )

    def close_project(self) -> None:
        """Close the open project, after its work has been stopped; the start page comes."""
        self._workspace.work.stop_then(self._close_now)

    def open_sample(self) -> None:
        """Open the sample project, made of the bundled table at the first time, and score it."""
        path = work.projects_folder(self._preferences.settings) / "Parcel feedback.sce"
        if self._workspace.project is not None and self._workspace.project.path == path:
            return
        fn = _OPEN if path.exists() else work.import_sample
        self._replace_project(fn, path, title=_("Opening the sample"), score=True)

    def save_copy(self, path: Path, replace: bool = False) -> Job | None:
        """Copy the open project to ``path``; ``replace`` what is there."""
        job = self._back_up(path, replace, _("Copying to {name}", name=path.name))
        if job is None:
            return None
        job.finished.connect(
            lambda _result: self._messages.notify(_("The project was copied to {path}.", path=path))
        )
        return job

    def save_as(self, path: Path, replace: bool = False) -> Job | None:
        """Write all of the open project to ``path``, also when its file is lost, and continue there."""
        job = self._back_up(path, replace, _("Saving {name}", name=path.name))
        if job is None:
            return None

        def open_saved() -> None:
            self._view_state.keep(
                path,
                self._navigation.query,
                self._navigation.current_row,
                ids_in(self._workspace.labels, self._navigation.folded),
                self._navigation.own_columns,
            )
            self.open_project(path)

        job.finished.connect(open_saved)
        return job

    def _back_up(self, path: Path, replace: bool, title: str) -> Job | None:
        """Write all of the open project to ``path``; ``replace`` what is there."""
        project = self._workspace.project
        if project is None:
            return None
        return self._workspace.submit(
            in_worker(_PROJECT, "Project.backup"), project, path, overwrite=replace, title=title
        )

    def purge(self, scope: PurgeScope, *, with_copies: bool) -> None:
        """Delete from the open project for good: it is closed for that and opened again."""
        if self._workspace.project is None:
            return
        path = self._workspace.project.path

        def closed() -> None:
            self._close_now()
            self._view_state.forget(path)
            job = self._workspace.workers.files.submit(
                purge_work.purge, path, scope, with_copies=with_copies, title=_("Deleting for good")
            )
            job.finished.connect(self._on_purged)
            job.failed.connect(lambda error: self._on_not_purged(path, error))
            job.cancelled.connect(lambda: self.open_project(path))

        self._workspace.work.stop_then(closed)

    def _on_purged(self, project: Project) -> None:
        if self._closing or self._workspace.project is not None:
            project.close()
        else:
            self._switch(project, [], score=False, tone="info")

    def _on_not_purged(self, path: Path, error: object) -> None:
        if not self._closing:
            self.open_project(path)
            self._messages.notify_error(error)
            self._messages.notificationLasts.emit()

    def shut_down(self) -> None:
        """Stop all work, close the project and emit ``settled``: what the window waits for before it goes."""
        self._closing = True
        self._workspace.work.add(*self._workspace.workers.files.jobs)  # a project that is being made, too
        self._workspace.work.stop_then(self._settle)

    def _settle(self) -> None:
        job = self._close_now()
        if job is None:
            self.settled.emit()
        else:
            job.ended.connect(self.settled)

    def _replace_project(
        self, fn: Callable[..., Project], *args: Any, title: str, score: bool = False, tone: Tone = "info"
    ) -> Job:
        """Make or open another project; the present one stays open until that has worked."""
        job = self._workspace.workers.files.submit(fn, *args, title=title)

        def made(project: Project) -> None:
            if self._closing:
                project.close()
            else:
                self._workspace.work.stop_then(
                    lambda: self._switch(project, job.warnings, score=score, tone=tone)
                )

        job.finished.connect(made)
        job.failed.connect(self._messages.notify_error)
        return job

    def _switch(self, project: Project, warnings: list[str], *, score: bool, tone: Tone) -> None:
        self._close_now()
        self._workspace.hold_quiet_work()
        self._workspace.project = project
        self._workspace.label_set = project.label_set()
        self._workspace.follow_threshold()
        self._scorer.follow_model()
        self._scorer.refresh()
        self._scorer.follow_version()
        query, row = self._view_state.shown_last(project.path)
        self._navigation.folded = parents_of(self._workspace.labels, self._view_state.folded(project.path))
        self._navigation.show_columns(self._view_state.own_columns(project.path, len(project.columns)))
        self._navigation.take_query(follow_runs(query, self._workspace.runs))
        self._workspace.projectOpened.emit(project)
        self._navigation.queryChanged.emit(self._navigation.query)
        if row is not None and project.has_row(row):
            self._navigation.set_current_row(row)
        self._workspace.count_soon()
        if warnings:
            self._messages.notify(" ".join(warnings), tone if len(warnings) > 1 else "info")
        if project.finished_purge:
            self._messages.notify(project.finished_purge)
        if project.read_only:
            self._messages.notify(self._workspace.why_not(), "warn")
            return
        self._edits.report_interrupted()
        self._workspace.submit(
            in_worker(_PROJECT, "Project.build_search_index"), project, title=_("Building the search index")
        )
        if score and not self._workspace.runs:
            QTimer.singleShot(
                0, self._scorer, self._scorer.follow
            )  # the table says first which rows it shows

    def _close_now(self) -> Job | None:
        """Let go of the project, on which nothing works any more, and close its file in the files worker."""
        if self._workspace.project is None:
            return None
        self._view_state.keep(
            self._workspace.project.path,
            self._navigation.query,
            self._navigation.current_row,
            ids_in(self._workspace.labels, self._navigation.folded),
            self._navigation.own_columns,
        )
        project, self._workspace.project = self._workspace.project, None
        self._workspace.label_set = None
        self._workspace.counts = None
        self._navigation.visible_rows = ()
        self._navigation.set_selected(())
        self._navigation.take_query(RowQuery())
        self._navigation.set_current_row(None)
        self._scorer.follow_model()
        self._scorer.refresh()
        self._scorer.follow_version()
        self._workspace.projectClosed.emit()
        job = self._workspace.workers.files.submit(
            in_worker(_PROJECT, "Project.close", takes_progress=False),
            project,
            title=_("Closing {name}", name=project.path.stem),
            quiet=True,
        )
        job.failed.connect(self._on_left)
        return job

    @Slot(object)
    def _on_left(self, error: object) -> None:
        """Report what went wrong when a project was closed; another may be open by now."""
        if isinstance(error, RescuedProject):
            copy = error.copy
            self._messages.offer(str(error), _("Open"), lambda: self.open_project(copy), "warn")
            self._messages.notificationLasts.emit()
            self.rescued.emit(error.path, copy)
        else:
            self._messages.notify_of_program(str(error), "warn")

    def _on_appended(self, report: ImportReport, warnings: list[str]) -> None:
        if self._workspace.project is None:
            return
        sentences = [ngettext("{count} row was added.", "{count} rows were added.", report.rows)]
        if self._workspace.runs and self._scorer.table.used:
            sentences.append(_("All rows are being rescored because rows are predicted jointly."))
        self._messages.notify(" ".join((*sentences, *warnings)))
        self._workspace.rowsChanged.emit()
        self._workspace.reload_labels()
        self._workspace.annotationsChanged.emit(None)
        self._workspace.count_soon()

    def _remove_unfinished(self) -> None:
        """Take out behind the work what a stopped addition has left; the next opening takes out the rest."""
        if self._workspace.project is not None and not self._workspace.work.stopping:
            self._workspace.submit(
                in_worker(_PROJECT, "Project.remove_unfinished"),
                self._workspace.project,
                title=_("Removing the rows of a stopped import"),
                notify_failure=False,
                quiet=True,
            )

    # --- tables --------------------------------------------------------------------------------------------

    def preview(self, path: Path, options: TableOptions | None = None) -> Job:
        """Read the head of a table; the job finishes with a `TablePreview`. The caller shows failures."""
        return self._workspace.workers.files.submit(
            in_worker("sce_desktop.tasks.tables.tables", "preview_table"),
            path,
            options or TableOptions(),
            title=_("Reading {name}", name=path.name),
            first=True,
            quiet=True,
        )

    def export_table(self, choices: ExportChoices) -> Job | None:
        """Write the project's rows to a file; the job finishes with the number of rows."""
        if self._workspace.project is None:
            return None
        job = self._workspace.submit(
            work.export_table,
            self._workspace.project,
            choices,
            self._navigation.query,
            title=_("Exporting {name}", name=choices.path.name),
        )
        job.warned.connect(lambda sentence: self._messages.notify(sentence, "warn"))
        job.finished.connect(
            lambda rows: self._messages.notify(
                ngettext(
                    "{count} row was written to {path}.",
                    "{count} rows were written to {path}.",
                    rows,
                    path=choices.path,
                )
                if choices.format != Exchange.CODEBOOK
                else _("The labels were written to {path}.", path=choices.path)
            )
        )
        return job
