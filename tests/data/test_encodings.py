"""Which encoding a file is read in: the letters decide, then how widely it is used; doubts are told."""

from __future__ import annotations

import json
import random
import unicodedata
from pathlib import Path

import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.data.csv.encodings import guess_encoding
from sce_desktop.data.tables import open_table, preview_table
from tests.benchmarks.encodings import encoded
from tests.data.reading import read_bytes

FEEDBACK = json.loads(Path(__file__).with_name("feedback.json").read_text(encoding="utf-8"))
LANGUAGES = [(language, encoding) for language in FEEDBACK for encoding in FEEDBACK[language]["encodings"]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("language", "encoding"), LANGUAGES)
def test_ten_lines_of_a_language_are_read_as_they_were_written(
    tmp_path: Path, language: str, encoding: str, seed: int
) -> None:
    choose = random.Random(f"{language} {encoding} {seed}")
    lines = [choose.choice(FEEDBACK[language]["lines"]) for _ in range(10)]
    content = "id,text\n" + "".join(f'{number},"{line}"\n' for number, line in enumerate(lines))
    result = read_bytes(tmp_path, encoded(content, encoding))
    assert [unicodedata.normalize("NFC", row[1] or "") for row in result.rows] == lines


@pytest.mark.parametrize(
    "text",
    [
        "Déjà reçu à Noël et très déçu du service\nLe café était froid",
        "Não recebi a informação sobre a devolução",
        "São dois dias de atraso, não é aceitável\nA próxima é à tarde",
        "Myöhästynyt lähetys, ei näin jälkeenpäin\nHyvä hinta",
        "Försenad försändelse på väg från Malmö",
        "Señor, ¿dónde está mi pedido? ¡Mañana!",
        "Perché è così? La qualità è già calata",
        "Straße gesperrt, Lieferung für Frau Müller verspätet",
    ],
)
def test_western_texts_are_cp1252(tmp_path: Path, text: str) -> None:
    rows = text.split("\n")
    result = read_bytes(tmp_path, b"id,text\n" + "".join(f'1,"{row}"\n' for row in rows).encode("cp1252"))
    assert [row[1] for row in result.rows] == rows
    assert result.table.options.encoding == "cp1252"
    assert not result.table.doubts


def test_of_encodings_that_read_the_sample_alike_the_commoner_one_is_taken(tmp_path: Path) -> None:
    result = read_bytes(
        tmp_path, "text\nA rendelés késik, kérem a segítségüket, nagyon régóta kérdezem\n".encode("iso8859_2")
    )
    assert result.table.options.encoding == "cp1250"


def test_two_readings_that_remain_are_reported_with_the_line_that_differs(tmp_path: Path) -> None:
    lines = ["Plain words first", "Na lince mi ochotně a rychle poradili, nechal krabici na dešti"]
    content = "text\n" + "".join(f"{line}\n" for line in lines * 4)
    result = read_bytes(tmp_path, content.encode("iso8859_2"))
    assert [row[0] for row in result.rows] == lines * 4
    (doubt,) = result.table.doubts
    assert (doubt.option, doubt.value) == ("encoding", "cp1250")
    assert doubt.sentence == (
        "Line 3 reads “Na lince mi ochotně a rychle poradili, nechal krabici na dešti” as ISO8859-2 and "
        "“Na lince mi ochotně a rychle poradili, nechal krabici na deąti” as CP1250: ISO8859-2 was used."
    )
    assert doubt.flag == "--encoding cp1250"
    chosen = read_bytes(tmp_path, content.encode("iso8859_2"), encoding="iso8859_2")
    assert not chosen.table.doubts


def test_lines_of_json_are_reported_too(tmp_path: Path) -> None:
    line = "Na lince mi ochotně a rychle poradili, nechal krabici na dešti"
    content = "".join(f'{{"id": {number}, "text": "{line}"}}\n' for number in range(4))
    result = read_bytes(tmp_path, content.encode("iso8859-2"), "a.jsonl")
    assert result.rows[0] == ("0", line)
    assert [doubt.flag for doubt in result.table.doubts] == ["--encoding cp1250"]


def test_the_other_reading_is_among_the_encodings_on_offer(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("text\nAboneliğimi iptal edin\nşifre\nSiparişim yok\n".encode("cp1254"))
    preview = preview_table(tmp_path / "a.csv")
    assert {"cp1252", "cp1254"} <= set(preview.encodings[:4])
    assert [row[0] for row in preview.rows] == ["Aboneliğimi iptal edin", "şifre", "Siparişim yok"]


def test_a_line_far_below_is_reported_by_its_number(tmp_path: Path) -> None:
    content = b"id,text\n" + b"1,plain\n" * 70_000 + "2,Łódź i już\n".encode("cp1250")
    (tmp_path / "a.csv").write_bytes(content)
    guess = guess_encoding(tmp_path / "a.csv", len(content))
    assert guess.ranked[0] == "cp1250"
    assert guess.line in (0, 70_002)


# --- a few signs and letters in plain text ------------------------------------------------------------------

FEW = [
    "A naïve customer paid £25 for a résumé",
    "naïve",
    "Zoë paid £5",
    "Señor paid £5",
    "¿Qué? ½ kg",
    "§ 5 Abs. 2",
    "£",
    "£5 ½ price",
    "naïve café, 25°C ±2 ½ £5",
    "¼ ½ ¾ cups",
    "° ± ½",
    "crème brûlée",
    "Müller & Söhne",
    "50 °C",
    "©",
    "© 2024 Acme",
    "5 €",
    "10 µm ²",
    "Køb 5 stk",
    "I asked Citroën twice: no answer",
    "“quoted” – it’s 5 €",
    "1½ cups of crème",
    "½cup",
]


def _among_plain_rows(text: str, encoding: str, plain: int = 0) -> bytes:
    rows = "7,some more words\n" * plain
    return f'id,text\n1,plain text here\n{rows}2,"{text}"\n3,another plain one\n'.encode(encoding)


@pytest.mark.parametrize("plain", [0, 30, 100])
@pytest.mark.parametrize("text", FEW)
def test_a_few_western_characters_are_read_as_cp1252(tmp_path: Path, text: str, plain: int) -> None:
    result = read_bytes(tmp_path, _among_plain_rows(text, "cp1252", plain))
    assert result.rows[plain + 1][1] == text
    assert result.table.options.encoding == "cp1252"


def test_a_reading_that_fits_nearly_as_well_is_still_offered(tmp_path: Path) -> None:
    (doubt,) = read_bytes(tmp_path, _among_plain_rows("Zoë paid £5", "cp1252")).table.doubts
    assert (doubt.option, doubt.value) == ("encoding", "cp1257")
    assert doubt.sentence == (
        'Line 3 reads “2,"Zoë paid £5"” as CP1252 and “2,"Zoė paid £5"” as CP1257: CP1252 was used.'
    )


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("żona była zła", "cp1250"),
        ("Příliš žluťoučký kůň", "cp1250"),
        ("İyi değil, şikayetçiyim", "cp1254"),
        ("Siuntą gavau per vėlai, dėžė sulūžusi", "cp1257"),
        ("Москва", "cp1251"),
        ("Αθήνα", "cp1253"),
        ("arrivé abîmé", "mac-roman"),
    ],
)
def test_a_rarer_encoding_that_fits_far_better_is_taken(tmp_path: Path, text: str, encoding: str) -> None:
    assert read_bytes(tmp_path, _among_plain_rows(text, encoding)).rows[1][1] == text


def test_cp1252_is_offered_where_another_encoding_was_taken_for_a_few_letters(tmp_path: Path) -> None:
    result = read_bytes(tmp_path, _among_plain_rows("REFUND Tromsø NOW", "cp1252"))
    assert result.table.options.encoding == "cp1257"
    assert [doubt.value for doubt in result.table.doubts] == ["cp1252"]


@pytest.mark.parametrize(
    "text", ["prix 5 € très œuvre", "5 €", "une œuvre", "le bœuf, l'œil et le cœur", "Œuvre complète, 12 €"]
)
def test_the_euro_and_oe_of_iso8859_15_are_read_and_told(tmp_path: Path, text: str) -> None:
    result = read_bytes(tmp_path, _among_plain_rows(text, "iso8859-15"))
    assert result.rows[1][1] == text
    assert result.table.options.encoding == "iso8859-15"
    assert [doubt.flag for doubt in result.table.doubts] == ["--encoding cp1252"]


def test_bytes_that_no_encoding_has_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xff\x81\x8d\x90\x9d\xa0\xfd\xfe\x00\xd2")
    assert guess_encoding(tmp_path / "a.csv", 10).ranked


# --- UTF-16 and UTF-32 --------------------------------------------------------------------------------------

SCRIPTS = {
    "Russian": "Посылка пришла поздно",
    "Greek": "Το δέμα άργησε",
    "Hebrew": "החבילה הגיעה מאוחר",
    "Arabic": "وصل الطرد متأخرا",
    "Japanese": "荷物が遅れて届いた",
    "Chinese": "包裹送得很晚",
    "Korean": "소포가 늦게 왔습니다",
    "Thai": "พัสดุมาช้ามาก",
    "English": "The parcel came late",
}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_no_mark_is_needed(tmp_path: Path, script: str, encoding: str) -> None:
    content = f"id,text\n1,{SCRIPTS[script]}\n2,ok\n".encode(encoding)
    result = read_bytes(tmp_path, content)
    assert result.rows == [("1", SCRIPTS[script]), ("2", "ok")]
    assert result.table.options.encoding == encoding


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_line_without_any_ascii_letter_is_read_too(tmp_path: Path, script: str) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        result = read_bytes(tmp_path, f"{SCRIPTS[script]}\n{SCRIPTS[script]}\n".encode(encoding))
        assert (result.columns, result.rows) == ((SCRIPTS[script],), [(SCRIPTS[script],)])


@pytest.mark.parametrize("chosen", ["utf-16", "UTF-16", "utf_16", "utf-16-be"])
def test_utf16_can_be_chosen_without_a_mark(tmp_path: Path, chosen: str) -> None:
    content = "id,text\n1,Посылка пришла поздно\n".encode("utf-16-be")
    result = read_bytes(tmp_path, content, encoding=chosen)
    assert result.rows == [("1", "Посылка пришла поздно")]
    assert result.table.options.encoding == chosen


def test_the_choice_wins_over_the_guess(tmp_path: Path) -> None:
    content = "id,text\n1,plain\n".encode("utf-16-le")
    assert read_bytes(tmp_path, content, encoding="cp1252").table.options.encoding == "cp1252"
    noise = bytes(range(256)) * 4  # no text by any guess
    assert read_bytes(tmp_path, b"id,text\n" + noise, encoding="cp437").columns[0] == "id"


CONTENTS = [
    b"id,text\n1,plain\n",
    "id,text\n1,für\n".encode(),
    "id,text\n1,für\n".encode("utf-8-sig"),
    b"id,text\r1,\xfc\r",
]


@pytest.mark.parametrize("encoding", ["utf-16", "UTF16", "utf-16-le", "utf-16-be", "utf-32", "utf_32_be"])
@pytest.mark.parametrize("content", CONTENTS)
def test_utf16_is_refused_where_it_cannot_be(tmp_path: Path, content: bytes, encoding: str) -> None:
    with pytest.raises(UserError, match=f"table.csv is not {encoding.upper()} text: choose another"):
        read_bytes(tmp_path, content, encoding=encoding)


@pytest.mark.parametrize(
    "encoding",
    [
        *("idna", "punycode", "rot13", "rot_13", "base64", "hex", "zlib", "uu", "quopri"),
        *("unicode_escape", "raw_unicode_escape", "undefined", "", "latin-17", "a\0b", "../x", "x" * 300),
    ],
)
@pytest.mark.parametrize("name", ["table.csv", "table.jsonl"])
def test_what_is_no_encoding_of_files_is_said_in_a_sentence(tmp_path: Path, encoding: str, name: str) -> None:
    with pytest.raises(UserError, match="encoding") as caught:
        read_bytes(tmp_path, '{"text": "für"}\n', name, encoding=encoding)
    assert str(caught.value).endswith("try utf-8, cp1252 or utf-16.")


@pytest.mark.parametrize("encoding", ["utf-7", "hz", "iso2022_jp", "utf-8-sig", "cp037", "euc_kr", "johab"])
def test_any_other_encoding_reads_whatever_there_is(tmp_path: Path, encoding: str) -> None:
    content = b"id,text\n1,+2AA-\n2,~{\xff\x1b$B\n" + bytes(range(1, 256))
    for row in read_bytes(tmp_path, content, encoding=encoding).rows:
        assert "".join(cell or "" for cell in row).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"text,gold\n\0,damage\n",
        b"text,gold\nlate\0,delay\n\0\0,damage\n",
        "text,gold\nzerknüllt\0,damage\nété\0\0,delay\n".encode(),
        "text,gold\n\0箱が壊れていた,damage\n".encode(),
    ],
)
def test_zero_bytes_in_a_text_do_not_make_it_utf_16(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    assert guess_encoding(path, len(data)).ranked[0] == "utf-8"


def test_finding_out_the_encoding_of_a_large_file_can_be_stopped(tmp_path: Path) -> None:
    class Stopped(SilentProgress):
        def check(self) -> None:
            raise Cancelled

    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,one\n", encoding="utf-8")
    with pytest.raises(Cancelled):
        open_table(path, progress=Stopped())
