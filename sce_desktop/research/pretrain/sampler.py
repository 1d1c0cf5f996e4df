"""Draws training groups: texts of one set, a label list worded and filled up at random, WordNet glosses.

Label diversity decides, so every set and every wording is drawn from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sce_desktop.research.pretrain.config import SamplerConfig
from sce_desktop.research.pretrain.training_data import (
    Bools,
    FreeLabels,
    Glosses,
    Ints,
    Lists,
    Taught,
    TrainSet,
    WrittenSets,
)

UNKNOWN = -100
"""Place of the right label where only the teacher judges; the number that `torch` ignores as a target."""


@dataclass(frozen=True)
class Batch:
    """P groups of T texts with K labels each. ``right`` (P, T): place of the right label, or `UNKNOWN`."""

    texts: Ints  # (P, T)
    labels: Ints  # (P, K), -1 where a group has fewer
    mask: Bools  # (P, T, K)
    right: Ints  # (P, T)
    kept: NDArray[np.float64]  # (P, T) share of the text that is read: 1, or less where it is cut short


Group = tuple[Ints, Ints, Bools, Ints]
"""Texts (T,), labels (K,), which label counts for which text (T, K), place of the right one (T,)."""


FACET_SHARES = (0.35, 0.4, 0.15, 0.1)
"""How often a group of free labels asks for topic, section, kind or what else fits."""


class Sampler:
    """Draws batches. A batch follows from seed and step alone, so any process can draw any step."""

    def __init__(
        self,
        sets: Sequence[TrainSet],
        glosses: Glosses | None,
        config: SamplerConfig,
        *,
        pairs: Glosses | None = None,
        free: FreeLabels | None = None,
        written: WrittenSets | None = None,
        broader: FreeLabels | None = None,
        dictionary: Sequence[Glosses] = (),
        translations: Ints | None = None,
        taught: Taught | None = None,
        others: Ints | None = None,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> None:
        self.pairs, self.free, self.written, self.broader = pairs, free, written, broader
        self.taught, self.dictionary, self.translations = taught, tuple(dictionary), translations
        self.others = np.array([], dtype=np.int64) if others is None else others
        self.sets, self.glosses, self.config, self.seed = list(sets), glosses, config, seed
        share = config.row_share
        weight = [
            len(s.texts) ** share * min(len(s.counts), 40) ** (1 - share) * (weights or {}).get(s.name, 1.0)
            for s in self.sets
        ]
        self.weight = np.array(weight) / sum(weight)

    def batch(self, step: int) -> Batch:
        """Draw the groups of ``step``."""
        c, rng = self.config, np.random.default_rng((self.seed, step))
        drawn: list[Group] = []
        ends = np.cumsum(
            [c.wordnet, c.mixed, c.pairs, c.free_labels, c.broader, c.written, c.taught, c.dictionary]
        )
        for kind in np.searchsorted(ends, rng.random(c.groups), side="right"):
            if kind == 0 and self.glosses is not None:
                drawn.append(self._gloss_group(self.glosses, rng))
            elif kind == 1:
                drawn.append(self._mixed_group(rng))
            elif kind == 2 and self.pairs is not None:
                drawn.append(self._gloss_group(self.pairs, rng))
            elif kind == 3 and self.free is not None:
                drawn.append(self._free_group(self.free, rng))
            elif kind == 4 and self.broader is not None:
                drawn.append(self._free_group(self.broader, rng))
            elif kind == 5 and self.written is not None:
                drawn.append(self._written_group(self.written, rng))
            elif kind == 6 and self.taught is not None:
                drawn.append(self._taught_group(self.taught, rng))
            elif kind == 7 and self.dictionary:
                drawn.append(self._gloss_group(self.dictionary[rng.integers(len(self.dictionary))], rng))
            else:
                drawn.append(self._set_group(self.sets[rng.choice(len(self.sets), p=self.weight)], rng))
        if self.translations is not None and c.translated:
            drawn = [
                (texts, self._translate(labels, rng), seen, right)
                if rng.random() < c.translated
                else (texts, labels, seen, right)
                for texts, labels, seen, right in drawn
            ]
        width = max(len(labels) for _, labels, _, _ in drawn)
        labels = np.full((c.groups, width), -1)
        mask = np.zeros((c.groups, c.rows, width), dtype=bool)
        for p, (_, own, seen, _) in enumerate(drawn):
            labels[p, : len(own)] = own
            mask[p, :, : len(own)] = seen
        texts, right = np.stack([d[0] for d in drawn]), np.stack([d[3] for d in drawn])
        kept = np.where(rng.random(texts.shape) < c.cut, rng.random(texts.shape), 1.0)
        return Batch(texts, labels, mask, right, kept)

    def _word(self, wordings: Lists, labels: Ints, rng: np.random.Generator) -> Ints:
        other = (rng.random(len(labels)) < self.config.synonyms) & (wordings.counts[labels] > 1)
        worded = wordings.draw(labels, rng.random(len(labels)), first=1)
        return np.where(other, worded, wordings.values[labels, 0])

    def _translate(self, labels: Ints, rng: np.random.Generator) -> Ints:
        # All labels go into one language, now and then each into its own; those without a translation stay,
        # and so do two that would become the same.
        assert self.translations is not None
        known, place = np.unique(labels, return_inverse=True)
        languages = self.translations.shape[1]
        one = rng.integers(languages, size=len(known) if rng.random() < 0.2 else 1)
        found = self.translations[known, np.broadcast_to(one, known.shape)]
        becomes = np.where(found < 0, known, found)
        _, back, often = np.unique(becomes, return_inverse=True, return_counts=True)
        return np.where(often[back] > 1, known, becomes)[place]

    def _set_group(self, s: TrainSet, rng: np.random.Generator) -> Group:
        c = self.config
        known = np.flatnonzero(s.counts)
        k = len(known)
        if k > 3 and rng.random() >= c.all_labels:
            k = int(rng.integers(2, k + 1))
        kept = rng.permutation(known)[: min(k, c.max_labels)]
        share = s.counts[kept] ** c.row_share
        right = rng.choice(len(kept), size=c.rows, p=share / share.sum())
        row = _places(s.starts, kept[right], rng)
        labels = self._word(s.wordings, kept, rng)
        if c.reworded == "right":
            labels = np.where(np.isin(np.arange(len(kept)), right), labels, s.wordings.values[kept, 0])
        if len(kept) > 2 and rng.random() < c.merged:
            labels, right = self._merge(s, kept, labels, right, rng)
        if len(labels) > 3 and len(self.others) and rng.random() < c.others:
            labels, right = self._leave_out(labels, right, rng)
        labels = self._distract(labels, rng)
        return s.texts[row], labels, np.ones((c.rows, len(labels)), dtype=bool), right

    def _distract(self, labels: Ints, rng: np.random.Generator) -> Ints:
        if self.glosses is None or rng.random() >= self.config.distractors:
            return labels
        more = rng.choice(self.glosses.pool, size=int(rng.integers(1, 6)))
        return np.concatenate([labels, np.setdiff1d(more, labels)])

    def _merge(
        self, s: TrainSet, kept: Ints, labels: Ints, right: Ints, rng: np.random.Generator
    ) -> tuple[Ints, Ints]:
        # Up to a third of the labels become two in one, "Science and travel", right for the texts of both.
        place = np.full(len(s.counts), -1)
        place[kept] = np.arange(len(kept))
        fits = np.flatnonzero((place[s.merged[:, :2]] >= 0).all(1))
        becomes, taken, labels = np.arange(len(kept)), set[int](), labels.copy()
        for row in rng.permutation(fits)[: 4 * len(kept)]:
            a, b = place[s.merged[row, :2]]
            if a in taken or b in taken or 3 * len(taken) >= 2 * len(kept):
                continue
            taken |= {int(a), int(b)}
            becomes[b] = a
            labels[a] = s.merged[row, 2]
        stay, new = np.unique(becomes, return_inverse=True)
        return labels[stay], new[right]

    def _leave_out(self, labels: Ints, right: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
        # Some labels go; their texts belong to "Other", as users name what fits nothing.
        gone = rng.permutation(len(labels))[: int(rng.integers(1, len(labels) // 3 + 1))]
        stay = np.setdiff1d(np.arange(len(labels)), gone)
        becomes = np.full(len(labels), len(stay))
        becomes[stay] = np.arange(len(stay))
        return np.append(labels[stay], rng.choice(self.others)), becomes[right]

    def _free_group(self, free: FreeLabels, rng: np.random.Generator) -> Group:
        # A label set drawn from one facet of the open vocabulary, with texts of each label.
        c = self.config
        shares = np.array(FACET_SHARES[: len(free.facets)])
        facet = free.facets[rng.choice(len(free.facets), p=shares / shares.sum())]
        share = facet.counts**0.5
        k = min(int(rng.integers(4, c.rows + 1)), len(share))
        chosen = rng.choice(len(share), size=k, replace=False, p=share / share.sum())
        right = rng.integers(k, size=c.rows)
        owners = facet.owners[_places(facet.starts, chosen[right], rng)]
        mask = ~free.fitting(owners, facet.labels[chosen])
        mask[np.arange(c.rows), right] = True
        return free.texts[_places(free.starts, owners, rng)], free.labels[facet.labels[chosen]], mask, right

    def _written_group(self, w: WrittenSets, rng: np.random.Generator) -> Group:
        # One to four written sets side by side. A text sees the labels of its own set, and of the others
        # those that cannot be right for it too.
        c = self.config
        count = len(w.label_starts) - 1
        of_label, kept = [], []
        for number, at in enumerate(
            rng.choice(count, size=min(int(rng.integers(1, 5)), count), replace=False)
        ):
            own = np.arange(w.label_starts[at], w.label_starts[at + 1])
            if len(own) > 3 and rng.random() >= c.all_labels:
                own = rng.permutation(own)[: int(rng.integers(2, len(own) + 1))]
            kept.append(own)
            of_label.append(np.full(len(own), number))
        rows, group = np.concatenate(kept), np.concatenate(of_label)
        right = rng.integers(len(rows), size=c.rows)
        labels = self._distract(self._word(w.wordings, rows, rng), rng)
        mask = np.ones((c.rows, len(labels)), dtype=bool)
        own_set = group[right][:, None] == group[None]
        mask[:, : len(rows)] = own_set | ~w.alike[rows[right][:, None], rows[None]]
        return w.texts[_places(w.text_starts, rows[right], rng)], labels, mask, right

    def _taught_group(self, taught: Taught, rng: np.random.Generator) -> Group:
        # Texts of anywhere; some of them give one of their nearest labels to the set.
        rows = rng.integers(len(taught.texts), size=self.config.rows)
        giving = rows[: int(rng.integers(2, len(rows) + 1))]
        labels = np.unique(taught.labels[giving, rng.integers(taught.labels.shape[1], size=len(giving))])
        mask = np.ones((len(rows), len(labels)), dtype=bool)
        return taught.texts[rows], labels, mask, np.full(len(rows), UNKNOWN)

    def _mixed_group(self, rng: np.random.Generator) -> Group:
        # Rows of several sets, each with its own label; another row's label distracts unless it is right.
        c, chosen = self.config, rng.choice(len(self.sets), size=8, p=self.weight)
        texts, labels, right = [], [], []
        for number, at in enumerate(chosen):
            s = self.sets[at]
            n = c.rows // len(chosen) + (number < c.rows % len(chosen))
            own = rng.choice(np.flatnonzero(s.counts), size=n)
            texts.append(s.texts[_places(s.starts, own, rng)])
            labels.append(self._word(s.wordings, own, rng))
            right.extend(s.wordings.values[own])
        return _in_batch(np.concatenate(texts), np.concatenate(labels), Lists.pack(right).values)

    def _gloss_group(self, g: Glosses, rng: np.random.Generator) -> Group:
        # In-batch labels; another gloss's label is masked where it is right here too.
        rows = rng.integers(len(g.texts), size=self.config.rows)
        broader = (rng.random(len(rows)) >= 0.4) & (g.right.counts[rows] > g.own[rows])
        u, own = rng.random(len(rows)), g.own[rows]
        above = g.right.draw(rows, u, first=own)
        labels = np.where(broader, above, g.right.values[rows, (u * own).astype(np.int64)])
        return _in_batch(g.texts[rows], labels, g.right.values[rows])


def _places(starts: Ints, groups: Ints, rng: np.random.Generator) -> Ints:
    # One place for each of groups, evenly from starts[g] to starts[g + 1].
    return starts[groups] + (rng.random(len(groups)) * (starts[groups + 1] - starts[groups])).astype(np.int64)


def _in_batch(texts: Ints, labels: Ints, right: Ints) -> Group:
    # Every row's label is offered to every row, unless it is among the row's right ones too (T, R).
    mask = ~(right[:, None, :] == labels[None, :, None]).any(-1)
    np.fill_diagonal(mask, True)
    return texts, labels, mask, np.arange(len(texts))
