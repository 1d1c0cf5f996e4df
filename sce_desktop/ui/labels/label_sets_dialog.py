"""The versions of the label set: every edit made one, and each can be used again."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QHeaderView,
    QInputDialog,
    QLabel,
    QPushButton,
    QTreeWidgetItem,
    QWidget,
)

from sce_desktop.controllers import review_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.label_edits import rows
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import LabelSet, SwitchEffect
from sce_desktop.core.labels import why_several
from sce_desktop.ui.kit.dialog_parts import (
    dialog_column,
    flat_list,
    ok_and_cancel,
    open_dialog,
    problem_label,
)
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px, set_role


class LabelSetsDialog(ProjectDialog):
    """Lists all versions, newest first; OK uses the chosen one, at first the one in use."""

    def __init__(self, workspace: Workspace, edits: Edits, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "Label sets", parent)
        self._edits = edits
        hint = QLabel(
            "Answers belong to labels, not to versions: those of labels that another version has stay.",
            wordWrap=True,
        )
        set_role(hint, "muted")
        self.list = flat_list("Versions of the label sets", ("Name", "Version", "Labels", ""))
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.header().setStretchLastSection(True)
        self.buttons = ok_and_cancel(self)
        self.use = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.use.setText("Use it")
        self.use.setAccessibleName("Use the chosen version")
        self.new = QPushButton("New label set…")
        self.new.setAccessibleName("New label set")
        self.new.clicked.connect(self._ask_name)
        self.buttons.addButton(self.new, QDialogButtonBox.ButtonRole.ActionRole)
        self.effect = problem_label()
        self.effect.setAccessibleName("What it does to answers")
        self.list.currentItemChanged.connect(self._weigh)
        self.list.itemDoubleClicked.connect(self._on_double_click)
        layout = dialog_column(self)
        layout.addWidget(self.list, 1)
        layout.addWidget(hint)
        layout.addWidget(self.effect)
        layout.addWidget(self.buttons)
        self.resize(px(560), px(420))
        self.use.setEnabled(False)
        self.new.setEnabled(not workspace.read_only)
        project = workspace.project
        for label_set in reversed(project.label_sets() if project is not None else ()):
            self._add(label_set)

    def _add(self, label_set: LabelSet) -> None:
        names = ", ".join(label.name for label in label_set.labels) or "no labels"
        item = QTreeWidgetItem(
            [label_set.name, str(label_set.version), str(len(label_set.labels)), names[:200]]
        )
        item.setToolTip(3, "\n".join(label.name for label in label_set.labels[:60]))
        item.setData(0, Qt.ItemDataRole.UserRole, label_set.id)
        self.list.addTopLevelItem(item)
        active = self._workspace.label_set
        if active is not None and active.id == label_set.id:
            item.setText(1, f"{label_set.version}, in use")
            self.list.setCurrentItem(item)

    @Slot()
    def _weigh(self) -> None:
        """Count what the chosen version would do to answers; until that is said it cannot be used."""
        item, project = self.list.currentItem(), self._workspace.project
        self.use.setEnabled(False)
        self.effect.hide()
        self.effect.clear()
        if item is None or project is None or self._workspace.read_only:
            return
        job = self._workspace.submit(
            review_work.switch_effect,
            project,
            item.data(0, Qt.ItemDataRole.UserRole),
            title="Counting what it touches",
            lane="reads",
            first=True,
            quiet=True,
        )
        self._watch(job).finished.connect(self._show_effect)

    @Slot(object)
    def _show_effect(self, effect: SwitchEffect) -> None:
        told = [f"A row has one label there. {why_several(effect.several)}"] if effect.several else []
        if effect.hidden:
            have = "has labels" if effect.hidden == 1 else "have labels"
            told.append(
                f"{rows(effect.hidden)} {have} that this version lacks: those answers are hidden, and come "
                "back with the version in use now."
            )
        self.effect.setText(" ".join(told))
        self.effect.setVisible(bool(told))
        self.use.setEnabled(not effect.several)

    @Slot()
    def _on_double_click(self) -> None:
        """Use a version at once, unless there is something to read about it first."""
        if self.use.isEnabled() and not self.effect.text():
            self.accept()

    @Slot()
    def _ask_name(self) -> None:
        ask = QInputDialog(self)
        ask.setWindowTitle("New label set")
        ask.setLabelText("Name of the new set; it begins with the labels in use:")
        ask.setAccessibleName("New label set")
        ask.textValueSelected.connect(self.add_set)
        open_dialog(ask)

    @Slot(str)
    def add_set(self, name: str) -> None:
        """Go on with a label set of another name; the present one stays as it is."""
        labels = self._workspace.labels
        name = name.strip()
        if name and self._edits.edit_labels(lambda p: p.set_labels(labels, name=name)):
            super().accept()

    def accept(self) -> None:
        """Use the chosen version."""
        item = self.list.currentItem()
        if item is not None:
            set_id = item.data(0, Qt.ItemDataRole.UserRole)
            if not self._edits.edit_labels(lambda p: p.use_label_set(set_id)):
                return
        super().accept()
