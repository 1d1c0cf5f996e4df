"""Killed at a random moment of writing a project, beside what an older one of its name has left.

``SCE_DESKTOP_KILLS=50 python -m pytest -s tests/test_killed_writing.py`` kills so often and says what came of
it. Moments come from `random`, which pytest-randomly seeds.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.tables import import_table
from sce_desktop.temporary import sweep

KILLS = int(os.environ.get("SCE_DESKTOP_KILLS", "2"))  # of each command, half of them over an older project
NEW, OLD = 4_000, 300
LABELLED = 379

DRIVER = """
import sys
from sce_desktop import cli
import sce_desktop.tasks.tables, sce_desktop.tasks.tables.replaceable
print("begun", flush=True)
sys.exit(cli.main(sys.argv[1:]))
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def write_table(path: Path, text: str, rows: int) -> Path:
    lines = (f"{number},{f'{text} {number} ' * 15}\n" for number in range(rows))
    path.write_text("id,text\n" + "".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table and a project of it; an older project as a killed program has left it, with a log beside it."""
    folder = tmp_path_factory.mktemp("material")
    for name, rows, labelled in (("new", NEW, LABELLED), ("old", OLD, 20)):
        table = write_table(folder / f"{name}.csv", name, rows)
        with import_table(
            folder / f"{name}.sce", table, text_columns=["text"], progress=SilentProgress()
        ) as project:
            project.decide(range(1, labelled + 1), Decision.NONE)
    left = folder / "left"
    left.mkdir()
    with Project.open(folder / "old.sce") as project:
        project.clear_decision(range(1, 16))
        for file in folder.glob("old.sce*"):
            shutil.copy(file, left / file.name.replace("old.sce", "mine.sce"))
    assert (left / "mine.sce-wal").stat().st_size
    return folder


def commands(material: Path) -> dict[str, list[str]]:
    return {
        "create": ["project", "create", "mine.sce", str(material / "new.csv"), "--text", "text"],
        "backup": ["project", "backup", str(material / "new.sce"), "mine.sce"],
        "repair": ["project", "repair", str(material / "new.sce"), "mine.sce"],
    }


def run(arguments: list[str], folder: Path, *, kill_after: float | None = None) -> float:
    """Run a command in ``folder`` and return how long it took; kill it in the middle."""
    command = [sys.executable, "-c", DRIVER, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        started = time.perf_counter()
        if kill_after is not None:
            time.sleep(kill_after)
            process.kill()
        _, told = process.communicate()
    allowed = {0} if kill_after is None else {0, -signal.SIGKILL}  # it may have been through
    assert process.returncode in allowed, told.decode()
    return time.perf_counter() - started


def what_is(path: Path, way: str) -> str:
    """Which project ``path`` is, whole and right; anything else fails."""
    if not path.exists():
        return "none"
    with Project.open(path) as project:
        assert project.verify() == []
        rows = project.row_count()
        found = {text.split()[0] for text in project.texts(project.row_ids())}
        labelled = len(project.annotations(project.row_ids()))
    if rows == OLD:
        assert (found, labelled) == ({"old"}, 5)  # what was in its log is there, too
        return "old"
    assert (rows, found) == (NEW, {"new"})
    assert labelled == (0 if way == "create" else LABELLED)
    return "new"


@pytest.mark.parametrize("way", ["create", "backup", "repair"])
def test_killed_while_writing(material: Path, tmp_path: Path, way: str) -> None:
    arguments = commands(material)[way]
    folder = tmp_path / "whole"
    folder.mkdir()
    seconds = run(arguments, folder)
    outcomes: Counter[str] = Counter()
    for number in range(KILLS):
        folder = tmp_path / str(number)
        shutil.copytree(material / "left", folder)
        forced = ["--force"] if number % 2 else []
        if not forced:  # somebody deleted the project alone
            (folder / "mine.sce").unlink()
        first = random.choice([0, 0.7 * seconds])  # the end, where names change, is worth as much as the rest
        run([*arguments, *forced], folder, kill_after=random.uniform(first, 1.1 * seconds))
        left = sorted(file.name for file in folder.iterdir() if not file.name.startswith("mine.sce"))
        sweep()  # as the next start of the program does
        assert {file.name for file in folder.iterdir() if not file.name.startswith("mine.sce")} <= {
            ".mine.sce.lock"  # which the next opening takes
        }
        found = what_is(folder / "mine.sce", way)
        assert found != ("none" if forced else "old")
        outcomes[f"{'over an older one' if forced else 'beside leftovers'}: {found}"] += 1
        outcomes["temporary files swept"] += bool(left)
        if found != "new":
            run([*arguments, *forced], folder)
            assert what_is(folder / "mine.sce", way) == "new"
        assert sorted(file.name for file in folder.iterdir()) == ["mine.sce"]
        shutil.rmtree(folder)
    print(f"\n{way}, {KILLS} kills within {seconds:.2f} s: {dict(sorted(outcomes.items()))}")
