"""What the window works on: the open project, its labels and runs, the current row. Panels know this alone.

    RowsView(session), RowPanel(session), LabelsPanel(session) ...

    session.project                the open Project, or None
    session.label_set / .labels    the active label set, or None / ()
    session.runs                   the runs shown: the model's first, then one a baseline; () before scoring
    session.query                  the RowQuery that the table shows: session.set_query(...)
    session.current_row            a row id or None: session.set_current_row(...)
    session.counts                 Counts of rows by state, labels and predictions, or None; `countsChanged`
    session.set_visible_rows(ids)  the table says what is on the screen: it is scored first
    session.audit                  the random sample of rows: draw(...), go_on(): see `ui.audit_review`
    session.review                 the default queue: begin(): see `ui.start_review`
    session.scorer                 model, baselines, device; score(): see `ui.scoring.Scorer`
    session.advice                 whether the model reads the rows and labels: see `ui.model_advice`
    session.models                 which models are here and can be fetched: see `ui.model_store.ModelStore`
    session.tuner                  fine-tuning and model versions: see `ui.tuning.Tuner`
    session.decide(...), .clear_decision(...), .set_marks(...), .set_labels(...)    every edit goes here
    session.preview(...), .import_table(...), .export_table(...)                    jobs in the files lane
    session.submit(fn, project, ..., title=...)    own work on the project: it ends before the project closes
    session.tell("One sentence.", "warn")          the message strip

Reading is free: call ``session.project`` methods that answer at once (rows of a page, annotations); whatever
looks at all rows is a job in the lane ``reads``. Every edit emits what it changed, to whoever made it too, so
that a panel draws from signals alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.core.errors import DamagedProject, RescuedProject, UserError
from sce_desktop.core.types import USER, Label, LabelSet, Run, TableOptions
from sce_desktop.core.words import were
from sce_desktop.settings import Settings, Value
from sce_desktop.store.query import AUDIT, OPEN_AUDIT, RowOrder, RowQuery
from sce_desktop.ui import review_work, work
from sce_desktop.ui.audit_review import AuditReview
from sce_desktop.ui.choices import Counts, ExportChoices, ImportChoices
from sce_desktop.ui.jobs import Job, Lane, Lanes
from sce_desktop.ui.keymap import Keymap
from sce_desktop.ui.model_advice import ModelAdvice
from sce_desktop.ui.model_store import ModelStore
from sce_desktop.ui.places import Places
from sce_desktop.ui.project_work import ProjectWork
from sce_desktop.ui.queries import follow_runs, in_audit
from sce_desktop.ui.scoring import Scorer
from sce_desktop.ui.session_edits import Edits, Tone
from sce_desktop.ui.start_review import StartReview
from sce_desktop.ui.takeover import Takeover
from sce_desktop.ui.tuning import Tuner

if TYPE_CHECKING:
    from sce_desktop.store.project import ImportReport, Project

COUNT_MS = 400  # counting after an edit waits for the next one that long

log = logging.getLogger(__name__)


class Session(Edits):
    """The open project and everything that can be done with it. Lives as long as the window."""

    projectOpened = Signal(object)  # Project
    projectClosed = Signal()
    rowsChanged = Signal()  # rows were added
    scoresChanged = Signal(object)  # row ids with new scores, or None: any row, or other runs are shown
    currentRowChanged = Signal(object)  # row id or None
    selectionChanged = Signal()  # ``selected`` is
    queryChanged = Signal(object)  # RowQuery
    queryFailed = Signal(object)  # why the query has no answer: a regular expression that is none
    rowsFocusAsked = Signal()  # go back to the table, where the keys that decide work
    stepAsked = Signal(object)  # go that many rows down the table's order; negative: up
    nextAsked = Signal(object)  # go to the next row that can be decided; True: to one without an answer
    versionsChanged = Signal()  # model versions came or went, or another one is in use
    settingsChanged = Signal(object)  # keys of the settings that changed
    foundChanged = Signal()  # ``found`` is: the table shows the rows of a query
    countsChanged = Signal()  # ``counts`` are new, shortly after an edit or while scores come
    panelAsked = Signal(object)  # title of a panel below that is to be shown
    repairAsked = Signal(object)  # path of a damaged project: where is what can be read of it to go?
    told = Signal(object, object)  # a sentence, "info" or "warn"
    toldLasts = Signal()  # what was told last is about no project: it stays when one opens or closes
    offered = Signal(object, object, object, object)  # a sentence, a button's words, what it does, as `told`
    rescued = Signal(object, object)  # path of a project whose file was lost, and of the copy that was made
    asked = Signal(object, object)  # a question, and its answers: what each button says and does
    settled = Signal()  # `shut_down` is through: nothing runs, the project is closed

    def __init__(self, lanes: Lanes, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lanes = lanes
        self.settings = settings
        self.keymap = Keymap(settings)
        self._places = Places(settings.file.with_name("places.json"))
        self.project: Project | None = None
        self.label_set: LabelSet | None = None
        self.query = RowQuery()
        self.current_row: int | None = None
        self.folded: frozenset[str] = frozenset()  # groups of labels, by their parents' names
        self.visible_rows: tuple[int, ...] = ()
        self.selected: tuple[int, ...] = ()  # where more than one row is: keys are about all of them
        self.found = 0  # rows that the query leaves in the table
        self.counts: Counts | None = None
        self.scorer = Scorer(self)
        self.models = ModelStore(self)
        self.advice = ModelAdvice(self)
        self.tuner = Tuner(self)
        self.audit = AuditReview(self)
        self.review = StartReview(self)
        self.takeover = Takeover(self)
        self._work = ProjectWork(lanes, self)
        self._closing = False
        self._count_soon = QTimer(self, singleShot=True, interval=COUNT_MS)
        self._count_soon.timeout.connect(self._count)

    # --- what is shown -------------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in their order; empty without a project or before the first label."""
        return self.label_set.labels if self.label_set else ()

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs shown: the model's first, then one for each baseline. Empty before the first scoring."""
        return self.scorer.runs

    @property
    def blind(self) -> bool:
        """Whether what models say is hidden from the user, who decides without it."""
        return bool(self.settings["blind"]) or (in_audit(self.query) and self.query.name == AUDIT)

    def toggle_blind(self) -> None:
        """Hide what models say, or show it; decisions of a random sample are kept apart by that."""
        on = not self.blind
        if in_audit(self.query):
            self.set_query(replace(self.query, name=AUDIT if on else OPEN_AUDIT))
        if not (on and in_audit(self.query)):
            self.change_setting("blind", on)

    def set_query(self, query: RowQuery) -> None:
        """Show the rows of ``query`` in the table."""
        if query != self.query:
            self._take(query)
            self.queryChanged.emit(query)

    def _take(self, query: RowQuery) -> None:
        blind, self.query = self.blind, query
        if self.blind != blind:  # before a row of it is shown
            self.settingsChanged.emit({"blind"})

    def show_ids(self, ids: Iterable[int], *, name: str = "") -> None:
        """Show these rows alone, in this order; ``name`` says what they are (see `RowQuery.name`)."""
        rows = tuple(int(row_id) for row_id in ids)
        self.set_query(RowQuery(among=rows, order=RowOrder.GIVEN, given=rows, name=name))

    def show_disagreements(self, coder_id: int) -> None:
        """Show the rows on which a coder and the user differ."""
        self.set_query(RowQuery(disagreeing=(USER, coder_id)))

    def show_similar(self, row_id: int | None) -> None:
        """Show the rows most like one."""
        if self.project is None or row_id is None:
            return
        if reason := self.scorer.why_no_vectors():
            self.tell(reason, "warn")
            return
        job = self.submit(
            review_work.similar,
            self.project,
            self.scorer.known_vectors,
            row_id,
            title="Finding similar rows",
            lane="reads",
            first=True,
        )
        job.finished.connect(self.show_ids)

    def change_setting(self, key: str, value: Value) -> None:
        """Set and write one setting."""
        try:
            self.settings[key] = value
            self.settings.save()
        except UserError as error:
            self.tell_of_program(str(error), "warn")
        self.settingsChanged.emit({key})

    def set_current_row(self, row_id: int | None) -> None:
        """Make ``row_id`` the row that the panel at the right shows."""
        if row_id != self.current_row:
            self.current_row = row_id
            self.currentRowChanged.emit(row_id)

    def set_selected(self, row_ids: Iterable[int]) -> None:
        """Say which rows are selected."""
        ids = tuple(row_ids)
        ids = ids if len(ids) > 1 else ()
        if ids != self.selected:
            self.selected = ids
            self.selectionChanged.emit()

    def set_visible_rows(self, row_ids: Iterable[int]) -> None:
        """Say which rows are on the screen, top first."""
        self.visible_rows = tuple(row_ids)
        self.scorer.rows_shown()

    def rows_found(self, count: int) -> None:
        """Say how many rows the table shows, scrolled to or not."""
        if count != self.found:
            self.found = count
            self.foundChanged.emit()

    def tell(self, sentence: str, tone: Tone = "info") -> None:
        """Show one sentence in the message strip."""
        log.info("Told: %s", sentence)
        self.told.emit(sentence, tone)

    def tell_of_program(self, sentence: str, tone: Tone = "info") -> None:
        """Tell what is about no project: it does not end with the one that is open."""
        self.tell(sentence, tone)
        self.toldLasts.emit()

    def offer(self, sentence: str, button: str, do: Callable[[], object], tone: Tone = "info") -> None:
        """Show one sentence in the message strip, with a button beside it."""
        log.info("Told: %s", sentence)
        self.offered.emit(sentence, button, do, tone)

    def tell_error(self, error: object) -> None:
        """Show what went wrong, with a way out where a file is damaged."""
        if isinstance(error, DamagedProject):
            path = error.path
            self.offer(error.what, "Repair…", lambda: self.repairAsked.emit(path), "warn")
        else:
            self.tell(str(error), "warn")

    def ask(self, question: str, answers: Sequence[tuple[str, Callable[[], object]]]) -> None:
        """Ask in the message strip, with a button for each answer; nobody has to answer."""
        log.info("Asked: %s", question)
        self.asked.emit(question, answers)

    # --- jobs ----------------------------------------------------------------------------------------------

    def submit(
        self,
        fn: Callable[..., Any],
        *args: Any,
        title: str,
        lane: Literal["models", "files", "reads", "maps", "edits"] = "files",
        tell_failure: bool = True,
        first: bool = False,
        quiet: bool = False,
        **keywords: Any,
    ) -> Job:
        """Run work that uses the project (see `Lane.submit`): it is ended before the project closes.

        ``tell_failure`` shows a `UserError` in the message strip; lane "reads" is for queries.
        """
        target: Lane = getattr(self.lanes, lane)
        job = target.submit(fn, *args, title=title, first=first, quiet=quiet, **keywords)
        self._work.add(job)
        if tell_failure:
            job.failed.connect(self._tell_failure)
        return job

    @Slot(object)
    def _tell_failure(self, error: object) -> None:
        self.tell_error(error)

    @Slot()
    def warm_up(self) -> None:
        """Load the model and the libraries for files, so that they are there when they are needed."""
        self.lanes.files.submit(work.import_libraries, title="Getting ready", quiet=True)
        self.scorer.warm_up()

    # --- projects ------------------------------------------------------------------------------------------

    def open_project(self, path: Path) -> None:
        """Open the project at ``path`` in place of the present one; nothing to do if it is that one.

        One that was open elsewhere is opened anew: it may be closed there by now.
        """
        now = self.project
        if now is not None and now.path.exists() and now.path.samefile(path) and not now.open_elsewhere:
            return
        self._replace_project(work.open_project, path, title=f"Opening {path.stem}")

    def import_table(self, choices: ImportChoices) -> Job | None:
        """Make a new project of a table and open it, or add the table's rows to the open one.

        Returns the job, or None where it has to wait until the open project has come to rest.
        """
        if choices.append:
            if self.project is None or self.refuses_edit():
                return None
            job = self.submit(work.append_table, self.project, choices, title=f"Adding {choices.path.name}")
            job.finished.connect(lambda report: self._on_appended(report, job.warnings))
            return job
        target = choices.project_path or work.free_path(
            work.projects_folder(self.settings), choices.path.stem
        )
        return self._replace_project(
            work.import_table, choices, target, title=f"Importing {choices.path.name}"
        )

    def repair_project(self, path: Path, copy: Path, replace: bool = False) -> Job:
        """Make a new project at ``copy`` of what can be read of a damaged one, open it and say what came."""
        return self._replace_project(
            partial(work.repair_project, replace=replace),
            path,
            copy,
            title=f"Repairing {path.stem}",
            tone="warn",
        )

    def close_project(self) -> None:
        """Close the open project, after its work has been stopped; the start page comes."""
        self._work.stop_then(self._close_now)

    def open_sample(self) -> None:
        """Open the sample project, made of the bundled table at the first time, and score it."""
        path = work.projects_folder(self.settings) / "Parcel feedback.sce"
        if self.project is not None and self.project.path == path:
            return
        fn = work.open_project if path.exists() else work.import_sample
        self._replace_project(fn, path, title="Opening the sample", score=True)

    def save_copy(self, path: Path, replace: bool = False) -> Job | None:
        """Copy the open project to ``path``; ``replace`` what is there."""
        if self.project is None:
            return None
        job = self.submit(work.backup, self.project, path, replace=replace, title=f"Copying to {path.name}")
        job.finished.connect(lambda _: self.tell(f"The project was copied to {path}."))
        return job

    def save_as(self, path: Path, replace: bool = False) -> Job | None:
        """Write all of the open project to ``path``, also when its file is lost, and go on there."""
        if self.project is None:
            return None
        job = self.submit(work.backup, self.project, path, replace=replace, title=f"Saving {path.name}")

        def go_on() -> None:
            self._places.keep(path, self.query, self.current_row, self.folded)
            self.open_project(path)

        job.finished.connect(go_on)
        return job

    def shut_down(self) -> None:
        """Stop all work, close the project and emit ``settled``: what the window waits for before it goes."""
        self._closing = True
        self._work.add(*self.lanes.files.jobs)  # a project that is being made, too
        self._work.stop_then(self._settle)

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
        job = self.lanes.files.submit(fn, *args, title=title)

        def made(project: Project) -> None:
            if self._closing:
                project.close()
            else:
                self._work.stop_then(lambda: self._switch(project, job.warnings, score=score, tone=tone))

        job.finished.connect(made)
        job.failed.connect(self._tell_failure)
        return job

    def _switch(self, project: Project, warnings: list[str], *, score: bool, tone: Tone) -> None:
        self._close_now()
        self.project = project
        self.label_set = project.label_set()
        self.follow_threshold()
        self.scorer.follow_model()
        self.scorer.refresh()
        self.scorer.follow_version()
        query, row = self._places.of(project.path)
        self.folded = self._places.folded(project.path)
        self._take(follow_runs(query, self.runs))
        self.projectOpened.emit(project)
        self.queryChanged.emit(self.query)
        if row is not None and 1 <= row <= project.row_count():
            self.set_current_row(row)
        self.count_soon()
        if warnings:
            self.tell(" ".join(warnings), tone if len(warnings) > 1 else "info")
        if project.read_only:
            self.tell(self.why_not(), "warn")
            return
        self.tell_interrupted()
        self.submit(work.build_search_index, project, title="Building the search index")
        if score and not self.runs:
            QTimer.singleShot(0, self.scorer, self.scorer.follow)  # the table says first which rows it shows

    def _close_now(self) -> Job | None:
        """Let go of the project, on which nothing works any more, and close its file in the files lane."""
        if self.project is None:
            return None
        self._places.keep(self.project.path, self.query, self.current_row, self.folded)
        project, self.project = self.project, None
        self.label_set = None
        self.counts = None
        self.visible_rows = ()
        self.set_selected(())
        self._take(RowQuery())
        self.set_current_row(None)
        self.scorer.follow_model()
        self.scorer.refresh()
        self.scorer.follow_version()
        self.projectClosed.emit()
        job = self.lanes.files.submit(
            work.close_project, project, title=f"Closing {project.path.stem}", quiet=True
        )
        job.failed.connect(self._on_left)
        return job

    @Slot(object)
    def _on_left(self, error: object) -> None:
        """Tell what went wrong when a project was closed; another may be open by now."""
        if isinstance(error, RescuedProject):
            copy = error.copy
            self.offer(str(error), "Open", lambda: self.open_project(copy), "warn")
            self.toldLasts.emit()
            self.rescued.emit(error.path, copy)
        else:
            self.tell_of_program(str(error), "warn")

    def _on_appended(self, report: ImportReport, warnings: list[str]) -> None:
        if self.project is None:
            return
        anew = ""
        if self.runs and self.scorer.table.used:
            anew = "Every row is scored anew, as each counts for the others."
        self.tell(" ".join(filter(None, (f"{were(report.rows, 'row')} added.", anew, *warnings))))
        self.rowsChanged.emit()
        self.reload_labels()
        self.annotationsChanged.emit(None)
        self.count_soon()

    # --- tables --------------------------------------------------------------------------------------------

    def preview(self, path: Path, options: TableOptions | None = None) -> Job:
        """Read the head of a table; the job finishes with a `TablePreview`. The caller shows failures."""
        return self.lanes.files.submit(
            work.preview_table,
            path,
            options or TableOptions(),
            title=f"Looking at {path.name}",
            first=True,
            quiet=True,
        )

    def export_table(self, choices: ExportChoices) -> Job | None:
        """Write the project's rows to a file; the job finishes with the number of rows."""
        if self.project is None:
            return None
        job = self.submit(
            work.export_table,
            self.project,
            choices,
            self.query,
            title=f"Exporting {choices.path.name}",
        )
        job.warned.connect(lambda sentence: self.tell(sentence, "warn"))
        job.finished.connect(lambda rows: self.tell(f"{were(rows, 'row')} written to {choices.path}."))
        return job

    # --- counts ---------------------------------------------------------------------------------------------

    def count_soon(self) -> None:
        """Count rows, labels and scores again, in a moment and behind the window; then ``countsChanged``."""
        if not self._count_soon.isActive():
            self._count_soon.start()

    @Slot()
    def _count(self) -> None:
        if self.project is not None:
            job = self.submit(
                work.count, self.project, self.runs[:1], title="Counting", lane="reads", quiet=True
            )
            job.finished.connect(self._on_counted)

    @Slot(object)
    def _on_counted(self, counts: Counts) -> None:
        if self.project is not None:
            self.counts = counts
            self.countsChanged.emit()
