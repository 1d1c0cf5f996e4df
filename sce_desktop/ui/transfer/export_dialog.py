"""What goes into an export: which rows, which columns, what kind of file; counted before writing."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
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
from sce_desktop.core.quoting import quoted_names
from sce_desktop.ui.kit.dialog_parts import dialog_column, make_room, open_dialog
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.tab_order import step
from sce_desktop.ui.kit.theme import SPACE_S, SPACE_XL, px, set_role
from sce_desktop.ui.kit.window_state import window_state
from sce_desktop.ui.transfer import exchange_formats
from sce_desktop.ui.transfer.reading_form import delimiter_name

ROWS = (
    ("all", _("All rows"), _("In import order")),
    ("labelled", _("Labelled rows"), _("Includes rows that you marked as none of these")),
    ("unlabelled", _("Unlabelled rows"), _("Excludes skipped rows")),
    ("flagged", _("Flagged rows"), ""),
    ("shown", _("Filtered rows"), _("In the order of the table")),
)
FORMATS = (
    (".csv", "CSV"),
    (".tsv", _("TSV (tab-separated)")),
    (".xlsx", _("Excel workbook")),
    (".parquet", "Parquet"),
    (".jsonl", "JSON Lines"),
)
GROUPS = {
    "original": _("Original columns"),
    "decided": _("Your labels, flags and notes"),
    "sce": _("SCE predictions"),
    "final": _("Final labels"),
}
_NO_MODEL = ("original", "decided", "final")
PROBABILITIES = "probabilities"
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
        self._on_format()
        self._count()

    # --- building ------------------------------------------------------------------------------------------

    def _build(self) -> None:
        upper = QHBoxLayout()
        upper.setSpacing(px(SPACE_XL))
        upper.addWidget(self._rows_box(), 1)
        upper.addWidget(self._columns_box(), 1)
        self.summary = QLabel(_("Counting…"), wordWrap=True)
        self.summary.setAccessibleName(_("Rows to export"))
        set_role(self.summary, "title")
        self.problem = QLabel(wordWrap=True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setAccessibleName(_("Validation message"))
        set_role(self.problem, "warn")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setAccessibleName(_("Cancel"))
        self.export_button = QPushButton(_("Export"))
        self.export_button.setAccessibleName(_("Export"))
        set_role(self.export_button, "primary")
        buttons.addButton(self.export_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        foot = QHBoxLayout()
        foot.addWidget(self.summary, 1)
        foot.addWidget(buttons)
        layout = dialog_column(self)
        layout.addLayout(upper)
        layout.addSpacing(px(SPACE_S))
        layout.addWidget(self._file_box())
        layout.addStretch()
        layout.addWidget(self.problem)
        layout.addLayout(foot)
        self.export_button.setDefault(True)  # only in its dialog does it become the one that Return presses
        self.resize(px(640), self.sizeHint().height())

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab go where the eye goes: the columns come when they are known."""
        return step(self, forward=forward)

    def _rows_box(self) -> QWidget:
        box, layout = _box(_("Rows"))
        group = QButtonGroup(box)
        self.rows_buttons: dict[str, QRadioButton] = {}
        for key, words, hint in ROWS:
            button = QRadioButton(words)
            button.setAccessibleName(words)
            button.setToolTip(hint)
            button.toggled.connect(self._show_state)
            group.addButton(button)
            layout.addWidget(button)
            self.rows_buttons[key] = button
        self.rows_buttons["all"].setChecked(True)
        layout.addStretch()
        return box

    def _columns_box(self) -> QWidget:
        box, self._columns_layout = _box(_("Columns"))
        self.column_boxes: dict[str, QCheckBox] = {}
        return box

    def _file_box(self) -> QWidget:
        box, layout = _box(_("File"))
        self.path = QLineEdit(str(self._suggestion()))
        self.path.setAccessibleName(_("File to write"))
        self.path.textChanged.connect(self._on_path)
        choose = QPushButton(_("Choose…"))
        choose.setAccessibleName(_("Choose the file"))
        choose.clicked.connect(self._choose)
        self.format = ComboBox()
        self.format.setAccessibleName(_("Format"))
        for ending, words in FORMATS:
            self.format.addItem(words, ending)
        self.format.insertSeparator(self.format.count())
        for key in exchange_formats.KEYS:
            self.format.addItem(exchange_formats.title(key), key)
        self.format.activated.connect(self._on_format)
        line = QHBoxLayout()
        line.addWidget(self.format)
        line.addWidget(self.path, 1)
        line.addWidget(choose)
        self.excel_safe = QCheckBox(_("Protect against formulas (CSV injection)"))
        self.excel_safe.setAccessibleName(self.excel_safe.text())
        self.excel_hint = QLabel(wordWrap=True)
        self.excel_hint.setAccessibleName(_("About formula protection"))
        set_role(self.excel_hint, "muted")
        self.replace = QCheckBox(_("Replace the existing file"))
        self.replace.setAccessibleName(self.replace.text())
        self.replace.toggled.connect(self._show_state)
        layout.addLayout(line)
        layout.addWidget(self.replace)
        layout.addWidget(self.excel_safe)
        layout.addWidget(self.excel_hint)
        self.note = QCheckBox(_("Write a provenance file (.about.txt)"))
        self.note.setAccessibleName(self.note.text())
        self.note.setToolTip(
            _("Names the models and versions. Workbooks and Parquet files include this already.")
        )
        self.note.setChecked(True)
        self.note.toggled.connect(self._show_state)
        layout.addWidget(self.note)
        self.drafts = QCheckBox(_("Include draft scores"))
        self.drafts.setAccessibleName(self.drafts.text())
        self.drafts.setToolTip(_("The column sce_source then says draft or model."))
        self.drafts.toggled.connect(self._show_state)
        self.drafts.hide()
        layout.addWidget(self.drafts)
        return box

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
        for key, words, _hint in ROWS:
            button = self.rows_buttons[key]
            count = number(facts.rows[key])
            button.setText(f"{words}  ·  {count}")
            button.setAccessibleName(f"{words}, {count}")
            button.setEnabled(facts.rows[key] > 0 or key == "all")
        for alias, names in facts.columns:
            title = GROUPS.get(alias) or _("Baseline: {name}", name=alias)
            self._add_group(alias, title, ngettext("{count} column", "{count} columns", len(names)))
            if alias not in _NO_MODEL and PROBABILITIES not in self.column_boxes:
                self._add_group(PROBABILITIES, _("Label probabilities"), _("One column per label"))
        self._columns_layout.addStretch()
        self._on_format()
        make_room(self)  # for the columns, and for drafts

    def _add_group(self, key: str, words: str, hint: str) -> None:
        box = QCheckBox(words)
        box.setAccessibleName(words)
        box.setToolTip(hint)
        box.setProperty("hint", hint)
        box.setChecked(True)
        box.toggled.connect(self._show_state)
        self._columns_layout.addWidget(box)
        self.column_boxes[key] = box

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self.problem.setText(str(error))

    # --- the state -----------------------------------------------------------------------------------------

    @property
    def only(self) -> str:
        """Which rows."""
        return next(key for key, button in self.rows_buttons.items() if button.isChecked())

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the chosen columns, None for all."""
        if self._facts is None or all(box.isChecked() for box in self.column_boxes.values()):
            return None
        single = PROBABILITIES in self.column_boxes and not self.column_boxes[PROBABILITIES].isChecked()
        return tuple(
            name
            for alias, names in self._facts.columns
            if self.column_boxes[alias].isChecked()
            for name in names
            if not (single and alias not in _NO_MODEL and name.startswith(f"{alias}_p:"))
        )

    @property
    def exchange(self) -> str:
        """The format of another annotation tool; empty for a table."""
        key = str(self.format.currentData())
        return key if key in exchange_formats.KEYS else ""

    @property
    def _ending(self) -> str:
        return exchange_formats.ending_of(str(self.format.currentData()))

    @property
    def _models_beside(self) -> bool:
        """Whether there are results of models, and the file has no place to say of which ones."""
        if self.exchange:
            return False
        answered = self._facts is not None and any(group not in _NO_MODEL for group, _ in self._facts.columns)
        return answered and self.format.currentData() not in (".xlsx", ".parquet")

    @property
    def file(self) -> Path:
        """The file to write."""
        return Path(self.path.text().strip()).expanduser()

    def _obstacle(self) -> str:
        """Why nothing can be exported as things stand; empty if it can."""
        file, count = self.file, self._count_of(self._facts) if self._facts else 0
        if not self.path.text().strip():
            return _("Choose a file to write.")
        if self.exchange and file.suffix.lower() != self._ending:
            return _("The file name must end in {ending}.", ending=self._ending)
        if not self.exchange and file.suffix.lower() not in dict(FORMATS):
            return _("The file name must end in .csv, .tsv, .xlsx, .parquet or .jsonl.")
        if not file.is_absolute() or not file.parent.is_dir():
            return _("The folder does not exist: choose another.")
        if file.is_dir():
            return _("This is a folder: give a file name.")
        if self.columns == () and not self.exchange:
            return _("Choose at least one group of columns.")
        if file.suffix.lower() == ".xlsx" and count > EXCEL_ROWS:
            return _(
                "Excel holds at most {count} rows: choose another format or fewer rows.",
                count=number(EXCEL_ROWS),
            )
        return ""

    def _in_the_way(self) -> list[Path]:
        """Return the files that would be replaced, but for a note of an export of ours."""
        from sce_desktop.tasks.tables.provenance import about_path, is_about

        files = exchange_formats.files_of(self.exchange, self.file)
        files = [file for file in files if os.path.lexists(file)]
        if self.note.isChecked() and self._models_beside:
            about = about_path(self.file)
            if os.path.lexists(about) and not (about.is_file() and is_about(about)):
                files.append(about)
        return files

    @Slot()
    def _show_state(self) -> None:
        if not hasattr(self, "export_button") or not hasattr(self, "path"):
            return
        obstacle = self._obstacle()
        there = [] if obstacle else self._in_the_way()
        exists = bool(there)
        self.replace.setVisible(exists)
        self.replace.setText(
            ngettext(
                "Replace {files}, which already exists",
                "Replace {files}, which already exist",
                len(there),
                files=quoted_names(file.name for file in there),
            )
        )
        self.replace.setAccessibleName(self.replace.text())
        self.problem.setText(obstacle)
        self.problem.setVisible(bool(obstacle))
        if self._facts is not None:
            self.summary.setText(self._summary(self._facts))
        self.export_button.setEnabled(
            self._facts is not None and not obstacle and (not exists or self.replace.isChecked())
        )
        if self.isVisible():
            make_room(self)  # for what is in the way, or a longer note

    def _count_of(self, facts: ExportFacts) -> int:
        drafted = self.only == "shown" and self.drafts.isChecked() and not self.exchange
        return facts.shown_drafts if drafted else facts.rows[self.only]

    def _summary(self, facts: ExportFacts) -> str:
        count = self._count_of(facts)
        if self.exchange == Exchange.CODEBOOK:
            return _("The labels will be exported, without rows")
        if self.only == "labelled" and facts.none:
            return ngettext(
                "{count} row will be exported, {none} marked “none of these”",
                "{count} rows will be exported, {none} marked “none of these”",
                count,
                none=number(facts.none),
            )
        return ngettext("{count} row will be exported", "{count} rows will be exported", count)

    @Slot()
    def _on_path(self) -> None:
        ending = self.file.suffix.lower()
        place = self.format.findData(ending)
        if place >= 0 and ending != self._ending:
            self.format.setCurrentIndex(place)
        self.replace.setChecked(False)
        self._show_format()

    @Slot()
    def _on_format(self) -> None:
        file, ending = self.file, self._ending
        if file.name and file.suffix.lower() != ending:
            known = file.suffix.lower() in {
                *dict(FORMATS),
                *map(exchange_formats.ending_of, exchange_formats.KEYS),
            }
            self.path.setText(str(file.with_suffix(ending) if known else file.with_name(file.name + ending)))
        self._show_format()

    def _show_format(self) -> None:
        ending = str(self.format.currentData())
        self.excel_safe.setVisible(ending in (".csv", ".tsv", ".xlsx"))
        self.excel_safe.setEnabled(ending != ".xlsx")
        self.excel_hint.setVisible(bool(self.exchange) or ending in (".csv", ".tsv", ".xlsx"))
        self.note.setVisible(self._models_beside)
        drafts = self._facts is not None and bool(self._facts.drafts)
        self.drafts.setVisible(drafts and not self.exchange)  # exchange formats have no place for them
        for box in self.column_boxes.values():
            box.setEnabled(not self.exchange)
            box.setToolTip(_("The format has columns of its own.") if self.exchange else box.property("hint"))
        if self.exchange:
            self.excel_safe.setChecked(False)
            self.excel_hint.setText(exchange_formats.not_kept(self.exchange))
        elif ending == ".xlsx":
            self.excel_safe.setChecked(True)
            self.excel_hint.setText(_("Cells of a workbook are text. Excel runs no formulas in them."))
        else:
            if not self.excel_safe.isEnabled() or self._was_workbook:
                self.excel_safe.setChecked(False)
            hint = _(
                "Writes an apostrophe before cells that Excel would run, such as =1+1 and negative numbers. "
                "Importing the file here removes it."
            )
            if self._facts is not None and ending == ".csv":
                separator = _("Delimiter: {name}, as imported.", name=delimiter_name(self._facts.delimiter))
                hint = f"{separator} {hint}"
            self.excel_hint.setText(hint)
        self._was_workbook = ending == ".xlsx"
        self._show_state()

    _was_workbook = False

    @Slot()
    def _choose(self) -> None:
        dialog = QFileDialog(self, _("Export to"), self.path.text())
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # asked here, in place
        dialog.setNameFilters([f"{words} (*{ending})" for ending, words in FORMATS])
        if self.exchange:
            dialog.setNameFilters([f"{self.format.currentText()} (*{self._ending})"])
        dialog.selectNameFilter(f"{self.format.currentText()} (*{self._ending})")
        dialog.setDefaultSuffix(self._ending.lstrip("."))
        dialog.fileSelected.connect(self.path.setText)
        open_dialog(dialog)

    # --- the end -------------------------------------------------------------------------------------------

    def accept(self) -> None:
        """Hand the choices over and go; the status bar shows the export."""
        self._show_state()
        if not self.export_button.isEnabled():
            return
        self._state.setValue(_FOLDER_KEY, str(self.file.parent))
        self._projects.export_table(
            ExportChoices(
                self.file,
                self.only,  # type: ignore[arg-type]
                self.columns,
                excel_safe=self.excel_safe.isChecked() and self.format.currentData() in (".csv", ".tsv"),
                note=self.note.isChecked() and self._models_beside,
                format=self.exchange,
                replace=self.replace.isVisibleTo(self) and self.replace.isChecked(),
                drafts=self.drafts.isChecked() and not self.exchange,
            )
        )
        super().accept()


def _box(title: str) -> tuple[QWidget, QVBoxLayout]:
    box = QWidget()
    box.setAccessibleName(title)
    heading = QLabel(title)
    set_role(heading, "heading")
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(px(SPACE_S))
    layout.addWidget(heading)
    return box, layout
