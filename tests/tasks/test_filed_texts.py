"""Texts in a file that nobody sees, against lists of them."""

from __future__ import annotations

import errno
import gc
import random
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.tasks.insight import filed_texts
from sce_desktop.tasks.insight.filed_texts import FiledTexts

LETTERS = "ab é包\ud800\U0001f600\uffff"  # of one to four bytes, and half a character
MOST = 5
MAKE = tempfile.TemporaryFile


def drawn(count: int, seed: int = 0) -> list[str]:
    """Return short texts, many of them the same or the same in their beginnings."""
    rng = random.Random(seed)
    return ["".join(rng.choices(LETTERS, k=rng.randrange(9))) for _ in range(count)]


def check(texts: list[str]) -> None:
    """Look at everything that can be asked."""
    held = FiledTexts(iter(texts), MOST)
    beginnings = [text[:MOST] for text in texts]
    assert [held[place] for place in range(len(held))] == beginnings
    assert held.empty().tolist() == [not text for text in texts]
    assert held.leads.tolist() == [texts.index(text) for text in texts]
    in_order = sorted(range(len(texts)), key=beginnings.__getitem__)
    assert [place for _rank, place in sorted(zip(held.ranks().tolist(), range(len(texts)), strict=True))] == (
        in_order
    )


@pytest.mark.parametrize("count", [0, 1, 2, 40, 2000])
def test_texts_their_order_and_which_are_the_same(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(drawn(count, seed=count))
    monkeypatch.setattr(filed_texts, "_AT_ONCE", 100)
    check(drawn(count, seed=count))
    check([""] * count)


def test_of_texts_that_differ_late_the_first_characters_are_held() -> None:
    held = FiledTexts(["x" * 100, "x" * 101, "x" * 100], 100)
    assert [held[place] for place in range(3)] == ["x" * 100] * 3
    assert held.leads.tolist() == [0, 1, 0]
    assert held.ranks().tolist() == [0, 1, 2]


def test_of_texts_themselves_nothing_is_held_in_memory() -> None:
    count, length = 5_000, 1_000

    def texts() -> Iterator[str]:
        for number in range(count):
            yield f"{number}".rjust(length, ".")

    tracemalloc.start()
    try:
        held = FiledTexts(texts(), length)
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held[count - 1].endswith(f".{count - 1}")
    assert kept < 20 * count  # where each ends, and which it is like
    assert most < length * count / 2


@pytest.mark.skipif(sys.platform == "win32", reason="an open file has a name there")
def test_the_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = FiledTexts(["secret"], 100)
    assert held[0] == "secret"
    assert not list(tmp_path.iterdir())


class FullDisk:
    """A file on a disk that has room for some bytes alone."""

    def __init__(self, room: int) -> None:
        self._file = MAKE(buffering=0)
        self._room = room

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytearray) -> int:
        """Write as much as there is room for; at least a byte, as the system does."""
        if not self._room:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = self._file.write(bytes(data[: self._room]))
        self._room -= count
        return count


@pytest.mark.parametrize("room", [0, 1, 150, 1000])
def test_where_the_disk_has_no_room_texts_are_held_in_memory(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filed_texts, "_AT_ONCE", 100)
    made = list[FullDisk]()

    def full(**_options: Any) -> FullDisk:
        made.append(FullDisk(room))
        return made[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    check(drawn(300))
    assert made
    assert all(file.closed for file in made)


def test_without_a_folder_for_temporary_files_texts_are_held_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nowhere(**_options: Any) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryFile", nowhere)
    check(drawn(300))


def test_the_file_goes_where_texts_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    files = list[Any]()

    def noted(**options: Any) -> Any:
        files.append(MAKE(**options))
        return files[-1]

    def texts() -> Iterator[str]:
        yield "one"
        raise ValueError("stopped")

    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    with pytest.raises(ValueError, match="stopped"):
        FiledTexts(texts(), MOST)
    gc.collect()
    assert [file.closed for file in files] == [True]
