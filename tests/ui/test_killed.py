"""The program is killed at a random moment of every long job; what was finished is in the project.

Moments come from `random`, which pytest-randomly seeds: ``-p randomly -p "randomly_seed=N"`` repeats them.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sce_desktop.store.project import Project
from tests.ui.at_work import JOBS, OLD, PROJECT, ROWS, TABLE
from tests.ui.kill_driver import LOADING

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
TRIES = 8
RESULTS = {"import": ("new.sce",), "score": (), "export csv": ("out.csv",)}
"""Files that a job that is asked to end may have finished."""
ENDINGS = [(name, number) for name in RESULTS for number in ("SIGINT", "SIGTERM", "SIGHUP")]
SOME_ENDINGS = [("import", "SIGTERM"), ("score", "SIGHUP"), ("export csv", "SIGTERM")]
"""Of which some are tried each time, all of them where ``SCE_DESKTOP_ENDINGS`` is set."""
WITHIN = {LOADING: 0.5} | {kind.name: kind.kill_within for kind in JOBS}  # seconds to draw moments from


@contextmanager
def at_work(name: str, folder: Path, *, within: float) -> Iterator[tuple[subprocess.Popen[str], bool]]:
    """Start the program with a job on the project in ``folder``; give it a random moment after the job began.

    The second value says whether the job still runs, as far as the program has told.
    """
    command = [sys.executable, "-m", "tests.ui.kill_driver", str(folder), name]
    (folder / "tmp").mkdir()
    environment = os.environ | {
        "SCE_DESKTOP_HOME": str(folder / "home"),
        "QT_QPA_PLATFORM": "offscreen",
        "TMPDIR": str(folder / "tmp"),
    }
    with (
        (folder / "program.txt").open("w+", encoding="utf-8") as log,
        subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as program,
    ):
        assert program.stdout is not None
        if "running\n" not in program.stdout:  # reads to there
            pytest.fail((folder / "program.txt").read_text(encoding="utf-8"))
        moment = random.uniform(0, within)
        print(f"{name}: {moment:.3f} s after its start")
        try:
            if name == "score":  # it tells all the time what it has
                time.sleep(moment)
                yield program, True
            else:
                yield program, not select.select([program.stdout], [], [], moment)[0]
        except BaseException:  # else whoever failed would wait for a program that nobody ends
            program.kill()
            raise


def killed_during(name: str, material: Path, folder: Path) -> tuple[Path, list[str]]:
    """Kill the program while the job runs; return where its project is and what it had said of scores.

    A moment that came after the end of the job is drawn again, from half the time and with a new project.
    """
    for number in range(TRIES):
        place = shutil.copytree(material, folder / str(number))
        with at_work(name, place, within=WITHIN[name] / 2**number) as (program, runs):
            program.kill()
            assert program.stdout is not None
            told = program.stdout.read().splitlines()
        if runs and "ended" not in told:
            return place, told
    pytest.fail(f"{name} is too short to be hit")


@pytest.mark.parametrize("name", WITHIN)
def test_killed_during_a_job(material: Path, tmp_path: Path, name: str) -> None:
    place, told = killed_during(name, material, tmp_path)
    check_project(place / PROJECT, appended=name == "append")
    with Project.open(place / PROJECT) as project:
        scored = sum(run.scored for run in project.runs())
    assert scored >= max((int(line.split()[1]) for line in told), default=ROWS)
    # The last moments of a job are those after its result was put in place and before it is told.
    # What is hidden, nobody takes for a result.
    results = [path for path in place.glob("[!.]*.*") if path.name not in (PROJECT, TABLE)]
    for path in [path for path in results if path.suffix in (".sce", ".csv", ".xlsx")]:
        if path.read_bytes() == OLD.encode():
            continue
        if path.suffix == ".sce":
            check_project(path)
        elif path.suffix == ".csv":
            assert len(path.read_text(encoding="utf-8").splitlines()) == ROWS + 1
        else:
            with zipfile.ZipFile(path) as parts:
                assert parts.testzip() is None


def check_project(path: Path, *, appended: bool = False) -> None:
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with Project.open(path) as project:
        assert not project.read_only
        assert project.row_count() in ((ROWS, 2 * ROWS) if appended else (ROWS,))
        assert project.verify() == []


def test_closed_while_the_model_loads(material: Path, tmp_path: Path) -> None:
    """A polite signal closes the window as its button does; importing torch cannot be broken off."""
    shutil.copy(material / PROJECT, tmp_path)
    with at_work(LOADING, tmp_path, within=WITHIN[LOADING]) as (program, runs):
        assert runs
        asked = time.monotonic()
        program.send_signal(signal.SIGTERM)
        assert program.wait(120) == 0
        print(f"gone in {time.monotonic() - asked:.3f} s")
    assert "Traceback" not in (tmp_path / "program.txt").read_text(encoding="utf-8")
    assert not Path(f"{tmp_path / PROJECT}-wal").exists()
    with Project.open(tmp_path / PROJECT) as project:
        assert project.verify() == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("name", "number"), ENDINGS if os.environ.get("SCE_DESKTOP_ENDINGS") else SOME_ENDINGS
)
def test_asked_to_end_during_a_job(material: Path, tmp_path: Path, name: str, number: str) -> None:
    """SIGTERM and SIGHUP close the window as Ctrl+C in its terminal does: in good order, nothing left."""
    for attempt in range(TRIES):
        place = shutil.copytree(material, tmp_path / str(attempt))
        with at_work(name, place, within=WITHIN[name] / 2**attempt) as (program, runs):
            program.send_signal(getattr(signal, number))
            assert program.wait(120) == 0, (place / "program.txt").read_text(encoding="utf-8")
        if runs:
            break
    else:
        pytest.fail(f"{name} is too short to be hit")
    assert "Traceback" not in (place / "program.txt").read_text(encoding="utf-8")
    here = {path.name for path in place.iterdir()}
    assert here <= {PROJECT, TABLE, "home", "tmp", "program.txt", *RESULTS[name]}
    assert list((place / "tmp").iterdir()) == []
    temporary = place / "home" / "cache" / "temporary"
    assert not temporary.exists() or list(temporary.iterdir()) == []
    check_project(place / PROJECT)
    for result in RESULTS[name]:
        if result.endswith(".sce") and result in here:
            check_project(place / result)
        elif result in here and (text := (place / result).read_text(encoding="utf-8")) != OLD:
            assert len(text.splitlines()) == ROWS + 1
