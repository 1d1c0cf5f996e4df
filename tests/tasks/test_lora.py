from __future__ import annotations

from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.ml.llm.lora import LoraSettings
from sce_desktop.tasks.evaluation.gold import GoldSource
from sce_desktop.tasks.training.lora import finetune_llm
from tests.ml.tiny_llm import tiny_llm
from tests.tasks.fakes import RecordingProgress, StoppingProgress

QUICK = LoraSettings(rank=4, learning_rate=1e-2, epochs=10, batch=4, accumulate=1)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = ["late again,late", "broken box,damaged", "thanks driver,praise"] * 10
    path = tmp_path / "gold.csv"
    path.write_text("\n".join(["text,gold", *rows, ",late", "no label,"]), encoding="utf-8")
    return path


def test_a_table_becomes_an_adapter_that_evaluate_can_use(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = tiny_llm(tmp_path)
    report = finetune_llm(
        GoldSource(table, ["text"], "gold"),
        tmp_path / "out",
        model=f"llm:{base}",
        settings=QUICK,
        prompt="short",
        device="cpu",
        progress=RecordingProgress(),
    )
    found = report.as_json()
    assert found["rows"] == {"train": 24, "held_out": 6}
    assert found["labels"] == ["late", "damaged", "praise"]
    assert found["losses"][-1] < found["losses"][0]
    assert found["after"]["accuracy"] >= found["before"]["accuracy"]
    assert found["after"]["accuracy"] == 1.0
    assert found["untested_labels"] == []
    arguments = ["evaluate", str(table), "--text", "text", "--gold", "gold", "--device", "cpu"]
    assert cli.main([*arguments, "--model", f"llm:{tmp_path / 'out'}", "--order-check", "2"]) == 0
    out = capsys.readouterr().out
    assert "100.0%" in out
    assert "of predictions change with the order of the labels" in out


def test_what_cannot_be_trained(table: Path, tmp_path: Path) -> None:
    gold = GoldSource(table, ["text"], "gold")
    with pytest.raises(UserError, match="“sce-mini” is not an LLM"):
        finetune_llm(gold, tmp_path / "o", model="sce-mini", progress=RecordingProgress())
    with pytest.raises(UserError, match="models get SmolLM2"):
        finetune_llm(gold, tmp_path / "o", progress=RecordingProgress())
    with pytest.raises(UserError, match="are needed"):
        finetune_llm(gold, tmp_path / "o", max_rows=2, progress=RecordingProgress())
    base = tiny_llm(tmp_path)
    with pytest.raises(Cancelled):
        finetune_llm(
            gold,
            tmp_path / "o",
            model=f"llm:{base}",
            settings=QUICK,
            device="cpu",
            progress=StoppingProgress(4),
        )
    assert not (tmp_path / "o").exists()
    before = sorted(base.iterdir())
    with pytest.raises(UserError, match="holds other files"):  # it has no adapter to be replaced
        finetune_llm(gold, base, model=f"llm:{base}", progress=RecordingProgress())
    (tmp_path / "hers").mkdir()
    (tmp_path / "hers" / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="is not the result of a fine-tune"):
        finetune_llm(gold, tmp_path / "hers", model=f"llm:{base}", progress=RecordingProgress())
    assert sorted(base.iterdir()) == before


def test_labels_of_which_none_was_held_out_are_named(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = tiny_llm(tmp_path)
    table.write_text(table.read_text() + "\nalone,rare\n", encoding="utf-8")
    arguments = ["finetune", str(table), "--text", "text", "--gold", "gold", "-o", str(tmp_path / "out")]
    assert cli.main([*arguments, "--model", f"llm:{base}", "--epochs", "1", "--rank", "2"]) == 0
    assert "\nNot evaluated, too few examples: “rare”.\n" in capsys.readouterr().out
