"""Accepting predictions of many rows at once: how many, which labels, ten to look at, one undo."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFormLayout,
    QHeaderView,
    QLabel,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from sce_desktop.controllers import review_work
from sce_desktop.controllers.bulk_work import submit_bulk
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import has_filters
from sce_desktop.controllers.review_work import AcceptPreview
from sce_desktop.controllers.rows_text import label_of
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import ACCEPTED
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _, ngettext, number, percent
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.text import share_text
from sce_desktop.ui.kit.dialog_parts import dialog_column, flat_list, ok_and_cancel
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role
from sce_desktop.ui.rows.percent_field import percent_field

_PAUSE_MS = 200
_TEXT = 120  # characters of an example


class AcceptDialog(ProjectDialog):
    """Follows the confidence that is chosen; OK accepts what it shows."""

    def __init__(
        self, workspace: Workspace, navigation: Navigation, messages: Messages, parent: QWidget | None = None
    ) -> None:
        super().__init__(workspace, _("Accept predictions"), parent)
        self._navigation = navigation
        self._messages = messages
        self.preview: AcceptPreview | None = None
        self.confidence = percent_field(_("Minimum confidence, in per cent"), value=90)
        self.scope = ComboBox()
        self.scope.setAccessibleName(_("Rows"))
        self.scope.addItem(_("All rows"), False)
        if has_filters(navigation.query):
            self.scope.addItem(_("Filtered rows"), True)
            self.scope.setCurrentIndex(1)
        form = QFormLayout()
        form.setVerticalSpacing(px(SPACE_M))
        form.addRow(_("Minimum confidence"), self.confidence)
        form.addRow(_("Rows"), self.scope)
        self.facts = QLabel(wordWrap=True)
        self.facts.setAccessibleName(_("Affected rows"))
        note = QLabel(
            _(
                "Rows with a label, in the audit sample or with only a draft are not changed."
                " Undo with Ctrl+Z."
            ),
            wordWrap=True,
        )
        set_role(note, "muted")
        self.labels = _list(_("Rows by label"), (_("Label"), _("Rows")))
        self.examples = _list(_("Example rows"), (_("Label"), "", _("Text")))
        layout = dialog_column(self)
        layout.addLayout(form)
        layout.addWidget(self.facts)
        layout.addWidget(self.labels, 2)
        layout.addWidget(self.examples, 3)
        layout.addWidget(note)
        self.buttons = ok_and_cancel(self)
        self._ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        layout.addWidget(self.buttons)
        self.resize(px(620), px(600))
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._look)
        self.confidence.valueChanged.connect(self._wait)
        self.scope.currentIndexChanged.connect(self._wait)
        self._show_preview(None)
        self._look()

    @Slot()
    def _wait(self) -> None:
        self._show_preview(None)
        self._pause.start()

    def _query(self) -> RowQuery:
        if self.scope.currentData():
            return replace(self._navigation.query, order=RowOrder.FILE, descending=False)
        return RowQuery()

    @Slot()
    def _look(self) -> None:
        self._drop_job()
        if self._workspace.project is None or not self._workspace.runs:
            return
        job = self._watch(
            self._workspace.submit(
                review_work.preview_accept,
                self._workspace.project,
                self._workspace.runs[0],
                self._query(),
                self.confidence.value() / 100,
                title=_("Searching for predictions to accept"),
                worker="reads",
                quiet=True,
            )
        )
        job.finished.connect(self._show_preview)

    @Slot(object)
    def _show_preview(self, preview: AcceptPreview | None) -> None:
        self.preview = preview
        self.labels.clear()
        self.examples.clear()
        count = len(preview.found) if preview is not None else 0
        self._ok.setEnabled(count > 0)
        self._ok.setText(
            ngettext("Accept {count} row", "Accept {count} rows", count) if count else _("Accept")
        )
        if preview is None:
            self.facts.setText(_("Searching…"))
            return
        labels = self._workspace.labels
        counts = preview.found.counts
        self.facts.setText(
            _(
                "{rows} with {labels} would be accepted.",
                rows=ngettext("{count} row", "{count} rows", count),
                labels=ngettext("{count} label", "{count} labels", len(counts)),
            )
            if count
            else _(
                "No unlabelled row has confidence ≥ {minimum}. Choose a lower minimum.",
                minimum=percent(self.confidence.value() / 100),
            )
        )
        for label_id, rows in sorted(counts.items(), key=lambda pair: -pair[1]):
            label = label_of(label_id, labels)
            item = QTreeWidgetItem([label.name, number(rows)])
            item.setIcon(0, label_icon(colour_of(label)))
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
            self.labels.addTopLevelItem(item)
        for row, label_ids, share in preview.examples:
            names = " + ".join(label_of(label_id, labels).name for label_id in label_ids)
            text = " ".join(row.text[:_TEXT].split())
            item = QTreeWidgetItem([names, share_text(share), text])
            item.setIcon(0, label_icon(colour_of(label_of(label_ids[0], labels))))
            self.examples.addTopLevelItem(item)

    def accept(self) -> None:
        """Accept the rows of the preview, and close when that is done."""
        if self.preview is None:
            return
        found = self.preview.found
        job = submit_bulk(
            self._workspace,
            self._navigation,
            self._messages,
            in_worker("sce_desktop.tasks.insight.review", "accept"),
            found,
            title=_("Accepting predictions"),
            queue=ACCEPTED,
        )
        if job is not None:
            self.setEnabled(False)
            job.finished.connect(self._on_accepted)
            job.failed.connect(self.reject)
            job.cancelled.connect(self.reject)

    @Slot()
    def _on_accepted(self) -> None:
        super().accept()

    def done(self, result: int) -> None:
        """Stop searching."""
        self._pause.stop()
        super().done(result)


def _list(name: str, headings: tuple[str, ...]) -> QTreeWidget:
    tree = flat_list(name, headings)
    tree.header().setStretchLastSection(len(headings) > 2)
    tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
    tree.header().resizeSection(0, px(190))
    if len(headings) == 2:
        tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    else:
        tree.header().resizeSection(1, px(56))
    return tree
