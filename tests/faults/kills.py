"""Kill a program in the middle of what it does, open what it left, and compare with what it acknowledged.

This process has imported everything and starts no thread; each operation, and each check, is a child forked
from it. A child tells by a pipe what the program has acknowledged, as soon as it has.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Protocol

PATIENCE_S = 300.0
BEGUN = "begun"
ENDED = "ended"
Tell = Callable[[str], None]


@dataclass
class Found:
    """What came of one kill, or of many."""

    kills: int = 0
    in_the_middle: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    litter: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Count another's."""
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Operation(Protocol):
    """Something that the program does, over and over until it is killed."""

    name: str
    share: float  # of the kills, beside those of the others
    steps: int  # it is killed within so many acknowledgements
    slow_start: bool  # it tells itself when it has begun

    def prepare(self, material: Path, folder: Path) -> None:
        """Put files into the empty ``folder``. In the parent: no database may be opened here."""

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        """Work until killed; tell each time that the program has acknowledged something."""

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        """Open what is left, as the next start does, and note what is wrong. What may stay is removed."""


def rehearse(
    operations: Sequence[Operation],
    material: Path,
    place: Path,
    kills: int,
    seed: int,
    spans: dict[str, float],
    *,
    seconds: float = math.inf,
) -> dict[str, Found]:
    """Kill ``kills`` times, shared out over the operations, and return what was found by name.

    ``spans``: by operation, see `measure`. After ``seconds`` no more.
    """
    end = time.monotonic() + seconds
    order = _shared_out(operations, kills)
    random.Random(seed).shuffle(order)
    counts = {operation.name: Found() for operation in operations}
    for number, operation in enumerate(order):
        if time.monotonic() > end:
            break
        found = kill_once(
            operation,
            material,
            place / str(number),
            seed=seed * 1_000_003 + number,
            seconds=spans[operation.name],
        )
        counts[operation.name].add(found)
        if found.lost or found.damaged or found.litter:
            print(f"seed {seed * 1_000_003 + number}, {operation.name}: {found}", flush=True)
    return counts


def _shared_out(operations: Sequence[Operation], kills: int) -> list[Operation]:
    whole = sum(operation.share for operation in operations)
    order = [op for op in operations for _ in range(int(kills * op.share / whole) or 1)]
    while len(order) < kills:  # what is left by rounding
        order.append(operations[len(order) % len(operations)])
    return order[:kills]


def measure(operation: Operation, material: Path, folder: Path, seed: int) -> float:
    """Return how many seconds the first acknowledgements take on this machine, as busy as it is."""
    (folder / "files").mkdir(parents=True)
    operation.prepare(material, folder / "files")
    child, reader = _fork(_working(operation, folder, seed), folder)
    began, lines, said = 0.0, 0, b""
    while lines <= operation.steps and (data := os.read(reader, 1 << 16)):
        said += data
        lines = said.count(b"\n")
        began = began or time.monotonic()
    seconds = time.monotonic() - began
    os.kill(child, signal.SIGKILL)
    os.close(reader)
    os.waitpid(child, 0)
    if lines < 2:
        raise DiedError((folder / "output.txt").read_text(encoding="utf-8", errors="replace"))
    shutil.rmtree(folder)
    return seconds


def kill_once(operation: Operation, material: Path, folder: Path, *, seed: int, seconds: float) -> Found:
    """Kill one operation once; the folder is removed if all is well.

    ``seed`` draws after which acknowledgement, and how far into what comes next. ``seconds``: see `measure`.
    """
    files = folder / "files"
    files.mkdir(parents=True)
    operation.prepare(material, files)
    try:
        told, in_the_middle = _work_and_kill(operation, folder, seed, seconds)
        found = _checked(operation, folder, seed, told)
        found.in_the_middle = int(in_the_middle)
    except DiedError as death:
        found = Found(damaged=[str(death)])
    found.kills = 1
    if not (found.lost or found.damaged or found.litter):
        shutil.rmtree(folder)
    return found


class DiedError(Exception):
    """A child ended by itself, with what it said."""


def _working(operation: Operation, folder: Path, seed: int) -> Callable[[Tell], None]:
    def work(tell: Tell) -> None:
        if not operation.slow_start:
            tell(BEGUN)
        operation.work(folder / "files", random.Random(seed), tell)
        tell(ENDED)

    return work


def _work_and_kill(operation: Operation, folder: Path, seed: int, seconds: float) -> tuple[list[str], bool]:
    child, reader = _fork(_working(operation, folder, seed), folder)
    said, ended = _read(reader, until=f"{BEGUN}\n".encode(), seconds=PATIENCE_S)
    draw, began = random.Random(f"moment {seed}"), time.monotonic()
    steps = draw.randrange(operation.steps)
    while not ended and said.count(b"\n") <= steps:  # the first line says that it has begun
        more = os.read(reader, 1 << 16)
        said, ended = said + more, not more or more.endswith(f"{ENDED}\n".encode())
    if not ended:  # and somewhere in what comes next, as fast as this child is
        step = (time.monotonic() - began) / steps if steps else seconds / operation.steps
        more, _ = _read(reader, until=f"{ENDED}\n".encode(), seconds=draw.uniform(0, 1.5 * step))
        said += more
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    said += _read(reader, until=None, seconds=PATIENCE_S)[0]
    os.close(reader)
    _, status = os.waitpid(child, 0)
    told = said.decode().splitlines()
    if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL) and ENDED not in told:
        output = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
        raise DiedError(f"{operation.name} ended by itself (status {status}):\n{output[-3000:]}")
    return [line for line in told if line not in (BEGUN, ENDED)], ENDED not in told


def _checked(operation: Operation, folder: Path, seed: int, told: Sequence[str]) -> Found:
    def check(tell: Tell) -> None:
        from sce_desktop.temporary import sweep

        sweep()  # as the next start of the program does
        found = Found()
        operation.check(folder / "files", random.Random(seed), told, found)
        places = ((folder / "files", "."), (folder / "tmp", "tmp"), (folder / "home/cache/temporary", "list"))
        for place, name in places:
            with contextlib.suppress(FileNotFoundError):
                found.litter += [f"{name}/{file.name}" for file in sorted(place.iterdir())]
        tell(json.dumps(vars(found)))

    child, reader = _fork(check, folder)
    said, _ = _read(reader, until=None, seconds=PATIENCE_S)
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not said:
        output = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
        raise DiedError(
            f"what {operation.name} left could not be checked (told {list(told)}):\n{output[-3000:]}"
        )
    return Found(**json.loads(said))


# --- children ----------------------------------------------------------------------------------------------


def _fork(work: Callable[[Tell], None], folder: Path) -> tuple[int, int]:
    """Run ``work`` in a child; return its number and where to read what it tells."""
    if (threads := len(os.listdir("/proc/self/task"))) != 1:  # noqa: PTH208 - nothing to make paths of
        raise RuntimeError(f"a process of {threads} threads cannot be forked safely")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _in_child(work, folder, writer)
    os.close(writer)
    return child, reader


def _in_child(work: Callable[[Tell], None], folder: Path, writer: int) -> NoReturn:
    code = 1
    try:
        with (folder / "output.txt").open("ab") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        (folder / "tmp").mkdir(exist_ok=True)
        os.environ["SCE_DESKTOP_HOME"] = str(folder / "home")
        os.environ["TMPDIR"], tempfile.tempdir = str(folder / "tmp"), None
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(folder / "files")

        def tell(line: str) -> None:
            os.write(writer, f"{line}\n".encode())

        work(tell)
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _read(reader: int, *, until: bytes | None, seconds: float) -> tuple[bytes, bool]:
    """Return what comes until a line ``until``, the end or so many seconds; and whether it was the end.

    For the end counts also that line, unless it is the beginning.
    """
    said = b""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0 and select.select([reader], [], [], left)[0]:
        data = os.read(reader, 1 << 16)
        if not data:
            return said, True
        said += data
        if until is not None and said.endswith(until):
            return said, until != f"{BEGUN}\n".encode()
    return said, False


# --- the table ---------------------------------------------------------------------------------------------


def table(counts: dict[str, Found]) -> str:
    """Return what came of the kills as a table, with a line for all of them."""
    whole = Found()
    for found in counts.values():
        whole.add(found)
    lines = [["operation", "kills", "in the middle", "acknowledged", "lost", "damaged", "litter"]]
    for name, found in [*counts.items(), ("all", whole)]:
        figures = (found.kills, found.in_the_middle, found.acknowledged)
        lists = (len(found.lost), len(found.damaged), len(found.litter))
        lines.append([name, *(f"{figure:,}" for figure in (*figures, *lists))])
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    rows = [
        " | ".join(
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    rule = " | ".join("-" * width for width in widths)
    return "\n".join(f"| {row} |" for row in (rows[0], rule, *rows[1:]))
