"""A new project file is whole and alone: what an older one of its name left beside it never gets into it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.file import opening, placing
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels

ROWS, LABELLED = 400, 379


def make(path: Path, text: str, *, labelled: int = 0) -> Path:
    path.parent.mkdir(exist_ok=True)
    with Project.create(path) as project:
        fill(project, [f"{text} {number} " * 20 for number in range(ROWS)])
        labels = use_labels(project, "a", "b")
        if labelled:
            project.decide(range(1, labelled + 1), Decision.LABEL, labels[:1])
    return path


def check(path: Path, text: str = "new", *, labelled: int = LABELLED) -> None:
    """All is there, and only that."""
    assert [file.name for file in path.parent.glob(f"*{path.name}*")] == [path.name]
    with Project.open(path) as project:
        assert project.verify() == []
        assert {found.split()[0] for found in project.texts(project.row_ids())} == ({text} if text else set())
        assert len(project.annotations(project.row_ids())) == labelled


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make(tmp_path / "source.sce", "new", labelled=LABELLED)


@pytest.fixture(params=["another project", "the same one, earlier"])
def leftovers(source: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Put beside a place what a program that was killed has left of the project that was there before."""
    folder, project = tmp_path / "killed", tmp_path / "before" / "old.sce"
    folder.mkdir()
    if request.param == "another project":
        make(project, "old", labelled=20)
    else:
        project.parent.mkdir()
        shutil.copy(source, project)
    with Project.open(project) as opened:
        opened.clear_decision(range(1, ROWS + 1))
        for file in project.parent.glob("old.sce-*"):
            shutil.copy(file, folder)
    assert (folder / "old.sce-wal").stat().st_size

    def leave(place: Path) -> None:
        for ending in ("-wal", "-shm"):
            shutil.copy(folder / f"old.sce{ending}", place.with_name(place.name + ending))

    return leave


def backup(source: Path, target: Path) -> None:
    with Project.open(source, read_only=True) as project:
        project.backup(target)


def repair(source: Path, target: Path) -> None:
    Project.repair_file(source, target, SilentProgress())


@pytest.mark.parametrize("way", [backup, repair])
def test_leftovers_do_not_get_into_a_copy(
    source: Path, tmp_path: Path, leftovers: Callable[[Path], None], way: Callable[[Path, Path], None]
) -> None:
    target = tmp_path / "mine.sce"
    leftovers(target)
    way(source, target)
    check(target)


def test_leftovers_do_not_get_into_a_new_project(tmp_path: Path, leftovers: Callable[[Path], None]) -> None:
    target = tmp_path / "mine.sce"
    leftovers(target)
    Project.create(target).close()
    check(target, "", labelled=0)


def test_leftovers_do_not_get_into_what_replaces_a_project(
    source: Path, tmp_path: Path, leftovers: Callable[[Path], None]
) -> None:
    target = make(tmp_path / "mine.sce", "older")
    leftovers(target)
    with Project.open(source) as project:
        project.backup(target, overwrite=True)
    check(target)


def test_leftovers_do_not_get_into_a_project_that_was_put_back(
    source: Path, tmp_path: Path, leftovers: Callable[[Path], None]
) -> None:
    """As from a backup, by the file manager; reading it alone leaves them where they are."""
    target = Path(shutil.copy(source, tmp_path / "mine.sce"))
    leftovers(target)
    with Project.open(target, read_only=True) as project:
        assert len(project.annotations(project.row_ids())) == LABELLED
    with Project.open(target) as project:
        assert len(project.annotations(project.row_ids())) == LABELLED
        assert project.verify() == []
    assert (tmp_path / "mine.sce-wal.of another file").stat().st_size


def test_a_project_that_is_replaced_is_whole_until_then(source: Path, tmp_path: Path) -> None:
    """It was not closed properly: were its log removed first, and we killed, its last decisions were gone."""
    target = tmp_path / "killed" / "mine.sce"
    target.parent.mkdir()
    before = make(tmp_path / "before" / "mine.sce", "old")
    with Project.open(before) as project:
        project.decide(range(1, 11), Decision.NONE)
        for file in before.parent.glob("mine.sce*"):
            shutil.copy(file, target.parent)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, Project.open(source) as project:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            project.backup(target, overwrite=True)
    check(target, "old", labelled=10)


HOLD = """
import sqlite3, sys
plain = sqlite3.connect(sys.argv[1])
plain.execute("PRAGMA journal_mode=WAL")
plain.execute("CREATE TABLE t (x)")
plain.commit()
print("open", flush=True)
sys.stdin.read()
"""


def test_what_another_program_uses_is_left_alone(source: Path, tmp_path: Path) -> None:
    """It knows no lock of ours, and the file that it has open may be gone."""
    target = tmp_path / "mine.sce"
    command = [sys.executable, "-c", HOLD, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with Project.open(source) as project, pytest.raises(UserError, match=r"is open|in use"):
            project.backup(target, overwrite=True)
        target.unlink()
        with Project.open(source) as project, pytest.raises(UserError, match="in use by another program"):
            project.backup(target)
        assert target.with_name("mine.sce-wal").stat().st_size
        other.kill()
    backup(source, target)
    check(target)


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_a_file_of_ones_own_beside_the_place_is_not_removed(
    source: Path, tmp_path: Path, ending: str
) -> None:
    mine = tmp_path / f"mine.sce{ending}"
    mine.write_text("Notes on the journal of my project.")
    with pytest.raises(UserError, match="is in the way"):
        backup(source, tmp_path / "mine.sce")
    assert mine.read_text() == "Notes on the journal of my project."
    assert not (tmp_path / "mine.sce").exists()


def test_nothing_that_is_not_whole_is_put_in_place(tmp_path: Path) -> None:
    """As where the disk filled up, or the last pages lie in a log that could not be brought in."""

    def cut(draft: Path) -> None:
        os.truncate(draft, draft.stat().st_size // 2)

    def log_beside(draft: Path) -> None:
        draft.with_name(f"{draft.name}-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(100))

    def other(draft: Path) -> None:
        draft.unlink()
        with closing(sqlite3.connect(draft)) as plain:
            plain.execute("CREATE TABLE t (x)")

    def make_and_harm(harm: Callable[[Path], None]) -> None:
        with placing.new_file(tmp_path / "mine.sce", overwrite=False) as draft:
            opening.write_schema(draft, name="mine")
            harm(draft)

    for harm in (cut, log_beside, other):
        with pytest.raises(UserError, match="could not be written completely"):
            make_and_harm(harm)
        assert list(tmp_path.iterdir()) == []


def test_odd_places_are_refused_in_a_sentence(source: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.sce"
    link.symlink_to(tmp_path / "nowhere.sce")
    fifo = tmp_path / "fifo.sce"
    os.mkfifo(fifo)
    for place, reason in (
        (link, "link to a file that does not exist"),
        (fifo, "already exists"),
        (tmp_path, "is a folder"),
        (tmp_path / "missing" / "a.sce", "does not exist"),
        (tmp_path / f"{'a' * 251}.sce", "too long"),
    ):
        for overwrite in (False, True):
            with Project.open(source) as project, pytest.raises(UserError, match=reason):
                project.backup(place, overwrite=overwrite)
    assert link.is_symlink()
    assert not (tmp_path / "nowhere.sce").exists()
