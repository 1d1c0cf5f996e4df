"""A part of the window that gives way as long as it can, and scrolls where it cannot any more."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from sce_desktop.ui.kit.theme import SPACE_S, px, set_role

_LEAST = 120


class LowBody(QWidget):
    """As low as its layout can be at a width: `QScrollArea` asks for the height that it would like."""

    def heightForWidth(self, width: int) -> int:
        """Return the least height at a width."""
        layout = self.layout()
        return -1 if layout is None else layout.totalMinimumHeightForWidth(width)


class LowScroll(QScrollArea):
    """Shows what lies in ``inside`` as high as there is room; below the least height of that it scrolls.

    Its own least height never changes, so that what it shows does not push what is below it, as a dock.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.inside = LowBody()
        set_role(self.inside, "pane")
        self.inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(self.inside)

    @classmethod
    def of(cls, pane: QWidget) -> LowScroll:
        """Return the one that fills a pane or panel, spoken of by its name."""
        area = cls()
        area.setAccessibleName(pane.accessibleName())
        around = QVBoxLayout(pane)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(area)
        return area

    def minimumSizeHint(self) -> QSize:
        """Return the width that the content needs, and a height that is always the same."""
        return QSize(self.inside.minimumSizeHint().width(), px(_LEAST))


def scrolled_column(name: str, *widgets: QWidget) -> tuple[QScrollArea, QWidget]:
    """Return an area without a frame, spoken of as ``name``, and in it ``widgets`` one below the other."""
    inside = QWidget()
    set_role(inside, "pane")
    inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    column = QVBoxLayout(inside)
    column.setContentsMargins(0, 0, 0, px(SPACE_S))
    column.setSpacing(px(SPACE_S))
    for widget in widgets:
        column.addWidget(widget)
    column.addStretch(1)
    area = QScrollArea()
    area.setAccessibleName(name)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    return area, inside
