"""`labels` from the command line, with a real tiny model."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.data.labels_file import read_labels
from tests.ml.tiny import tiny_sce
from tests.ml.tiny_llm import tiny_llm

THEMES = ("refund money invoice", "courier driver polite", "password app login")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_sce(tmp_path_factory.mktemp("model")))


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "text"))
        writer.writerows((n, f"The {words} case {n}") for n, words in enumerate(THEMES * 12))
    return str(path)


def labels(table: str, model: str, *more: str) -> int:
    return cli.main(["labels", table, "--text", "text", "--model", model, *more])


def test_labels_are_suggested_as_json_and_written(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labels.csv"
    assert labels(table, model, "--suggest", "3", "-o", str(out), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["sampled"], found["covered"], found["model"]) == (36, 36, None, model)
    assert len(found["labels"]) == 3
    assert sum(one["rows"] for one in found["labels"]) == 36
    words = {"case", *(word for theme in THEMES for word in theme.split())}
    for one in found["labels"]:
        assert {
            word.lower() for name in (one["name"], *one["alternatives"]) for word in name.split()
        } <= words
        assert one["share"] == one["rows"] / 36
        assert one["examples"][0]["text"].startswith("The ")
    written = read_labels(out)
    assert [label.name for label in written] == [one["name"] for one in found["labels"]]
    assert written[0].description == ", ".join(found["labels"][0]["alternatives"][:4])


def test_the_result_for_people_and_a_file_of_names(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labels.txt"
    assert labels(table, model, "--rows", "30", "-o", str(out)) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("30 of 36 rows read, ")
    names = out.read_text(encoding="utf-8").splitlines()
    assert all(any(line.startswith(f"{name}: ") for line in lines) for name in names)
    assert lines[-1] == f"Written to {out}."
    assert labels(table, model, "-o", str(out)) == 2  # it exists
    assert "already exists" in capsys.readouterr().err


def test_with_labels_it_is_about_the_rows_that_none_fits(
    table: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert labels(table, model, "--label", "refund", "--label", "courier", "--json") in (0, 2)
    out, err = capsys.readouterr()
    if out:
        assert 0 <= json.loads(out)["covered"] < 36
    else:
        assert "the labels cover the table" in err


def test_an_llm_chooses_too(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    llm = tiny_llm(tmp_path / "llm", context=2048)
    assert labels(table, model, "--suggest", "3", "--baseline", f"llm:{llm}", "--json") == 0
    for one in json.loads(capsys.readouterr().out)["labels"]:
        assert one["llm"] in (one["name"], *one["alternatives"])


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--suggest", "21"), "--suggest must be at most 20, not 21."),
        (("--rows", "5001"), "--rows must be at most 5,000, not 5,001."),
        (("--rows", "19"), "Suggestions need at least 20 different texts."),
        (("--suggest", "1"), "must be at least 2, not 1"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    table: str, model: str, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], told: str
) -> None:
    assert labels(table, model, *more) == 2
    assert told in capsys.readouterr().err
