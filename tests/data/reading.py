"""Writes bytes and reads them as a table."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import Table, open_table


class Read(NamedTuple):
    table: Table
    rows: list[tuple[str | None, ...]]
    warnings: list[str]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.table.columns

    @property
    def problem_lines(self) -> list[int]:
        return [problem.line for problem in self.table.problems]


def read(path: Path, size: int = 3, **options: str | int | bool | None) -> Read:
    table = open_table(path, TableOptions(**options))  # type: ignore[arg-type]
    progress = SilentProgress()
    rows = [row for batch in table.batches(size, progress) for row in batch]
    assert all(len(row) == len(table.columns) for row in rows)
    return Read(table, rows, progress.warnings)


def read_bytes(
    folder: Path, content: bytes | str, name: str = "table.csv", **options: str | int | bool | None
) -> Read:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read(path, **options)
