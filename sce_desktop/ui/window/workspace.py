"""The zones of an open project: labels and rows here, and the row, which the window puts beside them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.i18n import N_, _
from sce_desktop.ui.kit.parts import Parts
from sce_desktop.ui.kit.theme import px, set_role

_LABELS_WIDTH, _ROWS_WIDTH, _LEAST_WIDTH = 206, 752, 206


class Workspace(QSplitter):
    """Labels and rows, in the direction of the language; ``row`` is the panel of the current row."""

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
        for panel, stretch in ((self.labels, 1), (centre, 4)):
            self.addWidget(panel)
            self.setStretchFactor(self.indexOf(panel), stretch)
            panel.setMinimumWidth(px(_LEAST_WIDTH))
        self.setSizes([px(_LABELS_WIDTH), px(_ROWS_WIDTH)])
