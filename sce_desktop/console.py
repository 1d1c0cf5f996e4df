"""The end of a console window on Windows: what SIGHUP says elsewhere.

Python has SIGBREAK for Ctrl+Break. When its console is closed, or the user logs off, Windows calls handlers
of the process in a thread of its own, and ends the process as soon as they have returned, or after about five
seconds (https://learn.microsoft.com/windows/console/handlerroutine).
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

CTRL_CLOSE, CTRL_LOGOFF, CTRL_SHUTDOWN = 2, 5, 6
PATIENCE_S: Final = 4.5
"""So long a handler waits for the program to tidy up; Windows does not wait much longer."""


def ending_signals() -> list[int]:
    """Return the signals, besides Ctrl+C, that ask a program to end.

    Those that it was started to ignore are not among them: ``nohup`` ignores SIGHUP.
    """
    names = ("SIGTERM", "SIGHUP", "SIGBREAK")
    numbers = [int(number) for name in names if (number := getattr(signal, name, None)) is not None]
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


@contextlib.contextmanager
def on_console_close(end: Callable[[], object], *, kernel: Any = None) -> Iterator[None]:
    """Call ``end``, from another thread, when the console closes, and let Windows wait until we are left.

    Does nothing on other systems. ``kernel`` stands in for the system's library in tests.
    """
    if kernel is None and sys.platform != "win32":
        yield
        return
    import ctypes

    left = threading.Event()
    make = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)

    def handle(event: int) -> bool:
        if event not in (CTRL_CLOSE, CTRL_LOGOFF, CTRL_SHUTDOWN):
            return False  # Ctrl+C and Ctrl+Break are signals
        end()
        left.wait(PATIENCE_S)
        return True

    routine = make(ctypes.c_int, ctypes.c_uint)(handle)  # must live as long as Windows may call it
    kernel = kernel or ctypes.WinDLL("kernel32")  # type: ignore[attr-defined, unused-ignore]
    kernel.SetConsoleCtrlHandler(routine, True)
    try:
        yield
    finally:
        left.set()
        kernel.SetConsoleCtrlHandler(routine, False)
