"""A project in a folder that a sync client works on: what is labelled is there, or refused at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import UserError
from sce_desktop.store.project import Project
from tests.faults import actions, sync_client

ROOT = Path(__file__).parents[2]
SCRIPT = """
import os, runpy, sys
sys.argv = ["sync_client", *sys.argv[1:]]
runpy.run_path("tests/faults/sync_client.py", run_name="__main__")
"""  # not as a module: nothing of the program is needed for it

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and renames of POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "synced").mkdir()
    path = tmp_path / "synced" / "survey.sce"
    with Project.create(path) as project:
        actions.fill(project)
    return path


@contextmanager
def client(path: Path, seed: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-S", "-c", SCRIPT, str(path), str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()  # it works
        try:
            yield process
        finally:
            process.kill()


def test_what_is_labelled_while_it_works_is_there(path: Path, tmp_path: Path) -> None:
    done: list[str] = []
    with client(path, seed=1) as process:
        for session in range(2):  # it works also while the project is opened and closed
            with Project.open(path) as project:
                assert not project.read_only
                for row in range(1 + 40 * session, 41 + 40 * session):
                    project.decide([row], Decision.LABEL, [1 + row % 4])
                    project.set_marks(row, note=f"note {row}")
                    if row % 20 == 0:
                        project.shorten_log()
                assert project.lost() == ""
        process.kill()
        assert process.stdout is not None
        done = process.stdout.read().split()
    assert len(done) > 10
    assert set(done) <= {action.__name__ for action in sync_client.HARMLESS}
    with Project.open(path) as project:
        assert project.verify() == []
        found = project.annotations(range(1, actions.ROWS + 1))
        assert {row: one.label_ids for row, one in found.items()} == {
            row: (1 + row % 4,) for row in range(1, 81)
        }
        assert len(project.marks(range(1, 81))) == 80
    ours = {file.name for file in path.parent.iterdir() if "conflicted" not in file.name}
    assert {name for name in ours if not name.startswith(".~")} == {path.name}


@pytest.mark.parametrize("way", ["replace", "overwrite", "remove"])
def test_an_older_copy_in_its_place_is_noticed_before_the_next_label(
    path: Path, tmp_path: Path, way: str
) -> None:
    """Everything that was acknowledged before is in the file that is made at closing, or stands still."""
    older = Path(shutil.copy(path, tmp_path / "older.sce"))
    project = Project.open(path)
    for row in range(1, 31):
        project.decide([row], Decision.LABEL, [2])
    sync_client.put_older(path, older, way)
    for _ in range(2):
        with pytest.raises(UserError, match="while it is open here") as refused:
            project.decide([50], Decision.LABEL, [3])
        assert "\n" not in str(refused.value)
    saved = tmp_path / "saved.sce"
    if way == "overwrite":  # pages of two projects: what was labelled is in the log and in memory
        project.give_up()
    else:
        project.backup(saved)
    project.close()
    with Project.open(path) as now:  # the client's copy, and nothing of ours in it
        assert now.verify() == []
        assert now.annotations(range(1, actions.ROWS + 1)) == {}
    if saved.exists():
        with Project.open(saved) as kept:
            assert kept.verify() == []
            assert sorted(kept.annotations(range(1, actions.ROWS + 1))) == list(range(1, 31))


@pytest.mark.parametrize("torn", [False, True], ids=["whole", "half uploaded"])
def test_what_a_client_copied_away_is_opened_or_refused_in_a_sentence(
    path: Path, tmp_path: Path, torn: bool
) -> None:
    """Copied while it is open: the file without its log is an earlier state; a part of it is refused."""
    with Project.open(path) as project:
        for row in range(1, 31):
            project.decide([row], Decision.LABEL, [2])
        copy = Path(shutil.copy(path, tmp_path / "uploaded.sce"))
        if torn:
            os.truncate(copy, copy.stat().st_size // 2 // 4096 * 4096)
    if torn:
        with pytest.raises(UserError, match="damaged"):
            Project.open(copy)
    else:
        with Project.open(copy) as project:
            assert project.verify() == []
            assert set(project.annotations(range(1, 31))) <= set(range(1, 31))
    with Project.open(path) as project:
        assert len(project.annotations(range(1, 31))) == 30
