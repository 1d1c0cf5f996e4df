"""Sorting rows by a number each, and finding the first of an order without sorting the rest.

Rows come in file order, so that a key and an id packed into one integer sort as a stable sort by the key
would, in a fraction of its time: numpy has vector instructions for whole numbers. Of millions of rows a
window shows forty: which they are, one pass over the keys tells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray, counted, looked_up, true_places

Keys = NDArray[np.uint32]
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)  # numbers times it are scattered best (SplitMix64)
_SAMPLE: Final = 20_000  # keys by which a bound is guessed
_MOST_PACKED: Final = 256  # groups
_SIGN: Final = np.uint32(1 << 31)
_SLICE: Final = 200_000  # keys that stay in the cache of a processor


def of_floats(values: NDArray[np.float32]) -> Keys:
    """Return what sorts as ``values`` (n,) do."""
    keys = (values + np.float32(0)).view(np.uint32)  # zero has two signs, and they are equal
    for start in range(0, len(keys), _SLICE):
        some = keys[start : start + _SLICE]
        some ^= (some.view(np.int32) >> 31).view(np.uint32) | _SIGN  # all bits of what is below zero
    return keys


def of_numbers(values: NDArray[Any]) -> Keys:
    """Return what sorts as ``values`` (n,) do: whole numbers that an int32 holds."""
    keys: Keys = np.array(values, np.int32).view(np.uint32)
    keys ^= _SIGN
    return keys


def by_key(ids: IdArray, keys: Keys, *, descending: bool = False) -> IdArray:
    """Return ``ids`` (n,), which are in file order, by ``keys`` (n,); equal ones stay in file order."""
    if len(ids) and int(ids[-1]) >= 2**32:
        order = np.argsort(~keys if descending else keys, kind="stable")
        return ids[order]
    dtype, packed = ids.dtype, np.empty(len(ids), "<u8")
    halves = packed.view("<u4")
    if descending:
        np.invert(keys, out=halves[1::2])
    else:
        halves[1::2] = keys
    halves[0::2] = ids
    del ids, keys  # where nobody else holds them they need not be there while this is sorted
    packed.sort()
    return halves[0::2].astype(dtype)


def first_by_key(ids: IdArray, keys: Keys, count: int, *, descending: bool = False) -> IdArray:
    """Return at least the first ``count`` of what `by_key` returns, fewer where there are fewer."""
    places = _before(keys, _bound(keys, count, descending=descending), descending=descending)
    if len(places) < min(count, len(keys)):  # the sample was not like the rest
        place = len(keys) - count if descending else count - 1
        places = _before(keys, np.partition(keys, place)[place], descending=descending)
    return by_key(ids[places], keys[places], descending=descending)


def _before(keys: Keys, bound: np.uint32, *, descending: bool) -> IdArray:
    return true_places(keys >= bound if descending else keys <= bound)


def _bound(keys: Keys, count: int, *, descending: bool) -> np.uint32:
    """Return a key that ``count`` keys most likely come before, or are, and few more."""
    sample = np.sort(keys[:: max(1, len(keys) // _SAMPLE)])
    if not len(sample):
        return np.uint32(0)
    place = min(int(np.ceil(len(sample) * count / max(1, len(keys)))) * 2 + 16, len(sample) - 1)
    return np.uint32(sample[-1 - place] if descending else sample[place])


def grouped(ids: IdArray, groups: NDArray[Any], keys: Keys, *, descending: bool = False) -> IdArray:
    """Return ``ids`` (n,) by their group, 0 to 65,535, and within it by ``keys``, the greatest first.

    ``descending`` turns the groups round, not the keys in them.
    """
    if not len(ids):
        return ids
    groups = groups.astype(np.uint16)
    if descending:
        np.invert(groups, out=groups)
    present = np.flatnonzero(counted(groups, 1 << 16))
    if len(present) > _MOST_PACKED or int(ids[-1]) >= 1 << 24:
        of_row = np.zeros(int(ids[-1]) + 1, np.uint16)
        of_row[ids] = groups
        ids = by_key(ids, keys, descending=True)
        return ids[np.argsort(of_row[ids], kind="stable")]  # a radix sort: of 16 bits
    places = np.zeros(1 << 16, np.uint8)
    places[present] = np.arange(len(present))
    dtype, packed = ids.dtype, _packed(ids, groups, keys, places)
    del ids, groups, keys
    packed.sort()
    packed &= np.uint64((1 << 24) - 1)
    return packed.astype(dtype)


def _packed(
    ids: IdArray, groups: NDArray[Any], keys: Keys, places: NDArray[np.uint8] | None = None
) -> NDArray[np.uint64]:
    """Return group (or its place in ``places``), key, the greatest first, and id, all in one number each.

    Groups are below 256 and ids below 2 to the 24th.
    """
    packed = np.empty(len(ids), np.uint64)
    for start in range(0, len(ids), _SLICE):
        part = slice(start, start + _SLICE)
        of_rows = groups[part] if places is None else places[groups[part]]
        packed[part] = of_rows.astype(np.uint64) << np.uint64(56)
        packed[part] |= (~keys[part]).astype(np.uint64) << np.uint64(24)
        packed[part] |= ids[part].astype(np.uint64)
    return packed


def first_grouped(
    ids: IdArray, groups: NDArray[Any], keys: Keys, count: int, *, descending: bool = False
) -> IdArray:
    """Return at least the first ``count`` of what `grouped` returns, fewer where there are fewer."""
    if not len(ids):
        return ids
    sizes = counted(groups, int(groups.max()) + 1)
    places = np.arange(len(sizes))[::-1] if descending else np.arange(len(sizes))
    summed = np.cumsum(sizes[places])
    enough = int(np.searchsorted(summed, min(count, len(ids))))
    whole = np.zeros(len(sizes), bool)
    whole[places[:enough]] = True  # groups that are shown whole, and of the next one a part
    last = true_places(groups == int(places[enough]))
    left = count - (int(summed[enough - 1]) if enough else 0)
    ends = first_by_key(ids[last], keys[last], left, descending=True)
    if not enough:
        return ends
    inside = true_places(looked_up(whole, groups))
    return np.concatenate([grouped(ids[inside], groups[inside], keys[inside], descending=descending), ends])


def scattered(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter ``keys`` (n,) over all numbers (the last step of SplitMix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed


def turns_of_first(before: IdArray, count: int) -> NDArray[np.int64]:
    """Return how many rows of each group (K,) the first ``count`` of `in_turns` have, if none runs out."""
    ordered = np.sort(before)
    # With the last of the first k groups there are k in a turn: the turn that is enough is the first such.
    ends = [(count + int(total)) / size for size, total in enumerate(np.cumsum(ordered), start=1)]
    return np.maximum(0, int(np.ceil(min(ends, default=0.0))) - before)


def in_turns(ids: IdArray, groups: NDArray[Any], keys: Keys, before: IdArray) -> IdArray:
    """Return ``ids`` (n,) so that their groups take turns, those with the fewest ``before`` (K,) first.

    In each turn, and in each group, the greatest ``keys`` lead; else the first group does.
    """
    if not len(ids):
        return ids
    sizes = counted(groups, len(before))
    most = int((sizes + before).max())  # turns
    if len(before) > _MOST_PACKED or int(ids[-1]) >= 1 << 24 or most > 1 << 24:
        return _in_many_turns(ids, groups, keys, before, sizes)
    dtype, packed = ids.dtype, _packed(ids, groups, keys)
    del ids, groups, keys  # see `by_key`: of ten million rows these are 100 MB
    packed.sort()
    ordered = np.empty(len(packed), dtype)
    starts = np.cumsum(sizes) - sizes
    for group, (begin, size, done) in enumerate(zip(starts.tolist(), sizes.tolist(), before, strict=True)):
        for start in range(begin, begin + size, _SLICE):  # turn, key and group are one number from here on
            part = packed[start : min(start + _SLICE, begin + size)]
            ordered[start : start + len(part)] = part & np.uint64((1 << 24) - 1)
            part >>= np.uint64(24)
            part &= np.uint64((1 << 32) - 1)
            part <<= np.uint64(8)
            part |= np.uint64(group)
            turn = int(done) + start - begin
            part |= np.arange(turn, turn + len(part), dtype=np.uint64) << np.uint64(40)
    packed.sort()
    found = np.empty(len(packed), dtype)
    behind = starts - before
    for start in range(0, len(packed), _SLICE):
        part = packed[start : start + _SLICE]
        places = (part >> np.uint64(40)).astype(np.int64)
        places += behind[(part & np.uint64(255)).astype(np.int64)]
        found[start : start + _SLICE] = ordered[places]
    return found


def _in_many_turns(
    ids: IdArray, groups: NDArray[Any], keys: Keys, before: IdArray, sizes: IdArray
) -> IdArray:
    """Return what `in_turns` does for more groups, turns or ids than one number has room for."""
    of_row = np.zeros(int(ids[-1]) + 1, np.uint32)
    of_row[ids] = keys
    ids = grouped(ids, groups, keys)
    packed = np.invert(looked_up(of_row, ids)).astype(np.uint64)
    del of_row
    start = 0
    for size, done in zip(sizes.tolist(), before.tolist(), strict=True):
        turns = np.arange(done, done + size, dtype=np.uint64)
        turns <<= np.uint64(32)
        packed[start : start + size] |= turns
        start += size
    order = np.argsort(packed, kind="stable")
    del packed
    return ids[order]


def by_hash(ids: IdArray, keys: Callable[[IdArray], NDArray[np.uint64]]) -> IdArray:
    """Return ``ids`` (n,), which are in file order, by the ``keys`` (m,) of any m of them, 64 bits each.

    The first 40 bits and the id are one number; of the few rows that share them all bits are compared.
    """
    if not len(ids) or int(ids[-1]) >= 1 << 24:
        return ids[np.argsort(keys(ids), kind="stable")]
    dtype, packed = ids.dtype, np.empty(len(ids), np.uint64)
    for start in range(0, len(ids), _SLICE):
        some = ids[start : start + _SLICE]
        packed[start : start + _SLICE] = (keys(some) & ~np.uint64((1 << 24) - 1)) | some.astype(np.uint64)
    del ids
    packed.sort()
    found, equal = np.empty(len(packed), dtype), list[IdArray]()
    for start in range(0, len(packed), _SLICE):
        part = packed[start : start + _SLICE + 1]
        equal.append(np.flatnonzero(part[1:] >> np.uint64(24) == part[:-1] >> np.uint64(24)) + start)
        found[start : start + _SLICE] = part[:_SLICE] & np.uint64((1 << 24) - 1)
    del packed
    places = np.concatenate(equal)
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []
    for run in runs:
        some = found[run[0] : run[-1] + 2]
        some[:] = some[np.argsort(keys(some), kind="stable")]
    return found
