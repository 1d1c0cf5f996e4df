"""Published folders that we run ourselves must give the library's numbers; others must be left to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.published import load_embedder, native_embedder
from tests.ml.tiny import MAX_TOKENS, tiny_sentence_transformer

TEXTS = ["the parcel was late", "", "driver " * 100, "i want my money back today", "[SEP] {x} Ünï 天気"]


def edit(file: Path, **changes: Any) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, **changes}), encoding="utf-8")


@pytest.mark.parametrize("model_type", ["bert", "roberta"])
def test_native_vectors_equal_the_librarys(tmp_path: Path, model_type: Any) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny_sentence_transformer(tmp_path, model_type=model_type)
    library = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    right = library.encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    embedder = load_embedder(folder)
    assert isinstance(embedder, NativeEmbedder)
    assert embedder.max_tokens == MAX_TOKENS
    np.testing.assert_allclose(embedder.encode(TEXTS), right, atol=1e-5)
    np.testing.assert_array_equal(
        embedder.token_counts(TEXTS),
        [len(ids) for ids in library.tokenizer(TEXTS, truncation=False)["input_ids"]],
    )


def test_the_newer_way_to_name_the_pooling(tmp_path: Path) -> None:
    folder = tiny_sentence_transformer(tmp_path)
    pooling = {"embedding_dimension": 64, "pooling_mode": "mean", "include_prompt": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    assert native_embedder(folder) is not None


def test_a_default_prompt_is_used(tmp_path: Path) -> None:
    folder = tiny_sentence_transformer(tmp_path)
    plain = native_embedder(folder)
    settings = {"prompts": {"topic": "news: "}, "default_prompt_name": "topic"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings), encoding="utf-8")
    prompted = native_embedder(folder)
    assert plain is not None
    assert prompted is not None
    np.testing.assert_array_equal(prompted.encode(["late"]), plain.encode(["news: late"]))


def deeper(folder: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    modules.insert(
        2, {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    )
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda f: edit(
            f / "1_Pooling" / "config.json", pooling_mode_mean_tokens=False, pooling_mode_cls_token=True
        ),
        lambda f: edit(f / "1_Pooling" / "config.json", pooling_mode_max_tokens=True),
        lambda f: edit(f / "1_Pooling" / "config.json", include_prompt=False),
        lambda f: edit(f / "config.json", position_embedding_type="relative_key"),
        lambda f: edit(f / "config.json", auto_map={"AutoModel": "code.Model"}),
        lambda f: edit(f / "config.json", model_type="deberta-v2"),
        lambda f: edit(f / "config.json", hidden_act="relu"),
        lambda f: (f / "modules.json").unlink(),
        lambda f: (f / "tokenizer.json").unlink(),
        deeper,
    ],
)
def test_what_we_cannot_run_is_left_to_the_library(tmp_path: Path, change: Callable[[Path], None]) -> None:
    folder = tiny_sentence_transformer(tmp_path)
    change(folder)
    assert native_embedder(folder) is None


@pytest.mark.parametrize("keep", [0, 100, 0.5])
def test_cut_weights_are_refused(tmp_path: Path, keep: float) -> None:
    folder = tiny_sentence_transformer(tmp_path)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: int(keep if keep >= 1 else keep * len(whole))])
    with pytest.raises(UserError, match="cut or damaged"):
        load_embedder(folder)


def test_weights_of_another_shape_are_refused(tmp_path: Path) -> None:
    folder = tiny_sentence_transformer(tmp_path)
    edit(folder / "config.json", num_hidden_layers=9)
    with pytest.raises(UserError, match="do not fit"):
        load_embedder(folder)


def test_a_missing_folder_and_an_unfetched_hub_id(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no model folder"):
        load_embedder(tmp_path / "gone")
    with pytest.raises(UserError, match="is not installed"):
        load_embedder("somebody/some-model")
