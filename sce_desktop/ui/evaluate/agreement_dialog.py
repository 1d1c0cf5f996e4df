"""How far the user and others agree, and the ways to the rows on which they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialogButtonBox, QHeaderView, QLabel, QPushButton, QTreeWidgetItem, QWidget

from sce_desktop.controllers import review_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.ui.kit.dialog_parts import dialog_column, flat_list
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px, set_role

if TYPE_CHECKING:
    from sce_desktop.core.agreement import Agreement
    from sce_desktop.tasks.evaluation.annotators import WithAnnotator

_HEADINGS = ("Person", "Answers", "Rows of both", "Same answer", "Cohen's kappa", "Krippendorff's alpha")
_CODER = Qt.ItemDataRole.UserRole
_SENTENCE = _CODER + 1


class AgreementDialog(ProjectDialog):
    """One line a person whose answers were added; their disagreements are shown in the table.

    Rows that the user decided by hand, in bulk and by import have a line each, where there are such rows.
    """

    def __init__(
        self, workspace: Workspace, navigation: Navigation, edits: Edits, parent: QWidget | None = None
    ) -> None:
        super().__init__(workspace, "Agreement with others", parent)
        self._navigation = navigation
        self._edits = edits
        hint = QLabel(
            "Kappa and alpha: 1 is full agreement, 0 what chance would give. The row panel says what others "
            "answered; decide a row anew to settle it. What was decided in bulk was not looked at row by row "
            "and has a line of its own.",
            wordWrap=True,
        )
        set_role(hint, "muted")
        self.sentence = QLabel("Comparing…", wordWrap=True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setAccessibleName("Agreement in words")
        self.list = flat_list("Agreement with others", _HEADINGS)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.currentItemChanged.connect(self._on_current)
        self.list.itemDoubleClicked.connect(self._show_rows)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setAccessibleName("Close")
        self.buttons.rejected.connect(self.reject)
        self.show_button = QPushButton("Show disagreements")
        self.show_button.setAccessibleName("Show disagreements")
        set_role(self.show_button, "primary")
        self.show_button.clicked.connect(self._show_rows)
        self.remove_button = QPushButton("Remove answers")
        self.remove_button.setAccessibleName("Remove the answers of this person")
        self.remove_button.clicked.connect(self._remove)
        self.buttons.addButton(self.remove_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.addButton(self.show_button, QDialogButtonBox.ButtonRole.ActionRole)
        layout = dialog_column(self)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.sentence)
        layout.addWidget(hint)
        layout.addWidget(self.buttons)
        self.resize(px(760), px(360))
        self._load()

    def _load(self) -> None:
        for button in (self.show_button, self.remove_button):
            button.setEnabled(False)
        job = self._workspace.submit(
            review_work.agreements,
            self._workspace.project,
            title="Comparing answers",
            lane="reads",
            quiet=True,
        )
        self._watch(job).finished.connect(self._on_found)

    @Slot(object)
    def _on_found(self, found: list[WithAnnotator]) -> None:
        self.list.clear()
        for one in found:
            for place, (how, agreement, sentence) in enumerate(one.lines):
                name = f"{one.coder.name}: you, {how}" if how else one.coder.name
                answers = f"{one.coder.rows:,}" if not place else ""
                self._add_line(one.coder.id, (name, answers), agreement, sentence)
        if (first := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(first)
        else:
            self.sentence.setText(
                "Nobody else has answered yet: Review, Answers of another person… reads a file."
            )

    def _add_line(self, coder_id: int, names: tuple[str, str], found: Agreement, sentence: str) -> None:
        cells = [
            *names,
            f"{found.rows:,}",
            f"{100 * found.same:.0f} %" if found.rows else "–",
            *("–" if figure is None else f"{figure:.2f}" for figure in (found.kappa, found.alpha)),
        ]
        item = QTreeWidgetItem(cells)
        item.setData(0, _CODER, coder_id)
        item.setData(0, _SENTENCE, sentence)
        for column in range(1, len(cells)):
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.list.addTopLevelItem(item)

    @Slot()
    def _on_current(self) -> None:
        item = self.list.currentItem()
        self.show_button.setEnabled(item is not None)
        self.remove_button.setEnabled(item is not None and not self._workspace.read_only)
        if item is not None:
            self.sentence.setText(item.data(0, _SENTENCE))

    @Slot()
    def _show_rows(self) -> None:
        if (item := self.list.currentItem()) is not None:
            self._navigation.show_disagreements(item.data(0, _CODER))
            self.accept()

    @Slot()
    def _remove(self) -> None:
        item = self.list.currentItem()
        if item is not None and self._edits.remove_coder(item.data(0, _CODER)):
            self._load()
