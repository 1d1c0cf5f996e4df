"""What it costs that a label is on the disk before the next key: synced (FULL), or not (NORMAL)."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sce_desktop.core.annotations import Decision
from sce_desktop.store.file.database import Database
from sce_desktop.store.project import Project
from tests.faults import actions

BLOCK = 40  # labels of one kind before those of the other


def measure(folder: Path, labels: int) -> tuple[float, float]:
    """Return the median seconds of a label, synced and not, in a project made in ``folder``."""
    plain = Database.write

    @contextlib.contextmanager
    def careless(self: Database, **options: Any) -> Iterator[Any]:
        with plain(self, **{**options, "durable": False}) as connection:
            yield connection

    found: dict[bool, list[float]] = {True: [], False: []}
    with Project.create(folder / "durability.sce") as project:
        actions.fill(project)
        try:
            for number in range(2 * labels):
                durable = number // BLOCK % 2 == 0
                Database.write = plain if durable else careless  # type: ignore[method-assign]
                began = time.perf_counter()
                project.decide([1 + number % actions.ROWS], Decision.LABEL, [1 + number % 4])
                found[durable].append(time.perf_counter() - began)
        finally:
            Database.write = plain  # type: ignore[method-assign]
    return statistics.median(found[True]), statistics.median(found[False])
