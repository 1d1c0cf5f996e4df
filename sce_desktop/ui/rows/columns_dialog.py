"""Which columns of the user's table stand beside the text."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.own_columns import MOST_SHOWN, OwnColumn
from sce_desktop.controllers.queries import column_title
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.ui.kit.checked_list import CheckedList
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel
from sce_desktop.ui.kit.plain_label import plain_label
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import px


class ColumnsDialog(ProjectDialog):
    """OK shows what is checked: columns shown before keep their order and width, others follow."""

    def __init__(self, workspace: Workspace, navigation: Navigation, parent: QWidget | None = None) -> None:
        super().__init__(workspace, _("Columns beside the text"), parent)
        self._navigation = navigation
        self.columns = CheckedList("column")
        self.columns.list.setColumnHidden(1, True)
        self.note = plain_label(_("Hint"), "muted", _("Drag the headings in the table to change the order."))
        layout = dialog_column(self)
        layout.addWidget(self.columns)
        layout.addWidget(self.note)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(360), px(480))
        project = workspace.project
        names = project.columns if project is not None else ()
        texts = project.text_columns if project is not None else ()
        shown = {column.place for column in navigation.own_columns}
        for place in range(len(names)):
            if place in shown or texts != (place,):  # the text itself stands there already
                self.columns.add(column_title(names, place), None, place, checked=place in shown)

    def accept(self) -> None:
        """Show the columns; more than fit are refused in a sentence."""
        chosen: list[int] = self.columns.checked
        if len(chosen) > MOST_SHOWN:
            self.note.setText(
                ngettext(
                    "At most {count} column can be shown.",
                    "At most {count} columns can be shown.",
                    MOST_SHOWN,
                )
            )
            return
        kept = [column for column in self._navigation.own_columns if column.place in chosen]
        before = {column.place for column in kept}
        super().accept()
        self._navigation.show_columns([*kept, *(OwnColumn(p) for p in chosen if p not in before)])
