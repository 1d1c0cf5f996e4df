"""Reading a project file that may be damaged anywhere, record by record."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from sce_desktop.core.progress import Progress
from sce_desktop.store import schema

_RANGE: Final = 1_000  # records asked for at once
_SMALLEST_RECORD: Final = 16  # bytes; bounds how many there can be where the end of a table is unreadable
Record = dict[str, Any]


class DamagedFile:
    """The tables of a file, as far as they can be read. ``problems``: a sentence for each that cannot."""

    def __init__(self, plain: sqlite3.Connection, progress: Progress) -> None:
        self._plain = plain
        self._progress = progress
        self.problems: list[str] = []
        (self._version,) = plain.execute("PRAGMA user_version").fetchone()
        (pages,) = plain.execute("PRAGMA page_count").fetchone()
        (size,) = plain.execute("PRAGMA page_size").fetchone()
        self._most_records = pages * size // _SMALLEST_RECORD
        tables = plain.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        )
        self._tables = {name for (name,) in tables}

    def records(self, table: str, *, key: str | None = None, end: int | None = None) -> Iterator[Record]:
        """Give every record of ``table`` that can be read, in the order of ``key``, from 0 to ``end``.

        ``key`` is the column of whole numbers that the table is ordered by, the first one if None; ``end`` is
        the greatest one that there is if None.
        """
        if table not in self._tables:
            if self._version >= schema.metadata.tables[table].info.get("since", 1):
                self.problems.append(f"The table {table} is missing.")
            return
        present = {name for (_, name, *_) in self._plain.execute(f"PRAGMA table_info({table})")}
        names = [c.name for c in schema.metadata.tables[table].columns if c.name in present]
        key = key or names[0]
        select = f"SELECT {key}, {', '.join(names)} FROM {table} NOT INDEXED WHERE {key}"
        end = self._greatest(table, key) if end is None else end
        seen = bytearray(end + 1)
        lost = 0
        for found in self._ranges(f"{select} BETWEEN ? AND ? ORDER BY {key}", end):
            for number, *values in found:
                seen[number] = 1
                yield dict(zip(names, values, strict=True))
            self._progress.report(min(len(seen), end), stage=f"Reading {table}")
        if self._is_sound(table):
            return
        # Going along a damaged page may end early without an error; asking for each record finds more.
        for number in range(end + 1):
            if not seen[number]:
                try:
                    for _, *values in self._plain.execute(f"{select} = ?", (number,)).fetchall():
                        yield dict(zip(names, values, strict=True))
                except sqlite3.DatabaseError:
                    lost += 1
        if lost and table != "rows":  # of rows it is known how many there were
            self.problems.append(f"Up to {lost} records of the table {table} are lost.")

    def indexed_decisions(self) -> list[tuple[int, str]]:
        """Return row and decision of what the index on decisions knows, those with labels aside."""
        found: list[tuple[int, str]] = []
        for decision in ("none", "skipped"):
            with contextlib.suppress(sqlite3.DatabaseError):
                found += self._plain.execute(
                    "SELECT row_id, decision FROM annotations INDEXED BY ix_annotations_decision"
                    " WHERE decision = ?",
                    (decision,),
                ).fetchall()
        return found

    def _ranges(self, statement: str, end: int) -> Iterator[list[tuple[Any, ...]]]:
        """Give the records by ranges of keys, in halves around what cannot be read."""
        ranges = [(start, min(start + _RANGE - 1, end)) for start in range(0, end + 1, _RANGE)][::-1]
        while ranges:
            self._progress.check()
            first, last = ranges.pop()
            try:
                yield self._plain.execute(statement, (first, last)).fetchall()
            except sqlite3.DatabaseError:
                middle = (first + last) // 2
                if first < last:
                    ranges += [(middle + 1, last), (first, middle)]

    def _greatest(self, table: str, key: str) -> int:
        """Return the greatest key that the table or one of its indexes knows."""
        known = [0]
        indexes = [f"INDEXED BY {index.name}" for index in schema.metadata.tables[table].indexes]
        for way in ("NOT INDEXED", *indexes):
            with contextlib.suppress(sqlite3.DatabaseError):
                (greatest,) = self._plain.execute(f"SELECT max({key}) FROM {table} {way}").fetchone()
                known.append(greatest or 0)
        return min(max(known), self._most_records)

    def _is_sound(self, table: str) -> bool:
        with contextlib.suppress(sqlite3.DatabaseError):
            found: tuple[str] = self._plain.execute(f"PRAGMA integrity_check({table})").fetchone()
            return found == ("ok",)
        return False
