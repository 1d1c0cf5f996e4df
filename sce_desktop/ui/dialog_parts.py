"""What dialogs have in common: how they open, their margins, buttons and lists, and how they say no."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QToolButton,
    QTreeView,
    QTreeWidget,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.ui.fields import keep_still
from sce_desktop.ui.icons import set_icon
from sce_desktop.ui.theme import SPACE_L, SPACE_M, px, set_role

AnyDialog = TypeVar("AnyDialog", bound=QDialog)


def open_dialog(dialog: AnyDialog) -> AnyDialog:
    """Show ``dialog`` without a nested event loop; it is deleted when it closes."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if isinstance(dialog, QFileDialog):
        keep_still(dialog)
        _dress_file_dialog(dialog)
    dialog.open()
    return dialog


_FILE_ICONS = {
    "backButton": "left",
    "forwardButton": "right",
    "toParentButton": "up",
    "newFolderButton": "add",
    "listModeButton": "sort",
    "detailModeButton": "table",
}


def _dress_file_dialog(dialog: QFileDialog) -> None:
    """Make Qt's own file dialog readable: in our style its icons are tiny and dark, its columns narrow."""
    for button in dialog.findChildren(QToolButton):
        if name := _FILE_ICONS.get(button.objectName()):
            set_icon(button, name)
    for tree in dialog.findChildren(QTreeView):
        header = tree.header()
        header.setStretchLastSection(False)
        for column in range(header.count()):
            mode = QHeaderView.ResizeMode
            header.setSectionResizeMode(column, mode.ResizeToContents if column else mode.Stretch)
        dialog.resize(max(dialog.width(), px(760)), max(dialog.height(), px(460)))


def ask_folder(parent: QWidget, title: str, chosen: Callable[[str], object], *, at: str = "") -> None:
    """Let the user choose a folder, beginning ``at`` one, and call ``chosen`` with it."""
    dialog = QFileDialog(parent, title, at)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
    dialog.fileSelected.connect(chosen)
    open_dialog(dialog)


def dialog_column(dialog: QDialog) -> QVBoxLayout:
    """Return the layout of ``dialog``, from top to bottom."""
    layout, margin = QVBoxLayout(dialog), px(SPACE_L)
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(px(SPACE_M))
    return layout


def ok_and_cancel(dialog: QDialog) -> QDialogButtonBox:
    """Return the buttons of ``dialog``, connected to its accept and reject; OK is the filled one."""
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
    ok = buttons.button(QDialogButtonBox.StandardButton.Ok)
    ok.setAccessibleName("OK")
    set_role(ok, "primary")
    buttons.button(QDialogButtonBox.StandardButton.Cancel).setAccessibleName("Cancel")
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def problem_label() -> QLabel:
    """Return a label, hidden as yet, for the sentence that says why OK cannot be."""
    label = QLabel(wordWrap=True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAccessibleName("Problem")
    set_role(label, "warn")
    label.hide()
    return label


def indent_number(field: QAbstractSpinBox) -> None:
    """Give a field for numbers the room before its text that other fields have."""
    if (inner := field.findChild(QLineEdit)) is not None:
        inner.setTextMargins(px(6), 0, 0, 0)  # a style sheet's padding does not reach it


def flat_list(name: str, headings: Sequence[str]) -> QTreeWidget:
    """Return a list with columns; ``name`` is what a screen reader calls it."""
    tree = QTreeWidget(columnCount=len(headings))
    tree.setAccessibleName(name)
    tree.setHeaderLabels(headings)
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    return tree
