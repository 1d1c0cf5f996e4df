"""The terminal's end of `Progress`: bars on stderr, warnings, and Ctrl+C as a clean cancel.

stdout is never touched: it belongs to the result.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from sce_desktop.core.errors import Cancelled

if TYPE_CHECKING:
    from tqdm import tqdm

_LOG_EVERY_S = 5.0  # a bar would be noise in a file or a pipe: a plain line now and then instead
_FIGURES = " {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_noinv_fmt}]"


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

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Show ``done`` of ``total``; another stage closes the bar of the one before."""
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
                desc=stage or None,
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
            prefix=stage or "working",
            unit="",
            bar_format="{l_bar}" + _FIGURES,
        )
        self._print(line)

    def warn(self, message: str) -> None:
        """Print ``message`` on a line of its own, once."""
        if message in self.warnings:
            return
        self.warnings.append(message)
        if self._bar is not None:
            self._bar.clear()
        self._print(f"Note: {message}")
        if self._bar is not None:
            self._bar.refresh()

    def _print(self, line: str) -> None:
        with contextlib.suppress(OSError):  # a progress message must not end the work: the disk is full,
            print(line, file=self._stream, flush=True)  # or the terminal is gone

    def check(self) -> None:
        """Raise `Cancelled` after Ctrl+C."""
        if self._cancelled.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """Stop at the next check."""
        self._cancelled.set()

    def close(self) -> None:
        """End the line of the bar, if there is one."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextlib.contextmanager
def terminal_progress() -> Iterator[TerminalProgress]:
    """Give a `TerminalProgress` that Ctrl+C cancels: the first after the batch, the second at once.

    Whoever kills politely, or closes the terminal, does not wait: `Terminated` is raised at once, so that
    what was begun is removed.
    """
    progress = TerminalProgress()

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        progress.cancel()
        progress.warn("Stopping after this batch; press Ctrl+C again to stop at once.")

    def terminate(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # once is enough, and must not come in the middle of tidying up
        raise Terminated(number)

    # Handlers can be set in the main thread alone; tests and embedders call from others.
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {signal.SIGINT: interrupt, signal.SIGTERM: terminate}
        hangup = getattr(signal, "SIGHUP", None)
        if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # nohup ignores it
            handlers[hangup] = terminate
    previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield progress
    finally:
        progress.close()
        for number, handler in previous.items():
            signal.signal(number, handler)
