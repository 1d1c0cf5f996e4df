"""How far the user and others agree, and the ways to the rows on which they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialogButtonBox, QHeaderView, QLabel, QPushButton, QTreeWidgetItem, QWidget

from sce_desktop.ui import review_work
from sce_desktop.ui.dialog_parts import dialog_column, flat_list
from sce_desktop.ui.project_dialog import ProjectDialog
from sce_desktop.ui.session import Session
from sce_desktop.ui.theme import px, set_role

if TYPE_CHECKING:
    from sce_desktop.tasks.coders import WithOther

_HEADINGS = ("Person", "Answers", "Rows of both", "Same answer", "Cohen's kappa", "Krippendorff's alpha")
_CODER = Qt.ItemDataRole.UserRole


class AgreementDialog(ProjectDialog):
    """One line a person whose answers were added; their disagreements are shown in the table."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, "Agreement with others", parent)
        hint = QLabel(
            "Kappa and alpha: 1 is full agreement, 0 what chance would give. The row panel says what others "
            "answered; decide a row anew to settle it.",
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
        self.resize(px(640), px(360))
        self._said: dict[int, str] = {}
        self._load()

    def _load(self) -> None:
        for button in (self.show_button, self.remove_button):
            button.setEnabled(False)
        job = self._session.submit(
            review_work.agreements, self._session.project, title="Comparing answers", lane="reads", quiet=True
        )
        self._watch(job).finished.connect(self._on_found)

    @Slot(object)
    def _on_found(self, found: list[WithOther]) -> None:
        self.list.clear()
        self._said = {one.coder.id: one.sentence for one in found}
        for one in found:
            agreement = one.agreement
            figures = (agreement.kappa, agreement.alpha)
            cells = [
                one.coder.name,
                f"{one.coder.rows:,}",
                f"{agreement.rows:,}",
                f"{100 * agreement.same:.0f} %" if agreement.rows else "–",
                *("–" if figure is None else f"{figure:.2f}" for figure in figures),
            ]
            item = QTreeWidgetItem(cells)
            item.setData(0, _CODER, one.coder.id)
            for column in range(1, len(cells)):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.list.addTopLevelItem(item)
        if (first := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(first)
        else:
            self.sentence.setText(
                "Nobody else has answered yet: Review, Answers of another person… reads a file."
            )

    @Slot()
    def _on_current(self) -> None:
        item = self.list.currentItem()
        self.show_button.setEnabled(item is not None)
        self.remove_button.setEnabled(item is not None and not self._session.read_only)
        if item is not None:
            self.sentence.setText(self._said[item.data(0, _CODER)])

    @Slot()
    def _show_rows(self) -> None:
        if (item := self.list.currentItem()) is not None:
            self._session.show_disagreements(item.data(0, _CODER))
            self.accept()

    @Slot()
    def _remove(self) -> None:
        item = self.list.currentItem()
        if item is not None and self._session.remove_coder(item.data(0, _CODER)):
            self._load()
