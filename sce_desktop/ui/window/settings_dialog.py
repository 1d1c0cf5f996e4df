"""The settings: a field for each that `sce_desktop.settings` declares, in groups."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.model_store import ModelStore
from sce_desktop.core.choices import DEVICES, DIGIT_KEYS, PRECISION_NAMES
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import LANGUAGES, PSEUDO, _
from sce_desktop.settings import SETTINGS, Setting, Settings, Value
from sce_desktop.ui.kit.dialog_parts import (
    ask_folder,
    dialog_column,
    indent_number,
    ok_and_cancel,
    problem_label,
)
from sce_desktop.ui.kit.fields import ComboBox, DoubleSpinBox, SpinBox
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XL, px, set_role
from sce_desktop.ui.window.model_chooser import CHOOSERS, ModelChooser

_GROUPS = (
    (
        _("Scoring"),
        (
            "model",
            "baseline",
            "device",
            "precision",
            "threads",
            "on_battery",
            "slow_in_background",
            "auto_finetune",
        ),
    ),
    (_("Files"), ("projects_folder", "excel_safe", "cache_megabytes", "offline")),
    (
        _("Window"),
        (
            "language",
            "theme",
            "density",
            "reduced_motion",
            "row_height",
            "label_cells",
            "final_column",
            "row_labels",
            "digit_keys",
            "repeat_rows",
            "blind",
            "notify",
        ),
    ),
)
_OTHERS = _("More")
_AT_LEAST = {
    "threads": _("All but one"),
    "auto_finetune": _("Never"),
}  # what the least value means, in words
_CHOICES: dict[str, dict[str, str]] = {
    "on_battery": {"slow": _("Slower"), "pause": _("Pause"), "full": _("Full speed")},
    "device": {value: _(name) for value, name in DEVICES.items()},
    "digit_keys": {value: _(name) for value, name in DIGIT_KEYS.items()},
    "precision": {value: _(name) for value, name in PRECISION_NAMES.items()},
    "language": {"": _("System language"), **LANGUAGES, PSEUDO: PSEUDO},  # each in its own words
    "theme": {"system": _("System"), "light": _("Light"), "dark": _("Dark"), "contrast": _("High contrast")},
    "density": {"comfortable": _("Comfortable"), "compact": _("Compact")},
    "row_height": {
        "compact": _("One line, compact"),
        "normal": _("One line"),
        "comfortable": _("Two lines"),
        "tall": _("Four lines"),
    },
    "row_labels": {"rank": _("By probability"), "list": _("In list order")},
}  # what values are called
_UNITS = {"cache_megabytes": _("{number} MB"), "auto_finetune": _("{number} rows")}
_EDITOR_WIDTH = 250
_LARGEST_INT = 2**31 - 1  # of a QSpinBox


def grouped() -> list[tuple[str, list[Setting]]]:
    """Return all settings under their headings; one that no group names comes last."""
    by_key = {setting.key: setting for setting in SETTINGS if setting.shown}
    groups = [(title, [by_key.pop(key) for key in keys if key in by_key]) for title, keys in _GROUPS]
    return [(title, settings) for title, settings in (*groups, (_OTHERS, [*by_key.values()])) if settings]


def _number_field(setting: Setting, value: Value) -> QSpinBox | QDoubleSpinBox:
    if setting.type is float:
        decimal = DoubleSpinBox(decimals=2, singleStep=0.05)
        decimal.setRange(
            setting.least if setting.least is not None else -1e9,
            setting.most if setting.most is not None else 1e9,
        )
        decimal.setSpecialValueText(_AT_LEAST.get(setting.key, ""))
        decimal.setValue(float(value))
        return decimal
    whole = SpinBox()
    whole.setRange(
        int(setting.least) if setting.least is not None else -_LARGEST_INT,
        int(setting.most) if setting.most is not None else _LARGEST_INT,
    )
    whole.setSpecialValueText(_AT_LEAST.get(setting.key, ""))
    before, _number, behind = _UNITS.get(setting.key, "{number}").partition("{number}")
    whole.setPrefix(before)
    whole.setSuffix(behind)
    whole.setValue(int(value))
    return whole


class SettingField(QWidget):
    """Edits one setting by the widget that fits its type."""

    def __init__(self, setting: Setting, value: Value, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        name, hint = _(setting.label), _(setting.help)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self.editor: QCheckBox | QComboBox | QSpinBox | QDoubleSpinBox | QLineEdit
        if setting.type is bool:
            self.editor = QCheckBox(name)
            self.editor.setChecked(bool(value))
        elif setting.choices:
            self.editor = ComboBox()
            for choice in setting.choices:
                if choice == PSEUDO and choice != value:
                    continue  # for tests alone
                self.editor.addItem(_CHOICES[setting.key][choice], choice)
            self.editor.setCurrentIndex(self.editor.findData(str(value)))
        elif setting.key in CHOOSERS:
            self.editor = ModelChooser(CHOOSERS[setting.key], str(value))
        elif setting.type in (int, float):
            self.editor = _number_field(setting, value)
            indent_number(self.editor)
        else:
            self.editor = QLineEdit(str(value))
        self.editor.setAccessibleName(name)
        self.editor.setAccessibleDescription(hint)
        self.editor.setToolTip(hint)
        layout.addWidget(self.editor, 1)
        if setting.key.endswith("_folder"):
            choose = QPushButton(_("Choose…"))
            choose.setAccessibleName(_("Choose {setting}", setting=name))
            choose.clicked.connect(self._choose_folder)
            layout.addWidget(choose)

    @property
    def value(self) -> Value:
        """What is entered now."""
        if isinstance(self.editor, QCheckBox):
            return self.editor.isChecked()
        if isinstance(self.editor, QComboBox):
            return str(self.editor.currentData())
        if isinstance(self.editor, QLineEdit):
            return self.editor.text().strip()
        return self.editor.value()

    @Slot()
    def _choose_folder(self) -> None:
        assert isinstance(self.editor, QLineEdit)
        ask_folder(self, _(self.setting.label), self.editor.setText, at=self.editor.text())


class SettingsDialog(QDialog):
    """All settings; OK writes the file and emits ``changed`` with the keys that have other values now."""

    changed = Signal(object)  # set of keys

    def __init__(
        self, settings: Settings, parent: QWidget | None = None, *, models: ModelStore | None = None
    ) -> None:
        """``models``: to choose from; without them only the present ones can be chosen."""
        super().__init__(parent)
        self._settings = settings
        self._models = models
        self.setWindowTitle(_("Settings"))
        self.setAccessibleName(_("Settings"))
        self.fields = {
            setting.key: SettingField(setting, settings[setting.key]) for setting in SETTINGS if setting.shown
        }
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(
            px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S)
        )  # the frame of the focus
        column.setSpacing(px(SPACE_M))
        for place, (title, settings_of_group) in enumerate(grouped()):
            heading = QLabel(title)
            set_role(heading, "heading")
            if place:
                column.addSpacing(px(SPACE_S))
            column.addWidget(heading)
            for setting in settings_of_group:
                column.addWidget(_line(self.fields[setting.key]))
        column.addStretch()
        scroll = QScrollArea(widgetResizable=True)
        scroll.setAccessibleName(_("All settings"))
        scroll.setWidget(page)
        self.problem = problem_label()
        layout = dialog_column(self)
        layout.addWidget(scroll, 1)
        layout.addWidget(self.problem)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(620), px(620))
        if models is not None:
            models.changed.connect(self._show_models)
            self._show_models()
            models.refresh()

    @Slot()
    def _show_models(self) -> None:
        """Offer the installed models."""
        assert self._models is not None
        usable = [(entry.name, entry.kind) for entry in self._models.installed if not entry.problem]
        for field in self.fields.values():
            if isinstance(field.editor, ModelChooser):
                field.editor.show_models(usable)

    def accept(self) -> None:
        """Take the values, write the file and close; stay open with a sentence if that fails."""
        changed = {key for key, field in self.fields.items() if field.value != self._settings[key]}
        before = {key: self._settings[key] for key in changed}
        try:
            for key in changed:
                self._settings[key] = self.fields[key].value
            self._settings.save()
        except UserError as error:
            for key, value in before.items():
                self._settings[key] = value
            self.problem.setText(str(error))
            self.problem.show()
            return
        super().accept()
        if changed:
            self.changed.emit(changed)


def _line(field: SettingField) -> QWidget:
    """What a setting is called and means, and its field beside it."""
    setting = field.setting
    line, words = QWidget(), QVBoxLayout()
    words.setSpacing(0)
    if setting.type is bool:
        words.addWidget(field)
    else:
        name = QLabel(_(setting.label))
        name.setBuddy(field.editor)
        words.addWidget(name)
    hint = QLabel(_(setting.help), wordWrap=True)
    if setting.type is bool:
        hint.setIndent(px(22))  # under the words of its box
    set_role(hint, "muted")
    words.addWidget(hint)
    both = QHBoxLayout(line)
    both.setContentsMargins(0, 0, 0, 0)
    both.setSpacing(px(SPACE_XL))
    both.addLayout(words, 1)
    if setting.type is not bool:
        field.setFixedWidth(px(_EDITOR_WIDTH))
        both.addWidget(field, 0, Qt.AlignmentFlag.AlignTop)
    line.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return line
