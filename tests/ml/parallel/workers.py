"""What the workers of these tests do; a module of its own, as they import it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

from sce_desktop.core.errors import UserError


@dataclass(frozen=True)
class Doubling:
    """Doubles numbers, and says who did. Devices named in the fields misbehave."""

    fails_to_open: str = ""
    fails_at_once: str = ""  # at its first block
    dies: str = ""
    poison: int | None = None  # a number that no worker bears
    sleeps: str = ""  # for ever, at its first block

    def open(self, device: str) -> Callable[[int], tuple[int, str]]:
        if device == self.fails_to_open:
            raise UserError(f"There is no device {device}.")

        def work(number: int) -> tuple[int, str]:
            if number == self.poison:
                raise ValueError("this number is poison\nand more")
            if device == self.fails_at_once:
                raise RuntimeError("CUDA error: out of sorts")
            if device == self.dies:
                os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            if device == self.sleeps:
                threading.Event().wait()
            return 2 * number, device

        return work


@dataclass(frozen=True)
class Echo:
    """Returns what it is given, however large: both ends write at the same time."""

    def open(self, device: str) -> Callable[[bytes], bytes]:
        return lambda block: block
