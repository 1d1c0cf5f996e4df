"""`classify` and others without --model: one is chosen by the languages of rows and labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.tasks.scoring.models import is_here
from tests.classify_bench import LABELS, model_fixture, table_fixture  # noqa: F401

GERMAN = "id,text\n1,Mein Paket ist immer noch nicht angekommen\n2,Der Fahrer war sehr freundlich\n"


@pytest.fixture
def chosen(model: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The tiny model stands for both of ours."""
    monkeypatch.setattr("sce_desktop.tasks.scoring.choice.DEFAULT_MODEL", model)
    monkeypatch.setattr("sce_desktop.tasks.scoring.choice.MULTILINGUAL_MODEL", model)
    monkeypatch.setattr("sce_desktop.tasks.scoring.choice.is_here", lambda _name: True)
    return model


def classify_unnamed(path: Path, folder: Path, *more: str) -> int:
    out = str(folder / "out.csv")
    return cli.main(["classify", str(path), "--text", "text", *LABELS, "-o", out, "--force", *more])


def test_the_model_is_chosen_and_said_with_its_reason(
    table: str, chosen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    german = tmp_path / "german.csv"
    german.write_text(GERMAN, encoding="utf-8")
    assert classify_unnamed(german, tmp_path, "--json") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["model"] == chosen
    assert told["reason"].startswith("Most rows are in German: ")
    assert told["languages"] == {"de": 1.0}
    assert told["warnings"] == []
    assert f"Chosen model: {chosen}. {told['reason']}" in err
    assert classify_unnamed(Path(table), tmp_path, "--json") == 0
    english = json.loads(capsys.readouterr().out)
    assert english["reason"].startswith("Most rows are in English: ")
    assert english["languages"]["en"] > 0.5


def test_a_model_that_was_given_is_never_overridden(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    german = tmp_path / "german.csv"
    german.write_text(GERMAN, encoding="utf-8")
    assert classify_unnamed(german, tmp_path, "--model", model, "--json") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (told["model"], told["languages"]) == (model, {"de": 1.0})
    assert "reason" not in told
    assert "Chosen model" not in err


def test_a_missing_multilingual_model_is_a_warning(
    chosen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sce_desktop.tasks.scoring.choice.is_here", lambda _name: False)
    german = tmp_path / "german.csv"
    german.write_text(GERMAN, encoding="utf-8")
    assert classify_unnamed(german, tmp_path, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["warnings"][0] == told["reason"]
    assert f"is not installed; download it with `sce-desktop models get {chosen}`" in told["reason"]


def test_evaluate_and_finetune_choose_too(
    table: str, chosen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{n},{text} number {n},{topic}\n" for n in range(10) for text, topic in PAIRS)
    path = tmp_path / "gold.csv"
    path.write_text("id,text,topic\n" + rows, encoding="utf-8")
    arguments = [str(path), "--text", "text", "--gold", "topic", "--json"]
    assert cli.main(["evaluate", *arguments]) == 0
    told = json.loads(capsys.readouterr().out)
    assert chosen in told["models"]
    assert told["languages"]["en"] == 1.0
    assert cli.main(["finetune", *arguments, "-o", str(tmp_path / "tuned"), "--epochs", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["reason"].startswith("Most rows are in English")


PAIRS = (("the parcel was badly damaged", "damaged"), ("the delivery came much too late", "late"))


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "wanted"),
    [("Mein Paket ist immer noch nicht angekommen", "sce-multi"), ("My parcel never came home", "sce-mini")],
)
def test_our_models_are_chosen_by_language(
    text: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.csv"
    path.write_text(f"text\n{text}\n", encoding="utf-8")
    assert classify_unnamed(path, tmp_path, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    if wanted == "sce-multi" and not is_here("sce-multi"):
        assert told["model"] == "sce-mini"
        assert "which sce-mini cannot read" in told["warnings"][0]
    else:
        assert (told["model"], told["warnings"]) == (wanted, [])


@pytest.mark.model
def test_an_english_model_that_was_given_german_rows_warns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.csv"
    path.write_text(GERMAN, encoding="utf-8")
    assert classify_unnamed(path, tmp_path, "--model", "sce-mini", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["warnings"]
    assert told.startswith("The texts are in German, which sce-mini cannot read: ")
