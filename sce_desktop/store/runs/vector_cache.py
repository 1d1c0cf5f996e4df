"""Text vectors that were computed before, in a file of their own that all projects share.

Nothing in it is precious: it is bounded, the vectors of projects that were not used for longest go first
(`vector_owners`), and a damaged file gives way to an empty one. Where the cache cannot work (another program
holds the file for long, the disk is full) it finds nothing and keeps nothing, and the vectors are computed
again. Vectors are kept as float16, rounded as `core.runs.as_kept` does; those that the first version of this
file kept as float32 are rounded when they are read.
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
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.private import own_file
from sce_desktop.core.runs import as_kept
from sce_desktop.store.file.lock import SharedLock
from sce_desktop.store.runs import vector_owners
from sce_desktop.store.runs.vector_owners import Owners, project_name

_LOG = logging.getLogger(__name__)

_APPLICATION_ID: Final = int.from_bytes(b"SCEV")
_VERSION: Final = 2  # a file of a later version is damaged for us
_STORED: Final[dict[int, np.dtype[Any]]] = {2: np.dtype("<f2"), 4: np.dtype("<f4")}  # by bytes a number
_ITEM: Final = 2
_BATCH: Final = 500  # vectors in one statement or transaction
_BUSY_S: Final = 2.0
_UNKNOWN: Final = "?"
_CACHE_KB: Final = 32_000  # of the index by key, where a million vectors come in at random places
_SCHEMA: Final = f"""
PRAGMA application_id={_APPLICATION_ID};
PRAGMA user_version={_VERSION};
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,  -- blake2b of the text, keyed by the embedder
    owner INTEGER NOT NULL,
    vector BLOB NOT NULL,      -- little-endian
    item INTEGER NOT NULL DEFAULT 4  -- bytes a number: 2 float16, 4 float32
);
CREATE INDEX IF NOT EXISTS vectors_day  -- as the first version called it: another one takes long to make
    ON vectors (owner);
{vector_owners.SCHEMA}
CREATE TABLE IF NOT EXISTS embedders (name TEXT PRIMARY KEY NOT NULL);
INSERT OR IGNORE INTO embedders  -- of vectors that an older program kept nobody knows it
    SELECT '{_UNKNOWN}' WHERE EXISTS (SELECT 1 FROM vectors) AND NOT EXISTS (SELECT 1 FROM embedders);
"""


class _DamagedError(Exception):
    """The file is not a cache of ours."""


class VectorCache:
    """Implements `sce_desktop.core.runs.VectorCache`; safe across threads and processes.

    ``max_bytes`` bounds the vectors in the file, which does not shrink but is used again; it may be changed.
    """

    def __init__(self, path: str | Path, max_bytes: int = 2_000_000_000) -> None:
        self._path = Path(path)
        self.max_bytes = max_bytes
        self._owners = Owners()
        self._mutex = threading.Lock()
        self._users: SharedLock | None = None
        self._connection: sqlite3.Connection | None = None
        with self._mutex, self._harmless():
            own_file(self._path)
            self._users = SharedLock(self._path.with_name(self._path.name + ".lock"))
            self._open()

    def get(
        self, embedder: str, texts: Sequence[str], *, project: str | None = None
    ) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Return (found (n,), vectors of the found ones (found.sum(), d) in order, None if none is found).

        They belong to ``project``, its path, from now on.
        """
        keys = _keys(embedder, texts)
        stored: dict[bytes, tuple[int, bytes]] = {}
        with self._mutex, self._harmless():
            if self._connection is not None:
                stored = self._read(self._connection, list(dict.fromkeys(keys)), _owner(project, embedder))
        found = np.fromiter((key in stored for key in keys), bool, len(keys))
        if not found.any():
            return found, None
        return found, _vectors([stored[key] for key in keys if key in stored])

    def put(
        self, embedder: str, texts: Sequence[str], vectors: FloatArray, *, project: str | None = None
    ) -> bool:
        """Keep ``vectors`` (n, d) of ``texts`` (n,) for ``project``, its path; losing them later is harmless.

        Returns:
            Whether they are kept: there may be no room beside what the project has already.
        """
        if len(texts) != len(vectors):
            raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
        with np.errstate(over="ignore"):
            blobs = (vector.tobytes() for vector in np.ascontiguousarray(vectors, _STORED[_ITEM]))
        records = list(zip(_keys(embedder, texts), blobs, strict=True))
        with self._mutex, self._harmless():
            if self._connection is not None:
                name = _owner(project, embedder)
                owner = self._owners.find(self._connection, name, _today())
                if name is not None and not self._owners.evict(self._connection, owner, self.max_bytes):
                    return False
                self._write(self._connection, embedder, records, owner)
                self._owners.evict(self._connection, owner, self.max_bytes)
                return True
        return False

    def for_project(self, path: Path) -> ProjectVectors:
        """Return this cache as a project uses it."""
        return ProjectVectors(self, str(path.absolute()))

    def room(self, embedder: str, project: Path) -> int | None:
        """Return how many bytes there are for the vectors of ``project``, those that it has included.

        None where the cache cannot be used.
        """
        with self._mutex, self._harmless():
            if (plain := self._connection) is not None:
                owner = self._owners.find(plain, _owner(str(project.absolute()), embedder), _today())
                return self._owners.room(plain, owner, self.max_bytes)
        return None

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
            plain.execute(f"PRAGMA cache_size=-{_CACHE_KB}")
            plain.execute("PRAGMA secure_delete=ON").fetchall()  # a vector tells much of its text
            _check_marks(plain)
            with contextlib.suppress(sqlite3.OperationalError):  # somebody else is in the middle of this
                plain.execute("PRAGMA journal_mode=WAL")
            plain.execute("BEGIN IMMEDIATE")
            with plain:
                first = _check_marks(plain)  # somebody else may have been faster
                for statement in ((vector_owners.MIGRATION if first else "") + _SCHEMA).split(";\n"):
                    plain.execute(statement)
        except BaseException:
            plain.close()
            raise
        self._connection = plain
        self._owners.forget()

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

    def _read(
        self, plain: sqlite3.Connection, keys: list[bytes], name: str | None
    ) -> dict[bytes, tuple[int, bytes]]:
        """Return bytes a number and vector by key, as far as there are some."""
        stored: dict[bytes, tuple[int, bytes]] = {}
        owned: dict[int, list[int]] = {}
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            statement = (
                f"SELECT id, key, owner, item, vector FROM vectors WHERE key IN"
                f" ({', '.join('?' * len(batch))})"
            )
            for id_, key, owner, item, vector in plain.execute(statement, batch):
                stored[key] = item, vector
                owned.setdefault(owner, []).append(id_)
        if any(item not in _STORED or not vector or len(vector) % item for item, vector in stored.values()):
            raise _DamagedError
        if len({len(vector) // item for item, vector in stored.values()}) > 1:
            raise _DamagedError
        with contextlib.suppress(sqlite3.OperationalError):  # who else writes now may keep its turn
            self._use(plain, owned, name)
        return stored

    def _use(self, plain: sqlite3.Connection, owned: dict[int, list[int]], name: str | None) -> None:
        """Note which vectors are used; those of others become those of whoever reads them for a project."""
        if not owned:
            return
        mine = self._owners.find(plain, name, _today())
        self._owners.touch(plain, mine)
        for owner, ids in owned.items():
            if owner == mine:
                continue
            if name is None and not vector_owners.is_day(owner):
                self._owners.touch(plain, owner)
                continue
            for start in range(0, len(ids), _BATCH):
                plain.execute("BEGIN IMMEDIATE")
                with plain:
                    plain.executemany(
                        "UPDATE vectors SET owner = ? WHERE id = ?",
                        [(mine, id_) for id_ in ids[start : start + _BATCH]],
                    )

    def _write(
        self, plain: sqlite3.Connection, embedder: str, records: list[tuple[bytes, bytes]], owner: int
    ) -> None:
        self._owners.touch(plain, owner)
        for start in range(0, len(records), _BATCH):
            batch = [(key, owner, vector, _ITEM) for key, vector in records[start : start + _BATCH]]
            plain.execute("BEGIN IMMEDIATE")
            with plain:
                plain.execute("INSERT OR IGNORE INTO embedders VALUES (?)", (embedder,))  # for `forget`
                plain.executemany(
                    "INSERT INTO vectors (key, owner, vector, item) VALUES (?, ?, ?, ?)"
                    " ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, vector = excluded.vector,"
                    " item = excluded.item",
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


class ProjectVectors:
    """The cache as one project uses it: `core.runs.VectorCache` too.

    ``left_out``: how many vectors there was no room for.
    """

    def __init__(self, cache: VectorCache, project: str) -> None:
        self._cache = cache
        self._project = project
        self.left_out = 0

    @property
    def max_bytes(self) -> int:
        """How large the cache may be."""
        return self._cache.max_bytes

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Look up ``texts``, see `VectorCache.get`."""
        return self._cache.get(embedder, texts, project=self._project)

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> None:
        """Keep ``vectors``, see `VectorCache.put`."""
        if not self._cache.put(embedder, texts, vectors, project=self._project):
            self.left_out += len(texts)


def _check_marks(plain: sqlite3.Connection) -> bool:
    """Return whether the file is of the first version. _DamagedError if it is none that we know."""
    if not plain.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        return False
    marks = [plain.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if marks[0] != _APPLICATION_ID or marks[1] not in (1, _VERSION):
        raise _DamagedError
    return bool(marks[1] == 1)


def vector_bytes(dim: int) -> int:
    """Return how many bytes a vector of ``dim`` numbers takes in the file, about."""
    return _ITEM * dim + vector_owners.RECORD_BYTES


def _owner(project: str | None, embedder: str) -> str | None:
    return None if project is None else project_name(project, embedder)


def _vectors(stored: list[tuple[int, bytes]]) -> FloatArray:
    """Return stored vectors (n, d) as they are used; all have the same width."""
    out = np.empty((len(stored), len(stored[0][1]) // stored[0][0]), np.float32)
    for item, dtype in _STORED.items():
        places = [place for place, (own, _) in enumerate(stored) if own == item]
        if places:
            joined = b"".join(stored[place][1] for place in places)
            out[places] = as_kept(np.frombuffer(joined, dtype).reshape(len(places), -1))
    return out


def _keys(embedder: str, texts: Sequence[str]) -> list[bytes]:
    """Return what the vectors are found by: text and embedder, in 16 bytes."""
    salt = blake2b(embedder.encode(), digest_size=64).digest()
    return [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=salt).digest() for text in texts
    ]


def _today() -> int:
    return int(time.time() // vector_owners.DAY_S)
