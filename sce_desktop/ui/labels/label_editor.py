"""Everything about one label: name, what it means, other words for it, colour."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import (
    QAbstractButton,
    QColorDialog,
    QDialogButtonBox,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.keymap import plain_key, shown_key
from sce_desktop.controllers.label_edits import submit_rename_effect
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label, LabelEffect
from sce_desktop.core.colours import label_colours
from sce_desktop.core.i18n import _
from sce_desktop.core.text import isolated
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel, problem_label
from sce_desktop.ui.kit.keys_dialog import KeyField
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role
from sce_desktop.ui.labels.labels_hints import of_rename

_SWATCHES = 18
_IN_ROW = 9


class LabelEditor(ProjectDialog):
    """Edits one label; OK changes the label set."""

    purgeAsked = Signal()  # it is to be deleted for good, and nothing to be changed

    def __init__(
        self,
        workspace: Workspace,
        edits: Edits,
        preferences: Preferences,
        label: Label,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, _("Label “{name}”", name=isolated(label.name)), parent)
        self._preferences = preferences
        self._edits = edits
        self._label = label
        self.colour = label.colour
        self.name = QLineEdit(label.name)
        self.description = QPlainTextEdit(label.description)
        self.description.setPlaceholderText(_("What a text with this label says, in one sentence"))
        self.synonyms = QPlainTextEdit("\n".join(label.synonyms))
        self.synonyms.setPlaceholderText(_("Other words for it, one per line"))
        self.shortcut = KeyField(_("Key"), plain_key(label.shortcut))
        self.shortcut.setClearButtonEnabled(True)
        for button in self.shortcut.findChildren(QAbstractButton):
            button.setAccessibleName(_("Clear the key"))
        self.shortcut.textChanged.connect(self._on_key)
        for field, words in (
            (self.name, _("Name")),
            (self.description, _("Description")),
            (self.synonyms, _("Synonyms")),
        ):
            field.setAccessibleName(words)
            if isinstance(field, QPlainTextEdit):
                field.setTabChangesFocus(True)
                field.setFixedHeight(px(68))
        hint = QLabel(
            _("The model reads name, description and synonyms. Clear wording improves its predictions."),
            wordWrap=True,
        )
        set_role(hint, "muted")
        self.touches = QLabel(_("Counting…"), wordWrap=True)
        self.touches.setAccessibleName(_("Affected rows"))
        set_role(self.touches, "muted")
        self.problem = problem_label()
        form = QFormLayout()
        form.setVerticalSpacing(px(SPACE_M))
        form.addRow(_("Name"), self.name)
        form.addRow("", self.touches)
        form.addRow(_("Description"), self.description)
        form.addRow(_("Synonyms"), self.synonyms)
        form.addRow("", hint)
        form.addRow(_("Colour"), self._swatches())
        form.addRow(_("Key"), self._key_row())
        layout = dialog_column(self)
        layout.addLayout(form)
        layout.addWidget(self.problem)
        buttons = ok_and_cancel(self)
        self.purge_button = QPushButton(_("Delete for good…"))
        self.purge_button.setAccessibleName(_("Delete this label for good"))
        self.purge_button.setToolTip(_("From the history and copies too; cannot be undone"))
        self.purge_button.setAutoDefault(False)
        self.purge_button.setEnabled(label.id is not None and not workspace.read_only)
        self.purge_button.clicked.connect(self._on_purge)
        buttons.addButton(self.purge_button, QDialogButtonBox.ButtonRole.ResetRole)
        layout.addWidget(buttons)
        self.resize(px(460), self.sizeHint().height())
        if label.id is not None:
            job = self._watch(submit_rename_effect(workspace, label.id))
            job.finished.connect(self._show_touched)

    def _key_row(self) -> QWidget:
        """The key of its own, and beside it the digit that the label keeps, if it does."""
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.shortcut)
        digits = self._preferences.keymap.digits(self._workspace.labels) or {}
        digit = digits.get(self._label.id or 0)
        self.digit = QLabel(_("and {key}", key=digit) if digit is not None else "")
        self.digit.setAccessibleName(_("Fixed digit"))
        self.digit.setToolTip(_("Digit key of this label, by its place in the list"))
        set_role(self.digit, "muted")
        layout.addWidget(self.digit, 1)
        return row

    @Slot(object)
    def _show_touched(self, effect: LabelEffect | None) -> None:
        self.touches.setText(of_rename(effect) if effect is not None else "")

    def _swatches(self) -> QWidget:
        box = QWidget()
        box.setAccessibleName(_("Colour"))
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(px(4))
        colours = list(label_colours()[:_SWATCHES])
        if self.colour and self.colour.lower() not in colours:
            colours[-1] = self.colour
        self.swatches: dict[str, QToolButton] = {}
        for place, colour in enumerate(colours):
            button = QToolButton()
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.setIcon(_patch(colour))
            button.setIconSize(QSize(px(14), px(14)))
            button.setFixedSize(px(28), px(28))
            button.setStyleSheet("padding: 0")
            button.setChecked(colour == self.colour.lower())
            button.setAccessibleName(_("Colour {number}, {value}", number=place + 1, value=colour))
            button.setToolTip(colour)
            button.clicked.connect(lambda _on=False, colour=colour: self._choose_colour(colour))
            grid.addWidget(button, place // _IN_ROW, place % _IN_ROW)
            self.swatches[colour] = button
        self.other = QToolButton()
        self.other.setText(_("Other…"))
        self.other.setAccessibleName(_("Another colour"))
        self.other.clicked.connect(self._choose)
        grid.addWidget(self.other, 0, _IN_ROW, 2, 1)
        return box

    def _choose_colour(self, colour: str) -> None:
        self.colour = colour

    @Slot()
    def _choose(self) -> None:
        dialog = QColorDialog(QColor(self.colour), self)
        dialog.colorSelected.connect(self._on_other)
        dialog.open()

    @Slot(QColor)
    def _on_other(self, colour: QColor) -> None:
        self.colour = colour.name()
        self.other.setIcon(_patch(self.colour))
        for button in self.swatches.values():
            button.setAutoExclusive(False)
            button.setChecked(False)
            button.setAutoExclusive(True)

    @Slot()
    def _on_purge(self) -> None:
        self.reject()
        self.purgeAsked.emit()

    @Slot(str)
    def _on_key(self, text: str) -> None:
        if not text:  # by the clear button
            self.shortcut.key = ""

    def accept(self) -> None:
        """Change the label; stay open with a sentence if it cannot be."""
        name = self.name.text().strip()
        others = {label.name.strip() for label in self._workspace.labels if label.id != self._label.id}
        if not name or name in others:
            self.problem.setText(
                _("A label of that name already exists.") if name else _("Give the label a name.")
            )
            self.problem.show()
            return
        key = self.shortcut.key
        labels_of_project = self._workspace.labels
        owner = self._preferences.keymap.owner(key, labels_of_project, label_id=self._label.id) if key else ""
        if owner:
            self.problem.setText(
                _("{key} is the key of {owner}: choose another.", key=shown_key(key), owner=owner)
            )
            self.problem.show()
            return
        synonyms = dict.fromkeys(filter(None, map(str.strip, self.synonyms.toPlainText().split("\n"))))
        changed = replace(
            self._label,
            name=name,
            description=self.description.toPlainText().strip(),
            synonyms=tuple(synonyms),
            colour=self.colour,
            shortcut=key,
        )
        labels = [changed if label.id == changed.id else label for label in self._workspace.labels]
        if self._edits.set_labels(labels):
            super().accept()


def _patch(colour: str) -> QIcon:
    picture = QPixmap(px(14), px(14))
    picture.fill(QColor(colour))
    return QIcon(picture)
