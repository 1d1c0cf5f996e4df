from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop.data.csv.csv_grammar import QUOTE, Style
from sce_desktop.data.csv.sniff import cell_counts, detect_delimiter, detect_encodings, looks_binary

TEXTS = {
    "cp1252": "Das Paket kam spät – völlig durchnäßt. Où est ma commande ? ¿Cuándo llegará, señor?",
    "cp1250": "Paczka dotarła bardzo późno i była uszkodzona. Proszę o zwrot pieniędzy, żądam wyjaśnień.",
    "cp1251": "Посылка пришла очень поздно и была повреждена. Прошу вернуть деньги.",
    "koi8_r": "Посылка пришла очень поздно и была повреждена. Прошу вернуть деньги, так как я заплатил.",
    "cp1253": "Το δέμα έφτασε πολύ αργά και ήταν κατεστραμμένο. Θέλω τα χρήματά μου πίσω.",
    "cp932": "荷物がとても遅れて届き、破損していました。返金をお願いします。",
    "euc_jp": "荷物がとても遅れて届き、破損していました。返金をお願いします。",
    "cp949": "소포가 너무 늦게 도착했고 파손되어 있었습니다. 환불을 요청합니다.",
    "gb18030": "包裹送得很晚，而且已经损坏。我要求退款，因为我已经付了钱。请尽快处理。",
    "big5": "包裹送得很晚，而且已經損壞。我要求退款，因為我已經付了錢。請盡快處理。",
    "cp1255": "החבילה הגיעה מאוחר מאוד והייתה פגומה. אני רוצה את הכסף שלי בחזרה.",
    "cp1256": "وصل الطرد متأخرا جدا وكان تالفا. أريد استعادة أموالي لأنني دفعت بالفعل.",
}


def encodings(folder: Path, content: bytes) -> tuple[str, ...]:
    path = folder / "a.csv"
    path.write_bytes(content)
    return detect_encodings(path, len(content))


@pytest.mark.parametrize("encoding", TEXTS)
def test_legacy_encodings_are_reported_by_their_texts(tmp_path: Path, encoding: str) -> None:
    content = f"id,text\n1,{TEXTS[encoding]}\n".encode(encoding)
    found = encodings(tmp_path, content)
    assert content.decode(found[0]) == content.decode(encoding)
    assert "utf-8" in found


@pytest.mark.parametrize("text", ["Zoë", "für 5 €", "naïve", "“so”", "café – 3 £", "Straße", "à"])
def test_short_western_texts_are_cp1252(tmp_path: Path, text: str) -> None:
    assert encodings(tmp_path, f"text\n{text}\n".encode("cp1252"))[0] == "cp1252"


def test_english_with_a_foreign_word_now_and_then_is_cp1252(tmp_path: Path) -> None:
    names = ["São Paulo", "Restørsea", "Thomas à Becket", "a Caffè", "Málaga", "Łódź", "don´t", "£5 – so"]
    lines = [
        f"{n},We heard about {names[n % len(names)]} in the news of this very morning\n" for n in range(400)
    ]
    content = "".join(lines).encode("cp1252", "replace")
    assert encodings(tmp_path, content)[0] == "cp1252"


def test_what_stands_late_in_a_file_counts(tmp_path: Path) -> None:
    assert encodings(tmp_path, b"id,text\n" * 100_000 + "1,für\n".encode("cp1252"))[0] == "cp1252"
    assert encodings(tmp_path, b"id,text\n" * 100_000 + "1,für\n".encode())[0] == "utf-8"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_with_and_without_marks(tmp_path: Path, encoding: str) -> None:
    content = "id,text\n1,plain\n".encode(encoding)
    found = encodings(tmp_path, content)[0]
    assert content.decode(found).removeprefix("\ufeff") == "id,text\n1,plain\n"


def test_ascii_is_utf8(tmp_path: Path) -> None:
    assert encodings(tmp_path, b"id,text\n1,plain\n")[0] == "utf-8"


def delimiter(text: str, *, header: bool = True) -> str:
    return detect_delimiter(text.splitlines(keepends=True), quoting=True, header=header)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,text\n1,hello\n", ","),
        ("id,text\n", ","),
        ("text\n", ""),
        ("text\na, b\nc, d\n", ""),
        ("Comment, if any\nfine\nalso fine\nno, not at all\n", ""),
        ("id,text\n1,a\n2\n3,x,y\n", ","),  # ragged, yet no doubt
        ("id,text\n1,so, then\n2,well\n", ","),
        ("a|b|c\n1|x, y|2\n", "|"),
        ('id;text\n1;"a;b;c"\n2;"x, y\nz"\n', ";"),
        ("name;price\nÖl;3,50\nTee;4,00\n", ";"),
        ("a~b~c\n1~x y~2\n3~z, w~4\n", "~"),
        ("first second\nthird fourth\nfifth sixth\n", ""),  # words are no columns
    ],
)
def test_delimiters(text: str, expected: str) -> None:
    assert delimiter(text) == expected


def test_without_a_header_most_records_decide() -> None:
    assert delimiter("1;a, b\n2;c\n3;d, e, f\n", header=False) == ";"
    assert delimiter("a, b\nc\nd, e, f\n", header=False) == ""


def test_binary_content() -> None:
    assert looks_binary(bytes(range(256)) * 4)
    assert looks_binary(bytes(100))
    assert not looks_binary(b"id,text\n1,a\0b\n")
    assert not looks_binary("id,text\n".encode("utf-16-le"))
    assert not looks_binary("id,text\n1,für\n".encode("cp1252"))


class Lines(list[str]):
    """Lines that count how often they are gone through from the first on."""

    begun = 0

    def __iter__(self) -> Iterator[str]:
        self.begun += 1
        return super().__iter__()


def test_blank_lines_are_not_gone_through_again_for_each() -> None:
    lines = Lines(["a,b\n", "1,2\n", *["\n"] * 1000])
    assert cell_counts(lines, Style(QUOTE).cut_at(","), complete=True) == [2, 2]
    assert lines.begun == 0
