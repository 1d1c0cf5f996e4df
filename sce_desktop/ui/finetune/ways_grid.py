"""The ways in which a version can predict, one a line: how each fares, and a button to use it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from sce_desktop.core.heads import NAMES, HeadReport, Way, WayReport
from sce_desktop.core.i18n import _
from sce_desktop.core.text import exact_share_text, interval_text
from sce_desktop.core.versions import ModelVersion
from sce_desktop.ui.finetune.versions_list import gain
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, font, px, set_role

_TIPS = {
    Way.ZERO_SHOT: _("The model before any fine-tuning."),
    Way.SCE: _("The base model's scores, corrected by your labels."),
    Way.LOGISTIC: _("Logistic regression on the text vectors, from your labels alone."),
    Way.PRODUCT: _("The geometric mean of SCE head and logistic regression."),
    Way.ADAPTED: _("The SCE head on vectors of the fine-tuned text encoder."),
}


class WaysGrid(QScrollArea):
    """Says which way a version predicts in, and why; ``wayAsked``: another one is to be used."""

    wayAsked = Signal(object)  # Way

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setAccessibleName(_("Ways to predict"))
        self.reason = QLabel(wordWrap=True)
        self.reason.setTextFormat(Qt.TextFormat.PlainText)
        self.reason.setAccessibleName(_("Why this way"))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(px(SPACE_M))
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(7, 1)
        page = QWidget()
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(page, "pane")
        stack = QVBoxLayout(page)
        stack.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        stack.setSpacing(px(SPACE_S))
        stack.addWidget(self.reason)
        stack.addLayout(self._grid)
        stack.addStretch()
        self.setWidget(page)
        self._version: ModelVersion | None = None
        self._cells: list[QWidget] = []
        self.buttons: dict[Way, QPushButton] = {}

    @property
    def filled(self) -> bool:
        """Whether there is anything to choose among."""
        return bool(self.buttons)

    @property
    def texts(self) -> list[list[str]]:
        """What the lines say, the heading first."""
        lines: dict[int, list[str]] = {}
        for cell in self._cells:
            if isinstance(cell, QLabel) and cell.text():
                place = self._grid.getItemPosition(self._grid.indexOf(cell))[0]  # type: ignore[index]
                lines.setdefault(place, []).append(cell.text())
        return list(lines.values())

    def show_version(self, version: ModelVersion | None) -> None:
        """Show the ways of ``version``; nothing if it has but one, or no rows were measured."""
        head = version.report.head if version is not None else None
        self._version = version
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.hide()
            cell.deleteLater()
        self._cells, self.buttons = [], {}
        self.reason.setText(head.reason if head is not None else "")
        if head is None or not head.ways:
            return
        for column, text in enumerate((_("Way"), _("Accuracy"), _("95% CI"), _("Gain")), 1):
            heading = QLabel(text)
            set_role(heading, "muted")
            self._put(heading, 0, column)
        for place, found in enumerate(head.ways, 1):
            self._show_way(place, head, found)
        self.follow_use(version)

    def follow_use(self, version: ModelVersion | None) -> None:
        """Show whether the version is in use."""
        self._version = version
        head = version.report.head if version is not None else None
        if head is None or version is None:
            return
        for way, button in self.buttons.items():
            used = version.active and way is head.way
            found = head.of(way)
            usable = found is not None and found.usable
            button.setText(_("In use") if used else _("Use"))
            button.setEnabled(usable and not used)
            name = _(NAMES[way])
            button.setAccessibleName(_("{way}, in use", way=name) if used else _("Use {way}", way=name))
            if not usable:
                button.setToolTip(_("Not better, so it was not trained on all rows."))
            elif used:
                button.setToolTip(_("Scores come from this one."))
            else:
                button.setToolTip(_("Predict in this way from now on"))

    def _show_way(self, place: int, head: HeadReport, found: WayReport) -> None:
        name, chosen = _(NAMES[found.way]), found.way is head.way
        mark = QLabel()
        if chosen:
            size = px(16)
            mark.setPixmap(icon("check", "good").pixmap(size, size))
            mark.setToolTip(_("This version predicts in this way."))
            mark.setAccessibleName(_("{way}: this version predicts so", way=name))
        title = QLabel(name)
        title.setToolTip(_TIPS[found.way])
        cells = [
            title,
            QLabel(exact_share_text(found.figures.accuracy)),
            QLabel(interval_text(found.figures.interval)),
            QLabel("" if found.way is Way.ZERO_SHOT else gain(found.paired.difference)),
        ]
        cells[3].setToolTip(_("Accuracy gained over the base model on validation rows, in points"))
        for cell in cells:
            cell.setTextFormat(Qt.TextFormat.PlainText)
            if chosen:
                cell.setFont(font("strong"))
        button = QPushButton()
        button.clicked.connect(partial(self.wayAsked.emit, found.way))
        self.buttons[found.way] = button
        for column, widget in enumerate((mark, *cells, button)):
            self._put(widget, place, column)
        if found.way is head.best:
            best = QLabel(_("Best"))
            best.setToolTip(_("The choice of cross-validation."))
            set_role(best, "muted")
            self._put(best, place, 6)

    def _put(self, widget: QWidget, place: int, column: int) -> None:
        side = Qt.AlignmentFlag.AlignRight if column in (2, 3, 4) else Qt.AlignmentFlag.AlignLeft
        self._grid.addWidget(widget, place, column, side | Qt.AlignmentFlag.AlignVCenter)
        self._cells.append(widget)
