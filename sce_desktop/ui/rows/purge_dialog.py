"""Deleting for good: what goes, what remains, and a box to tick before anything does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QFormLayout, QLabel, QWidget

from sce_desktop.controllers import purge_work
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.projects import Projects
from sce_desktop.controllers.purge_work import PurgePreview
from sce_desktop.controllers.queries import has_filters
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.arrays import ManyRows
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.purging import PurgeScope
from sce_desktop.core.query import RowOrder
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role

ROWS, FILTERED, NOTES, LABEL, ANNOTATOR, HISTORY = (
    "rows",
    "filtered",
    "notes",
    "label",
    "annotator",
    "history",
)
_NAMED: Final = (LABEL, ANNOTATOR)


class PurgeDialog(ProjectDialog):
    """Counts what is chosen; the button deletes it once the user has ticked that this is final.

    ``asked``: what to begin with; None: the selected rows, or the current one.
    """

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        projects: Projects,
        asked: PurgeScope | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, _("Delete for good"), parent)
        self._navigation = navigation
        self._projects = projects
        self._preview: PurgePreview | None = None
        self._rows = self._rows_meant(asked)
        self._annotators: list[tuple[str, int]] = []
        self.what = ComboBox()
        self.what.setAccessibleName(_("Delete"))
        self.name = ComboBox()
        self.name.setAccessibleName(_("Name"))
        self.form = QFormLayout()
        self.form.setVerticalSpacing(px(SPACE_M))
        self.form.addRow(_("Delete"), self.what)
        self.form.addRow(_("Name"), self.name)
        self.goes = self._text(_("What goes"))
        self.copies_found = self._text(_("Copies"))
        self.with_copies = QCheckBox(_("Delete from these copies, too"))
        self.with_copies.setToolTip(_("Copies beside the project and in the projects folder"))
        self.with_copies.setChecked(True)
        self.remains = self._text(_("What remains"))
        set_role(self.remains, "muted")
        self.sure = QCheckBox(_("This cannot be undone. Delete it for good."))
        self.sure.toggled.connect(self._show_state)
        self.buttons = ok_and_cancel(self)
        self.delete_button = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.delete_button.setText(_("Delete for good"))
        self.delete_button.setAccessibleName(_("Delete for good"))
        layout = dialog_column(self)
        layout.addLayout(self.form)
        for part in (self.goes, self.copies_found, self.with_copies, self.remains):
            layout.addWidget(part)
        layout.addStretch()
        layout.addWidget(self.sure)
        layout.addWidget(self.buttons)
        self.setMinimumWidth(px(520))
        self._fill_choices(asked)
        self.what.currentIndexChanged.connect(self._on_what)
        self.name.currentIndexChanged.connect(self._look)
        cancel = self.buttons.button(QDialogButtonBox.StandardButton.Cancel)
        cancel.setDefault(True)
        self._show_state()
        self._find_annotators(asked)

    def _text(self, name: str) -> QLabel:
        label = QLabel(wordWrap=True)
        label.setAccessibleName(name)
        return label

    def _rows_meant(self, asked: PurgeScope | None) -> tuple[int, ...]:
        if asked is not None and asked.rows:
            return asked.rows
        current = self._navigation.current_row
        selected = self._navigation.selected
        if isinstance(selected, ManyRows):
            return ()  # what is filtered, or all, is on the list
        return selected or (() if current is None else (current,))

    def _fill_choices(self, asked: PurgeScope | None) -> None:
        if len(self._rows) == 1:
            self.what.addItem(_("Row {row}", row=number(self._rows[0])), ROWS)
        elif self._rows:
            count = len(self._rows)
            self.what.addItem(ngettext("{count} selected row", "{count} selected rows", count), ROWS)
        found = self._navigation.found
        if has_filters(self._navigation.query) and found is not None:
            self.what.addItem(ngettext("{count} filtered row", "{count} filtered rows", found), FILTERED)
        self.what.addItem(_("All notes"), NOTES)
        if self._workspace.labels:
            self.what.addItem(_("A label"), LABEL)
        self.what.addItem(_("The undo history"), HISTORY)
        if asked is not None and asked.labels:
            self.what.setCurrentIndex(self.what.findData(LABEL))

    # --- annotators are read in the background -------------------------------------------------------------

    def _find_annotators(self, asked: PurgeScope | None) -> None:
        job = self._workspace.submit(
            purge_work.annotators,
            self._workspace.project,
            title=_("Reading annotators"),
            worker="reads",
            quiet=True,
        )
        self._watch(job).finished.connect(lambda found: self._on_annotators(found, asked))

    def _on_annotators(self, found: Sequence[tuple[str, int]], asked: PurgeScope | None) -> None:
        self._annotators = list(found)
        self.what.blockSignals(True)
        if found:
            self.what.insertItem(self.what.findData(HISTORY), _("An annotator"), ANNOTATOR)
        if asked is not None and asked.annotators and found:
            self.what.setCurrentIndex(self.what.findData(ANNOTATOR))
        self.what.blockSignals(False)
        self._fill_names()
        wanted = [*asked.labels, *asked.annotators] if asked is not None else []
        if wanted:
            self.name.blockSignals(True)
            self.name.setCurrentIndex(max(0, self.name.findData(wanted[0])))
            self.name.blockSignals(False)
        self._look()

    def _fill_names(self) -> None:
        chosen = self.what.currentData()
        self.name.blockSignals(True)
        self.name.clear()
        if chosen == LABEL:
            for label in self._workspace.labels:
                self.name.addItem(label.name, label.id)
        elif chosen == ANNOTATOR:
            for name, coder_id in self._annotators:
                self.name.addItem(name, coder_id)
        self.name.blockSignals(False)
        self.form.setRowVisible(self.name, chosen in _NAMED)

    @Slot()
    def _on_what(self) -> None:
        self._fill_names()
        self._look()

    # --- what goes -----------------------------------------------------------------------------------------

    def _scope(self) -> PurgeScope:
        chosen, named = self.what.currentData(), self.name.currentData()
        return PurgeScope(
            rows=self._rows if chosen == ROWS else (),
            notes=chosen == NOTES,
            labels=(named,) if chosen == LABEL and named is not None else (),
            annotators=(named,) if chosen == ANNOTATOR and named is not None else (),
        )

    @Slot()
    def _look(self) -> None:
        """Count what goes by what is chosen now; until that is known nothing can be deleted."""
        self._preview = None
        self.sure.setChecked(False)
        self._show_state()
        if self._workspace.project is None:
            return
        query = None
        if self.what.currentData() == FILTERED:
            query = replace(self._navigation.query, order=RowOrder.FILE, order_column=None, descending=False)
        job = self._workspace.submit(
            purge_work.look,
            self._workspace.project,
            self._scope(),
            query,
            title=_("Counting what would be deleted"),
            worker="reads",
            quiet=True,
        )
        self._watch(job).finished.connect(self._on_looked)

    @Slot(object)
    def _on_looked(self, preview: PurgePreview) -> None:
        self._preview = preview
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        found = self._preview
        self.form.setRowVisible(self.name, self.what.currentData() in _NAMED)
        self.goes.setText("\n".join(found.goes) if found else _("Counting…"))
        self.copies_found.setText(found.copies if found else "")
        self.remains.setText("\n".join(found.remains) if found else "")
        for part in (self.copies_found, self.with_copies):
            part.setVisible(bool(found and found.copies))
        self.sure.setEnabled(found is not None)
        self.delete_button.setEnabled(found is not None and self.sure.isChecked())
        if (layout := self.layout()) is not None:  # lines that break need more room than a dialog gives them
            layout.activate()
            width = max(self.width(), self.minimumWidth())
            self.setMinimumHeight(max(self.minimumHeight(), layout.totalHeightForWidth(width)))

    def accept(self) -> None:
        """Close the project, delete, and open it again."""
        preview, with_copies = self._preview, self.with_copies.isChecked()
        if preview is None or not self.sure.isChecked() or self._workspace.refuses_edit():
            return
        super().accept()
        self._projects.purge(preview.scope, with_copies=with_copies)
