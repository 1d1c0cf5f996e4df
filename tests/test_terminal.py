from __future__ import annotations

import io
import signal
import threading

import pytest

from sce_desktop import terminal
from sce_desktop.core.errors import Cancelled
from sce_desktop.terminal import TerminalProgress, terminal_progress


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_with_rate_and_time_left() -> None:
    screen = Screen()
    progress = TerminalProgress(screen)
    progress.report(0, 100, stage="scoring")
    progress.report(50, 100, stage="scoring")
    progress.warn("One thing.")
    progress.report(100, 100, stage="scoring")
    progress.close()
    shown = screen.getvalue()
    assert "scoring" in shown
    assert "100/100" in shown
    assert "/s]" in shown  # rate
    assert "<00:00," in shown  # time left
    assert "Note: One thing.\n" in shown
    assert shown.endswith("\n")


def test_a_new_stage_begins_a_new_bar() -> None:
    screen = Screen()
    progress = TerminalProgress(screen)
    progress.report(5, 10, stage="reading")
    progress.report(1, None, stage="scoring")
    progress.close()
    assert screen.getvalue().count("\n") == 2


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: clock[0])
    log = io.StringIO()
    progress = TerminalProgress(log)
    for done in range(1001):
        progress.report(done, 1000, stage="scoring")
        clock[0] += 0.02
    lines = log.getvalue().splitlines()
    assert 3 <= len(lines) <= 5
    assert lines[0].startswith("scoring")
    assert "\r" not in log.getvalue()


def test_a_quick_command_leaves_a_log_empty() -> None:
    log = io.StringIO()
    progress = TerminalProgress(log)
    progress.report(10, 10, stage="reading")
    progress.close()
    assert log.getvalue() == ""


def test_a_warning_is_reported_once() -> None:
    log = io.StringIO()
    progress = TerminalProgress(log)
    progress.warn("The same.")
    progress.warn("The same.")
    assert log.getvalue() == "Note: The same.\n"


def test_ctrl_c_cancels_at_the_next_check_and_the_second_at_once() -> None:
    before = signal.getsignal(signal.SIGINT)
    with terminal_progress() as progress:
        progress.check()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Cancelled):
            progress.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_may_use_it() -> None:
    seen: list[bool] = []

    def work() -> None:
        with terminal_progress() as progress:
            progress.check()
            seen.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]
