from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.tasks import map as maps
from sce_desktop.tasks.map import has_umap, pca_map, umap_map


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


@pytest.mark.skipif(not has_umap(), reason="the extra map is not installed")
@pytest.mark.slow
@pytest.mark.timeout(600)  # the first import compiles
def test_umap_is_the_same_every_time() -> None:
    vectors, member = clusters(120)
    first = umap_map(vectors, progress=SilentProgress())
    assert (first == umap_map(vectors, progress=SilentProgress())).all()
    middles = np.stack([first[member == k].mean(axis=0) for k in range(3)])
    assert np.ptp(middles, axis=0).max() > 0.5
