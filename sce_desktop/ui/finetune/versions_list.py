"""The right of the Fine-tune panel: the base model and its versions; which one is in use."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QMessageBox,
    QPushButton,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.tuning import Tuner
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.comparison import Difference
from sce_desktop.core.i18n import _, number
from sce_desktop.core.versions import ModelVersion
from sce_desktop.ui.kit.dialog_parts import ask_folder, ask_replace, flat_list, open_dialog
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.low_scroll import LowScroll
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, font, px, set_role

_NARROW, _NARROWEST = 340, 270  # pixels, below which not all columns are shown
_GAIN = 76  # pixels, where there is least room
_VERSION = Qt.ItemDataRole.UserRole
_TRAILING = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter


def short_result(version: ModelVersion) -> str:
    """What a version brought, in points of accuracy or two words: points are a claim, made by the test."""
    return gain(version.report.difference)


def gain(difference: Difference) -> str:
    """A difference in points of accuracy, or two words where the test does not show one."""
    if not difference.rows:
        return _("Not validated")
    return signed(100 * difference.mean, 1) if difference.shown else _("Not significant")


def signed(value: float, digits: int) -> str:
    """A difference with its sign: "+1.2"."""
    return f"{'-' if value < 0 else '+'}{number(abs(value), digits)}"


def when(moment: str) -> str:
    """A moment in the user's own time and manner."""
    local = QDateTime.fromString(moment, Qt.DateFormat.ISODateWithMs).toLocalTime()
    return QLocale().toString(local, "d MMM HH:mm")


class VersionsPane(QWidget):
    """Follows the tuner; ``chosen`` tells which versions are selected, two at most."""

    chosen = Signal(object)  # versions
    baseChosen = Signal()  # the base model alone, though there are versions

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the time away where there is little room: names and gains are compared."""
        super().resizeEvent(event)
        self.list.setColumnHidden(1, self.width() < px(_NARROW))
        narrowest = self.width() < px(_NARROWEST)
        self.list.setColumnHidden(2, narrowest)
        sized = QHeaderView.ResizeMode.Fixed if narrowest else QHeaderView.ResizeMode.ResizeToContents
        self.list.header().setSectionResizeMode(3, sized)
        if narrowest:
            self.list.header().resizeSection(3, px(_GAIN))

    def __init__(
        self, workspace: Workspace, scorer: Scorer, tuner: Tuner, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._scorer = scorer
        self._tuner = tuner
        self.list = flat_list(_("Model versions"), (_("Version"), _("Created"), _("Rows"), _("Gain")))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().resizeSection(1, px(96))
        self.list.header().setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        self.list.headerItem().setToolTip(
            3, _("Accuracy gained over the base model on validation rows, in points")
        )
        for column in (2, 3):
            self.list.headerItem().setTextAlignment(column, _TRAILING)
        self.list.itemSelectionChanged.connect(self._on_selected)
        self.list.itemActivated.connect(self._on_activated)
        self.use_button = QPushButton(_("Use"))
        self.use_button.clicked.connect(self.use)
        self.export_button = QPushButton(_("Export…"))
        self.export_button.setToolTip(_("Write a model folder for other projects, scripts and Python"))
        self.export_button.clicked.connect(self.ask_export)
        self.delete_button = QPushButton(_("Delete…"))
        self.delete_button.clicked.connect(self.ask_delete)
        heading = QLabel(_("Versions"))
        set_role(heading, "heading")
        buttons = QWidget()
        flow = FlowLayout(buttons, gap=px(SPACE_S))  # a second line where words are long
        for button in (self.use_button, self.export_button, self.delete_button):
            flow.addWidget(button)
        layout = QVBoxLayout(LowScroll.of(self).inside)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_M), px(SPACE_M), px(SPACE_M))
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(heading)
        layout.addWidget(self.list, 1)
        layout.addWidget(buttons)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "pane")
        tuner.changed.connect(self.show_versions)
        workspace.versionsChanged.connect(self.show_versions)
        scorer.modelsChanged.connect(self.show_versions)
        self.show_versions()

    # --- what is shown -------------------------------------------------------------------------------------

    @property
    def selected(self) -> tuple[ModelVersion, ...]:
        """The versions that are selected, without the base model."""
        found = (item.data(0, _VERSION) for item in self.list.selectedItems())
        by_id = {version.id: version for version in self._tuner.versions}
        return tuple(by_id[id_] for id_ in found if id_ in by_id)

    @Slot()
    def show_versions(self) -> None:
        """Show the versions that there are, the newest first, the base model last."""
        scorer, versions = self._scorer, self._tuner.versions
        kept = {item.data(0, _VERSION) for item in self.list.selectedItems()}
        used = scorer.version.id if scorer.version is not None else 0
        self.list.blockSignals(True)
        self.list.clear()
        for version in reversed(versions):
            self._add(
                version.id,
                version.id == used,
                (version.name, when(version.created_at), number(version.train_rows), short_result(version)),
                version.title,
            )
        self._add(0, used == 0, (Path(scorer.base).name, "", "", _("Base model")), scorer.base)
        for place in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(place)
            if item is not None and item.data(0, _VERSION) in kept:
                item.setSelected(True)
        self.list.blockSignals(False)
        self._show_buttons()

    def _add(self, id_: int, used: bool, cells: tuple[str, ...], tip: str) -> None:
        item = QTreeWidgetItem(cells)
        item.setData(0, _VERSION, id_)
        item.setToolTip(0, _("{version} (in use)", version=tip) if used else tip)
        item.setToolTip(3, cells[3])
        for column in (2, 3):
            item.setTextAlignment(column, _TRAILING)
        item.setIcon(0, icon("check" if used else "model", "good" if used else "muted"))
        if used:
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, _("{version}, in use", version=cells[0]))
            item.setFont(0, font("strong"))
        self.list.addTopLevelItem(item)

    def select(self, version: ModelVersion | None) -> None:
        """Select one version alone, or (None) the base model."""
        for place in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(place)
            if item is not None and item.data(0, _VERSION) == (version.id if version else 0):
                self.list.setCurrentItem(item)

    def _show_buttons(self) -> None:
        items = self.list.selectedItems()
        can = not self._workspace.read_only
        one = items[0].data(0, _VERSION) if len(items) == 1 else None
        scorer = self._scorer
        used = scorer.version.id if scorer.version is not None else 0
        self.use_button.setText(_("Use") if one != 0 else _("Use base model"))
        self.use_button.setEnabled(can and one is not None and one != used)
        self.export_button.setEnabled(bool(one))
        self.delete_button.setEnabled(can and bool(one))

    @Slot()
    def _on_selected(self) -> None:
        self._show_buttons()
        if self.list.selectedItems() and not self.selected and self._tuner.versions:
            self.baseChosen.emit()
        elif len(self.selected) <= 2:
            self.chosen.emit(self.selected)

    # --- what is done --------------------------------------------------------------------------------------

    @Slot()
    def _on_activated(self) -> None:
        if self.use_button.isEnabled():
            self.use()

    @Slot()
    def use(self) -> None:
        """Score with what is selected from now on."""
        items = self.list.selectedItems()
        if len(items) == 1:
            self._scorer.use_version(items[0].data(0, _VERSION) or None)

    @Slot()
    def ask_export(self) -> None:
        """Choose the folder of a model."""
        if len(self.selected) != 1:
            return
        (version,) = self.selected
        export, name = self._tuner.export, version.title.replace(" ", "-")

        def chosen(folder: str) -> None:
            ask_replace(
                self,
                Path(folder) / name,
                lambda place, replace: export(version, place, replace),
                what="model folder",
            )

        ask_folder(self, _("Folder for {version}", version=version.title), chosen)

    @Slot()
    def ask_delete(self) -> None:
        """Ask whether a version is to go for good."""
        if len(self.selected) != 1:
            return
        (version,) = self.selected
        box = QMessageBox(self)
        box.setWindowTitle(_("Delete a version"))
        box.setText(_("Delete {version}?", version=version.name))
        box.setInformativeText(
            _(
                "The base model is used again. The version's scores stay until rows are rescored. "
                "This cannot "
                "be undone."
            )
            if version.active
            else _("Its scores stay until rows are rescored. This cannot be undone.")
        )
        box.setStandardButtons(QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.Cancel)
        yes = box.button(QMessageBox.StandardButton.Yes)
        yes.setText(_("Delete"))
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.accepted.connect(lambda: self._tuner.delete(version))
        open_dialog(box)
