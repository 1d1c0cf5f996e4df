"""Which key gives which label: the same in every row, so that fingers can learn it."""

from __future__ import annotations

from collections.abc import Sequence

from sce_desktop.core.types import Label

RESERVED = frozenset({"0", "S", "U", "F", "N", "J", "K"})  # they decide, mark or go to another row
_DIGITS = 9


def label_keys(labels: Sequence[Label]) -> dict[int, str]:
    """Return the key of each label that has one, by label id: its own, else the digit of its place.

    A key of its own that means something else here, or is another label's, does not count.
    """
    keys: dict[int, str] = {}
    taken = set(RESERVED)
    for own in (True, False):
        for place, label in enumerate(labels, start=1):
            digit = str(place) if place <= _DIGITS else ""
            key = label.shortcut.strip().upper() if own else digit
            if label.id is not None and label.id not in keys and key and key not in taken:
                keys[label.id] = key
                taken.add(key)
    return keys
