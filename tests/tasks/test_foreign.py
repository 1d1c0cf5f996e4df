from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from sce_desktop.core.labels import clean_labels
from sce_desktop.core.languages import READS_ALL, READS_ENGLISH, READS_LATIN
from sce_desktop.core.progress import SilentProgress
from sce_desktop.tasks.scoring.foreign import reads, reads_by_name, report_foreign
from sce_desktop.tasks.scoring.models import NamedModel, is_here
from tests.tasks.fakes import FakeModel

RUSSIAN = "Посылка пришла слишком поздно"


def warnings_of(model: FakeModel, texts: list[str]) -> list[str]:
    progress = SilentProgress()
    report_foreign(NamedModel("sce", "sce-mini", model), texts, progress)
    return progress.warnings


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([RUSSIAN, "late", "", " "], "1 of 2 texts is in Cyrillic script, which sce-mini cannot read"),
        (
            [RUSSIAN, "late", "\u3164", "\u3164 \uffa0", "\u115f\u1160", "\u2800", "\u200b"],
            "1 of 2 texts is in Cyrillic",
        ),
        ([RUSSIAN, "配達が遅い", RUSSIAN], "3 of 3 texts are in Cyrillic or Japanese script"),
        (["箱子坏了", "البريد متأخر", "המשלוח", RUSSIAN, RUSSIAN], "5 of 5 texts are in Cyrillic, "),
    ],
)
def test_texts_that_the_model_cannot_read_are_reported(texts: list[str], said: str) -> None:
    (told,) = warnings_of(FakeModel(), texts)
    assert told.startswith(said)
    assert told.endswith(("do not rely on their predictions.", "do not rely on its prediction."))


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["late"],
        ["Zażółć gęślą"],
        ["naïve 👍 → ✓"],
        ["№ 5 (pi π)"],
        ["123"],
        ["\u3164", "late"],
        ["ok" + "\u3164" * 9],
    ],
)
def test_texts_that_it_can_read_are_not(texts: list[str]) -> None:
    assert warnings_of(FakeModel(), texts) == []


def test_a_model_may_say_what_it_reads() -> None:
    model = FakeModel()
    model.known_scripts = frozenset({"LATIN", "CYRILLIC"})  # type: ignore[attr-defined]
    assert warnings_of(model, [RUSSIAN]) == []
    assert warnings_of(model, ["配達が遅い"])
    model.known_scripts = None  # type: ignore[attr-defined]
    assert warnings_of(model, ["配達が遅い"]) == []


def with_vocabulary(size: int) -> FakeModel:
    model = FakeModel()
    tokenizer = SimpleNamespace(get_vocab_size=lambda: size)
    model.text_embedder = SimpleNamespace(tokenizer=tokenizer)  # type: ignore[attr-defined]
    return model


def test_what_a_model_reads_by_its_vocabulary() -> None:
    assert reads(FakeModel()) == READS_LATIN
    assert reads(FakeModel(kind="llm")) == READS_ALL
    assert reads(with_vocabulary(250_000)) == READS_ALL
    assert reads(with_vocabulary(30_522)) == READS_ENGLISH
    assert reads(with_vocabulary(31_102)) == READS_LATIN  # as a German BERT has
    other = FakeModel()
    tokenizer = SimpleNamespace(vocab_size=30_522)
    other.text_embedder = SimpleNamespace(model=SimpleNamespace(tokenizer=tokenizer))  # type: ignore[attr-defined]
    assert reads(other) == READS_ENGLISH


GERMAN = ["Mein Paket ist immer noch nicht angekommen", "Der Fahrer war sehr freundlich, danke"]
ENGLISH = ["My parcel has still not arrived", "The driver was very friendly, thank you"]


def test_another_language_in_the_same_script_is_reported_to_an_english_model() -> None:
    assert warnings_of(with_vocabulary(30_522), GERMAN + ENGLISH) == [
        "About 50% of the texts are in German, which sce-mini cannot read: do not rely on their predictions."
    ]
    assert warnings_of(with_vocabulary(30_522), ENGLISH * 5) == []
    assert warnings_of(with_vocabulary(30_522), ["Berlin", "AB-12", "Juan García", "42"]) == []
    assert warnings_of(with_vocabulary(250_002), [*GERMAN, RUSSIAN]) == []
    assert warnings_of(FakeModel(), GERMAN) == []  # nobody knows which language in Latin letters it reads


def test_a_few_foreign_texts_in_an_english_table_are_not_worth_a_word() -> None:
    assert warnings_of(with_vocabulary(30_522), [*ENGLISH * 15, GERMAN[0]]) == []


def test_labels_that_cannot_be_read_are_reported() -> None:
    progress = SilentProgress()
    labels = clean_labels(["Lieferung zu spät", "Paket beschädigt", "Rückgabe", "Lob für den Fahrer"])
    named = NamedModel("sce", "sce-mini", with_vocabulary(30_522))
    report_foreign(named, ENGLISH, progress, labels)
    assert progress.warnings == [
        "The labels are in German, which sce-mini cannot read: do not rely on its predictions."
    ]


@pytest.mark.model
def test_what_our_models_read_is_known_before_they_are_loaded() -> None:
    assert reads_by_name("sce-mini") == READS_ENGLISH
    assert reads_by_name("all-MiniLM-L6-v2") == READS_ENGLISH
    if is_here("sce-multi"):
        assert reads_by_name("sce-multi") == READS_ALL


def test_of_a_model_that_is_not_here_nothing_is_claimed(tmp_path: Path) -> None:
    assert reads_by_name("no such model") == READS_ALL
    assert reads_by_name(str(tmp_path)) == READS_ALL
