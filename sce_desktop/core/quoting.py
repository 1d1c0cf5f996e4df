"""Names of columns, labels and sheets as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from sce_desktop.core.escapes import shown
from sce_desktop.core.i18n import _, listed, ngettext
from sce_desktop.core.text import isolated


def quoted(name: str) -> str:
    """Write a name in quotes: “Late delivery”."""
    return _("“{name}”", name=isolated(shown(name)))


def quoted_names(names: Iterable[str], most: int = 20) -> str:
    """Write the first ``most`` names in quotes and how many there are besides: “a”, “b” and 3 more."""
    return and_more([quoted(name) for name in names], most)


def and_more(items: Iterable[str], most: int, total: int | None = None) -> str:
    """Write the first ``most`` items and how many there are besides, of ``total`` (default: of the items)."""
    items = list(items)
    more = (len(items) if total is None else total) - min(len(items), most)
    rest = [ngettext("{count} more", "{count} more", more)] if more > 0 else []
    return listed([*items[:most], *rest])
