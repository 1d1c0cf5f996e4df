"""Groups of duplicates as a table: how many rows, their text, and how they are labelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from sce_desktop.controllers.rows_text import NONE_FITS, label_of
from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _, number
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.preview_model import plain_tip

if TYPE_CHECKING:
    from sce_desktop.tasks.insight.bulk import Answer
    from sce_desktop.tasks.insight.duplicates import CopyGroup, GroupAnswers

HEADINGS = (_("Rows"), _("Text"), _("Match"), _("Labelled"), _("Labels"))
ROWS, TEXT, KIND, LABELLED, LABELS = range(5)
Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


def answer_name(answer: Answer, labels: tuple[Label, ...]) -> str:
    """The names of the labels of an answer."""
    return " + ".join(label_of(label_id, labels).name if label_id else NONE_FITS for label_id in answer)


class DuplicatesModel(QAbstractTableModel):
    """All groups, or the contradictory ones alone."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.groups: list[CopyGroup] = []
        self.answers: list[GroupAnswers] = []
        self._labels: tuple[Label, ...] = ()
        self._only_contradictory = False
        self._shown: list[int] = []

    def set_groups(
        self, groups: Sequence[CopyGroup], answers: Sequence[GroupAnswers], labels: tuple[Label, ...]
    ) -> None:
        """Show other groups."""
        self.beginResetModel()
        self.groups, self.answers, self._labels = list(groups), list(answers), labels
        self._choose()
        self.endResetModel()

    def set_answers(self, answers: Sequence[GroupAnswers], labels: tuple[Label, ...]) -> None:
        """Show how the same groups are labelled now; none goes away under the mouse."""
        self.answers, self._labels = list(answers), labels
        if self._shown:
            self.dataChanged.emit(self.index(0, KIND), self.index(len(self._shown) - 1, LABELS))

    def set_only_contradictory(self, on: bool) -> None:
        """Show all groups, or those with different labels."""
        self.beginResetModel()
        self._only_contradictory = on
        self._choose()
        self.endResetModel()

    def _choose(self) -> None:
        wanted = enumerate(self.answers)
        self._shown = [n for n, found in wanted if found.contradictory or not self._only_contradictory]

    def group_at(self, row: int) -> CopyGroup:
        """The group in a row of the table."""
        return self.groups[self._shown[row]]

    def answers_at(self, row: int) -> GroupAnswers:
        """How its rows are labelled."""
        return self.answers[self._shown[row]]

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """One row a group."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        """As many as headings."""
        return 0 if parent.isValid() else len(HEADINGS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Names of the columns."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell says."""
        group, found, column = self.group_at(index.row()), self.answers_at(index.row()), index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(group, found, column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(self._text(group, found, column))
            case Qt.ItemDataRole.DecorationRole if column == LABELS and found.contradictory:
                return icon("warning", "warn")
        return None

    def _text(self, group: CopyGroup, found: GroupAnswers, column: int) -> str:
        if column == ROWS:
            return number(len(group.row_ids))
        if column == TEXT:
            return group.text
        if column == KIND:
            return _("exact") if group.exact else _("near")
        if column == LABELLED:
            if not found.decided:
                return "–"
            return _("{labelled} of {rows}", labelled=number(found.decided), rows=number(len(group.row_ids)))
        if found.contradictory:
            named = [
                f"{answer_name(answer, self._labels)} {number(count)}" for answer, count in found.answers
            ]
            return _("contradictory: {labels}", labels=", ".join(named))
        return answer_name(found.answers[0][0], self._labels) if found.answers else "–"
