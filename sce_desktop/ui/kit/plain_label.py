"""A label that wraps and shows what it is given as it is, however much it looks like markup."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from sce_desktop.ui.kit.theme import set_role


def plain_label(name: str, role: str, text: str = "") -> QLabel:
    """Return a label that is spoken of as ``name`` and looks like ``role``."""
    label = QLabel(text, wordWrap=True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAccessibleName(name)
    set_role(label, role)
    return label


def unbroken(text: str) -> str:
    """Return ``text`` in which no line ends between a number and what it counts."""
    return re.sub(r"(?<=\d) (?=\w)", "\N{NO-BREAK SPACE}", text)
