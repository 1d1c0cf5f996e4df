"""Locality-sensitive hashing: which texts share a band of their MinHashes, as arrays.

A list of places for each bucket, and of buckets for each text, takes gigabytes of a million texts; here a
number for each text and band, and each band's texts in the order of their buckets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MIXED = np.uint64(0x9E3779B97F4A7C15)


def band_keys(hashes: NDArray[np.integer], bands: int, width: int) -> NDArray[np.uint32]:
    """Return a key (bands, n) for each band of ``width`` hashes of n texts (n, h).

    Equal bands have equal keys. So have others once in four thousand million times, some hundred pairs of a
    million texts: it costs a comparison.
    """
    found = np.zeros((bands, len(hashes)), np.uint64)
    for band in range(bands):
        for column in range(band * width, (band + 1) * width):
            found[band] *= _MIXED
            found[band] ^= found[band] >> np.uint64(29)
            found[band] += hashes[:, column].astype(np.uint64)
    found *= _MIXED
    return (found >> np.uint64(32)).astype(np.uint32)


class Buckets:
    """The texts by what they share; ``places`` (m,) in order are those that share a band with another.

    ``keys`` (bands, n), see `band_keys`, are of no use afterwards: what is found takes their place in memory.
    """

    places: NDArray[np.int32]

    def __init__(self, keys: NDArray[np.uint32]) -> None:
        bands, count = keys.shape
        self._bucket_of = keys.view(np.int32)
        self._members = list[NDArray[np.int32]]()  # of each band: places, bucket by bucket
        self._starts = list[NDArray[np.int32]]()  # of each band: where its buckets begin, and the last ends
        for band in range(bands):
            order = np.argsort(keys[band], kind="stable").astype(np.int32)
            ordered = keys[band][order]
            first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if count else order
            sizes = np.diff(np.append(first, count))
            shared = sizes > 1
            members = order[np.repeat(shared, sizes)]
            sizes = sizes[shared]
            self._bucket_of[band] = -1
            self._bucket_of[band, members] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
            self._members.append(members)
            self._starts.append(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
        shares = np.zeros(count, bool)
        for bucket in self._bucket_of:
            shares |= bucket >= 0
        self.places = np.flatnonzero(shares).astype(np.int32)

    def beside(self, place: int) -> list[NDArray[np.int32]]:
        """Return for each band that ``place`` shares the places that share it, itself among them."""
        return [
            self._members[band][self._starts[band][bucket] : self._starts[band][bucket + 1]]
            for band, bucket in enumerate(self._bucket_of[:, place].tolist())
            if bucket >= 0
        ]
