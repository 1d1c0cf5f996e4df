"""A virtual display, and hands on its mouse and keyboard: what `test_outside` drives programs with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

SCREEN = "1280x800x24"
STEP_S = 0.04  # between mouse moves: a drag has to be seen by both programs
_GRAB = (
    "import sys; from PySide6.QtGui import QGuiApplication; app = QGuiApplication([]); "
    "sys.exit(not app.primaryScreen().grabWindow(0).save(sys.argv[1]))"
)


def wait_for(what: str, ready: Callable[[], object], seconds: float) -> None:
    """Ask ``ready`` until it is true.

    Raises:
        TimeoutError: It has not become so; says ``what``.
    """
    if not wait_until(ready, seconds):
        raise TimeoutError(f"{what} did not happen within {seconds:g} s")


def wait_until(ready: Callable[[], object], seconds: float) -> bool:
    """Ask ``ready`` until it is true, and return whether it has become so within ``seconds``."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Display:
    """Starts Xvfb, and ends it with every program started on it.

    There is no window manager: a window has the keyboard when it is given it.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        reading, writing = os.pipe()  # Xvfb takes a free display and says which
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", SCREEN, "-nolisten", "tcp"]
        server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
        self._stack.callback(_end, server)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        if not number:
            self._stack.close()
            raise RuntimeError("Xvfb did not start")
        self._environment = self._environment | {"DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def start(self, command: Sequence[str | Path], *, log: Path) -> subprocess.Popen[bytes]:
        """Start a program on this display; it is ended with the display."""
        file = self._stack.enter_context(log.open("wb"))
        program = subprocess.Popen(
            command, env=self._environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        )
        self._stack.callback(_end, program)
        return program

    def xdotool(self, *words: str | int) -> str:
        """Run one xdotool command and return what it prints; empty if it fails."""
        command = ["xdotool", *map(str, words)]
        return subprocess.run(
            command, env=self._environment, capture_output=True, text=True, timeout=20
        ).stdout.strip()

    def picture(self, path: Path) -> None:
        """Save what is on the screen."""
        command = [sys.executable, "-c", _GRAB, str(path)]
        subprocess.run(command, env=self._environment, timeout=30, capture_output=True)

    def windows(self, title: str) -> list[str]:
        """Return the ids of the windows on the screen with ``title``, a regular expression."""
        return self.xdotool("search", "--onlyvisible", "--name", title).split()

    def focus(self, title: str) -> None:
        """Give a window the keyboard, once it is there.

        Raises:
            TimeoutError: No window has this title.
        """
        wait_for(f"a window {title!r}", lambda: self.focus_now(title), 60)

    def focus_now(self, title: str) -> bool:
        """Give a window the keyboard, and return whether one has this title and took it.

        The windows are asked for once: between two questions a dialog may have closed itself.
        """
        if not (windows := self.windows(title)):
            return False
        self.xdotool("windowfocus", windows[-1])
        return wait_until(lambda: self.xdotool("getwindowfocus", "-f") == windows[-1], 2)

    def press(self, *keys: str) -> None:
        """Press keys, each named as xdotool does."""
        self.xdotool("key", "--clearmodifiers", "--delay", 60, *keys)

    def type(self, text: str) -> None:
        """Type text."""
        self.xdotool("type", "--delay", 25, text)

    def middle(self, title: str) -> tuple[int, int]:
        """Return where the middle of a window is."""
        (window, *_) = self.windows(title)
        lines = self.xdotool("getwindowgeometry", "--shell", window).splitlines()
        place = {name: int(value) for name, value in (line.split("=") for line in lines)}
        return place["X"] + place["WIDTH"] // 2, place["Y"] + place["HEIGHT"] // 2

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Press the mouse at ``start``, go to ``end`` by and by, and let go."""
        self.xdotool("mousemove", *start)
        time.sleep(0.2)
        self.xdotool("mousedown", 1)
        steps = 12
        for step in range(steps + 1):
            time.sleep(STEP_S)
            x, y = (a + (b - a) * step // steps for a, b in zip(start, end, strict=True))
            self.xdotool("mousemove", x, y)
        self.xdotool("mousemove", end[0] + 3, end[1] + 3)
        time.sleep(0.3)
        self.xdotool("mouseup", 1)


def _end(program: subprocess.Popen[bytes]) -> None:
    if program.poll() is None:
        program.terminate()
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
