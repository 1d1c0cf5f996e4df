"""What goes into an export: which rows, which columns, what kind of file; told in numbers before writing."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QSettings, Qt, Slot
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

from sce_desktop import paths
from sce_desktop.controllers import table_work
from sce_desktop.controllers.label_edits import rows
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.projects import Projects
from sce_desktop.controllers.table_work import ExportFacts
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.choices import ExportChoices
from sce_desktop.core.words import plural
from sce_desktop.ui.kit.dialog_parts import dialog_column, open_dialog
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_S, SPACE_XL, px, set_role
from sce_desktop.ui.transfer.reading_form import delimiter_name

ROWS = (
    ("all", "All rows", "in the order of the import"),
    ("labelled", "Labelled rows", "those that have a label, or that you decided as none of these"),
    ("unlabelled", "Unlabelled rows", "those without an answer; skipped rows are not among them"),
    ("flagged", "Flagged rows", ""),
    ("shown", "Rows shown by the filter", "in the order of the table"),
)
FORMATS = (
    (".csv", "CSV"),
    (".tsv", "TSV (tab-separated)"),
    (".xlsx", "Excel workbook"),
    (".parquet", "Parquet"),
    (".jsonl", "JSON lines"),
)
GROUPS = {"original": "Original columns", "decided": "Your labels, flags and notes", "sce": "SCE's results"}
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
        super().__init__(workspace, "Export", parent)
        self._navigation = navigation
        self._projects = projects
        self._facts: ExportFacts | None = None
        self._state = QSettings(str(paths.config_dir() / "window.ini"), QSettings.Format.IniFormat)
        self._build()
        self._on_format()
        self._count()

    # --- building ------------------------------------------------------------------------------------------

    def _build(self) -> None:
        upper = QHBoxLayout()
        upper.setSpacing(px(SPACE_XL))
        upper.addWidget(self._rows_box(), 1)
        upper.addWidget(self._columns_box(), 1)
        self.summary = QLabel("Counting…", wordWrap=True)
        self.summary.setAccessibleName("What will be written")
        set_role(self.summary, "title")
        self.problem = QLabel(wordWrap=True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setAccessibleName("What is in the way")
        set_role(self.problem, "warn")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setAccessibleName("Cancel")
        self.export_button = QPushButton("Export")
        self.export_button.setAccessibleName("Export")
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

    def _rows_box(self) -> QWidget:
        box, layout = _box("Rows")
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
        box, self._columns_layout = _box("Columns")
        self.column_boxes: dict[str, QCheckBox] = {}
        return box

    def _file_box(self) -> QWidget:
        box, layout = _box("File")
        self.path = QLineEdit(str(self._suggestion()))
        self.path.setAccessibleName("File to write")
        self.path.textChanged.connect(self._on_path)
        choose = QPushButton("Choose…")
        choose.setAccessibleName("Choose the file")
        choose.clicked.connect(self._choose)
        self.format = ComboBox()
        self.format.setAccessibleName("Format")
        for ending, words in FORMATS:
            self.format.addItem(words, ending)
        self.format.activated.connect(self._on_format)
        line = QHBoxLayout()
        line.addWidget(self.format)
        line.addWidget(self.path, 1)
        line.addWidget(choose)
        self.excel_safe = QCheckBox("Safe to open in Excel")
        self.excel_safe.setAccessibleName("Safe to open in Excel")
        self.excel_hint = QLabel(wordWrap=True)
        self.excel_hint.setAccessibleName("What safe for Excel means")
        set_role(self.excel_hint, "muted")
        self.replace = QCheckBox("Replace the file that is there")
        self.replace.setAccessibleName("Replace the file that is there")
        self.replace.toggled.connect(self._show_state)
        layout.addLayout(line)
        layout.addWidget(self.replace)
        layout.addWidget(self.excel_safe)
        layout.addWidget(self.excel_hint)
        self.note = QCheckBox("Name the models in a file beside it")
        self.note.setAccessibleName("Name the models in a file beside it")
        self.note.setToolTip(
            "Which model and version gave the results: a workbook or a Parquet file says it itself"
        )
        self.note.setChecked(True)
        self.note.toggled.connect(self._show_state)
        layout.addWidget(self.note)
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
                title="Counting",
                lane="reads",
                quiet=True,
                tell_failure=False,
            )
        )
        job.finished.connect(self._on_counted)
        job.failed.connect(self._on_failed)
        self._show_state()

    @Slot(object)
    def _on_counted(self, facts: ExportFacts) -> None:
        self._facts = facts
        for key, words, _ in ROWS:
            button = self.rows_buttons[key]
            button.setText(f"{words}  ·  {facts.rows[key]:,}")
            button.setAccessibleName(f"{words}, {facts.rows[key]:,}")
            button.setEnabled(facts.rows[key] > 0 or key == "all")
        for alias, names in facts.columns:
            self._add_group(alias, GROUPS.get(alias, f"Baseline: {alias}"), plural(len(names), "column"))
            if alias != "original" and alias != "decided" and PROBABILITIES not in self.column_boxes:
                self._add_group(PROBABILITIES, "The probability of every label", "one column a label")
        self._columns_layout.addStretch()
        self._on_format()

    def _add_group(self, key: str, words: str, hint: str) -> None:
        box = QCheckBox(words)
        box.setAccessibleName(words)
        box.setToolTip(hint)
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
            if not (single and alias not in ("original", "decided") and name.startswith(f"{alias}_p:"))
        )

    @property
    def _models_beside(self) -> bool:
        """Whether there are results of models, and the file has no place to say of which ones."""
        answered = self._facts is not None and any(
            group not in ("original", "decided") for group, _ in self._facts.columns
        )
        return answered and self.format.currentData() not in (".xlsx", ".parquet")

    @property
    def file(self) -> Path:
        """The file to write."""
        return Path(self.path.text().strip()).expanduser()

    def _obstacle(self) -> str:
        """Why nothing can be exported as things stand; empty if it can."""
        file, count = self.file, self._facts.rows[self.only] if self._facts else 0
        if not self.path.text().strip():
            return "Say which file to write."
        if file.suffix.lower() not in dict(FORMATS):
            return "Let the file's name end in .csv, .tsv, .xlsx, .parquet or .jsonl."
        if not file.is_absolute() or not file.parent.is_dir():
            return "There is no such folder: choose another."
        if file.is_dir():
            return "That is a folder: give the file a name."
        if self.columns == ():
            return "Choose at least one group of columns."
        if file.suffix.lower() == ".xlsx" and count > EXCEL_ROWS:
            return f"Excel holds {EXCEL_ROWS:,} rows at most: choose another format or fewer rows."
        return ""

    def _in_the_way(self) -> list[Path]:
        """Return the files that would be replaced, but for a note of an export of ours."""
        from sce_desktop.tasks.tables.provenance import about_path, is_about

        files = [self.file] if os.path.lexists(self.file) else []
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
        names = " and ".join(f"“{file.name}”" for file in there)
        self.replace.setText(f"Replace {names}, which already exist{'s' if len(there) == 1 else ''}")
        self.problem.setText(obstacle)
        self.problem.setVisible(bool(obstacle))
        if self._facts is not None:
            said = f"{rows(self._facts.rows[self.only])} will be written"
            if self.only == "labelled" and self._facts.none:
                said += f", {self._facts.none:,} of them decided as “none of these”"
            self.summary.setText(said)
        self.export_button.setEnabled(
            self._facts is not None and not obstacle and (not exists or self.replace.isChecked())
        )

    @Slot()
    def _on_path(self) -> None:
        ending = self.file.suffix.lower()
        place = self.format.findData(ending)
        if place >= 0:
            self.format.setCurrentIndex(place)
        self.replace.setChecked(False)
        self._show_format()

    @Slot()
    def _on_format(self) -> None:
        file, ending = self.file, self.format.currentData()
        if file.name and file.suffix.lower() != ending:
            known = file.suffix.lower() in dict(FORMATS)
            self.path.setText(str(file.with_suffix(ending) if known else file.with_name(file.name + ending)))
        self._show_format()

    def _show_format(self) -> None:
        ending = self.format.currentData()
        self.excel_safe.setVisible(ending in (".csv", ".tsv", ".xlsx"))
        self.excel_safe.setEnabled(ending != ".xlsx")
        self.excel_hint.setVisible(ending in (".csv", ".tsv", ".xlsx"))
        self.note.setVisible(self._models_beside)
        if ending == ".xlsx":
            self.excel_safe.setChecked(True)
            self.excel_hint.setText("Cells of a workbook are text: Excel runs none of them as a formula.")
        else:
            if not self.excel_safe.isEnabled() or self._was_workbook:
                self.excel_safe.setChecked(False)
            told = ""
            if self._facts is not None and ending == ".csv":
                name = delimiter_name(self._facts.delimiter).split("  ")[0].lower()
                told = f"Separated by {name}, as in the imported table. "
            self.excel_hint.setText(
                f"{told}Excel runs cells that begin with =, +, - or @ as formulas. Safe puts a ' "
                "before them, negative numbers too; importing the file here takes it away again."
            )
        self._was_workbook = ending == ".xlsx"
        self._show_state()

    _was_workbook = False

    @Slot()
    def _choose(self) -> None:
        dialog = QFileDialog(self, "Export to", self.path.text())
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # asked here, in place
        dialog.setNameFilters([f"{words} (*{ending})" for ending, words in FORMATS])
        dialog.selectNameFilter(f"{self.format.currentText()} (*{self.format.currentData()})")
        dialog.setDefaultSuffix(str(self.format.currentData()).lstrip("."))
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
                replace=self.replace.isVisibleTo(self) and self.replace.isChecked(),
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
