"""The labels as rows of a list: names and counts, renaming in place, reordering by drag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QByteArray,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    Slot,
)

from sce_desktop.controllers.label_edits import rows
from sce_desktop.controllers.labels_groups import Span, grouped, moved
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.colours import colour_of
from sce_desktop.core.folding import bare
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.languages import listed as alternatives
from sce_desktop.core.scored import other_runs
from sce_desktop.ui.kit.preview_model import plain_tip

LabelRole = Qt.ItemDataRole.UserRole
YoursRole = Qt.ItemDataRole.UserRole + 1  # rows that the user gave this label, or None before counting
PredictedRole = Qt.ItemDataRole.UserRole + 2  # rows for which the model puts it first, or None without a run
KeyRole = Qt.ItemDataRole.UserRole + 3  # the key of its own that gives this label, or ""
GroupRole = Qt.ItemDataRole.UserRole + 4  # the `Span` of the group it belongs to, or None
ColourRole = Qt.ItemDataRole.UserRole + 5  # its own, or that of its place
FoldedRole = Qt.ItemDataRole.UserRole + 6  # whether only the heading of its group is shown
_MIME = "application/x-sce-label-place"
_NO_PARENT = QModelIndex()
Index = QModelIndex | QPersistentModelIndex


class LabelsModel(QAbstractListModel):
    """Follows the project's labels and counts. Edits are asked for by signals and come back as labels."""

    renameAsked = Signal(object, object)  # label id, name
    moveAsked = Signal(object, object)  # from place, to place (before which it goes, in the present order)
    foldsChanged = Signal()

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        preferences: Preferences,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._preferences = preferences
        self._labels, self._spans = grouped(workspace.labels)
        self._wanted: list[str] = []  # words of the labels that are shown; empty: all are
        self._groups = self._group_of_row()
        self._keys = preferences.keymap.all_label_keys(self._labels)
        self._counts = self.all_counts()  # that the view has
        navigation.foldsChanged.connect(self.foldsChanged)
        preferences.settingsChanged.connect(self.refresh)
        workspace.labelsChanged.connect(self.refresh)
        workspace.projectOpened.connect(self.refresh)
        workspace.projectClosed.connect(self.refresh)
        workspace.countsChanged.connect(self._on_counts)
        workspace.scoresChanged.connect(self._on_scores)

    @Slot()
    def refresh(self) -> None:
        """Show the project's labels."""
        before, spans, keys = self._labels, self._spans, self._keys
        now, now_spans = grouped(self._workspace.labels)
        now_keys = self._preferences.keymap.all_label_keys(now)
        if spans == now_spans and [label.id for label in before] == [label.id for label in now]:
            self._labels, self._keys = now, now_keys
            pairs = enumerate(zip(before, now, strict=True))
            self._emit_counts(
                also=[
                    row
                    for row, (then, label) in pairs
                    if (label, now_keys.get(label.id or 0)) != (then, keys.get(label.id or 0))
                ]
            )
            return
        self.beginResetModel()
        self._labels, self._spans, self._keys = now, now_spans, now_keys
        self._groups = self._group_of_row()
        self._counts = self.all_counts()
        self.endResetModel()

    def _group_of_row(self) -> list[Span | None]:
        rows: list[Span | None] = []
        for span in self._spans:
            rows += [span if span.parent else None] * (span.end - span.start)
        return rows

    @property
    def headings(self) -> int:
        """How many groups there are; each has its heading above its first label."""
        return 0 if self._wanted else sum(1 for span in self._spans if span.parent)

    def fold(self, parents: Iterable[str], *, folded: bool = True) -> None:
        """Show of these groups the heading alone, or all their labels again."""
        self._navigation.fold(parents, folded)

    @property
    def parents(self) -> list[str]:
        """The names of the groups."""
        return [span.parent for span in self._spans if span.parent]

    def is_folded(self, span: Span | None) -> bool:
        """Whether only the heading of a group is shown."""
        return span is not None and not self._wanted and span.parent in self._navigation.folded

    def hidden_rows(self) -> set[int]:
        """The rows of folded groups, but for the first, which shows the heading; or what is not wanted."""
        if self._wanted:
            return {row for row, label in enumerate(self._labels) if not self._is_wanted(label)}
        folded = (span for span in self._spans if span.parent and self.is_folded(span))
        return {row for span in folded for row in range(span.start + 1, span.end)}

    def set_filter(self, text: str) -> None:
        """Show only labels in whose names all words of ``text`` are, without their groups; empty: all."""
        wanted = bare(text).split()
        if wanted != self._wanted:
            self.beginResetModel()
            self._wanted = wanted
            self.endResetModel()

    def _is_wanted(self, label: Label) -> bool:
        return all(word in bare(label.name) for word in self._wanted)

    def row_of(self, label_id: int | None) -> int | None:
        """The row of a label, None if it is none of them."""
        return next((row for row, label in enumerate(self._labels) if label.id == label_id), None)

    def moved(self, row: int, before: int) -> list[Label]:
        """All labels, the one in ``row`` moved before the row ``before``."""
        return moved(self._labels, self._spans, row, before)

    def all_counts(self) -> list[tuple[int | None, int | None]]:
        """The counts of all labels and of all groups."""
        groups = [self.sums(span) for span in self._spans if span.parent]
        return [*self._counted(self._labels), *groups]

    def sums(self, span: Span) -> tuple[int | None, int | None]:
        """What the labels of a group have together: `counts` added up."""
        columns = zip(*self._counted(self._labels[span.start : span.end]), strict=True)
        yours, predicted = (None if None in column else sum(column) for column in columns)
        return yours, predicted

    @Slot()
    def _on_counts(self) -> None:
        self._emit_counts()

    @Slot(object)
    def _on_scores(self, change: object) -> None:
        if other_runs(change):  # the counts of rows come by themselves
            self._emit_counts()

    def _emit_counts(self, *, also: Sequence[int] = ()) -> None:
        """Have rows painted again whose counts are other ones, and ``also`` those where something else is."""
        counts, before = self.all_counts(), self._counts
        if not self._labels or (counts == before and not also):
            return
        self._counts = counts
        if counts == before:
            self.dataChanged.emit(self.index(also[0]), self.index(also[-1]))
            return
        if also or len(counts) != len(before) or any(span.parent for span in self._spans):  # sums change too
            self.dataChanged.emit(self.index(0), self.index(len(self._labels) - 1))
            return
        for row, (now, then) in enumerate(zip(counts, before, strict=True)):
            if now != then:
                self.dataChanged.emit(self.index(row), self.index(row))

    def label(self, index: Index) -> Label:
        """The label of a row."""
        return self._labels[index.row()]

    def counts(self, label: Label) -> tuple[int | None, int | None]:
        """Rows that the user gave a label, and rows for which the model puts it first; None: not known."""
        return self._counted([label])[0]

    def _counted(self, labels: Sequence[Label]) -> list[tuple[int | None, int | None]]:
        counts = self._workspace.counts
        if counts is None:
            return [(None, None)] * len(labels)
        shown = self._workspace.runs and not self._navigation.blind
        ids = [label.id or 0 for label in labels]
        return [(counts.labels.get(i, 0), counts.predicted.get(i, 0) if shown else None) for i in ids]

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """One row a label."""
        return 0 if parent.isValid() else len(self._labels)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What there is to show of a label."""
        label = self._labels[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return label.name
        if role == LabelRole:
            return label
        if role == YoursRole:
            return self.counts(label)[0]
        if role == PredictedRole:
            return self.counts(label)[1]
        if role == ColourRole:
            return colour_of(label)
        if role == GroupRole:
            return None if self._wanted else self._groups[index.row()]
        if role == FoldedRole:
            return self.is_folded(self._groups[index.row()])
        if role == KeyRole:
            return next(iter(self._keys.get(label.id or 0, ())), "")
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(label)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            group = self._groups[index.row()]
            return self._spoken_group(group) if group and self.is_folded(group) else self._spoken(label)
        return None

    def _tip(self, label: Label) -> str:
        synonyms = _("Also: {synonyms}", synonyms=", ".join(label.synonyms)) if label.synonyms else ""
        keys = self._keys.get(label.id or 0)
        shown = _("Key: {key}", key=alternatives(keys)) if keys else ""
        text = "\n".join(filter(None, (label.name, label.description, synonyms, shown)))
        return plain_tip(text)

    def _spoken(self, label: Label) -> str:
        parts = [label.name, *_spoken_counts(*self.counts(label))]
        if keys := self._keys.get(label.id or 0):
            parts.append(_("key {key}", key=alternatives(keys)))
        return ", ".join(parts)

    def _spoken_group(self, group: Span) -> str:
        size = group.end - group.start
        folded = ngettext("folded group of {count} label", "folded group of {count} labels", size)
        return ", ".join((group.parent, folded, *_spoken_counts(*self.sums(group))))

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another name."""
        name = str(value).strip()
        label = self._labels[index.row()]
        if role != Qt.ItemDataRole.EditRole or not name or name == label.name:
            return False
        self.renameAsked.emit(label.id, name)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Labels can be renamed and dragged, if the project can be changed."""
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if not self._workspace.read_only:
            flags |= Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled
        return flags

    # --- dragging ------------------------------------------------------------------------------------------

    def supportedDropActions(self) -> Qt.DropAction:
        """Labels move."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """The place of a label, for this list alone."""
        return [_MIME]

    def mimeData(self, indexes: list[QModelIndex]) -> QMimeData:  # type: ignore[override]
        """What a drag carries."""
        data = QMimeData()
        data.setData(_MIME, QByteArray(str(indexes[0].row()).encode()))
        return data

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Ask for the move; False, so that the view does not remove the row that was dragged."""
        if data.hasFormat(_MIME) and action == Qt.DropAction.MoveAction:
            place = row if row >= 0 else parent.row() if parent.isValid() else len(self._labels)
            self.moveAsked.emit(int(bytes(data.data(_MIME).data())), place)
        return False


def _spoken_counts(yours: int | None, predicted: int | None) -> list[str]:
    spoken = []
    if yours is not None:
        spoken.append(_("you: {rows}", rows=rows(yours)))
    if predicted is not None:
        spoken.append(_("SCE: {rows}", rows=rows(predicted)))
    return spoken
