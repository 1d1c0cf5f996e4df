from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache, vector_bytes
from sce_desktop.tasks.scoring import kept_vectors
from sce_desktop.tasks.scoring.kept_vectors import check_room
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.tables import room
from tests.faults.long_scoring import DIM, NEW_LABELS, StandIn

ROWS = 3_000
SIZE = vector_bytes(DIM)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(f"row {number} came late",) for number in range(ROWS)]
        project.add_rows(["text"], [rows], text_columns=[0], source={})
        project.set_labels(clean_labels(["Late", "Damaged"]))
        yield project


@pytest.fixture
def models(tmp_path: Path) -> list[NamedModel]:
    return [NamedModel("sce", "stand-in", StandIn(tmp_path / "made.log"))]


def made(tmp_path: Path) -> int:
    return (tmp_path / "made.log").stat().st_size // 4


def test_an_edit_of_the_labels_in_the_midst_keeps_all_vectors(
    project: Project, models: list[NamedModel], tmp_path: Path
) -> None:
    class Stop(SilentProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            if done > ROWS / 2:
                raise KeyboardInterrupt

    with VectorCache(tmp_path / "v.db") as cache:
        with pytest.raises(KeyboardInterrupt):
            score_project(project, models, cache=cache, progress=Stop())
        before = made(tmp_path)
        assert ROWS / 2 <= before < ROWS
        label_set = project.label_set()
        assert label_set is not None
        project.set_labels([*label_set.labels, *clean_labels([NEW_LABELS[0]])])
        (run,) = score_project(project, models, cache=cache, progress=SilentProgress())
    assert (run.scored, len(run.labels)) == (ROWS, 3)
    assert made(tmp_path) <= ROWS + 40  # a batch that was made when it stopped


def test_what_has_no_room_is_said_and_scored(
    project: Project, models: list[NamedModel], tmp_path: Path
) -> None:
    watch = SilentProgress()
    with VectorCache(tmp_path / "v.db", max_bytes=1_000 * SIZE) as cache:
        (run,) = score_project(project, models, cache=cache, progress=watch)
    assert run.scored == ROWS
    (sentence,) = watch.warnings
    assert sentence.startswith("The vector cache (")
    assert "is full: the vectors of 2," in sentence or "is full: the vectors of 1," in sentence


def test_it_is_said_before(project: Project, models: list[NamedModel], tmp_path: Path) -> None:
    watch = SilentProgress()
    with VectorCache(tmp_path / "v.db") as cache:
        check_room(project, models, cache, seconds=3600, progress=watch)
        assert watch.warnings == []
        cache.max_bytes = ROWS * SIZE // 4
        check_room(project, models, cache, seconds=3600, progress=watch)
    (sentence,) = watch.warnings
    assert "has room for 750 of 3,000 rows" in sentence
    assert "in about 45 min" in sentence


def test_what_a_long_scoring_takes(
    project: Project, models: list[NamedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_vectors, "MUCH", 1_000)
    watch = SilentProgress()
    with VectorCache(tmp_path / "v.db") as cache:
        check_room(project, models, cache, seconds=3600, progress=watch)
        assert watch.warnings == [
            "It takes about 3 MB on disk, of which 3 MB in the vector cache, and 0 MB of memory."
        ]
        monkeypatch.setattr(kept_vectors, "free_memory", lambda: 5_000)
        monkeypatch.setattr(kept_vectors, "free_disk", lambda _folder: 20_000)
        check_room(project, models, cache, seconds=3600, progress=watch)
        assert [sentence.split(":")[0] for sentence in watch.warnings[2:]] == [
            "Only 0 MB are free on the disk of the vector cache",
            "Only 0 MB of memory are free",
        ]


def test_scores_that_have_no_room_are_refused_before(
    project: Project, models: list[NamedModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "free_disk", lambda _folder: 100)
    with VectorCache(tmp_path / "v.db") as cache, pytest.raises(UserError, match="free some space"):
        check_room(project, models, cache, seconds=3600, progress=SilentProgress())
