"""Text vectors laid out on a plane: at once by principal components, better by UMAP where it is installed."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import N_, Safe, _
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.vectors import KnownVectors, project_vectors, vector_batches
from sce_desktop.temporary import temporary_folder

if TYPE_CHECKING:
    from sklearn.decomposition import PCA

AnyArray = TypeVar("AnyArray", bound=NDArray[Any])
FITTED: Final = 20_000
"""Components are found on so many rows, drawn at random, and serve for all."""
MOST_MAPPED: Final = 1_000_000
"""Of a larger project so many rows, drawn at random, are on the map."""
UMAP_FITTED: Final = 50_000
NO_UMAP: Final = N_("UMAP is not installed: run pip install 'sce-desktop[map]', or use PCA.")
_LEAST_FITTED: Final = 100  # rows; of fewer in a sample all that there are get a look
_BLOCK: Final = 50_000
_POLL_S: Final = 0.1

log = logging.getLogger(__name__)

Method = Literal["pca", "umap"]


@dataclass(frozen=True, slots=True, eq=False)
class RowMap:
    """The rows (n,) of a project that have a text vector, in file order, and their places (n, 2)."""

    method: Method
    row_ids: IdArray
    places: FloatArray  # between -1 and 1
    missing: int  # rows with text but without a vector, of those that were to be on it
    sampled_from: int = 0  # rows with text that a sample was drawn from; 0: it was not, all are meant


def map_rows(
    project: Project, known: KnownVectors, method: Method = "pca", *, seed: int = 0, progress: Progress
) -> RowMap:
    """Lay out all rows whose text vector is known. Nothing is embedded.

    Of more than `MOST_MAPPED` rows a random sample is laid out, the same every time.
    By principal components the vectors are never all in memory: of 1,000,000 rows they would fill 1.5 GB.

    Raises:
        UserError: No row has a vector, or UMAP is not installed.
        Cancelled: The user stopped.
    """
    wanted, sampled_from = project.row_ids(RowQuery(blank=False), compact=True), 0
    if len(wanted) > MOST_MAPPED:
        wanted, sampled_from = np.sort(_some(wanted, MOST_MAPPED, seed)), len(wanted)
    wanted = wanted.astype(np.int64)
    if method == "pca" and len(wanted) > FITTED:
        sample = _some(wanted, FITTED, seed)
        fitted_on = [v for _, v in vector_batches(project, known, sample, progress=progress)]
        if sum(map(len, fitted_on)) >= _LEAST_FITTED:
            model = _components(np.concatenate(fitted_on), seed)
            del fitted_on
            ids, parts = [], []
            for some_ids, vectors in vector_batches(project, known, wanted, progress=progress):
                ids.append(some_ids)
                parts.append(model.transform(vectors).astype(np.float32))
            row_ids = np.concatenate(ids)
            places = _framed(np.concatenate(parts))
            return RowMap(method, row_ids, places, len(wanted) - len(row_ids), sampled_from)
    row_ids, vectors = project_vectors(project, known, wanted, progress=progress)
    if method == "pca":
        places = pca_map(vectors, seed=seed)
    else:
        places = umap_map(vectors, seed=seed, progress=progress)
    return RowMap(method, row_ids, places, len(wanted) - len(row_ids), sampled_from)


def has_umap() -> bool:
    """Whether UMAP is installed (the extra ``map``), and a Python to run it with. Imports nothing."""
    return not getattr(sys, "frozen", False) and importlib.util.find_spec("umap") is not None


def pca_map(vectors: FloatArray, *, seed: int = 0) -> FloatArray:
    """Return (n, 2) places between -1 and 1. The same vectors and seed give the same map.

    Scikit-learn's PCA with its randomised solver; of each axis the end with the farther row is the positive
    one, so that a map does not flip from one machine to the next.
    """
    places = np.zeros((len(vectors), 2), dtype=np.float32)
    if len(vectors) < 3 or not np.ptp(vectors, axis=0).any():
        places[:, 0] = np.linspace(-1, 1, len(vectors)) if len(vectors) > 1 else 0
        return places
    model = _components(_some(vectors, FITTED, seed), seed)
    for start in range(0, len(vectors), _BLOCK):
        block = slice(start, start + _BLOCK)
        places[block, : model.n_components_] = model.transform(vectors[block])
    return _framed(places)


def _components(vectors: FloatArray, seed: int) -> PCA:
    from sklearn.decomposition import PCA

    return PCA(min(2, vectors.shape[1]), svd_solver="randomized", random_state=seed).fit(vectors)


def umap_map(vectors: FloatArray, *, seed: int = 0, progress: Progress) -> FloatArray:
    """Return (n, 2) places between -1 and 1 by UMAP with cosine distances, computed in a process of its own.

    With a seed UMAP works on one core, so that the map is the same every time; above 50,000 rows it is
    fitted on as many and the others are placed among them.

    Raises:
        UserError: UMAP is not installed, or fails.
        Cancelled: The user stopped: the process is ended at once.
    """
    if not has_umap():
        raise UserError(_(NO_UMAP))
    if len(vectors) < 5:
        return pca_map(vectors, seed=seed)
    progress.report(0, None, stage=_("computing the map"))
    with temporary_folder() as folder:
        source, target = folder / "vectors.npy", folder / "places.npy"
        np.save(source, vectors, allow_pickle=False)
        arguments = (str(source), str(target), str(seed), str(UMAP_FITTED))
        with (folder / "said.txt").open("w+b") as output:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sce_desktop.tasks.insight.umap_process", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            try:
                while process.poll() is None:
                    progress.check()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_POLL_S)
            finally:
                process.kill()
                process.wait()
            if process.returncode or not target.exists():
                output.seek(0)
                lines = output.read().decode(errors="replace").split("\n")
                log.error("UMAP failed:\n%s", Safe("\n".join(lines)))  # it is given numbers alone
                reason = next(filter(None, map(str.strip, reversed(lines))), _("it was stopped"))
                raise UserError(_("UMAP failed ({reason}): use PCA.", reason=reason))
        return _framed(np.load(target, allow_pickle=False))


def _some(vectors: AnyArray, most: int, seed: int) -> AnyArray:
    if len(vectors) <= most:
        return vectors
    chosen = np.sort(np.random.default_rng(seed).choice(len(vectors), most, replace=False))
    return cast(AnyArray, vectors[chosen])


def _framed(places: FloatArray) -> FloatArray:
    """Return ``places`` moved to the middle, turned the agreed way round and scaled alike on both axes."""
    low, high = places.min(axis=0), places.max(axis=0)
    centred = places - np.median(places, axis=0)
    flip = np.where(-centred.min(axis=0) > centred.max(axis=0), -1, 1)
    framed = (places - (low + high) / 2) * flip
    result: FloatArray = (framed / max(float(np.abs(framed).max()), 1e-12)).astype(np.float32)
    return result
