"""The settings, one line for each that `sce_desktop.settings` declares."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpacerItem,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.errors import UserError
from sce_desktop.settings import SETTINGS, Setting, Settings, Value
from sce_desktop.ui.dialog_buttons import ok_and_cancel
from sce_desktop.ui.theme import SPACE_L, SPACE_S, px, set_role

_LARGEST_INT = 2**31 - 1  # of a QSpinBox


def _number_field(setting: Setting, value: Value) -> QSpinBox | QDoubleSpinBox:
    if setting.type is float:
        decimal = QDoubleSpinBox(decimals=2, singleStep=0.05)
        decimal.setRange(
            setting.least if setting.least is not None else -1e9,
            setting.most if setting.most is not None else 1e9,
        )
        decimal.setValue(float(value))
        return decimal
    whole = QSpinBox()
    whole.setRange(
        int(setting.least) if setting.least is not None else -_LARGEST_INT,
        int(setting.most) if setting.most is not None else _LARGEST_INT,
    )
    whole.setValue(int(value))
    return whole


class SettingField(QWidget):
    """Edits one setting by the widget that fits its type."""

    def __init__(self, setting: Setting, value: Value, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self.editor: QCheckBox | QComboBox | QSpinBox | QDoubleSpinBox | QLineEdit
        if setting.type is bool:
            self.editor = QCheckBox(setting.label)
            self.editor.setChecked(bool(value))
        elif setting.choices:
            self.editor = QComboBox()
            self.editor.addItems(list(setting.choices))
            self.editor.setCurrentText(str(value))
        elif setting.type in (int, float):
            self.editor = _number_field(setting, value)
            inner = self.editor.findChild(QLineEdit)
            if inner is not None:  # a style sheet's padding does not reach it
                inner.setTextMargins(px(6), 0, 0, 0)
        else:
            self.editor = QLineEdit(str(value))
        self.editor.setAccessibleName(setting.label)
        self.editor.setAccessibleDescription(setting.help)
        self.editor.setToolTip(setting.help)
        layout.addWidget(self.editor, 1)
        if setting.key.endswith("_folder"):
            choose = QPushButton("Choose…")
            choose.setAccessibleName(f"Choose: {setting.label}")
            choose.clicked.connect(self._choose_folder)
            layout.addWidget(choose)

    @property
    def value(self) -> Value:
        """What is entered now."""
        if isinstance(self.editor, QCheckBox):
            return self.editor.isChecked()
        if isinstance(self.editor, QComboBox):
            return self.editor.currentText()
        if isinstance(self.editor, QLineEdit):
            return self.editor.text().strip()
        return self.editor.value()

    @Slot()
    def _choose_folder(self) -> None:
        assert isinstance(self.editor, QLineEdit)
        dialog = QFileDialog(self, self.setting.label, self.editor.text())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.editor.setText)
        dialog.open()


class SettingsDialog(QDialog):
    """All settings; OK writes the file and emits ``changed`` with the keys that have other values now."""

    changed = Signal(object)  # set of keys

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.setWindowTitle("Settings")
        self.setAccessibleName("Settings")
        self.fields = {setting.key: SettingField(setting, settings[setting.key]) for setting in SETTINGS}
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setVerticalSpacing(px(2))
        form.setHorizontalSpacing(px(SPACE_L))
        for field in self.fields.values():
            name = "" if field.setting.type is bool else field.setting.label
            label = QLabel(name)
            label.setBuddy(field.editor)
            form.addRow(label, field)
            hint = QLabel(field.setting.help, wordWrap=True)
            hint.setAlignment(Qt.AlignmentFlag.AlignTop)
            set_role(hint, "muted")
            form.addRow("", hint)
            form.addItem(_gap())
        page = QWidget()
        page.setLayout(form)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setAccessibleName("All settings")
        scroll.setWidget(page)
        self.problem = QLabel(wordWrap=True)
        self.problem.setAccessibleName("Problem")
        set_role(self.problem, "warn")
        self.problem.hide()
        layout = QVBoxLayout(self)
        margin = px(SPACE_L)
        layout.setContentsMargins(margin, margin, margin, margin)
        layout.addWidget(scroll, 1)
        layout.addWidget(self.problem)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(560), px(600))

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


def _gap() -> QSpacerItem:
    return QSpacerItem(0, px(SPACE_S))
