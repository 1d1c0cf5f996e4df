"""How a table is read, shown before anything of it is imported; nothing here waits for the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers import table_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.label_edits import MergeOnOpen
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.projects import Projects
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.choices import ImportChoices
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.languages import READS_ALL, Reads
from sce_desktop.core.limits import MAX_LABELS
from sce_desktop.ui.kit.dialog_parts import dialog_column, primary_and_cancel
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.plain_label import unbroken
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, px, set_role
from sce_desktop.ui.transfer.doubts_pane import DoubtsPane
from sce_desktop.ui.transfer.import_facts import FactsPane
from sce_desktop.ui.transfer.import_forms import ColumnsForm
from sce_desktop.ui.transfer.import_model import ModelForm
from sce_desktop.ui.transfer.import_side import ImportSide
from sce_desktop.ui.transfer.import_target import TargetForm, heading
from sce_desktop.ui.transfer.preview_table import PreviewTable
from sce_desktop.ui.transfer.reading_form import ReadingForm
from sce_desktop.ui.transfer.table_reader import TableReader

if TYPE_CHECKING:
    from sce_desktop.controllers.table_work import Look
    from sce_desktop.tasks.tables.scan import TableScan

_NOT_TEXT = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".parquet", ".pq", ".gz", ".qdpx", ".qde")


class ImportDialog(ProjectDialog):
    """Shows a table as it would be imported. Import hands the choices to `Projects.import_table`.

    Args:
        path: The table.
        append: Begin with adding the rows to the open project.
        message: A sentence about the file to show, as on others that were dropped with it.
        parent: The window.
    """

    def __init__(
        self,
        workspace: Workspace,
        edits: Edits,
        projects: Projects,
        scorer: Scorer,
        preferences: Preferences,
        path: Path,
        *,
        append: bool = False,
        message: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, _("Import a table"), parent)
        self._preferences = preferences
        self._edits = edits
        self._projects = projects
        self._scorer = scorer
        self._path = path
        self.reader = TableReader(workspace, path, self)
        self._build(append)
        self.reader.looked.connect(self._on_look)
        self.reader.unreadable.connect(self._on_unreadable)
        self.reader.progressed.connect(self.facts.show_progress)
        self.reader.counted.connect(self._on_counted)
        self.reader.uncountable.connect(self._on_uncountable)
        self.message.setText(message)
        self.message.setVisible(bool(message))
        self.resize(px(980), px(720))
        self._show_unread("")
        self._look_again()

    # --- building ------------------------------------------------------------------------------------------

    def _build(self, append: bool) -> None:
        title = ElidedLabel()  # a name may be longer than the screen is wide
        title.setText(self._path.name, str(self._path))
        title.setAccessibleName(_("File"))
        set_role(title, "title")
        self.kind = QLabel()
        self.kind.setAccessibleName(_("File type"))
        set_role(self.kind, "muted")
        self.message = QLabel(wordWrap=True)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setAccessibleName(_("About the file"))
        head = QHBoxLayout()
        head.addWidget(title)
        head.addWidget(self.kind)
        head.addStretch()

        self.target = TargetForm(self._workspace, self._preferences, self._path, append=append)
        self.target.changed.connect(self._on_target)
        self.target.renamed.connect(self._show_state)
        self.reading = ReadingForm()
        self.reading.changed.connect(self._look_again)
        self.columns = ColumnsForm()
        self.columns.changed.connect(self._on_columns)
        self.scored_by = ModelForm(str(self._preferences.settings["model"]))
        self.scored_by.changed.connect(self._on_model)
        self._forms = (heading(_("Format")), self.reading, heading(_("Columns")), self.columns)
        self._model_heading = heading(_("Model"))
        groups = ([self.target], self._forms[:2], self._forms[2:], [self._model_heading, self.scored_by])
        self.side = ImportSide(groups, self.columns, self.scored_by)
        self._show_forms(False)

        self.table = PreviewTable()
        self.unread = QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.unread.setTextFormat(Qt.TextFormat.PlainText)
        self.unread.setAccessibleName(_("Why the file cannot be read"))
        set_role(self.unread, "warn")
        self.doubts = DoubtsPane()
        self.doubts.chosen.connect(self.reading.settle)
        self.facts = FactsPane()
        self.facts.quotesAsText.connect(self.reading.quotes_as_text)
        self.problem = QLabel(wordWrap=True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setAccessibleName(_("Validation message"))
        set_role(self.problem, "warn")
        right = QVBoxLayout()
        right.setSpacing(px(SPACE_M))
        right.addWidget(self.doubts)  # above: what counting finds takes its room from the preview alone
        right.addWidget(self.table, 1)
        right.addWidget(self.unread, 1)
        right.addWidget(self.facts)
        right.addWidget(self.columns.counted)

        middle = QHBoxLayout()
        middle.setSpacing(px(SPACE_L))
        middle.addWidget(self.side)
        middle.addLayout(right, 1)
        self.import_button = QPushButton(_("Import"))
        buttons = primary_and_cancel(self, self.import_button)
        foot = QHBoxLayout()
        foot.addWidget(self.problem, 1)
        foot.addWidget(buttons)
        layout = dialog_column(self)
        layout.addLayout(head)
        layout.addWidget(self.message)
        layout.addLayout(middle, 1)
        layout.addLayout(foot)
        self.import_button.setDefault(True)  # only in its dialog does it become the one that Return presses

    def _show_forms(self, shown: bool) -> None:
        """Show what can be chosen once a table has been read; before, there is nothing to choose."""
        for widget in self._forms:
            widget.setVisible(shown)
        self._model_heading.setVisible(shown and not self.target.append)  # an open project has a model
        self.scored_by.setVisible(shown and not self.target.append)

    def _show_unread(self, sentence: str) -> None:
        """Show why there is no preview in its place; empty: show the preview."""
        self.unread.setText(sentence)
        self.unread.setVisible(bool(sentence))
        self.table.setVisible(not sentence)

    # --- the state -----------------------------------------------------------------------------------------

    def _obstacle(self) -> str:
        """Why the table cannot be imported as things stand, in one sentence; empty if it can."""
        look, scan = self.reader.look, self.reader.scan
        if self.reader.failure:
            return self.reader.failure
        if look is None:
            return ""
        if not (scan.rows if scan is not None else len(look.preview.rows)):
            return _("The table has no rows to import.")
        if room := self._room[0]:
            return room
        if scan is not None and scan.label_values > MAX_LABELS:
            return _(
                "The label column has more than {limit} different values: choose a column of labels.",
                limit=number(MAX_LABELS),
            )
        if self.target.project is None and not self.columns.text_columns:
            return _("Choose the text column.")
        return self.target.obstacle(look.preview.columns)

    @property
    def _room(self) -> tuple[str, str]:
        """Why the table does not fit on the disk where it goes, and what it takes there if that is much."""
        look, scan = self.reader.look, self.reader.scan
        if look is None:
            return "", ""
        rows = scan.rows if scan is not None else None
        labelled = self.columns.label is not None
        return table_work.import_room(look.preview, rows, self.target.folder, labelled=labelled)

    @Slot()
    def _show_state(self) -> None:
        obstacle = self._obstacle()
        self.problem.setText("" if obstacle == self.unread.text() else unbroken(obstacle))
        self.import_button.setEnabled(self.reader.look is not None and not obstacle)
        scan = self.reader.scan
        some = scan.rows if scan is not None and not self.reader.failure else 0
        estimated = 0
        if self.reader.look is not None:
            estimated = self.reader.look.preview.estimated_rows or len(self.reader.look.preview.rows)
        self.import_button.setText(self._import_words(estimated))
        self.import_button.setMinimumWidth(self.import_button.sizeHint().width())  # with the count to come
        self.import_button.setText(self._import_words(some))
        self.import_button.setAccessibleName(self.import_button.text())

    def _import_words(self, rows: int) -> str:
        if self.target.append:
            return ngettext("Add {count} row", "Add {count} rows", rows) if rows else _("Add")
        return ngettext("Import {count} row", "Import {count} rows", rows) if rows else _("Import")

    # --- looking and counting ------------------------------------------------------------------------------

    @Slot()
    def _look_again(self) -> None:
        """Read the head of the table with the options of now, in place of what is being read."""
        models = str(self._preferences.settings["model"]), self._scorer.base
        self.reader.read(self.reading.options, models)
        self.import_button.setEnabled(False)
        if self.reader.look is None:
            self.kind.setText(_("Loading…"))

    @Slot(object)
    def _on_look(self, look: Look) -> None:
        preview = look.preview
        self._show_forms(True)
        self._show_unread("")
        self.kind.setText(preview.kind)
        self.scored_by.show_models(look.models)
        self.table.preview.show_preview(preview)
        self.reading.show_preview(preview)
        self.doubts.show_doubts(preview.doubts)
        self._show_columns()
        self._on_columns()
        self.table.size_columns()

    def _show_columns(self) -> None:
        assert self.reader.look is not None
        project, fixed = self.target.project, None
        if project is not None and project.row_count():
            fixed = project.text_columns if project.columns == self.reader.look.preview.columns else ()
        self.columns.show_look(self.reader.look, fixed)

    @Slot(object)
    def _on_unreadable(self, sentence: str) -> None:
        self.kind.setText("")
        self.table.preview.show_preview(None)
        self._show_unread(sentence)
        self.doubts.show_doubts(())
        if self.reader.look is None and self._path.suffix.lower() not in _NOT_TEXT:
            for widget in self._forms[:2]:
                widget.show()
            self.reading.show_unread()
        self.facts.clear()
        self._show_state()

    @Slot()
    def _on_columns(self) -> None:
        """Mark the columns that were chosen and count the table again."""
        self.reader.forget_count()
        self.scored_by.propose(None)
        if self.reader.look is None:
            return
        text = self.columns.text_columns
        self.table.set_columns(text, self.columns.label, self.columns.data_width)
        self.columns.show_scan(None)
        preview = self.reader.look.preview
        self._show_state()
        if not text or (self.target.append and self._obstacle()) or self._room[0]:
            self.facts.clear()
            return
        self.facts.show_counting(preview.estimated_rows, preview.problems, preview.problem_count)
        self.reader.count(text, self.columns.label, lists=self.columns.lists, project=self.target.project)

    @Slot(object)
    def _on_counted(self, scan: TableScan) -> None:
        self.scored_by.propose(scan.choice)
        self._on_model()
        if any(problem.option == "escape" for problem in scan.problems):
            self.reading.offer_escape()
        self.columns.show_scan(scan)
        self.table.preview.set_known(scan.known_head)
        self._show_state()

    @property
    def _model_and_reads(self) -> tuple[str, Reads]:
        """The model that is to score the rows, and what it reads."""
        if not self.target.append:
            return self.scored_by.model, self.scored_by.reads
        name = self._scorer.base
        models = self.reader.look.models if self.reader.look is not None else {}
        return Path(name).name or name, models.get(name, READS_ALL)

    @Slot()
    def _on_model(self) -> None:
        """Say what the model cannot read."""
        model, reads = self._model_and_reads
        self.table.preview.set_model(model, reads.scripts)
        if self.reader.scan is not None:
            append, lists = self.target.append, self.columns.lists
            self.facts.show_scan(
                self.reader.scan, append=append, lists=lists, model=model, reads=reads, room=self._room[1]
            )

    @Slot()
    def _on_uncountable(self) -> None:
        self.facts.clear()
        self._show_state()

    @Slot()
    def _on_target(self) -> None:
        self._show_forms(self.reader.look is not None)
        if self.reader.look is not None:
            self._show_columns()
        self._on_model()
        self._on_columns()

    @Slot()
    def _on_project_closed(self) -> None:
        """Stop adding to a project that is gone."""
        if self.target.append:
            self.reject()
        else:
            self.target.offer_open(False)

    # --- the end -------------------------------------------------------------------------------------------

    def accept(self) -> None:
        """Hand the choices over and go; the status bar shows the import."""
        look, scan = self.reader.look, self.reader.scan
        if look is None or self._obstacle():
            return
        groups = scan.alike if scan is not None and self.columns.merge.isChecked() else ()
        choices = ImportChoices(
            self._path,
            look.preview.options.settled,
            self.columns.text_columns,
            label_column=self.columns.label,
            as_gold=self.columns.as_gold,
            lists=None if self.columns.lists else False,
            take_back=self.columns.data_width is not None,
            append=self.target.append,
            project_path=None if self.target.append else self.target.project_path,
            model=self.scored_by.model,
            model_chosen=self.scored_by.chosen,
        )
        self.reader.forget_count()
        merge = (
            MergeOnOpen(self._workspace, self._edits, self.target.project_path, groups) if groups else None
        )
        job = self._projects.import_table(choices)
        if merge is not None and job is not None:
            merge.follow(job)
        super().accept()

    def reject(self) -> None:
        """Stop reading and go."""
        self.reader.stop()
        super().reject()
