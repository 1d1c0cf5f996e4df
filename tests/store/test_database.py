from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.store.file import database as database_module
from sce_desktop.store.file import opening, schema
from sce_desktop.store.file.connections import connect, file_uri, raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.project import Project
from tests.hostile.projects import make_sound


@pytest.fixture
def database(path: Path):
    database = opening.create(path, name="Survey")
    yield database
    database.close()


def test_durable_writes_are_synced_and_others_are_not(database: Database) -> None:
    levels, pages = [], []
    for durable in (True, False, True):
        with database.write(durable=durable) as connection:
            levels.append(raw(connection).execute("PRAGMA synchronous").fetchone()[0])
            pages.append(raw(connection).execute("PRAGMA wal_autocheckpoint").fetchone()[0])
    assert levels == [2, 1, 2]  # FULL, NORMAL
    assert pages == [16_000, 1_000, 16_000]  # who decides does not pay for the log


def test_the_log_is_brought_into_the_file_behind_whoever_decides(database: Database, path: Path) -> None:
    def write(*, durable: bool, characters: int) -> None:
        with database.write(durable=durable) as connection:
            connection.execute(schema.project.update().values(name="x" * characters))

    small = path.stat().st_size
    write(durable=True, characters=5_000_000)
    write(durable=True, characters=1)
    assert path.stat().st_size == small
    log = database._log_size()
    database.shorten_log()
    assert path.stat().st_size > small
    write(durable=True, characters=2)
    assert database._log_size() < log / 100  # it begins anew, and is not written on the end
    after = path.stat().st_mtime_ns
    database.shorten_log()  # there is too little in it
    assert path.stat().st_mtime_ns == after


def test_who_only_counts_is_not_stopped_by_a_log_that_cannot_be_brought_in(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write(durable=True) as connection:
        connection.execute(schema.project.update().values(name="x" * 5_000_000))

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("sce_desktop.store.file.database.connect", full)
    database.shorten_log()
    assert database._log_size() > 5_000_000  # nothing is lost


def test_closing_waits_for_the_log_that_is_being_brought_in(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write(durable=True) as connection:
        connection.execute(schema.project.update().values(name="x" * 5_000_000))
    plain_connect, opened, go_on = connect, threading.Event(), threading.Event()

    def slow(*arguments: str) -> sqlite3.Connection:
        plain = plain_connect(*arguments)
        plain.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        opened.set()
        go_on.wait(5)
        return plain

    monkeypatch.setattr("sce_desktop.store.file.database.connect", slow)
    shortening = threading.Thread(target=database.shorten_log)
    shortening.start()
    assert opened.wait(5)
    closing = threading.Thread(target=database.close)
    closing.start()
    time.sleep(0.1)
    go_on.set()
    closing.join()
    shortening.join()
    assert not path.with_name(f"{path.name}-wal").exists()
    assert path.read_bytes()[18] == 1  # no write-ahead logging: one file


def test_settings_that_keep_a_file_from_acting_by_itself(database: Database) -> None:
    for access in (database.read(), database.write()):
        with access as connection:
            values = {
                name: raw(connection).execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("foreign_keys", "trusted_schema", "cell_size_check", "journal_mode")
            }
        assert values == {"foreign_keys": 1, "trusted_schema": 0, "cell_size_check": 1, "journal_mode": "wal"}


@pytest.mark.parametrize(("long", "given_back"), [(-1.0, 1), (1e9, 0)])
def test_pages_of_the_file_are_given_back_after_long_work_and_not_after_short(
    database: Database, monkeypatch: pytest.MonkeyPatch, long: float, given_back: int
) -> None:
    monkeypatch.setattr(database_module, "_LONG_S", long)
    for give in (database.read, database.write, database.snapshot):
        told = list[str]()
        with give() as connection, contextlib.ExitStack() as stack:
            inside = stack.enter_context(database.read()) if connection is None else connection
            plain = raw(inside)
            plain.set_trace_callback(told.append)
            inside.execute(sa.select(schema.project)).all()
        plain.set_trace_callback(None)
        assert told.count("PRAGMA shrink_memory") == given_back
        if given_back:  # what a transaction holds cannot be given back
            assert told.index("PRAGMA shrink_memory") > told.index("COMMIT")
            assert told[-1] == "PRAGMA shrink_memory"


def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises(UserError, match="write-protected"), database.read() as connection:
        connection.execute(schema.project.update().values(name="other"))


def test_failure_undoes_the_whole_transaction(database: Database) -> None:
    def change() -> None:
        with database.write() as connection:
            connection.execute(schema.project.update().values(name="other"))
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        change()
    with database.read() as connection:
        assert connection.execute(sa.select(schema.project.c.name)).scalar_one() == "Survey"


def test_reader_sees_one_state_while_others_write(database: Database) -> None:
    name = sa.select(schema.project.c.name)
    with database.read() as connection:
        before = connection.execute(name).scalar_one()
        with database.write() as writer:
            writer.execute(schema.project.update().values(name="other"))
        assert connection.execute(name).scalar_one() == before
    with database.read() as connection:
        assert connection.execute(name).scalar_one() == "other"


def test_writers_take_turns_in_the_order_of_asking(database: Database) -> None:
    order: list[int] = []

    def write(number: int) -> None:
        with database.write():
            order.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    with database.write():
        for waiting, thread in enumerate(threads, start=2):  # this thread is the first of those in the queue
            thread.start()
            while len(database._turns._waiting) < waiting:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(8))


def test_writing_within_writing_is_a_bug_and_no_deadlock(database: Database) -> None:
    with database.write(), pytest.raises(RuntimeError, match="already"), database.write():
        pass
    with database.write():  # and the turn was given back
        pass


def test_what_is_written_together_is_there_at_once_or_not_at_all(database: Database) -> None:
    def write(number: int) -> None:
        with database.write() as connection:
            connection.exec_driver_sql("INSERT INTO t VALUES (?)", (number,))

    def count() -> int:
        with database.read() as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one())

    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x UNIQUE)")
    seen: list[int] = []
    with database.together():
        write(1)
        write(2)
        assert count() == 2
        other = threading.Thread(target=lambda: seen.append(count()))
        other.start()
        other.join()
    assert (seen, count()) == ([0], 2)
    with pytest.raises(sa.exc.IntegrityError), database.together():
        [write(number) for number in (3, 1)]
    assert count() == 2
    write(4)  # nothing is held any more
    assert count() == 3


def test_full_disk_is_reported_and_undone(database: Database) -> None:
    with database.write() as connection:
        raw(connection).execute("PRAGMA max_page_count=1")  # SQLite takes what the file has already
    with pytest.raises(UserError, match="disk is full"), database.write() as connection:
        connection.execute(schema.project.update().values(name="x" * 1_000_000))
    with database.read() as connection:
        assert connection.execute(sa.select(schema.project.c.name)).scalar_one() == "Survey"


def test_unknown_failures_stay_bugs(database: Database) -> None:
    with pytest.raises(sa.exc.OperationalError), database.read() as connection:
        connection.exec_driver_sql("SELECT nothing FROM nowhere")


@pytest.mark.parametrize(
    ("place", "uri"),
    [
        ("/home/ä b/50%#?.sce", "file:///home/%C3%A4%20b/50%25%23%3F.sce?mode=ro"),
        ("C:/Users/a.sce", "file:///C%3A/Users/a.sce?mode=ro"),
        ("//server/share/a.sce", "file:////server/share/a.sce?mode=ro"),
    ],
)
def test_uri_of_any_path(place: str, uri: str) -> None:
    class Place:
        def as_posix(self) -> str:
            return place

    assert file_uri(Place(), "mode=ro") == uri  # type: ignore[arg-type]


def test_a_failure_that_is_kept_keeps_no_statement(tmp_path: Path) -> None:
    """It would keep SQLite from closing the file, and the log would stay beside it."""
    make_sound(tmp_path / "a.sce")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.sce")) as plain, plain:
        plain.execute("UPDATE rows SET text = CAST(x'61ff' AS TEXT) WHERE id = 2")
    project = Project.open(tmp_path / "a.sce")
    with pytest.raises(DamagedProject) as kept:
        project.rows([1, 2, 3])
    project.close()
    assert kept.value.__context__ is not None
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith("a.sce-")]
