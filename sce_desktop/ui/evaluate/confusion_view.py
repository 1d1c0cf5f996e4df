"""The confusion matrix: a table of all pairs for few labels, a list of the most frequent for many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.i18n import _, ngettext, number, right_to_left
from sce_desktop.tasks.tables.pasting import Cell, as_tsv
from sce_desktop.ui.evaluate.evaluate_words import digits, whose
from sce_desktop.ui.kit.figures_table import ROW_HEIGHT, FiguresTable, Heading, Kind
from sce_desktop.ui.kit.painting import elided_name, name_on_two_lines
from sce_desktop.ui.kit.theme import font, px, set_role, tokens

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.quality import Part

MOST_SQUARE = 12  # labels of which every pair is shown
STRONGEST = 0.5  # of the accent colour behind a number: more would take the number's contrast
_LEAST, _MOST, _NAMES, _AROUND = 72, 120, 170, 18
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class _Square(QAbstractTableModel):
    """Rows by label and by prediction; the stronger the colour, the more of the label's rows."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.whose = ""  # labels are the truth
        self.counts = np.zeros((0, 0), dtype=np.int64)
        self.cell = px(_LEAST)  # the width of a column

    def show(self, names: tuple[str, ...], counts: np.ndarray, whose: str) -> None:
        self.beginResetModel()
        self.names, self.counts, self.whose = names, counts, whose
        self.endResetModel()

    def set_cell(self, width: int) -> None:
        if width != self.cell:
            self.cell = width
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, max(0, len(self.names) - 1))

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.names)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.names)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        across = orientation is Qt.Orientation.Horizontal
        if role == Qt.ItemDataRole.DisplayRole:
            fitting = name_on_two_lines if across else elided_name
            width = (self.cell if across else px(_NAMES)) - px(_AROUND)
            return fitting(QFontMetrics(font("column")), self.names[section], width)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.names[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            name = self.names[section]
            if across:
                return _("Predicted: {label}", label=name)
            return _("{whose}: {label}", whose=self.whose, label=name)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            middle = Qt.AlignmentFlag.AlignVCenter
            return middle | (Qt.AlignmentFlag.AlignHCenter if across else Qt.AlignmentFlag.AlignLeading)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        count = int(self.counts[index.row(), index.column()])
        if role == Qt.ItemDataRole.DisplayRole:
            return number(count) if count else ""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignCenter
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return ngettext(
                "{count} row of {label}, predicted as {predicted}",
                "{count} rows of {label}, predicted as {predicted}",
                count,
                label=self.names[index.row()],
                predicted=self.names[index.column()],
            )
        if role == Qt.ItemDataRole.BackgroundRole and count:
            colour = QColor(tokens().accent)
            colour.setAlphaF(STRONGEST * count / int(self.counts[index.row()].sum()))
            return colour
        return None


class _SquareView(QTableView):
    """As wide as there is room for, so that the names above can be read, and no column is seen in half.

    The corner says which of the two is the truth.
    """

    def __init__(self) -> None:
        super().__init__()
        self.corner = QWidget(self)
        arrow = "←" if right_to_left() else "→"
        self.across, self.down = QLabel(_("Predicted {arrow}", arrow=arrow)), QLabel()
        layout = QVBoxLayout(self.corner)
        layout.setContentsMargins(px(_AROUND // 3), 0, px(_AROUND // 2), 0)
        layout.setSpacing(0)
        for label, side in (
            (self.across, Qt.AlignmentFlag.AlignTrailing),
            (self.down, Qt.AlignmentFlag.AlignLeading),
        ):
            set_role(label, "muted")
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label, 0, side)
        self.name_truth("")
        self.horizontalHeader().setMinimumHeight(self.corner.sizeHint().height())

    def name_truth(self, whose: str) -> None:
        """Say in the corner ``whose`` labels stand at the side; of a long name what there is room for."""
        arrow, metrics = " ↓", self.down.fontMetrics()
        room = px(_NAMES) - px(_AROUND) - metrics.horizontalAdvance(arrow)
        self.down.setText(elided_name(metrics, whose, room) + arrow)
        self.down.setToolTip(whose)
        self.setAccessibleName(_("{whose} down, prediction across", whose=whose))

    def updateGeometries(self) -> None:
        super().updateGeometries()
        across, down = self.horizontalHeader().geometry(), self.verticalHeader().geometry()
        self.corner.setGeometry(QRect(down.left(), across.top(), down.width(), across.height()))
        self.corner.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        pairs = self.model()
        if isinstance(pairs, _Square) and pairs.names:
            room = self.viewport().width()
            seen = min(len(pairs.names), max(1, room // px(_LEAST)))
            pairs.set_cell(max(px(_LEAST), min(px(_MOST), room // seen)))
            self.horizontalHeader().setDefaultSectionSize(pairs.cell)


class ConfusionView(QStackedWidget):
    """Follows one model on the rows of a part."""

    chosen = Signal(object)  # (gold, predicted), places of labels, by click or Enter

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(_("Confusion matrix"))
        self.square = _SquareView()
        self.pairs = _Square(self.square)
        self.square.setModel(self.pairs)
        self.square.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.square.setTabKeyNavigation(False)
        self.square.setWordWrap(False)
        self.square.setCornerButtonEnabled(False)
        across, down = self.square.horizontalHeader(), self.square.verticalHeader()
        down.setDefaultSectionSize(px(ROW_HEIGHT))
        down.setFixedWidth(px(_NAMES))
        for header in (across, down):
            header.setHighlightSections(False)
            header.setSectionsClickable(False)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setTextElideMode(Qt.TextElideMode.ElideNone)  # it takes two lines for one
        self.list = FiguresTable(_("Most frequent confusions"))
        self.addWidget(self.square)
        self.addWidget(self.list)
        self._found: list[tuple[int, int]] = []
        for signal in (self.square.clicked, self.square.activated):
            signal.connect(self._choose_cell)
        self.list.chosen.connect(self._choose_line)

    def show_part(self, names: tuple[str, ...], part: Part, place: int) -> None:
        """Show what the model at ``place`` of ``part`` takes for what."""
        model, truth = part.models[place], whose(part)
        if len(names) <= MOST_SQUARE:
            self.pairs.show(names, model.measures.confusion, truth)
            self.square.name_truth(truth)
            self.square.fit()
            self.setCurrentWidget(self.square)
            return
        number = {name: label for label, name in enumerate(names)}
        self._found = [(number[one.gold], number[one.predicted]) for one in model.confusions]
        self.list.show_rows(
            (
                Heading(truth, Kind.NAME, 0, truth),
                Heading(_("Predicted"), Kind.NAME, 0),
                Heading(_("Rows"), Kind.COUNT, 70),
                Heading(
                    _("Of label"), Kind.SHARE, 100, _("Share of rows with that label"), digits=digits(part)
                ),
            ),
            [
                (one.gold, one.predicted, one.rows, one.rows / model.measures.labels[number[one.gold]].rows)
                for one in model.confusions
            ],
        )
        self.setCurrentWidget(self.list)

    def tsv(self) -> str:
        """What is shown, for the clipboard."""
        if self.currentWidget() is self.list:
            return self.list.figures.tsv()
        names, counts = self.pairs.names, self.pairs.counts.tolist()
        lines: list[list[Cell]] = [[name, *line] for name, line in zip(names, counts, strict=True)]
        return as_tsv([[_("{whose} / predicted", whose=self.pairs.whose), *names], *lines])

    @Slot(object)
    def _choose_line(self, number: int) -> None:
        self.chosen.emit(self._found[number])

    @Slot(QModelIndex)
    def _choose_cell(self, index: QModelIndex) -> None:
        if self.pairs.counts[index.row(), index.column()]:
            self.chosen.emit((index.row(), index.column()))
