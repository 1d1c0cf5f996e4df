"""Draws the icon from its SVG in every size that desktops ask for: `python packaging/icons.py SVG FOLDER`."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication, QIcon

SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
ICO_LARGEST = 256


class Icons(NamedTuple):
    """The files that were written."""

    pngs: dict[int, Path]  # by width in pixels
    ico: Path


def write_icons(svg: Path, folder: Path) -> Icons:
    """Write ``folder/SIZE/sce-desktop.png`` for every size, and ``folder/sce-desktop.ico`` of them."""
    app = QGuiApplication.instance() or QGuiApplication([])
    icon = QIcon(str(svg))
    pngs = {}
    for size in SIZES:
        pngs[size] = folder / str(size) / "sce-desktop.png"
        pngs[size].parent.mkdir(parents=True, exist_ok=True)
        picture = icon.pixmap(QSize(size, size), 1.0)
        if picture.width() != size or not picture.save(str(pngs[size])):
            raise SystemExit(f"{svg} cannot be drawn in {size} pixels as {pngs[size]}")
    del app
    ico = folder / "sce-desktop.ico"
    ico.write_bytes(_ico({size: png.read_bytes() for size, png in pngs.items() if size <= ICO_LARGEST}))
    return Icons(pngs, ico)


def _ico(pictures: dict[int, bytes]) -> bytes:
    """Return a Windows icon that holds PNGs: a directory of 16 bytes a picture, then the pictures."""
    head = struct.pack("<HHH", 0, 1, len(pictures))
    at = len(head) + 16 * len(pictures)
    for size, data in pictures.items():
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), at)  # 0 means 256
        at += len(data)
    return head + b"".join(pictures.values())


if __name__ == "__main__":
    write_icons(Path(sys.argv[1]), Path(sys.argv[2]))
