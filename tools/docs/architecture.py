"""The drawing of the layers, from the import contracts of pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

_WIDTH, _BOX, _GAP, _PAD = 720, 30, 8, 12
_INK, _LINE, _FILL, _INNER = "#1b2230", "#98a2b3", "#eef1f5", "#ffffff"


def architecture_svg(pyproject: Path) -> str:
    """Return the drawing: a layer may import from those below it, boxes of a line not from each other."""
    contracts = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = {
        container: [[part.strip() for part in line.split("|")] for line in contract["layers"]]
        for contract in contracts
        if contract["type"] == "layers"
        for container in contract["containers"]
    }
    rules = [contract["name"] for contract in contracts if contract["type"] == "forbidden"]
    shapes, height = _layers("sce_desktop", layers, _PAD, 44, _WIDTH - 2 * _PAD)
    y = 44 + height + 28
    shapes.append(_text(_PAD, y, "Beside the layers:", bold=True))
    for rule in rules:
        y += 18
        shapes.append(_text(_PAD, y, f"• {rule}"))
    title = [
        _text(_PAD, 20, "sce_desktop", bold=True),
        _text(_PAD + 96, 20, "each layer imports from those below it"),
    ]
    total = y + _PAD
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {total}" width="{_WIDTH}" '
        f'height="{total}" font-family="sans-serif" font-size="13" role="img">\n'
        "<title>The layers of sce_desktop</title>\n"
        f'<rect width="{_WIDTH}" height="{total}" fill="#ffffff"/>\n'
        + "\n".join([*title, *shapes])
        + "\n</svg>\n"
    )


def _layers(
    container: str, layers: dict[str, list[list[str]]], x: float, y: float, width: float
) -> tuple[list[str], float]:
    """Draw the layers of ``container`` at ``x``, ``y``; return the shapes and how high they are."""
    shapes: list[str] = []
    top = y
    for line in layers[container]:
        room = (width - _GAP * (len(line) - 1)) / len(line)
        nested = [name for name in line if f"{container}.{name}" in layers]
        if nested:  # the one with an inside gets most of the width
            narrow = 110.0
            room = width - (narrow + _GAP) * (len(line) - 1)
        left, highest = x, float(_BOX)
        drawn: list[tuple[str, float, float]] = []
        for name in line:
            wide = room if not nested or name in nested else narrow
            if name in nested:
                inner, height = _layers(f"{container}.{name}", layers, left + _PAD, y + 28, wide - 2 * _PAD)
                highest = 28 + height + _PAD
                drawn.append((name, left, wide))
                shapes_inside = inner
            else:
                drawn.append((name, left, wide))
            left += wide + _GAP
        for name, left, wide in drawn:
            shapes.append(_box(left, y, wide, highest, container, name, open_=name in nested))
        if nested:
            shapes += shapes_inside
        y += highest + _GAP
    return shapes, y - top - _GAP


def _box(x: float, y: float, width: float, height: float, container: str, name: str, *, open_: bool) -> str:
    fill = _INNER if container != "sce_desktop" else _FILL
    place = y + 18 if open_ else y + height / 2 + 4
    size = ' font-size="11"' if width < 84 else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5" fill="{fill}" '
        f'stroke="{_LINE}"/><text x="{x + width / 2:.1f}" y="{place:.1f}" text-anchor="middle" fill="{_INK}"'
        f"{size}>{escape(name)}</text>"
    )


def _text(x: float, y: float, words: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y:.0f}" fill="{_INK}"{weight}>{escape(words)}</text>'
