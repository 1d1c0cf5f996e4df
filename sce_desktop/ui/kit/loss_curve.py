"""The loss of a fine-tune by epoch: training rows in grey, validation rows in the accent colour."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from sce_desktop.core.i18n import N_, _, number
from sce_desktop.ui.kit.theme import SPACE_S, font, px, tokens

_TRAINING, _VALIDATION = N_("training {loss}"), N_("validation {loss}")
_TRAINING_FELL = N_("Training loss by epoch: {first} to {last}")
_VALIDATION_FELL = N_("Validation loss by epoch: {first} to {last}")
_LEAST_SPAN = 0.05  # a curve that hardly falls is drawn flat


class LossCurve(QWidget):
    """Draws what it is given; keeps nothing else."""

    accessible_role = QAccessible.Role.Chart

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._training: list[float] = []
        self._held_out: list[float] = []
        self.setAccessibleName(_("Loss by epoch"))

    def sizeHint(self) -> QSize:
        """Beside a table."""
        return QSize(px(220), px(96))

    def minimumSizeHint(self) -> QSize:
        """As small as it can be read."""
        return QSize(px(120), px(70))

    def show_losses(self, training: Sequence[float], held_out: Sequence[float] = ()) -> None:
        """Show the losses of epochs 1, 2 and so on."""
        self._training, self._held_out = list(training), list(held_out)
        words = [
            _(sentence, first=number(losses[0], 2), last=number(losses[-1], 2))
            for sentence, losses in ((_TRAINING_FELL, training), (_VALIDATION_FELL, held_out))
            if losses
        ]
        self.setAccessibleDescription("\n".join(words))
        self.setToolTip("\n".join(words))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw both curves over one axis, and what they are."""
        every = [*self._training, *self._held_out]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = tokens()
        painter.setFont(font("heading") if not every else painter.font())
        height = painter.fontMetrics().height()
        area = QRectF(self.rect()).adjusted(1, height + px(SPACE_S), -px(SPACE_S), -1)
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        if not every:
            return
        low = min(every)
        span = max(max(every) - low, _LEAST_SPAN)
        most = max(len(self._training), len(self._held_out), 2)
        x = 0.0
        for legend, losses, colour in (
            (_TRAINING, self._training, colours.muted),
            (_VALIDATION, self._held_out, colours.accent),
        ):
            if not losses:
                continue
            painter.setPen(QPen(QColor(colour), px(2)))
            line = QPolygonF(
                [
                    QPointF(
                        area.left() + area.width() * place / (most - 1),
                        area.bottom() - px(2) - (area.height() - px(4)) * (loss - low) / span,
                    )
                    for place, loss in enumerate(losses)
                ]
            )
            painter.drawPolyline(line)
            words = _(legend, loss=number(losses[-1], 2))
            painter.drawLine(QPointF(x, height / 2), QPointF(x + px(12), height / 2))
            painter.setPen(QColor(colours.ink))
            width = painter.fontMetrics().horizontalAdvance(words)
            place = QRectF(x + px(16), 0, width + 2, height)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), words)
            x = place.right() + px(12)
