"""`finetune` from the command line, with a real tiny model."""

from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import MEASURED_ON
from sce_desktop.ml.hub import model_places
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.training import sampling, training
from sce_desktop.ui.finetune.result_notes import notes_about
from sce_desktop.ui.finetune.start_words import excluded_words
from tests.ml.test_finetune import GOLD, TEXTS, WORDS
from tests.ml.tiny import tiny_sce

NAMES = list(WORDS)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_sce(tmp_path_factory.mktemp("модели 1")))


def write(path: Path, rows: list[tuple[str, str]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "topic"), *rows])
    return str(path)


@pytest.fixture
def table(tmp_path: Path) -> str:
    rows = [(text, NAMES[place]) for text, place in zip(TEXTS, GOLD, strict=True)]
    return write(tmp_path / "in.csv", [*rows, ("", NAMES[0]), ("team", ""), ("  ", "")])


def finetune(table: str, out: Path, model: str, *more: str) -> int:
    return cli.main(
        ["finetune", table, "--text", "text", "--gold", "topic", "--model", model, "-o", str(out), *more]
    )


def test_the_promised_json(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    assert finetune(table, out, model, "--json", "--epochs", "40", "--seed", "3") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == str(out)
    assert found["labels"] == NAMES
    assert found["rows"] == {"train": 18, "held_out": 0, "blank": 2, "no_gold": 1, "other_label": 0}
    assert (found["cross_validated"], found["measured"]) == (True, 18)
    for name in ("before", "after", "logistic_regression"):
        low, high = found[name]["interval"]
        assert 0 <= low <= found[name]["accuracy"] <= high <= 1
    assert found["after"]["accuracy"] > found["before"]["accuracy"]
    assert found["difference"]["sentence"] == "No clear difference yet (18 rows, too few)."
    assert set(found["labels_changed"]) == set(NAMES)
    assert set(found["seconds"]) == {"load", "embed", "train", "total"}
    assert 0 < found["epochs"] <= 40
    card = (out / "README.md").read_text(encoding="utf-8")
    assert f"Fine-tuned from {Path(model).name} (fingerprint " in card
    assert "- At most 40 epochs\n- Learning rate 1.0\n- Seed 3\n" in card
    assert found["difference"]["sentence"] in card
    assert found["stopped"] in ("early", "done")
    assert found["calibrated"] is False


@pytest.fixture
def short_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "LEAST_ROWS", 12)
    monkeypatch.setattr(sampling, "LEAST_OF_A_LABEL", 2)
    # a default of the function, taken when it was made
    monkeypatch.setattr(sampling.rows_that_fit, "__defaults__", (0.0,))


@pytest.mark.usefixtures("short_of_time")
def test_of_too_many_rows_a_sample_is_learned_from_and_said(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finetune(table, tmp_path / "mine", model, "--json") == 0

    found = json.loads(capsys.readouterr().out)
    assert found["rows"]["sampled"] == 18 - found["rows"]["train"]
    assert 6 <= found["rows"]["train"] <= 12
    said = " ".join(found["warnings"])
    assert "a random sample of" in said
    assert "of the 18 labelled rows, stratified by label" in said
    assert "Fine-tuning takes about" in said

    assert finetune(table, tmp_path / "again", model) == 0
    printed = capsys.readouterr()
    assert "beyond the stratified random sample." in printed.out
    assert printed.err.index("Fine-tuning takes about") >= 0


@pytest.mark.usefixtures("short_of_time")
def test_all_rows_are_learned_from_where_that_is_asked_for(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finetune(table, tmp_path / "mine", model, "--json", "--all-rows") == 0

    found = json.loads(capsys.readouterr().out)
    assert found["rows"]["train"] == 18
    assert "sampled" not in found["rows"]


@pytest.mark.usefixtures("short_of_time")
def test_a_version_of_a_project_says_what_it_did_not_learn_from(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "p.sce")
    create = ["project", "create", path, table, "--text", "text", "--gold", "topic"]
    assert cli.main([*create, *(part for name in NAMES for part in ("--label", name))]) == 0
    capsys.readouterr()

    assert cli.main(["project", "finetune", path, "--model", model, "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["train_rows"] == 18 - found["excluded"]["sampled"] <= 12
    with Project.open(Path(path)) as project:
        (version,) = project.versions()
        assert version.report.left_out["sampled"] == found["excluded"]["sampled"]
        assert len(version.report.fit.row_ids) == found["train_rows"]
        assert any("were not used" in note for note in notes_about(version))
        plan = training.plan(project, MEASURED_ON, None, progress=SilentProgress())
    assert plan.rows is not None
    assert len(plan.rows.ids) == found["train_rows"]
    assert "beyond the random sample" in excluded_words(plan.rows.left_out)


def test_a_head_is_chosen_or_asked_for(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finetune(table, tmp_path / "auto", model, "--json") == 0
    found = json.loads(capsys.readouterr().out)["head"]
    assert set(found["ways"]) == {"zero-shot", "sce", "logistic", "product"}
    assert found["way"] == found["best"]
    assert "validation rows" in found["reason"]
    for one in found["ways"].values():
        low, high = one["interval"]
        assert low <= one["accuracy"] <= high
        assert one["difference"]["won"] >= 0
    assert finetune(table, tmp_path / "mine", model, "--head", "logistic") == 0
    told = capsys.readouterr().out
    assert "Logistic regression, as you asked for." in told
    assert told.count("SCE head ") == told.count("Product of both ") == 1
    head = json.loads((tmp_path / "mine" / "config.json").read_text(encoding="utf-8"))["head"]
    assert (head["way"], head["labels"]) == ("logistic", NAMES)
    card = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert "- Head: logistic regression on the text vectors\n" in card


def test_a_project_is_fine_tuned(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = str(tmp_path / "p.sce")
    assert cli.main(["project", "create", project, table, "--text", "text", "--gold", "topic"]) == 0
    capsys.readouterr()
    arguments = ["project", "finetune", project, "--model", model]
    assert cli.main([*arguments, "--head", "sce", "--use", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["train_rows"], found["active"]) == ("version 1", 18, True)
    assert (found["head"]["way"], found["measured"]) == ("sce", 18)
    assert found["after"]["accuracy"] > found["before"]["accuracy"]
    assert cli.main([*arguments, "--name", "second"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"second of {model}: fine-tuned on 18 rows\n")
    assert "Logistic regression " in told
    assert cli.main(["project", "info", project, "--json"]) == 0
    versions = json.loads(capsys.readouterr().out)["versions"]
    assert [(one["name"], one["active"]) for one in versions] == [("version 1", True), ("second", False)]


def test_the_folder_is_a_model(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    assert finetune(table, out, model) == 0
    told = capsys.readouterr().out
    assert "Fine-tuned on 18 rows with 3 labels" in told
    assert "cross-validated:" in told
    assert "not calibrated yet" in told
    assert {p.name for p in out.iterdir()} == {
        "model.safetensors",
        "config.json",
        "tokenizer.json",
        "README.md",
    }
    assert [label.name for label in SCEModel.from_pretrained(out).labels] == NAMES
    arguments = ["evaluate", table, "--text", "text", "--gold", "topic", "--json"]
    baseline = ["--baseline", f"similarity=similarity:{model}"]
    assert cli.main([*arguments, "--model", str(out), "--model", model, *baseline]) == 0
    measured = json.loads(capsys.readouterr().out)["models"]
    assert measured[str(out)]["accuracy"] > measured[model]["accuracy"]
    assert (
        cli.main(["classify", table, "--text", "text", "--model", str(out), "-o", str(tmp_path / "o.csv")])
        == 0
    )


def test_a_fine_tuned_model_goes_on_learning(table: str, model: str, tmp_path: Path) -> None:
    assert finetune(table, tmp_path / "one", model) == 0
    assert finetune(table, tmp_path / "two", str(tmp_path / "one")) == 0
    assert SCEModel.from_pretrained(tmp_path / "two").config.corrected == tuple(NAMES)


def test_labels_that_could_not_be_measured_are_named(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(text, NAMES[place]) for text, place in zip(TEXTS, GOLD, strict=True)]
    table = write(tmp_path / "one.csv", [*rows, ("team", "alone")])
    assert finetune(table, tmp_path / "mine", model) == 0
    assert "\nNot evaluated, too few examples: “alone”.\n" in capsys.readouterr().out
    assert finetune(table, tmp_path / "mine", model, "--json") == 0
    assert json.loads(capsys.readouterr().out)["untested_labels"] == ["alone"]


def test_only_the_result_of_a_fine_tune_is_replaced(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(place: Path, base: str = model) -> str:
        before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
        assert finetune(table, place, base) == 2
        assert {file: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before
        return capsys.readouterr().err

    assert "is the model to fine-tune: choose another name." in refused(Path(model))
    other = tiny_sce(tmp_path / "other")
    said = "already exists and is not the result of a fine-tune: choose another name, or add --force"
    assert said in refused(other)
    assert finetune(table, other, model, "--force") == 0
    out = tmp_path / "mine"
    assert finetune(table, out, model) == 0
    assert finetune(table, out, model) == 0  # a script that runs again
    assert "is the model to fine-tune: choose another name" in refused(out, str(out))
    link = tmp_path / "link"
    link.symlink_to(out, target_is_directory=True)
    assert "is the model to fine-tune: choose another name" in refused(link, str(out))
    (out / "sce-manifest.json").write_text("{}", encoding="utf-8")  # as `models add` leaves it
    assert "is an installed model: choose another name" in refused(out)


@pytest.mark.parametrize("name", ["", "an old card"])
def test_a_folder_without_a_model_is_written_to(table: str, model: str, tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    if name:
        (tmp_path / "out" / "README.md").write_text(name, encoding="utf-8")
    assert finetune(table, tmp_path / "out", model) == 0


def test_a_model_of_the_program_is_not_replaced(
    table: str,
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bundled = tiny_sce(tmp_path / "bundled")
    monkeypatch.setattr(model_places, "bundled_models", lambda: {"sce-mini": bundled})
    assert finetune(table, bundled, model) == 2
    assert f"{bundled} belongs to the program: choose another name." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("a", "x"), ("b", "x")], "One label"),
        ([("", "x"), (" ", "y")], "No row has a text"),
        ([("a", ""), ("b", "")], "no label"),
        ([], "no label"),
    ],
)
def test_tables_that_teach_nothing(
    rows: list[tuple[str, str]], told: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finetune(write(tmp_path / "in.csv", rows), tmp_path / "mine", model) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


def test_lists_of_one_label_are_taken_apart_and_of_several_refused(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(text, json.dumps([NAMES[place]])) for text, place in zip(TEXTS, GOLD, strict=True)]
    assert finetune(write(tmp_path / "in.csv", rows), tmp_path / "mine", model, "--json") == 0
    assert json.loads(capsys.readouterr().out)["labels"] == NAMES
    several = write(tmp_path / "several.csv", [*rows, ("team", json.dumps(NAMES[:2]))])
    assert finetune(several, tmp_path / "more", model) == 2
    assert "one label per row, but 1 row has several" in capsys.readouterr().err
    assert finetune(several, tmp_path / "more", model, "--no-lists", "--json") == 0
    assert json.dumps(NAMES[:2]) in json.loads(capsys.readouterr().out)["labels"]


def test_labels_given_and_rows_of_others_left_out(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--label", NAMES[0], "--label", NAMES[1], "--label", "- music", "--json"]
    assert finetune(table, tmp_path / "mine", model, *more) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["labels"] == [NAMES[0], NAMES[1], "- music"]
    assert found["rows"]["other_label"] == 6
    assert "not among the labels: 6" in captured.err
    only_one = ["--label", NAMES[0], "--label", "music"]
    assert finetune(table, tmp_path / "other", model, *only_one) == 2
    assert "at least two labels with examples" in capsys.readouterr().err


def test_a_learning_rate_of_ten_does_no_harm(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finetune(table, tmp_path / "mine", model, "--lr", "10", "--epochs", "2000", "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["stopped"] == "non-finite"
    assert "lower the learning rate" in captured.err
    for wrong in ("nan", "0", "-1", "inf"):
        assert finetune(table, tmp_path / "none", model, "--lr", wrong) == 2
        assert "must be a number above 0" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_leaves_what_is_there(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("do not lose")
    assert finetune(table, tmp_path / "taken", model) == 2
    assert "holds other files" in capsys.readouterr().err
    assert (tmp_path / "taken" / "thesis.txt").read_text() == "do not lose"


# --- the text embedder adapted -----------------------------------------------------------------------------


def test_the_embedder_can_learn_too(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    assert finetune(table, out, model, "--adapt-embedder", "--epochs", "10", "--lr", "1.9", "--json") == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert set(found["seconds"]) == {"load", "embed", "train", "adapt", "total"}
    embedder = found["embedder"]
    assert set(embedder) == {"kept", "steps", "sentence", "seconds", "fast", "estimate"}
    assert embedder["estimate"]["seconds"] > 0
    assert embedder["estimate"]["memory"] > 100_000_000
    assert "Fine-tuning the text encoder takes about" in told.err
    assert "of memory." in told.err
    assert found["after"]["accuracy"] >= embedder["fast"]["accuracy"]
    base, tuned = SCEModel.from_pretrained(model), SCEModel.from_pretrained(out)
    assert (tuned.text_embedder.key != base.text_embedder.key) == embedder["kept"]


def test_what_adapting_brought_is_said(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finetune(table, tmp_path / "mine", model, "--adapt-embedder", "--epochs", "1") == 0
    said = capsys.readouterr().out.splitlines()[-2]
    assert "text encoder was" in said
    assert "standard fine-tune" in said


def test_a_language_model_has_no_embedder_to_adapt(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finetune(table, tmp_path / "mine", "llm", "--adapt-embedder") == 2
    assert "remove --adapt-embedder" in capsys.readouterr().err


def test_without_peft_nothing_is_written(
    table: str,
    model: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "peft" else find(name))
    assert finetune(table, tmp_path / "mine", model, "--adapt-embedder") == 2
    assert "pip install peft" in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("content", [b"text,topic\n", b""])
def test_a_file_is_never_replaced_by_a_model(
    table: str, model: str, tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "table.csv"
    there.write_bytes(content)
    assert finetune(table, there, model) == 2
    assert "is a file: choose a new or empty folder" in capsys.readouterr().err
    assert there.read_bytes() == content
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "table.csv"]


def test_learning_twice_from_the_same_rows_is_said(
    table: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finetune(table, tmp_path / "first", model) == 0
    assert "is itself fine-tuned. If it was trained on rows of this table" not in capsys.readouterr().err
    assert finetune(table, tmp_path / "second", str(tmp_path / "first")) == 0
    assert "is itself fine-tuned. If it was trained on rows of this table" in capsys.readouterr().err
