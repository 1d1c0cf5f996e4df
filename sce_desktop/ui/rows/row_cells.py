"""The original cells of a row, folded away until one looks at them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFormLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.core.tables import Cell
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role

MOST_CHARACTERS = 1_000  # of one cell
MOST_CELLS = 200


class OriginalCells(QWidget):
    """Column and cell, as they were read."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns: tuple[str, ...] = ()
        self._cells: tuple[Cell, ...] = ()
        self.button = QPushButton(_("Original cells"))
        self.button.setCheckable(True)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(self.button, "quiet")
        self.button.toggled.connect(self._show)
        self.body = QWidget()
        self.form = QFormLayout(self.body)
        self.form.setContentsMargins(px(SPACE_S), 0, px(SPACE_S), 0)
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.body)
        self._show()

    def set_cells(self, columns: Sequence[str], cells: Sequence[Cell]) -> None:
        """Show these cells under these headers."""
        self._columns, self._cells = tuple(columns), tuple(cells)
        if self.button.isChecked():
            self._show()

    @Slot()
    def _show(self) -> None:
        unfolded = self.button.isChecked()
        set_icon(self.button, "down" if unfolded else "right", "muted")
        self.button.setAccessibleDescription(_("shown") if unfolded else _("hidden"))
        self.body.setVisible(unfolded)
        while self.form.rowCount():
            self.form.removeRow(0)
        if not unfolded:
            return
        for column, cell in list(zip(self._columns, self._cells, strict=False))[:MOST_CELLS]:
            name, value = QLabel(column), QLabel(_shown(cell), wordWrap=True)
            for label in (name, value):
                label.setTextFormat(Qt.TextFormat.PlainText)
            set_role(name, "muted")
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAccessibleName(column)
            self.form.addRow(name, value)


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    return cell if len(cell) <= MOST_CHARACTERS else cell[:MOST_CHARACTERS] + "…"
