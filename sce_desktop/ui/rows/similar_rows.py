"""A short list of similar rows that a person labelled; a click goes to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QLabel, QSizePolicy, QStyle, QVBoxLayout, QWidget

from sce_desktop.controllers.rows_data import is_right_to_left
from sce_desktop.core.annotations import Label
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _, number
from sce_desktop.core.text import share_text
from sce_desktop.ui.kit.painting import SQUARE, draw_lines, draw_name, draw_square
from sce_desktop.ui.kit.theme import RADIUS, px, set_role, tokens
from sce_desktop.ui.rows.row_legend import visual_box

if TYPE_CHECKING:
    from sce_desktop.tasks.insight.labelled_rows import Neighbour

_NAME_SHARE = 0.34  # of the width, at most, for the label's name


class SimilarRow(QAbstractButton):
    """One row: its label, its text, how similar it is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names = self._text = self._share = ""
        self._colour: str | None = None
        self.row_id = 0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_row(self, found: Neighbour, labels: Mapping[int, Label]) -> None:
        """Show another row."""
        given = [labels[label_id] for label_id in found.label_ids if label_id in labels]
        self.row_id = found.row_id
        self._names = " + ".join(label.name for label in given)
        self._colour = colour_of(given[0]) if given else None
        self._text, self._share = found.text, share_text(max(0.0, found.similarity))
        where = _("Row {number}", number=number(found.position + 1))
        self.setAccessibleName(f"{where}: {self._names}")
        self.setAccessibleDescription(_("{share} similar: {text}", share=self._share, text=found.text))
        self.setToolTip(f"{where}\n{self._names}\n{found.text}")
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of one line."""
        return QSize(px(180), max(px(24), self.fontMetrics().lineSpacing() + px(6)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw label, text and similarity."""
        painter, colours = QPainter(self), tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus() or self.underMouse() or self.isDown():
            fill = colours.selection if self.isDown() else colours.hover if self.underMouse() else None
            painter.setPen(QPen(QColor(colours.accent)) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(fill) if fill else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(
                QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(RADIUS), px(RADIUS)
            )
        left, right, middle = px(8), self.width() - px(8), self.height() / 2
        square = visual_box(self, QRectF(left, 0, px(SQUARE), 1))
        draw_square(painter, square.left(), middle, self._colour or "", hollow=self._colour is None)
        left += px(16)
        wide = painter.fontMetrics().horizontalAdvance(self._share)
        painter.setPen(QColor(colours.muted))
        place = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(
            visual_box(self, QRectF(right - wide, 0, wide + 1, self.height())), place, self._share
        )
        right -= wide + px(8)
        name = min(painter.fontMetrics().horizontalAdvance(self._names), round((right - left) * _NAME_SHARE))
        painter.setPen(QColor(colours.ink))
        draw_name(painter, self._visual(QRect(left, 0, name + 1, self.height())), self._names)
        left += name + px(8)
        painter.setPen(QColor(colours.muted))
        area = self._visual(QRect(left, 0, right - left, self.height()))
        draw_lines(painter, area, self._text, 1, right_to_left=is_right_to_left(self._text))
        painter.end()

    def _visual(self, box: QRect) -> QRect:
        return QStyle.visualRect(self.layoutDirection(), self.rect(), box)


class SimilarRows(QWidget):
    """The list, with its title."""

    chosen = Signal(object)  # row id

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel(_("Similar rows you labelled"))
        set_role(self.title, "muted")
        self.title.setToolTip(_("By the model's text vectors. Accepted predictions are excluded."))
        self.buttons: list[SimilarRow] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(self.title)
        self.set_rows((), {})

    def set_rows(self, found: Sequence[Neighbour], labels: Mapping[int, Label]) -> None:
        """Show these rows, the most similar first; nothing where there is none."""
        while len(self.buttons) < len(found):
            button = SimilarRow()
            button.clicked.connect(self._on_clicked)
            self._layout.addWidget(button)
            self.buttons.append(button)
        for button, row in zip(self.buttons, found, strict=False):
            button.show_row(row, labels)
            button.show()
        for button in self.buttons[len(found) :]:
            button.hide()
        self.setVisible(bool(found))

    @Slot()
    def _on_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, SimilarRow):
            self.chosen.emit(button.row_id)
