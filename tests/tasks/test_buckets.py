"""Texts that share a band of hashes, against plain lists of them."""

from __future__ import annotations

import tracemalloc
from collections import defaultdict

import numpy as np
import pytest

from sce_desktop.tasks.insight.buckets import Buckets, band_keys


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [1, 2, 3])
def test_texts_share_a_bucket_where_all_hashes_of_a_band_are_equal(seed: int, width: int) -> None:
    bands, count = 4, 300
    hashes = np.random.default_rng(seed).integers(0, 6, (count, bands * width)).astype(np.uint32)
    buckets = Buckets(band_keys(hashes, bands, width))
    found: dict[int, list[list[int]]] = defaultdict(list)
    for band in range(bands):
        texts: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for place, key in enumerate(hashes[:, band * width : (band + 1) * width].tolist()):
            texts[tuple(key)].append(place)
        for members in texts.values():
            for place in members if len(members) > 1 else []:
                found[place].append(members)
    assert buckets.places.tolist() == sorted(found)
    for place, wanted in found.items():
        assert [some.tolist() for some in buckets.beside(place)] == wanted


def test_of_no_texts_and_of_texts_alone_there_is_none() -> None:
    assert Buckets(np.empty((3, 0), np.uint32)).places.tolist() == []
    assert Buckets(np.arange(30, dtype=np.uint32).reshape(3, 10)).places.tolist() == []


@pytest.mark.parametrize(("kinds", "most"), [(4_000, 6), (2**32, 1)])
def test_a_text_takes_a_few_bytes_a_band(kinds: int, most: int) -> None:
    """Beside its key, whose place is used again; lists of places would take gigabytes of a million texts."""
    bands, count = 16, 20_000
    keys = np.random.default_rng(0).integers(0, kinds, (bands, count), np.uint32)
    tracemalloc.start()
    try:
        buckets = Buckets(keys)
        kept, _most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(buckets.places) == count) == (kinds < count)
    assert kept < most * bands * count
