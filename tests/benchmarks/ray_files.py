"""What a row costs a worker: reading, scoring, writing and cutting, on one core; bytes of a row."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.data.writers import write_table
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.tasks.cluster.parts import cut, sources
from sce_desktop.tasks.tables.columns import ModelColumns
from tests.benchmarks.measure import print_table
from tests.benchmarks.ray_cluster import LABELS, texts_of
from tests.benchmarks.tables import write_table as write_rows


def run(*, rows: int, labels: Sequence[int], model: str, data: Path | None) -> None:
    """Print rows per processor second and bytes per row; the scores that are written are drawn."""
    lines = list(_scored(model, data)) if data is not None else []
    with tempfile.TemporaryDirectory(prefix="sce-files-bench-") as name:
        folder = Path(name)
        path = folder / "table.csv"
        write_rows(path, rows)
        started = time.process_time()
        table = open_table(path, TableOptions())
        cells = [row for batch in table.batches() for row in batch]
        lines.append(_line("read csv", rows, started, path))
        rng = np.random.default_rng(0)
        for count in labels:
            names = [f"label number {n}" for n in range(count)]
            columns = ModelColumns("sce", names, main=True, threshold=0.5)
            drawn = Scores(rng.dirichlet(np.full(count, 0.1), rows).astype(np.float32))
            for ending in (".csv", ".parquet"):
                out = folder / f"out-{count}{ending}"
                started = time.process_time()
                ours = columns.cells(drawn)
                write_table(
                    out,
                    [*table.columns, *columns.header],
                    iter([[[*mine, *more] for mine, more in zip(cells, ours, strict=True)]]),
                    types=table.types,
                    numbers=frozenset(columns.numbers),
                )
                lines.append(_line(f"write {ending[1:]}, {count} labels", rows, started, out))
        started = time.process_time()
        cut(sources(str(path)), TableOptions(), part_bytes=1_000_000)
        lines.append(_line("cut csv into parts", rows, started, path))
    print_table(
        f"Files of {rows:,} rows", ["", "rows per processor s", "MB per processor s", "bytes per row"], lines
    )


def _scored(model: str, data: Path) -> Iterator[list[str]]:
    """Score a few hundred texts, whole ones and their first words."""
    sce: Any = ModelSession("cpu").model(model)
    given = [Label(name) for name in LABELS]
    for count, words in ((400, 0), (1000, 8)):
        texts = list(islice(texts_of(data, words), count))
        tokens = float(sce.text_embedder.token_counts(texts).mean())
        sce.probabilities(texts[:20], given)
        started = time.process_time()
        sce.probabilities(texts, given)
        seconds = time.process_time() - started
        size = sum(len(text.encode()) for text in texts) / count
        name = f"score with {model}, {len(given)} labels, {tokens:.1f} tokens"
        yield [name, f"{count / seconds:,.0f}", f"{count * size / 1e6 / seconds:.3f}", f"{size:.0f}"]


def _line(name: str, rows: int, started: float, path: Path) -> list[str]:
    seconds, size = time.process_time() - started, path.stat().st_size
    return [name, f"{rows / seconds:,.0f}", f"{size / 1e6 / seconds:,.1f}", f"{size / rows:.0f}"]
