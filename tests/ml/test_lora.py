"""LoRA of language models: what is learnt, what is saved, what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.ml.llm.llm_folder import load_llm, save_adapter
from sce_desktop.ml.llm.llm_transformers import TransformersLM
from sce_desktop.ml.llm.lora import LoraSettings, LoraTraining, Trainer, examples, train_lora, with_adapter
from sce_desktop.ml.llm.prompted import PromptedLLM
from sce_desktop.ml.llm.prompts import SHORT
from tests.ml.tiny_llm import tiny_llm
from tests.tasks.fakes import RecordingProgress, StoppingProgress

CPU = torch.device("cpu")
LABELS = [Label("late"), Label("damaged parcel"), Label("praise")]
TEXTS = ["late again", "the box is broken", "thanks great driver"] * 8
ANSWERS = [0, 1, 2] * 8
QUICK = LoraSettings(rank=8, learning_rate=1e-2, epochs=10, batch=4, accumulate=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_llm(tmp_path)


def trained(folder: Path, out: Path, settings: LoraSettings = QUICK) -> tuple[PromptedLLM, LoraTraining]:
    llm = load_llm(folder, prompt=SHORT)
    assert isinstance(llm.lm, TransformersLM)
    rows = examples(llm, llm.frame(LABELS), TEXTS, ANSWERS)
    adapted, training = train_lora(llm.lm.model, rows, settings, device=CPU, progress=RecordingProgress())
    save_adapter(
        adapted, out, base=str(folder), base_key=llm.lm.key, prompt=SHORT, labels=LABELS, facts={"rows": 24}
    )
    lm = TransformersLM(adapted.get_base_model(), llm.lm.tokenizer, name="trained", key="x")
    return PromptedLLM(lm, prompt=SHORT, labels=tuple(LABELS), normalise=False), training


def test_the_loss_falls_and_the_saved_adapter_answers_as_the_trained_one(
    folder: Path, tmp_path: Path
) -> None:
    before = load_llm(folder, prompt=SHORT).probabilities(TEXTS[:3], LABELS).probabilities
    llm, training = trained(folder, tmp_path / "мой адаптер")
    assert len(training.losses) == 60
    assert training.losses[-1] < 0.5 * training.losses[0]
    found = llm.probabilities(TEXTS[:3], LABELS).probabilities
    assert found.argmax(1).tolist() == [0, 1, 2]
    again = load_llm(tmp_path / "мой адаптер")
    np.testing.assert_allclose(again.probabilities(TEXTS[:3], LABELS).probabilities, found, atol=1e-4)
    assert [label.name for label in again.labels] == [label.name for label in LABELS]
    assert again.prompt == SHORT
    assert again.fingerprint != load_llm(folder, prompt=SHORT).fingerprint
    same = load_llm(folder, prompt=SHORT).probabilities(TEXTS[:3], LABELS).probabilities
    np.testing.assert_array_equal(before, same)  # the base is as it was


def test_only_label_and_end_token_are_learnt(folder: Path) -> None:
    llm = load_llm(folder, prompt=SHORT)
    assert isinstance(llm.lm, TransformersLM)
    frame = llm.frame(LABELS)
    rows = examples(llm, frame, ["late again", "a very long text " * 5], [1, 0])
    assert rows[0].ids[-rows[0].answer :] == [*frame.labels[1], llm.lm.end]
    trainer = Trainer(llm.lm.model, LoraSettings(), CPU)
    right = []
    for row in rows:  # by transformers' own loss, one at a time
        target = torch.full((1, len(row.ids)), -100)
        target[0, -row.answer :] = torch.tensor(row.ids[-row.answer :])
        right.append((float(llm.lm.model(torch.tensor([row.ids]), labels=target).loss.detach()), row.answer))
    mean = sum(loss * n for loss, n in right) / sum(n for _, n in right)
    assert float(trainer.loss(rows)) == pytest.approx(mean, abs=1e-4)


def test_the_papers_adapter_has_its_126_812_160_parameters() -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    from sce_desktop.research.train_cost import PAPER

    with torch.device("meta"):
        model = LlamaForCausalLM(LlamaConfig(**PAPER.llm, tie_word_embeddings=True))
        count = sum(p.numel() for p in model.parameters())
        adapted = with_adapter(model, LoraSettings(), torch.device("meta"))
    learnt = sum(p.numel() for p in adapted.parameters() if p.requires_grad)
    assert learnt == 126_812_160
    assert count + learnt == 1_362_626_560  # the paper's total
    settings = LoraSettings().for_size(count)
    assert (settings.rank, settings.batch, settings.accumulate) == (180, 2, 32)


def test_a_changed_base_a_cut_and_a_pickled_adapter_are_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "adapter"
    trained(folder, out, LoraSettings(rank=2, epochs=1, batch=8, accumulate=1))
    kept = tmp_path / "kept"
    shutil.copytree(folder, kept)
    shutil.rmtree(folder)
    shutil.copytree(tiny_llm(tmp_path, seed=5, name="other"), folder)
    with pytest.raises(UserError, match="trained on another"):
        load_llm(out)
    shutil.rmtree(folder)
    with pytest.raises(UserError, match="no model"):
        load_llm(out)
    shutil.copytree(kept, folder)
    weights = out / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(UserError, match="damaged"):
        load_llm(out)
    weights.rename(out / "adapter_model.bin")
    with pytest.raises(UserError, match="pickle"):
        load_llm(out)


def test_cancel_nonsense_and_other_architectures(folder: Path, tmp_path: Path) -> None:
    llm = load_llm(folder, prompt=SHORT)
    assert isinstance(llm.lm, TransformersLM)
    rows = examples(llm, llm.frame(LABELS), TEXTS, ANSWERS)
    with pytest.raises(Cancelled):
        train_lora(llm.lm.model, rows, QUICK, device=CPU, progress=StoppingProgress(3))
    with pytest.raises(UserError, match="NF4 needs"):
        with_adapter(load_llm(folder).lm.model, LoraSettings(quantise="nf4"), CPU)  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="LoRA finds no attention projections"):
        with_adapter(torch.nn.Linear(2, 2), QUICK, CPU)  # type: ignore[arg-type]
    wild = LoraSettings(rank=2, learning_rate=1e30, epochs=3, batch=4, accumulate=1)
    other = load_llm(folder, prompt=SHORT)
    with pytest.raises(UserError, match=r"diverged \(non-finite values\)"):
        train_lora(other.lm.model, rows, wild, device=CPU, progress=RecordingProgress())  # type: ignore[attr-defined]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.doc").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match="holds other files"):
        save_adapter(None, tmp_path / "mine", base="", base_key="", prompt=SHORT, labels=[], facts={})  # type: ignore[arg-type]
