"""Which key gives which label: the same in every row, so that fingers can learn it."""

from __future__ import annotations

from collections.abc import Sequence

from sce_desktop.core.types import Label

DIGITS = "123456789"
RESERVED = frozenset({"0", "S", "U", "F", "N", "J", "K"})  # they decide, mark or go to another row
KEY_NAMES = {"none": "0", "skip": "S", "unsure": "U", "flag": "F", "note": "N"}


def label_keys(labels: Sequence[Label]) -> dict[int, str]:
    """Return the key of each label that has one, by label id: its own, else the next free digit from 1."""
    keys: dict[int, str] = {}
    taken: set[str] = set(RESERVED)
    for label in labels:
        key = label.shortcut.strip().upper()
        if label.id is not None and key and key not in taken:
            keys[label.id] = key
            taken.add(key)
    free = [digit for digit in DIGITS if digit not in taken]
    for place, label in enumerate(labels):
        if label.id is None or label.id in keys:
            continue
        own = str(place + 1)
        if own in free:  # the place in the list, where nobody has taken it
            free.remove(own)
            keys[label.id] = own
    return keys
