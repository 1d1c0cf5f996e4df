"""Which process a temporary name belongs to, and whether that process is dead.

A process is known by where it runs, its number and its start: numbers are given again. Where it runs is the
boot and the namespace of process numbers on Linux, for two containers with one folder do not see each other,
and the name of the machine elsewhere.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import sys
from pathlib import Path
from typing import Final

OWNER: Final = r"[0-9a-f]{8}-[0-9a-f]+-[0-9a-f]+"
"""Pattern of what `owner` returns."""


def owner() -> str:
    """Return this process as a part of a name: where it runs, its number, its start, in hexadecimal."""
    return _owner(os.getpid())  # not once: a fork is another process


def is_here(name: str) -> bool:
    """Whether the process ``name`` runs, or ran, where we do and its end could be seen."""
    return name.split("-")[0] == _place()


def is_dead(name: str) -> bool:
    """Whether the process ``name``, an `owner`, is certainly not running any more.

    False for those of other machines and containers, of which nothing is known.
    """
    _, number, start = name.split("-")
    if not is_here(name) or not int(start, 16):
        return False
    try:
        found = _start(int(number, 16))
    except OSError:
        return False  # it exists, and does not say more
    return found != int(start, 16)


@functools.lru_cache(maxsize=4)
def _owner(number: int) -> str:
    try:
        start = _start(number)
    except OSError:
        start = None
    return f"{_place()}-{number:x}-{start or 0:x}"


@functools.cache
def _place() -> str:
    if sys.platform == "linux":
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
            where = f"{boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - no path, but a name
        except OSError:
            where = platform.node()
    else:
        where = platform.node()
    return hashlib.sha256(where.encode("utf-8", "replace")).hexdigest()[:8]


def _start(number: int) -> int | None:
    """Return when the process ``number`` began, in a unit of the system's; None: there is no such process.

    OSError: there is one, and that cannot be found out.
    """
    if sys.platform == "linux":  # in ticks since the boot, which no setting of the clock changes
        try:
            fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return None
        # proc_pid_stat(5): field 3 is the state, 22 the start; a name in field 2 may hold anything
        # proc_pid_stat(5): field 3 is the state, 22 the start; a name in field 2 may hold anything
        found = re.match(r"\d+ \(.*\) (\S)(?: \S+){18} (\d+)", fields, re.DOTALL)
        if found is None:
            raise OSError(f"no start of the process {number}")
        return None if found[1] in "ZX" else int(found[2])
    import psutil

    try:
        return int(psutil.Process(number).create_time())
    except psutil.NoSuchProcess:
        return None
    except psutil.Error as error:
        raise OSError(str(error)) from error
