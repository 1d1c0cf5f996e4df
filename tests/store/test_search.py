from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sce_desktop.core import folding
from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.store.content import search, trigrams
from sce_desktop.store.file import functions, schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.project import Project
from sce_desktop.store.repair.stored import Malformed
from tests.store.conftest import fill, use_labels
from tests.store.statements import statements
from tests.store.test_importing import CancelAfter

TEXTS = [
    "The parcel arrived LATE",
    "late again, 50% off?",
    "50 off",
    "snake_case and snakeXcase",
    'He said "not my parcel" AND left',
    "(late OR lost) NOT found*",
    "ÄRGER in Köln, Straße gesperrt",
    "ärger in KÖLN",
    "小包が遅れて届いた",
    "посылка ОПОЗДАЛА",
    "ο δρόμος του ΟΔΥΣΣΕΑΣ",
    "back\\slash c:\\temp",
    "before\0after",
    "line\nbreak",
    "",
    "late" * 1_000,
]
NEEDLES = {
    "late": [1, 2, 6, 16],
    "LaTe": [1, 2, 6, 16],
    "50%": [2],
    "%": [2],
    "_": [4],
    "snake_case": [4],
    '"not my': [5],
    '"': [5],
    "parcel": [1, 5],
    "late OR lost": [6],
    '"late OR lost"': [6],
    "again late": [2],  # words, in any order
    '"again late"': [],
    "found*": [6],
    "lost) NOT": [6],
    "text:late": [1, 2, 6, 16],
    "nothing:late": [],  # names no column
    "^late": [],
    "late -again": [1, 6, 16],
    "late -": [],  # a minus alone is a sign
    '-late -ärger -"50 off"': [4, 5, 9, 10, 11, 12, 13, 14, 15],
    "NEAR(late again)": [],
    "ärger": [7, 8],
    "ÄRGER": [7, 8],
    "köln": [7, 8],
    "straße": [7],
    "遅れ": [9],
    "遅れて届": [9],
    "опоздала": [10],
    "οδυσσεας": [11],
    "οδυσσεασ": [11],
    "\\": [12],
    "c:\\temp": [12],
    "after": [13],
    "late -before": [1, 2, 6, 16],
    "before -after": [],
    "line\nbreak": [14],
    " ": [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12],
    '"e a"': [2, 4],
    "late" * 900: [16],
    "late" * 1_001: [],
    "x" * 60_000: [],
    "'; DROP TABLE rows; --": [],
}


def found(project: Project, needle: str) -> list[int]:
    return project.row_ids(RowQuery(search=needle)).tolist()


@pytest.mark.parametrize("indexed", ["no index", "index", "part of the rows"])
def test_pieces_of_text_are_found_as_typed(project: Project, indexed: str) -> None:
    if indexed == "part of the rows":
        fill(project, TEXTS[:5])
        project.build_search_index()
        fill(project, TEXTS[5:])
    else:
        fill(project, TEXTS)
        if indexed == "index":
            project.build_search_index()
    for needle, ids in NEEDLES.items():
        assert found(project, needle) == ids, needle


def test_same_answers_with_and_without_an_index(project: Project) -> None:
    choose = random.Random(3)
    letters = "abAB äÄßςσΣ%_\"'\\*\n日İıſKéｅ\u0301がｶ\uff9eᄒ\u1161ـأ\u064bŁﬁ"
    texts = ["".join(choose.choices(letters, k=choose.randint(0, 12))) for _ in range(250)]
    needles = ["".join(choose.choices(letters, k=choose.randint(1, 5))) for _ in range(150)]
    needles += [text[:4] for text in texts[:50] if text]
    fill(project, texts)
    before = [found(project, needle) for needle in needles]
    project.build_search_index()
    assert [found(project, needle) for needle in needles] == before
    assert sum(map(len, before)) > 500


LANGUAGES = [
    "配達がとても遅れて届いた。",
    "택배가 아직 안 왔어요.",
    "\u1110\u1162\u11a8\u1107\u1162 지연",  # the same word for parcel in single jamo
    "快递员很有礼貌，谢谢！",
    "พัสดุมาช้ามาก",
    "पार्सल टूटा हुआ मिला",
    "وصلت الشُّحنة متأخرة",
    "وصلـــت الطلبية",
    "החבילה לא הגיעה",
    "Die Straße ist gesperrt, CAFE\u0301 zu",
    "İSTANBUL şubesi kapalıydı",
    "Ο ΟΔΥΣΣΕΥΣ άργησε",
    "Посылка ещё в пути",
    "ＡＢＣ運輸、ﾊﾞｽ停",
    "Dostawa do Łodzi",
    "plain ASCII cafe",
]
IN_LANGUAGES = {
    "遅": [1],
    "遅れ": [1],
    "届いた": [1],
    "택배": [2, 3],
    "왔": [2],
    "ᄐ": [],  # not a letter of its own in a syllable
    "谢谢": [4],
    "礼": [4],
    "!": [4],
    "ช้า": [5],
    "ชา": [],  # another word: tone and vowel signs are letters
    "टूट": [6],
    "टट": [],
    "الشحنة": [7],
    "وصلت": [7, 8],
    "الطلبيّة": [8],
    "חבילה": [9],
    "STRASSE": [10],
    "straße": [10],
    "ß": [10],
    "cafe": [10, 16],
    "café": [10],
    "CAFÉ": [10],
    "istanbul": [11],
    "İstanbul": [11],
    "ıstanbul": [11],
    "kapaliydi": [11],
    "şube": [11],
    "οδυσσευς": [12],
    "αργησε": [12],
    "άργησε": [12],
    "еще": [13],
    "ещё": [13],
    "abc": [14],
    "バス停": [14],
    "ﾊﾞｽ": [14],
    "ハス": [],  # another word: the marks of kana are letters
    "lodzi": [15],
    "łodzi": [15],
    "ـ": [8],
}


@pytest.mark.parametrize("indexed", [False, True])
def test_words_of_any_language_are_found_as_people_type_them(project: Project, indexed: bool) -> None:
    fill(project, LANGUAGES)
    if indexed:
        project.build_search_index()
    answers = {needle: found(project, needle) for needle in IN_LANGUAGES}
    assert answers == IN_LANGUAGES


def test_an_index_of_another_form_is_not_used_but_built_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(folding, "bare", str.upper)  # as if texts had been compared in another way
        before.setattr(folding, "FORM", "older")
        fill(project, LANGUAGES)
        project.build_search_index()
    assert found(project, "straße") == [10]
    project.build_search_index()
    with project._database.read() as connection:
        assert connection.exec_driver_sql("SELECT search_form FROM project").scalar_one() == folding.FORM
        (code,) = trigrams.codes_of("sse", 1)
        record = f"SELECT rows FROM {schema.SEARCH_TABLE} WHERE id = {trigrams.record_id(0, code)}"
        assert np.flatnonzero(trigrams.rows_of(connection.exec_driver_sql(record).scalar_one())).tolist() == [
            9
        ]


def test_texts_behind_a_nul(project: Project) -> None:
    fill(project, ["before\0after"])
    assert found(project, "before") == [1]
    assert found(project, "before\0a") == [1]
    assert found(project, "after") == [1]
    assert found(project, "-after") == []


def test_index_is_used_and_narrows_down(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(project, TEXTS)
    project.build_search_index()
    looked_at: list[str] = []

    def contains(text: str, needle: str) -> bool:
        looked_at.append(text)
        return needle in text.lower()

    monkeypatch.setattr(functions, "_contains_folded", contains)
    with Project.open(project.path, read_only=True) as reader:  # a new connection, with the function above
        assert found(reader, "köln") == [7, 8]
        assert looked_at == [TEXTS[6], TEXTS[7]]
        looked_at.clear()
        assert found(reader, "ö") == [7, 8]  # too short for the index
        assert len(looked_at) == len(TEXTS)


def test_appended_rows_are_found_at_once_and_indexed_later(project: Project) -> None:
    fill(project, TEXTS)
    project.build_search_index()
    fill(project, ["late to the party", "early"])
    assert found(project, "late") == [1, 2, 6, 16, 17]
    project.build_search_index()
    assert found(project, "late") == [1, 2, 6, 16, 17]
    with project._database.read() as connection:
        assert connection.exec_driver_sql("SELECT searchable_to FROM project").scalar_one() == 18


def test_building_tells_progress_and_can_be_cancelled(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_BATCH_CHARACTERS", 50)
    seen = []

    class Progress(CancelAfter):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            seen.append((done, total, stage))

    fill(project, TEXTS)
    with pytest.raises(Cancelled):
        project.build_search_index(Progress(3))
    assert len(seen) == 2
    assert 0 < seen[0][0] < seen[1][0] < 16
    assert found(project, "late") == [1, 2, 6, 16]
    project.build_search_index(Progress(1_000))
    assert seen[-1] == (16, 16, "Building the search index")
    assert found(project, "late") == [1, 2, 6, 16]


def test_somebody_asks_whether_to_go_on_whenever_the_disk_was_waited_for(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(project, [f"text {number}" for number in range(3000)])
    done: list[str] = []
    shorten, records = Database.shorten_log, trigrams.records

    def shortened(database: Database, *least: int) -> None:
        done.append("disk")
        shorten(database, *least)

    def made(*args: Any) -> list[tuple[int, bytes]]:
        done.append("records")
        return records(*args)

    class Asked(SilentProgress):
        def check(self) -> None:
            done.append("asked")

    monkeypatch.setattr(trigrams, "_AT_ONCE", 10_000)
    monkeypatch.setattr(trigrams, "records", made)
    monkeypatch.setattr(Database, "shorten_log", shortened)
    project.build_search_index(Asked())
    assert done.count("records") > 1
    assert all(done[place + 1] == "asked" for place, what in enumerate(done[:-1]) if what == "disk")


def test_what_was_built_of_the_index_stays(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trigrams, "BITS", 2)
    monkeypatch.setattr(trigrams, "BLOCK", 4)

    class Progress(CancelAfter):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            if done > 8:
                raise Cancelled

    fill(project, ["late", "early", "never"] * 5)
    with pytest.raises(Cancelled):
        project.build_search_index(Progress(1_000))
    with project._database.read() as connection:
        assert connection.exec_driver_sql("SELECT searchable_to FROM project").scalar_one() == 8
    assert found(project, "late") == [1, 4, 7, 10, 13]
    project.build_search_index()
    assert found(project, "late") == [1, 4, 7, 10, 13]


def test_index_survives_closing(project: Project, path: Path) -> None:
    fill(project, TEXTS)
    project.build_search_index()
    project.close()
    with Project.open(path) as opened:
        assert found(opened, "parcel") == [1, 5]
        assert opened.verify() == []


def test_a_damaged_index_is_reported_and_made_again(project: Project) -> None:
    fill(project, TEXTS)
    project.build_search_index()
    for damage in ("zeroblob(0)", "x'0001'", "x'01'", "x'0200'", "x'07'", "'text'"):
        with project._database.write() as connection:
            connection.exec_driver_sql(f"UPDATE {schema.SEARCH_TABLE} SET rows = {damage}")
        assert any("search index is damaged" in problem for problem in project.verify()), damage
        with pytest.raises(UserError):
            found(project, "parcel")
    with project._database.write() as connection:
        connection.exec_driver_sql(f"DROP TABLE {schema.SEARCH_TABLE}")
    project.build_search_index()
    assert found(project, "parcel") == [1, 5]
    assert project.verify() == []


def test_rows_of_an_unfinished_import_are_not_indexed(project: Project) -> None:
    fill(project, ["seen late"])

    def batches():
        yield [("1", "unseen late")]
        project.build_search_index()
        assert found(project, "late") == [1]
        raise KeyError

    with pytest.raises(KeyError):
        project.add_rows(("ref", "text"), batches(), text_columns=[1], source={})
    fill(project, ["other"])
    project.build_search_index()
    assert found(project, "late") == [1]


# --- phrases and patterns


def test_phrases_and_words_must_all_be_there(project: Project) -> None:
    fill(project, ["late delivery, refund", "refund of a late delivery", "delivery late, refund", "late"])
    assert project.row_ids(RowQuery(search='"late delivery" refund')).tolist() == [1, 2]
    assert project.row_ids(RowQuery(search='"late" "refund"')).tolist() == [1, 2, 3]


def test_pattern_finds_what_it_says(project: Project) -> None:
    fill(project, ["Order 12", "order x", "reorder 7\nnow", ""])
    assert project.row_ids(RowQuery(pattern=r"order \d+")).tolist() == [1, 3]
    assert project.row_ids(RowQuery(pattern=r"^order")).tolist() == [1, 2]
    assert project.row_ids(RowQuery(pattern=r"(?m)^now$")).tolist() == [3]


def test_bad_pattern_is_reported(project: Project) -> None:
    fill(project, ["one"])
    with pytest.raises(UserError, match=r"“\(one” is not a valid regular expression"):
        project.row_ids(RowQuery(pattern="(one"))


def test_catastrophic_pattern_gives_up(project: Project) -> None:
    fill(project, ["a" * 60 + "b"] * 3)
    everywhere = np.arange(1, 4)
    started = time.monotonic()
    with project._database.read() as connection, pytest.raises(UserError, match="takes too long"):
        search.matching_pattern(connection, "(a|aa)+$", everywhere, seconds=0.2)
    assert time.monotonic() - started < 20


def test_the_index_is_asked_for_what_is_rare_alone(project: Project) -> None:
    fill(project, [f"{'common' if number % 4 else 'other'} word{number:03d}" for number in range(200)])
    project.build_search_index()
    for needle, count, by_index in (("word017", 1, True), ("other", 50, True), ("common", 150, False)):
        with statements(project) as told:
            assert len(found(project, needle)) == count
        (answer,) = (one for one in told if "LIKE" in one)
        assert ("json_each" in answer) is by_index, needle


# --- columns, labels and what else people say


def with_columns(project: Project) -> list[int]:
    rows = [
        ("Late parcel", "New York", None),
        ("Late again", "york", "x"),
        ("Refund please", "Köln", "NEW"),
        ("late", "newYork", "50%"),
    ]
    batch = [(f"r{n}", *row) for n, row in enumerate(rows, 1)]
    project.add_rows(("ref", "text", "City", "Order code"), [batch], text_columns=[1], source={})
    return use_labels(project, "Delivery", "Delivery cost", "Refund")


@pytest.mark.parametrize(
    ("search", "ids"),
    [
        ("city:york", [1, 2, 4]),
        ('city:"New York"', [1]),
        ("late -city:york", []),
        ("-city:york", [3]),
        ("city:koln", [3]),
        ("city:kÖln", [3]),
        ("text:late city:new", [1, 4]),
        ('"order code":new', [3]),
        ('-"order code":new', [1, 2, 4]),  # an empty cell contains nothing
        ('"order code":50%', [4]),
        ("ref:r2", [2]),
        ("new", []),  # texts alone, where no column is named
    ],
)
def test_a_column_is_searched_where_it_is_named(project: Project, search: str, ids: list[int]) -> None:
    with_columns(project)
    assert found(project, search) == ids
    project.build_search_index()
    assert found(project, search) == ids


def test_columns_are_found_by_name_when_several_make_the_text(project: Project) -> None:
    rows = [("late", "York", "a"), ("soon", "Rome", "late")]
    project.add_rows(("title", "city", "body"), [rows], text_columns=[0, 2], source={})
    assert found(project, "late") == [1, 2]
    assert found(project, "title:late") == [1]
    assert found(project, "body:late city:rome") == [2]


def test_labels_states_notes_and_annotators_are_searched(project: Project) -> None:
    delivery, cost, _refund = with_columns(project)
    project.decide([1], Decision.LABEL, (delivery,))
    project.decide([2], Decision.LABEL, (cost,))
    project.decide([3], Decision.NONE)
    project.set_marks(4, flag=True, note="Call back on Monday")
    assert found(project, "label:delivery") == [1]  # the label of that name
    assert found(project, "label:deliv") == [1, 2]  # else those that contain it
    assert found(project, "-label:deliv") == [3, 4]
    assert found(project, "label:strange") == []
    assert found(project, "is:labelled") == [1, 2]
    assert found(project, "is:unlabelled") == [4]
    assert found(project, "is:none") == [3]
    assert found(project, "late -is:labelled") == [4]
    assert found(project, "is:flagged note:monday") == [4]
    assert found(project, "annotator:eva") == []
    project.add_coder("Éva", "file.csv", {1: "Delivery", 3: "Refund"})
    assert found(project, "annotator:eva") == [1, 3]
    assert found(project, "-annotator:eva late") == [2, 4]


def test_the_index_is_asked_once_for_each_trigram_and_not_of_blocks_that_are_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking block by block takes a statement for each 16,384 rows: of ten million six hundred."""
    monkeypatch.setattr(trigrams, "BITS", 4)
    monkeypatch.setattr(trigrams, "BLOCK", 16)
    fill(project, [f"row {number} {'xylo' if number in (200, 203) else 'plain'}" for number in range(320)])
    project.build_search_index()
    with project._database.read() as connection:
        plain, asked = raw(connection), list[str]()
        plain.set_trace_callback(asked.append)
        try:
            found = search.candidates(connection, "xylo", 320)
        finally:
            plain.set_trace_callback(None)
    assert found is not None
    assert np.flatnonzero(found).tolist() == [201, 204]
    records = [one for one in asked if schema.SEARCH_TABLE in one and "record" in one]
    assert len(records) == len(trigrams.codes_of("xylo", 9))
    assert str(12 * trigrams.CODES + trigrams.codes_of("xylo", 9)[1]) in records[1]
    assert "," not in records[1].split("json_each(")[1].split(")")[0]  # one block is left


def test_a_damaged_record_of_the_index_is_named(project: Project) -> None:
    fill(project, TEXTS)
    project.build_search_index()
    number = trigrams.record_id(0, trigrams.codes_of(folding.bare("köln"), 1)[0])
    with project._database.write() as connection:
        connection.exec_driver_sql(f"UPDATE {schema.SEARCH_TABLE} SET rows = x'0301' WHERE id = {number}")
    with project._database.read() as connection, pytest.raises(Malformed, match=str(number)):
        search.candidates(connection, "köln", len(TEXTS))
