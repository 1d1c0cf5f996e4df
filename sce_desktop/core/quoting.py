"""Names of columns, labels and sheets as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from sce_desktop.core.escapes import shown
from sce_desktop.core.i18n import _, listed, ngettext
from sce_desktop.core.text import isolated

_LONGEST = 80  # characters of a name
_LONGEST_LIST = 400  # characters of all names of a list


def shortened(name: str) -> str:
    """Return a name as a sentence has room for it: a file may name things with megabytes."""
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


def quoted(name: str) -> str:
    """Write a name in quotes, its beginning if it is very long: “Late delivery”."""
    return _("“{name}”", name=isolated(shown(shortened(name))))


def quoted_names(names: Iterable[str], most: int = 20) -> str:
    """Write the first ``most`` names in quotes and how many there are besides: “a”, “b” and 3 more.

    Fewer where they are so long that they would make no sentence.
    """
    names = list(names)
    shown = [quoted(name) for name in names[:most]]
    while len(shown) > 1 and sum(map(len, shown)) > _LONGEST_LIST:
        shown.pop()
    return and_more(shown, len(shown), len(names))


def and_more(items: Iterable[str], most: int, total: int | None = None) -> str:
    """Write the first ``most`` items and how many there are besides, of ``total`` (default: of the items)."""
    items = list(items)
    more = (len(items) if total is None else total) - min(len(items), most)
    rest = [ngettext("{count} more", "{count} more", more)] if more > 0 else []
    return listed([*items[:most], *rest])
