"""The head of the row panel: which row it is, how long its text is, and the way to its neighbours."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QToolButton

from sce_desktop.controllers.keymap import shown_key
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.core.annotations import Row
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.still_label import StillLabel
from sce_desktop.ui.kit.theme import px, set_role
from sce_desktop.ui.rows.row_text import length_of

MOST_COUNTED = 1000  # duplicates; counting more of them would take longer than showing a row may


class RowHead(QHBoxLayout):
    """One line."""

    def __init__(self, navigation: Navigation) -> None:
        super().__init__()
        self._navigation = navigation
        self.title = StillLabel(grows=True)
        self.title.setAccessibleName(_("Row number"))
        set_role(self.title, "heading")
        self.facts = StillLabel()
        self.facts.setAccessibleName(_("Length and duplicates"))
        self.facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        set_role(self.facts, "muted")
        self.previous = self._arrow("up", -1)
        self.next = self._arrow("down", 1)
        self.setSpacing(px(2))
        self.addWidget(self.title)
        self.addWidget(self.facts, 1)
        self.addWidget(self.previous)
        self.addWidget(self.next)

    def _arrow(self, icon: str, rows: int) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(_("Next row") if rows > 0 else _("Previous row"))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(button, "quiet")
        set_icon(button, icon, "muted")
        button.clicked.connect(lambda _checked=False: self._navigation.stepAsked.emit(rows))
        return button

    def show_keys(self, keys: Mapping[str, str]) -> None:
        """Name the keys, by command, in the tips of the arrows."""
        for arrow, name in ((self.previous, "previous"), (self.next, "next")):
            arrow.setToolTip(f"{arrow.accessibleName()} ({shown_key(keys[name])})")

    def show_row(self, row: Row, same: int) -> None:
        """Show the number of a row, and that ``same`` rows have its text; above `MOST_COUNTED`: or more."""
        self.title.setText(_("Row {number}", number=number(row.position + 1)))
        facts = [length_of(row.text)] if not row.blank else []
        if same:
            facts.append(
                ngettext("{count} duplicate", "{count} duplicates", same)
                if same <= MOST_COUNTED
                else ngettext("over {count} duplicate", "over {count} duplicates", MOST_COUNTED)
            )
        self.facts.setText(" · ".join(facts))
