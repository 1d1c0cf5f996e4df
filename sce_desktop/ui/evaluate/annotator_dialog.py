"""Another annotator's labels: a file, a key that both sides have, and the column with the labels."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QWidget,
)

from sce_desktop.controllers import review_work
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.projects import Projects
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Coder
from sce_desktop.core.i18n import _
from sce_desktop.core.tables import TablePreview
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel, problem_label
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role


class AnnotatorDialog(ProjectDialog):
    """OK adds the labels beside the user's own; then the rows on which both differ are shown."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        projects: Projects,
        messages: Messages,
        path: Path,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, _("Import another annotator's labels"), parent)
        self._messages = messages
        self._navigation = navigation
        self._path = path
        self.name = QLineEdit(path.stem)
        self.our_key, self.their_key, self.their_label = ComboBox(), ComboBox(), ComboBox()
        columns = workspace.project.columns if workspace.project is not None else ()
        self.our_key.addItems(columns)
        form = QFormLayout()
        form.setVerticalSpacing(px(SPACE_M))
        for name, field in (
            (_("Name"), self.name),
            (_("Key in project"), self.our_key),
            (_("Key in file"), self.their_key),
            (_("Labels in file"), self.their_label),
        ):
            field.setAccessibleName(name)
            form.addRow(name, field)
        hint = QLabel(
            _(
                "The key (an ID or the text) matches rows of the file to rows here. "
                "Your labels do not change."
            ),
            wordWrap=True,
        )
        set_role(hint, "muted")
        self.problem = problem_label()
        self.buttons = ok_and_cancel(self)
        self._ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self._ok.setEnabled(False)
        layout = dialog_column(self)
        layout.addLayout(form)
        layout.addWidget(hint)
        layout.addWidget(self.problem)
        layout.addWidget(self.buttons)
        self.resize(px(480), self.sizeHint().height())
        job = self._watch(projects.preview(path))
        job.finished.connect(self._on_preview)
        job.failed.connect(self._on_failed)

    @Slot(object)
    def _on_preview(self, preview: TablePreview) -> None:
        self.their_key.addItems(preview.columns)
        self.their_label.addItems(preview.columns)
        same = next((name for name in preview.columns if self.our_key.findText(name) >= 0), None)
        if same is not None:
            self.their_key.setCurrentText(same)
            self.our_key.setCurrentText(same)
        guess = preview.label_column
        if guess is None:  # at least not the keys
            guess = next((n for n in range(len(preview.columns)) if n != self.their_key.currentIndex()), 0)
        self.their_label.setCurrentIndex(guess)
        self._ok.setEnabled(bool(preview.columns))

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self.problem.setText(str(error))
        self.problem.show()
        self.setEnabled(True)

    def accept(self) -> None:
        """Join and keep the labels; stay open with a sentence if that fails."""
        if self._workspace.project is None or self._workspace.refuses_edit():
            return
        self.setEnabled(False)
        job = self._workspace.submit(
            review_work.add_coder,
            self._workspace.project,
            review_work.CoderChoices(
                self.name.text().strip(),
                self._path,
                self.our_key.currentIndex(),
                self.their_key.currentIndex(),
                self.their_label.currentIndex(),
            ),
            title=_("Reading {file}", file=self._path.name),
            notify_failure=False,
        )
        job.finished.connect(self._on_added)
        job.failed.connect(self._on_failed)

    @Slot(object)
    def _on_added(self, added: tuple[Coder, str]) -> None:
        coder, sentence = added
        self._messages.notify(sentence)
        self._workspace.historyChanged.emit()
        self._workspace.annotationsChanged.emit([])
        super().accept()
        self._navigation.show_disagreements(coder.id)
