"""Training on several devices: this process leads, one process for each other device follows."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.ml.parallel.threads import threads_each
from sce_desktop.research.pretrain.config import PretrainConfig
from sce_desktop.research.pretrain.ranks import Ranks
from sce_desktop.research.pretrain.train import Trainer
from sce_desktop.temporary import temporary_folder

_POLL_S = 0.2
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Followers:
    """What the processes that follow are to train: a member of a configuration file."""

    config_path: Path
    member: str
    state: Path  # folder of the unfinished training, if there is one
    devices: tuple[str, ...]  # of all ranks, the leader's first


def check_devices(config: PretrainConfig, count: int) -> None:
    """Raise UserError where a batch cannot be shared by ``count`` devices."""
    groups = config.mixture.groups
    if groups % count:
        raise UserError(
            f"mixture.groups is {groups}, which {count} devices cannot share equally: make it a multiple."
        )


@contextmanager
def led(trainer: Trainer, followers: Followers, progress: Progress) -> Iterator[Progress]:
    """Let ``trainer`` train together with ``followers``; give the progress to train with.

    Its `Progress.check` raises UserError where a process that follows has ended. All of them end with the
    block.
    """
    context = multiprocessing.get_context("spawn")
    count, threads = len(followers.devices), torch.get_num_threads()
    # On a GPU more threads of the processor only wait for each other, beside those who draw batches.
    share = 1 if trainer.device.type == "cuda" else max(1, threads // count)
    with temporary_folder() as folder:
        meeting = folder / "meeting"
        processes: list[Any] = []
        pipes: list[Connection] = []
        try:
            torch.set_num_threads(share)
            for rank in range(1, count):
                ours, theirs = context.Pipe()
                process = context.Process(target=_follow, args=(theirs, followers, rank, str(meeting)))
                with threads_each(share):
                    process.start()
                theirs.close()
                processes.append(process)
                pipes.append(ours)
            watched = _Watching(progress, followers.devices[1:], processes, pipes)
            watched.wait_until_ready()  # whoever joins waits for the others, whatever became of them
            try:
                _join(trainer, Ranks(0, count), meeting)
                yield watched
            except RuntimeError:  # the connection to one that failed
                wait([process.sentinel for process in processes], timeout=2.0)
                watched.check()
                raise
        finally:
            torch.set_num_threads(threads)
            trainer.ranks = None
            _leave(trainer, together=trainer.step_number >= trainer.config.optim.steps)
            for pipe in pipes:
                pipe.close()  # which they wait for
            for process in processes:
                process.join(2.0)
                process.kill()
                process.join()


class _Watching:
    """Passes on what ``progress`` does, and checks that all processes that follow are there."""

    def __init__(
        self,
        progress: Progress,
        devices: Sequence[str],
        processes: Sequence[Any],
        pipes: Sequence[Connection],
    ) -> None:
        self._progress = progress
        self._followers = list(zip(devices, processes, pipes, strict=True))
        self._reasons: dict[int, str] = {}

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Pass it on."""
        self._progress.report(done, total, stage=stage)

    def warn(self, message: str) -> None:
        """Pass it on."""
        self._progress.warn(message)

    def wait_until_ready(self) -> None:
        """Return once all have read the sets and the weights; raises what `check` does."""
        self.report(0, None, stage="Starting the other devices")
        for _device, _process, pipe in self._followers:
            while not pipe.poll(_POLL_S):
                self.check()
            if self._failure(pipe):
                self.check()

    def _failure(self, pipe: Connection) -> str:
        """Return what a process that follows has said went wrong, if anything."""
        with suppress(EOFError, OSError):
            if pipe.poll():
                reason, details = pipe.recv()
                if reason:
                    self._reasons[id(pipe)] = str(reason)
                    _log.warning("Training on another device failed:\n%s", details)
        return self._reasons.get(id(pipe), "")

    def check(self) -> None:
        """Raise `Cancelled` if the user wants to stop, UserError if a device has failed."""
        self._progress.check()
        for device, process, pipe in self._followers:
            reason = self._failure(pipe)
            if reason or not process.is_alive():
                raise UserError(
                    f"Training on {device} failed: {reason or f'its process ended ({process.exitcode}).'}"
                )


def _join(trainer: Trainer, ranks: Ranks, meeting: Path) -> None:
    device = trainer.device
    if device.type == "cuda":
        torch.cuda.set_device(device.index or 0)  # "cuda" without a number is the first one
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, init_method=meeting.as_uri(), rank=ranks.rank, world_size=ranks.count)
    ranks.same_weights(trainer.parameters)
    if ranks.rank:  # dropout and noise differ between ranks
        torch.manual_seed(trainer.config.optim.seed + 1_000_003 * ranks.rank + trainer.step_number)
    trainer.ranks = ranks


def _leave(trainer: Trainer, *, together: bool) -> None:
    """End the group of processes. With NCCL that waits for the others, who do so only after the last step."""
    if not dist.is_initialized() or (trainer.device.type == "cuda" and not together):
        return
    if trainer.device.type == "cuda":
        torch.cuda.synchronize(trainer.device)  # steps under way need the others
    dist.destroy_process_group()


def _follow(pipe: Connection, followers: Followers, rank: int, meeting: str) -> None:
    """Train as the leader does until its end of the pipe closes."""
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl+C is the leader's; and the processes that draw batches end with this one
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    try:
        from sce_desktop.research.pretrain.run import member_trainer

        device = torch.device(followers.devices[rank])
        trainer = member_trainer(followers.config_path, followers.member, followers.state, device)
        pipe.send(("", "ready"))
        _join(trainer, Ranks(rank, len(followers.devices)), Path(meeting))
        trainer.run(SilentProgress())
        _leave(trainer, together=True)
        threading.Event().wait()  # for the leader, which may validate, write and then close
    except Exception as error:
        with suppress(OSError):
            lines = str(error).strip().splitlines() or [type(error).__name__]
            pipe.send((lines[0], traceback.format_exc()))
        os._exit(1)


def _end_with(pipe: Connection) -> None:
    with suppress(EOFError, OSError):
        pipe.recv()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
