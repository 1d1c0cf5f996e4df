"""The figures of the findings panel as tables: the shares of all rows, and those of their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QFontMetrics, QIcon

from sce_desktop.controllers import words
from sce_desktop.controllers.findings_work import Answer
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.estimates import Share
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.text import exact_share_text, interval_text
from sce_desktop.ui.kit.icons import icon, label_icon
from sce_desktop.ui.kit.painting import elided_name
from sce_desktop.ui.kit.preview_model import plain_tip
from sce_desktop.ui.kit.theme import font, px

FigureRole = Qt.ItemDataRole.UserRole  # `Share`, of rows if these are counted; None: the part has no rows
MostRole = Qt.ItemDataRole.UserRole + 1  # the end of the scale: the largest figure, or end of an interval
EndsRole = Qt.ItemDataRole.UserRole + 2  # the ends of the interval, short
NAMES = 190  # pixels of the column of names
PART = 112  # pixels of a part's column
_COLUMNS = (_("Share"), words.INTERVAL.name, "", _("Labelled"), _("Predicted"))
INTERVAL, BAR = 1, 2
_TIPS = (
    _("Share of the rows that has this label"),
    _("95% confidence interval. Empty without an audit sample."),
    "",
    _("Rows that you labelled so"),
    _("Other rows that the model predicts so"),
)
_ROWS_TIP = _("Estimated number of rows with this label")
_TRAILING = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEADING = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_NO_PARENT = QModelIndex()
Index = QModelIndex | QPersistentModelIndex


def figure_text(value: float, *, counts: bool) -> str:
    """A share, or a number of rows."""
    return number(value) if counts else exact_share_text(value)


def interval(figure: Share, *, counts: bool) -> str:
    """The ends of an interval; nothing where there is none."""
    if figure.counted:
        return _("counted")
    if figure.interval is None:
        return ""
    low, high = figure.interval
    return _("{low} to {high}", low=number(low), high=number(high)) if counts else interval_text((low, high))


def _short_ends(figure: Share, *, counts: bool) -> str:
    """The ends of an interval as a cell has room for."""
    if figure.counted:
        return _("counted")
    if figure.interval is None:
        return ""
    return "–".join(number(end if counts else 100 * end) for end in figure.interval)


class _Figures(QAbstractTableModel):
    """A line for each answer, in an order that a click on a heading changes; names stand at the left."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answer: Answer | None = None
        self._colours: Sequence[str] = ()
        self.order: IdArray = np.zeros(0, dtype=np.int64)  # the answers from top to bottom
        self._sorted: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.DescendingOrder)
        self._names: dict[int, str] = {}  # of the answers as they fit in, once they were asked for
        self._icons: dict[str, QIcon] = {}

    def show_answer(self, answer: Answer | None, colours: Sequence[str] = ()) -> None:
        """Show other figures; ``colours`` of the labels in their order."""
        self.beginResetModel()
        self._answer, self._colours = answer, colours
        found = answer.findings if answer else None
        self.order = self._ordered(len(found.answers) if found else 0)
        self._names, self._icons = {}, {}
        self.endResetModel()

    @property
    def _counts(self) -> bool:
        """Whether numbers of rows are shown instead of shares."""
        return self._answer is not None and self._answer.wanted.counts

    def _values(self, column: int) -> Sequence[float]:
        raise NotImplementedError

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Put the lines in the order of a column's figures; column -1: in that of the labels."""
        self._sorted = (column, order)
        self.beginResetModel()
        self.order = self._ordered(len(self.order))
        self.endResetModel()

    def _ordered(self, count: int) -> IdArray:
        column, order = self._sorted
        if not 0 <= column < self.columnCount():
            return np.arange(count)
        sign = -1 if order is Qt.SortOrder.DescendingOrder else 1
        return np.argsort(sign * np.asarray(self._values(column)), kind="stable")

    def line_of(self, answer: int) -> int:
        """The line of an answer."""
        return int(np.flatnonzero(self.order == answer)[0])

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """One line an answer."""
        return 0 if parent.isValid() else len(self.order)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Names of the answers, each with its colour, and those of the columns."""
        if self._answer is None:
            return None
        if role == Qt.ItemDataRole.InitialSortOrderRole:
            return Qt.SortOrder.DescendingOrder
        if orientation is Qt.Orientation.Horizontal:
            return self._heading(section, role)
        place = int(self.order[section])
        name = self._answer.findings.answers[place]
        if role == Qt.ItemDataRole.SizeHintRole:
            return QSize(px(NAMES), px(24))  # the header would ask for everything about every name
        if role == Qt.ItemDataRole.DisplayRole:
            if place not in self._names:
                self._names[place] = elided_name(QFontMetrics(font("body")), name, px(NAMES - 34))
            return self._names[place]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(name)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return name
        if role == Qt.ItemDataRole.DecorationRole:
            colour = self._colours[place] if place < len(self._colours) else ""
            if colour not in self._icons:
                self._icons[colour] = label_icon(colour) if colour else icon("none", "muted")
            return self._icons[colour]
        return int(_LEADING) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _heading(self, section: int, role: int) -> Any:
        raise NotImplementedError


class SharesModel(_Figures):
    """Every answer's share of all rows."""

    def _values(self, column: int) -> Sequence[float]:
        ones = self._answer.findings.whole.shares if self._answer else ()
        by: Callable[[Any], float] = {3: lambda one: one.decided, 4: lambda one: one.predicted}.get(
            column, lambda one: one.share.value
        )
        return [by(one) for one in ones]

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        """Share, interval, bar, decided, predicted."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def _heading(self, section: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return _("Rows") if section == 0 and self._counts else _COLUMNS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _ROWS_TIP if section == 0 and self._counts else _TIPS[section]
        return int(_TRAILING) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The figures of an answer."""
        if self._answer is None:
            return None
        place, counts = int(self.order[index.row()]), self._counts
        one, figure = self._answer.findings.whole.shares[place], self._answer.figure(place)
        if role == FigureRole:
            return figure
        if role == MostRole:
            return self._answer.most
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_TRAILING)
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == BAR:
            parts = (one.name, figure_text(figure.value, counts=counts), interval(figure, counts=counts))
            return ", ".join(filter(None, parts))
        if role == Qt.ItemDataRole.DisplayRole:
            model = bool(self._answer.evidence.probabilities)
            return (
                figure_text(figure.value, counts=counts),
                interval(figure, counts=counts),
                "",
                number(one.decided),
                number(one.predicted) if model else "",
            )[index.column()]
        return None


class PartsModel(_Figures):
    """Every answer's share in each part of the rows."""

    def _values(self, column: int) -> Sequence[float]:
        answers = range(len(self._answer.findings.answers)) if self._answer else ()
        return [self._answer.figure(place, column).value for place in answers if self._answer]

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        """One column a part."""
        return 0 if parent.isValid() or self._answer is None else len(self._answer.findings.groups)

    @staticmethod
    def _part_name(name: str) -> str:
        """A name as it fits in: values of a column often begin alike."""
        name = " ".join(name.split())
        return QFontMetrics(font("strong")).elidedText(name, Qt.TextElideMode.ElideMiddle, px(PART - 16))

    def _heading(self, section: int, role: int) -> Any:
        assert self._answer is not None
        group = self._answer.findings.groups[section]
        if role == Qt.ItemDataRole.SizeHintRole:
            return QSize(px(PART), 2 * QFontMetrics(font("body")).height() + px(10))
        rows = ngettext("{count} row", "{count} rows", group.rows)
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{self._part_name(group.name)}\n{rows}"
        if role == Qt.ItemDataRole.ToolTipRole:
            sampled = ngettext(
                "{count} row of the audit sample", "{count} rows of the audit sample", group.sampled
            )
            return plain_tip(f"{group.name}\n{rows}\n{sampled}")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{group.name}, {rows}"
        return int(_TRAILING) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The figure of an answer in a part."""
        if self._answer is None:
            return None
        group = self._answer.findings.groups[index.column()]
        place, counts = int(self.order[index.row()]), self._counts
        one, figure = group.shares[place], self._answer.figure(place, index.column())
        if role == FigureRole:
            return figure if group.rows else None
        if role == EndsRole:
            return _short_ends(figure, counts=counts)
        if role == MostRole:
            return self._answer.most
        if role == Qt.ItemDataRole.DisplayRole:
            return figure_text(figure.value, counts=counts) if group.rows else "–"
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            if not group.rows:
                return _("{name}: no rows", name=group.name)
            value = figure_text(figure.value, counts=counts)
            if figure.interval:
                value = f"{value} ({interval(figure, counts=counts)})"
            lines = (
                _("{label}, {part}: {value}", label=one.name, part=group.name, value=value),
                ngettext("{count} row", "{count} rows", group.rows),
                _("Labelled so: {count}", count=number(one.decided)),
                _("Predicted so: {count}", count=number(one.predicted)),
            )
            if role == Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(lines)
            return plain_tip("\n".join(lines))
        return None
