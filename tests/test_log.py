"""The log on the disk keeps within its bound, and so does each of its lines' files."""

from __future__ import annotations

import logging
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop import log as log_file

log = logging.getLogger("sce_desktop.tests.log")


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    level, handlers, exceptions = root.level, list(root.handlers), logging.raiseExceptions
    yield tmp_path / "log" / "sce-desktop.log"
    for handler in [one for one in root.handlers if one not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    logging.captureWarnings(False)
    logging.raiseExceptions = exceptions


def test_the_log_rotates_and_stays_within_its_bound(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "_MAX_BYTES", 10_000)
    log_file.start_log(path)
    for place in range(3000):
        log.info("A line of the log that is as long as lines are, number %s", place)
    files = sorted(path.parent.iterdir())
    assert len(files) == 1 + log_file._LOG_FILES
    assert all(file.stat().st_size <= 10_000 for file in files)
    assert "number 2999" in path.read_text(encoding="utf-8")
    if sys.platform != "win32":
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_the_bound_is_what_the_guide_says() -> None:
    guide = (Path(__file__).parents[1] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    megabytes = log_file._MAX_BYTES * (1 + log_file._LOG_FILES) / 1e6
    assert f"{megabytes:g} MB of it are kept" in " ".join(guide.split())
