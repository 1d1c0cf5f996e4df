"""A short form of ``python -m tests.faults scoring``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and looks into /proc")
@pytest.mark.timeout(600)
def test_no_vector_that_was_stored_is_made_twice(tmp_path: Path) -> None:
    seed = int.from_bytes(os.urandom(2), "big")
    command = [sys.executable, "-m", "tests.faults", "scoring", "--rows", "4000", "--kills", "4"]
    ended = subprocess.run(
        [*command, "--seed", str(seed), "--folder", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    print(seed, ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows, kills, made, distinct, in_flight, twice, unscored, cached = (
        int(figure.replace(",", "")) for figure in re.findall(r"\b[\d,]*\d\b", ended.stdout)[:8]
    )
    assert (rows, kills, distinct, twice, unscored, cached) == (4_000, 4, 4_000, 0, 0, 4_000)
    assert made == 4_000 + in_flight
    assert in_flight <= 4 * 40
