"""Does something in a forked child process with limits, and says how it ended.

The parent has imported everything, so that a case costs what it does and no start of an interpreter. The
seconds are the processor's, so that the result does not depend on what else the machine does.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MEMORY = 1 << 30  # bytes of address space beyond what the parent has
SECONDS = 10  # of the processor
_HANGS = 120  # seconds of the clock


class Ended(NamedTuple):
    """How it ended: ``how`` is "returned", "raised", "memory", "slow", "hangs" or "killed"."""

    how: str
    text: str  # what was returned, or the traceback
    seconds: float  # of the processor
    megabytes: int  # at the peak, with what the parent had


def in_child(work: Callable[[], str], *, memory: int = MEMORY, seconds: int = SECONDS) -> Ended:
    """Return how ``work`` ends in a child process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run(work, writer, memory, seconds)
    os.close(writer)
    found, in_time = until_end(reader)
    os.close(reader)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    how, _, text = found.decode("utf-8", "replace").partition("\n")
    if not in_time:
        how, text = "hangs", f"more than {_HANGS} seconds"
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        how, text = "slow", f"more than {seconds} seconds"
    elif not how or os.WIFSIGNALED(status):
        how, text = "killed", f"status {status}"
    return Ended(how, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10)


def until_end(reader: int, patience: float = _HANGS) -> tuple[bytes, bool]:
    """Return what a child writes, and whether it came to its end within ``patience`` seconds."""
    found = b""
    deadline = time.monotonic() + patience
    while (left := deadline - time.monotonic()) > 0 and select.select([reader], [], [], left)[0]:
        data = os.read(reader, 1 << 16)
        if not data:
            return found, True
        found += data
    return found, False


def silence() -> None:
    """Let nothing that this process prints be seen: libraries write to both streams by themselves."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _run(work: Callable[[], str], writer: int, memory: int, seconds: int) -> None:
    silence()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, used + memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    try:
        said = f"returned\n{work()}"
    except MemoryError:
        said = f"memory\n{traceback.format_exc()}"
    except BaseException:
        said = f"raised\n{traceback.format_exc()}"
    os.write(writer, said[:60_000].encode("utf-8", "backslashreplace"))
    os._exit(0)
