"""Which tables and indexes a project file of each format has, and whether a file has just those.

What a file may contain follows from `first_format` and `migrations`, so that there is no second list.
Whatever else a file brings (a trigger, a view, a computed column, a changed constraint) could act by itself
or fill the disk as soon as something is written or read: such a file is not opened. SQLite obeys the text of
a schema whatever the type beside it says, so the text is what is compared.
"""

from __future__ import annotations

import functools
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from sce_desktop.core.i18n import _
from sce_desktop.store.content import search
from sce_desktop.store.file import first_format, migrations, schema

_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|[^\w\s]", re.DOTALL)
_DEFAULT_FIRST: Final = re.compile(r"DEFAULT ('[^']*'|\w+) NOT NULL")
_TRIGRAMS_SINCE: Final = 8
_FTS_SQL: Final = (
    f"CREATE VIRTUAL TABLE {schema.FTS_TABLE}"
    " USING fts5(text, content='', tokenize='trigram', detail=none, columnsize=0)"
)
_SHADOWS: Final = {  # what FTS5 keeps it in
    "config": "(k PRIMARY KEY, v) WITHOUT ROWID",
    "data": "(id INTEGER PRIMARY KEY, block BLOB)",
    "idx": "(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
}
_STATISTICS: Final = {  # what ANALYZE of other programs leaves for SQLite's planner; nothing acts by itself
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}


class Entry(NamedTuple):
    """One object of a schema; ``sql`` as `canonical` gives it, empty for an index that SQLite makes."""

    type: str
    name: str
    table: str
    sql: str


class Format(NamedTuple):
    """What a file of one format has, and how many columns each table has in it."""

    required: frozenset[Entry]
    optional: frozenset[Entry]  # made behind the work or after an import
    columns: dict[str, int]


def of_version(version: int) -> Format:
    """Return what a file of that version contains."""
    return _made(version, tuple(migrations.MIGRATIONS))


def canonical(sql: str) -> str:
    """Return a statement with one blank between its tokens, and the two orders of a default as one."""
    return _DEFAULT_FIRST.sub(r"NOT NULL DEFAULT \1", " ".join(_TOKEN.findall(sql)))


def entries(plain: sqlite3.Connection) -> list[tuple[Entry, int]]:
    """Return the schema of a file and each object's root page; what is no text or number becomes one."""
    found = []
    plain.text_factory = lambda stored: stored.decode("utf-8", "replace")
    try:
        for *texts, root, sql in plain.execute(
            "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema"
        ):
            kind, name, table = (_text(text) for text in texts)
            found.append(
                (Entry(kind, name, table, canonical(_text(sql))), root if isinstance(root, int) else -1)
            )
    finally:
        plain.text_factory = str
    return found


def difference(plain: sqlite3.Connection, version: int) -> str:
    """Return how the schema of a file differs from what its version has, in words; empty if it does not."""
    format_ = of_version(version)
    statistics = {Entry("table", name, name, canonical(sql)) for name, sql in _STATISTICS.items()}
    allowed = format_.required | format_.optional | statistics
    found = entries(plain)
    names = {entry.name for entry in allowed}
    wrong = [
        entry for entry, times in Counter(e for e, _ in found).items() if entry not in allowed or times > 1
    ]
    foreign = [entry.name for entry in wrong if entry.name not in names]
    if foreign:
        return _(
            "contains a database program or table (“{name}”) that SCE Desktop never writes",
            name=_shown(foreign[0]),
        )
    present = {entry for entry, _ in found}
    changed = [entry.name for entry in wrong] or [e.name for e in format_.required if e not in present]
    made = {entry for entry in format_.optional if entry.name.startswith(schema.FTS_TABLE)}
    if not changed and made & present and made - present:
        changed = [schema.FTS_TABLE]
    roots = Counter(root for entry, root in found if not entry.sql.startswith("CREATE VIRTUAL"))
    if not changed:
        changed = [e.name for e, root in found if root in roots and (root < 2 or roots[root] > 1)]
    return _("is damaged (“{name}” is missing or changed)", name=_shown(min(changed))) if changed else ""


@functools.lru_cache(maxsize=8)
def _made(version: int, steps: tuple[Callable[[sa.Connection], None], ...]) -> Format:
    """Make an empty file of that version in memory and look at it."""
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    with engine.connect() as connection:
        plain = connection.connection.driver_connection
        assert isinstance(plain, sqlite3.Connection)
        plain.executescript(first_format.SQL)
        for step in steps[: version - 1]:
            step(connection)
        columns = {
            name: len(plain.execute(f"SELECT * FROM {name} LIMIT 0").description)
            for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        }
        own = {entry for entry, _ in entries(plain)}
        if version >= _TRIGRAMS_SINCE:
            plain.execute(search.TABLE_SQL)
        searching = {entry for entry, _ in entries(plain)} - own | _fts_entries()
    engine.dispose()
    hashes = {entry for entry in own if entry.name == schema.text_hash_index.name}
    return Format(frozenset(own - hashes), frozenset(hashes | searching), columns)


def _fts_entries() -> set[Entry]:
    """Return the former search index, which a SQLite without FTS5 leaves where it is."""
    name = schema.FTS_TABLE
    made = {name: _FTS_SQL}
    made |= {f"{name}_{end}": f"CREATE TABLE '{name}_{end}'{columns}" for end, columns in _SHADOWS.items()}
    return {Entry("table", table, table, canonical(sql)) for table, sql in made.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else repr(value)


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in name[:60])
