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

from sce_desktop.core.types import LabelSet
from sce_desktop.ui.dialog_parts import dialog_column, flat_list, ok_and_cancel, open_dialog
from sce_desktop.ui.project_dialog import ProjectDialog
from sce_desktop.ui.session import Session
from sce_desktop.ui.theme import px, set_role


class LabelSetsDialog(ProjectDialog):
    """Lists all versions, newest first; OK uses the chosen one."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, "Label sets", parent)
        hint = QLabel(
            "Answers belong to labels, not to versions: those of labels that another version has stay.",
            wordWrap=True,
        )
        set_role(hint, "muted")
        self.list = flat_list("Versions of the label sets", ("Name", "Version", "Labels", ""))
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.header().setStretchLastSection(True)
        self.buttons = ok_and_cancel(self)
        use = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        use.setText("Use it")
        use.setAccessibleName("Use the chosen version")
        self.new = QPushButton("New label set…")
        self.new.setAccessibleName("New label set")
        self.new.clicked.connect(self._ask_name)
        self.buttons.addButton(self.new, QDialogButtonBox.ButtonRole.ActionRole)
        self.list.itemDoubleClicked.connect(self.accept)
        layout = dialog_column(self)
        layout.addWidget(self.list, 1)
        layout.addWidget(hint)
        layout.addWidget(self.buttons)
        self.resize(px(560), px(420))
        for button in (use, self.new):
            button.setEnabled(not session.read_only)
        project = session.project
        for label_set in reversed(project.label_sets() if project is not None else ()):
            self._add(label_set)
        if (newest := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(newest)

    def _add(self, label_set: LabelSet) -> None:
        names = ", ".join(label.name for label in label_set.labels) or "no labels"
        item = QTreeWidgetItem(
            [label_set.name, str(label_set.version), str(len(label_set.labels)), names[:200]]
        )
        active = self._session.label_set
        if active is not None and active.id == label_set.id:
            item.setText(1, f"{label_set.version}, in use")
        item.setToolTip(3, "\n".join(label.name for label in label_set.labels[:60]))
        item.setData(0, Qt.ItemDataRole.UserRole, label_set.id)
        self.list.addTopLevelItem(item)

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
        labels = self._session.labels
        name = name.strip()
        if name and self._session.edit_labels(lambda p: p.set_labels(labels, name=name)):
            super().accept()

    def accept(self) -> None:
        """Use the chosen version."""
        item = self.list.currentItem()
        if item is not None:
            set_id = item.data(0, Qt.ItemDataRole.UserRole)
            if not self._session.edit_labels(lambda p: p.use_label_set(set_id)):
                return
        super().accept()
