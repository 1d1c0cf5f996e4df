"""What the user chooses of how the table looks: lines of text in a row, cells of all labels, own widths."""

from __future__ import annotations

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from sce_desktop.controllers.preferences import Preferences
from sce_desktop.core.i18n import N_, _

WIDTHS = "column_widths"  # the setting
ROW_LINES = {
    "compact": N_("One line per row, compact"),
    "normal": N_("One line per row"),
    "comfortable": N_("Two lines per row"),
    "tall": N_("Four lines per row"),
}


def add_table_looks(menu: QMenu, preferences: Preferences) -> None:
    """Add everything to the menu of the table."""
    settings = preferences.settings
    cells = QAction(
        _("Probabilities of all labels"), menu, checkable=True, checked=bool(settings["label_cells"])
    )
    cells.toggled.connect(lambda on: preferences.change_setting("label_cells", on))
    menu.addAction(cells)
    automatic = QAction(_("Automatic column widths"), menu, enabled=bool(settings[WIDTHS]))
    automatic.triggered.connect(lambda: preferences.change_setting(WIDTHS, ""))
    menu.addAction(automatic)
    menu.addSeparator()
    group = QActionGroup(menu)
    for height, words in ROW_LINES.items():
        action = QAction(_(words), menu, checkable=True, checked=settings["row_height"] == height)
        action.triggered.connect(
            lambda _checked=False, height=height: preferences.change_setting("row_height", height)
        )
        group.addAction(action)
        menu.addAction(action)
