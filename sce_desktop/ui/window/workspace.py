"""The three zones of an open project: labels, rows, row."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.i18n import N_, _
from sce_desktop.ui.kit.parts import Parts
from sce_desktop.ui.kit.theme import px, set_role


class Workspace(QSplitter):
    """Labels, rows and the current row, in the direction of the language."""

    def __init__(self, controllers: Controllers, parts: Parts, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setAccessibleName(_("Workspace"))
        self.setChildrenCollapsible(False)
        self.labels = parts.labels_panel(controllers)
        self.rows = parts.rows_view(controllers)
        self.filters = parts.filter_bar(controllers)
        self.row = parts.row_panel(controllers)
        self.sides = {
            N_("Labels"): self.labels,
            N_("Row"): self.row,
        }  # translated where they are shown
        centre = QWidget()
        centre.setAccessibleName(_("Rows"))
        set_role(centre, "pane")
        centre.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.filters)
        layout.addWidget(self.rows, 1)
        for place, panel in enumerate((self.labels, centre, self.row)):
            self.addWidget(panel)
            self.setStretchFactor(place, 1 if panel is centre else 0)
            panel.setMinimumWidth(px(180))
        self.setSizes([px(224), px(780), px(276)])
