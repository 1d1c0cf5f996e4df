"""Whose vectors are in the cache, and which go first when it is full.

An owner is a project and a text embedder, by a hash, or a day: that is whose vectors are which nobody keeps
for a project. What was used longest ago goes first, one owner after the other. Vectors of a project that
is being scored never make room for others, not even for its own: the first ones of a table that does not fit
are worth as much as the last.
"""

from __future__ import annotations

import sqlite3
import time
from hashlib import blake2b
from typing import Final

DAY_S: Final = 86_400
TOUCH_S: Final = 60
"""How exactly it is known when an owner was used last."""
_AT_WORK_S: Final = 150  # an owner that was used no longer ago may be in use, by another process too
RECORD_BYTES: Final = 100
"""What a vector takes beside its numbers, the indexes included."""
_BATCH: Final = 500  # vectors that go in one transaction
_KEEP: Final = 0.97  # of the bound, once it is passed

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS owners (
    id INTEGER PRIMARY KEY,    -- days since the epoch; of projects below 0
    name TEXT UNIQUE,          -- hash of project and embedder; NULL: a day
    used INTEGER NOT NULL      -- seconds since the epoch
);
"""
MIGRATION: Final = f"""
ALTER TABLE vectors RENAME COLUMN day TO owner;
ALTER TABLE vectors ADD COLUMN item INTEGER NOT NULL DEFAULT 4;
{SCHEMA}
INSERT OR IGNORE INTO owners (id, used)
    WITH RECURSIVE days (day) AS (
        SELECT min(owner) FROM vectors
        UNION ALL SELECT (SELECT min(owner) FROM vectors WHERE owner > day) FROM days WHERE day IS NOT NULL
    ) SELECT day, day * {DAY_S} FROM days WHERE day IS NOT NULL;
"""
"""Of the first version, whose vectors are float32 and belong to days: nothing is copied, nothing made again.
(A step from one day to the next in the index: there are few days and many vectors.)"""


def project_name(project: str, embedder: str) -> str:
    """Return the name of the owner of a project's vectors: where projects are is nobody's business here."""
    return blake2b(f"{project}\0{embedder}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_day(owner: int) -> bool:
    """Whether vectors of ``owner`` belong to no project."""
    return owner >= 0


class Owners:
    """The owners in the file as far as this process knows them. Whoever calls holds the cache's mutex."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._touched: dict[int, float] = {}

    def find(self, plain: sqlite3.Connection, name: str | None, today: int) -> int:
        """Return the id of an owner, None for that of ``today``; it is added if there is none."""
        if name is None:
            return today
        if name not in self._ids:
            plain.execute("BEGIN IMMEDIATE")
            with plain:
                plain.execute(
                    "INSERT OR IGNORE INTO owners (id, name, used)"
                    " SELECT min(0, coalesce((SELECT min(id) FROM owners), 0)) - 1, ?, ?",
                    (name, _now()),
                )
            (self._ids[name],) = plain.execute("SELECT id FROM owners WHERE name = ?", (name,)).fetchone()
        return self._ids[name]

    def touch(self, plain: sqlite3.Connection, owner: int) -> None:
        """Note that ``owner`` is used now."""
        now = time.monotonic()
        if now - self._touched.get(owner, -TOUCH_S) < TOUCH_S:
            return
        self._touched[owner] = now
        plain.execute("BEGIN IMMEDIATE")
        with plain:
            plain.execute(
                "INSERT INTO owners (id, used) VALUES (?, ?)"
                " ON CONFLICT (id) DO UPDATE SET used = excluded.used",
                (owner, _now()),
            )

    def forget(self) -> None:
        """Know nothing any more: the file is another one."""
        self._ids.clear()
        self._touched.clear()

    def evict(self, plain: sqlite3.Connection, mine: int, max_bytes: int) -> bool:
        """Once ``max_bytes`` is passed, drop what was used longest ago; return whether there is room.

        The vectors of a day go for those of the same day, the first ones first.
        """
        if bytes_used(plain) <= max_bytes:
            return True
        while (owner := self._first_to_go(plain, mine)) is not None:
            dropped = _BATCH
            while dropped and bytes_used(plain) > _KEEP * max_bytes:
                plain.execute("BEGIN IMMEDIATE")
                with plain:
                    dropped = plain.execute(
                        "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors WHERE owner = ? LIMIT ?)",
                        (owner, _BATCH),
                    ).rowcount
            if dropped:
                return True
            if owner == mine:
                break
        return bytes_used(plain) <= max_bytes

    def room(self, plain: sqlite3.Connection, mine: int, max_bytes: int) -> int:
        """Return the bytes that ``mine`` may have at most: all but those of who is at work now."""
        busy = [
            owner
            for (owner,) in plain.execute(
                "SELECT id FROM owners WHERE id < 0 AND id != ? AND used >= ?", (mine, _now() - _AT_WORK_S)
            )
        ]
        theirs = 0
        for owner in busy:
            rows, size = plain.execute(
                "SELECT count(*), (SELECT length(vector) FROM vectors WHERE owner = ?1 LIMIT 1)"
                " FROM vectors WHERE owner = ?1",
                (owner,),
            ).fetchone()
            theirs += rows * ((size or 0) + RECORD_BYTES)
        return max(0, max_bytes - theirs)

    def _first_to_go(self, plain: sqlite3.Connection, mine: int) -> int | None:
        found = plain.execute(
            "SELECT id FROM owners WHERE id != ? AND (id >= 0 OR used < ?)"
            " AND EXISTS (SELECT 1 FROM vectors WHERE owner = owners.id) ORDER BY used, id LIMIT 1",
            (mine, _now() - _AT_WORK_S),
        ).fetchone()
        if found is not None:
            return int(found[0])
        return mine if is_day(mine) else None


def bytes_used(plain: sqlite3.Connection) -> int:
    """Return the bytes of the file that hold something."""
    pages, free, size = (
        plain.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _now() -> int:
    return int(time.time())
