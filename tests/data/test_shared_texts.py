"""The shared texts of a workbook are read as far as cells name them, and no further than any table needs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.excel import shared_texts
from sce_desktop.data.excel.shared_texts import SharedTexts
from sce_desktop.data.excel.xlsx_xml import DamagedError, HugeError
from sce_desktop.data.tables import open_table, preview_table
from tests.data.reading import read
from tests.data.workbooks import xlsx


def _named(*numbers: int) -> str:
    return "".join(f'<row><c t="s"><v>{number}</v></c></row>' for number in numbers)


def _shared(count: int) -> str:
    return f"<sst>{''.join(f'<si><t>text {number}</t></si>' for number in range(count))}</sst>"


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the pieces that are read of any shared texts from here on."""
    found: list[int] = []
    original = shared_texts.shared_texts

    def counted(stream: io.BytesIO, packed: int, most: int) -> Iterator[list[str]]:
        for piece in original(stream, packed, most):
            found.append(len(piece))
            yield piece

    monkeypatch.setattr(shared_texts, "shared_texts", counted)
    return found


def test_a_preview_reads_the_texts_of_the_head(tmp_path: Path, pieces: list[int]) -> None:
    count = 30_000
    path = xlsx(tmp_path / "a.xlsx", _named(*range(count)), shared=_shared(count))
    preview = preview_table(path)
    assert preview.rows[-1] == ("text 100",)
    assert 0 < sum(pieces) < count / 2
    pieces.clear()
    assert [row[0] for row in read(path).rows] == [f"text {number}" for number in range(1, count)]
    assert sum(pieces) == count  # once, though the table is looked at four times


def test_texts_are_found_in_any_order(tmp_path: Path) -> None:
    numbers = [0, 19_999, 7, 10_000, 10_000, 19_998, 1]
    path = xlsx(tmp_path / "a.xlsx", _named(*numbers), shared=_shared(20_000))
    assert [row[0] for row in read(path).rows] == [f"text {number}" for number in numbers[1:]]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("<sst><si><t>a</t></si><si><t/></si><si/></sst>", ["a", "", ""]),
        (
            "<x:sst xmlns:x='u'><x:si><x:r><x:t>a </x:t></x:r>\n<x:r><x:t>b</x:t></x:r></x:si></x:sst>",
            ["a b"],
        ),
        ("<sst>\n <si>\n <t xml:space='preserve'> a </t>\n </si>\n</sst>", [" a "]),
        (
            "<sst><si><t>東京</t><rPh sb='0' eb='1'><t>トウキョウ</t></rPh></si><si><t>b</t></si></sst>",
            ["東京", "b"],
        ),
        ("<sst><si><t>a &amp; b<![CDATA[<c>]]>_x000D_</t></si></sst>", ["a & b<c>\r"]),
        (f"<sst><si><t>{'a' * 300_000}</t></si><si><t>b</t></si></sst>", ["a" * 300_000, "b"]),
    ],
)
def test_what_counts_as_text(part: str, expected: list[str]) -> None:
    stream = io.BytesIO(part.encode())
    assert [text for piece in shared_texts.shared_texts(stream, 0, 100) for text in piece] == expected


def test_texts_that_no_cell_has_room_to_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_texts, "FREE_TEXTS", 1000)
    unnamed = xlsx(tmp_path / "a.xlsx", _named(0, 1, 19_999), shared=_shared(20_000))
    with pytest.raises(UserError, match="sheets or texts that no table needs"):
        preview_table(unnamed)
    named = xlsx(tmp_path / "b.xlsx", _named(*range(20_000)), shared=_shared(20_000))
    assert len(read(named, size=5000).rows) == 19_999


def test_texts_that_take_too_much_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_texts, "MAX_SHARED", 100_000)
    with pytest.raises(HugeError):
        list(shared_texts.shared_texts(io.BytesIO(_shared(2000).encode()), 0, 10_000))
    assert list(shared_texts.shared_texts(io.BytesIO(_shared(1000).encode()), 0, 10_000))


def test_a_text_without_end_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_texts, "MAX_SHEET_CELL", 1_000_000)
    part = f"<sst><si><t>{'a' * 2_000_000}"
    with pytest.raises(DamagedError):
        list(shared_texts.shared_texts(io.BytesIO(part.encode()), 0, 10))


@pytest.mark.parametrize("number", [-1, 3, 10**30])
def test_a_text_that_is_not_there(number: int, tmp_path: Path) -> None:
    path = xlsx(tmp_path / "a.xlsx", "", shared=_shared(3))
    with pytest.raises(DamagedError):
        SharedTexts(path, "xl/sharedStrings.xml").text(number)


def test_a_table_that_is_left_lets_go_of_the_file(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "a.xlsx", _named(*range(30_000)), shared=_shared(30_000))
    table = open_table(path, TableOptions())
    assert _open_files(path) == 1
    del table
    assert _open_files(path) == 0


def _open_files(path: Path) -> int:
    import psutil

    return sum(Path(file.path) == path.resolve() for file in psutil.Process().open_files())
