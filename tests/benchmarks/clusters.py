"""Labels from nothing on labelled sets: do clusters agree with the gold labels, and do their names find them?

Agreement is adjusted mutual information: 1 is the same partition, 0 what chance gives. HDBSCAN's noise counts
as a cluster of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.discovery import MOST_CLUSTERS, Wanted, labels_of
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.collections import load_set
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.insight import cluster_names
from sce_desktop.tasks.insight.clusters import _k_means, _points, cluster
from sce_desktop.tasks.insight.discover import discover_texts
from sce_desktop.tasks.scoring.models import NamedModel
from tests.benchmarks.measure import print_table

SETS = ("dstc11_finance", "search_snippets", "multidogo_intents")
_QUIET = SilentProgress()


def by_silhouette(vectors: FloatArray) -> IdArray:
    """What the program does."""
    return cluster(vectors, progress=_QUIET).members


def by_stability(vectors: FloatArray) -> IdArray:
    """K-means with as many clusters as two halves of the rows agree on most (Lange et al. 2004)."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_mutual_info_score

    points = _points(vectors, 0)
    halves = np.array_split(np.random.default_rng(0).permutation(len(points)), 2)

    def stability(clusters: int) -> float:
        one, other = (
            KMeans(clusters, n_init=3, random_state=seed).fit(points[half])
            for seed, half in enumerate(halves)
        )
        return float(adjusted_mutual_info_score(one.predict(points), other.predict(points)))

    best = max(range(2, MOST_CLUSTERS + 1), key=stability)
    return _k_means(points, best, 0, _QUIET)


def by_density(part: int) -> Callable[[FloatArray], IdArray]:
    """HDBSCAN on 15 components, with clusters of at least a ``part``-th of the rows."""

    def clustered(vectors: FloatArray) -> IdArray:
        from sklearn.cluster import HDBSCAN

        points = _points(vectors, 0)[:, :15]
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        found: IdArray = HDBSCAN(
            min_cluster_size=max(5, len(points) // part), min_samples=5, copy=True
        ).fit_predict(points)
        return found

    return clustered


WAYS: dict[str, Callable[[FloatArray], IdArray]] = {
    "k-means, silhouette": by_silhouette,
    "k-means, stability": by_stability,
    "HDBSCAN, 1/100": by_density(100),
    "HDBSCAN, 1/50": by_density(50),
}


def run(*, data: Path, names: Sequence[str], model: str, rows: int, cache_file: Path) -> None:
    """Print agreement with gold of every way to cluster, and of the model's predictions by the names."""
    from sklearn.metrics import adjusted_mutual_info_score

    sce = SCEModel.from_pretrained(catalog.resolve(model))
    clusterings, namings = [], []
    with VectorCache(cache_file) as cache:
        for name in names:
            labelled = load_set(data, name)
            keep = np.random.default_rng(0).permutation(len(labelled))[:rows]
            texts = [labelled.texts[place] for place in keep]
            gold = [labelled.labels[place] for place in keep]
            vectors = sce.embed(texts, cache=cache)
            for way, clustered in WAYS.items():
                started = time.perf_counter()
                members = clustered(vectors)
                clusterings.append(
                    (
                        f"{name} ({len(set(gold))} labels)",
                        way,
                        str(len(set(members.tolist()) - {-1})),
                        f"{(members == -1).mean():.0%}",
                        f"{adjusted_mutual_info_score(gold, members):.3f}",
                        f"{time.perf_counter() - started:.1f}",
                    )
                )

            def agreement(
                labels: Sequence[Label], vectors: FloatArray = vectors, gold: list[str] = gold
            ) -> str:
                found = sce.score(vectors, labels).probabilities.argmax(axis=1)
                return f"{adjusted_mutual_info_score(gold, found):.3f}"

            ids = np.arange(1, len(texts) + 1)
            found = discover_texts(
                ids, texts, len(texts), NamedModel("sce", model, sce), Wanted(), cache=cache, progress=_QUIET
            )
            place_of = {row_id: place for place, one in enumerate(found.clusters) for row_id in one.row_ids}
            members = np.array([place_of[row_id] for row_id in ids.tolist()])
            plain = cluster_names.distinct(cluster_names.candidates(texts, members, len(found.clusters)))
            named = labels_of(found.clusters, every=True)
            namings.append(
                (
                    name,
                    agreement([Label(own[0]) for own in plain if own]),
                    agreement([Label(label.name) for label in named]),
                    agreement(named),
                    agreement([Label(label) for label in dict.fromkeys(gold)]),
                    ", ".join(label.name for label in named),
                )
            )
    print_table(
        f"Clusters of {rows:,} rows at most, by the vectors of {model}",
        ("set", "way", "clusters", "noise", "AMI", "seconds"),
        clusterings,
    )
    print_table(
        "Predictions by the names of the clusters, AMI with gold",
        ("set", "by tf-idf", "ranked", "with description", "gold names", "names"),
        namings,
    )
