from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.insight import map as maps
from sce_desktop.tasks.insight.map import has_umap, map_rows, pca_map, umap_map
from sce_desktop.tasks.scoring.vectors import KnownVectors
from tests.tasks.fakes import StoppingProgress


def clusters(rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    member = np.arange(rows) % 3
    centres = np.eye(3, 20) * 5
    return (centres[member] + rng.standard_normal((rows, 20)) * 0.1).astype(np.float32), member


def test_groups_stay_together_inside_the_frame() -> None:
    vectors, member = clusters()
    places = pca_map(vectors)
    assert places.shape == (300, 2)
    assert np.abs(places).max() == pytest.approx(1)
    middles = np.stack([places[member == k].mean(axis=0) for k in range(3)])
    spread = max(places[member == k].std(axis=0).max() for k in range(3))
    apart = min(np.linalg.norm(middles[a] - middles[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    assert apart > 5 * spread


def test_the_same_map_every_time_and_whichever_way_the_axes_come(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, _ = clusters()
    assert (pca_map(vectors) == pca_map(vectors)).all()
    monkeypatch.setattr(maps, "FITTED", 100)  # fitted on some, placed for all
    assert pca_map(vectors).shape == (300, 2)
    assert (pca_map(vectors) == pca_map(vectors)).all()


@pytest.mark.parametrize("vectors", [np.zeros((0, 4)), np.ones((1, 4)), np.ones((2, 4)), np.ones((9, 4))])
def test_hardly_anything_to_lay_out(vectors: np.ndarray) -> None:
    places = pca_map(vectors.astype(np.float32))
    assert places.shape == (len(vectors), 2)
    assert np.isfinite(places).all()


@pytest.mark.skipif(has_umap(), reason="UMAP is installed")
def test_without_umap_it_says_what_to_do() -> None:
    with pytest.raises(UserError, match=r"sce-desktop\[map\]"):
        umap_map(np.zeros((10, 4), dtype=np.float32), progress=SilentProgress())


def test_a_program_without_a_python_has_no_umap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert has_umap()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not has_umap()


@pytest.mark.skipif(not has_umap(), reason="the extra map is not installed")
@pytest.mark.slow
@pytest.mark.timeout(600)  # the first import compiles
def test_umap_is_the_same_every_time() -> None:
    vectors, member = clusters(120)
    first = umap_map(vectors, progress=SilentProgress())
    assert (first == umap_map(vectors, progress=SilentProgress())).all()
    middles = np.stack([first[member == k].mean(axis=0) for k in range(3)])
    assert np.ptp(middles, axis=0).max() > 0.5


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> None:
    """Let the process find a package umap that does as ``body`` says."""
    (folder / "umap.py").write_text(
        "import time\n"
        "class UMAP:\n"
        "    def __init__(self, **settings):\n        assert settings['random_state'] == 0\n"
        f"    def fit_transform(self, x):\n        {body}\n"
        "    def transform(self, x):\n        return x[:, :2]\n"
    )
    root = str(Path(maps.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{root}")
    monkeypatch.setattr(maps, "has_umap", lambda: True)


def test_umap_runs_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, tmp_path, "return x[:, :2]")
    monkeypatch.setattr(maps, "UMAP_FITTED", 7)  # the others are placed among them
    vectors = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "numpy.py").write_text("raise SystemExit('taken from the current folder')\n")
    monkeypatch.chdir(tmp_path / "here")
    assert umap_map(vectors, progress=SilentProgress()) == pytest.approx(maps._framed(vectors[:, :2]))


def test_umap_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, tmp_path, "raise ValueError('no such metric')")
    with pytest.raises(UserError, match="no such metric"):
        umap_map(np.eye(9, dtype=np.float32), progress=SilentProgress())


def test_umap_stops_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, tmp_path, "time.sleep(600)")
    start = time.monotonic()
    with pytest.raises(Cancelled):
        umap_map(np.eye(9, dtype=np.float32), progress=StoppingProgress(2))
    assert time.monotonic() - start < 60


def test_rows_are_laid_out_block_by_block_as_all_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spread = np.array([9, 4, 1, 1, 1])
    vectors = (np.random.default_rng(2).normal(size=(300, 5)) * spread).astype(np.float32)
    with Project.create(tmp_path / "p.sce") as project, VectorCache(tmp_path / "v.db") as cache:
        texts = [f"text {n}" for n in range(300)]
        rows = [[("",), *((text,) for text in texts), ("never read",)]]
        project.add_rows(["text"], rows, text_columns=[0], source={})
        known = KnownVectors("e", cache)
        with pytest.raises(UserError, match="score the rows"):
            map_rows(project, known, progress=SilentProgress())
        cache.put("e", texts, vectors)
        whole = map_rows(project, known, progress=SilentProgress())
        assert whole.row_ids.tolist() == list(range(2, 302))
        assert whole.missing == 1
        assert whole.places == pytest.approx(pca_map(vectors), abs=1e-3)  # kept as float16
        monkeypatch.setattr(maps, "FITTED", 200)
        blocks = map_rows(project, known, progress=SilentProgress())
        assert blocks.row_ids.tolist() == whole.row_ids.tolist()
        assert np.abs(blocks.places - whole.places).max() < 0.2  # the components of two thirds of the rows
        monkeypatch.setattr(maps, "_LEAST_FITTED", 1000)  # hardly any row of the sample has been read
        assert map_rows(project, known, progress=SilentProgress()).row_ids.tolist() == list(range(2, 302))
        with pytest.raises(Cancelled):
            map_rows(project, known, progress=StoppingProgress(0))


def test_ids_of_all_rows_are_asked_for_in_half_of_the_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Project.create(tmp_path / "p.sce") as project, VectorCache(tmp_path / "v.db") as cache:
        texts = [f"text {n}" for n in range(200)]
        project.add_rows(["text"], [[(text,) for text in texts]], text_columns=[0], source={})
        cache.put("e", texts, np.random.default_rng(2).normal(size=(200, 5)).astype(np.float32))
        monkeypatch.setattr(maps, "MOST_MAPPED", 100)
        asked, row_ids = list[np.ndarray](), project.row_ids

        def noted(*query: Any, **options: Any) -> np.ndarray:
            asked.append(row_ids(*query, **options))
            return asked[-1]

        monkeypatch.setattr(project, "row_ids", noted)
        found = map_rows(project, KnownVectors("e", cache), progress=SilentProgress())
    assert [(len(ids), ids.dtype) for ids in asked] == [(200, np.int32)]
    assert (len(found.row_ids), found.row_ids.dtype, found.sampled_from) == (100, np.int64, 200)
