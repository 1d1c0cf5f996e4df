"""F6 and Shift+F6 go from zone to zone of the window: Tab alone takes thirty steps from search to panels."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from sce_desktop.ui.kit.tab_order import tab_stops


class ZoneKeys(QObject):
    """Knows where the focus was in each zone, and comes back there."""

    def __init__(self, window: QWidget, zones: Sequence[QWidget]) -> None:
        super().__init__(window)
        self._window = window
        self._zones = tuple(zones)
        self._last: dict[QWidget, QWidget] = {}  # by zone: where the focus was
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, before: QWidget | None, _now: QWidget | None) -> None:
        if before is not None and (zone := self._zone_of(before)) is not None:
            self._last[zone] = before

    def _zone_of(self, widget: QWidget | None) -> QWidget | None:
        """The innermost zone that a widget lies in."""
        while widget is not None:
            if widget in self._zones:
                return widget
            widget = widget.parentWidget()
        return None

    def step(self, by: int) -> None:
        """Give the focus to the next zone (1) or the one before (-1) that can take it."""
        here = self._zone_of(QApplication.focusWidget())
        at = self._zones.index(here) if here is not None else (-1 if by > 0 else 0)
        stops = tab_stops(self._window)
        reason = Qt.FocusReason.TabFocusReason if by > 0 else Qt.FocusReason.BacktabFocusReason
        for step in range(1, len(self._zones) + 1):
            zone = self._zones[(at + by * step) % len(self._zones)]
            inside = [widget for widget in stops if self._zone_of(widget) is zone]
            if not inside or zone is here:
                continue
            last = self._last.get(zone)
            known = last is not None and isValid(last) and last in inside
            (last if last is not None and known else inside[0]).setFocus(reason)
            return
