"""Temporary files go with whoever made them; what a killed program leaves goes with the next start of it."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sce_desktop import cli, paths, temporary
from sce_desktop.data.atomic import replacing
from sce_desktop.ml.hub import folders
from sce_desktop.temporary import set_aside, sweep, temporary_beside

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


def test_two_at_a_time_share_a_list(tmp_path: Path) -> None:
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
