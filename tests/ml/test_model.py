"""A whole SCE: scoring and label wordings."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import YesNo, wordings_of
from tests.ml.tiny import (
    WIDTH,
    DictCache,
    tiny_sce_model,
)

KINDS = list(itertools.product(["paper", "plus"], ["joint", "shared"]))
TEXTS = ["the parcel was late", "i want a refund", "the weather is wet", "sport and music", "late " * 40]
LABELS = [Label(name) for name in ("late", "refund", "weather", "sport", "price")]


@pytest.fixture
def model() -> SCEModel:
    return tiny_sce_model()


def probabilities(model: SCEModel, labels: list[Label], **options: Any) -> np.ndarray:
    return model.probabilities(TEXTS, labels, **options).probabilities


def test_a_text_is_drawn_to_the_label_that_it_names(model: SCEModel) -> None:
    found = probabilities(model, LABELS)
    assert found.dtype == np.float32
    assert found.shape == (5, 5)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)
    assert found.argmax(1).tolist() == [0, 1, 2, 3, 0]


@pytest.mark.parametrize(("architecture", "attention"), KINDS)
def test_label_order_permutes_the_columns_and_changes_nothing_else(architecture: Any, attention: Any) -> None:
    """Through the whole model: texts alone and together, label sets small and large."""
    model = tiny_sce_model(architecture=architecture, attention=attention)
    labels = [*LABELS, *(Label(f"label {i}") for i in range(30))]
    generator = np.random.default_rng(0)
    for count in (5, 35):
        whole = model.probabilities(TEXTS, labels[:count]).probabilities
        for _ in range(10):
            order = generator.permutation(count)
            shuffled = [labels[i] for i in order]
            together = model.probabilities(TEXTS, shuffled).probabilities
            alone = np.concatenate([model.probabilities([text], shuffled).probabilities for text in TEXTS])
            assert np.abs(together - whole[:, order]).max() < 1e-5
            assert np.abs(alone - whole[:, order]).max() < 1e-5


@pytest.mark.parametrize(("architecture", "attention"), KINDS)
def test_with_multi_label_a_label_does_not_depend_on_the_others(architecture: Any, attention: Any) -> None:
    model = tiny_sce_model(architecture=architecture, attention=attention)
    five = probabilities(model, LABELS, multi_label=True)
    two = probabilities(model, LABELS[:2], multi_label=True)
    one = probabilities(model, LABELS[1:2], multi_label=True)
    np.testing.assert_allclose(two, five[:, :2], atol=1e-5)
    np.testing.assert_allclose(one, five[:, 1:2], atol=1e-5)
    assert ((five >= 0) & (five <= 1)).all()
    assert one.std() > 0.001  # one label is a yes/no question, not a constant 1


def test_one_label_is_a_question_and_none_is_refused(model: SCEModel) -> None:
    asked = model.probabilities(TEXTS, LABELS[:1])
    alone = model.probabilities(TEXTS, LABELS[:1], multi_label=True).probabilities
    np.testing.assert_array_equal(asked.probabilities, alone)
    assert asked.none is not None
    np.testing.assert_allclose(asked.none, 1 - alone[:, 0])
    with pytest.raises(UserError, match="give at least one"):
        model.probabilities(TEXTS, [])


def test_label_names_are_opaque(model: SCEModel) -> None:
    names = ["Food, drink", "C# / .NET", "a|b", '50% "off"', "{x}", "%s", "\\n", "{0.__class__}"]
    text = 'Soup, hot; and "fresh"\n2nd line'
    found = model.probabilities([text], [Label(name) for name in names]).probabilities
    assert found.shape == (1, len(names))
    np.testing.assert_allclose(found.sum(), 1, atol=1e-6)
    assert len(set(found[0].tolist())) == len(names)


def test_a_label_without_a_token_is_scored_and_told(model: SCEModel) -> None:
    progress = SilentProgress()
    labels = [Label("\u200b"), Label("late"), Label("refund")]
    found = probabilities(model, labels, progress=progress)
    assert np.isfinite(found).all()
    assert found[0].argmax() == 1
    assert progress.warnings == ["The label “\u200b” has no meaning for the model: give it another name."]
    assert not model.label_vectors(labels).tokens[0].any()


def test_two_hundred_labels(model: SCEModel) -> None:
    found = probabilities(model, [Label(f"label {i}") for i in range(200)])
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)


def test_no_texts_give_no_rows(model: SCEModel) -> None:
    assert len(model.probabilities([], LABELS)) == 0


def test_wordings_are_averaged_and_a_description_is_one_more(model: SCEModel) -> None:
    rich = Label("late", description="it came too late", synonyms=("slow", "delivery"))
    assert wordings_of(rich) == ("late", "slow", "delivery", "late: it came too late")
    assert wordings_of(Label("late", description="  ")) == ("late",)
    table, tokenizer = model.embedder.tokens.weight, model.label_tokenizer
    means = [
        table[tokenizer.encode(text, add_special_tokens=False).ids].mean(0) for text in wordings_of(rich)
    ]
    found = model.label_vectors([rich, Label("refund")])
    torch.testing.assert_close(found.tokens[0], torch.stack(means).mean(0))
    sentence = model.text_embedder.encode(wordings_of(rich)).mean(0)
    assert found.sentence is not None
    np.testing.assert_allclose(found.sentence[0], sentence / np.linalg.norm(sentence), atol=1e-6)


def test_a_changed_wording_is_not_served_from_memory(model: SCEModel) -> None:
    before = probabilities(model, LABELS)
    described = [replace(LABELS[0], description="rain and wet weather"), *LABELS[1:]]
    assert np.abs(probabilities(model, described) - before).max() > 1e-3
    np.testing.assert_array_equal(probabilities(model, LABELS), before)


def test_colour_and_id_are_no_wording(model: SCEModel) -> None:
    painted = [replace(label, colour="#ff0000", id=i) for i, label in enumerate(LABELS)]
    np.testing.assert_array_equal(probabilities(model, painted), probabilities(model, LABELS))


def test_cached_vectors_give_identical_probabilities(model: SCEModel) -> None:
    cache = DictCache()
    first = probabilities(model, LABELS, cache=cache)
    assert len(cache) == len(TEXTS)
    np.testing.assert_array_equal(probabilities(model, LABELS, cache=cache), first)


def test_scoring_is_cancelled_within_a_batch(model: SCEModel) -> None:
    class Cancelling(SilentProgress):
        def check(self) -> None:
            raise Cancelled

    with pytest.raises(Cancelled):
        model.score(np.zeros((5000, WIDTH), dtype=np.float32), LABELS, progress=Cancelling())


def test_temperature_and_yes_no_come_from_the_config(model: SCEModel) -> None:
    warm = tiny_sce_model()
    warm.config = replace(warm.config, temperature=4.0, yes_no=YesNo(scale=0.5, bias=2.0))
    cold = probabilities(model, LABELS)
    right = cold ** (1 / 4)
    np.testing.assert_allclose(probabilities(warm, LABELS), right / right.sum(1, keepdims=True), atol=1e-4)
    one = probabilities(model, LABELS, multi_label=True)
    logits = np.log(one / (1 - one)) + 5.0
    found = probabilities(warm, LABELS, multi_label=True)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-0.5 * (logits - 2.0))), atol=1e-3)
    assert warm.fingerprint != model.fingerprint


def test_scores_of_before_a_calibration_are_not_kept_for_after() -> None:
    one, other, plain = (tiny_sce_model(says_none=True), tiny_sce_model(says_none=True), tiny_sce_model())
    assert one.fingerprint == other.fingerprint
    other.config = replace(other.config, none=YesNo(0.5, 3.0))
    del other.identity
    assert one.fingerprint != other.fingerprint
    before = plain.fingerprint
    del plain.identity
    plain.config = replace(plain.config, none=YesNo(0.5, 3.0))  # it has no null score
    assert plain.fingerprint == before


def test_yes_no_does_not_overflow() -> None:
    found = YesNo()(np.array([-1e6, 5.0, 1e6], dtype=np.float32))
    np.testing.assert_array_equal(found, [0, 0.5, 1])


def test_native_embedder_is_the_models_own(model: SCEModel) -> None:
    assert isinstance(model.text_embedder, NativeEmbedder)
    assert model.text_embedder.encoder is model.embedder
    assert model.max_tokens == model.text_embedder.max_tokens
    assert (model.kind, model.name) == ("sce", "tiny")
