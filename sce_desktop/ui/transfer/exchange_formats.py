"""Formats of other annotation tools as the export dialog offers them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sce_desktop.core.exchange import FORMATS, INTERFACE_ENDING, Exchange
from sce_desktop.core.i18n import _

KEYS: Final = tuple(str(kind) for kind in Exchange)
"""What the dialog's list of formats holds for them, where it holds an ending for tables."""


def title(key: str) -> str:
    """Return what the list shows."""
    return _(FORMATS[Exchange(key)].title)


def ending_of(key: str) -> str:
    """Return the ending of a format: ``key`` itself is one of a table."""
    return FORMATS[Exchange(key)].ending if key in KEYS else key


def not_kept(key: str) -> str:
    """Return the sentence on what a format does not keep."""
    return _(FORMATS[Exchange(key)].not_kept)


def files_of(key: str, file: Path) -> list[Path]:
    """Return the files that an export writes."""
    if key == Exchange.LABEL_STUDIO:
        return [file, file.with_name(file.stem + INTERFACE_ENDING)]
    return [file]
