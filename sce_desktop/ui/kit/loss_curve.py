"""The loss of a fine-tune by epoch: training in grey, rows left out in the accent colour."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from sce_desktop.ui.kit.theme import SPACE_S, font, px, tokens

_LEAST_SPAN = 0.05  # a curve that hardly falls is drawn flat


class LossCurve(QWidget):
    """Draws what it is given; keeps nothing else."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._training: list[float] = []
        self._held_out: list[float] = []
        self.setAccessibleName("Loss by epoch")

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
            f"{name} from {losses[0]:.2f} to {losses[-1]:.2f}"
            for name, losses in (("training", training), ("rows left out", held_out))
            if losses
        ]
        self.setAccessibleDescription(", ".join(words))
        self.setToolTip("Loss by epoch: " + ", ".join(words) if words else "")
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
        for name, losses, colour in (
            ("training", self._training, colours.muted),
            ("rows left out", self._held_out, colours.accent),
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
            words = f"{name} {losses[-1]:.2f}"
            painter.drawLine(QPointF(x, height / 2), QPointF(x + px(12), height / 2))
            painter.setPen(QColor(colours.ink))
            width = painter.fontMetrics().horizontalAdvance(words)
            place = QRectF(x + px(16), 0, width + 2, height)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), words)
            x = place.right() + px(12)
