"""Draws the icon from its SVG in every size that desktops ask for: ``python packaging/icons.py SVG FOLDER``.

The files have the name by which desktops know the program, paths.APP_ID.
"""

from __future__ import annotations

import os
import runpy
import shutil
import struct
import sys
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication, QIcon

APP_ID = runpy.run_path(str(Path(__file__).resolve().parents[1] / "sce_desktop" / "paths.py"))["APP_ID"]
SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
ICO_LARGEST = 256
ICNS_KINDS = {
    16: b"icp4",
    32: b"icp5",
    64: b"icp6",
    128: b"ic07",
    256: b"ic08",
    512: b"ic09",
}  # Apple's, of PNGs


class Icons(NamedTuple):
    """The files that were written."""

    pngs: dict[int, Path]  # by width in pixels
    svg: Path
    ico: Path
    icns: Path


def write_icons(svg: Path, folder: Path) -> Icons:
    """Write ``folder/SIZE/APP_ID.png`` for every size, and one file of all for Windows and one for macOS."""
    app = QGuiApplication.instance() or QGuiApplication([])
    icon = QIcon(str(svg))
    pngs = {}
    for size in SIZES:
        pngs[size] = folder / str(size) / f"{APP_ID}.png"
        pngs[size].parent.mkdir(parents=True, exist_ok=True)
        picture = icon.pixmap(QSize(size, size), 1.0)
        if picture.width() != size or not picture.save(str(pngs[size])):
            raise SystemExit(f"{svg} cannot be drawn in {size} pixels as {pngs[size]}")
    del app
    drawn = {size: png.read_bytes() for size, png in pngs.items()}
    ico, icns = folder / "sce-desktop.ico", folder / "sce-desktop.icns"
    ico.write_bytes(_ico({size: data for size, data in drawn.items() if size <= ICO_LARGEST}))
    icns.write_bytes(_icns(drawn))
    return Icons(pngs, Path(shutil.copyfile(svg, folder / f"{APP_ID}.svg")), ico, icns)


def _icns(pictures: dict[int, bytes]) -> bytes:
    """Return an icon of macOS that holds PNGs: each with its kind and length, in a file with a length."""
    parts = [(ICNS_KINDS[size], data) for size, data in pictures.items() if size in ICNS_KINDS]
    body = b"".join(kind + struct.pack(">I", 8 + len(data)) + data for kind, data in parts)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


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
