"""Where an export goes: the file, its format, and what comes with the format."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from sce_desktop.controllers.table_work import ExportFacts
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.quoting import quoted_names
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.theme import set_role
from sce_desktop.ui.transfer import exchange_formats
from sce_desktop.ui.transfer.export_choices import NO_MODEL, titled_column
from sce_desktop.ui.transfer.reading_form import delimiter_name

FORMATS = (
    (".csv", "CSV"),
    (".tsv", _("TSV (tab-separated)")),
    (".xlsx", _("Excel workbook")),
    (".parquet", "Parquet"),
    (".jsonl", "JSON Lines"),
)


class FileForm(QWidget):
    """Asks for the file and its format, which follow each other; ``path`` is where it begins."""

    changed = Signal()
    _was_workbook = False

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._facts: ExportFacts | None = None
        layout = titled_column(self, _("File"))
        self.path = QLineEdit(str(path))
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
        self.replace.toggled.connect(self.changed)
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
        self.note.toggled.connect(self.changed)
        layout.addWidget(self.note)
        self.drafts = QCheckBox(_("Include draft scores"))
        self.drafts.setAccessibleName(self.drafts.text())
        self.drafts.setToolTip(_("The column sce_source then says draft or model."))
        self.drafts.toggled.connect(self.changed)
        self.drafts.hide()
        layout.addWidget(self.drafts)

    def show_facts(self, facts: ExportFacts) -> None:
        """Offer what goes with the rows and columns that there are."""
        self._facts = facts
        self._on_format()

    # --- what was chosen -----------------------------------------------------------------------------------

    @property
    def exchange(self) -> str:
        """The format of another annotation tool; empty for a table."""
        key = str(self.format.currentData())
        return key if key in exchange_formats.KEYS else ""

    @property
    def _ending(self) -> str:
        return exchange_formats.ending_of(str(self.format.currentData()))

    @property
    def file(self) -> Path:
        """The file to write."""
        return Path(self.path.text().strip()).expanduser()

    @property
    def _models_beside(self) -> bool:
        """Whether there are results of models, and the file has no place to say of which ones."""
        if self.exchange:
            return False
        answered = self._facts is not None and any(group not in NO_MODEL for group, _ in self._facts.columns)
        return answered and self.format.currentData() not in (".xlsx", ".parquet")

    @property
    def writes_note(self) -> bool:
        """Whether a provenance file is written beside it."""
        return self.note.isChecked() and self._models_beside

    @property
    def with_drafts(self) -> bool:
        """Whether draft scores are written; exchange formats have no place for them."""
        return self.drafts.isChecked() and not self.exchange

    @property
    def with_apostrophes(self) -> bool:
        """Whether cells that Excel would run are written with an apostrophe."""
        return self.excel_safe.isChecked() and self.format.currentData() in (".csv", ".tsv")

    @property
    def replaces(self) -> bool:
        """Whether the user wants what is there to be replaced."""
        return self.replace.isVisibleTo(self) and self.replace.isChecked()

    def obstacle(self) -> str:
        """Why this file cannot be written, in one sentence; empty if it can."""
        file = self.file
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
        return ""

    def in_the_way(self) -> list[Path]:
        """Return the files that would be replaced, but for a note of an export of ours."""
        from sce_desktop.tasks.tables.provenance import about_path, is_about

        files = exchange_formats.files_of(self.exchange, self.file)
        files = [file for file in files if os.path.lexists(file)]
        if self.writes_note:
            about = about_path(self.file)
            if os.path.lexists(about) and not (about.is_file() and is_about(about)):
                files.append(about)
        return files

    def ask_replace(self, there: list[Path]) -> None:
        """Offer to replace the files that are there; none: nothing to ask."""
        self.replace.setVisible(bool(there))
        self.replace.setText(
            ngettext(
                "Replace {files}, which already exists",
                "Replace {files}, which already exist",
                len(there),
                files=quoted_names(file.name for file in there),
            )
        )
        self.replace.setAccessibleName(self.replace.text())

    # --- file and format -----------------------------------------------------------------------------------

    @Slot()
    def _on_path(self) -> None:
        ending = self.file.suffix.lower()
        place = self.format.findData(ending)
        if place >= 0 and ending != self._ending:
            self.format.setCurrentIndex(place)
        self.replace.setChecked(False)
        self.show_format()

    @Slot()
    def _on_format(self) -> None:
        file, ending = self.file, self._ending
        if file.name and file.suffix.lower() != ending:
            known = file.suffix.lower() in {
                *dict(FORMATS),
                *map(exchange_formats.ending_of, exchange_formats.KEYS),
            }
            self.path.setText(str(file.with_suffix(ending) if known else file.with_name(file.name + ending)))
        self.show_format()

    def show_format(self) -> None:
        """Show what goes with the format that is chosen."""
        ending = str(self.format.currentData())
        self.excel_safe.setVisible(ending in (".csv", ".tsv", ".xlsx"))
        self.excel_safe.setEnabled(ending != ".xlsx")
        self.excel_hint.setVisible(bool(self.exchange) or ending in (".csv", ".tsv", ".xlsx"))
        self.note.setVisible(self._models_beside)
        drafts = self._facts is not None and bool(self._facts.drafts)
        self.drafts.setVisible(drafts and not self.exchange)  # exchange formats have no place for them
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
        self.changed.emit()

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
