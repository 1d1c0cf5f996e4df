"""Pages read without SQLite say what SQLite says."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sce_desktop.store.file.wal import open_log
from sce_desktop.store.repair.pages import INDEX_INNER, PageFile, Value

NUMBERS = [0, 1, -1, 127, -128, 200, 2**15, -(2**23), 2**31, 2**40, -(2**47), 2**62, -(2**63), 2**63 - 1]


def make(path: Path, page_size: int, *, wal: bool = False) -> sqlite3.Connection:
    choose = random.Random(page_size)
    plain = sqlite3.connect(path, isolation_level=None)
    plain.execute(f"PRAGMA page_size={page_size}")
    if wal:
        plain.execute("PRAGMA journal_mode=WAL")
        plain.execute("PRAGMA wal_autocheckpoint=0")
    plain.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, number, real, text, blob)")
    plain.execute("CREATE TABLE b (x, y, PRIMARY KEY (x, y)) WITHOUT ROWID")
    lengths = [0, 1, 57, 58, 121, 122, 477, 478, 489, page_size - 40, page_size - 35, 3 * page_size]
    plain.execute("BEGIN")
    for row, length in enumerate(lengths * 6):
        number = choose.choice(NUMBERS)
        text = "".join(choose.choices("aäł€😀", k=max(0, length)))
        record = (row * 7 - 40, number, number / 3, text, choose.randbytes(max(0, length)))
        plain.execute("INSERT INTO a VALUES (?, ?, ?, ?, ?)", record)
        plain.execute("INSERT OR IGNORE INTO b VALUES (?, ?)", (number, text))
    plain.execute("COMMIT")
    return plain


def read(pages: PageFile, root: int) -> list[tuple[Value, ...]]:
    """Return every record below ``root``, those of a table with their number in place of the first column."""
    found = []
    below = [root]
    while below:
        number = below.pop()
        children = list(pages.children(number))
        below += children
        if not children or pages.kind(number) == INDEX_INNER:
            for cell in pages.cells(number):
                assert cell is not None
                values = pages.values(cell)
                assert values is not None
                found.append((cell.rowid, *values[1:]) if cell.kinds[0] == "n" else tuple(values))
    return found


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 8192, 65536])
@pytest.mark.parametrize("wal", [False, True], ids=["file", "log"])
def test_records_are_those_that_sqlite_reads(tmp_path: Path, page_size: int, wal: bool) -> None:
    path = tmp_path / "a.db"
    with closing(make(path, page_size, wal=wal)) as plain:
        log = open_log(path.with_name("a.db-wal"))
        assert (log is not None) == wal
        with closing(PageFile(path, log)) as pages:
            assert (pages.page_size, pages.has_header) == (page_size, True)
            roots = dict(plain.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'"))
            for table, root in roots.items():
                expected = plain.execute(f"SELECT * FROM {table}").fetchall()
                pages.begin()
                assert sorted(read(pages, root), key=repr) == sorted(expected, key=repr)
        if log is not None:
            log.close()


def test_size_of_pages_is_found_without_a_header(tmp_path: Path) -> None:
    for page_size in (1024, 4096, 8192):
        path = tmp_path / f"{page_size}.db"
        make(path, page_size).close()
        path.write_bytes(bytes(100) + path.read_bytes()[100:])
        with closing(PageFile(path)) as pages:
            assert (pages.page_size, pages.has_header) == (page_size, False)


def test_free_pages_are_known(tmp_path: Path) -> None:
    with closing(make(tmp_path / "a.db", 1024)) as plain:
        plain.execute("DELETE FROM a")
        (count,) = plain.execute("PRAGMA freelist_count").fetchone()
        with closing(PageFile(tmp_path / "a.db")) as pages:
            free, sure = pages.free_pages()
    assert (len(free), sure) == (count, True)
    assert count > 10


def test_records_that_share_or_circle_through_pages_end(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    make(path, 512).close()
    content = bytearray(path.read_bytes())
    for page in range(1, len(content) // 512):  # long records lead to one page, which leads to itself
        if content[page * 512] == 0:
            content[page * 512 : page * 512 + 4] = (len(content) // 512).to_bytes(4, "big")
    path.write_bytes(content)
    with closing(PageFile(path)) as pages:
        for page in range(1, pages.count + 1):
            for cell in pages.cells(page):
                if cell is not None:
                    pages.values(cell)


def test_log_counts_up_to_its_last_finished_change(tmp_path: Path) -> None:
    path, log_path = tmp_path / "a.db", tmp_path / "a.db-wal"
    with closing(make(path, 1024, wal=True)) as plain:
        before = log_path.read_bytes()
        plain.execute("DELETE FROM a WHERE id > 100")
        after = log_path.read_bytes()
        assert len(after) > len(before)
        copy = tmp_path / "copy.db-wal"
        states = []
        for content in (before, after, after[:-1], after[: len(before) + 50], before + bytes(2_000)):
            copy.write_bytes(content)
            log = open_log(copy)
            assert log is not None
            states.append({number: log.page(number) for number in log.pages})
            log.close()
    assert states[0] != states[1]
    assert [state == states[0] for state in states[2:]] == [True, True, True]


@pytest.mark.parametrize("harm", [0, 8, 16, 24, 40, 60])
def test_log_with_a_broken_head_holds_nothing(tmp_path: Path, harm: int) -> None:
    with closing(make(tmp_path / "a.db", 1024, wal=True)):
        content = bytearray((tmp_path / "a.db-wal").read_bytes())
    content[harm] ^= 0xFF
    (tmp_path / "copy").write_bytes(content)
    assert open_log(tmp_path / "copy") is None
    assert open_log(tmp_path / "missing") is None
