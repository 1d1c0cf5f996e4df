"""The main job by keys, as a screen reader is told of it: the short form of ``python -m tests.atspi``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.atspi.__main__ import missing, run

pytestmark = [pytest.mark.outside, pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(1900)]
TRIES = 2  # a key may come before the window that it is for, on a machine that is busy


def test_a_table_is_labelled_and_exported_with_what_is_spoken_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if lack := missing():
        pytest.skip(f"{lack}: tools/system_packages.sh virtual-display screen-reader, as root")
    told = []
    for number in range(TRIES):
        status = run(tmp_path / str(number), short=True)
        told.append(capsys.readouterr().out)
        if status == 0:
            break
    assert status == 0, "\n".join(told)
    assert "exported 40 rows, 2 of them labelled" in told[-1]
    assert "0 problems" in told[-1]
