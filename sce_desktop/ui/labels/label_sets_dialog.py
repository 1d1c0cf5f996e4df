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

from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import LabelSet, SwitchEffect
from sce_desktop.core.i18n import _, ngettext, number
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
        super().__init__(workspace, _("Label sets"), parent)
        self._edits = edits
        hint = QLabel(
            _("Rows keep labels that another version has too. Other labels are hidden until you return."),
            wordWrap=True,
        )
        set_role(hint, "muted")
        self.list = flat_list(_("Versions of the label sets"), (_("Name"), _("Version"), _("Labels"), ""))
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.header().setStretchLastSection(True)
        self.buttons = ok_and_cancel(self)
        self.use = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.use.setText(_("Use"))
        self.use.setAccessibleName(_("Use the chosen version"))
        self.new = QPushButton(_("New label set…"))
        self.new.setAccessibleName(_("New label set"))
        self.new.clicked.connect(self._ask_name)
        self.buttons.addButton(self.new, QDialogButtonBox.ButtonRole.ActionRole)
        self.effect = problem_label()
        self.effect.setAccessibleName(_("Affected rows"))
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
        names = ", ".join(label.name for label in label_set.labels) or _("no labels")
        item = QTreeWidgetItem(
            [label_set.name, str(label_set.version), number(len(label_set.labels)), names[:200]]
        )
        item.setToolTip(3, "\n".join(label.name for label in label_set.labels[:60]))
        item.setData(0, Qt.ItemDataRole.UserRole, label_set.id)
        self.list.addTopLevelItem(item)
        active = self._workspace.label_set
        if active is not None and active.id == label_set.id:
            item.setText(1, _("{version}, in use", version=label_set.version))
            self.list.setCurrentItem(item)

    @Slot()
    def _weigh(self) -> None:
        """Count the rows that the chosen version would affect; until that is shown it cannot be used."""
        item, project = self.list.currentItem(), self._workspace.project
        self.use.setEnabled(False)
        self.effect.hide()
        self.effect.clear()
        if item is None or project is None or self._workspace.read_only:
            return
        job = self._workspace.submit(
            in_worker("sce_desktop.store.project", "Project.use_preview", takes_progress=False),
            project,
            item.data(0, Qt.ItemDataRole.UserRole),
            title=_("Counting affected rows"),
            worker="reads",
            first=True,
            quiet=True,
        )
        self._watch(job).finished.connect(self._show_effect)

    @Slot(object)
    def _show_effect(self, effect: SwitchEffect) -> None:
        sentences = []
        if effect.several:
            sentences += [_("This version allows one label per row."), why_several(effect.several)]
        if effect.hidden:
            sentences.append(
                ngettext(
                    "{count} row has labels that this version lacks. They are hidden until you "
                    "return to the version in use now.",
                    "{count} rows have labels that this version lacks. They are hidden until you "
                    "return to the version in use now.",
                    effect.hidden,
                )
            )
        self.effect.setText(" ".join(sentences))
        self.effect.setVisible(bool(sentences))
        self.use.setEnabled(not effect.several)

    @Slot()
    def _on_double_click(self) -> None:
        """Use a version at once, unless there is something to read about it first."""
        if self.use.isEnabled() and not self.effect.text():
            self.accept()

    @Slot()
    def _ask_name(self) -> None:
        ask = QInputDialog(self)
        ask.setWindowTitle(_("New label set"))
        ask.setLabelText(_("Name of the new set (starts with the labels in use):"))
        ask.setAccessibleName(_("New label set"))
        ask.textValueSelected.connect(self.add_set)
        open_dialog(ask)

    @Slot(str)
    def add_set(self, name: str) -> None:
        """Continue with a label set of another name; the present one stays unchanged."""
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
