"""The first rows of an order by scores, found by one pass over arrays that are by row id.

Nothing is gathered: an array of ten million rows is read where it lies, and of a mask only the few places
that the pass finds become ids.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray
from sce_desktop.store.content import ordering

Mask = NDArray[np.bool_]
_SLICE: Final = 200_000  # values that stay in the cache of a processor
_SAMPLE: Final = 20_000  # values by which a bound is guessed


def first_of(mask: Mask, count: int, *, descending: bool = False) -> IdArray:
    """Return the first ``count`` places where ``mask`` (n,) is true, or the last ones, the last first."""
    found, missing = list[IdArray](), count
    for start in range(0, len(mask), _SLICE):
        end = len(mask) - start
        part = mask[max(0, end - _SLICE) : end][::-1] if descending else mask[start : start + _SLICE]
        places = np.flatnonzero(part)[:missing]
        found.append((end - 1 - places) if descending else places + start)
        missing -= len(places)
        if not missing:
            break
    return np.concatenate(found) if found else np.empty(0, np.int64)


def by_value(values: NDArray[Any], inside: Mask, count: int, *, descending: bool = False) -> IdArray | None:
    """Return at least the first ``count`` rows of ``inside`` in the order of ``values``, both by row id (n,).

    Values are float32 or whole numbers that an int32 holds; equal ones stay in file order. None where a
    sample of them misleads: then they have to be sorted.
    """
    size = int(np.count_nonzero(inside))
    some = _sample(len(inside), _SAMPLE)
    sample = np.sort(values[some][inside[some]])
    if not len(sample):
        return None
    place = min(int(np.ceil(len(sample) * count / max(1, size))) * 2 + 16, len(sample) - 1)
    bound = sample[-1 - place] if descending else sample[place]
    found = []
    for start in range(0, len(inside), _SLICE):
        part = values[start : start + _SLICE]
        hit = part >= bound if descending else part <= bound
        hit &= inside[start : start + _SLICE]
        found.append(np.flatnonzero(hit) + start)
    ids = np.concatenate(found)
    if len(ids) < min(count, size):
        return None
    keys = ordering.of_floats if values.dtype == np.float32 else ordering.of_numbers
    return ordering.by_key(ids, keys(values[ids]), descending=descending)


def surest(
    groups: NDArray[Any], values: NDArray[np.float32], counts: NDArray[np.int64], inside: Mask
) -> IdArray:
    """Return the places (m,) of at least so many, by ``counts`` (K,), greatest ``values`` (n,) of each group.

    They are in order. ``groups`` (n,) are numbers below K; of a smaller group it is all. Only where
    ``inside`` (n,) is true; elsewhere a group may be -1.
    """
    size = len(counts)
    some = _sample(len(groups), 200 * size + 20_000)
    step = max(1, len(groups) // max(1, len(some)))
    some = some[inside[some]]
    sample, sampled = groups[some], values[some]
    order = np.lexsort((-sampled, sample))
    starts = np.searchsorted(sample[order], np.arange(size + 1))
    bounds = np.full(size + 1, -np.inf, np.float32)
    bounds[size] = np.inf  # of -1, which nobody asks for
    for group, (start, end) in enumerate(pairwise(starts.tolist())):
        place = start + 2 * (int(counts[group]) // step) + 8
        if place < end:
            bounds[group] = sampled[order[place]]
    least = bounds[:size].min(initial=np.inf)  # nearly all are below it, at a tenth of the cost
    found, short = list[IdArray](), np.zeros(size, np.int64)
    for start in range(0, len(groups), _SLICE):
        part = slice(start, start + _SLICE)
        hit = values[part] >= least
        hit &= inside[part]
        places = np.flatnonzero(hit)
        places += start
        places = places[values[places] >= bounds[groups[places]]]
        found.append(places)
        short += np.bincount(groups[places], minlength=size)
    if (short < counts).any():
        sizes = np.zeros(size, np.int64)
        for start in range(0, len(groups), _SLICE):
            part = slice(start, start + _SLICE)
            sizes += np.bincount(groups[part][inside[part]], minlength=size)
        missing = np.append(short < np.minimum(counts, sizes), False)
        if missing.any():  # the sample was not like the rest
            found = []
            for start in range(0, len(groups), _SLICE):
                part = slice(start, start + _SLICE)
                of_rows = groups[part]
                hit = (values[part] >= bounds[of_rows]) | missing[of_rows]
                hit &= inside[part]
                found.append(np.flatnonzero(hit) + start)
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _sample(size: int, count: int) -> IdArray:
    """Return places below ``size``, all of few: at random, as each hundredth row may be of another kind."""
    if size <= count:
        return np.arange(size)
    # Importing numpy.random takes longer than all the rest, and somebody waits for these rows.
    drawn = ordering.scattered(np.uint64(size) + np.arange(count, dtype=np.uint64) * ordering.GOLDEN)
    return ((drawn >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(np.int64)
