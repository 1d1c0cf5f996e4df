"""Temporary files go with whoever made them; what a killed program leaves goes with the next start of it."""

from __future__ import annotations

import ast
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from sce_desktop import cli, paths, process, temporary
from sce_desktop.data.atomic import replacing
from sce_desktop.ml.hub import folders
from sce_desktop.store.file.lock import FileLock
from sce_desktop.temporary import set_aside, sweep, temporary_beside

PACKAGE = Path(cli.__file__).parent

WORK = """
import os, sys, time
from contextlib import ExitStack
from pathlib import Path
from sce_desktop.temporary import set_aside, temporary_beside
folder = Path(sys.argv[1])
with ExitStack() as stack:
    file = stack.enter_context(temporary_beside(folder / "out.csv"))
    for name in (file.name, file.name + "-wal", file.name + "-journal", f".{file.name}.lock"):
        (folder / name).write_text("half")
    parts = stack.enter_context(temporary_beside(folder / "out.xlsx"))
    parts.mkdir()
    (parts / "sheet").write_text("half")
    with temporary_beside(folder / "done.csv") as done:
        done.write_text("half")
    model = folder / "model"
    old = stack.enter_context(set_aside(model))
    model.rename(old)
    print("at work", flush=True)
    sys.stdin.read()
"""


def lists() -> list[Path]:
    return sorted((paths.cache_dir() / "temporary").glob("*"))


def at_work(folder: Path) -> subprocess.Popen[str]:
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "weights").write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", WORK, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "at work\n"
    return process


def test_the_next_start_removes_what_a_killed_program_left(tmp_path: Path) -> None:
    mine = tmp_path / ".0123456789abcdef0123456789abcdef.partial"
    mine.write_text("of nobody that we know")
    with at_work(tmp_path) as process:
        before = sorted(tmp_path.iterdir())
        assert len(before) == 7
        sweep()  # it lives
        assert sorted(tmp_path.iterdir()) == before
        process.kill()
    assert len(lists()) == 1
    assert cli.main(["flops"]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == [mine.name, "model"]
    assert (tmp_path / "model" / "weights").read_text() == "old"  # not yet replaced: it is back
    assert lists() == []


def test_who_ends_well_leaves_nothing(tmp_path: Path) -> None:
    with at_work(tmp_path) as process:
        process.communicate("")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert lists() == []


@pytest.mark.parametrize(("age", "removed"), [(60.0, False), (2 * temporary.OTHERS_AGE_S, True)])
def test_what_another_machine_left_must_be_old_too(tmp_path: Path, age: float, removed: bool) -> None:
    """A folder that several machines share may know no locks between them."""
    with at_work(tmp_path) as process:
        process.kill()
    (file,) = lists()
    text = file.read_text()
    assert platform.node() in text
    file.write_text(text.replace(json.dumps(platform.node()), '"another machine"', 1))
    os.utime(file, (time.time() - age,) * 2)
    sweep()
    assert (len(list(tmp_path.iterdir())) == 1) == removed
    assert (lists() == []) == removed


def test_a_list_that_names_other_files_or_makes_no_sense_harms_nothing(tmp_path: Path) -> None:
    mine = tmp_path / "thesis.txt"
    mine.write_text("mine")
    host = json.dumps({"host": platform.node()})
    folder = paths.cache_dir() / "temporary"
    folder.mkdir(parents=True)
    for number, text in enumerate(
        (
            f"{host}\n{json.dumps({'path': str(mine)})}\n",
            "",
            "[",
            "[" * 100_000 + "}",
            '{"host": 1}\n{}',
            host,
        )
    ):
        (folder / f"{number}.jsonl").write_text(text)
    (folder / "7.jsonl").mkdir()
    sweep()
    assert mine.read_text() == "mine"


def test_without_a_cache_folder_all_goes_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path / "file"))
    sweep()
    with replacing(tmp_path / "out.txt") as draft:
        draft.write_text("whole")
    assert (tmp_path / "out.txt").read_text() == "whole"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "out.txt"]


def test_two_at_a_time_share_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary, "_list", None)  # of an earlier test, which kept a lock
    monkeypatch.setattr(temporary, "_active", set())
    with temporary_beside(tmp_path / "a") as first:
        with temporary_beside(tmp_path / "b") as second:
            assert len(lists()) == 1
            assert first != second
        assert len(lists()) == 1
    assert lists() == []


def test_a_folder_comes_back_where_none_took_its_place(tmp_path: Path) -> None:
    model = tmp_path / "model"
    for new in (False, True):
        model.mkdir(exist_ok=True)
        (model / "weights").write_text("old")
        with set_aside(model) as old:
            model.rename(old)
            if new:
                model.mkdir()
                (model / "weights").write_text("new")
        assert (model / "weights").read_text() == ("new" if new else "old")
        assert list(tmp_path.iterdir()) == [model]


def test_a_model_folder_is_replaced_whole(tmp_path: Path) -> None:
    model = tmp_path / "deep" / "model"
    for text in ("one", "two"):
        with folders.replaced_folder(model) as aside:
            (aside / "weights").write_text(text)
        assert (model / "weights").read_text() == text
    with pytest.raises(ZeroDivisionError), folders.replaced_folder(model) as aside:
        raise ZeroDivisionError
    assert (model / "weights").read_text() == "two"
    assert list(model.parent.iterdir()) == [model]


def dead_owner() -> str:
    """A process of this machine that has ended."""
    code = "from sce_desktop import process; print(process.owner())"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_names_of_dead_processes_go_without_any_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list may be lost, and another folder of the program's own may be in use by now."""
    monkeypatch.setattr(temporary.tempfile, "tempdir", str(tmp_path / "system"))
    dead, living = dead_owner(), process.owner()
    where, number, start = living.split("-")
    reused = f"{where}-{number}-{int(start, 16) - 1:x}"  # the same number, given again
    elsewhere = f"{'0' * 8}-1-1"
    places = (tmp_path / "mine", paths.cache_dir(), paths.projects_dir(), tmp_path / "system")
    kept, gone = [], []
    for folder in places:
        folder.mkdir(parents=True, exist_ok=True)
        for owner, stays in ((dead, False), (reused, False), (living, True), (elsewhere, True)):
            name = f".sce-{owner}-0123456789ab.partial"
            files = [folder / part for part in (name, f"{name}-wal", f"{name}-source", f".{name}.lock")]
            for file in files:
                file.write_text("half")
            within = folder / f".sce-{owner}-ba9876543210.partial"
            within.mkdir()
            (within / "sheet").write_text("half")
            (kept if stays else gone).extend([*files, within])
        for name in (
            f".sce-{dead}-0123456789ab.old",
            ".sce-thesis.partial",
            f".sce-{dead}-x.partial",
            "a.part",
        ):
            (folder / name).write_text("not to be touched")
            kept.append(folder / name)
    for owner, found in ((dead, gone), (living, kept)):
        found.append(tmp_path / "system" / f"sce-desktop-{owner}-abc")
        found[-1].mkdir()
    old = places[0] / f".sce-{elsewhere}-00000000000a.partial"
    old.write_text("half")
    os.utime(old, (time.time() - 2 * temporary.OTHERS_AGE_S,) * 2)
    link = places[0] / f".sce-{dead}-00000000000b.partial"
    link.symlink_to(tmp_path / "system")
    sweep()  # as a start does: the program's own folders
    with temporary_beside(places[0] / "out.csv"):  # and a folder that is written to
        pass
    assert [path for path in (*gone, old, link) if os.path.lexists(path)] == []
    assert [path for path in kept if not path.exists()] == []
    assert (tmp_path / "system").is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="owners of POSIX")
def test_what_belongs_to_another_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = tmp_path / f".sce-{dead_owner()}-0123456789ab.partial"
    name.write_text("half")
    me = os.geteuid()
    monkeypatch.setattr(temporary.os, "geteuid", lambda: me + 1)
    with temporary_beside(tmp_path / "out.csv"):
        assert name.exists()


def test_a_process_is_dead_only_if_that_is_certain() -> None:
    where, number, _ = process.owner().split("-")
    assert not process.is_dead(process.owner())
    assert process.is_dead(dead_owner())
    assert process.is_dead(f"{where}-{number}-1")
    assert not process.is_dead(f"{where}-{number}-0")  # its start was not known
    assert not process.is_dead(f"00000000-{number}-1")  # of another machine or container


def test_a_fork_is_another_process() -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, process.owner().encode())
        os._exit(0)
    found = os.read(reading, 100).decode()
    assert found != process.owner()
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    assert process.is_dead(found)


def test_folders_of_a_killed_process_in_the_systems_own_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray's, too, whose name is too short to say whose it is."""
    code = (
        "import os\n"
        "from sce_desktop.temporary import make_folder\n"
        "for for_sockets in (False, True):\n"
        "    (make_folder(for_sockets=for_sockets) / 'part.csv').write_text('a text of the user')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    killed = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    left = sorted(tmp_path.iterdir())
    assert [path.name[:12] for path in left] == ["sce-desktop-", left[1].name[:12]]
    assert left[1].name.startswith("sce-ray-")
    mine = tmp_path / "sce-ray-of-somebody"
    mine.mkdir()
    monkeypatch.setattr(temporary.tempfile, "tempdir", str(tmp_path))
    sweep()
    assert list(tmp_path.iterdir()) == [mine]


def test_whoever_makes_temporary_files_makes_them_here() -> None:
    """What `tempfile` makes elsewhere stays if the program is killed; a TemporaryFile has no name."""
    makers = {"TemporaryDirectory", "NamedTemporaryFile", "mkdtemp", "mkstemp", "mktemp"}
    found = set()
    for file in PACKAGE.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "tempfile" in source else ():
            used = node.attr if isinstance(node, ast.Attribute) else ""
            imported = {one.name for one in node.names} if isinstance(node, ast.ImportFrom) else set()
            if {used, *imported} & makers:
                found.add(file.relative_to(PACKAGE).as_posix())
    assert found == {"temporary.py"}


def test_the_lock_of_a_killed_process_goes(tmp_path: Path) -> None:
    code = (
        "import os, sys, pathlib\n"
        "from sce_desktop.store.file.lock import FileLock\n"
        "locks = [FileLock(pathlib.Path(path)) for path in sys.argv[1:]]\n"
        "print([lock.acquire() for lock in locks], flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    names = [tmp_path / name for name in (".a.sce.lock", ".b.sce.lock", ".c.sce.lock")]
    subprocess.run([sys.executable, "-c", code, *map(str, names)], check=False, stdout=subprocess.DEVNULL)
    assert [name.exists() for name in names] == [True, True, True]
    taken = FileLock(names[1])
    assert taken.acquire()  # somebody has opened that project again
    names[2].write_text("a file of the user's")
    sweep()
    assert [name.exists() for name in names] == [False, True, True]
    taken.release()
    assert lists() == []


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed there")
def test_nobody_waits_for_the_space_of_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    class Thread(threading.Thread):
        def __init__(self, target: Any, **options: Any) -> None:
            super().__init__(target=target, **options)
            self.file = target.__self__
            begun.append(self)

        def start(self) -> None:
            pass  # it has not had its turn yet

    monkeypatch.setattr(temporary, "_LARGE", 1_000)
    monkeypatch.setattr(threading, "Thread", Thread)
    for name, size in (("small", 999), ("large", 1_000)):
        with temporary_beside(tmp_path / name) as path:
            path.write_bytes(bytes(size))
    assert list(tmp_path.iterdir()) == []
    assert lists() == []
    (thread,) = begun
    assert os.fstat(thread.file.fileno()).st_size == 1_000  # not freed by whoever removed it
    assert os.fstat(thread.file.fileno()).st_nlink == 0  # but by the system, were the process killed now
    thread.run()
    assert thread.file.closed


@pytest.mark.parametrize("refused", [RuntimeError("can't start new thread"), OSError(24, "too many files")])
def test_a_large_file_goes_without_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Exception
) -> None:
    opened = []
    open_file = Path.open

    def refuse(*args: Any, **options: Any) -> Any:
        raise refused

    def recording(path: Path, *args: Any, **options: Any) -> Any:
        opened.append(open_file(path, *args, **options))
        return opened[-1]

    with temporary_beside(tmp_path / "large") as path:
        path.write_bytes(bytes(1_000))
        monkeypatch.setattr(temporary, "_LARGE", 1_000)
        if isinstance(refused, OSError):
            monkeypatch.setattr(Path, "open", refuse)
        else:
            monkeypatch.setattr(Path, "open", recording)
            monkeypatch.setattr(threading.Thread, "start", refuse)
    assert list(tmp_path.iterdir()) == []
    assert all(file.closed for file in opened)


def test_temporary_folders_are_this_users_alone() -> None:
    with temporary.temporary_folder() as folder:
        (folder / "file").write_text("x")
        assert folder.stat().st_mode & 0o077 == 0
        assert process.owner() in folder.name
    assert not folder.exists()


EXPORT = """
import sys
from pathlib import Path
from sce_desktop import cli
from sce_desktop.data import writers
batch = [["a" * 1000]] * 100
def endless():
    while True:
        yield batch
        print("written", flush=True)
def run(args, progress):
    writers.write_table(Path(sys.argv[1]), ["text"], endless(), progress=progress)
cli.flops.run = run
sys.exit(cli.main(["flops"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda n: n.name)
def test_a_signal_removes_temporary_files(tmp_path: Path, number: signal.Signals, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    command = [sys.executable, "-c", EXPORT, str(out)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert list(tmp_path.iterdir())
        process.send_signal(number)
        _, told = process.communicate()
    assert process.returncode == 128 + number
    assert "Traceback" not in told
    assert told.splitlines()[-1].startswith("sce-desktop: Stopped.")
    assert list(tmp_path.iterdir()) == []
    assert lists() == []
