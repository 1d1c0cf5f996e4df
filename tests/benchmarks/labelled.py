"""Labelled sets for benchmarks that play a user: texts, gold labels, text vectors and zero-shot answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.similarity import SimilarityModel
from sce_desktop.research.collections import load_set
from sce_desktop.store.runs.vector_cache import VectorCache

SAMPLE_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSet:
    """A set of n texts over K labels as a user would have it after the first scoring."""

    name: str
    labels: tuple[str, ...]
    gold: IdArray  # (n,) label indices
    vectors: FloatArray  # (n, d) of the SCE's embedder
    sce: FloatArray  # (n, K) zero-shot probabilities
    similarity: FloatArray  # (n, K), of the similarity baseline

    def __len__(self) -> int:
        return len(self.gold)


def scored_sets(
    data: Path, names: Sequence[str], *, model: str, rows: int, cache_file: Path
) -> list[ScoredSet]:
    """Load the sets ``names`` from the folder ``data``, at most ``rows`` texts each, and score them."""
    sce = SCEModel.from_pretrained(catalog.resolve(model))
    similarity = SimilarityModel.from_pretrained()
    found = []
    with VectorCache(cache_file) as cache:
        for name in names:
            labelled = load_set(data, name)
            keep = np.random.default_rng(SAMPLE_SEED).permutation(len(labelled))[:rows]
            texts = [labelled.texts[place] for place in keep]
            index_of = {label: index for index, label in enumerate(labelled.label_names)}
            labels = [Label(label) for label in index_of]
            found.append(
                ScoredSet(
                    name,
                    tuple(index_of),
                    np.asarray([index_of[labelled.labels[place]] for place in keep], dtype=np.int64),
                    sce.embed(texts, cache=cache),
                    sce.probabilities(texts, labels, cache=cache).probabilities,
                    similarity.probabilities(texts, labels, cache=cache).probabilities,
                )
            )
    return found
