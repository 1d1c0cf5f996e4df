"""A project file is deleted, replaced, moved or overwritten while it is open: told at once, nothing lost."""

from __future__ import annotations

import os
import re
import shutil
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sce_desktop import paths
from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import UserError
from sce_desktop.core.runs import Scores
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.file.watched import WatchedFile
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels

ROWS = 300


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine" / "survey.sce"


@pytest.fixture
def older(path: Path) -> Path:
    """The project as it was before any label, closed: what a sync client or a person puts in its place."""
    with Project.create(path) as project:
        fill(project, [f"text {number} " * 20 for number in range(ROWS)])
        use_labels(project, "a", "b")
    return Path(shutil.copy(path, path.parent.parent / "older.sce"))


@pytest.fixture
def opened(path: Path, older: Path) -> Project:
    """It has decisions, in the file and in the log."""
    project = Project.open(path)
    project.decide(range(1, 101), Decision.LABEL, [1])
    with project._database.write() as connection:
        raw(connection).execute("SELECT 1")
    raw_checkpoint(project)
    project.decide(range(101, 141), Decision.LABEL, [2])
    return project


def raw_checkpoint(project: Project) -> None:
    """Bring the log into the file, as it happens in a long session."""
    with project._database.last_read() as plain:
        plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        project._database._file.remember()


def unlink(path: Path, _older: Path) -> None:
    path.unlink()


def replace(path: Path, older: Path) -> None:
    os.replace(older, path)  # noqa: PTH105 - as a sync client does


def rename(path: Path, _older: Path) -> None:
    path.rename(path.with_name("other name.sce"))


def move_folder(path: Path, _older: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))


def swap_folder(path: Path, older: Path) -> None:
    move_folder(path, older)
    path.parent.mkdir()
    shutil.copy(older, path)


def copy_over(path: Path, older: Path) -> None:
    shutil.copyfile(older, path)


def truncate(path: Path, _older: Path) -> None:
    os.truncate(path, 5_000)


HARM: dict[Callable[[Path, Path], None], str] = {
    unlink: "survey.sce was deleted or moved while it is open here",
    replace: "survey.sce was replaced by another file while it is open here",
    rename: "survey.sce was moved to .*other name.sce while it is open here",
    move_folder: "survey.sce was moved to .*moved/survey.sce while it is open here",
    swap_folder: "survey.sce was replaced by another file while it is open here",
    copy_over: "survey.sce was overwritten by another program while it is open here",
    truncate: "survey.sce was overwritten by another program while it is open here",
}
KEPT = [unlink, replace, rename, move_folder, swap_folder]
each = pytest.mark.parametrize("harm", HARM, ids=lambda harm: harm.__name__)
each_that_is_written_over = pytest.mark.parametrize(
    "harm", [copy_over, truncate], ids=lambda harm: harm.__name__
)
each_that_is_kept = pytest.mark.parametrize("harm", KEPT, ids=lambda harm: harm.__name__)


@each
def test_nothing_is_acknowledged_any_more(
    path: Path, older: Path, opened: Project, harm: Callable[[Path, Path], None]
) -> None:
    assert opened.lost() == ""
    harm(path, older)
    assert opened.lost() in HARM[harm] or opened.lost().startswith("was moved to")
    for _ in range(2):
        with pytest.raises(UserError, match=HARM[harm]):
            opened.decide([200], Decision.NONE)
    with pytest.raises(UserError, match="damaged" if harm is truncate else HARM[harm]):  # read first
        fill(opened, ["another"])
    opened.give_up()
    opened.close()


@each_that_is_kept
def test_all_of_it_can_be_saved_under_another_name(
    path: Path, older: Path, opened: Project, tmp_path: Path, harm: Callable[[Path, Path], None]
) -> None:
    harm(path, older)
    opened.backup(tmp_path / "saved.sce")
    opened.close()  # and makes no other copy of it
    check(tmp_path / "saved.sce")
    assert not list(tmp_path.rglob("*rescued*"))


def check(saved: Path) -> None:
    with Project.open(saved) as project:
        assert project.verify() == []
        assert project.row_count() == ROWS
        found = project.annotations(range(1, ROWS + 1))
        assert sorted(found) == list(range(1, 141))
        assert {row: found[row].label_ids for row in (1, 100, 101, 140)} == {
            1: (1,),
            100: (1,),
            101: (2,),
            140: (2,),
        }


@pytest.mark.parametrize("harm", [unlink, replace, swap_folder], ids=lambda harm: harm.__name__)
def test_a_copy_is_made_where_nobody_saved_it(
    path: Path, older: Path, opened: Project, harm: Callable[[Path, Path], None]
) -> None:
    harm(path, older)
    if harm is swap_folder:  # the file has a name still, somewhere: all is brought into that one
        with pytest.raises(
            UserError,
            match=r"was replaced by another file while it was open: everything saved in it is there",
        ):
            opened.close()
        check(path.parent.with_name("moved") / path.name)
        return
    rescued = path.with_name("survey (rescued).sce")
    with pytest.raises(UserError, match=r"everything saved in it is now in .*survey \(rescued\)\.sce\."):
        opened.close()
    check(rescued)
    left = {rescued.name} | ({path.name} if harm is replace else set())
    assert {file.name for file in path.parent.iterdir()} == left
    if harm is replace:  # and what took its place is as it was, with nothing of ours in it
        with Project.open(path) as project:
            assert project.verify() == []
            assert project.annotations(range(1, ROWS + 1)) == {}


@pytest.mark.parametrize("harm", [rename, move_folder], ids=lambda harm: harm.__name__)
def test_a_file_that_was_moved_has_all_of_it(
    path: Path, older: Path, opened: Project, harm: Callable[[Path, Path], None]
) -> None:
    harm(path, older)
    with pytest.raises(
        UserError, match=r"was moved to .* while it was open: everything saved in it is there"
    ):
        opened.close()
    (moved,) = [file for file in path.parent.parent.rglob("*.sce") if file != older]
    check(moved)
    opened.close()  # says it once


def test_a_copy_goes_elsewhere_where_the_folder_is_gone_too(path: Path, opened: Project) -> None:
    shutil.rmtree(path.parent)
    with pytest.raises(
        UserError, match=r"everything saved in it is now in .*projects.survey \(rescued\)\.sce\."
    ):
        opened.close()
    check(paths.projects_dir() / "survey (rescued).sce")


@each_that_is_written_over
def test_what_was_written_over_is_not_written_to(
    path: Path, older: Path, opened: Project, harm: Callable[[Path, Path], None]
) -> None:
    harm(path, older)
    found = path.read_bytes()
    with pytest.raises(UserError, match="overwritten by another program while it was open"):
        opened.close()
    assert path.read_bytes() == found
    assert not [file for file in path.parent.iterdir() if file.name.endswith(("-wal", "-shm", ".lock"))]


@each_that_is_written_over
def test_what_was_written_over_is_not_promised_whole(
    path: Path, older: Path, opened: Project, harm: Callable[[Path, Path], None]
) -> None:
    """Part of a copy of it would come from whoever wrote over it."""
    harm(path, older)
    assert opened.lost_in_part()
    with pytest.raises(UserError, match="to keep what can still be read") as refused:
        opened.decide([200], Decision.NONE)
    assert "everything" not in str(refused.value)
    with pytest.raises(UserError, match=r"Compare it with a backup|restore it from a backup") as closed:
        opened.close()
    assert "everything" not in str(closed.value)


def test_the_log_of_what_was_cut_off_is_kept(path: Path, older: Path, opened: Project) -> None:
    """What came last is in it: somebody who knows SQLite may get it out."""
    log = path.with_name(f"{path.name}-wal").read_bytes()
    assert log
    truncate(path, older)
    kept = path.with_name(f"{path.name}-wal.rescued")
    with pytest.raises(UserError, match=rf"The latest changes are in .*{re.escape(kept.name)}\."):
        opened.close()
    assert kept.read_bytes() == log
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_what_nobody_has_written_to_needs_no_copy(path: Path, older: Path) -> None:
    with Project.open(path) as project:
        unlink(path, older)
        assert project.lost()
    assert list(path.parent.iterdir()) == []


def test_a_command_that_is_writing_says_where_all_of_it_is(path: Path, older: Path) -> None:
    """What is told is not that it may be saved under another name, but that it was."""

    def label_all() -> None:
        with Project.open(path) as project:
            for row in range(1, ROWS):
                project.decide([row], Decision.LABEL, [1])
                if row == 50:
                    unlink(path, older)

    with pytest.raises(UserError, match=r"while it was open: everything saved in it is now in .*rescued"):
        label_all()
    with Project.open(path.with_name("survey (rescued).sce")) as project:
        assert sorted(project.annotations(range(1, ROWS))) == list(range(1, 51))


def test_a_reader_of_the_new_file_is_no_reader_of_the_old(path: Path, older: Path, opened: Project) -> None:
    """A connection that is made now would see other rows than those before."""
    replace(path, older)
    database = opened._database
    database._readers.dispose()
    with pytest.raises(UserError, match="was replaced"):
        opened.row_count()
    opened.give_up()
    opened.close()


def test_a_file_that_is_only_touched_is_not_lost(path: Path, opened: Project) -> None:
    os.utime(path, (1, 1))
    assert opened.lost() == ""
    opened.decide([200], Decision.NONE)
    opened.close()


def test_what_we_write_ourselves_is_no_alarm(opened: Project) -> None:
    """Decisions, scores and the bringing in of the log, all at once, while the window looks on."""
    run = opened.open_run("sce", "sce", "m", "f", opened.label_set().labels)  # type: ignore[union-attr]
    database, done = opened._database, threading.Event()
    seen: list[str] = []

    def watch() -> None:
        while not done.is_set():
            if found := opened.lost():
                seen.append(found)

    def shorten() -> None:
        while not done.is_set():
            database.shorten_log()

    def write() -> None:
        for number in range(40):
            with database.write(durable=bool(number % 2)) as connection:
                connection.execute(schema.project.update().values(name=str(number) * 1_000_000))
            opened.add_scores(run.id, range(1, ROWS), Scores(np.full((ROWS - 1, 2), 0.5, np.float32)))

    threads = [threading.Thread(target=work) for work in (watch, shorten)]
    for thread in threads:
        thread.start()
    try:
        write()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert seen == []
    opened.close()


def test_one_handle_for_all_who_have_a_file_open(path: Path, opened: Project) -> None:
    """Closing any would drop the locks that SQLite holds on the file in this process."""
    mine = opened._database._file._handle
    with Project.open(path, read_only=True) as second:
        assert second._database._file._handle is mine
    os.fstat(mine.descriptor)
    opened.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(mine.descriptor)


def test_a_refused_opening_leaves_no_handle(path: Path, older: Path) -> None:
    Database(path, read_only_reason="no").close()
    assert WatchedFile(path)._handle._users == 1
