"""What the user chooses of how the table looks: lines of text in a row, cells of all labels, own widths."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from sce_desktop.controllers.preferences import Preferences
from sce_desktop.core.i18n import N_, _
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import set_role

WIDTHS = "column_widths"  # the setting
ROW_LINES = {
    "compact": N_("One line per row, compact"),
    "normal": N_("One line per row"),
    "comfortable": N_("Two lines per row"),
    "tall": N_("Four lines per row"),
}


def view_button(
    header: QWidget, preferences: Preferences, choose_columns: Callable[[], object]
) -> QToolButton:
    """Return a small button for the end of the headings, which opens the choices and asks for columns."""
    button = QToolButton(header)
    button.setAccessibleName(_("Table view"))
    button.setToolTip(_("Table view"))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    set_role(button, "quiet")
    set_icon(button, "more", "muted")
    button.setStyleSheet("QToolButton { padding: 0; min-height: 0; }")  # as high as the headings

    def open_menu() -> None:
        menu = QMenu(button)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(_("Columns…")).triggered.connect(choose_columns)
        add_table_looks(menu, preferences)
        menu.popup(button.mapToGlobal(QPoint(0, button.height())))

    button.clicked.connect(open_menu)
    return button


def add_table_looks(menu: QMenu, preferences: Preferences) -> None:
    """Add everything to the menu of the table."""
    settings = preferences.settings
    for key, name in (
        ("label_cells", _("Probabilities of all labels")),
        ("final_column", _("Final labels")),
    ):
        shown = QAction(name, menu, checkable=True, checked=bool(settings[key]))
        shown.toggled.connect(lambda on, key=key: preferences.change_setting(key, on))
        menu.addAction(shown)
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
