"""Workers on a Ray cluster: an existing one, or one of this machine that ends with the pool.

Ray places an actor on each share of CPUs and GPUs, starts it again elsewhere where its process or machine is
lost, and gives it its task again. What the task is made of (`ml.parallel.pool.Opener`) knows nothing of Ray.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import logging
import math
import os
import secrets
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError, reason_of
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.ml.parallel.pool import Opener, cores
from sce_desktop.temporary import make_folder, remove_folder

AHEAD = 2
"""Tasks that an actor holds."""
TRIES = 3
"""How often a task is given to another process when its own is lost."""
WAITING = 4
_POLL_S = 0.2
_ANSWERS_S = 10.0  # within which a cluster takes a connection
_STARTS = 3
"""Times that a cluster of this machine is started before that is given up: Ray's own limits are short."""
_OBJECT_STORE = 200_000_000  # bytes, of a cluster of this machine: only parts' names and reports pass

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RayWish:
    """Where to work: ``address`` of a cluster, empty: on this machine.

    ``workers``: how many, 0: as many as fit; ``cpus`` and ``gpus``: what each takes, in parts of one too.
    """

    address: str = ""
    workers: int = 0
    cpus: float = 1.0
    gpus: float = 0.0


def check_installed() -> None:
    """Raise a `UserError` that says how to install Ray where it is not."""
    if importlib.util.find_spec("ray") is None:
        raise UserError(_('Ray is not installed: run pip install "sce-desktop[ray]".'))


class RayWorker:
    """The actor: opens its task when the first block comes, so that what is wrong with it can be reported."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._work: Callable[[Any], Any] | None = None

    def do(self, held: list[Any], block: Any) -> Any:
        """Return the result of ``block``. ``held`` has the reference of the task, which the driver holds."""
        if self._work is None:
            import ray

            # Of tokenizers: else each of them takes all cores of the machine. Ray sets the other for torch.
            os.environ.setdefault("RAYON_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
            opener: Opener = ray.get(held[0])
            self._work = opener.open(self._device)
        return self._work(block)


class RayCluster:
    """A connection to Ray, from ``with`` to its end."""

    def __init__(self, wish: RayWish) -> None:
        self.wish = wish
        self._folder: Path | None = None
        self._at_work: RayPool | None = None

    def __enter__(self) -> RayCluster:
        check_installed()
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is reported to anybody
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_agent_register_timeout_ms", "120000")
        if not self.wish.address:
            # A token of its own, else Ray keeps one in the user's home; the mode too, else it prints advice.
            os.environ.setdefault("RAY_AUTH_MODE", "token")  # before Ray is imported, which looks once
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        import ray

        for left in reversed(range(_STARTS)):
            try:
                self._start(ray)
                return self
            except Exception as error:  # Ray raises bare ones
                ray.shutdown()
                self._remove()
                if self.wish.address:
                    raise _unreachable(self.wish.address, error) from None
                if not left:
                    raise UserError(
                        _(
                            "Ray could not be started ({reason}): try again, or leave out --engine ray.",
                            reason=reason_of(error),
                        )
                    ) from None
                _log.warning("Ray did not start, which a busy machine may do: %s", error)
        return self

    def _start(self, ray: Any) -> None:
        quiet: dict[str, Any] = {"configure_logging": False, "log_to_driver": False, "logging_level": "error"}
        if self.wish.address:
            _check_listening(self.wish.address)
            ray.init(address=self.wish.address, **quiet)
            return
        self._folder = make_folder(for_sockets=True)
        # Registered before Ray does, so that it runs after: what a failed start leaves writes until then.
        atexit.register(remove_folder, self._folder)
        # Ray's workers give way to everything else that runs (15); those of `WorkerPool` do not.
        os.environ.setdefault("RAY_worker_niceness", "0")
        # Ray puts the machine's address in the place of 127.0.0.1, where others could reach it.
        loopback = {"_node_ip_address": "127.0.0.2"} if sys.platform == "linux" else {}
        ray.init(
            num_cpus=max(cores(), math.ceil(self.wish.workers * self.wish.cpus)),
            include_dashboard=False,
            object_store_memory=_OBJECT_STORE,
            _temp_dir=str(self._folder),
            **loopback,
            **quiet,
        )

    def __exit__(self, *_: object) -> None:
        import ray

        ray.shutdown()
        self._remove()

    def _remove(self) -> None:
        if self._folder is not None:
            _end_processes_of(str(self._folder))
            remove_folder(self._folder)
            self._folder = None

    @property
    def workers(self) -> int:
        """How many there will be."""
        return self.wish.workers or _fitting(self.wish)

    def pool(self, opener: Opener) -> RayPool:
        """Return workers that do as ``opener`` says."""
        return RayPool(opener, self.wish, self._turn)

    def _turn(self, pool: RayPool) -> None:
        """Let ``pool`` work. Two would wait for each other: the actors of one may fill the cluster."""
        if self._at_work is not None and self._at_work is not pool:
            self._at_work.close()
        self._at_work = pool


def _unreachable(address: str, error: Exception) -> UserError:
    _log.warning("The cluster was not reached: %s", error)
    if isinstance(error, OSError):  # Ray's own ConnectionError too
        return UserError(
            _(
                "There is no Ray cluster at {address} ({reason}): check the address, or start one there by "
                "“ray start --head”.",
                address=address,
                reason=reason_of(error),
            )
        )
    return UserError(
        _(
            "The Ray cluster at {address} cannot be used ({reason}): check that it has the same versions of "
            "Python and Ray as this machine.",
            address=address,
            reason=reason_of(error),
        )
    )


def _check_listening(address: str) -> None:
    """Raise OSError where nobody answers at ``address``, HOST:PORT; Ray tries for ten minutes.

    Of other forms, `auto` or a URL, nothing is known here.
    """
    host, _colon, port = address.rpartition(":")
    if host and "/" not in host and port.isdecimal() and int(port) < 1 << 16:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWERS_S).close()


def _end_processes_of(folder: str) -> None:
    """End what a start that failed has left running, which Ray itself does only when this process ends."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            if parent == str(os.getpid()) and folder.encode() in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)


class RayPool:
    """Actors on the cluster that this process is connected to. Its `map` is that of a `WorkerPool`.

    They start with the first `map`, and with the next one after a `close`. ``turn`` is called before each.

    Raises:
        UserError: No worker fits on the cluster.
    """

    def __init__(self, opener: Opener, wish: RayWish, turn: Callable[[RayPool], None]) -> None:
        import ray

        self.workers = wish.workers or _fitting(wish)
        self._wish, self._turn = wish, turn
        self._held = [ray.put(opener)]  # fetched once per machine, not per worker
        self._actors: list[Any] = []

    def _start(self) -> None:
        import ray

        wish = self._wish
        actor = ray.remote(RayWorker).options(
            num_cpus=wish.cpus, num_gpus=wish.gpus, max_restarts=-1, max_task_retries=TRIES
        )
        device = "cuda" if wish.gpus else "cpu"
        self._actors = [actor.remote(device) for _worker in range(self.workers)]

    def __enter__(self) -> RayPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the actors."""
        import ray

        for actor in self._actors:
            with contextlib.suppress(Exception):  # the cluster may be gone
                ray.kill(actor)
        self._actors = []

    def map(self, blocks: Iterable[Any], progress: Progress, *, ordered: bool = True) -> Iterator[Any]:
        """Yield the result of each of ``blocks``, in their order or, if not ``ordered``, as they come.

        Raises:
            UserError: What a worker says, or a block has cost `TRIES` workers.
            Cancelled: By ``progress``.
        """
        import ray

        self._turn(self)
        if not self._actors:
            self._start()
        source = enumerate(blocks)
        under_way: dict[Any, tuple[int, Any]] = {}  # (place, actor) by reference
        free = deque(actor for _turn in range(AHEAD) for actor in self._actors)
        done: dict[int, Any] = {}
        yielded, read, ended = 0, 0, False
        while True:
            while done and (not ordered or yielded in done):
                yield done.pop(yielded if ordered else next(iter(done)))
                yielded += 1
            if ended and yielded == read:
                return
            while free and not ended and read - yielded < WAITING * len(self._actors):
                if (following := next(source, None)) is None:
                    ended = True
                    break
                actor = free.popleft()
                under_way[actor.do.remote(self._held, following[1])] = following[0], actor
                read += 1
            progress.check()
            if not under_way:
                continue
            ready, _rest = ray.wait(list(under_way), num_returns=1, timeout=_POLL_S)
            for reference in ready:
                place, actor = under_way.pop(reference)
                done[place] = _result(reference)
                free.append(actor)


def _fitting(wish: RayWish) -> int:
    import ray

    there = ray.cluster_resources()
    counts = [there.get("CPU", 0.0) / wish.cpus] if wish.cpus else []
    counts += [there.get("GPU", 0.0) / wish.gpus] if wish.gpus else []
    fitting = int(min(counts, default=1) + 1e-6)
    if not fitting:
        raise UserError(
            _(
                "The cluster has {cpus} CPUs and {gpus} GPUs, too few for one worker: ask for less per "
                "worker.",
                cpus=f"{there.get('CPU', 0.0):g}",
                gpus=f"{there.get('GPU', 0.0):g}",
            )
        )
    return fitting


def _result(reference: Any) -> Any:
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, UserError):
            raise UserError(str(cause)) from None
        raise
    except ray.exceptions.RayActorError as error:
        _log.warning("A worker was lost for good: %s", error)
        raise UserError(
            _("Workers were lost again and again with the same rows: see the log of the cluster.")
        ) from None
