"""A small card beside a control that says what the control is for; the window goes on working below it.

    callout = Callout(window)
    callout.show_words(step="1 of 5", title="…", text="…")
    callout.point_at(widget)          # None, or a widget that is hidden: at the foot of the window

It is not modal and takes the focus only if it is asked to. Nothing moves by itself: it is at its place at
once, whatever the system says about motion.
"""

from __future__ import annotations

from typing import Final, Literal

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.theme import RADIUS, SPACE_L, SPACE_M, SPACE_S, px, set_role, tokens

Side = Literal["below", "above", "left", "right", "foot"]

_WIDTH: Final = 330
_ARROW: Final = 9
_RING: Final = 3
_LEAST_SEEN: Final = 8  # of a control, in pixels each way: of less nothing can be pointed at
_FOLLOWED: Final = frozenset(
    (
        QEvent.Type.Resize,
        QEvent.Type.Move,
        QEvent.Type.Show,
        QEvent.Type.Hide,
        QEvent.Type.ParentChange,
    )
)


def place_beside(
    target: QRect, size: QSize, inside: QRect, gap: int, *, mirrored: bool = False
) -> tuple[QPoint, Side]:
    """Return where a card of ``size`` goes beside ``target``, and on which side of it, within ``inside``.

    Below if there is room, else above, else at the side where reading goes on, else at the other one. Where
    it fits nowhere it lies at the foot, in the middle.
    """
    behind: tuple[Side, Side] = ("left", "right") if mirrored else ("right", "left")
    middle = target.center()
    across = _kept(middle.x() - size.width() // 2, size.width(), inside.left(), inside.right())
    along = _kept(middle.y() - size.height() // 2, size.height(), inside.top(), inside.bottom())
    places: dict[Side, QPoint] = {
        "below": QPoint(across, target.bottom() + 1 + gap),
        "above": QPoint(across, target.top() - gap - size.height()),
        "right": QPoint(target.right() + 1 + gap, along),
        "left": QPoint(target.left() - gap - size.width(), along),
    }
    for side in ("below", "above", *behind):
        if inside.contains(QRect(places[side], size)):
            return places[side], side
    return at_foot(size, inside), "foot"


def at_foot(size: QSize, inside: QRect) -> QPoint:
    """Return where a card lies that points at nothing."""
    left = inside.left() + (inside.width() - size.width()) // 2
    return QPoint(max(left, inside.left()), max(inside.bottom() + 1 - size.height(), inside.top()))


def _kept(at: int, length: int, first: int, last: int) -> int:
    return max(first, min(at, last + 1 - length))


class _Ring(QWidget):
    """A line round the control; the mouse goes through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(_("Frame around the control"))
        self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = px(_RING) / 1.5
        painter.setPen(QPen(QColor(tokens().accent), width))
        half = width / 2
        place = QRectF(self.rect()).adjusted(half, half, -half, -half)
        painter.drawRoundedRect(place, px(RADIUS), px(RADIUS))


class Callout(QFrame):
    """The card; lies over its window and follows the control that it points at."""

    leaveAsked = Signal()
    backAsked = Signal()
    nextAsked = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.side: Side = "foot"
        self._window = window
        self._target: QWidget | None = None
        self._followed: list[QWidget] = []
        self._tip = QPoint()  # of the arrow, in the window
        self.ring = _Ring(window)
        self.step = QLabel()
        set_role(self.step, "muted")
        self.title = QLabel(wordWrap=True)
        set_role(self.title, "title")
        self.text = QLabel(wordWrap=True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.leave_button = QPushButton(_("Leave the tour"))
        self.leave_button.setToolTip(_("Leave (Esc). Help > Take the tour starts it again."))
        self.back_button = QPushButton(_("Back"))
        self.next_button = QPushButton(_("Next"))
        for button, role, asked in (
            (self.leave_button, "quiet", self.leaveAsked),
            (self.back_button, "quiet", self.backAsked),
            (self.next_button, "primary", self.nextAsked),
        ):
            set_role(button, role)
            button.setAccessibleName(button.text())
            button.setAutoDefault(True)  # Enter presses the one that has the focus
            button.clicked.connect(asked)
        self._layout = QVBoxLayout(self)
        self._layout.setSpacing(px(SPACE_S))
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.step, 0, Qt.AlignmentFlag.AlignTop)
        self._layout.addLayout(head)
        self._layout.addWidget(self.text)
        buttons = QHBoxLayout()
        buttons.setSpacing(px(SPACE_S))
        buttons.addWidget(self.leave_button)
        buttons.addStretch(1)
        buttons.addWidget(self.back_button)
        buttons.addWidget(self.next_button)
        self._layout.addLayout(buttons)
        self._place_soon = QTimer(self, singleShot=True, interval=0)
        self._place_soon.timeout.connect(self.place)
        self.hide()

    # --- what is said --------------------------------------------------------------------------------------

    def show_words(self, *, step: str, title: str, text: str, next_text: str, back: bool) -> None:
        """Say something; ``step`` is where in the tour, ``back`` whether one can go back."""
        self.step.setText(step)
        self.title.setText(title)
        self.text.setText(text)
        self.next_button.setText(next_text)
        self.back_button.setVisible(back)
        for button in (self.leave_button, self.back_button, self.next_button):
            button.setAccessibleName(button.text())
        self.setAccessibleName(_("Tour, {step}: {title}", step=step, title=title))
        self.setAccessibleDescription(text)

    def point_at(self, target: QWidget | None) -> None:
        """Lie beside ``target`` and follow it."""
        self._follow(target)
        self.show()
        self.place()

    def put_away(self) -> None:
        """Hide, and follow nothing."""
        self._follow(None)
        self._place_soon.stop()
        self.hide()
        self.ring.hide()

    # --- where it lies -------------------------------------------------------------------------------------

    def _follow(self, target: QWidget | None) -> None:
        for widget in self._followed:
            widget.removeEventFilter(self)
        self._followed = []
        if self._target is not None:
            self._target.destroyed.disconnect(self._forget)
        self._target = target
        if target is None:
            self._followed = [self._window]
        else:
            target.destroyed.connect(self._forget)
            above: QWidget | None = target
            while above is not None:
                self._followed.append(above)
                above = None if above is self._window else above.parentWidget()
        for widget in self._followed:
            widget.installEventFilter(self)

    @Slot()
    def _forget(self) -> None:
        """The control is gone: what lay round it may be, too."""
        self._target = None
        self._followed = [self._window]
        self._place_soon.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the control when it, or what it lies in, moves, comes or goes."""
        if event.type() in _FOLLOWED and not self.isHidden():
            self._place_soon.start()
        return super().eventFilter(watched, event)

    def shown_part(self) -> QRect:
        """Return what can be seen of the control, in the window; empty where it is hidden."""
        target = self._target
        if target is None or not target.isVisibleTo(self._window):
            return QRect()
        seen, widget = target.rect(), target
        while widget is not self._window:
            seen = seen.translated(widget.pos())
            parent = widget.parentWidget()
            if parent is None or widget.isWindow():
                return QRect()  # it floats in a window of its own
            seen = seen.intersected(parent.rect())
            widget = parent
        return seen if min(seen.width(), seen.height()) >= _LEAST_SEEN else QRect()

    @Slot()
    def place(self) -> None:
        """Lie where the control is now."""
        around, arrow = px(SPACE_L), px(_ARROW)
        inside = self._window.rect().adjusted(px(SPACE_S), px(SPACE_S), -px(SPACE_S), -px(SPACE_S))
        margins = around, px(SPACE_M), around, px(SPACE_M)
        width = min(px(_WIDTH), inside.width())
        seen = self.shown_part()
        ring = seen.adjusted(-px(_RING), -px(_RING), px(_RING), px(_RING)).intersected(self._window.rect())
        self.setFixedWidth(width)
        self._layout.setContentsMargins(*margins)
        size = QSize(
            width, max(self._layout.totalHeightForWidth(width), self._layout.totalMinimumSize().height())
        )
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        if seen.isNull():
            corner, self.side = at_foot(size, inside), "foot"
        else:
            corner, self.side = place_beside(ring, size, inside, arrow, mirrored=mirrored)
        left, top, right, bottom = margins  # the arrow lies within the widget, beside the card
        room = {"below": (0, arrow, 0, 0), "above": (0, 0, 0, arrow), "right": (arrow, 0, 0, 0)}
        room |= {"left": (0, 0, arrow, 0), "foot": (0, 0, 0, 0)}
        more = room[self.side]
        self._layout.setContentsMargins(left + more[0], top + more[1], right + more[2], bottom + more[3])
        self.setFixedWidth(width + more[0] + more[2])
        self._tip = ring.center()
        self.setGeometry(QRect(corner, size).adjusted(-more[0], -more[1], more[2], more[3]))
        self.ring.setGeometry(ring)
        self.ring.setVisible(not seen.isNull())
        self.ring.raise_()
        self.raise_()
        self.update()

    def _card(self) -> QRectF:
        arrow, whole = px(_ARROW), QRectF(self.rect())
        room = {"below": (0, arrow, 0, 0), "above": (0, 0, 0, -arrow), "right": (arrow, 0, 0, 0)}
        left, top, right, bottom = room.get(self.side, (0, 0, -arrow if self.side == "left" else 0, 0))
        return whole.adjusted(left + 1, top + 1, right - 1, bottom - 1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the card and its arrow in the colours of now."""
        card, arrow, radius = self._card(), px(_ARROW), px(RADIUS)
        path = QPainterPath()
        path.addRoundedRect(card, radius, radius)
        tip = QPointF(self._tip - self.pos())
        if self.side in ("below", "above"):
            x = max(card.left() + radius + arrow, min(tip.x(), card.right() - radius - arrow))
            base, end = (card.top(), 1.0) if self.side == "below" else (card.bottom(), self.height() - 1.0)
            points = [QPointF(x - arrow, base), QPointF(x, end), QPointF(x + arrow, base)]
        elif self.side in ("left", "right"):
            y = max(card.top() + radius + arrow, min(tip.y(), card.bottom() - radius - arrow))
            base, end = (card.left(), 1.0) if self.side == "right" else (card.right(), self.width() - 1.0)
            points = [QPointF(base, y - arrow), QPointF(end, y), QPointF(base, y + arrow)]
        else:
            points = []
        if points:
            triangle = QPainterPath()
            triangle.addPolygon(QPolygonF(points))
            path = path.united(triangle)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(tokens().accent), 1.5))
        painter.setBrush(QColor(tokens().pane))
        painter.drawPath(path)
