"""The map itself: points that one can zoom into, point at, click, and draw a line round."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from sce_desktop.core.geometry import inside
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.theme import px, tokens
from sce_desktop.ui.map import map_raster
from sce_desktop.ui.map.map_pointer import Way, nearest_point, next_point, seen
from sce_desktop.ui.map.map_raster import Looks

Tool = Literal["lasso", "rectangle", "move"]
_NEAR = 9  # pixels of the sketch round the mouse in which a point is meant
_STEP = 3  # pixels between the corners of a lasso
_REDRAW_MS = 15  # while one zooms or moves, the last picture is shown stretched that long
_MOST_STRETCH = 5.0  # of one axis against the other: docks are wide, and the map should fill them
_ZOOMS = (0.2, 400.0)  # of the whole map
_KEYS = frozenset(
    {
        Qt.Key.Key_Plus,
        Qt.Key.Key_Minus,
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Home,
        Qt.Key.Key_Escape,
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
        Qt.Key.Key_Space,
    }
)
_WAYS: dict[int, Way] = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
}


class MapView(QWidget):
    """Knows points by their places in the arrays that it was given; knows nothing of rows."""

    chosen = Signal(object)  # a point was clicked
    hovered = Signal(object, object)  # the point under the mouse (-1: none) and the mouse on the screen
    drawn = Signal(object, object)  # a mask (n,) of the points inside a line, and whether to add them
    toggled = Signal(object)  # the space bar was pressed at a point
    cleared = Signal()  # Escape

    accessible_role = QAccessible.Role.Graphic

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Map of the rows"))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(px(240), px(140))
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.tool: Tool = "lasso"
        self._places: NDArray[np.floating] = np.zeros((0, 2))
        self._looks = Looks(np.zeros(0, np.uint32), np.zeros(0, np.uint8), np.zeros(0, bool))
        self._bounds = np.zeros((2, 2))  # the lowest and the highest corner
        self._shuffled = self.painted = np.zeros(0, np.int64)  # points in the order of painting
        self._painted_places = np.zeros((0, 2))
        self._centre = np.zeros(2)
        self._whole = np.ones(2)  # pixels a unit at which everything is seen
        self._zoom = 1.0  # against that
        self._fitted = True  # follows the size of the widget
        self._picture: QImage | None = None
        self._picture_at: tuple[NDArray[np.float64], NDArray[np.float64], QSize] | None = None
        self._pixels: NDArray[np.float64] | None = None  # of the painted points
        self._current = -1
        self._hovered = -1
        self._path: list[QPointF] = []
        self._pressed: QPointF | None = None
        self._moving = False
        self._redraw = QTimer(self, singleShot=True, interval=_REDRAW_MS)
        self._redraw.timeout.connect(self._render)

    # --- what is shown -------------------------------------------------------------------------------------

    def set_points(self, places: NDArray[np.floating], looks: Looks) -> None:
        """Show points (n, 2); the part that is seen stays."""
        self._places = places
        self._shuffled = np.random.default_rng(0).permutation(len(places))
        if len(places):
            self._bounds = np.array([[axis.min(), axis.max()] for axis in self._places.T]).T
        self._hovered = self._current = -1
        self._frame()
        self.set_looks(looks)

    def set_looks(self, looks: Looks) -> None:
        """Show the same points in other colours or with other marks."""
        self._looks = looks
        self.painted = map_raster.paint_order(looks.marks, self._shuffled)
        self._painted_places = self._places[self.painted].astype(np.float64)
        self._pixels = None
        self.forget()

    def set_current(self, point: int) -> None:
        """Mark a point as that of the current row; -1: none."""
        if point != self._current:
            self._current = point
            self.update()

    @Slot()
    def forget(self) -> None:
        """Draw everything again: the colours of the theme may be others."""
        self._picture = None
        self.update()

    @Slot()
    def fit(self) -> None:
        """Show all points."""
        self._fitted = True
        self._frame()
        self._moved()

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom in (above 1) or out; the point under ``at`` (the middle) stays where it is."""
        at = at or QPointF(self.rect().center())
        offset = (np.array([at.x(), at.y()]) - self._middle()) * (1, -1)
        fixed = self._centre + offset / self._scale()
        self._zoom = float(np.clip(self._zoom * factor, *_ZOOMS))
        self._centre = fixed - offset / self._scale()
        self._fitted = False
        self._moved()

    def pan(self, across: float, down: float) -> None:
        """Move the points by so many pixels."""
        self._centre = self._centre - np.array([across, -down]) / self._scale()
        self._fitted = False
        self._moved()

    def pixels(self) -> NDArray[np.float64]:
        """Return where all points (n, 2) are, in pixels of the widget."""
        return self._on_screen(self._places)

    def _on_screen(self, places: NDArray[np.floating]) -> NDArray[np.float64]:
        return (places - self._centre) * (self._scale() * (1, -1)) + self._middle()

    def _painted_pixels(self) -> NDArray[np.float64]:
        if self._pixels is None:
            self._pixels = self._on_screen(self._painted_places)
        return self._pixels

    def point_at(self, at: QPointF) -> int:
        """Return the painted point nearest to ``at``, -1 if none is near."""
        pixels = self._painted_pixels()
        if not len(pixels):
            return -1
        away = pixels[:, 0] - at.x()
        away *= away
        down = pixels[:, 1] - at.y()
        down *= down
        away += down
        nearest = int(away.argmin())
        return int(self.painted[nearest]) if away[nearest] <= px(_NEAR) ** 2 else -1

    def _middle(self) -> NDArray[np.float64]:
        return np.array([self.width(), self.height()]) / 2

    def _scale(self) -> NDArray[np.float64]:
        """Pixels a unit, by axis."""
        return self._whole * self._zoom

    def _frame(self) -> None:
        if not len(self._places):
            return
        low, high = self._bounds
        margin = 2 * px(12)
        room = np.maximum(np.array([self.width(), self.height()]) - margin, 1)
        whole = room / np.maximum(high - low, 1e-6)
        self._whole = np.minimum(whole, whole.min() * _MOST_STRETCH)
        if self._fitted:
            self._centre, self._zoom = (low + high) / 2, 1.0
        self._pixels = None

    def _moved(self) -> None:
        self._pixels = None
        self._set_hovered(-1, QPoint())
        if not self._redraw.isActive():
            self._redraw.start()
        self.update()

    # --- painting ------------------------------------------------------------------------------------------

    @Slot()
    def _render(self) -> None:
        ratio = self.devicePixelRatioF()
        size = QSize(round(self.width() * ratio), round(self.height() * ratio))
        self._picture = map_raster.draw(
            self._painted_pixels() * ratio,
            self._looks,
            self.painted,
            size.width(),
            size.height(),
            px(1) * ratio,
            tokens().pane,
        )
        self._picture.setDevicePixelRatio(ratio)
        self._picture_at = (self._centre.copy(), self._scale(), self.size())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture of the points, and over it what moves."""
        colours = tokens()
        if self._picture is None:
            self._render()
        assert self._picture is not None
        assert self._picture_at is not None
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.pane))
        centre, scale, size = self._picture_at
        if not self._redraw.isActive():
            painter.drawImage(0, 0, self._picture)
        else:
            stretch = self._scale() / scale
            corner = self._middle() + (centre - self._centre) * self._scale() * (1, -1)
            corner -= np.array([size.width(), size.height()]) / 2 * stretch
            left, top = corner.tolist()
            wide, high = (stretch * (size.width(), size.height())).tolist()
            target = QRectF(left, top, wide, high)
            painter.drawImage(target, self._picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if 0 <= self._hovered < len(self._places):
            self._ring(painter, self._hovered, px(7), colours.ink)
        if 0 <= self._current < len(self._places):
            self._mark_current(painter)
        if self._path:
            painter.setPen(QPen(QColor(colours.accent), px(1.5)))
            fill = QColor(colours.accent)
            fill.setAlphaF(0.12)
            painter.setBrush(fill)
            painter.drawPolygon(QPolygonF(self._outline()))
        if self.hasFocus():
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def _ring(self, painter: QPainter, point: int, size: float, colour: str) -> QPointF:
        at = QPointF(*self._on_screen(self._places[point]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(tokens().pane), px(4)))
        painter.drawEllipse(at, size, size)
        painter.setPen(QPen(QColor(colour), px(2)))
        painter.drawEllipse(at, size, size)
        return at

    def _mark_current(self, painter: QPainter) -> None:
        """Draw a ring with four ticks: no other mark looks like it."""
        at = self._ring(painter, self._current, px(8), tokens().accent)
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            way = QPointF(x, y)
            painter.drawLine(at + way * px(8), at + way * px(14))

    # --- mouse and keys ------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click, a line or a move."""
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        self._pressed = event.position()
        self._moving = event.button() is Qt.MouseButton.MiddleButton or self.tool == "move"

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on with it, or tell which point is under the mouse."""
        at = event.position()
        if self._pressed is None:
            self._set_hovered(self.point_at(at), event.globalPosition().toPoint())
        elif self._moving:
            self.pan(at.x() - self._pressed.x(), at.y() - self._pressed.y())
            self._pressed = at
        elif self._path or (at - self._pressed).manhattanLength() >= QApplication.startDragDistance():
            self._set_hovered(-1, QPoint())
            self._path = self._path or [self._pressed]
            if (at - self._path[-1]).manhattanLength() >= _STEP or self.tool == "rectangle":
                self._path.append(at)
                self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End it: a line selects, a click chooses."""
        if self._pressed is None:
            return
        adds = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if self._path:
            corners = np.array([[at.x(), at.y()] for at in self._outline()])
            self.drawn.emit(inside(self.pixels(), corners), adds)
        elif not self._moving and (point := self.point_at(event.position())) >= 0:
            self.chosen.emit(point)
        self._pressed, self._path, self._moving = None, [], False
        self.update()

    def _outline(self) -> list[QPointF]:
        if self.tool != "rectangle":
            return self._path
        first, last = self._path[0], self._path[-1]
        return [first, QPointF(last.x(), first.y()), last, QPointF(first.x(), last.y())]

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the mouse."""
        self.zoom(1.0015 ** event.angleDelta().y(), event.position())
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        self._set_hovered(-1, QPoint())

    def event(self, event: QEvent) -> bool:
        """Keep the keys of the map from the window, where arrows and letters decide about rows."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() is QEvent.Type.ShortcutOverride
            and (event.key() in _KEYS or event.matches(QKeySequence.StandardKey.SelectAll))
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom by + and -, move by the arrows, show all by Home, clear by Escape.

        With Ctrl the arrows go from point to point; Return chooses one, the space bar selects it, and Ctrl+A
        selects all points that are seen (with Shift besides those selected).
        """
        step, control = px(40), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if control and event.key() in _WAYS:
            self.point(_WAYS[event.key()])
            return
        if control and event.key() == Qt.Key.Key_A:
            adds = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.drawn.emit(seen(self.pixels(), self.width(), self.height()), adds)
            return
        match event.key():
            case Qt.Key.Key_Plus:
                self.zoom(1.25)
            case Qt.Key.Key_Minus:
                self.zoom(0.8)
            case Qt.Key.Key_Left:
                self.pan(step, 0)
            case Qt.Key.Key_Right:
                self.pan(-step, 0)
            case Qt.Key.Key_Up:
                self.pan(0, step)
            case Qt.Key.Key_Down:
                self.pan(0, -step)
            case Qt.Key.Key_Home:
                self.fit()
            case Qt.Key.Key_Escape:
                self._pressed, self._path = None, []
                self._set_hovered(-1, QPoint())
                self.cleared.emit()
                self.update()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                if self._hovered >= 0:
                    self.chosen.emit(self._hovered)
            case Qt.Key.Key_Space:
                if self._hovered >= 0:
                    self.toggled.emit(self._hovered)
            case _:
                super().keyPressEvent(event)

    def point(self, way: Way) -> None:
        """Point at the next painted point in one direction; at first at the current one, if it is seen."""
        pixels = self._painted_pixels()
        within = np.flatnonzero(seen(pixels, self.width(), self.height()))
        if not len(within):
            return
        shown = pixels[within]
        if 0 <= self._hovered < len(self._places):
            found = next_point(shown, self._on_screen(self._places[self._hovered]), way)
        else:
            current = self._current if 0 <= self._current < len(self._places) else -1
            here = self._on_screen(self._places[current]) if current >= 0 else self._middle()
            found = nearest_point(shown, here)
        if found >= 0:
            at = QPointF(*shown[found]).toPoint()
            self._set_hovered(int(self.painted[within[found]]), self.mapToGlobal(at))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fill the new size."""
        self._frame()
        self.forget()

    def _set_hovered(self, point: int, at: QPoint) -> None:
        if point != self._hovered:
            self._hovered = point
            self.hovered.emit(point, at)
            self.update()
