"""The clusters as a table: a check mark for what becomes a label, the name to be edited, the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from sce_desktop.core.discovery import Cluster, merged
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.preview_model import plain_tip

NAME, ROWS = range(2)
_NO_PARENT = QModelIndex()
Index = QModelIndex | QPersistentModelIndex


class ClustersModel(QAbstractTableModel):
    """Clusters in the order in which they are shown. Every change can be undone while the dialog is open."""

    changed = Signal()  # which clusters there are, their names, or which are accepted

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.clusters: tuple[Cluster, ...] = ()
        self._before: list[tuple[Cluster, ...]] = []

    @property
    def accepted(self) -> list[Cluster]:
        """Those that become labels."""
        return [cluster for cluster in self.clusters if cluster.accepted]

    def show_clusters(self, clusters: Iterable[Cluster]) -> None:
        """Show other clusters; what was shown comes back by `undo`."""
        if self.clusters:
            self._before.append(self.clusters)
        self._set(tuple(clusters))

    def undo(self) -> bool:
        """Undo the last change and return whether there was one."""
        if not self._before:
            return False
        self._set(self._before.pop())
        return True

    def merge(self, into: int, others: Sequence[int]) -> None:
        """Merge the clusters at ``others`` into the one at ``into``."""
        self.show_clusters(merged(self.clusters, into, others))

    def drop(self, places: Iterable[int]) -> None:
        """Take clusters out of the list."""
        going = set(places)
        self.show_clusters(one for place, one in enumerate(self.clusters) if place not in going)

    def accept(self, places: Sequence[int]) -> None:
        """Accept clusters; where all of them are accepted, accept none of them."""
        on = not all(self.clusters[place].accepted for place in places)
        self._put({place: replace(self.clusters[place], accepted=on) for place in places})

    def call(self, place: int, name: str) -> bool:
        """Give a cluster another name, which accepts it; an empty one changes nothing."""
        if not name.strip():
            return False
        if name.strip() != self.clusters[place].name:
            self._put({place: replace(self.clusters[place].called(name), accepted=True)})
        return True

    def next_name(self, place: int) -> None:
        """Use the next alternative; after the last one comes the first again."""
        cluster = self.clusters[place]
        if len(cluster.names) > 1:
            self._put({place: replace(cluster, names=(*cluster.names[1:], cluster.name))})

    def _put(self, new: dict[int, Cluster]) -> None:
        """Put clusters in the place of others, without a reset: what is selected stays so."""
        self._before.append(self.clusters)
        self.clusters = tuple(new.get(place, one) for place, one in enumerate(self.clusters))
        for place in new:
            self.dataChanged.emit(self.index(place, NAME), self.index(place, ROWS))
        self.changed.emit()

    def _set(self, clusters: tuple[Cluster, ...]) -> None:
        self.beginResetModel()
        self.clusters = clusters
        self.endResetModel()
        self.changed.emit()

    # --- what Qt asks --------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """Clusters."""
        return 0 if parent.isValid() else len(self.clusters)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        """Name and rows."""
        return 0 if parent.isValid() else 2

    def flags(self, index: Index) -> Qt.ItemFlag:
        """The name can be edited and accepted."""
        flags = super().flags(index)
        if index.column() == NAME:
            flags |= Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Headings, and the side that they stand at."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (_("Suggested label"), _("Rows"))[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, rows, whether it is accepted."""
        cluster, column = self.clusters[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return cluster.name if column == NAME else number(cluster.rows)
        if role == Qt.ItemDataRole.CheckStateRole and column == NAME:
            return Qt.CheckState.Checked if cluster.accepted else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(column)
        if role == Qt.ItemDataRole.ToolTipRole and cluster.names[1:]:
            return plain_tip(_("Other names: {names}", names=", ".join(cluster.names[1:5])))
        if role == Qt.ItemDataRole.AccessibleTextRole and column == NAME:
            return ", ".join(
                (
                    cluster.name,
                    ngettext("{count} row", "{count} rows", cluster.rows),
                    _("accepted") if cluster.accepted else _("not accepted"),
                )
            )
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Rename a cluster, or accept it."""
        if role == Qt.ItemDataRole.EditRole:
            return self.call(index.row(), str(value))
        if role == Qt.ItemDataRole.CheckStateRole:
            self.accept([index.row()])
            return True
        return False


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column == ROWS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
