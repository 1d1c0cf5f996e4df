"""All keyboard shortcuts; those of single commands can be changed, and no key ever does two things."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.keymap import COMMANDS, SETTING, plain_key, shown_key
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel, problem_label
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XL, px, set_role

_MODIFIER_KEYS = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr)
_LEAVING = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Escape)


class KeyField(QLineEdit):
    """Takes the next key that is pressed as its value; Tab and Escape go on meaning what they mean."""

    def __init__(self, name: str, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText(_("Press a key"))
        self.setToolTip(_("Press the new key"))
        self.setMaximumWidth(px(110))
        self.key = ""
        self.set_key(key)

    def set_key(self, key: str) -> None:
        """Show ``key``."""
        self.key = key
        self.setText(shown_key(key))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the key."""
        if event.key() in _LEAVING:
            super().keyPressEvent(event)
        elif event.key() not in _MODIFIER_KEYS:
            self.set_key(plain_key(QKeySequence(event.keyCombination()).toString()))


class KeysDialog(QDialog):
    """What every key does. OK writes the changed ones to the settings file."""

    def __init__(self, workspace: Workspace, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._preferences = preferences
        keymap = preferences.keymap
        self.setWindowTitle(_("Keyboard shortcuts"))
        self.setAccessibleName(_("Keyboard shortcuts"))
        self.fields: dict[str, KeyField] = {}
        keys = keymap.keys()
        reviewing = _form()
        for command in COMMANDS:
            field = KeyField(command.words, keys[command.name])
            field.textChanged.connect(self._check)
            reviewing.addRow(command.words, field)
            self.fields[command.name] = field
        if keymap.digits(workspace.labels) is None:
            reviewing.addRow(_("The label of that rank"), _key("1 … 9"))
        for label_id, label_keys in keymap.all_label_keys(workspace.labels).items():
            name = next(label.name for label in workspace.labels if label.id == label_id)
            reviewing.addRow(_words(_("Label “{name}”", name=name)), _key(", ".join(label_keys)))
        menus = _form()
        for key, words in keymap.menu_keys.items():
            native = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
            menus.addRow(words, _key(native))
        page = QWidget()
        both = QHBoxLayout(page)
        both.setSpacing(px(SPACE_XL))
        both.addLayout(_titled(_("While reviewing"), reviewing))
        both.addLayout(_titled(_("Menus"), menus))
        scroll = QScrollArea(widgetResizable=True)
        scroll.setAccessibleName(_("All keyboard shortcuts"))
        scroll.setWidget(page)
        self.problem = problem_label()
        defaults = QPushButton(_("Reset to defaults"))
        defaults.clicked.connect(self._reset)
        self.buttons = ok_and_cancel(self)
        self.buttons.addButton(defaults, QDialogButtonBox.ButtonRole.ResetRole)
        layout = dialog_column(self)
        layout.addWidget(scroll, 1)
        layout.addWidget(self.problem)
        layout.addWidget(self.buttons)
        self.resize(px(760), px(560))

    @Slot()
    def _reset(self) -> None:
        for command in COMMANDS:
            self.fields[command.name].set_key(command.key)

    @Slot()
    def _check(self) -> None:
        """Refuse a key that means something else, and say who has it."""
        problem = self._problem()
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not problem)

    def _problem(self) -> str:
        seen: dict[str, str] = {}
        for command in COMMANDS:
            key = self.fields[command.name].key
            if not key:
                continue
            if key in seen:
                return _(
                    "{key} is already the key for “{command}”: choose another.",
                    key=shown_key(key),
                    command=seen[key],
                )
            seen[key] = command.words
            if owner := self._preferences.keymap.fixed_owner(key, self._workspace.labels):
                return _(
                    "{key} is already in use ({owner}): choose another.", key=shown_key(key), owner=owner
                )
        return ""

    def accept(self) -> None:
        """Keep the keys."""
        if self._problem():
            return
        keys = {name: field.key for name, field in self.fields.items()}
        self._preferences.change_setting(SETTING, self._preferences.keymap.changed(keys))
        super().accept()


def _form() -> QFormLayout:
    form = QFormLayout()
    form.setVerticalSpacing(px(SPACE_S))
    form.setHorizontalSpacing(px(SPACE_L))
    return form


def _titled(title: str, form: QFormLayout) -> QVBoxLayout:
    heading = QLabel(title)
    set_role(heading, "heading")
    column = QVBoxLayout()
    column.setSpacing(px(SPACE_M))
    column.addWidget(heading)
    column.addLayout(form)
    column.addStretch(1)
    return column


def _words(text: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(label.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, px(220)))
    label.setToolTip(text)
    return label


def _key(text: str) -> QLabel:
    label = _words(text)
    set_role(label, "muted")
    return label
