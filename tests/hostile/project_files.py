"""Project files with a damaged header or pages, and what lies beside them: logs and journals."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Final

from sce_desktop.store.file import schema
from tests.hostile.project_edits import Builder, companion, patched, rebuilt, sql


def _other_encoding(path: Path) -> None:
    """Write the same project in UTF-16."""
    with closing(sqlite3.connect(path)) as old:
        script = [text for (text,) in old.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL")]
        script = [
            text
            for text in script
            if "row_trigrams" not in text and "row_search" not in text and "sqlite_" not in text
        ]
        content = {
            table: old.execute(f"SELECT * FROM {table}").fetchall() for table in schema.metadata.tables
        }
        version = old.execute("PRAGMA user_version").fetchone()[0]
    path.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as new:
        new.execute("PRAGMA encoding='UTF-16le'")
        new.execute(f"PRAGMA application_id={schema.APPLICATION_ID}")
        new.execute(f"PRAGMA user_version={version}")
        for text in script:
            new.execute(text)
        for table, records in content.items():
            for record in records:
                new.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(record))})", record)
        new.execute("UPDATE project SET searchable_to = 0")


def _foreign_log(path: Path) -> None:
    """Leave the log of another database beside the project, whose header says that it has one."""
    other = path.with_name("other.db")
    with closing(sqlite3.connect(other, isolation_level=None)) as plain:
        plain.execute("PRAGMA page_size=8192")
        plain.execute("PRAGMA journal_mode=WAL")
        plain.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
        plain.execute("INSERT INTO rows (text) VALUES ('foreign')")
        path.with_name(f"{path.name}-wal").write_bytes(other.with_name("other.db-wal").read_bytes())
    other.unlink()
    patched(18, b"\x02\x02")(path)


def _journal(pages: list[tuple[int, bytes]], size: int, count: int, super_name: bytes = b"") -> bytes:
    """Return a rollback journal: https://www.sqlite.org/fileformat2.html#the_rollback_journal."""
    nonce = 7
    journal = struct.pack(">8s5I", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", len(pages), nonce, count, 512, size)
    journal = journal.ljust(512, b"\0")
    for number, page in pages:
        total = nonce + sum(page[place] for place in range(size - 200, 0, -200))
        journal += struct.pack(">I", number) + page + struct.pack(">I", total & 0xFFFFFFFF)
    if super_name:
        # A page number that no database has, the name, its length, its sum, and the magic again.
        journal += struct.pack(">I", 0x40000000 // size + 1) + super_name
        journal += struct.pack(">II", len(super_name), sum(super_name))
        journal += b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    return journal


def _hot_journal(path: Path) -> None:
    """Leave a journal that puts garbage into the project when SQLite rolls it back."""
    count = path.stat().st_size // 8192
    page = path.read_bytes()[:8192]
    path.with_name(f"{path.name}-journal").write_bytes(
        _journal([(1, page), (3, b"\xff" * 8192), (5, b"\x0d" + b"\0" * 8191)], 8192, count)
    )


def _journal_of_another(path: Path) -> None:
    """Leave the journal that another database of this name had when its program was killed."""
    path.with_name(f"{path.name}-journal").write_bytes(
        _journal([(1, b"SQLite format 3\0".ljust(4096, b"\x01"))], 4096, 1)
    )


def _journal_that_deletes(path: Path) -> None:
    """Leave a journal that names a file of the user's, which SQLite takes for one of its own and deletes."""
    victim = path.with_name("thesis.txt")
    victim.write_text("years of work")
    page = path.read_bytes()[:8192]
    path.with_name(f"{path.name}-journal").write_bytes(
        _journal([(1, page)], 8192, path.stat().st_size // 8192, os.fsencode(victim))
    )


def _log_that_is_a_link(path: Path) -> None:
    """Let the log be a file of the user's, which SQLite would write over."""
    path.with_name("thesis.txt").write_text("years of work")
    path.with_name(f"{path.name}-wal").symlink_to("thesis.txt")
    patched(18, b"\x02\x02")(path)


def _pipe(ending: str) -> Builder:
    def build(path: Path) -> None:
        os.mkfifo(path.with_name(path.name + ending))

    return build


def _cut(share: float) -> Builder:
    return lambda path: os.truncate(path, int(path.stat().st_size * share))


def _shared_overflow(path: Path) -> None:
    """Let 400 rows be one text of two million characters: 800 MB in a file of 2.5 MB."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("UPDATE rows SET text = ?, length = 2000000 WHERE id = 60", ("x" * 2_000_000,))
    content = path.read_bytes()
    size = 8192
    inner = 0
    # The leaf with the long record: a table leaf whose one cell goes on elsewhere.
    for start in range(size, len(content), size):
        page = content[start : start + size]
        if page[0] == 13 and b"x" * 100 in page:
            inner = start
    page = bytearray(content[inner : inner + size])
    cells = int.from_bytes(page[3:5], "big")
    pointers = struct.unpack(f">{cells}H", page[8 : 8 + 2 * cells])
    # Every record of the page becomes the last one: the same bytes, the same pages behind.
    page[8 : 8 + 2 * cells] = struct.pack(f">{cells}H", *[pointers[-1]] * cells)
    path.write_bytes(content[:inner] + bytes(page) + content[inner + size :])


def _page_in_a_circle(path: Path) -> None:
    """Let an inner page of the rows be its own child."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        for number in range(61, 3000):
            plain.execute(
                "INSERT INTO rows (text_hash, length, blank, text, cells) VALUES (x'00', 1, 0, 'x', ?)",
                (json.dumps([str(number), "y" * 200]),),
            )
        (root,) = plain.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'rows'").fetchone()
    start = (root - 1) * 8192
    page = bytearray(path.read_bytes()[start : start + 8192])
    assert page[0] == 5
    page[8:12] = struct.pack(">I", root)
    patched(start, bytes(page))(path)


FILES: Final[dict[str, Builder]] = {
    "empty": lambda path: os.truncate(path, 0),
    "header alone": lambda path: os.truncate(path, 100),
    "half": _cut(0.5),
    "last page missing": lambda path: os.truncate(path, path.stat().st_size - 8192),
    "magic lost": patched(0, b"\0" * 16),
    "page size of nothing": patched(16, b"\0\0"),
    "page size of 512": patched(16, b"\x02\0"),
    "reserved bytes": patched(20, b"\xff"),
    "pages beyond the end": patched(28, b"\x7f\xff\xff\xff"),
    "free pages without end": patched(32, b"\0\0\0\x02\x7f\xff\xff\xff"),
    "format of the schema": patched(44, b"\0\0\0\x09"),
    "cache of two billion pages": patched(48, b"\x7f\xff\xff\xff"),
    "encoding nobody knows": patched(56, b"\0\0\0\x07"),
    "version 0": sql("PRAGMA user_version=0"),
    "version set back": sql("PRAGMA user_version=3"),
    "version of one before": sql("PRAGMA user_version=6"),
    "version negative": sql("PRAGMA user_version=-1"),
    "version of the far future": sql("PRAGMA user_version=2147483647"),
    "mark of another program": sql("PRAGMA application_id=7"),
    "UTF-16": _other_encoding,
    "pages of 512 bytes": rebuilt("PRAGMA page_size=512"),
    "auto_vacuum": rebuilt("PRAGMA auto_vacuum=FULL"),
    "root page zeroed": patched(100, b"\0" * 8092),
    "pages in a circle": _page_in_a_circle,
    "records that share their pages": _shared_overflow,
    "log of another database": _foreign_log,
    "log of garbage": companion("-wal", b"\x37\x7f\x06\x82" + os.urandom(9_000)),
    "log that is a link": _log_that_is_a_link,
    "log that is a pipe": _pipe("-wal"),
    "journal of garbage": companion("-journal", os.urandom(9_000)),
    "journal that is a pipe": _pipe("-journal"),
    "journal of another database": _journal_of_another,
    "journal that damages": _hot_journal,
    "journal that deletes a file": _journal_that_deletes,
}
