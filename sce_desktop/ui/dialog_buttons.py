"""The OK and Cancel at the foot of a dialog, the same everywhere."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox

from sce_desktop.ui.theme import set_role


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
