"""Does something in a forked child and says how it ended, how long it took and how much memory it had.

The child has what this process has imported, so that a trial costs no start of Python. Seconds are the
processor's; memory is the most that was resident beyond what the child began with. Linux only.
"""

from __future__ import annotations

import os
import resource
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sce_desktop.core.errors import UserError
from tests.hostile.child import silence, until_end

_LONGEST_SENTENCE = 600
_PATIENCE = 6  # times the seconds, by the clock


@dataclass(frozen=True, slots=True)
class Ended:
    """How a trial ended: ``word`` is what it returned, "refused", or what went wrong."""

    word: str
    said: str  # the sentence, or the traceback
    seconds: float
    memory: int  # bytes

    def __str__(self) -> str:
        return f"{self.word}, {self.seconds:.1f} s, {self.memory >> 20} MiB: {self.said[-300:]}"


def trial(work: Callable[[], str], *, seconds: float = 10, memory: int = 3 << 30) -> Ended:
    """Call ``work`` in a child and return how it ended.

    Args:
        work: Returns in a word what it came to. A `UserError` that is one sentence counts as "refused".
        seconds: Of the processor; a child that takes more is ended.
        memory: Bytes of address space that the child may take beside what it begins with.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _in_child(work, seconds, memory, writer)
    os.close(writer)
    found, ended = until_end(reader, _PATIENCE * seconds + 20)
    if not ended:
        os.kill(child, signal.SIGKILL)
    os.close(reader)
    _, status, usage = os.wait4(child, 0)
    used = usage.ru_utime + usage.ru_stime
    base, _, rest = found.decode("utf-8", "replace").partition("\n")
    peak = max((usage.ru_maxrss << 10) - int(base or 0), 0)
    word, _, said = rest.partition("\n")
    if not ended:
        return Ended("hangs", "", used, peak)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return Ended("slow", f"ended after {used:.1f} s", used, peak)
    if os.WIFSIGNALED(status) or not word:
        return Ended("killed", f"status {status}", used, peak)
    return Ended(word, said, used, peak)


def _in_child(work: Callable[[], str], seconds: float, memory: int, writer: int) -> None:
    silence()
    # What the parent had at its highest counts as the child's unless its pages are counted from now on.
    Path("/proc/self/clear_refs").write_text("5")
    pages = Path("/proc/self/statm").read_text().split()
    page = resource.getpagesize()
    os.write(writer, f"{int(pages[1]) * page}\n".encode())
    space = int(pages[0]) * page + memory
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    whole = max(int(seconds), 1)
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    try:
        said = work() + "\n"
    except UserError as error:
        said = _judged(str(error))
    except MemoryError:
        said = f"memory\n{traceback.format_exc()}"
    except BaseException:
        said = f"error\n{traceback.format_exc()}"
    os.write(writer, said[:60_000].encode("utf-8", "backslashreplace"))
    os._exit(0)


def _judged(message: str) -> str:
    """Return the message of a refusal, or what is wrong with it."""
    if "\n" in message or not message.endswith((".", "?")):
        return f"no sentence\n{message[:2000]!r}"
    if len(message) > _LONGEST_SENTENCE:
        return f"long message\n{len(message)} characters: {message[:300]}"
    return f"refused\n{message}"
