"""A newcomer comes from the first start to exported labels by a handful of keys; see `tests.e2e.newcomer`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e import newcomer

pytestmark = [pytest.mark.outside, pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(900)]


def test_a_newcomer_gets_there_by_few_keys(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    steps = {step.name: step for step in newcomer.walk(home, 40)}
    typed = sum(len(name) + 1 for name in newcomer.LABELS) + len(str(home / "mine.csv")) + 1
    keys, clicks = (sum(getattr(step, what) for step in steps.values()) for what in ("keys", "clicks"))
    assert clicks == 1
    # Without what is typed: Esc, Ctrl+O, Return for the import (again where the table is not read yet), F5, a
    # digit for each row, Ctrl+E, Return.
    assert 9 <= keys - typed <= 9 + 20
    assert steps["score"].processor > 0
    assert (home / "program.txt").read_text(encoding="utf-8") == ""
