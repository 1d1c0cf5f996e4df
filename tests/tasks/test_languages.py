"""Languages of samples, and the model that follows from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sce_desktop import paths
from sce_desktop.core import i18n
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.languages import UNKNOWN, Languages
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.tables import TableOptions
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import languages
from sce_desktop.tasks.scoring.choice import (
    FOREIGN_FROM,
    Choice,
    choose,
    choose_for_project,
    choose_for_table,
)
from sce_desktop.tasks.scoring.languages import SAMPLE_ROWS, EvenSample, languages_of, some_of

_FEEDBACK = json.loads((Path(__file__).parents[1] / "data" / "feedback.json").read_text(encoding="utf-8"))
GERMAN: list[str] = _FEEDBACK["German"]["lines"]
KOREAN: list[str] = _FEEDBACK["Korean"]["lines"]
ARABIC: list[str] = _FEEDBACK["Arabic"]["lines"]
ENGLISH = [
    "Where is my parcel? It was due on Monday.",
    "The courier left it with a neighbour without telling me",
    "Please refund me for the broken lamp",
    "I was charged twice for the same order",
    "can you change the delivery address",
    "Great service, thank you so much!",
    "The app logs me out every five minutes",
    "My order says delivered but nothing came",
]
NAMES = ["Maria Gonzalez", "Wolfgang Müller", "Liam O'Brien", "Chen Wei", "Jean-Luc Picard", "Priya Patel"]
CODES = ["AB-123-X", "SKU 99812 blk", "USB-C 2m", "MX-5 rev. B", "B07XJ8C8F5", "ISO 9001", "A4 80g"]
SHORT_GERMAN = ["Paket kaputt", "Lieferung zu spät", "Rückgabe", "Rechnung fehlt", "Konto gesperrt"]
MIXED = [
    "Ich brauche help with my order please, das Paket ist nicht arrived",
    "mi order never llegó y nobody responde my emails",
    "je veux un refund for my commande s'il vous plaît",
]


def model_of(texts: list[str], labels: list[str] | None = None) -> str:
    return choose(languages_of(texts, labels or []), installed=True).model


@pytest.mark.parametrize(
    ("texts", "model"),
    [
        (ENGLISH, "sce-mini"),
        (GERMAN, "sce-multi"),
        (KOREAN, "sce-multi"),
        (ARABIC, "sce-multi"),
        (ENGLISH + GERMAN, "sce-multi"),
        (MIXED, "sce-multi"),
        (SHORT_GERMAN * 4, "sce-multi"),
        (ENGLISH * 5 + GERMAN[:4], "sce-mini"),  # a few foreign rows
        (ENGLISH * 5 + KOREAN[:4], "sce-mini"),
        (["ok", "thx", "lol", "pls fix asap", "u there?", "ty!!"] * 4, "sce-mini"),
        (NAMES * 4, "sce-mini"),
        (CODES * 4, "sce-mini"),
        (["12", "4.5 €", "2024-01-02"], "sce-mini"),
        (["😀🎉", "👍"], "sce-mini"),
        (["", " ", "\u200b"], "sce-mini"),
        ([], "sce-mini"),
        (
            ["ERROR NullPointerException at com.foo.Bar(Bar.java:12)", "GET /api/v1/items?id=3 200"],
            "sce-mini",
        ),
        (["WHERE IS MY PARCEL", "I WANT MY MONEY BACK NOW"], "sce-mini"),
        (["PAKET IST NICHT ANGEKOMMEN", "ICH WILL MEIN GELD ZURÜCK"], "sce-multi"),
    ],
)
def test_the_model_for_a_sample(texts: list[str], model: str) -> None:
    assert model_of(texts) == model


@pytest.mark.parametrize("language", sorted(set(_FEEDBACK)))
def test_short_messages_of_every_language_ask_for_the_multilingual_model(language: str) -> None:
    assert model_of(_FEEDBACK[language]["lines"]) == "sce-multi"


@pytest.mark.parametrize(
    ("labels", "language"),
    [
        (["Late delivery", "Lost parcel"], "en"),
        (["Sport", "Business", "Politics", "Tech"], "en"),
        (["Sport", "Politik", "Wirtschaft", "Kultur"], "de"),
        (["Livraison en retard", "Colis perdu", "Facture"], "fr"),
        (["배송", "환불"], "ko"),
        (["Spam", "Ham"], UNKNOWN),
        (["1", "2"], UNKNOWN),
        ([], UNKNOWN),
    ],
)
def test_the_language_of_label_names(labels: list[str], language: str) -> None:
    assert languages_of(ENGLISH, labels).labels == language
    wanted = "sce-mini" if language in ("en", UNKNOWN) else "sce-multi"
    assert model_of(ENGLISH, labels) == wanted


def test_shares_sum_to_one_and_leave_out_what_has_no_letters() -> None:
    found = languages_of([*ENGLISH, *GERMAN, "42", "👍", "Chen Wei"])
    assert sum(found.shares.values()) == pytest.approx(1)
    assert found.shares["de"] == pytest.approx(8 / 17)
    assert found.shares[UNKNOWN] == pytest.approx(1 / 17)
    assert found.foreign == pytest.approx(8 / 17)
    assert languages_of(["42", "👍"]).shares == {}


def test_the_same_texts_give_the_same_choice() -> None:
    texts = ENGLISH * 20 + GERMAN * 10
    assert languages_of(texts) == languages_of(texts)


def test_the_sample_is_spread_over_the_whole() -> None:
    for count in (0, 1, SAMPLE_ROWS, SAMPLE_ROWS + 1, 1999, 40_000):
        sample = EvenSample()
        sample.add(str(number) for number in range(count))
        step = EvenSample.step_for(count)
        assert sample.texts == [str(number) for number in range(0, count, step)]
        assert len(sample.texts) <= SAMPLE_ROWS
        assert count <= SAMPLE_ROWS or 2 * len(sample.texts) > SAMPLE_ROWS


def test_the_sample_is_the_same_where_others_have_chosen_from_parts() -> None:
    texts = [str(number) for number in range(40_000)]
    whole, asked = EvenSample(), EvenSample()
    whole.add(texts)
    for start in range(0, len(texts), 1_777):
        asked.add_numbered(some_of(texts[start : start + 1_777], start))
    assert asked.texts == whole.texts


def test_scripts_decide_where_the_library_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_detector", lambda: None)
    assert model_of(KOREAN) == model_of(ARABIC) == "sce-multi"
    assert languages_of(KOREAN).shares == {"ko": 1.0}
    assert languages_of(ARABIC).shares == {"mis": 1.0}
    assert model_of(GERMAN) == "sce-mini"


# --- what is said about it

TEN = ("ar", "de", "es", "fr", "hi", "ja", "pl", "pt", "ru", "zh")


def reason(shares: dict[str, float], labels: str = UNKNOWN, *, installed: bool = True) -> Choice:
    return choose(Languages(shares, labels), installed=installed)


@pytest.mark.parametrize(
    ("shares", "labels", "said"),
    [
        ({"de": 0.9, "en": 0.1}, "en", "Most rows are in German: sce-multi reads 100 languages; "),
        ({"en": 0.6, "de": 0.4}, "en", "About 40% of the rows are in German: sce-multi reads"),
        ({"de": 0.4, "fr": 0.4, "en": 0.2}, "en", "Most rows are in German or French: sce-multi"),
        (dict.fromkeys(TEN, 0.1), UNKNOWN, "Most rows are in Arabic, German or another language: sce-multi"),
        ({"de": 0.2, "fr": 0.2, "mis": 0.2, "en": 0.4}, "en", "Most rows are in German, French or another"),
        (
            {"en": 0.6} | dict.fromkeys(TEN, 0.04),
            "en",
            "About 40% of the rows are in Arabic, German or another language: sce-multi",
        ),
        ({"mis": 1.0}, UNKNOWN, "Most rows are in another language: sce-multi"),
        ({"en": 1.0}, "ko", "The labels are in Korean: sce-multi"),
        ({"en": 0.95, "de": 0.05}, "en", "Most rows are in English: sce-mini reads English and is faster"),
        ({UNKNOWN: 1.0}, UNKNOWN, "The rows are too short to tell their language: sce-mini"),
        ({UNKNOWN: 0.9, "de": 0.1}, UNKNOWN, "Few rows are in another language: sce-mini"),
    ],
)
def test_the_reason_is_one_sentence(shares: dict[str, float], labels: str, said: str) -> None:
    found = reason(shares, labels)
    assert found.reason.startswith(said)
    assert found.reason.count(".") == 1
    assert found.reason.endswith(".")
    assert found.model == ("sce-multi" if found.foreign else "sce-mini")


def test_without_the_multilingual_model_the_reason_says_how_to_get_it() -> None:
    found = reason({"de": 1.0}, installed=False)
    assert (found.model, found.missing) == ("sce-mini", "sce-multi")
    assert found.reason == (
        "Most rows are in German, which sce-mini cannot read: sce-multi reads 100 languages but is not "
        "installed; download it with `sce-desktop models get sce-multi`."
    )
    english = reason({"en": 1.0}, installed=False)
    assert (english.model, english.missing) == ("sce-mini", "")
    assert "sce-multi" not in english.reason


def test_how_to_get_it_is_said_in_the_language_of_the_reason() -> None:
    i18n.set_language("de", paths.resources_dir() / "locale")
    try:
        found = reason({"de": 1.0}, installed=False)
        how = i18n._("download it with `sce-desktop models get {model}`", model="sce-multi")
    finally:
        i18n.set_language("en")
    assert how.startswith("laden Sie")
    assert how in found.reason


def test_the_border() -> None:
    assert not reason({"en": 1.01 - FOREIGN_FROM, "de": FOREIGN_FROM - 0.01}).foreign
    assert reason({"en": 1 - FOREIGN_FROM, "de": FOREIGN_FROM}).foreign


# --- tables and projects


def write(path: Path, texts: list[str], topics: list[str]) -> Path:
    lines = [
        f'{number},"{text}",{topic}' for number, (text, topic) in enumerate(zip(texts, topics, strict=True))
    ]
    path.write_text("id,text,topic\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_table_and_project_of_the_same_rows_give_the_same_choice(tmp_path: Path) -> None:
    texts = (ENGLISH * 60 + GERMAN * 30 + [""] * 9) * 2
    path = write(tmp_path / "in.csv", texts, ["late"] * len(texts))
    found = choose_for_table(path, ["text"], options=TableOptions(), progress=SilentProgress())
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(("text",), [[(text,) for text in texts]], text_columns=(0,), source={})
        assert choose_for_project(project).languages == found.languages


def test_the_values_of_a_label_column_are_label_names(tmp_path: Path) -> None:
    topics = ["Rückgabe", "Lieferung", "Rechnung", "Lob und Dank"] * 2
    path = write(tmp_path / "in.csv", ENGLISH, topics)

    def labels(**more: object) -> str:
        options, progress = TableOptions(), SilentProgress()
        found = choose_for_table(path, ["text"], options=options, progress=progress, **more)  # type: ignore[arg-type]
        return found.languages.labels

    assert labels() == UNKNOWN
    assert labels(label_column="topic") == "de"
    assert labels(label_column="topic", labels=clean_labels(["late delivery", "lost parcel"])) == "en"
