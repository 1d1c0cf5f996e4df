"""`classify` and `evaluate` from the command line, with a real tiny model."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop import cli
from sce_desktop.data.tables import open_table
from sce_desktop.ml.encoder.precision import choose_precision, precisions
from tests.classify_bench import LABELS, classify, model_fixture, read, table_fixture  # noqa: F401


def test_classify(table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.csv"
    baseline = ["--baseline", f"tiny=similarity:{model}"]
    assert classify(table, out, model, *LABELS, *baseline, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {key: found[key] for key in ("rows", "scored", "skipped_blank", "labels", "output")} == {
        "rows": 4,
        "scored": 3,
        "skipped_blank": 1,
        "labels": ["damaged", "late"],
        "output": str(out),
    }
    assert found["models"] == [model, "tiny"]
    assert all(found["seconds"][part] >= 0 for part in ("load", "embed", "score", "total"))
    rows = read(out)
    assert list(rows[0]) == [
        *("id", "text", "topic", "sce_label", "sce_confidence", "sce_status", "sce_p:damaged", "sce_p:late"),
        *("tiny_label", "tiny_confidence", "tiny_p:damaged", "tiny_p:late"),
    ]
    assert [row["sce_label"] for row in rows[:2]] == ["damaged", "late"]
    assert rows[2]["sce_status"] == "blank"
    for row in (rows[0], rows[1], rows[3]):
        for alias in ("sce", "tiny"):
            both = float(row[f"{alias}_p:damaged"]) + float(row[f"{alias}_p:late"])
            assert both == pytest.approx(1.0, abs=1e-6)


def test_precision(table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tops = {}
    for asked in (*precisions(torch.device("cpu")), "auto"):
        out = tmp_path / f"{asked}.csv"
        assert classify(table, out, model, *LABELS, "--device", "cpu", "--precision", asked, "--json") == 0
        used = json.loads(capsys.readouterr().out)["precision"]
        assert used == (choose_precision("auto", torch.device("cpu")) if asked == "auto" else asked)
        tops[asked] = [row["sce_label"] for row in read(out)]
    assert all(top == tops["float32"] for top in tops.values())


def test_a_precision_that_the_processor_has_not_is_refused(
    table: str,
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sce_desktop.ml.encoder.precision.cpu_instructions", tuple)
    out = tmp_path / "out.csv"
    options = (*LABELS, "--device", "cpu", "--precision")
    assert classify(table, out, model, *options, "bfloat16") == 2
    told = capsys.readouterr().err.strip()
    assert told.endswith("has no instructions for bfloat16: choose auto or float32.")
    assert not out.exists()
    assert classify(table, out, model, *options, "auto", "--json") == 0
    assert json.loads(capsys.readouterr().out)["precision"] == "float32"


def test_a_summary_for_people(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert classify(table, tmp_path / "out.csv", model, *LABELS) == 0
    out, err = capsys.readouterr()
    assert out.startswith("3 of 4 rows classified into 2 labels")
    assert "Traceback" not in err
    assert classify(table, tmp_path / "out.csv", model, "--label=late", "--force") == 0  # asked as yes or no
    assert capsys.readouterr().out.startswith("3 of 4 rows classified into 1 label in ")


def test_the_order_of_labels_changes_nothing(table: str, model: str, tmp_path: Path) -> None:
    names = ["damaged", "late", "praise", "price", "lost"]
    found = []
    for number in range(4):
        order = [names[place] for place in np.random.default_rng(number).permutation(len(names))]
        out = tmp_path / f"{number}.csv"
        assert classify(table, out, model, *(f"--label={name}" for name in order)) == 0
        found.append([[float(row[f"sce_p:{name}"] or 0) for name in names] for row in read(out)])
    assert np.ptp(np.asarray(found), axis=0).max() < 1e-5


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
def test_every_kind_of_output(table: str, model: str, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    assert classify(table, out, model, *LABELS) == 0
    result = open_table(out)
    rows = [cells for batch in result.batches() for cells in batch]
    assert result.columns[:4] == ("id", "text", "topic", "sce_label")
    assert [cells[0] for cells in rows] == ["007", "2", "3", "4"]
    assert rows[3][1] == "good 🙂 news\nand naïve"


def test_labels_from_a_file(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "labels.txt"
    plain.write_text("Food, drink\nC# / .NET\n", encoding="utf-8")
    assert classify(table, tmp_path / "out.csv", model, "--labels-file", str(plain), "--json") == 0
    assert json.loads(capsys.readouterr().out)["labels"] == ["Food, drink", "C# / .NET"]
    rich = tmp_path / "labels.json"
    rich.write_text(
        json.dumps([{"name": "late", "description": "not in time", "synonyms": ["delay"]}, {"name": "lost"}]),
        encoding="utf-8",
    )
    assert classify(table, tmp_path / "rich.csv", model, "--labels-file", str(rich)) == 0
    assert classify(table, tmp_path / "poor.csv", model, "--label", "late", "--label", "lost") == 0
    described = read(tmp_path / "rich.csv")[0]["sce_p:late"]
    assert described != read(tmp_path / "poor.csv")[0]["sce_p:late"]


def test_several_labels(table: str, model: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert (
        classify(table, out, model, *LABELS, "--label", "lost", "--multi-label", "--threshold", "0.01") == 0
    )
    row = read(out)[0]
    assert isinstance(json.loads(row["sce_labels"]), list)
    assert abs(sum(float(row[f"sce_p:{name}"]) for name in ("damaged", "late", "lost")) - 1) > 1e-3
    assert classify(table, out, model, "--label", "late", "--multi-label") == 2  # it has other columns
    assert classify(table, out, model, "--label", "late", "--multi-label", "--force") == 0


def test_one_label_is_a_yes_or_no(table: str, model: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert classify(table, out, model, "--label", "late") == 0
    for row in read(out):
        if row["sce_status"] != "blank":
            yes, none = float(row["sce_p:late"]), float(row["sce_none"])
            assert abs(yes + none - 1) < 1e-6
            assert row["sce_status"] == ("none" if none >= 0.5 else "scored")


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([], "has no labels of its own"),
        (["late", "late"], "appears twice"),
        (["complaint", "complaint "], "appears twice"),
        (["late", " "], "no name"),
    ],
)
def test_label_sets_that_cannot_be_scored(
    table: str, model: str, tmp_path: Path, labels: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    assert classify(table, out, model, *(part for name in labels for part in ("--label", name))) == 2
    err = capsys.readouterr().err.strip().splitlines()
    assert reason in err[-1]
    assert not out.exists()


def test_look_alikes_and_codes_are_reported(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        classify(table, tmp_path / "o.csv", model, *(f"--label={n}" for n in ("Billing", "BILLING", "7")))
        == 0
    )
    err = capsys.readouterr().err
    assert "“Billing”, “BILLING”" in err
    assert "“7”. Use descriptive names." in err


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "in.csv", "picture"),
        (b"PK\x05\x06" + bytes(18), "in.zip", ""),
        (b"id,comment\n1,x\n", "in.csv", "no column “text”"),
        (b"", "in.csv", "empty"),
        (None, "folder", "folder"),
        (None, "absent.csv", "absent.csv"),
    ],
)
def test_what_is_no_table(
    tmp_path: Path,
    model: str,
    content: bytes | None,
    name: str,
    reason: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    elif name == "folder":
        path.mkdir()
    assert classify(str(path), tmp_path / "out.csv", model, *LABELS) == 2
    err = capsys.readouterr().err.strip()
    assert reason in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out.csv").exists()


def test_what_is_no_model(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("absent", str(tmp_path / "absent"), str(tmp_path), table):
        assert classify(table, tmp_path / "out.csv", name, *LABELS) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert classify(table, tmp_path / "out.csv", "x", *LABELS, "--baseline", "llm") == 2
    assert "no model “x”" in capsys.readouterr().err
    assert classify(table, tmp_path / "out.csv", "x", *LABELS, "--device", "tpu") == 2
    assert "tpu" in capsys.readouterr().err


def test_a_full_disk(
    table: str,
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import errno
    import os

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out.csv"
    out.write_text("older", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", full)
    assert classify(table, out, model, *LABELS) == 2
    assert "full" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


def test_how_to_read_the_table(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("a note above\nid|text\n1|Müsli für Zoë – 5 €\n".encode("cp1252"))
    options = ["--encoding", "cp1252", "--delimiter", "|", "--header-row", "2"]
    assert classify(str(path), tmp_path / "out.csv", model, *LABELS, *options) == 0
    assert "1|Müsli für Zoë – 5 €|" in (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert classify(str(path), tmp_path / "out.csv", model, *LABELS, "--delimiter", "||") == 2
    assert "one character" in capsys.readouterr().err


def test_a_very_long_cell(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.csv"
    long = "late " * 60_000
    path.write_text(f"text\n{long}\nok\n", encoding="utf-8")
    assert classify(str(path), tmp_path / "out.csv", model, *LABELS, "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["cut"] == 1
    assert "longer than the 64 tokens" in err
    result = open_table(tmp_path / "out.csv")
    rows = [dict(zip(result.columns, cells, strict=True)) for batch in result.batches() for cells in batch]
    assert [row["text"] for row in rows] == [long, "ok"]
    assert {row["sce_status"] for row in rows} == {"scored"}


def test_ctrl_c_writes_nothing(
    table: str,
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from sce_desktop.ml.sce.model import SCEModel

    probabilities = SCEModel.probabilities

    def interrupted(self: SCEModel, *arguments: object, **options: object) -> object:
        if options.get("progress") is not None:  # not when asked whether it can say none
            signal.raise_signal(signal.SIGINT)
        return probabilities(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(SCEModel, "probabilities", interrupted)
    assert classify(table, tmp_path / "out.csv", model, *LABELS) == 130
    assert capsys.readouterr().err.endswith("sce-desktop: Stopped. Nothing was written.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_texts_that_the_model_cannot_read_are_reported(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "ru.csv"
    table.write_text("text,topic\nпосылка пришла поздно,late\nкоробка повреждена,damaged\nit is late,late\n")
    out = tmp_path / "out.csv"
    said = f"2 of 3 texts are in Cyrillic script, which {model} cannot read"
    assert classify(str(table), out, model, *LABELS, "--json") == 0
    found = capsys.readouterr()
    assert said in found.err
    assert [said in warning for warning in json.loads(found.out)["warnings"]] == [True]
    evaluate = ["evaluate", str(table), "--text", "text", "--gold", "topic", "--model", model, "--json"]
    assert cli.main([*evaluate, "--baseline", f"similarity=similarity:{model}"]) == 0
    found = capsys.readouterr()
    assert said in found.err
    assert any(said in warning for warning in json.loads(found.out)["warnings"])
