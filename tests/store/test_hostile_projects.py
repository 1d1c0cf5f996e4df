"""A short form of ``python -m tests.hostile projects``: each hostile project meets one action."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_hostile_projects_end_in_success_or_in_one_sentence() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tests.hostile", "projects", "--turns", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert ", 0 ended badly." in found.stdout
