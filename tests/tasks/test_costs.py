from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sce_desktop import cli
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.research import flops
from sce_desktop.research.costs import model_costs
from sce_desktop.research.train_cost import PAPER, Shape, measure, with_steps
from tests.ml.tiny import tiny_config, tiny_sce, tiny_sentence_transformer
from tests.ml.tiny_llm import LLAMA, tiny_llm


def test_the_papers_parts_by_their_own_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llama = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **PAPER.llm}
    roberta = {
        "model_type": "roberta",
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
    }
    for name, config in (("llama", llama), ("roberta", roberta)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert model_costs(str(tmp_path / "llama"))["llm_lora"] == {"m": 2_554_462_208, "m2": 196_608}
    assert flops.transformer_of(roberta) == flops.ROBERTA_BASE
    assert cli.main(["flops", str(tmp_path / "llama"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["llm_lora"]["m"] == 2_554_462_208
    (tmp_path / "llama" / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    with pytest.raises(UserError, match="does not say how large"):
        model_costs(str(tmp_path / "llama"))


def test_our_own_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shape = flops.transformer_of(tiny_config().to_dict())
    found = model_costs(str(tiny_sce(tmp_path)))
    assert found["embedder"] == {"m": flops.inference(shape).m, "m2": flops.inference(shape).m2}
    assert found["sce"]["m"] == 3 * found["sce_use"]["m"]
    assert found["sce"]["const"] == 3 * 64 * 64
    assert set(model_costs(str(tiny_sentence_transformer(tmp_path)))) == {"embedder"}
    assert set(model_costs(str(tiny_llm(tmp_path)))) == {"llm", "llm_lora"}
    assert cli.main(["flops", str(tmp_path / "tiny")]) == 0
    assert "embedder" in capsys.readouterr().out


def test_both_trainings_are_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = Shape(
        llm={**LLAMA, "vocab_size": 300},
        encoder=tiny_config("roberta"),
        text_width=16,
        rank=2,
        tokens=12,
        accumulate=2,
        steps=6,
        sce_batch=8,
    )
    found = measure(small, torch.device("cpu"), SilentProgress())
    assert (found["llm_lora"]["samples"], found["sce"]["samples"]) == (4, 8)
    assert found["llm_lora"]["steps"] == 6
    assert 0 < found["llm_lora"]["trainable"] < found["llm_lora"]["parameters"] + 10_000
    expected = found["sce"]["epoch_seconds"] / found["llm_lora"]["epoch_seconds"]
    assert found["ratio"] == pytest.approx(expected)
    assert found["formula_ratio"] == pytest.approx(4.5e13 / 9.355e15, rel=0.01)
    assert with_steps(7).steps == 7
    monkeypatch.setattr(
        "sce_desktop.research.train_cost.with_steps", lambda steps: replace(small, steps=steps)
    )
    assert cli.main(["benchmark", "--training-time", "--steps", "1", "--device", "cpu"]) == 0
    assert "the paper measured 0.006, its formulas give 0.0048" in capsys.readouterr().out
    assert cli.main(["benchmark"]) == 2
