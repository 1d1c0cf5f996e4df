"""The same random sample of rows every time, with no memory of it: the order is a hash of the rows' ids.

A table that grows keeps most of its sample, and every beginning of the order is a random sample too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray

_SLICE: Final = 50_000  # ids whose keys stay in the cache of a processor
_GAMMA, _FIRST, _SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def random_order(row_ids: IdArray, *, seed: int = 0) -> IdArray:
    """Return ``row_ids`` (n,) in a random order that is the same for the same ``seed``.

    The hash is the finaliser of SplitMix64 (Steele, Lea and Flood 2014, doi 10.1145/2660193.2660195).
    """
    return row_ids[np.argsort(_keys(row_ids, seed), kind="stable")]


def first_in_random_order(row_ids: IdArray, count: int, *, seed: int = 0) -> IdArray:
    """Return the first ``count`` of `random_order`, or all of fewer, without sorting the others."""
    if len(row_ids) > 4 * count + 128:
        most = np.uint64((2**64 - 1) // len(row_ids) * (2 * count + 64))  # twice as many have lower keys
        few = [
            some[_keys(some, seed) <= most]
            for some in (row_ids[start : start + _SLICE] for start in range(0, len(row_ids), _SLICE))
        ]
        if sum(map(len, few)) >= count:
            row_ids = np.concatenate(few)
    return random_order(row_ids, seed=seed)[:count]


def _keys(row_ids: IdArray, seed: int) -> NDArray[np.uint64]:
    keys = row_ids.astype(np.uint64) + np.full(1, seed, np.uint64) * _FIRST  # arrays wrap without a warning
    keys = (keys + np.uint64(1)) * _GAMMA
    keys = (keys ^ (keys >> np.uint64(30))) * _FIRST
    keys = (keys ^ (keys >> np.uint64(27))) * _SECOND
    keys ^= keys >> np.uint64(31)
    return keys
