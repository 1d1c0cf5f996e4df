"""The parts round the map: tools and selection above, colours and legend beside, and why there is none."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.i18n import _, ngettext
from sce_desktop.tasks.insight.map import Method
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, SPACE_S, px, set_role
from sce_desktop.ui.map.map_legend import MapLegend

_SIDE = 240
_ZOOM = 1.4  # by a press of a button
_TOOLS = (
    ("lasso", _("Lasso"), _("Draw around rows to select them (Shift adds to the selection)")),
    ("rectangle", _("Rectangle"), _("Drag a rectangle to select rows (Shift adds to the selection)")),
    ("move", _("Move"), _("Move the map (always: middle mouse button or arrow keys)")),
)


class MapBar(QWidget):
    """Tools at the leading edge; at the other what is selected, and what the map shows in which way."""

    toolChosen = Signal(object)
    zoomAsked = Signal(object)  # factor
    fitAsked = Signal()
    showAsked = Signal()
    decideAsked = Signal(object)  # where a menu goes
    clearAsked = Signal()
    colourChosen = Signal()
    methodChosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tools: dict[str, QPushButton] = {}
        group = QButtonGroup(self)
        around = QHBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.setSpacing(px(SPACE_S))
        row = FlowLayout(gap=px(SPACE_S))  # what is selected begins a second line where the panel is narrow
        around.addLayout(row, 1)
        for name, text, tip in _TOOLS:
            button = QPushButton(text)
            button.setCheckable(True)
            button.setChecked(name == "lasso")
            button.setToolTip(tip)
            set_role(button, "chip")
            group.addButton(button)
            row.addWidget(button)
            self.tools[name] = button
        group.buttonClicked.connect(self._on_tool)
        self._zoom(row, "add", _("Zoom in (+)")).clicked.connect(self._zoom_in)
        self._zoom(row, "remove", _("Zoom out (-)")).clicked.connect(self._zoom_out)
        self.whole = QPushButton(_("Show all"))
        self.whole.setToolTip(_("Show the whole map (Home)"))
        set_role(self.whole, "quiet")
        self.whole.clicked.connect(self.fitAsked)
        row.addWidget(self.whole)
        self.count = QLabel()
        self.count.setAccessibleName(_("Selected rows"))
        self.show_button = QPushButton(_("Show in table"))
        self.show_button.setToolTip(_("Show only the selected rows in the table"))
        set_role(self.show_button, "primary")
        self.show_button.clicked.connect(self.showAsked)
        self.decide_button = QPushButton(_("Label…"))
        self.decide_button.clicked.connect(self._ask_decide)
        self.clear_button = QPushButton(_("Clear selection"))
        self.clear_button.setToolTip(_("Clear the selection (Esc)"))
        set_role(self.clear_button, "quiet")
        self.clear_button.clicked.connect(self.clearAsked)
        for widget in (self.count, self.show_button, self.decide_button, self.clear_button):
            row.addWidget(widget)
        self.colour = ComboBox()
        self.colour.setAccessibleName(_("Colours"))
        self.colour.addItem(_("Your labels"), False)
        self.colour.addItem(_("Predictions"), True)
        self.colour.currentIndexChanged.connect(self.colourChosen)
        self.method = ComboBox()
        self.method.setAccessibleName(_("Layout"))
        self.method.addItem(_("PCA"), "pca")
        self.method.setItemData(0, _("Principal components: fast"), Qt.ItemDataRole.ToolTipRole)
        self.method.addItem(_("UMAP"), "umap")
        self.method.setItemData(
            1, _("Keeps similar rows together: takes minutes for many rows"), Qt.ItemDataRole.ToolTipRole
        )
        self.method.activated.connect(self._on_method)
        for box in (self.colour, self.method):
            around.addWidget(box, 0, Qt.AlignmentFlag.AlignTop)
        self.setMinimumHeight(self.show_button.sizeHint().height())
        self.show_count(0, may_decide=False)

    def _zoom(self, row: QLayout, icon: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        set_role(button, "quiet")
        set_icon(button, icon, "muted")
        row.addWidget(button)
        return button

    @Slot(QAbstractButton)
    def _on_tool(self, button: QAbstractButton) -> None:
        self.toolChosen.emit(next(name for name, tool in self.tools.items() if tool is button))

    @Slot()
    def _zoom_in(self) -> None:
        self.zoomAsked.emit(_ZOOM)

    @Slot()
    def _zoom_out(self) -> None:
        self.zoomAsked.emit(1 / _ZOOM)

    @Slot()
    def _on_method(self) -> None:
        self.methodChosen.emit(self.method.currentData())

    def show_count(self, count: int, *, may_decide: bool) -> None:
        """Say how many rows are selected, and offer what can be done with them."""
        self.count.setText(ngettext("{count} row selected", "{count} rows selected", count) if count else "")
        for widget in (self.count, self.show_button, self.decide_button, self.clear_button):
            widget.setVisible(count > 0)
        self.decide_button.setEnabled(may_decide)
        tip = (
            _("Label all selected rows")
            if may_decide
            else _("Too many rows selected: select fewer to label them here")
        )
        self.decide_button.setToolTip(tip)

    @property
    def by_prediction(self) -> bool:
        """Whether colours show predictions."""
        return bool(self.colour.currentData())

    def set_blind(self, blind: bool) -> None:
        """Hide predictions."""
        if blind:
            self.colour.setCurrentIndex(0)
        self.colour.setEnabled(not blind)
        self.colour.setToolTip(_("Predictions are hidden in blind mode") if blind else "")

    def show_method(self, method: Method) -> None:
        """Show how the map is laid out."""
        self.method.setCurrentIndex(self.method.findData(method))

    @Slot()
    def _ask_decide(self) -> None:
        self.decideAsked.emit(self.decide_button.mapToGlobal(QPoint(0, self.decide_button.height())))


class MapSide(QWidget):
    """What the points mean, and which of them are shown."""

    filterChosen = Signal(object)
    againAsked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedWidth(px(_SIDE))
        self.only = QCheckBox(_("Only rows shown in the table"))
        self.only.toggled.connect(self._on_only)
        self.legend = MapLegend()
        self.note = QLabel(wordWrap=True)
        self.note.setAccessibleName(_("About this map"))
        set_role(self.note, "muted")
        self.again = QPushButton(_("Recompute map"))
        set_role(self.again, "quiet")
        self.again.clicked.connect(self.againAsked)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(SPACE_S))
        column.addWidget(self.legend, 1)
        column.addWidget(self.only)
        column.addWidget(self.note)
        column.addWidget(self.again)
        self.again.hide()

    @Slot(bool)
    def _on_only(self, on: bool) -> None:
        self.filterChosen.emit(on)

    @Slot(object)
    def show_text(self, words: str) -> None:
        """Say what the map shows, or how far another one is."""
        self.note.setText(words)


class EmptyMap(QWidget):
    """Says why there is no map, and what to do."""

    scoreAsked = Signal()
    againAsked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.words.setAccessibleName(_("Message"))
        set_role(self.words, "muted")
        self.score = QPushButton(_("Score"))
        set_role(self.score, "primary")
        self.score.clicked.connect(self.scoreAsked)
        self.again = QPushButton(_("Recompute map"))
        self.again.clicked.connect(self.againAsked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(px(SPACE_L), 0, px(SPACE_L), 0)
        layout.setSpacing(px(SPACE_M))
        layout.addStretch(1)
        layout.addWidget(self.words)
        layout.addWidget(self.score, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(self.again, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        self.score.hide()
        self.again.hide()

    @Slot(object)
    def show_text(self, words: str) -> None:
        """Show a sentence."""
        self.words.setText(words)
