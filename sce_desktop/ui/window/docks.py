"""The panels below the three zones, each in a dock of its own that can be moved, floated and closed.

A panel is built when its dock is first shown: what it needs to import must not delay the window.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.parts import DockPart
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XS, px, set_role
from sce_desktop.ui.kit.visibility import is_seen

_WIDTH, _HEIGHT = 640, 296  # with its title, a dock is 320 high


class _Place(QWidget):
    """Holds a panel. All docks share one height: the wish of each would move the rows as panels come."""

    def __init__(self) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)

    def sizeHint(self) -> QSize:
        return QSize(px(_WIDTH), px(_HEIGHT))


class _Title(QWidget):
    """The name of a panel, and buttons larger than those of Qt; one drags the dock by it."""

    def __init__(self, dock: PanelDock) -> None:
        super().__init__(dock)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "dock")
        name = QLabel(dock.windowTitle())
        set_role(name, "heading")
        line = QHBoxLayout(self)
        line.setContentsMargins(px(SPACE_M), px(2), px(SPACE_S), px(2))
        line.setSpacing(px(SPACE_XS))
        line.addWidget(name, 1)
        panel = dock.windowTitle()
        for icon, tip, spoken, act in (
            ("help", _("Help"), _("Help about {panel}", panel=panel), dock.helpAsked.emit),
            (
                "float",
                _("Float or dock"),
                _("Float or dock {panel}", panel=panel),
                lambda: dock.setFloating(not dock.isFloating()),
            ),
            ("close", _("Close"), _("Close {panel}", panel=panel), dock.put_away),
        ):
            button = QToolButton()
            button.setAccessibleName(spoken)
            button.setToolTip(tip)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setFixedSize(px(20), px(20))
            button.setIconSize(QSize(px(14), px(14)))
            set_role(button, "quiet")
            set_icon(button, icon, "muted")
            button.clicked.connect(act)
            line.addWidget(button)


class PanelDock(QDockWidget):
    """The dock of one panel; ``part`` says how it is called and made."""

    helpAsked = Signal()

    def __init__(self, part: DockPart, controllers: Controllers, parent: QWidget | None = None) -> None:
        super().__init__(part.title, parent)
        self.part = part
        self._controllers = controllers
        self.panel: QWidget | None = None
        self.setObjectName(part.name)  # under which the window's state knows it
        self.setAccessibleName(part.title)
        self.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
        )
        self.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
        self.setTitleBarWidget(_Title(self))
        self._place = _Place()
        self.setWidget(self._place)
        self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        """Build the panel, at the first time."""
        self.build()
        super().showEvent(event)

    def build(self) -> QWidget:
        """Return the panel, which is made now if it is not there yet."""
        if self.panel is None:
            self.panel = self.part.make(self._controllers)
            self._place.column.addWidget(self.panel)
        return self.panel

    @property
    def seen(self) -> bool:
        """Whether the panel is on the screen, not behind the tab of another."""
        return is_seen(self)

    @Slot()
    def bring(self) -> None:
        """Show the panel and put it before the others."""
        self.show()
        self.raise_()

    @Slot()
    def put_away(self) -> None:
        """Close the panel; the keys are for the rows again if they were for something in it."""
        focus = QApplication.focusWidget()
        within = focus is not None and self.isAncestorOf(focus)
        self.hide()
        if within and self._controllers.workspace.project is not None:
            self._controllers.navigation.rowsFocusAsked.emit()

    @Slot()
    def toggle(self) -> None:
        """Bring the panel, or put it away if it is before the others already."""
        if self.seen:
            self.put_away()
        else:
            self.bring()
