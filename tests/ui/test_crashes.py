"""Unexpected exceptions reach the log in full and the window without user data."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import qWarning
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.crashes import Crash, CrashHooks

SECRET = "a text of the user in /home/anna/interviews.csv"


@pytest.fixture
def hooks(qapp, tmp_path: Path) -> Iterator[CrashHooks]:
    hooks = CrashHooks(tmp_path / "log" / "faults.txt")
    yield hooks
    hooks.remove()


def caught() -> ValueError:
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as cause:
            raise ValueError(SECRET) from cause
    except ValueError as error:
        return error


def test_crash_names_the_places_and_not_the_data() -> None:
    crash = Crash.from_error(caught())
    assert crash.kind == "ValueError"
    assert crash.trace.index("KeyError") < crash.trace.index("ValueError")
    assert "tests/ui/test_crashes.py" in crash.trace
    assert "in caught" in crash.trace
    assert "anna" not in crash.trace
    assert str(Path(__file__).parents[2]) not in crash.trace


def test_exception_hook_tells_and_logs_in_full(
    qtbot: QtBot, hooks: CrashHooks, caplog: pytest.LogCaptureFixture
) -> None:
    error = caught()
    with qtbot.waitSignal(hooks.crashed) as crashed:
        sys.excepthook(type(error), error, error.__traceback__)
    assert crashed.args[0] == Crash.from_error(error)
    assert SECRET in caplog.text


def test_thread_hook_tells_in_the_gui_thread(qtbot: QtBot, hooks: CrashHooks) -> None:
    heard: list[int] = []
    hooks.crashed.connect(lambda _: heard.append(threading.get_ident()))
    previous = threading.excepthook
    with qtbot.waitSignal(hooks.crashed):
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
    assert threading.excepthook is previous
    assert heard == [threading.get_ident()]


def test_destructor_failure_is_logged_only(
    qtbot: QtBot, hooks: CrashHooks, caplog: pytest.LogCaptureFixture
) -> None:
    class Bad:
        def __del__(self) -> None:
            raise RuntimeError("in __del__")

    with qtbot.assertNotEmitted(hooks.crashed, wait=50):
        Bad()
        gc.collect()
    assert "in __del__" in caplog.text


def test_qt_messages_go_to_the_log(hooks: CrashHooks, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="qt"):
        qWarning("the platform has no such thing")
    assert ("qt", logging.WARNING, "default: the platform has no such thing") in caplog.record_tuples


def test_last_fault_is_shown_once(qapp, tmp_path: Path) -> None:
    file = tmp_path / "faults.txt"
    file.write_text("Fatal Python error: Segmentation fault\n", encoding="utf-8")
    first = CrashHooks(file)
    first.remove()
    second = CrashHooks(file)
    second.remove()
    assert "Segmentation fault" in first.last_fault
    assert second.last_fault == ""


def test_remove_puts_everything_back(qapp, tmp_path: Path) -> None:
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    CrashHooks(tmp_path / "faults.txt").remove()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before
