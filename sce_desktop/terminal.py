"""The terminal's end of `Progress`: bars on stderr, warnings; Ctrl+C and its like as a clean cancel.

stdout is never touched: it belongs to the result.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from sce_desktop.console import ending_signals, on_console_close
from sce_desktop.core.errors import Cancelled
from sce_desktop.core.escapes import one_line

if TYPE_CHECKING:
    from tqdm import tqdm

_LOG_EVERY_S = 5.0  # a bar would be noise in a file or a pipe: a plain line now and then instead
_FIGURES = " {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_noinv_fmt}]"


GRACE_S = 2.0  # from a polite kill to an end at once: a batch takes less


class Terminated(KeyboardInterrupt):
    """A signal asks the program to end: a polite kill, or its terminal was closed."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class TerminalProgress:
    """Shows stages with rate and time left on ``stream``, by default stderr."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._cancelled = threading.Event()
        self._bar: tqdm[None] | None = None
        self._stage = ""
        self._started = self._last_line = 0.0
        self.warnings: list[str] = []  # each once, in order
        self.ended_by = 0  # the signal that asked the program to end, other than Ctrl+C
        self.force: threading.Timer | None = None  # ends the program at once when it is through

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Show ``done`` of ``total``; another stage closes the bar of the one before."""
        with contextlib.suppress(OSError):  # as `_print`: work goes on where nobody looks
            if self._stream.isatty():
                self._show_bar(done, total, stage)
            else:
                self._show_line(done, total, stage)

    def _show_bar(self, done: int, total: int | None, stage: str) -> None:
        from tqdm import tqdm  # 0.1 s that the short commands need not pay

        tqdm.monitor_interval = 0  # its watching thread is of no use here
        if self._bar is None or stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = tqdm(
                desc=one_line(stage) or None,
                total=total,
                file=self._stream,
                dynamic_ncols=True,
                unit="",
                bar_format="{l_bar}{bar}|" + _FIGURES,
            )
        if total is not None:
            self._bar.total = total
        self._bar.update(done - self._bar.n)

    def _show_line(self, done: int, total: int | None, stage: str) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._started, self._last_line = stage, now, now
        if now - self._last_line < _LOG_EVERY_S:
            return
        from tqdm import tqdm

        self._last_line = now
        line = tqdm.format_meter(
            done,
            total,
            now - self._started,
            prefix=one_line(stage) or "working",
            unit="",
            bar_format="{l_bar}" + _FIGURES,
        )
        self._print(line)

    def warn(self, message: str) -> None:
        """Print ``message`` on a line of its own, once."""
        if message in self.warnings:
            return
        self.warnings.append(message)
        with contextlib.suppress(OSError):
            if self._bar is not None:
                self._bar.clear()
            self._print(f"Note: {one_line(message)}")
            if self._bar is not None:
                self._bar.refresh()

    def _print(self, line: str) -> None:
        with contextlib.suppress(OSError):  # a progress message must not end the work: the disk is full,
            print(line, file=self._stream, flush=True)  # or the terminal is gone

    def check(self) -> None:
        """Raise `Cancelled` after Ctrl+C, a polite kill, or the end of the terminal."""
        if self._cancelled.is_set():
            if self.force is not None:
                self.force.cancel()  # what was begun is removed now, and not to be interrupted
            raise Cancelled

    def cancel(self) -> None:
        """Stop at the next check."""
        self._cancelled.set()

    def close(self) -> None:
        """End the line of the bar, if there is one."""
        bar, self._bar = self._bar, None
        if bar is not None:
            with contextlib.suppress(OSError):
                bar.close()


@contextlib.contextmanager
def terminal_progress() -> Iterator[TerminalProgress]:
    """Give a `TerminalProgress` that Ctrl+C cancels: the first after the batch, the second at once.

    A polite kill and the end of the terminal cancel it too, without a word, as nobody may be there any more.
    Where no batch ends within `GRACE_S`, `Terminated` is raised. Such signals come in twos and threes (a
    shell passes on what the system has sent already): only the first counts.
    """
    progress = TerminalProgress()

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        progress.cancel()
        with contextlib.suppress(RuntimeError):  # in the middle of printing something else
            progress.warn("Stopping after this batch; press Ctrl+C again to stop at once.")

    def terminate(number: int, _frame: FrameType | None) -> None:
        if forced.is_set():
            forced.clear()
            raise Terminated(progress.ended_by)
        if not progress.ended_by:
            progress.ended_by = number
            progress.cancel()
            progress.force = threading.Timer(GRACE_S, force, (number,))
            progress.force.daemon = True
            progress.force.start()

    def force(number: int) -> None:
        forced.set()
        _interrupt_main(number)

    # Handlers can be set in the main thread alone; tests and embedders call from others.
    forced = threading.Event()
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {signal.SIGINT: interrupt, **dict.fromkeys(ending_signals(), terminate)}
    previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        with on_console_close(lambda: _interrupt_main(signal.SIGTERM)):
            yield progress
    finally:
        if progress.force is not None:
            progress.force.cancel()
        progress.close()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt_main(number: int) -> None:
    """Send the signal ``number`` to the main thread, and let it not wait for anything."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))
