"""One open project file: who may write when, how durable that is, and which failures we know."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

from sce_desktop.core.errors import LeftInLog, UserError
from sce_desktop.core.giving_way import give_way, urgent
from sce_desktop.core.i18n import _
from sce_desktop.store.file.blame import blaming_contents
from sce_desktop.store.file.connections import connect, raw
from sce_desktop.store.file.failures import error_code, known_failures
from sce_desktop.store.file.hardening import forbid_schema_writes
from sce_desktop.store.file.lock import FileLock
from sce_desktop.store.file.turns import Turns
from sce_desktop.store.file.watched import OVERWRITTEN, WatchedFile, lost_sentence
from sce_desktop.store.repair.stored import read_json
from sce_desktop.temporary import remove_companions

_LOG = logging.getLogger(__name__)

_READER_CACHE: Final = "-16384"  # KiB
_WRITER_CACHE: Final = "-65536"  # KiB: holds the inner pages of the indexes while a million rows come in
_LOG_PAGES: Final = 1_000  # of the write-ahead log, about: more are brought into the file
_LOG_BYTES: Final = 4_096 * _LOG_PAGES
_LATELY_S: Final = 5.0
_LONG_S: Final = 0.3  # after which a connection has passed more pages than it will need again
_MOST_LOG_PAGES: Final = 16 * _LOG_PAGES  # where nobody calls `Database.shorten_log`


class Database:
    """One open project file.

    Readers get a connection of a pool and a consistent snapshot. Writers take turns on one connection, in the
    order in which they asked, so that a decision waits for one batch of scores at most and for none of the
    next; what they do is one transaction (``BEGIN IMMEDIATE``). A draft is nobody's yet: nothing waits for
    the disk before `placing.put_in_place`, which brings all of it there, and a power cut costs the draft.
    """

    def __init__(
        self,
        path: Path,
        *,
        lock: FileLock | None = None,
        read_only_reason: str = "",
        immutable: bool = False,
        draft: bool = False,
    ) -> None:
        self.path = path
        self._draft = draft
        self.read_only_reason = read_only_reason
        self.import_lock = threading.Lock()  # rows of one import at a time
        self._closed = False
        self._durable_at = -math.inf  # when something durable was written last
        self._lock = lock
        self._turns = Turns()
        self._shortening = threading.Lock()  # one file is left only by who is alone with it
        self._writing = False
        self.written = False  # since it was opened
        self._file = WatchedFile(path)
        self._held = threading.local()  # the connections of a thread's `snapshot` and `together`
        self._readers = self._engine(
            "mode=ro&immutable=1" if immutable else "mode=ro", begin="BEGIN", cache=_READER_CACHE
        )
        self._writer = (
            None
            if read_only_reason
            else self._engine("mode=rw", begin="BEGIN IMMEDIATE", cache=_WRITER_CACHE)
        )

    @property
    def read_only(self) -> bool:
        """Whether nothing can be changed; ``read_only_reason`` says why."""
        return self._writer is None

    @property
    def draft(self) -> bool:
        """Whether it is nobody's yet: who breaks off leaves it as it is, since all of it is thrown away."""
        return self._draft

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Give a connection that sees one state of the project until it is given back."""
        self._check_open()
        held: sa.Connection | None = getattr(self._held, "connection", None)
        if held is not None:
            yield held
            return
        with (
            known_failures(self.path),
            self._readers.connect() as connection,
            _given_back(raw(connection)),
            blaming_contents(raw(connection)),
            connection.begin(),
        ):
            yield connection

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that this thread reads see one state, by one connection: many small reads are fast.

        It is the state when this begins. Writers go on meanwhile, and what they write stays in the log until
        the last who reads an earlier state is through: the log grows, and is shortened by who comes after.
        """
        with self.read() as connection:
            outer: sa.Connection | None = getattr(self._held, "connection", None)
            if outer is None:
                raw(connection).execute("SELECT count(*) FROM sqlite_schema").fetchall()  # BEGIN reads none
            self._held.connection = connection
            try:
                yield
            finally:
                self._held.connection = outer

    @contextlib.contextmanager
    def write(
        self, *, durable: bool = False, foreign_keys: bool = True, checkpoint: bool = True
    ) -> Iterator[sa.Connection]:
        """Give the writing connection for one transaction; an exception undoes all of it.

        Args:
            durable: It must survive a power cut once this returns. Without, it survives a crash of the
                program, and a power cut may take the last moments, never the file.
            foreign_keys: Leave out only where no record can refer to what is removed: it is faster.
            checkpoint: Leave out where `shorten_log` is called afterwards: nobody then waits for that.

        Raises:
            UserError: The project is read-only, the disk is full, another program writes to the file, or the
                file is not there any more, or another one: what would be written nobody would see again.
        """
        if self._writer is None:
            raise UserError(self.read_only_reason)
        joined: sa.Connection | None = getattr(self._held, "writing", None)
        if joined is not None:
            yield joined
            return
        give_way()  # while nobody waits for this thread yet
        with known_failures(self.path), urgent(), self._turns, self._writer.connect() as connection:
            self._check_open()
            self._check_place()
            # The first two cannot be changed inside a transaction. Somebody waits for what is durable: it is
            # in the log when this returns, and `shorten_log` brings it from there into the file.
            for name, value in (
                ("synchronous", "OFF" if self._draft else "FULL" if durable else "NORMAL"),
                ("foreign_keys", "ON" if foreign_keys else "OFF"),
                ("wal_autocheckpoint", _MOST_LOG_PAGES if durable or not checkpoint else _LOG_PAGES),
            ):
                if connection.info.get(name) != value:
                    raw(connection).execute(f"PRAGMA {name}={value}")
                    connection.info[name] = value
            self._writing = True
            try:
                plain = raw(connection)
                with _given_back(plain), blaming_contents(plain), connection.begin():
                    yield connection
                self.written = True
            finally:
                self._file.remember()
                self._writing = False
            if durable:
                self._durable_at = time.monotonic()

    @contextlib.contextmanager
    def write_part(self, *, foreign_keys: bool = True) -> Iterator[sa.Connection]:
        """Give the writing connection for one of many short transactions, between which others have theirs.

        The log is shortened when it is over, and not by it: nobody waits for that.
        """
        with self.write(foreign_keys=foreign_keys, checkpoint=False) as connection:
            yield connection
        self.shorten_log(_LOG_BYTES if self.people_decide else 2 * _LOG_BYTES)

    @property
    def people_decide(self) -> bool:
        """Whether something durable has been written lately: who writes in parts takes smaller ones then."""
        return time.monotonic() - self._durable_at < _LATELY_S

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for a turn to write: who writes in parts may end this one early."""
        return self._turns.awaited

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Let all that this thread writes be one durable transaction; what it reads is as it writes it.

        Whoever else wants to write waits. An exception undoes all of it.
        """
        with self.write(durable=True) as connection:
            outer: sa.Connection | None = getattr(self._held, "connection", None)
            self._held.writing = self._held.connection = connection
            try:
                yield
            finally:
                self._held.writing, self._held.connection = None, outer

    def use_wal(self) -> None:
        """Turn write-ahead logging on: readers never wait for the writer."""
        assert self._writer is not None
        with known_failures(self.path), self._turns, self._writer.connect() as connection:
            raw(connection).execute("PRAGMA journal_mode=WAL")
            raw(connection).execute("PRAGMA journal_size_limit=0")  # its size says how much is in it
            self._file.remember()

    def lost(self) -> str:
        """Return what happened to the file while it is open, as the end of a sentence; empty if all is well.

        Cheap: a look at its name. Whoever shows the project asks now and then.
        """
        if self._closed:
            return ""
        found = self._file.problem(ours=self.read_only or self._writing or self._shortening.locked())
        if found == _(OVERWRITTEN):  # or somebody has begun to write since we asked
            with self._turns, self._shortening:
                found = self._file.problem()
        return found

    @property
    def moved_to(self) -> Path | None:
        """Where the file is that was moved while it is open, as far as that can be known."""
        return self._file.moved_to

    @contextlib.contextmanager
    def last_read(self) -> Iterator[sqlite3.Connection]:
        """Give the plain connection that sees everything still when the file is `lost`; nobody writes."""
        assert self._writer is not None
        with known_failures(self.path), self._turns, self._writer.connect() as connection:
            yield raw(connection)

    def _check_place(self) -> None:
        """Refuse to write to a file that is lost. Whoever calls has the turn."""
        if not self._file.problem(ours=self._shortening.locked()):
            return
        with self._shortening:  # it may just have begun
            found = self._file.problem()
        if found:
            raise UserError(lost_sentence(self.path, found))

    def shorten_log(self, least: int = _LOG_BYTES) -> None:
        """Bring what was written into the file, if the log has ``least`` bytes; nobody waits meanwhile.

        Left to SQLite, the writer does it in the middle of a decision, which then takes ten times as long. As
        there, a disk that is full is no failure: what was written is safe in the log.
        """
        if self._writer is None or self._log_size() < least or self.lost():
            return
        give_way()  # a decision would wait for the disk behind it
        try:
            with self._shortening:
                self._check_open()
                try:
                    with contextlib.closing(connect(self.path, "mode=rw")) as plain:
                        if self._draft:
                            plain.execute("PRAGMA synchronous=OFF")
                        plain.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                finally:
                    self._file.remember()
        except sqlite3.Error as error:
            _LOG.warning("the log of %s was not shortened: %s", self.path, error)

    def _log_size(self) -> int:
        try:
            return self.path.with_name(f"{self.path.name}-wal").stat().st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Bring everything into the one file, give the file lock back. Harmless when repeated.

        Raises:
            LeftInLog: There is no room for that, or the disk failed. Nothing is lost: what was written lies
                in the log beside the file, and opening brings it in.
        """
        if self._closed:
            return
        lost, brought_in = self.lost(), False
        failure: LeftInLog | None = None
        try:
            self._readers.dispose()
            if self._writer is not None:
                with self._shortening, self._turns, self._writer.connect() as connection:
                    self._closed = True
                    if lost == _(OVERWRITTEN):
                        self._drop_log()
                    plain = raw(connection)
                    plain.execute(f"PRAGMA synchronous={'OFF' if self._draft else 'FULL'}")
                    plain.execute("PRAGMA busy_timeout=1000")
                    (busy, *_rest) = plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                    brought_in = not busy
                    self._leave_wal(plain)
        except (sa.exc.DBAPIError, sqlite3.Error) as error:
            _LOG.warning("%s was not brought into one file: %s", self.path, error)
            if not lost and error_code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                failure = LeftInLog(
                    _(
                        "Not enough disk space to save {name} as one file, or its disk failed. Everything is "
                        "saved, but keep {name}-wal beside it: free some space, then open and close the "
                        "project.",
                        name=self.path.name,
                    )
                )
        finally:
            self._closed = True
            if self._writer is not None:
                self._writer.dispose()
            if lost and (
                brought_in or lost == _(OVERWRITTEN)
            ):  # they are ours, and in the way of what is there
                remove_companions(self.path)
            self._file.close()
            if self._lock is not None:
                self._lock.release()
        if failure is not None:
            raise failure

    def _drop_log(self) -> None:
        """Keep what is in the log from being written into a file that somebody else has written."""
        log = self.path.with_name(f"{self.path.name}-wal")
        with contextlib.suppress(OSError):
            os.truncate(log, 0)

    def _leave_wal(self, plain: sqlite3.Connection) -> None:
        """Make one file of it again, unless another program reads it: then it is left as it is, and whole."""
        try:
            plain.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            if error_code(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            _LOG.info("%s keeps its log beside it: another window reads it", self.path)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the project is closed")

    def _engine(self, parameters: str, *, begin: str, cache: str) -> sa.Engine:
        path = self.path

        def creator() -> sqlite3.Connection:
            plain = connect(path, parameters)
            if found := self._file.problem(ours=True):  # this is of another file than the others are
                plain.close()
                raise UserError(lost_sentence(self.path, found))
            plain.execute(f"PRAGMA cache_size={cache}")
            forbid_schema_writes(plain)
            return plain

        engine = sa.create_engine(
            "sqlite://",
            creator=creator,
            poolclass=QueuePool,
            max_overflow=-1,
            json_deserializer=read_json,
            hide_parameters=True,  # texts of the user have no place in what an exception says
        )

        # The driver would begin late and never immediately: it is in autocommit mode and we begin ourselves.
        @sa.event.listens_for(engine, "begin")
        def _begin(connection: sa.Connection) -> None:
            connection.exec_driver_sql(begin)

        return engine


@contextlib.contextmanager
def _given_back(plain: sqlite3.Connection) -> Iterator[None]:
    """Let ``plain`` hold no pages of the file after long work: it passed many, and needs few of them again.

    Each connection holds 16 or 64 MB of them else, for as long as the project is open.
    """
    start = time.monotonic()
    try:
        yield
    finally:
        if time.monotonic() - start > _LONG_S:
            with contextlib.suppress(sqlite3.Error):
                plain.execute("PRAGMA shrink_memory").fetchall()
