"""Icons: the SVG files of ``resources/icons`` in the colours of the theme.

    set_icon(action_or_button, "export")            # follows the theme from now on
    set_icon(button, "play", "on_accent")           # the name of a token
    icon("search", "muted")                         # a QIcon of now, for whoever paints it

A file says ``currentColor`` where the theme's colour goes. Qt's own SVG engine draws it, sharp at every
scale, and takes it from a file, as style sheets do: so the recoloured copies lie in a folder that goes away
with the program.
"""

from __future__ import annotations

import atexit
import functools
import logging
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QAbstractButton, QApplication
from shiboken6 import isValid

from sce_desktop import paths
from sce_desktop.core.i18n import Safe
from sce_desktop.temporary import make_folder, remove_folder
from sce_desktop.ui.kit.theme import MARK_RADIUS, px, tokens

log = logging.getLogger(__name__)

_PROPERTY = "icon_name"
_MIRRORED = {"left": "right", "right": "left", "undo": "redo", "redo": "undo"}
"""Icons that point where the text goes, and what stands for them where it goes from right to left."""


@functools.cache
def _folder() -> Path:
    folder = make_folder()
    atexit.register(remove_folder, folder)
    return folder


@functools.cache
def svg_file(name: str, colour: str) -> str:
    """Path of icon ``name`` in ``colour`` ("#rrggbb"), with forward slashes; empty if there is none."""
    try:
        source = (paths.resources_dir() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    except OSError:
        log.warning("There is no icon named %s", Safe(name))  # every button has words too
        return ""
    file = _folder() / f"{name}-{colour.lstrip('#')}.svg"
    file.write_text(source.replace("currentColor", colour), encoding="utf-8")
    return file.as_posix()


def icon(name: str, role: str = "ink") -> QIcon:
    """Icon ``name`` in the colour of token ``role`` as the theme is now."""
    if QGuiApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        name = _MIRRORED.get(name, name)
    return _icon(svg_file(name, getattr(tokens(), role)))


@functools.lru_cache(maxsize=128)
def _icon(path: str) -> QIcon:
    """The icon of a file; what is painted of it is kept with it."""
    return QIcon(path)


def set_icon(target: QAction | QAbstractButton, name: str, role: str = "ink") -> None:
    """Give ``target`` an icon that follows the theme."""
    target.setProperty(_PROPERTY, [name, role])
    target.setIcon(icon(name, role))


def label_icon(colour: str) -> QIcon:
    """The square of a label, for menus."""
    pixmap = QPixmap(px(16), px(16))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(px(3), px(3), px(10), px(10), MARK_RADIUS, MARK_RADIUS)
    painter.end()
    return QIcon(pixmap)


def recolour(app: QApplication) -> None:
    """Draw every icon set by `set_icon` again. `Theme` calls this."""
    targets: list[QAction | QAbstractButton] = []
    for widget in app.allWidgets():
        if isinstance(widget, QAbstractButton):
            targets.append(widget)
        if widget.isWindow():
            targets.extend(widget.findChildren(QAction))
    for target in targets:
        if isValid(target) and (wanted := target.property(_PROPERTY)):  # menus rebuild some actions
            target.setIcon(icon(*wanted))
