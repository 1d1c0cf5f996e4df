"""Killed, asked to end, its terminal closed: a command leaves nothing.

Here it is done to some commands; `python -m tests.litter` does it 30 times to each of all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
    pytest.mark.slow,
    pytest.mark.timeout(900),
]
KILLS = os.environ.get("SCE_DESKTOP_LITTER_KILLS")  # of every command
NAMES = ("create", "export", "models add", "models download", "classify csv")
SOME = ("--kills", "2", "--ends", "1", "--only", *NAMES)


def test_nothing_is_left_of_a_command(tmp_path: Path) -> None:
    """A few of each, forked from one process that has imported everything; moments are random."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.litter", *(("--kills", KILLS) if KILLS else SOME)],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    print(found.stdout)
    assert found.returncode == 0, found.stdout + found.stderr
    assert " 0 problems" in found.stdout
