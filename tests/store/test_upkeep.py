from __future__ import annotations

import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.store.file import upkeep
from sce_desktop.store.file.opening import PAGE_BYTES
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels
from tests.store.test_importing import CancelAfter


@pytest.fixture
def full(project: Project) -> Project:
    fill(project, [f"text {number} " * 20 for number in range(400)])
    labels = use_labels(project, "a", "b")
    project.decide([1, 2, 3], Decision.LABEL, labels[:1])
    project.set_marks(4, note="mind")
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    project.add_scores(run.id, range(1, 301), Scores(np.full((300, 2), 0.5, np.float32)))
    return project


def test_backup_is_a_complete_project(full: Project, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "backup 1.sce"
    copy.parent.mkdir()
    full.backup(copy)
    assert list(copy.parent.iterdir()) == [copy]
    with Project.open(copy) as opened:
        assert not opened.read_only  # the original is open, the copy is its own file
        assert opened.verify() == []
        assert opened.texts(opened.row_ids()) == full.texts(full.row_ids())
        assert opened.annotations([1, 2, 3]) == full.annotations([1, 2, 3])
        assert opened.runs() == full.runs()


def test_backup_replaces_what_it_is_told_to_but_never_a_project_that_is_open(
    full: Project, tmp_path: Path
) -> None:
    copy = tmp_path / "backup.sce"
    full.backup(copy)
    full.decide([9], Decision.NONE)
    with pytest.raises(UserError, match="already exists"):
        full.backup(copy)
    with Project.open(copy) as other:
        with pytest.raises(UserError, match="is open"):
            full.backup(copy, overwrite=True)
        assert len(other.annotations([9])) == 0
        other.decide([8], Decision.NONE)  # it is its file still
    full.backup(copy, overwrite=True)
    with Project.open(copy) as opened:
        assert list(opened.annotations([9])) == [9]
    for overwrite in (False, True):
        with pytest.raises(UserError, match="another file"):
            full.backup(full.path, overwrite=overwrite)


def test_cancelled_backup_leaves_the_older_one(
    full: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_BACKUP_PAGES", 5)
    copy = tmp_path / "backup.sce"
    copy.write_text("older")
    with pytest.raises(Cancelled):
        full.backup(copy, CancelAfter(2), overwrite=True)
    assert copy.read_text() == "older"
    assert not list(tmp_path.glob("*.part*"))
    assert not list(tmp_path.glob(".backup*"))


def test_backup_to_a_missing_folder(full: Project, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        full.backup(tmp_path / "missing" / "backup.sce")


def test_backup_is_of_one_moment_while_others_write(
    full: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_BACKUP_PAGES", 1)
    done, twice = threading.Event(), threading.Event()

    def decide() -> None:
        decided = 0
        while not done.is_set():
            full.decide([10, 11, 12], Decision.NONE)
            full.clear_decision([10, 11, 12])
            decided += 1
            if decided == 2:
                twice.set()

    class WaitInTheMiddle(SilentProgress):
        def check(self) -> None:
            assert twice.wait(30)

    writer = threading.Thread(target=decide)
    try:
        writer.start()
        full.backup(tmp_path / "backup.sce", WaitInTheMiddle())
    finally:
        done.set()
        writer.join()
    with Project.open(tmp_path / "backup.sce") as opened:
        assert opened.verify() == []
        assert len(opened.annotations([10, 11, 12])) in (0, 3)


def test_sound_project_has_no_problems(full: Project) -> None:
    full.build_search_index()
    assert full.verify() == []
    with pytest.raises(Cancelled):
        full.verify(CancelAfter(2))


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("DELETE FROM rows WHERE id = 50", "Rows in the file: 399. Rows imported: 400."),
        (
            "UPDATE rows SET text = 'changed' WHERE id IN (7, 9)",
            "text of 2 rows was changed by another program.*row 7",
        ),
        ("UPDATE rows SET cells = '[]' WHERE id = 7", "cells of 1 row do not fit"),
        ("UPDATE rows SET cells = 'no json' WHERE id = 7", "rows has an invalid “cells” .record 7"),
        ("DELETE FROM annotation_labels WHERE row_id = 2", "1 annotation has lost its label .row 2"),
        (
            "UPDATE annotations SET decision = 'none' WHERE row_id = 2",
            "1 label belongs to a row that is not labelled .row 2",
        ),
        (
            "UPDATE annotations SET origin = 'x' WHERE row_id = 2",
            "an invalid “origin” .record 2",
        ),
        ("UPDATE labels SET active = 0 WHERE id = 2", "labels in use differ"),
        ("DELETE FROM labels WHERE id = 1", "3 labels of rows are lost, first of row 1"),
        ("DELETE FROM scores WHERE row_id = 1", "299 scores, expected 300"),
        ("UPDATE scores SET probabilities = x'00' WHERE row_id = 1", "has an invalid “probabilities”"),
        ("UPDATE scores SET probabilities = x'00000000' WHERE row_id = 1", "does not fit its labels .row 1"),
        ("UPDATE scores SET confidence = 0.9 WHERE row_id = 1", "1 score of run 1 .sce. does not follow"),
        ("UPDATE project SET searchable_to = 9", "search index is missing"),
    ],
)
def test_what_is_wrong_is_reported(full: Project, path: Path, harm: str, told: str) -> None:
    full.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute(harm)
    with Project.open(path) as opened:
        problems = opened.verify()
    assert any(re.search(told, problem) for problem in problems), problems


def test_broken_pages_are_reported(full: Project, path: Path) -> None:
    full.close()
    with closing(sqlite3.connect(path)) as plain:
        (page,) = plain.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'ix_scores_margin'"
        ).fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * PAGE_BYTES + 100 : page * PAGE_BYTES] = bytes(PAGE_BYTES - 100)
    path.write_bytes(content)
    with Project.open(path) as opened:
        problems = opened.verify()
    assert problems
    assert all(problem.startswith("The file is damaged") for problem in problems)
