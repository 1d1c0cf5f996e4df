"""How the table of rows looks: the choices, for the menu of a row and for a button of their own."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from sce_desktop.controllers.preferences import Preferences
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import set_role

_HEIGHT_NAMES = {
    "compact": _("Compact rows"),
    "normal": _("Normal rows"),
    "comfortable": _("Comfortable, two lines"),
}


def view_button(header: QWidget, preferences: Preferences) -> QToolButton:
    """Return a small button for the end of the headings, which opens the choices."""
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
        add_view_actions(menu, preferences)
        menu.popup(button.mapToGlobal(QPoint(0, button.height())))

    button.clicked.connect(open_menu)
    return button


def add_view_actions(menu: QMenu, preferences: Preferences) -> None:
    """Add the choices to ``menu``; each changes a setting."""
    cells = QAction(
        _("Probabilities of all labels"),
        menu,
        checkable=True,
        checked=bool(preferences.settings["label_cells"]),
    )
    cells.toggled.connect(lambda on: preferences.change_setting("label_cells", on))
    menu.addAction(cells)
    menu.addSeparator()
    group = QActionGroup(menu)
    for height, name in _HEIGHT_NAMES.items():
        action = QAction(name, menu, checkable=True, checked=preferences.settings["row_height"] == height)
        action.triggered.connect(
            lambda _checked=False, height=height: preferences.change_setting("row_height", height)
        )
        group.addAction(action)
        menu.addAction(action)
