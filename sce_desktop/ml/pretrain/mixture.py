"""Draws training groups: texts of one set, a label list worded and filled up anew each time, WordNet glosses.

Everything is integers into two tables, texts and labels, tokenised once; a group costs microseconds.
Choices come from the trial that MODEL.md 2 reports: label diversity decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.ml.pretrain.config import MixtureConfig

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

    "Science and technology" -> itself, "Science", "Technology", and all in lower case (MODEL.md 2.4).
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
    def of(cls, lists: Sequence[Sequence[int]]) -> Lists:
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


@dataclass(frozen=True)
class Batch:
    """P groups of T texts with K labels each. ``right`` (P, T) is the place of the right label."""

    texts: Ints  # (P, T)
    labels: Ints  # (P, K), -1 where a group has fewer
    mask: Bools  # (P, T, K)
    right: Ints  # (P, T)
    kept: NDArray[np.float64]  # (P, T) share of the text that is read: 1, or less where it is cut short


Group = tuple[Ints, Ints, Bools, Ints]
"""Texts (T,), labels (K,), which label counts for which text (T, K), place of the right one (T,)."""


def make_set(
    name: str,
    texts: Sequence[str],
    labels: Sequence[str],
    synonyms: Mapping[str, Sequence[str]],
    *,
    text_table: StringTable,
    label_table: StringTable,
) -> TrainSet:
    """Number a set's texts and label wordings. A wording that is another label's own name is left out."""
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
    return TrainSet(name, numbers, starts, Lists.of(wordings))


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
    return Glosses(np.array(texts), Lists.of(right), np.array(own), np.array(pool))


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
    return Glosses(np.array(rest), Lists.of(first), own, np.array([], dtype=np.int64))


class Mixture:
    """Draws batches. A batch follows from seed and step alone, so any process can draw any step."""

    def __init__(
        self,
        sets: Sequence[TrainSet],
        glosses: Glosses | None,
        config: MixtureConfig,
        *,
        pairs: Glosses | None = None,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> None:
        self.pairs = pairs
        self.sets, self.glosses, self.config, self.seed = list(sets), glosses, config, seed
        weight = [
            len(s.texts) ** 0.5 * min(len(s.counts), 40) ** 0.5 * (weights or {}).get(s.name, 1.0)
            for s in self.sets
        ]
        self.weight = np.array(weight) / sum(weight)

    def batch(self, step: int) -> Batch:
        """Draw the groups of ``step``."""
        c, rng = self.config, np.random.default_rng((self.seed, step))
        drawn: list[Group] = []
        for u in rng.random(c.groups):
            if self.glosses is not None and u < c.wordnet:
                drawn.append(self._gloss_group(self.glosses, rng))
            elif u < c.wordnet + c.mixed:
                drawn.append(self._mixed_group(rng))
            elif self.pairs is not None and u < c.wordnet + c.mixed + c.pairs:
                drawn.append(self._gloss_group(self.pairs, rng))
            else:
                drawn.append(self._set_group(self.sets[rng.choice(len(self.sets), p=self.weight)], rng))
        width = max(len(labels) for _, labels, _, _ in drawn)
        labels = np.full((c.groups, width), -1)
        mask = np.zeros((c.groups, c.rows, width), dtype=bool)
        for p, (_, own, seen, _) in enumerate(drawn):
            labels[p, : len(own)] = own
            mask[p, :, : len(own)] = seen
        texts, right = np.stack([d[0] for d in drawn]), np.stack([d[3] for d in drawn])
        kept = np.where(rng.random(texts.shape) < c.cut, rng.random(texts.shape), 1.0)
        return Batch(texts, labels, mask, right, kept)

    def _word(self, s: TrainSet, labels: Ints, rng: np.random.Generator) -> Ints:
        other = (rng.random(len(labels)) < self.config.synonyms) & (s.wordings.counts[labels] > 1)
        worded = s.wordings.draw(labels, rng.random(len(labels)), first=1)
        return np.where(other, worded, s.wordings.values[labels, 0])

    def _set_group(self, s: TrainSet, rng: np.random.Generator) -> Group:
        c = self.config
        known = np.flatnonzero(s.counts)
        k = len(known)
        if k > 3 and rng.random() >= c.all_labels:
            k = int(rng.integers(2, k + 1))
        kept = rng.permutation(known)[: min(k, c.max_labels)]
        share = s.counts[kept] ** 0.5
        right = rng.choice(len(kept), size=c.rows, p=share / share.sum())
        row = s.starts[kept[right]] + (rng.random(c.rows) * s.counts[kept[right]]).astype(np.int64)
        labels = self._word(s, kept, rng)
        if self.glosses is not None and rng.random() < c.distractors:
            more = rng.choice(self.glosses.pool, size=int(rng.integers(1, 6)))
            labels = np.concatenate([labels, np.setdiff1d(more, labels)])
        return s.texts[row], labels, np.ones((c.rows, len(labels)), dtype=bool), right

    def _mixed_group(self, rng: np.random.Generator) -> Group:
        # Rows of several sets, each with its own label; another row's label distracts unless it is right.
        c, chosen = self.config, rng.choice(len(self.sets), size=8, p=self.weight)
        texts, labels, right = [], [], []
        for number, at in enumerate(chosen):
            s = self.sets[at]
            n = c.rows // len(chosen) + (number < c.rows % len(chosen))
            own = rng.choice(np.flatnonzero(s.counts), size=n)
            texts.append(s.texts[s.starts[own] + (rng.random(n) * s.counts[own]).astype(np.int64)])
            labels.append(self._word(s, own, rng))
            right.extend(s.wordings.values[own])
        return _in_batch(np.concatenate(texts), np.concatenate(labels), Lists.of(right).values)

    def _gloss_group(self, g: Glosses, rng: np.random.Generator) -> Group:
        # In-batch labels; another gloss's label is masked where it is right here too (MODEL.md 2.1).
        rows = rng.integers(len(g.texts), size=self.config.rows)
        broader = (rng.random(len(rows)) >= 0.4) & (g.right.counts[rows] > g.own[rows])
        u, own = rng.random(len(rows)), g.own[rows]
        above = g.right.draw(rows, u, first=own)
        labels = np.where(broader, above, g.right.values[rows, (u * own).astype(np.int64)])
        return _in_batch(g.texts[rows], labels, g.right.values[rows])


def _in_batch(texts: Ints, labels: Ints, right: Ints) -> Group:
    # Every row's label is offered to every row, unless it is among the row's right ones too (T, R).
    mask = ~(right[:, None, :] == labels[None, :, None]).any(-1)
    np.fill_diagonal(mask, True)
    return texts, labels, mask, np.arange(len(texts))
