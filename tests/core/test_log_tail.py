"""The lines of the log that may leave the machine name no file, and there are not more than needed."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.log_tail import keeping_lines, newest_lines

SECRET = Path("/home/anna/interviews.csv")
log = logging.getLogger("sce_desktop.tests")


@pytest.fixture(autouse=True)
def info() -> None:
    logging.getLogger().setLevel(logging.INFO)


def test_files_texts_and_what_exceptions_say_are_left_out() -> None:
    with keeping_lines():
        log.info("Opened %s with %s rows of %s", SECRET, 7, "a text")
        log.warning("%s", UserError(_("{file} is not a table.", file=SECRET)))
        log.warning("%s", FileNotFoundError(2, "no such file", str(SECRET)))
        logging.getLogger("qt").warning("QFile::open: %s is open, said 'a text'", SECRET)
        logging.getLogger("numpy").warning("a text")
        try:
            raise OSError(13, "no", str(SECRET))
        except OSError:
            log.exception("Failed")
        kept = "\n".join(newest_lines())
    assert "anna" not in kept
    assert "interviews" not in kept
    assert "a text" not in kept
    assert "Opened … with 7 rows of …" in kept
    assert "… is not a table." in kept
    assert "FileNotFoundError: ENOENT" in kept
    assert "test_log_tail.py" in kept  # the places in the code stay


def test_only_the_newest_are_kept_and_only_while_asked() -> None:
    with keeping_lines():
        for place in range(1000):
            log.info("Line %s", place)
        kept = newest_lines()
        assert len(kept) == 200
        assert kept[-1].endswith("Line 999")
    log.info("After")
    assert newest_lines()[-1].endswith("Line 999")
    with keeping_lines():
        assert newest_lines() == []
