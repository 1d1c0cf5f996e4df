"""Models that sentence-transformers runs for us: prompts, task adapters, code of their own, bad folders."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.ml.encoder import embedder as module
from sce_desktop.ml.encoder.embedder import cached_encode
from sce_desktop.ml.encoder.published import load_embedder
from sce_desktop.ml.encoder.sentence_transformer import SentenceTransformerEmbedder
from tests.ml.tiny import MAX_TOKENS, WIDTH, DictCache, tiny_sentence_transformer

TEXTS = ["the parcel was late", "refund", "driver " * 100, "i want my money back today"]
CODE = '''
from sentence_transformers.models import Transformer


class Adapted(Transformer):
    """Adds to the hidden states what the task asks for, as a LoRA would."""

    def forward(self, features, task=None, **kwargs):
        features = super().forward(features, **kwargs)
        if task == "classification":
            features["token_embeddings"] = features["token_embeddings"].flip(-1)
        return features
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that only the library can run: it pools the first token."""
    folder = tiny_sentence_transformer(tmp_path_factory.mktemp("outside"), pooling="cls")
    settings = {"prompts": {"topic": "news: "}, "default_prompt_name": None}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def embedder(folder: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(folder)


def with_code(tmp_path: Path) -> Path:
    """A folder as jina-embeddings-v3's is laid: a module class of its own that takes a task."""
    folder = tiny_sentence_transformer(tmp_path, name="adapted")
    (folder / "custom_st.py").write_text(CODE, encoding="utf-8")
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    modules[0] |= {"type": "custom_st.Adapted", "kwargs": ["task"]}
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    return folder


def test_vectors_are_the_librarys_in_the_order_of_the_texts(
    embedder: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = embedder.model.encode(TEXTS, normalize_embeddings=True)
    monkeypatch.setattr(module, "WINDOW", 3)
    for size in (None, 1, 2):
        found = embedder.encode(TEXTS, batch_size=size)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, right, atol=1e-6)
    assert (embedder.dim, embedder.max_tokens) == (WIDTH, MAX_TOKENS)


def test_tokens_are_counted_whole(embedder: SentenceTransformerEmbedder) -> None:
    counts = embedder.token_counts(["late", "driver " * 100])
    assert counts.tolist() == [3, 102]


def test_vectors_are_cached(embedder: SentenceTransformerEmbedder, folder: Path) -> None:
    cache = DictCache()
    first = cached_encode(embedder, TEXTS, cache)
    again = SentenceTransformerEmbedder(folder)
    assert again.key == embedder.key
    found, vectors = cache.get(again.key, TEXTS)
    assert found.all()
    np.testing.assert_array_equal(vectors, first)


def test_a_prompt_goes_before_every_text(embedder: SentenceTransformerEmbedder, folder: Path) -> None:
    by_name = SentenceTransformerEmbedder(folder, prompt_name="topic")
    by_text = SentenceTransformerEmbedder(folder, prompt="news: ")
    right = embedder.encode([f"news: {text}" for text in TEXTS])
    np.testing.assert_allclose(by_name.encode(TEXTS), right, atol=1e-6)
    np.testing.assert_allclose(by_text.encode(TEXTS), right, atol=1e-6)
    assert by_name.token_counts(["late"]) == embedder.token_counts(["news: late"])
    assert len({embedder.key, by_name.key, by_text.key}) == 3


def test_a_prompt_or_task_that_the_model_has_not_is_refused(folder: Path) -> None:
    with pytest.raises(UserError, match=r"no prompt named “haiku”, it has: .*topic"):
        SentenceTransformerEmbedder(folder, prompt_name="haiku")
    with pytest.raises(UserError, match="no task adapters"):
        SentenceTransformerEmbedder(folder, task="classification")


def test_texts_can_be_read_less_far(folder: Path) -> None:
    short = SentenceTransformerEmbedder(folder, max_tokens=8)
    np.testing.assert_allclose(short.encode(["driver " * 100]), short.encode(["driver " * 7]), atol=1e-6)
    assert short.max_tokens == 8


def test_code_of_a_model_runs_only_where_it_was_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_code(tmp_path)
    with pytest.raises(
        UserError, match=r"code of its own \(custom_st\.Adapted\): allow it only if you trust its author"
    ):
        load_embedder(folder)
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    plain = load_embedder(folder, trust_remote_code=True)
    adapted = load_embedder(folder, trust_remote_code=True, task="classification")
    np.testing.assert_allclose(adapted.encode(TEXTS), plain.encode(TEXTS)[:, ::-1], atol=1e-5)
    assert adapted.key != plain.key


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    folder = tiny_sentence_transformer(tmp_path, pooling="cls")
    (folder / "model.safetensors").unlink()
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self) -> Any:
            return Path.touch, (trap,)

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(UserError, match="as a pickle"):
        load_embedder(folder)
    with pytest.raises(UserError, match="cannot be loaded"):
        SentenceTransformerEmbedder(folder)
    assert not trap.exists()


@pytest.mark.parametrize("damage", ["cut", "empty", "other"])
def test_a_damaged_folder_is_refused_in_one_sentence(tmp_path: Path, damage: str) -> None:
    folder = tiny_sentence_transformer(tmp_path, pooling="cls")
    weights = folder / "model.safetensors"
    if damage == "cut":
        weights.write_bytes(weights.read_bytes()[:-1000])
    elif damage == "empty":
        weights.write_bytes(b"")
    else:
        (folder / "config.json").write_text('{"model_type": "nothing-known"}', encoding="utf-8")
    why = "cannot be loaded as a text model" if damage == "other" else "is cut or damaged"
    with pytest.raises(UserError, match=why) as caught:
        load_embedder(folder)
    assert "\n" not in str(caught.value)
