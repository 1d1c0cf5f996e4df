"""``classify --engine ray`` with actors on GPUs, and a stand-in for Ray, whose wheel of 79 MB is not carried.

`RayPool`, `RayWorker` and what they do with a part are the program's own. Only the few calls of Ray that they
make are replaced: an actor is a spawned process that sees its card alone and has the threads that Ray would
give it. ``python -m tests.benchmarks.gpu_actors --data FOLDER``; without a GPU the actors work on the CPU.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch

from sce_desktop.core.annotations import Label
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.tasks.cluster.classify import classify_on_cluster
from sce_desktop.tasks.cluster.ray_pool import RayPool, RayWish
from sce_desktop.tasks.scoring.classify import ClassifySettings
from tests.benchmarks.gpus import Clock, write_halves
from tests.benchmarks.measure import machine, print_table

_actor: Any = None  # of this process


class _TaskError(Exception):
    """Never raised here: an error of an actor comes as it is."""


class _Actor:
    def __init__(self, kind: type, device: str, environment: dict[str, str]) -> None:
        self.do = SimpleNamespace(remote=self._do)
        self._process = ProcessPoolExecutor(1, get_context("spawn"))
        with mock.patch.dict(os.environ, environment):
            self._process.submit(_begin, kind, device)  # starts the process, which keeps the environment

    def _do(self, held: list[Any], block: Any) -> Future[Any]:
        return self._process.submit(_work, held, block)

    def end(self) -> None:
        self._process.shutdown(cancel_futures=True)


def _begin(kind: type, device: str) -> None:
    global _actor
    sys.modules["ray"] = stand_in()
    _actor = kind(device)


def _work(held: list[Any], block: Any) -> Any:
    return _actor.do(held, block)


class _Remote:
    """What ``ray.remote`` makes of a class: the first actors are on the first card until it is full."""

    def __init__(self, kind: type) -> None:
        self._kind, self._made = kind, 0

    def options(self, *, num_cpus: float, num_gpus: float, **_retries: int) -> _Remote:
        self._cpus, self._gpus = num_cpus, num_gpus
        return self

    def remote(self, device: str) -> _Actor:
        environment = {"OMP_NUM_THREADS": str(max(1, int(self._cpus)))}
        if self._gpus:
            environment["CUDA_VISIBLE_DEVICES"] = str(int(self._made * self._gpus + 1e-6))
        self._made += 1
        return _Actor(self._kind, device, environment)


def stand_in() -> Any:
    """Return what `ray_pool` asks of Ray."""
    return SimpleNamespace(
        put=lambda value: value,
        get=lambda held: held.result() if isinstance(held, Future) else held,
        wait=lambda futures, num_returns, timeout: wait(futures, timeout, FIRST_COMPLETED),
        remote=_Remote,
        kill=_Actor.end,
        exceptions=SimpleNamespace(RayTaskError=_TaskError, RayActorError=BrokenProcessPool),
    )


def run(args: argparse.Namespace) -> None:
    """Print rows per second of each way, and whether the parts are those of the first."""
    sys.modules["ray"] = stand_in()
    lines: list[list[str]] = []
    alone: dict[int, float] = {}  # the last of one card, by actors on it
    first: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names, tokens = write_halves(folder / "table.csv", args.data, args.model, args.rows, 10)
        print(f"{args.rows:,} texts, mean of {tokens:.1f} tokens, {len(names)} labels", flush=True)
        for way in args.ways:
            cards, each = map(int, way.split("x"))
            gpus = 1 / each if torch.cuda.is_available() else 0.0
            clock, started = Clock("classifying parts"), time.perf_counter()
            wish = RayWish(workers=cards * each, cpus=args.cpus, gpus=gpus)
            report = classify_on_cluster(
                str(folder / "table.csv"),
                str(folder / "out.csv"),
                ClassifySettings(args.model),
                text_columns=["text"],
                labels=[Label(name) for name in names],
                source=ModelSession("auto"),
                start_pool=lambda opener, wish=wish: RayPool(opener, wish, lambda _pool: None),  # type: ignore[misc]
                part_bytes=(folder / "table.csv").stat().st_size // args.parts,
                force=True,
                progress=clock,
            )
            seconds = time.perf_counter() - started
            rate = clock.rate(0.25) * report.rows / report.parts
            alone |= {each: rate} if cards == 1 else {}
            found = {path.name: path.read_bytes() for path in (folder / "out.csv").glob("part-*")}
            first = first or found
            unlike = sum(first.get(name) != found.get(name) for name in first.keys() | found.keys())
            efficiency = f"{rate / (cards * alone[each]):.2f}" if each in alone else ""
            same = f"{len(found)} parts, {unlike} with other bytes"
            lines.append([way, f"{rate:,.0f}", f"{report.rows / seconds:,.0f}", efficiency, same])
            print(*lines[-1], report.precision, sep="; ", flush=True)
    header = ["cards x actors on each", "rows/s once started", "rows/s with start", "efficiency"]
    print_table("classify --engine ray, stand-in for Ray", [*header, "beside the first"], lines)


def main() -> None:
    """Run the ways that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.gpu_actors", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with benchmark/")
    parser.add_argument("--model", default="sce-mini")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--parts", type=int, default=96)
    parser.add_argument("--cpus", type=float, default=1.0, help="of an actor, as --worker-cpus")
    parser.add_argument("--ways", nargs="+", default=["1x1", "2x1", "1x8", "2x8"], help="cards x actors")
    print(machine())
    run(parser.parse_args())


if __name__ == "__main__":
    main()
