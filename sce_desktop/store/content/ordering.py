"""Sorting rows by a number each, and finding the first of an order without sorting the rest.

Rows come in file order, so that a key and an id packed into one integer sort as a stable sort by the key
would, in a fraction of its time: numpy has vector instructions for whole numbers. Of millions of rows a
window shows forty: which they are, one pass over the keys tells.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray

Keys = NDArray[np.uint32]
_SAMPLE: Final = 20_000  # keys by which a bound is guessed
_SIGN: Final = np.uint32(1 << 31)


def of_floats(values: NDArray[np.float32]) -> Keys:
    """Return what sorts as ``values`` (n,) do."""
    # Zero has two signs, and they are equal.
    bits = (np.ascontiguousarray(values, np.float32) + np.float32(0)).view(np.uint32)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def of_numbers(values: NDArray[Any]) -> Keys:
    """Return what sorts as ``values`` (n,) do: whole numbers of 32 bits."""
    keys: Keys = np.ascontiguousarray(values, np.int32).view(np.uint32) ^ _SIGN
    return keys


def by_key(ids: IdArray, keys: Keys, *, descending: bool = False) -> IdArray:
    """Return ``ids`` (n,), which are in file order, by ``keys`` (n,); equal ones stay in file order."""
    if len(ids) and int(ids[-1]) >= 2**32:
        order = np.argsort(~keys if descending else keys, kind="stable")
        return ids[order]
    packed = np.empty(len(ids), "<u8")
    halves = packed.view("<u4")
    halves[1::2] = ~keys if descending else keys
    halves[0::2] = ids
    packed.sort()
    return halves[0::2].astype(np.int64)


def first_by_key(ids: IdArray, keys: Keys, count: int, *, descending: bool = False) -> IdArray:
    """Return at least the first ``count`` of what `by_key` returns, fewer where there are fewer."""
    keys = ~keys if descending else keys
    bound = _bound(keys, count)
    places = np.flatnonzero(keys <= bound)
    if len(places) < min(count, len(keys)):  # the sample was not like the rest
        bound = np.partition(keys, count - 1)[count - 1]
        places = np.flatnonzero(keys <= bound)
    return by_key(ids[places], keys[places])


def _bound(keys: Keys, count: int) -> np.uint32:
    """Return a key that ``count`` keys are most likely not above, and few more."""
    sample = np.sort(keys[:: max(1, len(keys) // _SAMPLE)])
    place = int(np.ceil(len(sample) * count / max(1, len(keys)))) * 2 + 16
    return np.uint32(sample[min(place, len(sample) - 1)]) if len(sample) else np.uint32(0)


def grouped(ids: IdArray, groups: NDArray[Any], keys: Keys, *, descending: bool = False) -> IdArray:
    """Return ``ids`` (n,) by their group, 0 to 65,535, and within it by ``keys``, the greatest first.

    ``descending`` turns the groups round, not the keys in them.
    """
    if not len(ids):
        return ids
    of_row = np.zeros(int(ids[-1]) + 1, np.uint16)
    of_row[ids] = groups
    ids = by_key(ids, keys, descending=True)
    groups = of_row[ids]
    order = np.argsort(~groups if descending else groups, kind="stable")  # a radix sort: of 16 bits
    return ids[order]


def first_grouped(
    ids: IdArray, groups: NDArray[Any], keys: Keys, count: int, *, descending: bool = False
) -> IdArray:
    """Return at least the first ``count`` of what `grouped` returns, fewer where there are fewer."""
    sizes = np.bincount(groups)
    places = np.arange(len(sizes))[::-1] if descending else np.arange(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[places]), min(count, len(ids))))
    chosen = np.zeros(len(sizes), bool)
    chosen[places[: enough + 1]] = True
    inside = np.flatnonzero(chosen[groups])
    return grouped(ids[inside], groups[inside], keys[inside], descending=descending)
