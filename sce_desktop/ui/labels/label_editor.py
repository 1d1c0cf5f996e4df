"""Everything about one label: name, what it means, other words for it, colour."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Slot
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import (
    QAbstractButton,
    QColorDialog,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
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

    def __init__(
        self,
        workspace: Workspace,
        edits: Edits,
        preferences: Preferences,
        label: Label,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, f"Label “{isolated(label.name)}”", parent)
        self._preferences = preferences
        self._edits = edits
        self._label = label
        self.colour = label.colour
        self.name = QLineEdit(label.name)
        self.description = QPlainTextEdit(label.description)
        self.description.setPlaceholderText("What a text of this label says, in a sentence")
        self.synonyms = QPlainTextEdit("\n".join(label.synonyms))
        self.synonyms.setPlaceholderText("Other words for it, one a line")
        self.shortcut = KeyField("Key", plain_key(label.shortcut))
        self.shortcut.setClearButtonEnabled(True)
        for button in self.shortcut.findChildren(QAbstractButton):
            button.setAccessibleName("No key of its own")
        self.shortcut.textChanged.connect(self._on_key)
        for field, words in (
            (self.name, "Name"),
            (self.description, "Description"),
            (self.synonyms, "Synonyms"),
        ):
            field.setAccessibleName(words)
            if isinstance(field, QPlainTextEdit):
                field.setTabChangesFocus(True)
                field.setFixedHeight(px(68))
        hint = QLabel("The model reads all of it: words that say what is meant make it surer.", wordWrap=True)
        set_role(hint, "muted")
        self.touches = QLabel("Counting…", wordWrap=True)
        self.touches.setAccessibleName("What another name touches")
        set_role(self.touches, "muted")
        self.problem = problem_label()
        form = QFormLayout()
        form.setVerticalSpacing(px(SPACE_M))
        form.addRow("Name", self.name)
        form.addRow("", self.touches)
        form.addRow("Description", self.description)
        form.addRow("Synonyms", self.synonyms)
        form.addRow("", hint)
        form.addRow("Colour", self._swatches())
        form.addRow("Key", self._key_row())
        layout = dialog_column(self)
        layout.addLayout(form)
        layout.addWidget(self.problem)
        layout.addWidget(ok_and_cancel(self))
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
        self.digit = QLabel(f"and {digits[self._label.id]}" if self._label.id in digits else "")
        self.digit.setAccessibleName("Fixed digit")
        self.digit.setToolTip("The digit that this label keeps, by its place in the list")
        set_role(self.digit, "muted")
        layout.addWidget(self.digit, 1)
        return row

    @Slot(object)
    def _show_touched(self, effect: LabelEffect | None) -> None:
        self.touches.setText(of_rename(effect) if effect is not None else "")

    def _swatches(self) -> QWidget:
        box = QWidget()
        box.setAccessibleName("Colour")
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
            button.setAccessibleName(f"Colour {place + 1}, {colour}")
            button.setToolTip(colour)
            button.clicked.connect(lambda _=False, colour=colour: self._take(colour))
            grid.addWidget(button, place // _IN_ROW, place % _IN_ROW)
            self.swatches[colour] = button
        self.other = QToolButton()
        self.other.setText("Other…")
        self.other.setAccessibleName("Another colour")
        self.other.clicked.connect(self._choose)
        grid.addWidget(self.other, 0, _IN_ROW, 2, 1)
        return box

    def _take(self, colour: str) -> None:
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
                "Give the label a name." if not name else "There is a label of that name already."
            )
            self.problem.show()
            return
        key = self.shortcut.key
        labels_of_project = self._workspace.labels
        owner = self._preferences.keymap.owner(key, labels_of_project, label_id=self._label.id) if key else ""
        if owner:
            self.problem.setText(f"{shown_key(key)} is the key of {owner}: choose another.")
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
