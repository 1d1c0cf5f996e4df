"""A full disk, a quota, permissions taken away, several processes: acknowledged, or refused in a sentence."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.export import export_table
from tests.faults import actions, power

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="tmpfs, quotas and setpriv of Linux"
)

LABEL = """
import os, sys
from pathlib import Path
from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import UserError
from sce_desktop.store.project import Project
def tell(*what):
    os.write(1, (" ".join(map(str, what)) + "\\n").encode())
path = Path(sys.argv[1])
"""

UNTIL_REFUSED = (
    LABEL
    + """
project = Project.open(path)
for number in range(1, 100_000):
    row = 1 + number % 120
    try:
        project.set_marks(row, note=f"{number} " + "x" * 2_000)
    except UserError as error:
        tell("refused", error)
        break
    tell("note", row, number)
try:
    project.close()
except UserError as error:
    tell("closing", error)
"""
)

PROTECTED = (
    LABEL
    + """
with Project.open(path) as project:
    for row in range(1, 41):
        if row == 20:  # under the open program
            path.chmod(0o444)
            path.parent.chmod(0o555)
        try:
            project.decide([row], Decision.NONE)
        except UserError as error:
            tell("refused", error)
            break
        tell("label", row)
"""
)

MINE = (
    LABEL
    + """
mine = int(sys.argv[2])
done = mine
while done <= 120:
    with Project.open(path) as project:
        if project.read_only:
            tell("waits", project.read_only_reason)
            continue
        for row in range(done, min(done + 12, 121), 3):
            project.decide([row], Decision.LABEL, [1 + mine])
            tell("label", row)
            done = row + 3
"""
)


def lines_of(
    script: str, *arguments: str | Path, wrapped: Sequence[str] = (), **environment: str
) -> list[str]:
    """Run ``script`` and return the lines that it says."""
    ended = subprocess.run(
        [*wrapped, sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "survey.sce"
    with Project.create(path) as project:
        actions.fill(project)
    return path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1.5 megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def notes(path: Path) -> dict[int, str]:
    """Return the number that each note begins with; the project must be whole."""
    with Project.open(path) as project:
        assert project.verify() == []
        assert not project.read_only
        marks = project.marks(range(1, actions.ROWS + 1))
        return {row: mark.note.split()[0] for row, mark in marks.items() if mark.note}


def note_until_refused(project: Project, done: dict[int, str]) -> None:
    for number in range(1, 5_000):
        row = 1 + number % actions.ROWS
        project.set_marks(row, note=f"{number} " + "x" * 2_000)
        done[row] = str(number)


def test_labels_on_a_disk_that_fills_up(path: Path, small_disk: Path) -> None:
    """Refused in a sentence; what was acknowledged stays, and labelling goes on when there is room."""
    project_path = Path(shutil.copy(path, small_disk))
    out = small_disk / "out.csv"
    filler = small_disk / "film"
    filler.write_bytes(bytes(300_000))
    done: dict[int, str] = {}
    project = Project.open(project_path)
    export_table(project, out, progress=SilentProgress())
    exported = out.read_bytes()
    with pytest.raises(UserError, match=r"The disk is full: free some space, then try again\.") as refused:
        note_until_refused(project, done)
    assert len(done) > 10
    assert "Everything saved so far is safe" in str(refused.value)
    with pytest.raises(UserError, match="There is no room for"):
        export_table(project, out, progress=SilentProgress())
    assert out.read_bytes() == exported
    filler.unlink()
    project.set_marks(1, note="after")
    project.close()
    assert notes(project_path) == done | {1: "after"}
    assert sorted(file.name for file in small_disk.iterdir()) == ["out.csv", "survey.sce"]


@pytest.mark.skipif(power.compiler() is None, reason="there is no C compiler")
def test_labels_beyond_a_quota(path: Path, tmp_path: Path) -> None:
    """EDQUOT instead of ENOSPC: SQLite has no name for it, and the user still gets a sentence."""
    library = power.build(tmp_path)
    environment = {"LD_PRELOAD": str(library), "POWER_FOLDER": str(path.parent), "POWER_QUOTA": "700000"}
    said = lines_of(UNTIL_REFUSED, path, **environment)
    done = {int(row): number for word, row, number in (line.split()[:3] for line in said) if word == "note"}
    assert len(done) > 10
    (refused,) = [line for line in said if line.startswith("refused")]
    assert "free space" in refused
    assert notes(path) == done
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_permissions_that_are_taken_away_meanwhile(path: Path) -> None:
    wrapped: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("as root, permissions can only be tested with setpriv")
        dropped = "-dac_override,-dac_read_search"
        wrapped = ["setpriv", f"--inh-caps={dropped}", f"--bounding-set={dropped}"]
    said = lines_of(PROTECTED, path, wrapped=wrapped)
    left = {file.name: file.stat().st_size for file in path.parent.iterdir() if file != path}
    assert left.pop(f"{path.name}-wal") == 0  # brought in, and there is no right to remove it
    assert set(left) == {f"{path.name}-shm", f".{path.name}.lock"}
    path.parent.chmod(0o755)
    path.chmod(0o644)
    labelled = [int(line.split()[1]) for line in said if line.startswith("label")]
    assert labelled == list(range(1, 41))
    with Project.open(path) as project:
        assert project.verify() == []
        assert sorted(project.annotations(range(1, actions.ROWS + 1))) == labelled
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_several_processes_label_the_same_project_and_one_is_killed(path: Path) -> None:
    """One writes at a time, the others read only and say so; whoever comes next has all of it."""
    command = [sys.executable, "-c", MINE, str(path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen([*command, str(mine)], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        for mine in (1, 2, 3)
    ]
    said = [""] * 3
    first = processes[0]
    assert first.stdout is not None
    for line in first.stdout:
        said[0] += line
        if line.startswith("label"):
            first.send_signal(signal.SIGKILL)
            break
    for place, process in enumerate(processes):
        more, _ = process.communicate(timeout=240)
        said[place] += more
    assert [process.returncode for process in processes] == [-signal.SIGKILL, 0, 0]
    told = {
        int(line.split()[1]): 1 + mine
        for mine, lines in enumerate(said, 1)
        for line in lines.splitlines()
        if line.startswith("label")
    }
    with Project.open(path) as project:
        assert not project.read_only
        assert project.verify() == []
        found = {
            row: one.label_ids[0] for row, one in project.annotations(range(1, actions.ROWS + 1)).items()
        }
    assert {row: label for row, label in found.items() if row in told} == told
    assert len(found) - len(told) <= 1  # labelled, and dead before it could tell
    assert {row for row in range(1, actions.ROWS + 1) if row % 3 != 1} <= set(found)
    waits = {line.partition(" ")[2] for lines in said for line in lines.splitlines() if line[:5] == "waits"}
    assert all("open" in reason and "\n" not in reason for reason in waits)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_same_window_opens_it_twice(path: Path) -> None:
    """Two openings in one process: the second reads only, and sees what the first acknowledges."""
    with Project.open(path) as one, Project.open(path) as other:
        assert (one.read_only, other.read_only) == (False, True)
        one.decide([7], Decision.NONE)
        assert 7 in other.annotations([7])
        with pytest.raises(UserError, match="open"):
            other.decide([8], Decision.NONE)
