"""What dialogs have in common: how they open, their margins, buttons and lists, and how they refuse."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QToolButton,
    QTreeView,
    QTreeWidget,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.i18n import N_, _
from sce_desktop.ui.kit.fields import keep_still
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.small_screens import FRAME, room_for, scroll_in_dialog
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, px, set_role

AnyDialog = TypeVar("AnyDialog", bound=QDialog)
Replaced = Literal["file", "model folder"]
_REPLACING: dict[Replaced, tuple[str, str]] = {  # the title of the question, and what it means
    "file": (_("Replace a file"), N_("The file in {folder} will be lost.")),
    "model folder": (_("Replace a model folder"), N_("The model folder in {folder} will be lost.")),
}

_LOWEST, _NARROWEST = 620, 980  # that a dialog may be, however small the window is
GUIDE_ACTION = "guide"  # object name of the action that shows the guide


def keep_on_screen(dialog: QDialog) -> None:
    """Keep a dialog within its window and the screen: the buttons are at its foot."""
    parent = dialog.parentWidget()
    if parent is None:
        return
    if not isinstance(dialog, QFileDialog | QMessageBox):
        scroll_in_dialog(dialog)
    room, frame = room_for(dialog), px(FRAME)
    most = max(parent.window().height() - frame, px(_LOWEST)), max(parent.window().width(), px(_NARROWEST))
    height, width = min(most[0], room.height()), min(most[1], room.width())
    if dialog.height() > height or dialog.width() > width:
        dialog.resize(min(dialog.width(), width), min(dialog.height(), height))


def make_room(dialog: QDialog) -> None:
    """Make a dialog as high as what it shows by now takes, within its window; never lower.

    Qt does so as long as no text has several lines.
    """
    layout = dialog.layout()
    if layout is not None:
        width = dialog.width()
        needed = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else 0
        dialog.resize(width, max(dialog.height(), needed, dialog.sizeHint().height()))
    keep_on_screen(dialog)


def open_dialog(dialog: AnyDialog) -> AnyDialog:
    """Show ``dialog`` without a nested event loop; it is deleted when it closes."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    keep_on_screen(dialog)
    if isinstance(dialog, QFileDialog):
        keep_still(dialog)
        _dress_file_dialog(dialog)
    else:
        QShortcut(QKeySequence("F1"), dialog).activated.connect(lambda: _show_guide(dialog))
    dialog.open()
    return dialog


def _show_guide(dialog: QWidget) -> None:
    """Do what F1 does in the window below, whose menus a dialog keeps from hearing keys."""
    below = dialog.parentWidget()
    while below is not None:
        if action := below.window().findChild(QAction, GUIDE_ACTION):
            action.trigger()
            return
        below = below.parentWidget()


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


def ask_save(
    parent: QWidget,
    title: str,
    filters: str,
    chosen: Callable[[Path, bool], object],
    *,
    at: str = "",
    suffix: str,
) -> QFileDialog:
    """Let the user choose a file to write, and call ``chosen`` with it and whether it may be replaced.

    We ask that ourselves, about the very file: some systems ask before the ``suffix`` is added to what was
    typed, and replace a file that they were not asked about.
    """
    dialog = QFileDialog(parent, title, at, filters)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
    dialog.setDefaultSuffix(suffix)
    dialog.fileSelected.connect(lambda name: ask_replace(parent, Path(name), chosen))
    return open_dialog(dialog)


def ask_replace(
    parent: QWidget, path: Path, chosen: Callable[[Path, bool], object], *, what: Replaced = "file"
) -> QMessageBox | None:
    """Call ``chosen`` with ``path`` and whether it may be replaced, after asking where something is there."""
    if not os.path.lexists(path):
        chosen(path, False)
        return None
    box = QMessageBox(parent)
    title, meaning = _REPLACING[what]
    box.setWindowTitle(title)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(_("“{name}” already exists. Replace it?", name=path.name))
    box.setInformativeText(_(meaning, folder=path.parent))
    box.setStandardButtons(QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.Cancel)
    box.button(QMessageBox.StandardButton.Yes).setText(_("Replace"))
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.accepted.connect(lambda: chosen(path, True))
    return open_dialog(box)


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
    ok.setAccessibleName(_("OK"))
    set_role(ok, "primary")
    buttons.button(QDialogButtonBox.StandardButton.Cancel).setAccessibleName(_("Cancel"))
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def primary_and_cancel(dialog: QDialog, primary: QPushButton) -> QDialogButtonBox:
    """Return Cancel and ``primary``, which does what ``dialog`` is for, connected to reject and accept."""
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    buttons.button(QDialogButtonBox.StandardButton.Cancel).setAccessibleName(_("Cancel"))
    set_role(primary, "primary")
    buttons.addButton(primary, QDialogButtonBox.ButtonRole.AcceptRole)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def problem_label() -> QLabel:
    """Return a label, hidden as yet, for the sentence that says why OK cannot be."""
    label = QLabel(wordWrap=True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAccessibleName(_("Validation message"))
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
    for column, heading in enumerate(headings):
        tree.headerItem().setToolTip(column, heading)  # where the column is narrow
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    return tree
