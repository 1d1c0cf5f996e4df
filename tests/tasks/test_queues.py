from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.queues import DEFAULT_QUEUE, Queue
from sce_desktop.core.runs import Scores
from sce_desktop.store.content.ordering import in_turns, of_floats
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.insight.queues import (
    diverse,
    diverse_ids,
    least_certain,
    models_disagree,
    shuffled,
    smallest_margin,
)
from sce_desktop.tasks.scoring.vectors import KnownVectors

P: FloatArray = np.asarray(
    [[0.5, 0.4, 0.1], [0.9, 0.05, 0.05], [0.4, 0.3, 0.3], [0.5, 0.5, 0.0], [0.1, 0.1, 0.8]], dtype=np.float32
)


def test_uncertain_rows_lead_by_what_uncertain_means() -> None:
    assert least_certain(P).tolist() == [2, 0, 3, 4, 1]
    assert smallest_margin(P).tolist() == [3, 0, 2, 4, 1]


def test_disagreement_leads_and_the_farthest_apart_first() -> None:
    other = np.asarray(
        [[0.5, 0.4, 0.1], [0.0, 1.0, 0.0], [0.3, 0.4, 0.3], [0.6, 0.4, 0.0], [0.0, 0.0, 1.0]],
        dtype=np.float32,
    )
    assert models_disagree(P, other).tolist() == [1, 2, 4, 3, 0]


def test_rare_labels_take_turns() -> None:
    """Tops are 0, 0, 0, 0, 2: the label with no decision comes before the second row of a frequent one."""
    places, tops, keys = np.arange(len(P)), P.argmax(axis=1), of_floats(P.max(axis=1))
    assert in_turns(places, tops, keys, np.asarray([3, 0, 0])).tolist() == [4, 1, 0, 3, 2]
    assert in_turns(places, tops, keys, np.asarray([0, 0, 2])).tolist() == [1, 0, 4, 3, 2]


def test_diverse_visits_every_cluster_and_not_what_is_decided() -> None:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((10, 32)).astype(np.float32) * 10
    members = np.repeat(np.arange(10), 100)
    vectors = centres[members] + rng.standard_normal((1000, 32)).astype(np.float32) * 0.1
    order = diverse(vectors, count=10, seed=3)
    assert sorted(order.tolist()) == list(range(1000))
    assert set(members[order[:10]]) == set(range(10))
    assert diverse(vectors, count=10, seed=3).tolist() == order.tolist()
    spared = diverse(vectors, near=centres[:6], count=4, seed=3)
    assert set(members[spared[:4]]) == {6, 7, 8, 9}


def test_diverse_with_copies_and_with_nothing() -> None:
    copies = np.ones((5, 3), dtype=np.float32)
    assert sorted(diverse(copies).tolist()) == [0, 1, 2, 3, 4]
    assert diverse(copies[:0]).tolist() == []
    assert sorted(diverse(copies, near=copies).tolist()) == [0, 1, 2, 3, 4]


def test_diverse_on_a_large_table_stays_bounded() -> None:
    vectors = np.random.default_rng(0).standard_normal((150_000, 16), dtype=np.float32)
    started = time.perf_counter()
    assert len(diverse(vectors)) == 150_000
    assert time.perf_counter() - started < 30  # a scan of all rows for each would take minutes


def test_random_is_a_permutation_of_its_seed() -> None:
    assert sorted(shuffled(50, seed=1).tolist()) == list(range(50))
    assert shuffled(50, seed=1).tolist() != shuffled(50, seed=2).tolist()
    assert DEFAULT_QUEUE in Queue


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(f"text {n}",) for n in range(40)]
        project.add_rows(["text"], [rows], text_columns=[0], source={})
        project.set_labels(clean_labels(["a", "b"]))
        yield project


def test_rare_labels_of_a_project(project: Project) -> None:
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    p = np.asarray([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3]], dtype=np.float32)
    project.add_scores(run.id, [1, 2, 3, 4], Scores(p))
    project.decide([10, 11], Decision.LABEL, [label_set.labels[0].id or 0])
    order = project.row_ids(RowQuery(order=RowOrder.RARE, run_id=run.id))
    assert order[:5].tolist() == [3, 1, 2, 4, 5]


def test_diverse_rows_of_a_project(project: Project, tmp_path: Path) -> None:
    label_set = project.label_set()
    assert label_set is not None
    vectors = np.eye(4, 6, dtype=np.float32)[np.arange(40) % 4]
    open_ids = project.row_ids()
    with VectorCache(tmp_path / "v.db") as cache:
        known = KnownVectors("e", cache)
        with pytest.raises(UserError, match="score the rows"):
            diverse_ids(project, known, open_ids, progress=SilentProgress())
        cache.put("e", project.texts(open_ids[:36]), vectors[:36])
        order = diverse_ids(project, known, open_ids, progress=SilentProgress())
        assert sorted(order.tolist()) == open_ids.tolist()
        assert set((order[:4] - 1) % 4) == {0, 1, 2, 3}
        assert order[36:].tolist() == [37, 38, 39, 40]
        project.decide([1, 2], Decision.LABEL, [label_set.labels[0].id or 0])
        order = diverse_ids(project, known, open_ids[2:], progress=SilentProgress())
        assert set((order[:2] - 1) % 4) == {2, 3}
