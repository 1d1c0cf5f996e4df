"""Gaps and margins of what is open already follow the density; what is made later asks `theme.px`."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QLayout

from sce_desktop.ui.kit.theme import Density, density, px, set_density
from sce_desktop.ui.kit.tokens import SPACES, Space

_WIDE = "comfortable_lengths"  # a property of a layout: what it had at the comfortable density


def change_density(app: QApplication, chosen: Density) -> bool:
    """Take ``chosen`` from now on, for all layouts of ``app`` too; return whether it was another one."""
    before = density()
    if chosen == before:
        return False
    old = {px(Space(length)): length for length in SPACES}
    set_density(chosen)
    for widget in app.allWidgets():
        if widget.parent() is None:  # of the others' layouts each is found in one of these
            for layout in widget.findChildren(QLayout):
                _follow(layout, old, chosen)
    return True


def _follow(layout: QLayout, old: dict[int, int], chosen: Density) -> None:
    margins = layout.contentsMargins()
    now = (margins.left(), margins.top(), margins.right(), margins.bottom(), layout.spacing())
    kept = layout.property(_WIDE)
    if chosen == "comfortable" and kept:
        wanted = tuple(kept)
    else:
        wanted = tuple(px(Space(old[length])) if length in old else length for length in now)
        QObject.setProperty(layout, _WIDE, list(now) if chosen == "compact" else None)
    if wanted != now:
        layout.setContentsMargins(*wanted[:4])
        layout.setSpacing(wanted[4])
