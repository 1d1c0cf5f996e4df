"""Folders of language models: what is loaded, and what is refused with a sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.ml.hub import installing
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.ml.llm.llm_folder import load_llm
from tests.ml.tiny import tiny_sce, tiny_sentence_transformer
from tests.ml.tiny_llm import tiny_llm

LABELS = [Label("sports"), Label("business")]


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llm(tmp_path_factory.mktemp("llm"))


@pytest.fixture
def folder(master: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(master, tmp_path / "модели 1" / "模型"))


def test_a_path_in_another_script(folder: Path, master: Path) -> None:
    there = load_llm(folder).probabilities(["late"], LABELS).probabilities
    np.testing.assert_array_equal(there, load_llm(master).probabilities(["late"], LABELS).probabilities)


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no model"):
        load_llm(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="not a model folder"):
        load_llm(tmp_path / "empty")


def test_the_default_that_is_not_here_says_how_to_get_it() -> None:
    with pytest.raises(UserError, match="models get SmolLM2-135M-Instruct"):
        ModelSession("cpu").baseline("llm")


def test_cut_off_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    with pytest.raises(UserError, match="cut or damaged"):
        load_llm(folder)


def test_missing_weights_and_pickles(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"model\.safetensors is missing"):
        load_llm(folder)
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")
    with pytest.raises(UserError, match="pickle"):
        load_llm(folder)


@pytest.mark.parametrize("other", [tiny_sce, tiny_sentence_transformer])
def test_another_architecture(tmp_path: Path, other: object) -> None:
    with pytest.raises(UserError, match="not a language model"):
        load_llm(other(tmp_path))  # type: ignore[operator]


def test_an_unknown_architecture_and_weights_that_do_not_fit(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(
        json.dumps(config | {"model_type": "marvin", "architectures": ["MarvinForCausalLM"]}),
        encoding="utf-8",
    )
    with pytest.raises(UserError, match="cannot be loaded as a language model") as caught:
        load_llm(folder)
    assert "\n" not in str(caught.value)
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 64}), encoding="utf-8")
    with pytest.raises(UserError, match="cannot be loaded as a language model"):
        load_llm(folder)


def test_code_of_its_own_is_never_run(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["auto_map"] = {"AutoModelForCausalLM": "evil.Evil"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "evil.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    with pytest.raises(UserError, match="program code"):
        load_llm(folder)


def test_the_session_keeps_llms_by_name_and_the_old_one_after_a_failure(folder: Path) -> None:
    entry = installing.add(folder, name="chatty")
    assert entry.kind == "llm"
    session = ModelSession("cpu")
    model = session.baseline("llm:chatty")
    with pytest.raises(UserError):
        session.baseline("llm:nobody")
    assert session.baseline("llm:chatty") is model
    assert session.model("llm:chatty") is model
    assert session.estimate(model, 1000, 20.0, 4) > 0
