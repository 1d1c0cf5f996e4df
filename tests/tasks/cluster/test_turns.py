"""Pools on a cluster that has room for one of them, without Ray: what is asked of it is counted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sce_desktop.core.progress import SilentProgress
from sce_desktop.tasks.cluster.ray_pool import RayCluster, RayWish


class Actor:
    """Takes one of the CPUs until it is killed."""

    def __init__(self, cluster: FullCluster, worker: Any) -> None:
        assert cluster.free, "it would wait for ever"
        cluster.free -= 1
        self.cluster = cluster
        self.do = SimpleNamespace(remote=lambda held, block: worker.do(held, block))


class FullCluster(ModuleType):
    """As much of `ray` as a pool asks for; references are the things themselves."""

    def __init__(self, cpus: int) -> None:
        super().__init__("ray")
        self.free = cpus

    def put(self, thing: Any) -> Any:
        return thing

    def get(self, reference: Any) -> Any:
        return reference

    def kill(self, actor: Actor) -> None:
        self.free += 1

    def wait(self, references: list[Any], **_rest: object) -> tuple[list[Any], list[Any]]:
        return references[:1], references[1:]

    def remote(self, kind: type) -> Any:
        def options(**_rest: object) -> Any:
            return SimpleNamespace(remote=lambda *arguments: Actor(self, kind(*arguments)))

        return SimpleNamespace(options=options)


class Times:
    """Multiplies what comes."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def open(self, device: str) -> Callable[[int], int]:
        return lambda block: self.factor * block


def test_two_pools_in_turns_on_a_cluster_with_room_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")  # a worker sets it for its process
    ray = FullCluster(2)
    monkeypatch.setitem(sys.modules, "ray", ray)
    cluster = RayCluster(RayWish(workers=2))
    one, other = cluster.pool(Times(10)), cluster.pool(Times(100))
    quiet = SilentProgress()
    assert list(one.map(range(5), quiet)) == [0, 10, 20, 30, 40]
    assert ray.free == 0
    assert list(other.map(range(5), quiet)) == [0, 100, 200, 300, 400]
    assert sorted(one.map(range(5), quiet, ordered=False)) == [0, 10, 20, 30, 40]
    other.close()
    one.close()
    assert ray.free == 2
