"""Tabs that are all in sight: with little room long titles are cut, and short ones stay whole."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QTabBar

from sce_desktop.ui.kit.theme import px

_SHORT, _LEAST = 64, 40  # pixels of a tab


class TitleTabs(QTabBar):
    """Qt would cut every title alike, down to two letters of “Result”."""

    def minimumTabSizeHint(self, place: int) -> QSize:
        """Return the least size of a tab."""
        whole = self.tabSizeHint(place)
        if whole.width() <= px(_SHORT):
            return whole
        return QSize(min(whole.width(), px(_LEAST)), whole.height())
