"""Kill a long scoring again and again, resume it, and count the vectors: none that was stored is made twice.

The text encoder is a stand-in that writes the number of every text whose vector it makes to a log, a batch at
once, before anybody gets the batch: what it made is known however it ends. Everything else is the program's:
the project, the vector cache, the scoring with its chunks. The labels are edited on the way, twice.

A vector that was made and not stored when the process was killed has to be made again. They are looked up in
the cache after each kill, and counted apart: at most a batch each time.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import ModelKind, Scores, VectorCache
from sce_desktop.core.scoring import softmax
from sce_desktop.ml.encoder.embedder import Embedder, cached_encode
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache as FileVectorCache
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import score_project
from tests.faults import kills
from tests.faults.kills import Tell

DIM = 384
BATCH = 40  # texts of some fifty tokens, as a processor reads them together
LABELS = ("Late", "Damaged", "Praise", "Billing")
NEW_LABELS = ("Website", "Returns")  # by the edits on the way
_PATIENCE_S = 24 * 3600.0


class LoggingEmbedder(Embedder):
    """Makes a vector of each text, "row 17 …", and logs 17 before it hands the vector over."""

    name, dim, max_tokens, key = "stand-in", DIM, 256, "stand-in:1"

    def __init__(self, log: Path) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[IdArray, FloatArray]]:
        """Yield (places, vectors) batch by batch."""
        for start in range(0, len(texts), BATCH):
            numbers = np.array([int(text.split()[1]) for text in texts[start : start + BATCH]], np.int32)
            seeds = np.sin((numbers[:, None] + 1) * np.arange(1, DIM + 1, dtype=np.float64))
            vectors = (seeds / np.linalg.norm(seeds, axis=1, keepdims=True)).astype(np.float32)
            os.write(self._log, numbers.tobytes())
            yield np.arange(start, start + len(numbers)), vectors

    def token_counts(self, texts: Sequence[str]) -> IdArray:
        """Return about how many tokens the texts have."""
        return np.array([len(text) // 4 for text in texts], dtype=np.int64)


class StandIn:
    """A model with that encoder, whose labels are directions that nothing was learnt for."""

    kind: ModelKind = "sce"
    name, fingerprint, max_tokens = "stand-in", "stand-in:1", 256
    labels: tuple[Label, ...] = ()

    def __init__(self, log: Path) -> None:
        self.text_embedder = LoggingEmbedder(log)

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Score ``texts``."""
        vectors = cached_encode(self.text_embedder, texts, cache, progress)
        return Scores(softmax(20 * vectors[:, : len(labels)]))


@dataclass
class Counted:
    """What came of it."""

    rows: int = 0
    kills: int = 0
    made: int = 0  # vectors, all in all
    in_flight: int = 0  # made, not stored when the process was killed
    twice: int = 0  # stored, and made again
    never: int = 0  # rows without a vector
    unscored: int = 0
    cached: int = 0
    cache_bytes: int = 0
    project_bytes: int = 0
    seconds: float = 0.0

    @property
    def wrong(self) -> bool:
        """Whether anything is not as it has to be."""
        return bool(self.twice or self.never or self.unscored or self.cached != self.rows)

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows, {self.kills} kills: {self.made:,} vectors made = "
            f"{self.rows - self.never:,} rows + {self.in_flight:,} made and not yet stored at a kill + "
            f"{self.twice:,} stored and made again\n"
            f"{self.unscored:,} rows without a score, {self.cached:,} vectors in the cache, "
            f"{self.cache_bytes / 1e6:,.0f} MB; project {self.project_bytes / 1e6:,.0f} MB; "
            f"{self.seconds:,.0f} s of processor time"
        )


def run(rows: int, kill_count: int, seed: int, folder: Path) -> Counted:
    """Score ``rows`` rows in ``folder``, killed ``kill_count`` times, and count."""
    counted = Counted(rows)
    began = os.times()
    _in_child(folder, lambda tell: _make(folder, rows))
    draw = random.Random(seed)
    moments = sorted(draw.randrange(rows) for _ in range(kill_count))
    edits = {kill_count // 3, 2 * kill_count // 3} if kill_count > 2 else set()
    in_flight: set[int] = set()
    before = 0  # vectors made until the last kill
    for number, moment in enumerate(moments):
        child, reader = kills._fork(lambda tell, edit=number in edits: _score(folder, edit), folder)
        while _made(folder) < moment and not kills._read(reader, until=None, seconds=0.002)[1]:
            pass
        time.sleep(draw.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.close(reader)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status) and _made(folder) < rows:
            raise kills.DiedError((folder / "output.txt").read_text(encoding="utf-8")[-3000:])
        counted.kills += 1
        lost = _not_stored(folder, before)
        before = _made(folder)
        in_flight |= lost
        counted.in_flight += len(lost)
    _in_child(folder, lambda tell: _score(folder, False))
    times = np.bincount(_log(folder), minlength=rows)
    counted.made = int(times.sum())
    again = set(np.flatnonzero(times > 1).tolist())
    more = counted.made - int((times > 0).sum()) - counted.in_flight
    counted.twice = max(more, len(again - in_flight))
    counted.never = int((times == 0).sum())
    with Project.open(folder / "p.sce", read_only=True) as project, FileVectorCache(folder / "v.db") as cache:
        active = project.active_run("sce")
        counted.unscored = rows if active is None else len(project.unscored_ids(active.id))
        for start in range(0, rows, 10_000):
            found, _ = cache.get(LoggingEmbedder.key, _texts(range(start, min(start + 10_000, rows))))
            counted.cached += int(found.sum())
    counted.cache_bytes = (folder / "v.db").stat().st_size
    counted.project_bytes = (folder / "p.sce").stat().st_size
    ended = os.times()
    counted.seconds = sum(ended[:4]) - sum(began[:4])
    return counted


def _texts(numbers: Iterable[int]) -> list[str]:
    return [f"row {number} came two days late and the box was wet" for number in numbers]


def _make(folder: Path, rows: int) -> None:
    batches = ([(text,) for text in _texts(range(at, min(at + 5_000, rows)))] for at in range(0, rows, 5_000))
    with Project.create(folder / "p.sce") as project:
        project.add_rows(["text"], batches, text_columns=[0], source={})
        project.set_labels([Label(name) for name in LABELS])


def _score(folder: Path, edit: bool) -> None:
    """As the program does: open, edit the labels perhaps, score what has no score yet."""
    with Project.open(folder / "p.sce") as project, FileVectorCache(folder / "v.db") as cache:
        label_set = project.label_set()
        assert label_set is not None
        if edit:
            project.set_labels([*label_set.labels, Label(NEW_LABELS[len(label_set.labels) - len(LABELS)])])
        score_project(
            project,
            [NamedModel("sce", "stand-in", StandIn(folder / "made.log"))],
            cache=cache,
            progress=SilentProgress(),
        )


def _in_child(folder: Path, work: Callable[[Tell], None]) -> None:
    child, reader = kills._fork(work, folder)
    kills._read(reader, until=None, seconds=_PATIENCE_S)
    os.close(reader)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        raise kills.DiedError((folder / "output.txt").read_text(encoding="utf-8")[-3000:])


def _made(folder: Path) -> int:
    try:
        return (folder / "made.log").stat().st_size // 4
    except FileNotFoundError:
        return 0


def _log(folder: Path) -> IdArray:
    return np.fromfile(folder / "made.log", np.int32) if _made(folder) else np.empty(0, np.int32)


def _not_stored(folder: Path, before: int) -> set[int]:
    """Return the numbers of the last batch whose vectors are not in the cache; its process is dead.

    The first ``before`` vectors that were made are those of earlier processes.
    """
    last = _log(folder)[before:][-BATCH:].tolist()
    if not last:
        return set()
    with FileVectorCache(folder / "v.db") as cache:
        found, _ = cache.get(LoggingEmbedder.key, _texts(last))
    return {number for number, there in zip(last, found, strict=True) if not there}


def main(rows: int, kill_count: int, seed: int, folder: Path | None, tell: Tell = print) -> int:
    """Run it, print what came of it and return the exit code."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="sce-scoring-", dir=folder) as place:
        (Path(place) / "files").mkdir()
        counted = run(rows, kill_count, seed, Path(place))
    tell(str(counted))
    return int(counted.wrong)
