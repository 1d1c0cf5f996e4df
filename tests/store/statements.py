"""Which statements reach SQLite: guards that a hot path stays short, whatever the machine is busy with."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from sce_desktop.store.project import Project

# By the names and aliases under which statements know the tables that have a record for each row.
_OF_ROWS = re.compile(
    r"SCAN (rows|scores|annotations|annotation_labels|marks|row_changes|row_trigrams|a|m|l|c)\b(?! VIRTUAL)"
)


@contextmanager
def statements(project: Project) -> Iterator[list[str]]:
    """Note every statement that this thread has a project run, parameters filled in."""
    told: list[str] = []
    owner = threading.get_ident()
    database = project._database
    engines = [engine for engine in (database._readers, database._writer) if engine is not None]

    def note(statement: str) -> None:
        # Memory is given back where a machine is slow, and that is no part of any path.
        if threading.get_ident() == owner and not statement.endswith("shrink_memory"):
            told.append(statement)

    def watch(plain: Any, *_: Any) -> None:
        plain.set_trace_callback(note)

    def let_be(plain: Any, *_: Any) -> None:
        plain.set_trace_callback(None)

    for engine in engines:
        sa.event.listen(engine, "checkout", watch)
        sa.event.listen(engine, "checkin", let_be)
    try:
        yield told
    finally:
        for engine in engines:
            sa.event.remove(engine, "checkout", watch)
            sa.event.remove(engine, "checkin", let_be)


def scans(project: Project, told: Iterable[str]) -> list[str]:
    """Return those of ``told`` that look at every row, by SQLite's own plan."""
    found = []
    plain = sqlite3.connect(f"file:{project.path}?mode=ro", uri=True)
    try:
        for statement in told:
            if statement.split(None, 1)[0] in ("SELECT", "INSERT", "UPDATE", "DELETE"):
                plan = [step[3] for step in plain.execute(f"EXPLAIN QUERY PLAN {statement}")]
                if any(_OF_ROWS.search(step) for step in plan):
                    found.append(statement)
    finally:
        plain.close()
    return found
