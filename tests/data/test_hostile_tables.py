"""Small files that ask for gigabytes or hours are read, or refused in one sentence: the quick ones of them.

All of them, in each way: ``python -m tests.hostile tables``.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table

if not sys.platform.startswith("linux"):
    pytest.skip("limits memory as Linux does", allow_module_level=True)

from tests.hostile import reading, tables

# These take more than two seconds of the processor to make or to read.
LARGE = frozenset(
    {
        *("wide_rows", "open_quotes", "quote_never_closed", "returns_behind_quotes", "backslashes"),
        *("blank_lines", "carriage_returns", "no_line_end", "surrogates", "broken_bytes", "bzip2"),
        *("keys_in_one_object", "long_places", "repeated_keys", "labels_workbook", "blank_cells"),
        *(
            "zip_bomb",
            "shared_bomb_to_the_end",
            "merged_cells",
            "deep_elements",
            "many_sheets",
            "many_styles",
        ),
        *("lying_sizes", "ods_just_below", "parquet_zeros", "parquet_wide", "parquet_nulls"),
        *("parquet_row_groups", "parquet_long_texts", "parquet_broken_texts", "parquet_long_list"),
        *("gzip_rows", "gzip_json", "zip_of_a_table", "gzip_zeros", "wide_row", "long_number"),
    }
)


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    reading.load_everything()


@pytest.mark.parametrize("name", sorted(set(tables.BOMBS) - LARGE))
def test_a_hostile_file_is_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    ended = tables.met(name, tables.ways_of(name)[0], tmp_path)
    assert tables.is_good(ended), f"{name}: {ended}"


@pytest.mark.parametrize("way", [reading.project_create, reading.classify])
@pytest.mark.parametrize("name", ["wide_header", "new_keys", "long_comment", "parquet_dictionary"])
def test_the_command_line_refuses_it_too(name: str, way: Callable[[Path], str], tmp_path: Path) -> None:
    ended = tables.met(name, way, tmp_path)
    assert tables.is_good(ended), f"{name}: {ended}"
    assert ended.word == "refused"


def test_a_file_that_hangs_or_takes_memory_is_seen() -> None:
    def hangs() -> str:
        while True:
            pass

    def takes() -> str:
        return str(len(bytearray(2 << 30)))

    assert tables.trial(hangs, seconds=1).word == "slow"
    assert tables.trial(takes, seconds=5, memory=1 << 30).word == "memory"
    assert not tables.is_good(tables.Ended("read", "", 1.0, 2 << 30))


def _quotes(size: int) -> str:
    return "id,text\n" + ('"' * 999 + "\n") * (size // 1000)


def _open_quotes(size: int) -> str:
    return "id,text\n" + '1,"late\n' * (size // 8)


def _returns(size: int) -> str:
    return "id,text\n1,2\n" + '"a"\r,' * (size // 5) + "x\n"


def _tabs(size: int) -> str:
    return "id,text\n" + "\t" * size + "\n"


def _single_quotes(size: int) -> str:
    return "id,text\n" + ",'x" * (size // 3) + "\n"


def _digits(size: int) -> str:
    return "id,text\n" + "1" * size + "x,2\n" + "2,3\n" * 20


@pytest.mark.parametrize("made", [_quotes, _open_quotes, _returns, _tabs, _single_quotes, _digits])
def test_twice_the_table_takes_twice_the_time(made: Callable[[int], str], tmp_path: Path) -> None:
    def seconds(size: int) -> float:
        path = tmp_path / "a.csv"
        path.write_text(made(size), encoding="utf-8")
        started = time.process_time()
        for _batch in open_table(path).batches():
            pass
        return time.process_time() - started

    seconds(1000)  # what is imported and compiled once
    small = min(seconds(60_000) for _ in range(2))
    # Four times the size: quadratic time would be sixteen times as long.
    assert min(seconds(240_000) for _ in range(2)) < 9 * small + 0.2


def test_no_batch_holds_more_text_than_memory_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sce_desktop.data.reader.MAX_CHUNK_TEXT", 10_000)
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "text"], *([str(n), "x" * 5000] for n in range(300))])
    table = open_table(path, TableOptions(encoding="utf-8", delimiter=","))
    batches = list(table.batches(50))
    assert sum(map(len, batches)) == 300
    assert [int(row[0] or -1) for batch in batches for row in batch] == list(range(300))
    assert max(map(len, batches)) <= 60
