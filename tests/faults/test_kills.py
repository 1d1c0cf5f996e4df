"""A short form of ``python -m tests.faults kills``."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from sce_desktop import paths
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import bulk
from sce_desktop.temporary import sweep
from tests.faults import actions
from tests.faults.kills import Found, table
from tests.faults.people import Labelling

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("SCE_DESKTOP_KILLS", "300"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and looks into /proc")
@pytest.mark.timeout(1200)
def test_three_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    """Moments differ from run to run; what is found is printed with its seed, and kept in the folder."""
    seed = int.from_bytes(os.urandom(2), "big")
    command = [sys.executable, "-m", "tests.faults", "kills", "--kills", str(KILLS), "--seed", str(seed)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    cells = [cell.strip() for cell in ended.stdout.splitlines()[-2].strip("|").split("|")]
    assert cells[:2] == ["all", f"{KILLS:,}"]
    assert cells[4:] == ["0", "0", "0"]
    acknowledged = int(cells[3].replace(",", ""))
    assert acknowledged > KILLS  # else hardly anything could be lost


@pytest.mark.parametrize("written", [b"", b'{"host": "a mach'], ids=["empty", "broken off"])
def test_the_list_of_a_process_that_died_before_it_wrote_is_swept(written: bytes) -> None:
    """Else one would stay for each kill at that moment: found by the kills above."""
    file = paths.cache_dir() / "temporary" / "12345-abcdef01.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(written)
    sweep()
    assert not file.exists()


@pytest.mark.parametrize("never_written", [0, 1, 2])
def test_an_action_that_was_acknowledged_and_is_not_there_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never_written: int
) -> None:
    """As a program would do that acknowledges what it has not written yet."""
    monkeypatch.setattr(bulk, "STEP", bulk.STEP)  # which the actions change
    for name in ("people.sce", "again.sce", "more.sce"):
        with Project.create(tmp_path / name) as project:
            actions.fill(project)
    seed = random.Random(6).getrandbits(32)
    done = 12
    with Project.open(tmp_path / "people.sce") as project:
        for _ in zip(range(done), actions.actions(project, seed), strict=False):
            pass
    with Project.open(tmp_path / "more.sce") as project:
        doing = actions.actions(project, seed)
        told = [next(doing) for _ in range(done + never_written)]
    (tmp_path / "more.sce").unlink()
    found = Found()
    Labelling().check(tmp_path, random.Random(6), told, found)
    assert bool(found.lost) == bool(never_written)
    assert found.damaged == []
    assert list(tmp_path.iterdir()) == []


def test_the_table_counts_what_is_wrong() -> None:
    found = {
        "label": Found(kills=2, in_the_middle=1, acknowledged=1_200, lost=["a label"]),
        "export": Found(kills=1, damaged=["half a file"], litter=["x", "y"]),
    }
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table(found).splitlines()]
    assert lines[2] == ["label", "2", "1", "1,200", "1", "0", "0"]
    assert lines[3] == ["export", "1", "0", "0", "0", "1", "2"]
    assert lines[4] == ["all", "3", "1", "1,200", "1", "1", "2"]
