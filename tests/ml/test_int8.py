"""Matrices in int8 come back as the floats that they stand for, and a model saved so is the same again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.ml.encoder import int8
from sce_desktop.ml.finetune.adapting import adapted
from sce_desktop.ml.hub import catalog, folders, installing
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import ModelConfig
from tests.ml.tiny import tiny_sce_model

TEXTS = ["the parcel was late", "my money back please", "a very very long wait for the driver"]
LABELS = [Label("late delivery"), Label("refund"), Label("app", synonyms=("website",))]


def _matrix(rows: int = 50, width: int = 64) -> torch.Tensor:
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(4))


def test_a_row_is_rounded_to_steps_of_its_own_peak() -> None:
    steps, peaks = int8.rounded(torch.tensor([[0.5, -1.0, 0.25], [0.0, 0.0, 0.0], [8.0, 4.0, -2.0]]))
    assert steps.dtype == torch.int8
    assert steps.tolist() == [[64, -127, 32], [0, 0, 0], [127, 64, -32]]
    assert peaks.tolist() == [1.0, 0.0, 8.0]
    assert int8.restored(steps, peaks)[1].tolist() == [0.0, 0.0, 0.0]


def test_no_weight_is_off_by_more_than_half_a_step_and_its_rounding() -> None:
    whole = _matrix()
    apart = (int8.restored(*int8.rounded(whole)) - whole).abs()
    assert (apart <= whole.abs().amax(1, keepdim=True) * (0.5 / int8.STEPS + 1e-3)).all()


def test_rounding_what_was_restored_changes_nothing_and_float16_holds_it() -> None:
    for scale in (1e-3, 0.04, 30.0):
        once = int8.restored(*int8.rounded(_matrix() * scale))
        assert torch.equal(int8.restored(*int8.rounded(once)), once)
        assert torch.equal(once.half().float(), once)


def test_only_what_is_named_is_packed_and_all_comes_back() -> None:
    state = {"a.weight": _matrix(), "a.bias": torch.ones(50), "b.weight": _matrix()}
    packed = int8.pack(state, ["a.weight"])
    assert set(packed) == {*state, "a.weight.peaks"}
    back = int8.unpack(packed)
    assert set(back) == set(state)
    assert torch.equal(back["b.weight"], state["b.weight"])
    assert torch.equal(back["a.weight"], int8.restored(*int8.rounded(state["a.weight"])))


@pytest.fixture
def small() -> SCEModel:
    model = tiny_sce_model(seed=2, says_none=True)
    model.config = replace(model.config, weight_bits=8)
    return model


def test_a_model_in_int8_is_half_as_large_and_scores_nearly_as_it_did(
    small: SCEModel, tmp_path: Path
) -> None:
    right = small.probabilities(TEXTS, LABELS).probabilities
    small.save_pretrained(tmp_path / "small")
    small.config = replace(small.config, weight_bits=16)
    small.save_pretrained(tmp_path / "large")
    sizes = [(tmp_path / name / folders.WEIGHTS).stat().st_size for name in ("small", "large")]
    assert sizes[0] < 0.6 * sizes[1]
    stored = folders.read_weights(tmp_path / "small")
    assert {"embedder.tokens.weight", "embedder.layers.0.qkv.weight", "head.adapt.weight"} <= {
        name for name, tensor in stored.items() if tensor.dtype == torch.int8
    }
    assert stored["embedder.positions.weight"].dtype == torch.float16
    config = json.loads((tmp_path / "small" / "config.json").read_text())
    assert (config["format"], config["weight_bits"]) == (3, 8)
    assert "weight_bits" not in json.loads((tmp_path / "large" / "config.json").read_text())
    loaded = SCEModel.from_pretrained(tmp_path / "small")
    assert abs(loaded.probabilities(TEXTS, LABELS).probabilities - right).max() < 0.02


def test_saving_again_keeps_every_bit(small: SCEModel, tmp_path: Path) -> None:
    small.save_pretrained(tmp_path / "one")
    loaded = SCEModel.from_pretrained(tmp_path / "one")
    loaded.save_pretrained(tmp_path / "two")
    again = SCEModel.from_pretrained(tmp_path / "two")
    assert again.fingerprint == loaded.fingerprint
    assert (tmp_path / "one" / folders.WEIGHTS).read_bytes() == (
        tmp_path / "two" / folders.WEIGHTS
    ).read_bytes()
    # and so does a folder in float16, which is what an exported version of it is
    again.config = replace(again.config, weight_bits=16)
    again.save_pretrained(tmp_path / "three")
    assert SCEModel.from_pretrained(tmp_path / "three").fingerprint == loaded.fingerprint


def test_in_several_files_the_format_stays_the_newer_one(
    small: SCEModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "LARGEST_FILE", 30_000)
    small.save_pretrained(tmp_path / "small")
    assert len(folders.weight_files(tmp_path / "small")) > 1
    assert json.loads((tmp_path / "small" / "config.json").read_text())["format"] == 3
    assert SCEModel.from_pretrained(tmp_path / "small").name == small.name
    installing.add(tmp_path / "small", name="mine", models_dir=tmp_path / "models")
    assert catalog.verify("mine", models_dir=tmp_path / "models").ok


def test_what_an_adapter_taught_is_not_rounded_away(small: SCEModel, tmp_path: Path) -> None:
    small.save_pretrained(tmp_path / "base")
    base = SCEModel.from_pretrained(tmp_path / "base")
    width = base.embedder.config.hidden_size
    little = 1e-3 * torch.ones(2, width), 1e-3 * torch.ones(3 * width, 2)
    model = adapted(base, {"layers.0.qkv": little})
    assert model.config.weight_bits == 16
    model.save_pretrained(tmp_path / "mine")
    assert SCEModel.from_pretrained(tmp_path / "mine").fingerprint == model.fingerprint != base.fingerprint


def test_an_int8_matrix_without_its_peaks_does_not_fit(small: SCEModel, tmp_path: Path) -> None:
    small.save_pretrained(tmp_path / "small")
    stored = folders.read_weights(tmp_path / "small")
    del stored["head.adapt.weight.peaks"]
    folders.write_weights(tmp_path / "small", stored)
    with pytest.raises(UserError, match="do not fit"):
        SCEModel.from_pretrained(tmp_path / "small")


def test_weights_of_other_bits_are_refused(small: SCEModel) -> None:
    with pytest.raises(ValueError, match="4 bits"):
        ModelConfig.from_dict(small.config.to_dict() | {"weight_bits": 4})
