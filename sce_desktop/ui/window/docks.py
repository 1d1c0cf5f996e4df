"""The panels below labels and rows: one dock with a tab for each; it can be moved, floated and closed.

The row panel stands beside the dock and not above it, so no panel takes height from the text of a row. A
panel is built when it is first shown: what it needs to import must not delay the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.i18n import _
from sce_desktop.core.text import menu_text
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.parts import DockPart
from sce_desktop.ui.kit.theme import SPACE_S, SPACE_XS, px, set_role
from sce_desktop.ui.kit.visibility import is_seen

_WIDTH, _HEIGHT = 640, 272  # with its title, the dock is 300 high
_LEAST = 520


class PanelPage(QWidget):
    """The place of one panel in the dock; ``part`` says how it is called and made."""

    def __init__(self, part: DockPart, controllers: Controllers, dock: PanelDock) -> None:
        super().__init__()
        self.part = part
        self.panel: QWidget | None = None
        self._controllers = controllers
        self._dock = dock
        self.setObjectName(part.name)
        self.setAccessibleName(part.title)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.setMinimumWidth(px(_LEAST))  # what a panel shows must not widen the window
        self.hold(False)

    def build(self) -> QWidget:
        """Return the panel, which is made now if it is not there yet."""
        if self.panel is None:
            self.panel = self.part.make(self._controllers)
            self._column.addWidget(self.panel)
        return self.panel

    def hold(self, on: bool) -> None:
        """Have a say in the least size of the dock, or none, while another panel is in front."""
        policy = QSizePolicy.Policy.Preferred if on else QSizePolicy.Policy.Ignored
        self.setSizePolicy(policy, policy)

    def sizeHint(self) -> QSize:
        """Return one size for all panels: the wish of each would move the rows as panels come."""
        return QSize(px(_WIDTH), px(_HEIGHT))

    def hasHeightForWidth(self) -> bool:
        """Return False: as `sizeHint`, whatever the panel would like."""
        return False

    @property
    def seen(self) -> bool:
        """Whether the panel is on the screen."""
        return is_seen(self)

    @Slot()
    def bring(self) -> None:
        """Show the panel in the dock."""
        self._dock.bring(self.part.name)

    @Slot()
    def put_away(self) -> None:
        """Close the dock if it shows this panel."""
        if self._dock.shown == self.part.name:
            self._dock.put_away()

    @Slot()
    def toggle(self) -> None:
        """Bring the panel, or close the dock if it is in front already."""
        if self._dock.shown == self.part.name:
            self.put_away()
        else:
            self.bring()


class PanelTitle(QWidget):
    """The tabs, and buttons larger than those of Qt; one drags the dock by what is free beside them."""

    def __init__(self, dock: PanelDock) -> None:
        super().__init__(dock)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "dock")
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(_("Panels"))
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        line = QHBoxLayout(self)
        line.setContentsMargins(px(SPACE_XS), 0, px(SPACE_S), 1)  # the line below is seen
        line.setSpacing(px(SPACE_XS))
        line.addWidget(self.tabs)
        line.addStretch(1)
        for icon, name, tip, act in (
            ("help", _("Help about the panel"), _("Help"), dock.helpAsked.emit),
            (
                "float",
                _("Float or dock the panels"),
                _("Float or dock"),
                lambda: dock.setFloating(not dock.isFloating()),
            ),
            ("close", _("Close the panels"), _("Close (Ctrl+0)"), dock.put_away),
        ):
            button = QToolButton()
            button.setAccessibleName(name)
            button.setToolTip(tip)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setFixedSize(px(20), px(20))
            button.setIconSize(QSize(px(14), px(14)))
            set_role(button, "quiet")
            set_icon(button, icon, "muted")
            button.clicked.connect(act)
            line.addWidget(button)

    def minimumSizeHint(self) -> QSize:
        """Return a width that the tabs do not dictate: where there is too little they can be scrolled."""
        return QSize(px(160), super().minimumSizeHint().height())


class PanelDock(QDockWidget):
    """The dock of all panels. Closed by one key, it opens again by the same one on the panel it showed."""

    helpAsked = Signal()

    def __init__(self, parts: Iterable[DockPart], controllers: Controllers) -> None:
        super().__init__(_("Panels"))
        self._controllers = controllers
        self._project: bool | None = None
        self._last = ""  # the panel that was in front with the last project
        self._goes = False  # it was closed with that project
        self.setObjectName("Panels")  # under which the state of the window knows it
        self.setAccessibleName(_("Panels"))
        self.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
        title = PanelTitle(self)
        self.setTitleBarWidget(title)
        self.tabs = title.tabs
        self.stack = QStackedWidget()
        self.stack.setAccessibleName(_("Panel"))
        self.setWidget(self.stack)
        self._pages: dict[str, PanelPage] = {}
        for part in parts:
            page = self._pages[part.name] = PanelPage(part, controllers, self)
            self.stack.addWidget(page)
            place = self.tabs.addTab(menu_text(part.title))
            self.tabs.setTabToolTip(place, f"{part.title} ({part.keys})" if part.keys else part.title)
            self.tabs.setTabData(place, part.name)
        self.tabs.currentChanged.connect(self._on_tab)
        self._on_tab(0)
        self.hide()

    @property
    def pages(self) -> Mapping[str, PanelPage]:
        """The places of the panels, by the names of their parts."""
        return self._pages

    @property
    def front(self) -> str:
        """The panel whose tab is in front, whether the dock is open or closed."""
        return str(self.tabs.tabData(self.tabs.currentIndex()))

    @property
    def shown(self) -> str:
        """The panel that the dock shows; empty where it is closed."""
        return "" if self.isHidden() else self.front

    @Slot(int)
    def _on_tab(self, place: int) -> None:
        page = self._pages[str(self.tabs.tabData(place))]
        if not self.isHidden():
            page.build()
        for other in self._pages.values():
            other.hold(other is page)
        self.stack.setCurrentWidget(page)
        self.setWindowTitle(page.part.title)

    def choose(self, name: str) -> None:
        """Put a panel in front, in a closed dock too; one that is not known or needs a project: nothing."""
        for place in range(self.tabs.count()):
            if self.tabs.tabData(place) == name and self.tabs.isTabVisible(place):
                self.tabs.setCurrentIndex(place)

    def bring(self, name: str) -> None:
        """Show a panel."""
        self.choose(name)
        self._open()

    def _open(self) -> None:
        self.show()
        self.raise_()

    @Slot()
    def put_away(self) -> None:
        """Close the dock; the keys are for the rows again if they were for something in it."""
        focus = QApplication.focusWidget()
        within = focus is not None and self.isAncestorOf(focus)
        self.hide()
        if within and self._controllers.workspace.project is not None:
            self._controllers.navigation.rowsFocusAsked.emit()

    @Slot()
    def toggle(self) -> None:
        """Close the dock, or open it again on the panel that it showed last."""
        if self.isHidden():
            self._open()
        else:
            self.put_away()

    def showEvent(self, event: QShowEvent) -> None:
        """Build the panel in front, at the first time."""
        self._pages[self.front].build()
        super().showEvent(event)

    def set_project_open(self, on: bool) -> None:
        """Offer the panels that need a project, or not; the next project opens on the one that was seen."""
        if on == self._project:
            return
        self._project = on
        if not on:
            self._last = self.front
            self._goes = bool(self.shown) and self._pages[self.front].part.project
            if self._goes:
                self.hide()
        for place in range(self.tabs.count()):
            self.tabs.setTabVisible(place, on or not self._pages[self.tabs.tabData(place)].part.project)
        if on and self.isHidden():
            self.choose(self._last)
            if self._goes:
                self.show()

    @property
    def kept(self) -> str:
        """The panel that is in front with a project, now or the next time."""
        return self.front if self._project else self._last
