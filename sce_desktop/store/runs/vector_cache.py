"""Text vectors that were computed before, in a file of their own that all projects share.

Nothing in it is precious: it is bounded, what was not used for longest goes first, and a damaged file gives
way to an empty one. Where the cache cannot work (another program holds the file for long, the disk is full)
it finds nothing and keeps nothing, and the vectors are computed again.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.private import own_file
from sce_desktop.store.file.lock import SharedLock

_LOG = logging.getLogger(__name__)

_APPLICATION_ID: Final = int.from_bytes(b"SCEV")
_VERSION: Final = 1  # a file of another version is damaged for us: there is nothing worth migrating
_STORED: Final = np.dtype("<f4")
_BATCH: Final = 500  # vectors in one statement or transaction
_BUSY_S: Final = 2.0
_DAY_S: Final = 86_400
_KEEP: Final = 0.9  # of the bound, once it is passed
_UNKNOWN: Final = "?"
_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
PRAGMA application_id={_APPLICATION_ID};
PRAGMA user_version={_VERSION};
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,  -- blake2b of the text, keyed by the embedder
    day INTEGER NOT NULL,      -- of the last use; a finer clock would make every reading a writing
    vector BLOB NOT NULL       -- float32, little-endian
);
CREATE INDEX IF NOT EXISTS vectors_day ON vectors (day);
CREATE TABLE IF NOT EXISTS embedders (name TEXT PRIMARY KEY NOT NULL);
INSERT OR IGNORE INTO embedders  -- of vectors that an older program kept nobody knows it
    SELECT '{_UNKNOWN}' WHERE EXISTS (SELECT 1 FROM vectors) AND NOT EXISTS (SELECT 1 FROM embedders);
COMMIT;
"""


class _DamagedError(Exception):
    """The file is not a cache of ours."""


class VectorCache:
    """Implements `sce_desktop.core.runs.VectorCache`; safe across threads and processes.

    ``max_bytes`` bounds the vectors in the file, which does not shrink but is used again.
    """

    def __init__(self, path: str | Path, max_bytes: int = 2_000_000_000) -> None:
        self._path = Path(path)
        self._max_bytes = max_bytes
        self._mutex = threading.Lock()
        self._users: SharedLock | None = None
        self._connection: sqlite3.Connection | None = None
        with self._mutex, self._harmless():
            own_file(self._path)
            self._users = SharedLock(self._path.with_name(self._path.name + ".lock"))
            self._open()

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Return (found (n,), vectors of the found ones (found.sum(), d) in order, None if none is found)."""
        keys = _keys(embedder, texts)
        stored: dict[bytes, bytes] = {}
        with self._mutex, self._harmless():
            if self._connection is not None:
                stored = self._read(self._connection, list(dict.fromkeys(keys)))
        found = np.fromiter((key in stored for key in keys), bool, len(keys))
        if not found.any():
            return found, None
        joined = b"".join(stored[key] for key in keys if key in stored)
        vectors = np.frombuffer(joined, _STORED).astype(np.float32).reshape(int(found.sum()), -1)
        return found, vectors

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> None:
        """Keep ``vectors`` (n, d) of ``texts`` (n,); losing them later is harmless."""
        if len(texts) != len(vectors):
            raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
        blobs = (vector.tobytes() for vector in np.ascontiguousarray(vectors, _STORED))
        records = list(zip(_keys(embedder, texts), blobs, strict=True))
        with self._mutex, self._harmless():
            if self._connection is not None:
                self._write(self._connection, embedder, records)
                self._evict(self._connection)

    def forget(self, texts: Sequence[str]) -> bool:
        """Remove the vectors of ``texts`` by whatever embedder; return whether nothing of them is left.

        A vector is found by its text and embedder alone: where an older program has kept some of embedders
        that nobody knows, all vectors go. They are made again when they are needed.
        """
        with self._mutex, self._harmless():
            if self._connection is not None:
                return self._forget(self._connection, texts)
        return False

    def close(self) -> None:
        """Close the file; afterwards nothing is found and nothing is kept. Harmless when repeated."""
        with self._mutex:
            self._shut()
            if self._users is not None:
                self._users.release()
                self._users = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- with the mutex held

    @contextlib.contextmanager
    def _harmless(self) -> Iterator[None]:
        """Let nothing that is wrong with the file reach the caller."""
        try:
            yield
        except (sqlite3.Error, OSError, _DamagedError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if isinstance(error, _DamagedError) or code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                self._start_afresh()
            else:
                _LOG.warning("vector cache not used: %s", error)

    def _open(self) -> None:
        plain = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            plain.execute("PRAGMA trusted_schema=OFF")
            plain.execute("PRAGMA synchronous=NORMAL")
            plain.execute("PRAGMA secure_delete=ON").fetchall()  # a vector tells much of its text
            (objects,) = plain.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            if objects:
                marks = [
                    plain.execute(f"PRAGMA {name}").fetchone()[0]
                    for name in ("application_id", "user_version")
                ]
                if marks != [_APPLICATION_ID, _VERSION]:
                    raise _DamagedError
            with contextlib.suppress(sqlite3.OperationalError):  # somebody else is in the middle of this
                plain.execute("PRAGMA journal_mode=WAL")
            plain.executescript(_SCHEMA)
        except BaseException:
            plain.close()
            raise
        self._connection = plain

    def _shut(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _start_afresh(self) -> None:
        """Put an empty file in the place of a damaged one, unless somebody else has it open."""
        self._shut()
        try:
            assert self._users is not None
            with self._users.alone() as alone:
                if not alone:
                    _LOG.warning("vector cache is damaged and in use elsewhere: not used")
                    return
                _LOG.warning("vector cache is damaged: starting afresh")
                for ending in ("", "-wal", "-shm", "-journal"):
                    self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
                own_file(self._path)
                self._open()
        except (sqlite3.Error, OSError, _DamagedError) as error:
            _LOG.warning("vector cache not used: %s", error)

    def _read(self, plain: sqlite3.Connection, keys: list[bytes]) -> dict[bytes, bytes]:
        stored: dict[bytes, bytes] = {}
        stale: list[tuple[int, int]] = []
        today = _today()
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            statement = (
                f"SELECT id, key, day, vector FROM vectors WHERE key IN ({', '.join('?' * len(batch))})"
            )
            for id_, key, day, vector in plain.execute(statement, batch):
                stored[key] = vector
                if day != today:
                    stale.append((today, id_))
        sizes = {len(vector) for vector in stored.values()}
        if len(sizes) > 1 or any(not size or size % _STORED.itemsize for size in sizes):
            raise _DamagedError
        for start in range(0, len(stale), _BATCH):
            with contextlib.suppress(sqlite3.OperationalError):  # who else writes now may keep its turn
                plain.execute("BEGIN IMMEDIATE")
                with plain:
                    plain.executemany(
                        "UPDATE vectors SET day = ? WHERE id = ?", stale[start : start + _BATCH]
                    )
        return stored

    def _write(self, plain: sqlite3.Connection, embedder: str, records: list[tuple[bytes, bytes]]) -> None:
        today = _today()
        for start in range(0, len(records), _BATCH):
            batch = [(key, today, vector) for key, vector in records[start : start + _BATCH]]
            plain.execute("BEGIN IMMEDIATE")
            with plain:
                plain.execute("INSERT OR IGNORE INTO embedders VALUES (?)", (embedder,))  # for `forget`
                plain.executemany(
                    "INSERT INTO vectors (key, day, vector) VALUES (?, ?, ?)"
                    " ON CONFLICT (key) DO UPDATE SET day = excluded.day, vector = excluded.vector",
                    batch,
                )

    def _forget(self, plain: sqlite3.Connection, texts: Sequence[str]) -> bool:
        embedders = [name for (name,) in plain.execute("SELECT name FROM embedders").fetchall()]
        if _UNKNOWN in embedders:
            plain.execute("BEGIN IMMEDIATE")
            with plain:
                plain.execute("DELETE FROM vectors")
                plain.execute("DELETE FROM embedders")
            embedders = []
        distinct = list(dict.fromkeys(texts))
        for embedder in embedders:
            for start in range(0, len(distinct), _BATCH):
                keys = [(key,) for key in _keys(embedder, distinct[start : start + _BATCH])]
                plain.execute("BEGIN IMMEDIATE")
                with plain:
                    plain.executemany("DELETE FROM vectors WHERE key = ?", keys)
        (busy, *_rest) = plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def _evict(self, plain: sqlite3.Connection) -> None:
        """Once the bound is passed, drop what was not used for longest until there is some room."""
        if self._bytes_used(plain) <= self._max_bytes:
            return
        dropped = -1
        while dropped and self._bytes_used(plain) > _KEEP * self._max_bytes:
            plain.execute("BEGIN IMMEDIATE")
            with plain:
                dropped = plain.execute(
                    "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY day, id LIMIT ?)",
                    (_BATCH,),
                ).rowcount

    def _bytes_used(self, plain: sqlite3.Connection) -> int:
        pages, free, size = (
            plain.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)


def _keys(embedder: str, texts: Sequence[str]) -> list[bytes]:
    """Return what the vectors are found by: text and embedder, in 16 bytes."""
    salt = blake2b(embedder.encode(), digest_size=64).digest()
    return [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=salt).digest() for text in texts
    ]


def _today() -> int:
    return int(time.time() // _DAY_S)
