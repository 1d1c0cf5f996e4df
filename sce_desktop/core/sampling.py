"""The same random sample of rows every time, with no memory of it: the order is a hash of the rows' ids.

A table that grows keeps most of its sample, and every beginning of the order is a random sample too.
"""

from __future__ import annotations

import numpy as np

from sce_desktop.core.arrays import IdArray

_GAMMA, _FIRST, _SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def random_order(row_ids: IdArray, *, seed: int = 0) -> IdArray:
    """Return ``row_ids`` (n,) in a random order that is the same for the same ``seed``.

    The hash is the finaliser of SplitMix64 (Steele, Lea and Flood 2014, doi 10.1145/2660193.2660195).
    """
    keys = row_ids.astype(np.uint64) + np.full(1, seed, np.uint64) * _FIRST  # arrays wrap without a warning
    keys = (keys + np.uint64(1)) * _GAMMA
    keys = (keys ^ (keys >> np.uint64(30))) * _FIRST
    keys = (keys ^ (keys >> np.uint64(27))) * _SECOND
    keys ^= keys >> np.uint64(31)
    return row_ids[np.argsort(keys, kind="stable")]
