"""Worker processes, some per device: blocks go out, results come back in the order of the blocks.

A process per device and not a thread: tokenising, and whatever else Python does for a row, holds the
interpreter's lock, and one process of it cannot feed two GPUs (docs/adr/0037-several-devices-and-ray.md).
Each worker holds two blocks at most, so that it never waits for the next one and memory stays bounded. A
worker that fails or is killed costs its blocks only: they go to the others.
"""

from __future__ import annotations

import itertools
import logging
import multiprocessing
import os
import queue
import signal
import sys
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.ml.parallel.threads import threads_each
from sce_desktop.ml.parallel.waiting import sleep_while_waiting

AHEAD = 2
"""Blocks that a worker holds: one that it works on, and the next."""
WAITING = 4
"""Blocks per worker that have been handed out and not been yielded yet, at most."""
TRIES = 2
"""Workers that a block may cost before it is taken for the culprit."""
MOST_PER_GPU = 12
MEMORY_PER_PROCESS = 2_000_000_000
"""Bytes of a GPU's memory: a context of CUDA, the weights, and batches."""
_POLL_S = 0.1
_SWITCH_S = 0.0005
"""A block comes in many parts, and the thread that takes them asks for Python's lock at each: with the usual
5 ms the process that sends would wait so long for every part."""

_log = logging.getLogger(__name__)


class Opener(Protocol):
    """What a worker does, before it is opened on a device. It is pickled, so its class is a module's own."""

    def open(self, device: str) -> Callable[[Any], Any]:
        """Return what makes a result of a block on ``device``; called once, in the worker."""


def cores() -> int:
    """Return how many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processes_for(devices: Sequence[str], *, per_gpu: int | None = None) -> list[str]:
    """Return the device of each worker process.

    One for each CPU "device"; for a GPU as many as the cores allow beside this process, and as have room in
    its memory, up to `MOST_PER_GPU`: one process cannot read and write as fast as a GPU scores. The first
    processes are on different devices.
    """
    share = per_gpu or max(1, min(MOST_PER_GPU, (cores() - 1) // max(1, len(devices))))
    room = {device: 1 if device.startswith("cpu") else per_gpu or _room(device) for device in devices}
    return [device for turn in range(share) for device in devices if turn < max(1, room[device])]


def _room(device: str) -> int:
    """Return how many processes have room in the memory of ``device``; any number where that is unknown."""
    import torch

    if not device.startswith("cuda"):
        return MOST_PER_GPU
    return int(torch.cuda.get_device_properties(device).total_memory // MEMORY_PER_PROCESS)


@dataclass(eq=False)
class _Worker:
    device: str
    process: Any
    connection: Connection
    held: dict[int, Any] = field(default_factory=dict)  # blocks by number, in the order sent
    opened: bool = False


class WorkerPool:
    """Processes that are started at once and live until `close`, or until nobody holds the pool.

    Args:
        opener: What they do.
        devices: The device of each process, as `processes_for` gives them.

    Each process gets its share of the cores for tokenising and for torch on a CPU.
    """

    def __init__(self, opener: Opener, devices: Sequence[str]) -> None:
        if not devices:
            raise ValueError("a pool needs a device")
        share = max(1, cores() // len(devices))
        context = multiprocessing.get_context("spawn")  # CUDA cannot be used after a fork
        self._workers: list[_Worker] = []
        self._numbers = itertools.count()
        self._reason = ""  # why the last worker was lost
        with threads_each(share):
            for device in devices:
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, opener, device), daemon=True)
                process.start()
                theirs.close()  # else its end would never be noticed
                self._workers.append(_Worker(device, process, ours))
        self._finalizer = weakref.finalize(self, _end, self._workers)

    @property
    def process_ids(self) -> list[int]:
        """Of the workers that are left."""
        return [worker.process.pid for worker in self._workers]

    @property
    def devices(self) -> list[str]:
        """Of the workers that are left."""
        return [worker.device for worker in self._workers]

    def close(self) -> None:
        """End all processes."""
        self._finalizer()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def map(self, blocks: Iterable[Any], progress: Progress) -> Iterator[Any]:
        """Yield the result of each of ``blocks``, in their order. They are read as workers have room.

        Warns of a device that fails; its blocks go to the others.

        Raises:
            UserError: No worker is left, or a block has cost `TRIES` of them.
            Cancelled: By ``progress``, within a fifth of a second.
        """
        source = enumerate(blocks)
        again: deque[tuple[int, Any]] = deque()  # blocks of lost workers
        tries: dict[int, int] = {}
        ended, read, yielded = False, 0, 0
        done: dict[int, Any] = {}
        sent: dict[int, int] = {}  # place by number on the wire
        while True:
            while yielded in done:
                yield done.pop(yielded)
                yielded += 1
            if ended and yielded == read:
                return
            for worker in self._by_room():
                if again:
                    place, block = again.popleft()
                elif ended or read - yielded >= WAITING * len(self._workers):
                    break
                elif (following := next(source, None)) is None:
                    ended = True
                    break
                else:
                    place, block = following
                    read += 1
                number = next(self._numbers)
                sent[number] = place
                worker.held[number] = block
                with suppress(OSError):  # it is gone: `_received` notices
                    worker.connection.send((number, block))
            progress.check()
            if yielded in done or (ended and yielded == read):
                continue
            for worker in self._ready():
                message = _received(worker)
                if message is None or message[0] == "failed":
                    lost = self._lose(worker, message, progress)
                    for turn, (number, block) in enumerate(lost):
                        if (found := sent.pop(number, None)) is None:
                            continue  # of a call that was given up
                        if turn == 0 and worker.opened:  # it was at work on this one
                            tries[found] = tries.get(found, 0) + 1
                        if tries.get(found, 0) >= TRIES:
                            raise UserError(_two_failed(self._reason))
                        again.append((found, block))
                elif message[0] == "ready":
                    worker.opened = True
                else:
                    worker.held.pop(message[1], None)
                    if (found := sent.pop(message[1], None)) is not None:
                        done[found] = message[2]

    def _by_room(self) -> Iterator[_Worker]:
        """Yield the workers that may take a block, those with none first, until all are full."""
        for held in range(AHEAD):
            for worker in list(self._workers):
                if len(worker.held) <= held:
                    yield worker

    def _ready(self) -> list[_Worker]:
        ready = wait([worker.connection for worker in self._workers], timeout=_POLL_S)
        return [worker for worker in self._workers if worker.connection in ready]

    def _lose(self, worker: _Worker, message: Any, progress: Progress) -> list[tuple[int, Any]]:
        """Take ``worker`` out; return the blocks that it held.

        Raises:
            UserError: It was the last one.
        """
        self._workers.remove(worker)
        worker.process.join(1.0)
        if message is not None:
            self._reason = message[1]
            _log.warning("A worker on %s failed:\n%s", worker.device, message[2])
        else:
            self._reason = _("its process ended ({code}).", code=worker.process.exitcode)
            _log.warning("A worker on %s ended with %s.", worker.device, worker.process.exitcode)
        worker.connection.close()
        worker.process.kill()
        if not self._workers:
            raise UserError(
                _(
                    "{device} failed, and no other is left: {reason}",
                    device=worker.device,
                    reason=self._reason,
                )
            )
        progress.warn(
            _(
                "A worker on {device} failed, and others do its rows: {reason}",
                device=worker.device,
                reason=self._reason,
            )
        )
        return list(worker.held.items())


def _two_failed(reason: str) -> str:
    return _("The same rows made two workers fail: {reason}", reason=reason)


def _end(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.process.kill()
    for worker in workers:
        worker.process.join()
        worker.connection.close()
    workers.clear()


def _received(worker: _Worker) -> Any:
    try:
        return worker.connection.recv()
    except (EOFError, OSError):
        return None


def _serve(connection: Connection, opener: Opener, device: str) -> None:
    """Work until the other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C goes to all of a terminal: the parent ends us
    sleep_while_waiting(device)
    sys.setswitchinterval(_SWITCH_S)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    try:
        work = opener.open(device)
        connection.send(("ready",))
        # It takes what is sent at once, so that neither end waits for the other to read.
        threading.Thread(target=_fill, args=(connection, inbox), daemon=True).start()
        while (message := inbox.get()) is not None:
            connection.send(("done", message[0], work(message[1])))
    except Exception as error:
        with suppress(OSError):
            connection.send(("failed", _sentence(error), traceback.format_exc()))


def _fill(connection: Connection, inbox: queue.SimpleQueue[Any]) -> None:
    with suppress(EOFError, OSError):
        while True:
            inbox.put(connection.recv())
    inbox.put(None)


def _sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else ""
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}".rstrip(": ")
