"""What goes into an export: which rows, which columns, what kind of file; counted before writing."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from sce_desktop.controllers import table_work
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.projects import Projects
from sce_desktop.controllers.table_work import ExportFacts
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.choices import ExportChoices
from sce_desktop.core.exchange import Exchange
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.dialog_parts import dialog_column, make_room, primary_and_cancel
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.tab_order import step
from sce_desktop.ui.kit.theme import SPACE_S, SPACE_XL, px, set_role
from sce_desktop.ui.kit.window_state import window_state
from sce_desktop.ui.transfer.export_choices import GroupsForm, RowsForm
from sce_desktop.ui.transfer.export_file import FileForm

EXCEL_ROWS = 1_048_575  # of a sheet, its header aside
_FOLDER_KEY = "export_folder"


class ExportDialog(ProjectDialog):
    """Asks what to export of the open project; Export hands the choices to `Projects.export_table`."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        projects: Projects,
        *,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, _("Export"), parent)
        self._navigation = navigation
        self._projects = projects
        self._facts: ExportFacts | None = None
        self._state = window_state()
        self._build()
        for form in (self.rows, self.columns, self.target):
            form.changed.connect(self._show_state)
        self.target.show_format()
        self._count()

    # --- building ------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.rows, self.columns, self.target = RowsForm(), GroupsForm(), FileForm(self._suggestion())
        upper = QHBoxLayout()
        upper.setSpacing(px(SPACE_XL))
        upper.addWidget(self.rows, 1)
        upper.addWidget(self.columns, 1)
        self.summary = QLabel(_("Counting…"), wordWrap=True)
        self.summary.setAccessibleName(_("Rows to export"))
        set_role(self.summary, "title")
        self.problem = QLabel(wordWrap=True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setAccessibleName(_("Validation message"))
        set_role(self.problem, "warn")
        self.export_button = QPushButton(_("Export"))
        self.export_button.setAccessibleName(_("Export"))
        buttons = primary_and_cancel(self, self.export_button)
        foot = QHBoxLayout()
        foot.addWidget(self.summary, 1)
        foot.addWidget(buttons)
        layout = dialog_column(self)
        layout.addLayout(upper)
        layout.addSpacing(px(SPACE_S))
        layout.addWidget(self.target)
        layout.addStretch()
        layout.addWidget(self.problem)
        layout.addLayout(foot)
        self.export_button.setDefault(True)  # only in its dialog does it become the one that Return presses
        self.resize(px(640), self.sizeHint().height())

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab go where the eye goes: the columns come when they are known."""
        return step(self, forward=forward)

    def _suggestion(self) -> Path:
        project = self._workspace.project
        assert project is not None
        folder = Path(str(self._state.value(_FOLDER_KEY, "")) or Path.home())
        if not folder.is_dir():
            folder = Path.home()
        return folder / f"{project.path.stem} labelled.csv"

    # --- counting ------------------------------------------------------------------------------------------

    def _count(self) -> None:
        assert self._workspace.project is not None
        job = self._watch(
            self._workspace.submit(
                table_work.export_facts,
                self._workspace.project,
                self._navigation.query,
                title=_("Counting"),
                worker="reads",
                quiet=True,
                notify_failure=False,
            )
        )
        job.finished.connect(self._on_counted)
        job.failed.connect(self._on_failed)
        self._show_state()

    @Slot(object)
    def _on_counted(self, facts: ExportFacts) -> None:
        self._facts = facts
        for form in (self.rows, self.columns, self.target):
            form.show_facts(facts)
        make_room(self)  # for the columns, and for drafts

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self.problem.setText(str(error))

    # --- the state -----------------------------------------------------------------------------------------

    def _obstacle(self) -> str:
        """Why nothing can be exported as things stand; empty if it can."""
        if obstacle := self.target.obstacle():
            return obstacle
        if self.columns.chosen == () and not self.target.exchange:
            return _("Choose at least one group of columns.")
        count = self._count_of(self._facts) if self._facts else 0
        if self.target.file.suffix.lower() == ".xlsx" and count > EXCEL_ROWS:
            return _(
                "Excel holds at most {count} rows: choose another format or fewer rows.",
                count=number(EXCEL_ROWS),
            )
        return ""

    @Slot()
    def _show_state(self) -> None:
        self.columns.set_open(not self.target.exchange)
        obstacle = self._obstacle()
        there = [] if obstacle else self.target.in_the_way()
        self.target.ask_replace(there)
        self.problem.setText(obstacle)
        self.problem.setVisible(bool(obstacle))
        if self._facts is not None:
            self.summary.setText(self._summary(self._facts))
        self.export_button.setEnabled(
            self._facts is not None and not obstacle and (not there or self.target.replace.isChecked())
        )
        if self.isVisible():
            make_room(self)  # for what is in the way, or a longer note

    def _count_of(self, facts: ExportFacts) -> int:
        drafted = self.rows.only == "shown" and self.target.with_drafts
        return facts.shown_drafts if drafted else facts.rows[self.rows.only]

    def _summary(self, facts: ExportFacts) -> str:
        count = self._count_of(facts)
        if self.target.exchange == Exchange.CODEBOOK:
            return _("The labels will be exported, without rows")
        if self.rows.only == "labelled" and facts.none:
            return ngettext(
                "{count} row will be exported, {none} marked “none of these”",
                "{count} rows will be exported, {none} marked “none of these”",
                count,
                none=number(facts.none),
            )
        return ngettext("{count} row will be exported", "{count} rows will be exported", count)

    # --- the end -------------------------------------------------------------------------------------------

    def accept(self) -> None:
        """Hand the choices over and go; the status bar shows the export."""
        self._show_state()
        if not self.export_button.isEnabled():
            return
        self._state.setValue(_FOLDER_KEY, str(self.target.file.parent))
        self._projects.export_table(
            ExportChoices(
                self.target.file,
                self.rows.only,  # type: ignore[arg-type]
                self.columns.chosen,
                excel_safe=self.target.with_apostrophes,
                note=self.target.writes_note,
                format=self.target.exchange,
                replace=self.target.replaces,
                drafts=self.target.with_drafts,
            )
        )
        super().accept()
