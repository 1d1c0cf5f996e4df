"""What the findings panel can be asked: shares, by a column, over time; with whose help; and the exports."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QComboBox, QHBoxLayout, QMenu, QPushButton, QWidget

from sce_desktop.controllers.findings_work import Answer, View, Wanted
from sce_desktop.controllers.rows_text import run_title
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import Run
from sce_desktop.tasks.tables.periods import Unit
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, chip_width, px, set_role

_VIEWS: tuple[tuple[View, str], ...] = (
    ("shares", _("Shares")),
    ("column", _("By column")),
    ("time", _("Over time")),
)
_UNITS: dict[Unit, str] = {
    "day": _("By day"),
    "week": _("By week"),
    "month": _("By month"),
    "quarter": _("By quarter"),
    "year": _("By year"),
}
_NO_MODEL = _("No model")
_COPY_TEXTS = (_("Copy"), "")  # in full, and where it is narrow
_EXPORT = (_("Export ▾"), "▾")
_ROLLED = (_("Roll up to parent labels"), _("Roll up"))
_COMBO = 150  # pixels
_MODEL = 220


class FindingsBar(QWidget):
    """The line above the figures; where it is narrow its buttons are shorter before a second line begins."""

    changed = Signal()
    copyAsked = Signal()
    workbookAsked = Signal()
    pageAsked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("View"))
        self.views: dict[View, QPushButton] = {}
        self._group = QButtonGroup(self)
        for view, text in _VIEWS:
            button = QPushButton(text)
            button.setCheckable(True)
            button.setAccessibleName(text)
            button.setFixedWidth(chip_width(text))
            set_role(button, "chip")
            self._group.addButton(button)
            self.views[view] = button
        self.views["shares"].setChecked(True)
        self.column = _combo(_("Column"))
        self.unit = _combo(_("Period"))
        for unit, text in _UNITS.items():
            self.unit.addItem(text, unit)
        self.table = QCheckBox(_("As a table"))
        self.table.setAccessibleName(_("Show the periods as a table"))
        self.counts = QCheckBox(_("Counts"))
        self.counts.setAccessibleName(_("Show numbers of rows instead of shares"))
        self.counts.setToolTip(_("Show estimated numbers of rows instead of shares"))
        self.model = _combo(_("Model"))
        self.model.setMaximumWidth(px(_MODEL))
        self.model.setToolTip(_("Model whose predictions are used to estimate the shares"))
        self.rolled = QCheckBox(_ROLLED[0])
        self.rolled.setAccessibleName(_("Roll up labels named Parent > Child to their parent"))
        self.rolled.setToolTip(_("Labels named “Parent > Child” count as “Parent”"))
        self.copy = _button(_COPY_TEXTS[0], _("Copy the figures"), "copy")
        self.copy.setToolTip(_("Copy the figures for a spreadsheet"))
        self.export = _button(_EXPORT[0], _("Export the figures"), "export")
        self.export.setToolTip(_("Export the figures to Excel or as a web page"))
        self._menu = menu = QMenu(self.export)
        self.workbook = menu.addAction(_("Export to Excel…"))
        self.page = menu.addAction(_("Save as web page (HTML)…"))
        set_icon(self.workbook, "table", "muted")
        set_icon(self.page, "file", "muted")
        self.export.clicked.connect(self._ask_export)
        asked = QWidget()
        self._asked = FlowLayout(asked, gap=px(SPACE_S))
        boxes = (self.table, self.counts, self.model, self.rolled)
        for widget in (*self.views.values(), self.column, self.unit, *boxes):
            self._asked.addWidget(widget)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), 0)
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(asked, 1)
        for button in (self.copy, self.export):
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self._group.buttonClicked.connect(self._on_view)
        self.column.activated.connect(self._on_column)
        self.unit.activated.connect(self._on_unit)
        self.model.activated.connect(self._on_model)
        self.rolled.clicked.connect(self.changed)
        self.table.clicked.connect(self.changed)
        self.counts.clicked.connect(self.changed)
        self.copy.clicked.connect(self.copyAsked)
        self.workbook.triggered.connect(self.workbookAsked)
        self.page.triggered.connect(self.pageAsked)
        self._chosen: dict[View, int | None] = {}  # the column of each view
        self._unit: Unit | None = None  # None: nobody has chosen one
        self._alias: str | None = None
        self._show_controls()

    @Slot()
    def _ask_export(self) -> None:
        self._menu.popup(self.export.mapToGlobal(QPoint(0, self.export.height())))

    @property
    def view(self) -> View:
        """What is shown."""
        return next(view for view, button in self.views.items() if button.isChecked())

    @property
    def wanted(self) -> Wanted:
        """The question that is set."""
        view = self.view
        column = self._chosen.get(view)
        return Wanted(
            view,
            column,
            self._unit,
            self.model.currentData() or "",
            rolled=self.rolled.isChecked(),
            counts=self.counts.isChecked(),
        )

    def choose(self, view: View, column: int | None = None, unit: Unit | None = None) -> None:
        """Ask for a view, as clicks would."""
        self.views[view].setChecked(True)
        self._chosen[view] = column
        self._unit = unit
        self._on_view()

    def forget(self) -> None:
        """Start over, with another project."""
        self._chosen.clear()
        self._unit = None
        self.column.clear()

    def set_runs(self, runs: Sequence[Run], *, blind: bool, parents: bool) -> None:
        """Offer the runs that are shown; none in blind mode. Keep what was chosen."""
        self.model.clear()
        for run in () if blind else runs:
            self.model.addItem(_("With {model}", model=run_title(run)), run.alias)
        self.model.addItem(_NO_MODEL, "")
        self.model.setCurrentIndex(max(0, self.model.findData(self._alias)))
        self.model.setEnabled(self.model.count() > 1)
        self.rolled.setVisible(parents)
        if not parents:
            self.rolled.setChecked(False)
        self._fit()

    def show_answer(self, answer: Answer, columns: Sequence[str]) -> None:
        """Show which column and period the figures are about."""
        places = answer.read.columns.places
        if [self.column.itemData(row) for row in range(self.column.count())] != list(places):
            self.column.clear()
            for place in places:
                self.column.addItem(
                    " ".join(columns[place].split()) or _("Column {number}", number=place + 1), place
                )
        if answer.wanted.view != "shares":
            self.column.setCurrentIndex(self.column.findData(answer.wanted.column))
        if answer.wanted.unit is not None:
            self.unit.setCurrentIndex(self.unit.findData(answer.wanted.unit))
        self._show_controls()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say more or less."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Say more or less in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        """Leave words to the tips where all does not go on one line with them."""
        layout = self.layout()
        assert layout is not None
        buttons = (self.copy, self.export)
        needed = self._asked.sizeHint().width() + sum(one.sizeHint().width() for one in buttons)
        needed += len(buttons) * layout.spacing()
        texts_of = ((self.copy, _COPY_TEXTS), (self.export, _EXPORT), (self.rolled, _ROLLED))
        for button, (whole, _short) in texts_of:
            if not button.isHidden():
                width = button.fontMetrics().horizontalAdvance
                needed += width(whole) - width(button.text())
        margins = layout.contentsMargins()  # the layout itself may not have heard of the new width yet
        narrow = needed > self.width() - margins.left() - margins.right()
        for button, texts in texts_of:
            button.setText(texts[narrow])

    def set_exports(self, on: bool) -> None:
        """Let the figures be copied and exported, or not: there are none."""
        self.copy.setEnabled(on)
        self.export.setEnabled(on)

    def _show_controls(self) -> None:
        self.column.setVisible(self.view != "shares")
        self.unit.setVisible(self.view == "time")
        self.table.setVisible(self.view == "time")
        self._fit()

    @Slot()
    def _on_view(self) -> None:
        self._show_controls()
        self.changed.emit()

    @Slot()
    def _on_column(self) -> None:
        self._chosen[self.view] = self.column.currentData()
        self._unit = None  # another column spans another time
        self.changed.emit()

    @Slot()
    def _on_model(self) -> None:
        self._alias = self.model.currentData()
        self.changed.emit()

    @Slot()
    def _on_unit(self) -> None:
        self._unit = self.unit.currentData()
        self.changed.emit()


def _combo(name: str) -> QComboBox:
    combo = ComboBox()
    combo.setAccessibleName(name)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    combo.setMaximumWidth(px(_COMBO))
    return combo


def _button(text: str, name: str, icon: str) -> QPushButton:
    button = QPushButton(text)
    button.setAccessibleName(name)
    set_role(button, "quiet")
    set_icon(button, icon, "muted")
    return button
