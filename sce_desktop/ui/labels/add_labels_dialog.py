"""Labels to choose from before they are added: of a column, a file, a template, or suggested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from sce_desktop.controllers import label_edits
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.label_edits import rows
from sce_desktop.controllers.words import step_text
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.ui.kit.dialog_parts import dialog_column, primary_and_cancel
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px, set_role

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

Found = list[tuple[Label, int]]
MANY = 50  # more values than these are hardly all labels: none is checked at first
_SAMPLE = 200  # rows by which a column is judged


class AddLabelsDialog(ProjectDialog):
    """Shows labels as soon as a job has found them, each with a check mark; one button adds the checked.

    They are checked at first, unless they are very many.
    """

    def __init__(
        self,
        workspace: Workspace,
        edits: Edits,
        title: str,
        *,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, title, parent)
        self._edits = edits
        self.column = ComboBox()
        self.column.setAccessibleName(_("Column"))
        self.column.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.column.hide()
        self.column.activated.connect(self._read_column)
        self.words = QLabel(_("Searching…"), wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setAccessibleName(_("Result"))
        set_role(self.words, "muted")
        self.list = QListWidget()
        self.list.setAccessibleName(_("Labels found"))
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.itemChanged.connect(self._show_count)
        self.add_button = QPushButton(_("Add"))
        buttons = primary_and_cancel(self, self.add_button)
        layout = dialog_column(self)
        for widget in (self.column, self.words, self.list, buttons):
            layout.addWidget(widget)
        self.add_button.setDefault(True)  # only in its dialog does it become the one that Return presses
        self.resize(px(520), px(440))
        self._show_count()

    # --- where labels come from ----------------------------------------------------------------------------

    def of_columns(self) -> None:
        """Let the user choose a column and show its values."""
        project = self._workspace.project
        if project is None:
            return
        for place, name in enumerate(project.columns):
            self.column.addItem(name or _("Column {number}", number=place + 1), place)
        self.column.setCurrentIndex(_likely_column(project))
        self.column.show()
        self._read_column()

    @Slot()
    def _read_column(self) -> None:
        project = self._workspace.project
        if project is not None:
            self.follow(
                self._workspace.submit(
                    in_worker("sce_desktop.tasks.insight.labels", "column_labels"),
                    project,
                    self.column.currentData(),
                    title=_("Reading a column"),
                    quiet=True,
                    notify_failure=False,
                )
            )

    def follow(self, job: Job) -> None:
        """Show what ``job`` finds, in place of what was shown: a list of labels with numbers of rows."""
        self._watch(job)
        self.list.clear()
        self.words.setText(_("Searching…"))
        set_role(self.words, "muted")
        self._show_count()
        job.progressed.connect(self._on_progress)
        job.finished.connect(self.show_found)
        job.failed.connect(self._on_failed)

    @Slot()
    def _on_progress(self) -> None:
        if self._job is not None:
            self.words.setText(step_text(self._job))

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self.words.setText(str(error))
        set_role(self.words, "warn")

    @Slot(object)
    def show_found(self, found: Found) -> None:
        """Show labels; those that already exist cannot be added again."""
        there = {label.name.strip() for label in self._workspace.labels}
        checked = len(found) <= MANY
        self.list.blockSignals(True)
        for label, count in found:
            known = label.name.strip() in there
            details = [rows(count)] * bool(count) + [label.description] * bool(label.description)
            item = QListWidgetItem("  ·  ".join((label.name.replace("\n", " "), *details)))
            item.setData(Qt.ItemDataRole.UserRole, label)
            flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable
            item.setFlags(flags if known else flags | Qt.ItemFlag.ItemIsEnabled)
            item.setCheckState(Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked)
            item.setToolTip(_("Already exists") if known else label.description)
            self.list.addItem(item)
        self.list.blockSignals(False)
        already = sum(label.name.strip() in there for label, _ in found)
        sentences = [ngettext("{count} label found.", "{count} labels found.", len(found))]
        if already:
            sentences.append(ngettext("{count} already exists.", "{count} already exist.", already))
        sentences.append(_("Uncheck those you do not want.") if checked else _("Check those you want."))
        self.words.setText(" ".join(sentences))
        self._show_count()

    # --- the end -------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> list[Label]:
        """The labels that would be added."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [
            item.data(Qt.ItemDataRole.UserRole)
            for item in items
            if item.checkState() is Qt.CheckState.Checked and item.flags() & Qt.ItemFlag.ItemIsEnabled
        ]

    @Slot()
    def _show_count(self) -> None:
        count = len(self.chosen)
        self.add_button.setEnabled(count > 0)
        add = ngettext("Add {count} label", "Add {count} labels", count) if count else _("Add")
        self.add_button.setText(add)
        self.add_button.setAccessibleName(self.add_button.text())

    def accept(self) -> None:
        """Add the checked labels."""
        if self.chosen and label_edits.add(self._workspace, self._edits, self.chosen):
            super().accept()


def _likely_column(project: Project) -> int:
    """The column that looks most like one of labels: few values that repeat, among the first rows."""
    rows = next(project.iter_rows(_SAMPLE), [])
    best, fewest = 0, len(rows) + 1
    for place in range(len(project.columns)):
        values = [row.cells[place] for row in rows if row.cells[place]]
        distinct = len(set(values)) if len(values) > len(rows) // 2 else len(rows)
        if place not in project.text_columns and 1 < distinct < fewest:
            best, fewest = place, distinct
    return best
