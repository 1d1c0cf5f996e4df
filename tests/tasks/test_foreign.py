from __future__ import annotations

from types import SimpleNamespace

import pytest

from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.scripts import KNOWN_SCRIPTS
from sce_desktop.tasks.scoring.foreign import known_scripts, tell_foreign
from sce_desktop.tasks.scoring.models import NamedModel
from tests.tasks.fakes import FakeModel

RUSSIAN = "Посылка пришла слишком поздно"


def warnings_of(model: FakeModel, texts: list[str]) -> list[str]:
    progress = SilentProgress()
    tell_foreign(NamedModel("sce", "sce-mini", model), texts, progress)
    return progress.warnings


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([RUSSIAN, "late", "", " "], "1 of 2 texts is in Cyrillic script, which sce-mini does not know"),
        (
            [RUSSIAN, "late", "\u3164", "\u3164 \uffa0", "\u115f\u1160", "\u2800", "\u200b"],
            "1 of 2 texts is in Cyrillic",
        ),
        ([RUSSIAN, "配達が遅い", RUSSIAN], "3 of 3 texts are in Cyrillic or Japanese script"),
        (["箱子坏了", "البريد متأخر", "המשלוח", RUSSIAN, RUSSIAN], "5 of 5 texts are in Cyrillic, "),
    ],
)
def test_texts_that_the_model_cannot_read_are_told(texts: list[str], said: str) -> None:
    (told,) = warnings_of(FakeModel(), texts)
    assert told.startswith(said)
    assert told.endswith("do not rely on what it says of them.")


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


def test_what_an_unknown_model_reads() -> None:
    assert known_scripts(FakeModel()) == KNOWN_SCRIPTS
    assert known_scripts(FakeModel(kind="llm")) is None
    many, few = FakeModel(), FakeModel()
    many.text_embedder = SimpleNamespace(tokenizer=SimpleNamespace(get_vocab_size=lambda: 250_000))  # type: ignore[attr-defined]
    few.text_embedder = SimpleNamespace(model=SimpleNamespace(tokenizer=SimpleNamespace(vocab_size=30_522)))  # type: ignore[attr-defined]
    assert known_scripts(many) is None
    assert known_scripts(few) == KNOWN_SCRIPTS
