"""The similarity baseline, on real weights too: they come with the program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.hub import catalog, installing, model_places
from sce_desktop.ml.hub.known_models import MINILM
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.similarity import SimilarityModel
from tests.ml.tiny import DictCache, tiny_sce, tiny_sentence_transformer

TEXTS = ["the parcel was late", "i want a refund", "the weather is wet"]
LABELS = [Label("late"), Label("refund"), Label("weather", description="rain and sun", synonyms=("rain",))]


@pytest.fixture
def model(tmp_path: Path) -> SimilarityModel:
    return SimilarityModel.from_pretrained(tiny_sentence_transformer(tmp_path))


def test_probabilities_are_the_softmax_of_twenty_cosines(model: SimilarityModel) -> None:
    found = model.probabilities(TEXTS, LABELS).probabilities
    texts = model.embedder.encode(TEXTS).astype(np.float64)
    labels = []
    for wordings in (["late"], ["refund"], ["weather", "rain", "weather: rain and sun"]):
        mean = model.embedder.encode(wordings).astype(np.float64).mean(0)
        labels.append(mean / np.linalg.norm(mean))
    right = np.exp(20 * texts @ np.stack(labels).T)
    np.testing.assert_allclose(found, right / right.sum(1, keepdims=True), atol=2e-4)  # kept as float16
    assert found.dtype == np.float32
    assert found.argmax(1).tolist() == [0, 1, 2]


def test_multi_label_and_order(model: SimilarityModel) -> None:
    three = model.probabilities(TEXTS, LABELS, multi_label=True).probabilities
    one = model.probabilities(TEXTS, LABELS[1:2], multi_label=True).probabilities
    np.testing.assert_allclose(one, three[:, 1:2], atol=1e-6)
    turned = model.probabilities(TEXTS, LABELS[::-1]).probabilities
    np.testing.assert_allclose(turned[:, ::-1], model.probabilities(TEXTS, LABELS).probabilities, atol=1e-6)


def test_one_label_alone_is_a_question(model: SimilarityModel) -> None:
    asked = model.probabilities(TEXTS, LABELS[:1])
    alone = model.probabilities(TEXTS, LABELS[:1], multi_label=True).probabilities
    np.testing.assert_array_equal(asked.probabilities, alone)
    assert asked.none is not None
    np.testing.assert_allclose(asked.none, 1 - alone[:, 0])
    with pytest.raises(UserError, match="give at least one"):
        model.probabilities(TEXTS, [])


def test_no_texts_give_no_rows(model: SimilarityModel) -> None:
    assert len(model.probabilities([], LABELS)) == 0


def test_cancel_and_cache(model: SimilarityModel) -> None:
    class Cancelling(SilentProgress):
        def check(self) -> None:
            raise Cancelled

    cache = DictCache()
    with pytest.raises(Cancelled):
        model.probabilities(TEXTS, LABELS, cache=cache, progress=Cancelling())
    assert len(cache) == len(TEXTS)


def test_what_it_says_of_itself(model: SimilarityModel, tmp_path: Path) -> None:
    assert (model.kind, model.labels) == ("similarity", ())
    other = SimilarityModel.from_pretrained(tiny_sentence_transformer(tmp_path, seed=5, name="other"))
    assert other.fingerprint != model.fingerprint


def test_an_installed_model_is_loaded_as_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "PRESETS", {"prompted": {"prompt": "news: "}})
    installing.add(tiny_sentence_transformer(tmp_path), name="prompted")
    installing.add(tmp_path / "tiny-sentences", name="plain")
    prompted, plain = SimilarityModel.from_pretrained("prompted"), SimilarityModel.from_pretrained("plain")
    np.testing.assert_array_equal(prompted.embedder.encode(["late"]), plain.embedder.encode(["news: late"]))


def test_an_sce_folder_gives_its_own_cosine_part(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    model = SimilarityModel.from_pretrained(folder)
    sce = SCEModel.from_pretrained(folder)
    assert model.embedder.key == sce.text_embedder.key  # so that their cached vectors are the same
    sce.head.scale.data.zero_()
    np.testing.assert_allclose(
        model.probabilities(TEXTS, LABELS).probabilities,
        sce.probabilities(TEXTS, LABELS).probabilities,
        atol=1e-5,
    )


# --- all-MiniLM-L6-v2 --------------------------------------------------------------------------------------


def test_the_default_runs_natively_and_equals_the_library() -> None:
    from sentence_transformers import SentenceTransformer

    texts = [
        "The parcel came two weeks late and nobody answered the phone.",
        "",
        "Müsli für Zoë – 5 €, 天気 🌧️",
        "I was charged twice! " * 80,
        "ok",
    ]
    model = SimilarityModel.from_pretrained()
    assert isinstance(model.embedder, NativeEmbedder)
    assert (model.name, model.max_tokens, model.embedder.dim) == ("all-MiniLM-L6-v2", 256, 384)
    library = SentenceTransformer(str(catalog.resolve(MINILM)), device="cpu", local_files_only=True)
    right = library.encode(texts, show_progress_bar=False)
    np.testing.assert_allclose(model.embedder.encode(texts), right, atol=1e-5)
    labels = [Label("delivery"), Label("billing"), Label("weather")]
    assert model.probabilities(texts[::3], labels).probabilities.argmax(1).tolist() == [0, 1]


def test_weights_that_are_not_the_published_ones_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    (package / "model").mkdir(parents=True)
    for file in catalog.resolve(MINILM).glob("*.json"):
        (package / "model" / file.name).write_bytes(file.read_bytes())
    (package / "model" / "model.safetensors").write_bytes(b"something else")
    monkeypatch.setattr(model_places, "MINILM_PACKAGE", "absent_package")
    monkeypatch.setattr(model_places.paths, "bundled_models_dir", lambda: tmp_path)
    (package / "model").rename(tmp_path / MINILM)
    with pytest.raises(UserError, match="not the published ones"):
        SimilarityModel.from_pretrained()
