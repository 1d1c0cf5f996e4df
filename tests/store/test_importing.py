from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.tables import Cell
from sce_desktop.store.content import importing
from sce_desktop.store.content.rows import ImportReport
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import connect
from sce_desktop.store.project import Project
from tests.store.conftest import fill

COLUMNS = ("id", "text", "country")

ODD_CELLS: list[Cell] = [
    "", " ", "NA", "null", "None", "NaN", "0", "007", "1e5", "-0", "TRUE", None,
    "Müsli für Zoë – 5 €", "日本語", "مرحبا", "👩‍👩‍👧 🇩🇪", "Cafe\u0301", "\ufeffbom", "\u2028", "nul\0inside",
    'He said "no"', "back\\slash", "a,b;c\td|e", "line\nbreak", "dos\r\nbreak", "mac\rbreak", "'=1+1", "=1+1",
    "[1, 2]", "{x}", "%s %_ \\", "\x1b[0m\x7f\x80", "word " * 60_000,  # the last one is long
]  # fmt: skip


class CancelAfter(SilentProgress):
    """Cancels at the n-th time that it is asked."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def check(self) -> None:
        self.times -= 1
        if self.times < 0:
            raise Cancelled


def stored_rows(project: Project) -> tuple[int, set[str]]:
    """Return how many rows the file holds, seen or not, and the indexes on them."""
    with closing(connect(project.path, "mode=ro")) as plain:
        (count,) = plain.execute("SELECT count(*) FROM rows").fetchone()
        indexes = {name for (_, name, *_) in plain.execute("PRAGMA index_list(rows)")}
    return count, indexes


INDEXES = {index.name for index in schema.rows.indexes}


# --- cells stay as they are


@pytest.mark.parametrize("text_columns", [(0,), (1,), (2,), (0, 2), (2, 1, 0)])
def test_every_cell_comes_back_unchanged(project: Project, text_columns: Sequence[int]) -> None:
    shuffled = random.Random(1)
    table = [tuple(shuffled.choice(ODD_CELLS) for _ in COLUMNS) for _ in range(300)]
    table += [(cell, cell, cell) for cell in ODD_CELLS]
    report = project.add_rows(COLUMNS, [table[:7], table[7:]], text_columns=text_columns, source={})
    assert report.rows == project.row_count() == len(table)
    found = project.rows(project.row_ids())
    assert [row.cells for row in found] == table
    assert [row.position for row in found] == list(range(len(table)))
    assert [row.text for row in found] == [project.text_of(cells) for cells in table]
    assert report.blank == project.blank_count() == sum(row.blank for row in found)


@pytest.mark.parametrize("text_columns", [(1,), (1, 2)])
def test_half_characters_of_json_come_back_unchanged(project: Project, text_columns: Sequence[int]) -> None:
    table: list[tuple[Cell, ...]] = [
        ("1", "cut emoji \ud83d", "x"),
        ("2", "whole", "\udc00 other cell"),
        ("3", "fine ü", None),
    ]
    project.add_rows(COLUMNS, [table], text_columns=text_columns, source={})
    assert [row.cells for row in project.rows([1, 2, 3])] == table
    assert project.texts([1])[0].startswith("cut emoji \ufffd")  # no model and no database can hold the half


def test_table_of_one_column(project: Project) -> None:
    table: list[tuple[Cell]] = [("a",), ("",), (None,), ('"b"',)]
    project.add_rows(("text",), [table], text_columns=[0], source={})
    assert [row.cells for row in project.rows([1, 2, 3, 4])] == table


def test_text_of_one_column_is_stored_once(project: Project, path: Path) -> None:
    project.add_rows(COLUMNS, [[("1", "only once 4711", "DE")]], text_columns=[1], source={})
    project.close()
    assert path.read_bytes().count(b"only once 4711") == 1


def test_text_of_several_columns_leaves_blank_ones_out(project: Project) -> None:
    table: list[tuple[Cell, ...]] = [("a", "b", "c"), ("a", None, "c"), (" ", "b", ""), ("", None, "\n")]
    project.add_rows(COLUMNS, [table], text_columns=[2, 0, 1], source={})
    assert project.texts([1, 2, 3, 4]) == ["c\na\nb", "c\na", "b", ""]
    assert project.blank_count() == 1


def test_columns_may_bear_any_and_the_same_header(project: Project) -> None:
    columns = ("", "text", "text", " label ", "a,b")
    project.add_rows(columns, [[("1", "2", "3", "4", "5")]], text_columns=[2], source={})
    assert project.columns == columns
    assert project.texts([1]) == ["3"]


def test_ids_of_the_user_are_data(project: Project) -> None:
    table = [("A_1/é", "one"), ("a_1/é", "two"), ("A_1/é", "three")]
    project.add_rows(("ref", "text"), [table], text_columns=[1], source={})
    assert [row.cells for row in project.rows([1, 2, 3])] == table


# --- what an import says


def test_blank_and_duplicate_rows_are_counted_and_kept(project: Project) -> None:
    report = fill(project, ["good", "", "   ", None, "good", "Good", "bad", "good", "", "\u3000\n"])
    assert report == ImportReport(rows=10, blank=5, duplicates=2)
    assert fill(project, ["bad", "new", "new", ""]) == ImportReport(rows=4, blank=1, duplicates=2)
    assert (project.row_count(), project.blank_count(), project.duplicate_count()) == (14, 6, 4)
    assert project.same_text_ids(1).tolist() == [5, 8]
    assert project.same_text_ids(11).tolist() == [7]
    assert project.same_text_ids(2).tolist() == []  # there is nothing that blank rows have in common
    assert project.with_same_texts([2, 5, 11]).tolist() == [1, 2, 5, 7, 8, 11]
    assert project.with_same_texts([]).tolist() == []


def test_source_is_remembered(project: Project) -> None:
    source = {"path": "ä.csv", "options": {"delimiter": ";", "encoding": None}}
    project.add_rows(COLUMNS, [[("1", "a", "DE")]], text_columns=[1], source=source)
    (record,) = project.imports()
    assert (record.source, record.rows, record.blank, record.duplicates) == (source, 1, 0, 0)
    assert record.finished_at.endswith("+00:00")


def test_progress_counts_rows(project: Project) -> None:
    seen = []

    class Progress(SilentProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            seen.append((done, stage))

    table = [("1", "a", "DE")] * 12_000
    project.add_rows(COLUMNS, [table], text_columns=[1], source={}, progress=Progress())
    assert seen == [(count, "Importing rows") for count in (5_000, 10_000, 12_000)]  # batches stay short


def test_empty_table_gives_columns_and_no_rows(project: Project) -> None:
    assert project.add_rows(COLUMNS, [], text_columns=[1], source={}) == ImportReport(0, 0, 0)
    assert (project.columns, project.text_columns, project.row_count()) == (COLUMNS, (1,), 0)
    assert project.row_ids().tolist() == []
    assert project.add_rows(COLUMNS, [[("1", "a", "DE")]], text_columns=[1], source={}).rows == 1
    assert project.verify() == []


# --- appending


def test_appended_rows_follow(project: Project) -> None:
    fill(project, ["a", "b"])
    project.decide([2], Decision.NONE)
    fill(project, ["c"])
    assert project.texts(project.row_ids()) == ["a", "b", "c"]
    assert list(project.annotations([1, 2, 3])) == [2]
    assert [[row.id for row in batch] for batch in project.iter_rows(batch=2)] == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("columns", "text_columns", "message"),
    [
        (("ref", "text", "x"), (1,), "Not in the project: “x”"),
        (("text",), (0,), "Missing: “ref”"),
        (("Ref", "text"), (1,), "Missing: “ref”. Not in the project: “Ref”"),
        (("text", "ref"), (0,), "order or number differs"),
        (("ref", "text", "text"), (1,), "order or number differs"),
        (("ref", "text"), (0,), "texts of this project come from “text”"),
    ],
)
def test_other_columns_are_refused_by_name(
    project: Project, columns: Sequence[str], text_columns: Sequence[int], message: str
) -> None:
    fill(project, ["a"])
    with pytest.raises(UserError, match=message):
        project.add_rows(columns, [[("1",) * len(columns)]], text_columns=text_columns, source={})
    assert project.row_count() == 1


def test_wrong_calls_are_bugs_and_leave_nothing(project: Project) -> None:
    for text_columns in ([], [2], [-1]):
        with pytest.raises(ValueError, match="text_columns"):
            project.add_rows(("ref", "text"), [], text_columns=text_columns, source={})
    for cells in [("1",), ("1", "2", "3")]:
        with pytest.raises(ValueError, match="cells"):
            project.add_rows(("ref", "text"), [[("1", "2"), cells]], text_columns=[1], source={})
    assert stored_rows(project) == (0, INDEXES)


# --- all or nothing


def test_rows_are_seen_when_all_are_there(project: Project) -> None:
    counts = []

    def batches() -> Iterator[list[tuple[Cell, ...]]]:
        for number in range(3):
            yield [(str(number), "a"), (str(number), "b")]
            counts.append((project.row_count(), len(project.row_ids()), len(list(project.iter_rows()))))
            with pytest.raises(KeyError):
                project.rows([1])

    project.add_rows(("ref", "text"), batches(), text_columns=[1], source={})
    assert counts == [(0, 0, 0)] * 3
    assert project.row_count() == 6


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("times", [0, 1, 2, 4])
def test_cancel_leaves_nothing(project: Project, before: int, times: int) -> None:
    if before:
        fill(project, ["x"] * before)
    batches = [[("1", f"a{number}")] for number in range(4)]
    with pytest.raises(Cancelled):
        project.add_rows(("ref", "text"), batches, text_columns=[1], source={}, progress=CancelAfter(times))
    assert (project.row_count(), len(project.imports())) == (before, min(before, 1))
    assert stored_rows(project) == (before, INDEXES)
    assert project.columns == (("ref", "text") if before else ())
    assert fill(project, ["y", "z"]).rows == 2
    assert project.texts(project.row_ids()) == ["x"] * before + ["y", "z"]
    assert project.verify() == []


@pytest.mark.parametrize("then", ["remove", "add", "open", "stop and open"])
def test_rows_of_a_cancelled_addition_may_go_later(
    project: Project, path: Path, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_BATCH_ROWS", 1)
    monkeypatch.setattr(importing, "_PART_ROWS", 1)
    fill(project, ["x", "y"])
    batches = [[("1", f"a{number}")] for number in range(30)]
    with pytest.raises(Cancelled):
        project.add_rows(
            ("ref", "text"),
            batches,
            text_columns=[1],
            source={},
            progress=CancelAfter(28),
            remove_cancelled=False,
        )
    assert (project.row_count(), len(project.row_ids()), len(project.imports())) == (2, 2, 1)
    left = stored_rows(project)[0]
    assert left > 20
    if then == "remove":
        project.remove_unfinished()
        assert stored_rows(project) == (2, INDEXES)
    if then == "stop and open":
        with pytest.raises(Cancelled):
            project.remove_unfinished(CancelAfter(1))
        assert 2 < stored_rows(project)[0] <= left
    if "open" in then:
        project.close()
        with Project.open(path) as opened:
            assert stored_rows(opened) == (2, INDEXES)
            assert opened.verify() == []
        return
    assert fill(project, ["z"]).rows == 1
    assert project.texts(project.row_ids()) == ["x", "y", "z"]
    assert stored_rows(project) == (3, INDEXES)
    assert project.verify() == []


def test_failing_source_leaves_nothing(project: Project) -> None:
    def batches() -> Iterator[list[tuple[Cell, ...]]]:
        yield [("1", "a")] * 20_000
        raise UserError("The file is not what it was.")

    with pytest.raises(UserError, match="not what it was"):
        project.add_rows(("ref", "text"), batches(), text_columns=[1], source={})
    assert stored_rows(project) == (0, INDEXES)


def test_failure_in_the_last_moment_leaves_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise OSError("no clock")

    monkeypatch.setattr(importing, "now", fail)
    with pytest.raises(OSError, match="no clock"):
        fill(project, ["a", "b"])
    assert stored_rows(project) == (0, INDEXES)
    assert (project.columns, project.row_count()) == ((), 0)


def test_large_unfinished_import_is_removed_at_opening(project: Project, path: Path) -> None:
    """As after kill -9: rows that no import record tells of, and no indexes."""
    project.close()
    record = (b"0" * 16, 1, False, "a", '["1"]')
    with closing(connect(path, "mode=rw")) as plain:
        plain.execute(f"DROP INDEX {schema.text_hash_index.name}")
        plain.execute("BEGIN")
        plain.executemany(
            "INSERT INTO rows (text_hash, length, blank, text, cells) VALUES (?, ?, ?, ?, ?)",
            [record] * 120_000,
        )
        plain.execute("COMMIT")
    with Project.open(path, read_only=True) as reader:
        assert (reader.row_count(), len(reader.row_ids())) == (0, 0)
    with Project.open(path) as opened:
        assert stored_rows(opened) == (0, INDEXES)
        assert opened.verify() == []


def test_imports_take_turns_and_reading_goes_on(project: Project) -> None:
    started, go_on = threading.Event(), threading.Event()

    def slow() -> Iterator[list[tuple[Cell, ...]]]:
        yield [("1", "slow")]
        started.set()
        assert go_on.wait(10)
        yield [("2", "slow")]

    first = threading.Thread(
        target=lambda: project.add_rows(("ref", "text"), slow(), text_columns=[1], source={})
    )
    second = threading.Thread(target=fill, args=(project, ["fast"]))
    first.start()
    assert started.wait(10)
    second.start()
    assert project.row_count() == 0
    project.set_labels([])  # other writing goes on as well
    go_on.set()
    first.join()
    second.join()
    assert project.texts(project.row_ids()) == ["slow", "slow", "fast"]


def test_missing_row_is_a_key_error(project: Project) -> None:
    fill(project, ["a", "b"])
    assert [row.text for row in project.rows([2, 1, 2])] == ["b", "a", "b"]
    assert project.rows([]) == []
    for read in (project.rows, project.texts):
        with pytest.raises(KeyError):
            read([1, 3])


def test_cells_can_be_asked_for_in_sql(project: Project) -> None:
    """A later filter by an original column needs no other schema."""
    project.add_rows(
        COLUMNS, [[("1", "a", "DE"), ("2", "b", None), ("3", "c", "")]], text_columns=[1], source={}
    )
    with project._database.read() as connection:
        country = sa.func.json_extract(schema.rows.c.cells, "$[1]")
        found = connection.execute(sa.select(schema.rows.c.id).where(country == "DE")).scalars().all()
        empty = connection.execute(sa.select(schema.rows.c.id).where(country.is_(None))).scalars().all()
    assert (found, empty) == ([1], [2])


@pytest.mark.parametrize("text_columns", [(1,), (1, 2)])
@pytest.mark.parametrize("text", ["\u200b", "\ufeff", "\u2060 ", "\0", "\u00ad", "\ufe0f\u200d", " \u200b\n"])
def test_invisible_texts_are_blank(project: Project, text: str, text_columns: Sequence[int]) -> None:
    report = project.add_rows(
        COLUMNS,
        [[("1", text, ""), ("2", "seen", ""), ("3", text, "\u200b")]],
        text_columns=text_columns,
        source={},
    )
    assert (report.blank, report.duplicates, project.blank_count()) == (2, 0, 2)
    assert [row.blank for row in project.rows([1, 2, 3])] == [True, False, True]
    assert project.row_ids(RowQuery(blank=False)).tolist() == [2]
    assert project.rows([1])[0].cells == ("1", text, "")
