"""The Python interface, as its users call it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sce_desktop
from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.ml.classifier import SCEClassifier
from sce_desktop.ml.hub import model_places
from sce_desktop.ml.hub.manifest import MANIFEST
from tests.ml.tiny import tiny_sce, tiny_sce_model

TEXTS = ["the parcel was late", "i want a refund", "the weather is wet"]
NAMES = ["late", "refund", "weather"]


@pytest.fixture
def classifier() -> SCEClassifier:
    return SCEClassifier(tiny_sce_model())


def test_it_is_offered_by_the_package() -> None:
    assert sce_desktop.SCEClassifier is SCEClassifier


def test_probabilities_in_the_callers_order(classifier: SCEClassifier) -> None:
    found = classifier.predict_proba(TEXTS, NAMES)
    assert (found.shape, found.dtype) == ((3, 3), np.float32)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)
    turned = classifier.predict_proba(TEXTS, NAMES[::-1])
    np.testing.assert_allclose(turned[:, ::-1], found, atol=1e-5)


def test_labels_as_names_objects_or_wordings(classifier: SCEClassifier) -> None:
    by_name = classifier.predict_proba(TEXTS, NAMES)
    by_object = classifier.predict_proba(TEXTS, [Label(name) for name in NAMES])
    np.testing.assert_array_equal(by_name, by_object)
    several = classifier.predict_proba(TEXTS, [("late", "slow"), ["refund"], "weather"])
    right = classifier.predict_proba(TEXTS, [Label("late", synonyms=("slow",)), *NAMES[1:]])
    np.testing.assert_array_equal(several, right)
    assert np.abs(several - by_name).max() > 1e-4


def test_a_folder_there_and_back(classifier: SCEClassifier, tmp_path: Path) -> None:
    classifier.save_pretrained(tmp_path / "mine")
    again = SCEClassifier.from_pretrained(tmp_path / "mine", device="cpu")
    np.testing.assert_allclose(
        again.predict_proba(TEXTS, NAMES), classifier.predict_proba(TEXTS, NAMES), atol=0.02
    )


def test_only_an_older_model_of_ones_own_is_replaced(
    classifier: SCEClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    classifier.save_pretrained(mine)
    SCEClassifier.from_pretrained(mine, device="cpu").save_pretrained(mine)
    (mine / MANIFEST).write_text("{}", encoding="utf-8")  # as `models add` leaves it
    with pytest.raises(UserError, match="is an installed model"):
        classifier.save_pretrained(mine)
    (mine / MANIFEST).unlink()
    monkeypatch.setattr(model_places, "bundled_models", lambda: {"sce-mini": mine})
    with pytest.raises(UserError, match="belongs to the program"):
        classifier.save_pretrained(mine)


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no model"):
        SCEClassifier.from_pretrained("nobody")
    with pytest.raises(UserError, match="not installed"):
        SCEClassifier.from_pretrained("somebody/some-model")
    with pytest.raises(UserError, match="no device"):
        SCEClassifier.from_pretrained(tiny_sce(tmp_path), device="toaster")


def test_labels_of_the_model_are_used_where_none_are_given(tmp_path: Path) -> None:
    from dataclasses import replace

    model = tiny_sce_model()
    model.config = replace(model.config, labels=tuple(Label(name) for name in NAMES))
    classifier = SCEClassifier(model)
    assert [label.name for label in classifier.labels] == NAMES
    np.testing.assert_array_equal(classifier.predict_proba(TEXTS), classifier.predict_proba(TEXTS, NAMES))


# --- the shape of the Hugging Face pipeline ----------------------------------------------------------------


def test_one_text_gives_one_dict(classifier: SCEClassifier) -> None:
    result = classifier(TEXTS[1], candidate_labels=NAMES)
    assert isinstance(result, dict)
    assert list(result) == ["sequence", "labels", "scores"]
    assert result["sequence"] == TEXTS[1]
    assert result["labels"][0] == "refund"
    assert result["scores"] == sorted(result["scores"], reverse=True)
    assert sum(result["scores"]) == pytest.approx(1, abs=1e-6)
    assert all(type(score) is float for score in result["scores"])


def test_several_texts_give_a_list_with_scores_beside_their_labels(classifier: SCEClassifier) -> None:
    results = classifier(TEXTS, NAMES)
    assert isinstance(results, list)
    probabilities = classifier.predict_proba(TEXTS, NAMES)
    for text, result, row in zip(TEXTS, results, probabilities, strict=True):
        assert result["sequence"] == text
        assert dict(zip(result["labels"], result["scores"], strict=True)) == pytest.approx(
            dict(zip(NAMES, row.tolist(), strict=True))
        )


def test_top_k_threshold_and_multi_label(classifier: SCEClassifier) -> None:
    best = classifier(TEXTS[0], NAMES, top_k=1)
    assert isinstance(best, dict)
    assert best["labels"] == ["late"]
    none = classifier(TEXTS[0], NAMES, threshold=1.1)
    assert isinstance(none, dict)
    assert (none["labels"], none["scores"]) == ([], [])
    alone = classifier(TEXTS[0], ["late"], multi_label=True)
    assert isinstance(alone, dict)
    assert alone["scores"][0] == pytest.approx(
        float(classifier.predict_proba(TEXTS[:1], NAMES, multi_label=True)[0, 0]), abs=1e-6
    )


def test_ties_go_to_the_first_label(monkeypatch: pytest.MonkeyPatch, classifier: SCEClassifier) -> None:
    monkeypatch.setattr(
        classifier, "predict_proba", lambda *_, **__: np.full((1, 3), 1 / 3, dtype=np.float32)
    )
    result = classifier(TEXTS[0], ["b", "a", "c"])
    assert isinstance(result, dict)
    assert result["labels"] == ["b", "a", "c"]


def test_its_embedder_can_learn_too(classifier: SCEClassifier, tmp_path: Path) -> None:
    classifier.fit(LESSONS, ANSWERS, epochs=10, lr=1.9, adapt_embedder=True)
    assert list(classifier.predict(LESSONS)) == ANSWERS
    key = classifier.model.text_embedder.key
    assert (classifier.model_.text_embedder.key != key) == bool(classifier.model_.adapter)
    classifier.save_pretrained(tmp_path / "mine")
    again = SCEClassifier.from_pretrained(tmp_path / "mine", device="cpu")
    np.testing.assert_allclose(again.predict_proba(LESSONS), classifier.predict_proba(LESSONS), atol=0.02)


@pytest.mark.parametrize(
    ("texts", "labels", "error", "match"),
    [
        ([], NAMES, ValueError, "at least one label and at least one sequence"),
        (TEXTS, [], ValueError, "at least one label and at least one sequence"),
        (TEXTS, None, ValueError, "at least one label and at least one sequence"),
        (TEXTS, "late, refund", TypeError, "a string is not split"),
        (TEXTS, ["late", "late"], ValueError, "twice"),
        (TEXTS, ["late", "late "], ValueError, "twice"),
        (TEXTS, ["late", " "], ValueError, "no name"),
    ],
)
def test_wrong_use(
    classifier: SCEClassifier, texts: Any, labels: Any, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        classifier(texts, labels)


def test_a_single_text_is_no_list(classifier: SCEClassifier) -> None:
    with pytest.raises(TypeError, match="put the text in brackets"):
        classifier.predict_proba("late", NAMES)


def test_a_label_with_commas_stays_one_label(classifier: SCEClassifier) -> None:
    result = classifier(TEXTS[0], ["Food, drink", "late"])
    assert isinstance(result, dict)
    assert sorted(result["labels"]) == ["Food, drink", "late"]


# --- learning ----------------------------------------------------------------------------------------------

LESSONS = [
    *("football team", "match goal", "player match", "goal player", "football game", "team player"),
    *("stock market", "bank stock", "market company", "company stock", "bank market", "stock company"),
]
ANSWERS = ["wet"] * 6 + ["blue"] * 6


def test_it_learns_and_predicts(classifier: SCEClassifier) -> None:
    before = classifier.model
    assert classifier.fit(LESSONS, ANSWERS) is classifier
    assert [label.name for label in classifier.labels] == ["blue", "wet"]
    assert list(classifier.classes_) == ["blue", "wet"]
    assert list(classifier.predict(LESSONS)) == ANSWERS
    assert list(classifier.predict(["team goal", "company bank"])) == ["wet", "blue"]
    assert list(classifier.predict(["team goal"], ["blue", "wet"])) == ["wet"]
    assert classifier.model is before
    assert before.correction is None


def test_labels_without_lessons_can_be_answers_too(classifier: SCEClassifier) -> None:
    classifier.fit(LESSONS, ANSWERS, ["blue", ("music", "film"), "wet"])
    assert classifier.labels == (Label("blue"), Label("music", synonyms=("film",)), Label("wet"))
    assert classifier.predict_proba(LESSONS).shape == (12, 3)


def test_what_it_learned_is_saved(classifier: SCEClassifier, tmp_path: Path) -> None:
    classifier.fit(LESSONS, ANSWERS).save_pretrained(tmp_path / "mine")
    again = SCEClassifier.from_pretrained(tmp_path / "mine", device="cpu")
    assert list(again.predict(LESSONS)) == ANSWERS
    np.testing.assert_allclose(again.predict_proba(LESSONS), classifier.predict_proba(LESSONS), atol=0.02)


@pytest.mark.parametrize(
    ("texts", "y", "labels", "told"),
    [
        (LESSONS, ANSWERS[:5], None, "12 texts and 5 labels"),
        (LESSONS, ["wet"] * 12, ["wet"], "nothing to choose from"),
        (LESSONS, ["wet"] * 12, None, "one class"),
        (LESSONS, None, None, "y is None"),
        ([*LESSONS[:11], " "], ANSWERS, None, "blank"),
        (LESSONS, ANSWERS, ["wet", "film"], "'blue' is not among"),
    ],
)
def test_lessons_that_are_none(classifier: SCEClassifier, texts: Any, y: Any, labels: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        classifier.fit(texts, y, labels)
    assert classifier.labels == ()


def test_lessons_are_lists(classifier: SCEClassifier) -> None:
    with pytest.raises(TypeError):
        classifier.fit("a text", ["wet"])
    with pytest.raises(TypeError):
        classifier.fit(LESSONS, "wet")
