"""Inter-annotator agreement, and the ways to the rows on which annotators disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialogButtonBox, QHeaderView, QLabel, QPushButton, QTreeWidgetItem, QWidget

from sce_desktop.controllers import review_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Origin
from sce_desktop.core.i18n import N_, _, number, percent
from sce_desktop.core.purging import PurgeScope
from sce_desktop.ui.kit.dialog_parts import dialog_column, flat_list
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px, set_role

if TYPE_CHECKING:
    from sce_desktop.core.agreement import Agreement
    from sce_desktop.tasks.evaluation.annotators import WithAnnotator
    from sce_desktop.tasks.insight.sessions import SelfAgreement

_HEADINGS = (
    _("Annotator"),
    _("Labels"),
    _("Shared rows"),
    _("Agreement"),
    _("Cohen's kappa"),
    _("Krippendorff's alpha"),
)
_HOW = {
    Origin.HAND: N_("{annotator}: labelled by you"),
    Origin.BULK: N_("{annotator}: labelled in bulk"),
    Origin.IMPORTED: N_("{annotator}: imported labels"),
}
_CODER = Qt.ItemDataRole.UserRole
_SENTENCE, _ROWS = _CODER + 1, _CODER + 2


class AgreementDialog(ProjectDialog):
    """One line per annotator whose labels were added; disagreements are shown in the table.

    Rows that the user labelled by hand, in bulk and by import have a line each, where there are such rows.
    """

    def __init__(
        self, workspace: Workspace, navigation: Navigation, edits: Edits, parent: QWidget | None = None
    ) -> None:
        super().__init__(workspace, _("Inter-annotator agreement"), parent)
        self._navigation = navigation
        self._edits = edits
        hint = QLabel(
            _(
                "1 = full agreement, 0 = chance. To resolve a disagreement, relabel the row. "
                "Bulk labels are listed separately."
            ),
            wordWrap=True,
        )
        set_role(hint, "muted")
        self.sentence = QLabel(_("Comparing…"), wordWrap=True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setAccessibleName(_("Agreement in words"))
        self.list = flat_list(_("Inter-annotator agreement"), _HEADINGS)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.currentItemChanged.connect(self._on_current)
        self.list.itemDoubleClicked.connect(self._show_rows)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setAccessibleName(_("Close"))
        self.buttons.rejected.connect(self.reject)
        self.show_button = QPushButton(_("Show disagreements"))
        self.show_button.setAccessibleName(_("Show disagreements"))
        set_role(self.show_button, "primary")
        self.show_button.clicked.connect(self._show_rows)
        self.remove_button = QPushButton(_("Remove labels"))
        self.remove_button.setAccessibleName(_("Remove this annotator's labels"))
        self.remove_button.clicked.connect(self._remove)
        self.purge_button = QPushButton(_("Delete for good…"))
        self.purge_button.setAccessibleName(_("Delete this annotator for good"))
        self.purge_button.setToolTip(_("From the history and copies too; cannot be undone"))
        self.purge_button.clicked.connect(self._purge)
        self.buttons.addButton(self.purge_button, QDialogButtonBox.ButtonRole.ActionRole)
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
        for button in (self.show_button, self.remove_button, self.purge_button):
            button.setEnabled(False)
        job = self._workspace.submit(
            review_work.agreements,
            self._workspace.project,
            title=_("Comparing labels"),
            worker="reads",
            quiet=True,
        )
        self._watch(job).finished.connect(self._on_found)

    @Slot(object)
    def _on_found(self, found: tuple[list[WithAnnotator], SelfAgreement]) -> None:
        annotators, own = found
        self.list.clear()
        for one in annotators:
            for place, (how, agreement, sentence) in enumerate(one.lines):
                name = one.coder.name if how is None else _(_HOW[how], annotator=one.coder.name)
                labels = "" if place else number(one.coder.rows)
                self._add_line(one.coder.id, (name, labels), agreement, sentence)
        if own.rows:
            item = self._add_line(0, (_("You (repeat)"), number(own.rows)), own.agreement, own.sentence)
            item.setData(0, _ROWS, own.differing)
        if (first := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(first)
        else:
            self.sentence.setText(
                _("No other annotator yet. Choose Review > Import another annotator's labels….")
            )

    def _add_line(
        self, coder_id: int, names: tuple[str, str], found: Agreement, sentence: str
    ) -> QTreeWidgetItem:
        cells = [
            *names,
            number(found.rows),
            percent(found.same) if found.rows else "–",
            *("–" if figure is None else number(figure, 2) for figure in (found.kappa, found.alpha)),
        ]
        item = QTreeWidgetItem(cells)
        item.setData(0, _CODER, coder_id)
        item.setData(0, _SENTENCE, sentence)
        for column in range(1, len(cells)):
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        self.list.addTopLevelItem(item)
        return item

    @Slot()
    def _on_current(self) -> None:
        item = self.list.currentItem()
        self.show_button.setEnabled(item is not None)
        repeats = item is not None and item.data(0, _ROWS) is not None  # they are undone, one by one
        for button in (self.remove_button, self.purge_button):
            button.setEnabled(item is not None and not repeats and not self._workspace.read_only)
        if item is not None:
            self.sentence.setText(item.data(0, _SENTENCE))

    @Slot()
    def _show_rows(self) -> None:
        if (item := self.list.currentItem()) is not None:
            if (rows := item.data(0, _ROWS)) is None:
                self._navigation.show_disagreements(item.data(0, _CODER))
            elif rows:
                self._navigation.show_ids(rows)
            self.accept()

    @Slot()
    def _purge(self) -> None:
        if (item := self.list.currentItem()) is not None:
            self.accept()
            self._navigation.purgeAsked.emit(PurgeScope(annotators=(item.data(0, _CODER),)))

    @Slot()
    def _remove(self) -> None:
        item = self.list.currentItem()
        if item is not None and self._edits.remove_coder(item.data(0, _CODER)):
            self._load()
