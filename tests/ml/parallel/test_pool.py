from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.parallel import pool as pool_module
from sce_desktop.ml.parallel.pool import AHEAD, WAITING, WorkerPool, processes_for
from tests.ml.parallel.threads import Threads
from tests.ml.parallel.workers import Doubling, Echo

TWO = ["cpu", "cpu:second"]


def test_results_come_in_the_order_of_the_blocks() -> None:
    with WorkerPool(Doubling(), TWO) as pool:
        found = list(pool.map(range(50), SilentProgress()))
        again = list(pool.map(range(3), SilentProgress()))
        assert list(pool.map([], SilentProgress())) == []
    assert [number for number, _ in found] == [2 * n for n in range(50)]
    assert {device for _, device in found} == set(TWO)
    assert [number for number, _ in again] == [0, 2, 4]


def test_blocks_are_read_no_further_than_workers_have_room() -> None:
    read: list[int] = []

    def blocks() -> Iterator[int]:
        for number in range(1000):
            read.append(number)
            yield number

    with WorkerPool(Doubling(), TWO) as pool:
        results = pool.map(blocks(), SilentProgress())
        assert next(results)[0] == 0
        assert len(read) <= WAITING * len(TWO)
        results.close()  # type: ignore[attr-defined]
        # what was handed out by then does not come up in the next call
        assert [number for number, _ in pool.map([7, 8], SilentProgress())] == [14, 16]


def test_large_blocks_pass_in_both_directions_at_once() -> None:
    blocks = [bytes([n]) * 3_000_000 for n in range(8)]
    with WorkerPool(Echo(), ["cpu"]) as pool:
        assert list(pool.map(blocks, SilentProgress())) == blocks


@pytest.mark.parametrize(
    ("opener", "reason"),
    [
        (Doubling(fails_to_open="cpu:second"), "There is no device cpu:second."),
        (Doubling(fails_at_once="cpu:second"), "RuntimeError: CUDA error: out of sorts"),
        (Doubling(dies="cpu:second"), "its process ended (-9)."),
    ],
)
def test_rows_of_a_device_that_fails_go_to_the_others(opener: Doubling, reason: str) -> None:
    progress = SilentProgress()
    with WorkerPool(opener, TWO) as pool:
        found = list(pool.map(range(20), progress))
        assert pool.devices == ["cpu"]
    assert found == [(2 * n, "cpu") for n in range(20)]
    assert progress.warnings == [f"A worker on cpu:second failed, and others do its rows: {reason}"]


def test_no_device_left_is_one_sentence() -> None:
    with (
        WorkerPool(Doubling(fails_to_open="cpu"), ["cpu"]) as pool,
        pytest.raises(UserError, match=r"^cpu failed, and no other is left: There is no device cpu\.$"),
    ):
        list(pool.map(range(3), SilentProgress()))


def test_a_block_that_no_worker_bears_does_not_cost_them_all() -> None:
    with (
        WorkerPool(Doubling(poison=3), [*TWO, "cpu:third"]) as pool,
        pytest.raises(
            UserError, match=r"^The same rows made two workers fail: ValueError: this number is poison$"
        ),
    ):
        list(pool.map(range(20), SilentProgress()))


def test_a_cancel_ends_what_never_ends() -> None:
    class Stopping(SilentProgress):
        def check(self) -> None:
            if time.monotonic() - started > 0.3:
                raise Cancelled

    with WorkerPool(Doubling(sleeps="cpu"), ["cpu"]) as pool:
        started = time.monotonic()
        with pytest.raises(Cancelled):
            list(pool.map(range(5), Stopping()))
        processes = pool.process_ids
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_workers_share_the_cores_whatever_is_imported_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "cores", lambda: 7)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("RAYON_NUM_THREADS", "5")  # the user's
    with WorkerPool(Threads(), TWO) as pool:
        assert list(pool.map([0, 0], SilentProgress())) == [("3", "3", "5")] * 2
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["RAYON_NUM_THREADS"] == "5"


def test_a_pool_that_nobody_holds_ends() -> None:
    pool = WorkerPool(Doubling(), ["cpu"])
    (process,) = pool.process_ids
    del pool
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_processes_take_turns_over_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "cores", lambda: 32)
    monkeypatch.setattr(pool_module, "_room", {"cuda": 64, "cuda:1": 3, "cuda:2": 0}.__getitem__)
    assert processes_for(["cuda"]) == ["cuda"] * pool_module.MOST_PER_GPU
    assert processes_for(["cuda", "cuda:1"]) == ["cuda", "cuda:1"] * 3 + ["cuda"] * 9
    assert processes_for(["cuda", "cuda:2"], per_gpu=2) == ["cuda", "cuda:2"] * 2
    assert processes_for(["cpu", "cpu", "cpu"]) == ["cpu"] * 3
    monkeypatch.setattr(pool_module, "cores", lambda: 5)
    assert processes_for(["cuda", "cuda:1"]) == ["cuda", "cuda:1"] * 2
    assert processes_for(["cuda", "cuda:2"]) == ["cuda", "cuda:2", "cuda"]
    assert AHEAD < WAITING
