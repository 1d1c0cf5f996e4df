"""What needs more room than the screen has scrolls: on a small screen, or with text of twice the size.

Where there is room nothing changes: a window keeps its least size, and a dialog its layout.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.ui.kit.low_scroll import LowBody
from sce_desktop.ui.kit.theme import SPACE_L, px

FRAME = 40  # of a window: what the system draws above it


class ScreenScroll(QScrollArea):
    """Shows ``inside``, at its least size where there is less room; what gets the focus comes into view.

    It asks for as much room as ``inside`` needs, and never for more than the screen has beside ``bars``, the
    other parts of the window above and below, and ``spare`` pixels.
    """

    def __init__(self, inside: QWidget, bars: Sequence[QWidget] = (), *, spare: int = 0) -> None:
        super().__init__()
        self._inside, self._bars, self._spare = inside, tuple(bars), spare
        self.setAccessibleName(inside.accessibleName())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setWidget(inside)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus)

    def minimumSizeHint(self) -> QSize:
        """Return what the content needs, at most what the screen has."""
        inside = self._inside
        bars = self._spare + sum(bar.sizeHint().height() for bar in self._bars if not bar.isHidden())
        room = self.screen().availableSize() - QSize(0, bars)
        return inside.minimumSizeHint().expandedTo(inside.minimumSize()).boundedTo(room)

    def sizeHint(self) -> QSize:
        """Return what the content would like."""
        return self._inside.sizeHint().expandedTo(self.minimumSizeHint())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what the content needs."""
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    @Slot(QWidget, QWidget)
    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        scrolls = self.horizontalScrollBar().maximum() or self.verticalScrollBar().maximum()
        if scrolls and new is not None and self._inside.isAncestorOf(new):
            self.ensureWidgetVisible(new)


def room_for(dialog: QWidget) -> QSize:
    """Return the size that a dialog can have on its screen."""
    screen = dialog.screen().availableSize()
    return QSize(screen.width(), screen.height() - px(FRAME))


def scroll_in_dialog(dialog: QDialog) -> bool:
    """Let a dialog scroll if it would be larger than the screen; return whether it does.

    Buttons at its foot stay where they are. The layout goes on working for what is added to it later.
    """
    layout, room = dialog.layout(), room_for(dialog)
    if layout is None or dialog.findChild(ScreenScroll) is not None:
        return False
    width = min(max(dialog.width(), layout.totalMinimumSize().width()), room.width())
    least = layout.totalMinimumSize()
    height = layout.totalMinimumHeightForWidth(width) if layout.hasHeightForWidth() else least.height()
    wanted = least.expandedTo(QSize(0, height)).expandedTo(dialog.minimumSize()).expandedTo(dialog.size())
    if wanted.width() <= room.width() and wanted.height() <= room.height():
        return False
    foot = None
    if isinstance(layout, QBoxLayout) and (item := layout.itemAt(layout.count() - 1)) is not None:
        last = item.widget()
        foot = last if isinstance(last, QDialogButtonBox) else None
    if foot is not None:
        layout.removeWidget(foot)
        foot.setParent(None)  # Tab comes to it after the body, which comes in new
        if foot.sizeHint().width() + 2 * px(SPACE_L) > room.width():
            foot.setOrientation(Qt.Orientation.Vertical)
    body = LowBody()
    body.setLayout(layout)  # takes the widgets along
    area = ScreenScroll(body, () if foot is None else (foot,), spare=px(FRAME) + 2 * px(SPACE_L))
    area.setAccessibleName(dialog.windowTitle())
    column = QVBoxLayout(dialog)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(area, 1)
    if foot is not None:
        line = QVBoxLayout()
        line.setContentsMargins(px(SPACE_L), px(SPACE_L) // 2, px(SPACE_L), px(SPACE_L))
        line.addWidget(foot)
        column.addLayout(line)
    dialog.setMinimumSize(0, 0)
    dialog.resize(wanted.boundedTo(room))
    return True
