"""Rows that are like others: the most similar, copies, near copies, and labels that do not fit theirs."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import numpy as np
import regex
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.folding import folded
from sce_desktop.core.giving_way import give_way, giving_way
from sce_desktop.core.i18n import _
from sce_desktop.core.memory import give_back
from sce_desktop.core.progress import Progress
from sce_desktop.imports import importing
from sce_desktop.store.runs.large_arrays import large
from sce_desktop.tasks.insight.buckets import Buckets, band_keys
from sce_desktop.tasks.insight.filed_texts import FiledTexts

# scikit-learn, scipy, datasketch and cleanlab take seconds to import: they come with the first call.

NEAR: Final = 0.9
"""Texts from this similarity up are near copies: twice the common part over both lengths (rapidfuzz)."""
FOLDS: Final = 5
_BLOCK: Final = 100_000
_PERMUTATIONS: Final = 64
_SHINGLE: Final = 4  # characters; words would leave out languages that do not part them
_BATCH: Final = 1000
_MANY: Final = 1000  # from so many on numpy unites them faster than a set
_MOST: Final = 50  # candidates that one text is compared with, the likeliest ones
_LONGEST: Final = 2000  # characters of a text that are compared
_SPACE = regex.compile(r"[^\w\p{M}]+")  # vowel signs of Indian and Thai letters are no spaces


@dataclass(frozen=True, slots=True, eq=False)
class Suspects:
    """Decided rows that probably have a wrong label, the most doubtful first.

    ``places`` (m,) are places among the decided rows that were given; ``given`` and ``proposed`` (m,) label
    indices; ``confidence`` (m,) what a model that did not see the row gives to its label.
    """

    places: IdArray
    given: IdArray
    proposed: IdArray
    confidence: FloatArray
    too_few: tuple[int, ...]  # labels with fewer rows than folds: not checked


def similar(vectors: FloatArray, wanted: FloatArray, count: int = 20) -> tuple[IdArray, FloatArray]:
    """Return places and cosines (count,) of the rows most like one vector, the most similar first, exactly.

    Args:
        vectors: (n, d) of any length each.
        wanted: (d,) what to be similar to: a row's own vector finds the row itself too.
        count: How many; n if there are fewer.
    """
    target = wanted / max(float(np.linalg.norm(wanted)), 1e-12)
    cosines = np.empty(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), _BLOCK):  # no copy of a million vectors for their lengths
        block = vectors[start : start + _BLOCK]
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        cosines[start : start + _BLOCK] = block @ target / np.maximum(lengths, 1e-12)
    count = min(count, len(vectors))
    if count == 0:
        return np.zeros(0, dtype=np.int64), cosines
    first = np.argpartition(-cosines, count - 1)[:count]
    first = first[np.lexsort((first, -cosines[first]))]
    return first, cosines[first]


def copies(texts: Sequence[str]) -> list[IdArray]:
    """Return groups of places whose texts are the same but for case, spaces and punctuation.

    The largest group first; blank texts are in none, nor are those without a letter or digit.
    """
    first: dict[str, int] = {}
    leads = np.arange(len(texts))
    for place, text in enumerate(giving_way(texts)):
        if plain := _plain(text):
            leads[place] = first.setdefault(plain, place)
    return _groups(leads)


def _groups(numbers: NDArray[np.integer[Any]]) -> list[IdArray]:
    """Return groups of places whose ``numbers`` are the same, the largest first; those alone are in none."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(order)])
    sizes = np.diff(np.append(begins, len(order)))
    many = sizes > 1  # of a million texts that are alone no arrays
    found = [
        order[start : start + size].copy()
        for start, size in zip(begins[many].tolist(), sizes[many].tolist(), strict=True)
    ]
    return sorted(found, key=lambda places: (-len(places), int(places[0])))


def near_copies(texts: Iterable[str], *, similarity: float = NEAR, progress: Progress) -> list[IdArray]:
    """Return groups of places whose texts are copies or nearly so, the largest first.

    MinHash (datasketch) and locality-sensitive hashing find candidates, rapidfuzz compares them letter by
    letter; each member of a group is near another one, not necessarily near all. Each candidate pair is
    compared on its first 2,000 characters. Of very many candidates the 50 that share the most, by their
    MinHashes, are compared; so which texts are in a group does not depend on the order of the rows.

    Raises:
        Cancelled: The user stopped.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    held = FiledTexts(map(_plain, texts), _LONGEST)  # ``texts`` need not be held meanwhile
    progress.check()
    places, empty = np.arange(len(held), dtype=np.int32), held.empty()
    leads = np.where(empty, places, held.leads)
    if similarity >= 1:
        return _groups(leads)
    again = leads != places  # one of each stands for all
    left, right = array("i"), array("i")  # lists of millions of pairs would take a gigabyte
    left.frombytes(leads[again].tobytes())
    right.frombytes(places[again].tobytes())
    compared = places[~(again | empty)]
    del places, empty, leads, again
    give_back()  # what was free'd lies in holes that the next arrays do not fit in
    progress.check()
    for one, other in _near_pairs(held, compared, similarity, progress):
        left.append(int(compared[one]))
        right.append(int(compared[other]))
    pairs = (np.asarray(left, np.int32), np.asarray(right, np.int32))
    graph = coo_array((np.ones(len(left), dtype=np.int8), pairs), shape=(len(held), len(held)))
    _count, member = connected_components(graph, directed=False)
    return _groups(member)


def _near_pairs(
    held: FiledTexts, compared: NDArray[np.int32], similarity: float, progress: Progress
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places in ``compared`` whose texts are near, each once."""
    with importing():  # they bring much of scipy
        from datasketch import MinHash, MinHashLSH
        from rapidfuzz.process import cdist  # by `fuzz.ratio`

    # Two texts of which 90 % is common share fewer of their shingles: a change touches up to four in each.
    bands = MinHashLSH(threshold=max(0.1, 1 - 5 * (1 - similarity)), num_perm=_PERMUTATIONS)
    keys = np.empty((bands.b, len(compared)), np.uint32)
    ends = large((len(compared), _PERMUTATIONS), np.uint16)  # enough to tell which hashes are the same
    for start in range(0, len(compared), _BATCH):
        progress.check()
        some = giving_way(compared[start : start + _BATCH].tolist())
        bulk = MinHash.bulk([_shingles(held[at]) for at in some], num_perm=_PERMUTATIONS, hashfunc=crc32)
        hashes = np.array([minhash.hashvalues for minhash in bulk]).reshape(-1, _PERMUTATIONS)
        ends[start : start + _BATCH] = hashes.astype(np.uint16)
        keys[:, start : start + _BATCH] = band_keys(hashes, bands.b, bands.r)
        progress.report(min(start + _BATCH, len(compared)), len(compared), stage=_("reading texts"))
    buckets = Buckets(keys)
    del keys
    # Between candidates that share as much the texts themselves decide, and not their places.
    rank = held.ranks()[compared]
    give_back()
    among = np.zeros(len(compared), bool)
    likeliest = _Likeliest(len(compared))
    for number, place in enumerate(_one_by_one(buckets.places)):
        if number % _BATCH == 0:
            progress.check()
            progress.report(number, len(buckets.places), stage=_("comparing texts"))
        give_way()
        several = np.concatenate(buckets.beside(place))
        if len(several) > _MANY:
            among[:] = False
            among[several] = True
            candidates = np.flatnonzero(among)
            found = set() if len(candidates) > _MOST + 1 else set(candidates.tolist())
        else:
            found = set(several.tolist())
            candidates = np.fromiter(found, np.int64, len(found))
        if len(candidates) > _MOST + 1:  # itself is among them
            shared = np.count_nonzero(ends[candidates] == ends[place], axis=1)
            order = (_PERMUTATIONS - shared) * len(held) + rank[candidates]
            order[candidates == place] = -1
            found = set(candidates[np.argpartition(order, _MOST)[: _MOST + 1]].tolist())
            likeliest.keep(place, found)
        # Each pair once, at the turn of its first: being a candidate is mutual, being a likely one is not.
        others = [other for other in found if other > place or likeliest.leaves_out(other, place)]
        if others:
            texts = [held[at] for at in compared[others].tolist()]
            ratios = cdist([held[compared[place]]], texts, score_cutoff=100 * similarity)
            yield from ((place, others[near]) for near in np.flatnonzero(ratios[0]).tolist())


def _one_by_one(places: NDArray[np.int32]) -> Iterator[int]:
    for start in range(0, len(places), _BATCH):  # a list of a million takes ten times as much
        yield from places[start : start + _BATCH].tolist()


class _Likeliest:
    """Which later candidates were kept of texts with too many: one array, as sets of all take gigabytes."""

    def __init__(self, count: int) -> None:
        self._kept = array("i")
        self._starts, self._ends = (np.full(count, -1, np.int32) for _ in range(2))

    def keep(self, place: int, candidates: set[int]) -> None:
        """Note that the text at ``place`` is compared with these alone."""
        self._starts[place] = len(self._kept)
        self._kept.extend(sorted(other for other in candidates if other > place))
        self._ends[place] = len(self._kept)

    def leaves_out(self, place: int, later: int) -> bool:
        """Whether the text at ``place`` had too many candidates and was not compared with a later one."""
        start, end = int(self._starts[place]), int(self._ends[place])
        found = bisect_left(self._kept, later, start, end) if start >= 0 else end
        return start >= 0 and (found == end or self._kept[found] != later)


def suspects(
    vectors: FloatArray, labels: IdArray, count: int, *, seed: int = 0, progress: Progress | None = None
) -> Suspects:
    """Find decided rows whose label does not fit what the other decided rows teach.

    Every row's probabilities come from a logistic regression on its vector that was fitted without it
    (5 folds); which rows are suspicious, and in which order, says confident learning (Northcutt, Jiang and
    Chuang 2021, JAIR 70), by the library cleanlab. Labels with fewer than 5 rows are reported and left out.

    Args:
        vectors: (n, d) of the decided rows.
        labels: (n,) their label indices.
        count: How many labels there are.
        seed: Of the folds.
        progress: Checked before each fold.

    Raises:
        Cancelled: The user stopped.
    """
    sizes = np.bincount(labels, minlength=count)
    few = tuple(np.flatnonzero((sizes > 0) & (sizes < FOLDS)).tolist())
    rows = np.flatnonzero(sizes[labels] >= FOLDS)
    kinds, y = np.unique(labels[rows], return_inverse=True)
    nothing = np.zeros(0, dtype=np.int64)
    if len(kinds) < 2:
        return Suspects(nothing, nothing, nothing, np.zeros(0, dtype=np.float32), few)
    from cleanlab.filter import find_label_issues
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    model = LogisticRegression(C=10, max_iter=300)
    judged, p = vectors[rows], np.zeros((len(rows), len(kinds)))
    for fold, (others, own) in enumerate(folds.split(judged, y)):
        if progress is not None:
            progress.check()
            progress.report(fold, FOLDS, stage=_("checking labels"))
        p[own] = model.fit(judged[others], y[others]).predict_proba(judged[own])
    # One process: a pool of them starts the whole program again where it is frozen.
    worst = find_label_issues(
        y, p, filter_by="prune_by_noise_rate", return_indices_ranked_by="self_confidence", n_jobs=1
    )
    worst = np.asarray(worst, dtype=np.int64)
    rivals = p[worst].copy()
    rivals[np.arange(len(worst)), y[worst]] = -1
    return Suspects(
        rows[worst],
        kinds[y[worst]],
        kinds[rivals.argmax(axis=1)],
        p[worst, y[worst]].astype(np.float32),
        few,
    )


def _plain(text: str) -> str:
    return _SPACE.sub(" ", folded(text)).strip()


def _shingles(text: str) -> list[bytes]:
    return [
        shingle.encode("utf-8", "replace")
        for shingle in {text[at : at + _SHINGLE] for at in range(max(1, len(text) - _SHINGLE + 1))}
    ]
