"""Accepting what the model says for many rows at once: how many, which labels, ten to look at, one undo."""

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
from sce_desktop.controllers.label_edits import rows
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import has_filters
from sce_desktop.controllers.review_work import AcceptPreview
from sce_desktop.controllers.rows_text import label_of
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import ACCEPTED
from sce_desktop.core.colours import colour_of
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.text import share_text
from sce_desktop.ui.kit.dialog_parts import dialog_column, flat_list, indent_number, ok_and_cancel
from sce_desktop.ui.kit.fields import ComboBox, SpinBox
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role

_PAUSE_MS = 200
_TEXT = 120  # characters of an example


class AcceptDialog(ProjectDialog):
    """Follows the confidence that is chosen; OK accepts what it shows."""

    def __init__(
        self, workspace: Workspace, navigation: Navigation, messages: Messages, parent: QWidget | None = None
    ) -> None:
        super().__init__(workspace, "Accept predictions", parent)
        self._navigation = navigation
        self._messages = messages
        self.preview: AcceptPreview | None = None
        self.confidence = SpinBox(minimum=1, maximum=100, suffix=" %", value=90)
        self.confidence.setAccessibleName("Confidence from, in per cent")
        indent_number(self.confidence)
        self.scope = ComboBox()
        self.scope.setAccessibleName("Of which rows")
        self.scope.addItem("All rows", False)
        if has_filters(navigation.query):
            self.scope.addItem("Rows that the filters show", True)
            self.scope.setCurrentIndex(1)
        form = QFormLayout()
        form.setVerticalSpacing(px(SPACE_M))
        form.addRow("Confidence from", self.confidence)
        form.addRow("Of", self.scope)
        self.facts = QLabel(wordWrap=True)
        self.facts.setAccessibleName("What would be accepted")
        note = QLabel(
            "Rows that you decided, and those of a random sample, stay as they are. What is accepted counts "
            "as decided in bulk, apart from what you looked at; Ctrl+Z takes it all back.",
            wordWrap=True,
        )
        set_role(note, "muted")
        self.labels = _list("Rows a label would get", ("Label", "Rows"))
        self.examples = _list("Ten of the rows", ("Label", "", "Text"))
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
                title="Looking which rows would be accepted",
                lane="reads",
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
        self._ok.setText(f"Accept {rows(count)}" if count else "Accept")
        if preview is None:
            self.facts.setText("Looking…")
            return
        labels = self._workspace.labels
        counts = preview.found.counts
        self.facts.setText(
            f"{rows(count)} of {len(counts)} labels would be accepted."
            if count
            else "No undecided row is that certain: choose a lower confidence."
        )
        for label_id, number in sorted(counts.items(), key=lambda pair: -pair[1]):
            label = label_of(label_id, labels)
            item = QTreeWidgetItem([label.name, f"{number:,}"])
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
            review_work.accept,
            found,
            title="Accepting predictions",
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
        """Look no more."""
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
