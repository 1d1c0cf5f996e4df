"""Texts, labels and their wordings as numbers: what the sampler draws from.

Everything is integers into two tables, texts and labels, tokenised once; a group costs microseconds.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class StringTable:
    """Strings and their numbers, in first-seen order."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._index: dict[str, int] = {}

    def add(self, string: str) -> int:
        """Return the number of ``string``, giving it the next one if it is new."""
        index = self._index.setdefault(string, len(self.strings))
        if index == len(self.strings):
            self.strings.append(string)
        return index

    def __len__(self) -> int:
        return len(self.strings)


def parts_of(label: str) -> list[str]:
    """Return wordings that are in the label itself: without parentheses, its conjuncts, lower case.

    "Science and technology" -> itself, "Science", "Technology", and all in lower case.
    """
    wordings = [label]
    bare = re.sub(r"\s*\(.*?\)", "", label).strip()
    if bare and bare != label:
        wordings.append(bare)
    parts = [p.strip() for p in re.split(r",| and | or |/|&", bare) if len(p.strip()) > 2]
    if 1 < len(parts) <= 3:
        wordings += [p[0].upper() + p[1:] for p in parts]
    return list(dict.fromkeys([*wordings, *(w.lower() for w in wordings)]))


@dataclass(frozen=True)
class Lists:
    """Lists of numbers of unequal length as one matrix, short rows filled up with -1."""

    values: Ints  # (n, longest)
    counts: Ints  # (n,)

    @classmethod
    def pack(cls, lists: Sequence[Sequence[int]]) -> Lists:
        """Pack ``lists``."""
        counts = np.array([len(one) for one in lists], dtype=np.int64)
        values = np.full((len(lists), int(counts.max(initial=1))), -1, dtype=np.int64)
        for row, one in enumerate(lists):
            values[row, : len(one)] = one
        return cls(values, counts)

    def draw(self, rows: Ints, u: NDArray[np.float64], *, first: int | Ints = 0) -> Ints:
        """Return one entry of each of ``rows``, evenly from place ``first`` on, by ``u`` in [0, 1)."""
        place = first + (u * (self.counts[rows] - first)).astype(np.int64)
        return self.values[rows, np.minimum(place, self.counts[rows] - 1)]


@dataclass(frozen=True)
class TrainSet:
    """One labelled set: texts sorted by label, and every label's wordings as numbers of the label table."""

    name: str
    texts: Ints  # (n,) numbers of the text table, sorted by label
    starts: Ints  # (L + 1,) label l owns texts[starts[l]:starts[l + 1]]
    wordings: Lists  # L rows; the label as the set words it comes first
    merged: Ints
    """(m, 3): two labels l and the number of a label that names both, "Science and travel"."""

    @property
    def counts(self) -> Ints:
        """Texts of each label (L,)."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class Glosses:
    """WordNet: glosses, and for each the labels that are right, its own lemmas first, then broader ones."""

    texts: Ints
    right: Lists
    own: Ints  # how many of the right ones are the sense's own lemmas
    pool: Ints  # labels to distract with


JOINERS = (" and ", " & ", "/", ", ", " or ")


def make_set(
    name: str,
    texts: Sequence[str],
    labels: Sequence[str],
    synonyms: Mapping[str, Sequence[str]],
    *,
    text_table: StringTable,
    label_table: StringTable,
    merges: int = 0,
) -> TrainSet:
    """Number a set's texts and label wordings. A wording that is another label's own name is left out.

    ``merges``: how many names of two labels together are made up, for groups that merge labels.
    """
    names = sorted(set(labels))
    taken = {n.casefold() for n in names}
    wordings = []
    for n in names:
        offered = [*parts_of(n), *synonyms.get(n, ())]
        fine = [w for w in offered if w.casefold() == n.casefold() or w.casefold() not in taken]
        wordings.append([label_table.add(w) for w in dict.fromkeys(fine)])
    place = {n: i for i, n in enumerate(names)}
    y = np.array([place[label] for label in labels])
    order = np.argsort(y, kind="stable")
    numbers = np.array([text_table.add(t) for t in texts])[order]
    starts = np.searchsorted(y[order], np.arange(len(names) + 1))
    merged = _merge(name, [[label_table.strings[i] for i in one] for one in wordings], merges)
    rows = [(a, b, label_table.add(both)) for a, b, both in merged]
    return TrainSet(
        name, numbers, starts, Lists.pack(wordings), np.array(rows, dtype=np.int64).reshape(-1, 3)
    )


def _merge(name: str, wordings: Sequence[Sequence[str]], count: int) -> list[tuple[int, int, str]]:
    rng, made = random.Random(name), []
    short = [[w for w in one if len(w) <= 40] or list(one[:1]) for one in wordings]
    for _ in range(count if len(short) > 2 else 0):
        a, b = rng.sample(range(len(short)), 2)
        made.append((a, b, rng.choice(short[a]) + rng.choice(JOINERS) + rng.choice(short[b])))
    return made


def make_glosses(
    lines: Sequence[Mapping[str, Any]], *, text_table: StringTable, label_table: StringTable
) -> Glosses:
    """Number WordNet glosses: ``t`` the gloss, ``p`` its groups of right labels (data index)."""
    texts, right, own, pool = [], [], [], []
    for line in lines:
        groups = [[label_table.add(w) for w in g] for g in line["p"][:7]]
        texts.append(text_table.add(line["t"]))
        right.append([label for g in groups for label in g])
        own.append(len(groups[0]))
        pool.append(groups[-1][0])
    return Glosses(np.array(texts), Lists.pack(right), np.array(own), np.array(pool))


def make_dictionary(
    lines: Iterable[Mapping[str, Any]], texts: StringTable, labels: StringTable, *, most: int = 4
) -> tuple[Glosses, ...]:
    """Number senses that many languages name, by language of the labels; see ``tools/omw_labels.py``.

    The texts are English glosses and, where a language has one, its own: with labels in that language, and
    with English ones. At most ``most`` groups of right labels are kept of each.
    """
    rows: dict[str, list[tuple[int, list[list[int]]]]] = defaultdict(list)
    for line in lines:
        named = {
            language: [[labels.add(w) for w in g] for g in own[:most]] for language, own in line["p"].items()
        }
        gloss = texts.add(line["t"])
        for language, groups in named.items():
            if language != "eng":  # WordNet itself has those
                rows[language].append((gloss, groups))
        for language, text in line["d"].items():
            if language in named:
                rows[language].append((texts.add(text), named[language]))
            rows["eng"].append((texts.add(text), named["eng"]))
    made = []
    for language in sorted(rows):
        own = rows[language]
        made.append(
            Glosses(
                np.array([text for text, _ in own]),
                Lists.pack([[n for g in groups for n in g] for _, groups in own]),
                np.array([len(groups[0]) for _, groups in own]),
                np.array([groups[-1][0] for _, groups in own]),
            )
        )
    return tuple(made)


def make_translations(names: Mapping[str, Sequence[str]], labels: StringTable) -> Ints:
    """Return (labels, languages): by number of a label, the number of its name in each language.

    ``names`` holds English names with theirs in every language, in one order, "" where there is none:
    -1. Upper and lower case are one.
    """
    rows = {name.casefold(): own for name, own in names.items()}
    languages = max(len(own) for own in rows.values())
    found = []
    for string in list(labels.strings):
        own = rows.get(string.casefold(), ())
        found.append([labels.add(name) if name else -1 for name in own] + [-1] * (languages - len(own)))
    whole = np.full((len(labels), languages), -1, dtype=np.int64)
    whole[: len(found)] = found
    return whole


def make_pairs(
    texts: Sequence[str], *, text_table: StringTable, label_table: StringTable, least: int = 60
) -> Glosses:
    """Cut each text in two at a sentence or word end: the beginning names the rest as a label would.

    Keeps what the embedder knew of meaning in general while labels are few. Texts shorter than twice
    ``least`` characters are left out.
    """
    rest, first = [], []
    for text in texts:
        if len(text) < 2 * least:
            continue
        ends = [m.end() for m in re.finditer(r"[.!?:;]\s|\s", text) if least <= m.end() <= len(text) - least]
        sentence = [e for e in ends if text[e - 2] in ".!?"]
        if ends:
            at = sentence[0] if sentence else ends[len(ends) // 2]
            first.append([label_table.add(text[:at].strip())])
            rest.append(text_table.add(text[at:].strip()))
    own = np.ones(len(rest), dtype=np.int64)
    return Glosses(np.array(rest), Lists.pack(first), own, np.array([], dtype=np.int64))


@dataclass(frozen=True)
class WrittenSets:
    """Small label sets with a few texts a label, all written for training; labels are numbered throughout."""

    texts: Ints  # (n,) numbers of the text table, sorted by label
    text_starts: Ints  # (L + 1,) label l owns texts[text_starts[l]:text_starts[l + 1]]
    label_starts: Ints  # (S + 1,) set s has the labels label_starts[s] to label_starts[s + 1]
    wordings: Lists  # L rows
    alike: Bools  # (L, L) labels of which one may be right where the other is


def make_written(
    lines: Sequence[Mapping[str, Any]], *, text_table: StringTable, label_table: StringTable
) -> WrittenSets:
    """Number written sets: ``labels`` holds, for each, its name, another wording, then its texts.

    Labels of different sets that share a word's stem are never each other's wrong answers.
    """
    sizes: list[int] = []
    counts: list[int] = []
    texts: list[int] = []
    wordings: list[list[int]] = []
    stems = defaultdict[str, list[int]](list)
    for line in lines:
        sizes.append(len(line["labels"]))
        taken = {name.casefold() for name, *_ in line["labels"]}
        for name, other, *own in line["labels"]:
            offered = [*parts_of(name), other]
            fine = [w for w in offered if w.casefold() == name.casefold() or w.casefold() not in taken]
            for stem in _stems(f"{name} {other}"):
                stems[stem].append(len(wordings))
            wordings.append([label_table.add(w) for w in dict.fromkeys(fine)])
            counts.append(len(own))
            texts.extend(text_table.add(text) for text in own)
    alike = np.eye(len(wordings), dtype=bool)
    for same in stems.values():
        alike[np.ix_(same, same)] = True
    return WrittenSets(np.array(texts), _starts(counts), _starts(sizes), Lists.pack(wordings), alike)


def _starts(counts: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


@dataclass(frozen=True)
class Facet:
    """Labels that answer one question of a text ("what section?"), with their owners."""

    labels: Ints  # (F,) columns of FreeLabels.labels
    starts: Ints  # (F + 1,) label f belongs to owners[starts[f]:starts[f + 1]]
    owners: Ints

    @property
    def counts(self) -> Ints:
        """Owners of each label (F,)."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class FreeLabels:
    """An open vocabulary instead of a label set: owners with labels written for each one freely, in facets.

    An owner is a single text, or a label of a set with all its texts.
    """

    texts: Ints  # numbers of the text table, by owner
    starts: Ints  # (O + 1,) owner o has texts[starts[o]:starts[o + 1]]
    labels: Ints  # (L,) numbers of the label table
    facets: tuple[Facet, ...]
    fits: NDArray[
        np.uint8
    ]  # (O, ⌈L / 8⌉) a bit for each label that is right or means the same as a right one

    def fitting(self, owners: Ints, labels: Ints) -> Bools:
        """Return which of ``labels`` (K,), columns, are right for ``owners`` (T,) or mean the same (T, K)."""
        bits = self.fits[owners[:, None], labels[None] >> 3] >> (7 - (labels & 7)).astype(np.uint8)
        return (bits & 1).astype(np.bool_)


@dataclass(frozen=True)
class Taught:
    """Texts with the labels that a teacher finds nearest to each, as numbers of the two tables."""

    texts: Ints  # (n,)
    labels: Ints  # (n, k)


FACETS = ((0,), (1, 2), (3,), (4, 5))
"""Places in a text's free labels: its topic, its section in two wordings, its kind, what else fits."""


def make_free_labels(
    lines: Sequence[tuple[Sequence[str], Sequence[str]]],
    facets: Sequence[Sequence[int]] | None,
    *,
    text_table: StringTable,
    label_table: StringTable,
) -> FreeLabels:
    """Number owners: their texts and their free labels. ``facets`` None: all labels answer one question.

    Two labels are taken to mean the same where they share a word's stem, or stand as the two wordings of one
    section somewhere: neither is ever a wrong answer where the other is right.
    """
    names = list(dict.fromkeys(name for _, own in lines for name in own))
    column = {name: i for i, name in enumerate(names)}
    owned = [[column[name] for name in own] for _, own in lines]
    alike = np.eye(len(names), dtype=bool)
    by_stem: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(names):
        for stem in _stems(name):
            by_stem[stem].append(i)
    for same in by_stem.values():
        alike[np.ix_(same, same)] = True
    if facets is not None:
        for one in owned:
            alike[one[1], one[2]] = alike[one[2], one[1]] = True
    whole = facets or [range(max(len(one) for one in owned))]
    starts = _starts([len(texts) for texts, _ in lines])
    return FreeLabels(
        np.array([text_table.add(text) for texts, _ in lines for text in texts]),
        starts,
        np.array([label_table.add(name) for name in names]),
        tuple(_facet(owned, places) for places in whole),
        np.stack([np.packbits(alike[one].any(0)) for one in owned]),
    )


def _facet(owned: Sequence[Sequence[int]], places: Sequence[int]) -> Facet:
    pairs = sorted({(one[p], owner) for owner, one in enumerate(owned) for p in places if p < len(one)})
    counts = Counter(label for label, _ in pairs)
    starts = _starts(list(counts.values()))
    return Facet(np.array(list(counts)), starts, np.array([owner for _, owner in pairs]))


def _stems(label: str) -> set[str]:
    small = ("and", "the", "of", "in", "or", "a", "for", "to", "with")
    return {w[:5] for w in re.findall(r"[a-z]+", label.lower()) if w not in small}
