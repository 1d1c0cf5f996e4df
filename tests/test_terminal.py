from __future__ import annotations

import ctypes
import io
import os
import signal
import threading
import time
from typing import Any

import pytest

from sce_desktop import cli, console, terminal
from sce_desktop.core.errors import Cancelled
from sce_desktop.terminal import TerminalProgress, Terminated, terminal_progress


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


POLITE = [signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", POLITE, ids=lambda n: n.name)
def test_a_polite_kill_cancels_at_the_next_check_without_a_word(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    with terminal_progress() as progress:
        for _ in range(3):  # a shell passes on what the system has sent already
            signal.raise_signal(number)
        assert progress.ended_by == number
        with pytest.raises(Cancelled):
            progress.check()
        assert progress.force is not None
        progress.force.join(30)  # it was called off: what was begun is removed without haste
        assert not progress.force.is_alive()
    assert signal.getsignal(number) is before
    assert capsys.readouterr().err == ""


def test_where_no_batch_ends_it_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "GRACE_S", 0.05)
    with terminal_progress():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Terminated) as ended:
            time.sleep(60)  # a wait of the system's, which the signal breaks off
    assert ended.value.number == signal.SIGTERM


@pytest.mark.parametrize("swallowed", [False, True], ids=["as it is", "as another failure"])
@pytest.mark.parametrize("number", POLITE, ids=lambda n: n.name)
def test_a_command_ends_with_the_code_of_the_signal_and_one_line(
    number: signal.Signals,
    swallowed: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is raised in a callback of a library may come out as a failure of that library."""

    def run(_args: object, progress: TerminalProgress) -> int:
        signal.raise_signal(number)
        try:
            progress.check()
        except Cancelled:
            if swallowed:
                raise OSError("user-defined function raised exception") from None
            raise Cancelled("Nothing was written.") from None
        return 0

    monkeypatch.setattr(cli.flops, "run", run)
    assert cli.main(["flops"]) == 128 + number
    told = capsys.readouterr().err
    assert told == (
        "sce-desktop: Stopped.\n" if swallowed else "sce-desktop: Stopped. Nothing was written.\n"
    )


def test_ctrl_c_before_a_command_begins_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "build_parser", interrupt)
    assert cli.main(["flops"]) == 130
    assert capsys.readouterr().err == "sce-desktop: Stopped.\n"


def test_who_was_started_to_ignore_the_end_of_the_terminal_does_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with terminal_progress() as progress:
            signal.raise_signal(signal.SIGHUP)
            progress.check()
        assert signal.SIGHUP not in console.ending_signals()
    finally:
        signal.signal(signal.SIGHUP, before)


class Gone(Screen):
    """A terminal that was closed: whatever is written to it fails."""

    def write(self, _text: str) -> int:
        raise OSError(5, "Input/output error")


def test_work_goes_on_where_the_terminal_is_gone() -> None:
    progress = TerminalProgress(Gone())
    for done in range(3):
        progress.report(done, 3, stage="scoring")
    progress.warn("One thing.")
    progress.close()
    assert progress.warnings == ["One thing."]


class Kernel:
    """Stands in for the library of Windows that has handlers of a console."""

    def __init__(self) -> None:
        self.routines: list[Any] = []

    def SetConsoleCtrlHandler(self, routine: Any, add: bool) -> bool:
        if add:
            self.routines.append(routine)
        else:
            self.routines.remove(routine)
        return True


@pytest.mark.parametrize("event", [console.CTRL_CLOSE, console.CTRL_LOGOFF, console.CTRL_SHUTDOWN])
def test_a_closed_console_waits_until_the_program_has_tidied_up(event: int) -> None:
    kernel, asked, answers = Kernel(), threading.Event(), []
    with console.on_console_close(asked.set, kernel=kernel):
        (routine,) = kernel.routines
        assert isinstance(routine, ctypes._CFuncPtr)
        system = threading.Thread(target=lambda: answers.append(routine(event)))
        system.start()
        assert asked.wait(30)
        assert answers == []  # it waits: when it returns, Windows ends the process
    system.join(30)
    assert answers == [1]
    assert kernel.routines == []


def test_ctrl_c_of_a_console_is_left_to_signals() -> None:
    kernel = Kernel()
    with console.on_console_close(lambda: pytest.fail("it was not closed"), kernel=kernel):
        assert kernel.routines[0](0) == 0
        assert kernel.routines[0](1) == 0
    assert os.name == "posix"
