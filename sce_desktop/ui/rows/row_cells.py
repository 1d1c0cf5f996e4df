"""The cells of a row, foldable: the columns that the user chose, and all of them as they were read."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from sce_desktop.controllers.queries import column_title
from sce_desktop.controllers.rows_data import is_right_to_left
from sce_desktop.core.i18n import _
from sce_desktop.core.tables import Cell
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role

MOST_CHARACTERS = 1_000  # of one cell
MOST_CELLS = 200


class CellsFold(QWidget):
    """Names of columns and their cells under a heading that folds them."""

    def __init__(self, title: str, parent: QWidget | None = None, *, unfolded: bool = False) -> None:
        super().__init__(parent)
        self._columns: tuple[str, ...] = ()
        self._cells: tuple[Cell, ...] = ()
        self.button = QPushButton(title)
        self.button.setCheckable(True)
        self.button.setChecked(unfolded)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(self.button, "quiet")
        self.button.toggled.connect(self._show)
        self.copy = QToolButton()
        self.copy.setAccessibleName(_("Copy names and values"))
        self.copy.setToolTip(_("Copy names and values"))
        self.copy.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(self.copy, "quiet")
        set_icon(self.copy, "copy", "muted")
        self.copy.clicked.connect(self.copy_all)
        self.body = QWidget()
        self.form = QFormLayout(self.body)
        self.form.setContentsMargins(px(SPACE_S), 0, px(SPACE_S), 0)
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.addWidget(self.button)
        head.addStretch(1)
        head.addWidget(self.copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(head)
        layout.addWidget(self.body)
        self._show()

    def set_cells(self, columns: Sequence[str], cells: Sequence[Cell]) -> None:
        """Show these cells under these headers."""
        if (tuple(columns), tuple(cells)) != (self._columns, self._cells):
            self._columns, self._cells = tuple(columns), tuple(cells)
            if self.button.isChecked():
                self._show()

    @Slot()
    def copy_all(self) -> None:
        """Put the names and whole cells on the clipboard, a line each, with a tab between."""
        pairs = zip(self._columns, self._cells, strict=False)
        lines = ("\t".join((" ".join(name.split()), " ".join((cell or "").split()))) for name, cell in pairs)
        QGuiApplication.clipboard().setText("\n".join(lines))

    @Slot()
    def _show(self) -> None:
        unfolded = self.button.isChecked()
        set_icon(self.button, "down" if unfolded else "right", "muted")
        self.button.setAccessibleDescription(_("shown") if unfolded else _("hidden"))
        self.body.setVisible(unfolded)
        self.copy.setVisible(unfolded)
        while self.form.rowCount():
            self.form.removeRow(0)
        if not unfolded:
            return
        for place, cell in enumerate(self._cells[:MOST_CELLS]):
            name, value = QLabel(column_title(self._columns, place)), QLabel(_shown(cell), wordWrap=True)
            for label in (name, value):
                label.setTextFormat(Qt.TextFormat.PlainText)
            set_role(name, "muted")
            flags = Qt.TextInteractionFlag
            value.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
            value.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            value.setAccessibleName(name.text())
            if cell:  # in its own direction, whatever that of the window
                right = is_right_to_left(cell[:MOST_CHARACTERS])
                value.setLayoutDirection(
                    Qt.LayoutDirection.RightToLeft if right else Qt.LayoutDirection.LeftToRight
                )
            self.form.addRow(name, value)


class OriginalCells(CellsFold):
    """All columns, folded away until one looks at them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_("Original cells"), parent)


class RowDetails(CellsFold):
    """The columns that stand beside the text in the table; nothing where there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_("Details"), parent, unfolded=True)
        self.hide()

    def show_row(self, columns: Sequence[str], cells: Sequence[Cell], places: Sequence[int]) -> None:
        """Show the cells at some places of a row."""
        known = [place for place in places if place < min(len(columns), len(cells))]
        self.set_cells([column_title(columns, place) for place in known], [cells[place] for place in known])
        self.setVisible(bool(known))


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    shown = cell.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return shown if len(cell) <= MOST_CHARACTERS else shown[:MOST_CHARACTERS] + "…"
