"""Draws batches ahead in processes of their own, so that a GPU never waits for Python."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.queues import Queue

from sce_desktop.ml.parallel.threads import threads_each
from sce_desktop.research.pretrain.sampler import Batch, Sampler


@contextmanager
def drawn(sampler: Sampler, *, start: int = 0, workers: int = 0) -> Iterator[Iterator[Batch]]:
    """Give the batches from step ``start`` on, endless; with ``workers`` other processes draw them ahead.

    The batches are the same either way: each follows from its step.
    """
    if not workers:
        yield map(sampler.batch, itertools.count(start))
        return
    context = multiprocessing.get_context("spawn")
    queues: list[Queue[Batch]] = [context.Queue(maxsize=8) for _ in range(workers)]
    processes = [
        context.Process(target=_draw, args=(sampler, start + i, workers, queue), daemon=True)
        for i, queue in enumerate(queues)
    ]
    with threads_each(1):
        for process in processes:
            process.start()
    try:
        yield (queue.get() for queue in itertools.cycle(queues))
    finally:
        for process in processes:
            process.kill()
            process.join()
        for queue in queues:
            queue.cancel_join_thread()
            queue.close()


def _draw(sampler: Sampler, first: int, apart: int, queue: Queue[Batch]) -> None:
    for step in itertools.count(first, apart):
        queue.put(sampler.batch(step))
