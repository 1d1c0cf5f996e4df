"""`evaluate` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sce_desktop import cli
from tests.classify_bench import model_fixture, table_fixture  # noqa: F401


def test_evaluate(table: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", table, "--text", "text", "--gold", "topic", "--model", model]
    assert cli.main([*arguments, "--baseline", f"similarity=similarity:{model}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["labels"]) == (3, ["damaged", "late"])
    assert set(found["models"]) == {model, "similarity"}
    ours = found["models"][model]
    low, high = ours["accuracy_interval"]
    assert 0 <= low <= ours["accuracy"] <= high <= 1
    assert {"macro_f1", "ece", "labels", "confusion"} < set(ours)
    assert set(found["seconds"]) == {"load", "embed", "score", "total"}
    assert cli.main([*arguments, "--model", model]) == 2
    assert "twice" in capsys.readouterr().err


def test_evaluate_for_people(table: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", table, "--text", "text", "--gold", "topic", "--model", model, "--max-rows", "2"]
    assert cli.main([*arguments, "--baseline", f"similarity=similarity:{model}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 rows, 2 labels (excluded: 1 without text)"
    assert "macro-F1" in lines[1]
    assert lines[4:] == [f"similarity: {model}"]


def test_evaluate_lists_of_labels(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.jsonl"
    rows = [("wet", ["damaged", "late"]), ("slow", ["late"]), ("fine", [])]
    path.write_text(
        "\n".join(json.dumps({"text": text, "topic": json.dumps(names)}) for text, names in rows),
        encoding="utf-8",
    )
    arguments = ["evaluate", str(path), "--text", "text", "--gold", "topic", "--model", model]
    arguments += ["--baseline", f"similarity=similarity:{model}"]
    assert cli.main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["labels"], found["multi_label"]) == (2, ["damaged", "late"], True)
    assert cli.main(arguments) == 0
    assert "a prediction is correct if it is one of the row's g" in capsys.readouterr().out
    assert cli.main([*arguments, "--no-lists", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == ['["damaged", "late"]', '["late"]', "[]"]


@pytest.mark.parametrize("command", ["evaluate", "finetune"])
def test_the_texts_are_no_gold_labels(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Each text would be a label of its own, and the accuracy 100%."""
    tuned = tmp_path / "tuned"
    arguments = [command, table, "--text", "text", "--gold", "text", "--model", model]
    assert cli.main([*arguments, "-o", str(tuned)] if command == "finetune" else arguments) == 2
    assert "Column “text” has the texts: choose another column of gold labels." in capsys.readouterr().err
    assert not tuned.exists()


def test_a_column_without_a_gold_label(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("text,gold\nlate,\ndamaged, \n")
    for command in (["evaluate"], ["finetune", "-o", str(tmp_path / "tuned")]):
        arguments = [
            command[0],
            str(path),
            "--text",
            "text",
            "--gold",
            "gold",
            *command[1:],
            "--model",
            model,
        ]
        assert cli.main(arguments) == 2
        assert "Column “gold” has no labels" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "labels", "told"),
    [
        ([], ["Late", "late", "damaged", "Damaged"], "add --merge-labels"),
        (["--merge-labels"], ["late", "damaged"], "Merged into the label “late”: “Late”."),
        (
            ["--merge-labels", "--label", "Late", "--label", "damaged"],
            ["Late", "damaged"],
            "label “Late”: “late”",
        ),
    ],
)
def test_gold_labels_that_look_the_same(
    model: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    labels: list[str],
    told: str,
) -> None:
    table = tmp_path / "in.csv"
    table.write_text("text,topic\na,Late\nb,late\nc,late\nd,damaged\ne,damaged\nf,Damaged\n")
    evaluate = ["evaluate", str(table), "--text", "text", "--gold", "topic", "--model", model, "--json"]
    assert cli.main([*evaluate, "--baseline", f"similarity=similarity:{model}", *more]) == 0
    found = capsys.readouterr()
    assert told in found.err
    result = json.loads(found.out)
    assert (result["labels"], result["rows"]) == (labels, 6)
