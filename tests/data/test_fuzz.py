"""A short form of ``python -m tests.fuzz readers``: the same files in each run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_odd_and_damaged_files_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    found = subprocess.run(
        [
            *(sys.executable, "-m", "tests.fuzz", "readers"),
            *("--examples", "200", "--seed", "1", "--findings", str(tmp_path / "findings")),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert found.stdout.endswith("0 findings\n"), found.stdout + found.stderr
    assert found.stdout.splitlines()[-2].startswith("200 files")
