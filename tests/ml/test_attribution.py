"""Which words speak for a label: wiring on tiny models, worth on the committed one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.word_spans import without_spans
from sce_desktop.ml import attribution
from sce_desktop.ml.attribution import attribute, log_odds_by
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.token_vectors import token_vectors
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.similarity import SimilarityModel
from sce_desktop.ml.transductive import TransductiveModel
from tests.ml.tiny import tiny_sce_model, tiny_sentence_transformer

LABELS = [Label("late"), Label("refund"), Label("weather")]
TEXT = "The parcel was very LATE, and rude is the driver."


@pytest.fixture(scope="module")
def sce() -> SCEModel:
    return tiny_sce_model()


@pytest.fixture(scope="module")
def mini() -> SCEModel:
    return SCEModel.from_pretrained(catalog.resolve("sce-mini"))


def heaviest(found: attribution.Attribution, text: str) -> str:
    start, end = found.spans[int(found.weights.argmax())]
    return text[start:end]


def test_the_word_that_is_the_label_speaks_for_it_most(sce: SCEModel) -> None:
    found = attribute(sce, TEXT, LABELS, 0)
    assert found.method == "pooled"
    assert heaviest(found, TEXT) == "LATE"
    assert found.read == len(TEXT)
    assert len(found.spans) == len(found.weights) == 10
    other = attribute(sce, TEXT, LABELS, 1)
    place = [TEXT[a:b] for a, b in other.spans].index("LATE")
    assert other.weights[place] < 0


def test_the_score_is_the_models_own_log_odds(sce: SCEModel) -> None:
    p = sce.probabilities([TEXT], LABELS).probabilities[0].astype(np.float64)
    found = attribute(sce, TEXT, LABELS, 0)
    assert found.score == pytest.approx(np.log(p[0] / (p[1] + p[2])), abs=1e-3)
    both = sce.probabilities([TEXT], LABELS, multi_label=True).probabilities[0].astype(np.float64)
    found = attribute(sce, TEXT, LABELS, 0, multi_label=True)
    assert found.score == pytest.approx(np.log(both[0] / (1 - both[0])), abs=1e-3)
    alone = attribute(sce, TEXT, LABELS[:1], 0)
    assert alone.score == pytest.approx(found.score, abs=1e-3)


def test_token_vectors_have_the_texts_vector_as_their_mean(sce: SCEModel) -> None:
    embedder = sce.text_embedder
    assert isinstance(embedder, NativeEmbedder)
    found = token_vectors(embedder, TEXT)
    mean = found.vectors.mean(0)
    np.testing.assert_allclose(mean / np.linalg.norm(mean), embedder.encode([TEXT])[0], atol=1e-5)
    assert TEXT[slice(*found.spans[5])] == "LATE"
    assert found.spans[0].tolist() == found.spans[-1].tolist() == [0, 0]  # special tokens


def test_spans_are_of_the_text_behind_a_prompt_and_lowered(sce: SCEModel) -> None:
    old = sce.text_embedder
    assert isinstance(old, NativeEmbedder)
    embedder = NativeEmbedder(old.encoder, old.tokenizer, name="x", prompt="query: ", lower_case=True)
    text = "İİİ late"  # three characters that lowering doubles
    found = token_vectors(embedder, text)
    spans = [text[start:end] for start, end in found.spans if end > start]
    assert spans[-1] == "late"
    assert all(span in "İİİ" for span in spans[:-1])


def test_a_text_is_explained_as_far_as_it_is_read(sce: SCEModel) -> None:
    text = "late " * 500
    found = attribute(sce, text, LABELS, 0)
    assert 0 < found.read < 400
    assert max(end for _, end in found.spans) == found.read


@pytest.mark.parametrize("text", ["!!!", "?", "\ud83d", "."])
def test_a_text_without_words_has_no_reasons(sce: SCEModel, text: str) -> None:
    found = attribute(sce, text, LABELS, 0)
    assert found.spans == ()
    assert np.isfinite(found.score)


def test_similarity_is_explained_both_ways(tmp_path: Path) -> None:
    model = SimilarityModel.from_pretrained(tiny_sentence_transformer(tmp_path))
    assert heaviest(attribute(model, TEXT, LABELS, 0), TEXT) == "LATE"
    found = attribute(model, TEXT, LABELS, 0, method="occlusion")
    assert heaviest(found, TEXT) == "LATE"
    log_odds = log_odds_by(model, LABELS, 0, multi_label=False)
    whole, less = log_odds(model.embedder.encode([TEXT, without_spans(TEXT, [found.spans[4]])]))
    assert found.weights[4] == pytest.approx(whole - less, abs=1e-4)


def test_occlusion_of_a_long_text_stays_within_its_budget(
    sce: SCEModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " ".join(["the parcel and the box"] * 10 + ["late"] + ["the parcel"] * 3)
    sce.probabilities([text], LABELS)  # the labels are read once, whoever asks first
    read: list[str] = []
    encode = sce.text_embedder.encode

    def counting(texts: list[str], **options: object) -> object:
        read.extend(texts)
        return encode(texts, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(sce.text_embedder, "encode", counting)
    found = attribute(sce, text, LABELS, 0, method="occlusion")
    assert len(found.spans) == 57
    assert heaviest(found, text) == "late"
    assert len(read) <= attribution.MOST_VARIANTS + 1


def test_a_joint_model_is_explained_by_the_rows_own_part(sce: SCEModel) -> None:
    texts = [TEXT, "the parcel was late", "i want a refund", "rain and wet weather", "refund my money"]
    joint = TransductiveModel.from_texts(sce, texts)
    found = attribute(joint, TEXT, LABELS, 0)
    assert heaviest(found, TEXT) == "LATE"
    own = joint.score_without_neighbours(sce.embed([TEXT]), LABELS).probabilities[0].astype(np.float64)
    assert own.sum() == pytest.approx(1, abs=1e-5)
    assert found.score == pytest.approx(np.log(own[0] / own[1:].sum()), abs=1e-3)
    several = joint.score_without_neighbours(sce.embed([TEXT]), LABELS, multi_label=True)
    plain = sce.score(sce.embed([TEXT]), LABELS, multi_label=True)
    np.testing.assert_array_equal(several.probabilities, plain.probabilities)


def test_a_model_without_vectors_is_refused_in_a_sentence() -> None:
    class Prompted:
        """A language model reads texts and makes no vectors of them."""

        kind = "llm"

    assert attribution.why_not(Prompted()) == "Not available for LLMs, which make no text vectors."
    with pytest.raises(UserError, match="Not available for LLMs"):
        attribute(Prompted(), TEXT, LABELS, 0)


def test_it_can_be_cancelled(sce: SCEModel) -> None:
    class Stopped:
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None: ...
        def warn(self, message: str) -> None: ...
        def check(self) -> None:
            raise Cancelled

    for method in ("pooled", "occlusion"):
        with pytest.raises(Cancelled):
            attribute(sce, TEXT, LABELS, 0, method=method, progress=Stopped())  # type: ignore[arg-type]


@pytest.mark.model
def test_the_committed_model_names_words_that_count(mini: SCEModel) -> None:
    labels = [Label(name) for name in ("Late delivery", "Refund", "Rude driver", "App crash")]
    texts = [
        "My parcel arrived four days after the date that you promised me, and nobody told me anything.",
        "Every time I open the tracking page on my phone the app crashes and I must log in again.",
        "The courier shouted at my neighbour and threw the box over the fence, how impolite can one be?",
        "I sent the shoes back three weeks ago and still wait for my money on my card.",
    ]
    rng = np.random.default_rng(0)
    more = []
    for text in texts:
        place = int(mini.probabilities([text], labels).probabilities[0].argmax())
        found = attribute(mini, text, labels, place)
        log_odds = log_odds_by(mini, labels, place, multi_label=False)
        assert found.score == pytest.approx(float(log_odds(mini.embed([text]))[0]), abs=1e-3)
        named = [found.spans[i] for i in np.argsort(-found.weights)[:3]]
        drawn = [[found.spans[i] for i in rng.choice(len(found.spans), 3, replace=False)] for _ in range(5)]
        variants = [without_spans(text, spans) for spans in (named, *drawn)]
        scores = log_odds(mini.embed(variants))
        more.append(scores[1:].mean() - scores[0])
    assert np.mean(more) > 1.0  # of log-odds; docs/research/why.md has it over 500 rows
