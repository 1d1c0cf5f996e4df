"""The folder of a whole SCE, in good and in bad shape."""

from __future__ import annotations

import itertools
import json
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.ml.hub import folders
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import ModelConfig
from sce_desktop.ml.sce.sce import SCEConfig
from tests.ml.tiny import (
    WIDTH,
    tiny_config,
    tiny_head,
    tiny_sce,
    tiny_sce_model,
    tiny_sentence_transformer,
    tiny_text_encoder,
    tiny_tokenizer,
)

KINDS = list(itertools.product(["paper", "plus"], ["joint", "shared"]))
TEXTS = ["the parcel was late", "i want a refund", "the weather is wet", "sport and music", "late " * 40]
LABELS = [Label(name) for name in ("late", "refund", "weather", "sport", "price")]


def probabilities(model: SCEModel, labels: list[Label], **options: Any) -> np.ndarray:
    return model.probabilities(TEXTS, labels, **options).probabilities


@pytest.mark.parametrize(("architecture", "attention"), KINDS)
def test_a_saved_model_gives_the_same_numbers(tmp_path: Path, architecture: Any, attention: Any) -> None:
    folder = tiny_sce(tmp_path, architecture=architecture, attention=attention)
    assert sorted(p.name for p in folder.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    model = SCEModel.from_pretrained(folder)
    made = tiny_sce_model(architecture=architecture, attention=attention)
    np.testing.assert_allclose(
        probabilities(model, LABELS), probabilities(made, LABELS), atol=0.02
    )  # float16
    again = tmp_path / "again"
    model.save_pretrained(again)
    twice = SCEModel.from_pretrained(again)
    np.testing.assert_array_equal(probabilities(model, LABELS), probabilities(twice, LABELS))
    assert twice.fingerprint == model.fingerprint
    assert twice.text_embedder.key == model.text_embedder.key
    assert (again / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()


def test_weights_are_stored_in_float16_and_computed_in_float32(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    with safe_open(folder / "model.safetensors", framework="pt") as tensors:
        names = list(tensors.keys())
        assert {tensors.get_tensor(name).dtype for name in names} == {torch.float16}
    assert {name.partition(".")[0] for name in names} == {"embedder", "head"}  # E is the embedder's own
    assert {p.dtype for p in SCEModel.from_pretrained(folder).parameters()} == {torch.float32}


def test_labels_travel_with_the_model(tmp_path: Path) -> None:
    model = tiny_sce_model()
    labels = (Label("Späte Lieferung", "kommt spät", ("late",), "#112233", "1"), Label("{x}"))
    model.config = replace(model.config, labels=labels)
    model.save_pretrained(tmp_path / "m")
    assert SCEModel.from_pretrained(tmp_path / "m").labels == labels


def test_label_tokens_of_their_own(tmp_path: Path) -> None:
    """The label encoder is RoBERTa-like, the embedder BERT-like: two tables, two tokenizers."""
    shape = SCEConfig(architecture="paper", text_width=WIDTH, layers=2, encoder=tiny_config("roberta"))
    encoder = tiny_text_encoder("bert")
    config = ModelConfig.native("two", shape, encoder.config, max_tokens=32, token_table="own")
    table = nn.Embedding.from_pretrained(torch.randn(shape.encoder.vocab_size, WIDTH))
    model = SCEModel(
        config,
        encoder,
        tiny_head(shape),
        tiny_tokenizer("bert"),
        label_tokens=table,
        label_tokenizer=tiny_tokenizer("roberta"),
    )
    model.save_pretrained(tmp_path / "two")
    loaded = SCEModel.from_pretrained(tmp_path / "two")
    ids = tiny_tokenizer("roberta").encode("late", add_special_tokens=False).ids
    torch.testing.assert_close(
        loaded.label_vectors(LABELS).tokens[0], table.weight[ids].mean(0), atol=2e-3, rtol=2e-3
    )
    np.testing.assert_allclose(probabilities(loaded, LABELS), probabilities(model, LABELS), atol=0.02)


def test_an_embedder_of_sentence_transformers(tmp_path: Path) -> None:
    sentences = tiny_sentence_transformer(tmp_path, pooling="cls")  # which ours cannot run itself
    shape = SCEConfig(text_width=WIDTH, layers=1, encoder=tiny_config())
    from sce_desktop.ml.encoder.published import load_embedder

    config = ModelConfig(
        "outside", shape, {"kind": "sentence-transformers", "model": str(sentences)}, token_table="own"
    )
    table = nn.Embedding.from_pretrained(torch.randn(shape.encoder.vocab_size, WIDTH))
    model = SCEModel(
        config,
        load_embedder(sentences),
        tiny_head(shape),
        label_tokens=table,
        label_tokenizer=tiny_tokenizer(),
    )
    model.save_pretrained(tmp_path / "outside")
    assert not (tmp_path / "outside" / "tokenizer.json").exists()
    loaded = SCEModel.from_pretrained(tmp_path / "outside")
    assert type(loaded.text_embedder).__name__ == "SentenceTransformerEmbedder"
    assert loaded.text_embedder.key == model.text_embedder.key
    np.testing.assert_allclose(probabilities(loaded, LABELS), probabilities(model, LABELS), atol=0.02)


def test_spaces_and_other_alphabets_in_the_path(tmp_path: Path) -> None:
    """The path that broke another program. Sockets are blocked in every test."""
    folder = tiny_sce(tmp_path / "модели 1", name="模型 é")
    assert probabilities(SCEModel.from_pretrained(folder), LABELS).shape == (5, 5)


def test_loading_needs_neither_transformers_nor_sentence_transformers(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    code = (
        "import sys\n"
        "from sce_desktop.ml.sce.model import SCEModel\n"
        "from sce_desktop.core.annotations import Label as L\n"
        "import sce_desktop.ml.similarity, sce_desktop.ml.hub.session\n"
        f"SCEModel.from_pretrained({str(folder)!r}).probabilities(['late'], [L('late'), L('refund')])\n"
        "heavy = ('transformers', 'sentence_transformers', 'pandas', 'PySide6')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_saving_again_keeps_the_card_and_other_files(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    (folder / "README.md").write_text("my card", encoding="utf-8")
    (folder / "training.jsonl").write_text("{}", encoding="utf-8")
    tiny_sce_model(seed=7).save_pretrained(folder)
    assert (folder / "README.md").read_text(encoding="utf-8") == "my card"
    assert (folder / "training.jsonl").exists()
    assert SCEModel.from_pretrained(folder).fingerprint != tiny_sce_model().fingerprint
    assert [p.name for p in tmp_path.iterdir()] == ["tiny"]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(UserError, match="holds other files"):
        tiny_sce_model().save_pretrained(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["holiday.jpg"]


def test_a_model_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    sentences = tiny_sentence_transformer(tmp_path, pooling="cls")
    before = {p: p.read_bytes() for p in sentences.rglob("*") if p.is_file()}
    with pytest.raises(UserError, match="holds another model"):
        tiny_sce_model().save_pretrained(sentences)
    assert {p: p.read_bytes() for p in sentences.rglob("*") if p.is_file()} == before


def test_others_may_read_the_weights_where_they_may_read_the_rest(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    modes = {file.name: file.stat().st_mode for file in folder.iterdir()}
    assert modes["model.safetensors"] == modes["config.json"]


def test_a_failed_save_leaves_the_old_model_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_sce(tmp_path)
    before = {p.name: p.read_bytes() for p in folder.iterdir()}

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sce_desktop.ml.hub.folders.write_weights", full)
    with pytest.raises(UserError, match="No space left on device"):
        tiny_sce_model(seed=7).save_pretrained(folder)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert [p.name for p in tmp_path.iterdir()] == ["tiny"]


def test_pushing_uploads_the_whole_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    uploaded: dict[str, Any] = {}

    class FakeHub:
        def __init__(self, **_: Any) -> None: ...

        def create_repo(self, repo_id: str, **_: Any) -> Any:
            return type("Repo", (), {"repo_id": repo_id})()

        def upload_folder(self, folder_path: Path, **_: Any) -> str:
            uploaded.update({p.name: p.read_bytes() for p in folder_path.iterdir()})
            return "commit"

    monkeypatch.setattr("huggingface_hub.hub_mixin.HfApi", FakeHub)
    assert tiny_sce_model().push_to_hub("me/tiny") == "commit"
    assert sorted(uploaded) == ["README.md", "config.json", "model.safetensors", "tokenizer.json"]
    assert b"# tiny" in uploaded["README.md"]


# --- folders in bad shape ----------------------------------------------------------------------------------


def refused(folder: Path | str, match: str) -> None:
    with pytest.raises(UserError, match=match) as caught:
        SCEModel.from_pretrained(folder)
    assert str(caught.value).count(". ") == 0  # one sentence
    assert str(caught.value).endswith((".", "folder."))


def edit(folder: Path, **changes: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def test_a_missing_folder(tmp_path: Path) -> None:
    refused(tmp_path / "gone", "no model folder")


def test_a_hub_id_is_not_fetched_unasked() -> None:
    refused("somebody/some-model", "is not installed")


def test_a_hub_that_does_not_answer() -> None:
    with pytest.raises(UserError, match="the hub does not have it"):
        SCEModel.from_pretrained("somebody/some-model", local_files_only=False)


@pytest.mark.parametrize("keep", [0, 4, 100, 0.5, 0.999])
def test_cut_weights(tmp_path: Path, keep: float) -> None:
    folder = tiny_sce(tmp_path)
    whole = (folder / "model.safetensors").read_bytes()
    size = int(keep if keep >= 1 else keep * len(whole))
    (folder / "model.safetensors").write_bytes(whole[:size])
    refused(folder, "cut or damaged")


def test_missing_weights(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    (folder / "model.safetensors").unlink()
    refused(folder, "model.safetensors is missing")


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    (folder / "model.safetensors").unlink()
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self) -> Any:
            return Path.touch, (trap,)

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    refused(folder, "as a pickle")
    assert not trap.exists()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"model_type": "deberta-v2"}, "“deberta-v2”, not an SCE"),
        ({"model_type": None}, "“unknown”, not an SCE"),
        ({"format": 5}, "newer version"),
        ({"sce": {"architecture": "paper", "text_width": WIDTH}}, "do not fit"),
        ({"sce": {"architecture": "plus", "layers": 5}}, "do not fit"),
        ({"sce": {"encoder": {"model_type": "t5"}}}, "does not describe an SCE"),
        ({"embedder": {"kind": "native"}}, "does not describe an SCE"),
        ({"embedder": {"kind": "magic"}}, "does not describe an SCE"),
        ({"embedder": 5}, "does not describe an SCE"),
        ({"labels": [{"nom": "x"}]}, "does not describe an SCE"),
    ],
)
def test_a_wrong_config(tmp_path: Path, changes: dict[str, Any], match: str) -> None:
    folder = tiny_sce(tmp_path)
    edit(folder, **changes)
    refused(folder, match)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"[1]", b"\xff\xfe\x00"])
def test_missing_or_damaged_parts(tmp_path: Path, name: str, content: bytes | None) -> None:
    folder = tiny_sce(tmp_path)
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    refused(folder, name)


def test_a_text_model_is_no_sce(tmp_path: Path) -> None:
    refused(tiny_sentence_transformer(tmp_path), "“bert”, not an SCE")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    refused(folder / "model.safetensors", "no model folder")


def test_a_refused_model_leaves_a_loaded_one_alone(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    model = SCEModel.from_pretrained(folder)
    before = probabilities(model, LABELS)
    shutil.rmtree(folder)
    refused(folder, "no model folder")
    np.testing.assert_array_equal(probabilities(model, LABELS), before)


def test_a_full_disk_is_reported_whoever_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> dict[str, str]:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    model = tiny_sce_model()
    monkeypatch.setattr(folders, "write_weights", no_room)
    with pytest.raises(UserError, match="No space left on device"):
        model.save_pretrained(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
