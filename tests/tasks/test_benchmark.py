from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.metrics import mean_interval, measure
from sce_desktop.core.progress import SilentProgress
from sce_desktop.research.benchmark import BenchmarkReport, SetResult, benchmark
from sce_desktop.research.class_imbalance import Imbalanced
from sce_desktop.tasks.scoring.models import Baseline
from tests.tasks.fakes import FakeModel, FakeSession, StoppingProgress

Row = tuple[str, str, str]  # text, label, split


class Contrary(FakeModel):
    """Right where `FakeModel` is wrong."""

    def probabilities(self, texts, labels, **options):  # type: ignore[no-untyped-def]
        return super().probabilities(["delay" if "damage" in text else "damage" for text in texts], labels)


def write_set(data: Path, part: str, name: str, rows: list[Row]) -> None:
    (data / part).mkdir(parents=True, exist_ok=True)
    with gzip.open(data / part / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        for text, label, split in rows:
            file.write(json.dumps({"text": text, "label": label, "split": split}) + "\n")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    right = [("damage", "damage", "test"), ("delay", "delay", "train"), ("a delay", "delay", "test")]
    half = [("damage", "damage", "train"), ("delay", "damage", "test"), ("damage", "delay", "test")]
    write_set(tmp_path, "benchmark", "easy", right)
    write_set(tmp_path, "benchmark", "okite_arise_news", half)
    write_set(tmp_path, "validation", "emotion6", half)
    write_set(tmp_path, "validation", "other", right)
    write_set(tmp_path, "train", "bbc_news", half)
    write_set(tmp_path, "train", "trained_on", right)
    return tmp_path


def run(data: Path, **options: object) -> BenchmarkReport:
    arguments = {
        "source": FakeSession(FakeModel()),
        "models": ["fake"],
        "progress": SilentProgress(),
        **options,
    }
    return benchmark(data, **arguments)  # type: ignore[arg-type]


def test_every_set_and_the_mean(data: Path) -> None:
    found = run(data).as_json()
    assert list(found["sets"]) == ["easy", "okite_arise_news", "okite_arise_news_test"]
    easy = found["sets"]["easy"]
    assert (easy["part"], easy["rows"], easy["labels"]) == ("benchmark", 3, ["damage", "delay"])
    assert easy["fake"]["accuracy"] == 1.0
    assert easy["fake"]["interval"][0] < 1.0
    assert {"accuracy", "interval", "macro_f1", "ece", "seconds"} == set(easy["similarity"])
    assert set(found["rows_per_second"]) == {"fake", "similarity"}
    assert found["mean"] == {
        "fake": pytest.approx((1 + 1 / 3) / 2),
        "similarity": pytest.approx((1 + 1 / 3) / 2),
    }
    json.dumps(found, allow_nan=False)


def test_the_test_split_of_arise_is_shown_and_not_counted(data: Path) -> None:
    found = run(data).as_json()
    whole, test = found["sets"]["okite_arise_news"], found["sets"]["okite_arise_news_test"]
    assert (whole["rows"], test["rows"]) == (3, 2)
    assert test["fake"]["accuracy"] == 0.0
    assert whole["fake"]["accuracy"] == pytest.approx(1 / 3)


def test_the_test_fifth_of_the_seen_sets(data: Path) -> None:
    found = run(data, part="train-test").as_json()
    assert {name: (one["part"], one["rows"]) for name, one in found["sets"].items()} == {
        "bbc_news": ("train-test", 2)
    }


def test_validation_mean_without_the_set_that_is_not_quite_unseen(data: Path) -> None:
    found = run(data, part="validation").as_json()
    assert found["mean"]["fake"] == pytest.approx((1 + 1 / 3) / 2)
    assert found["without_emotion6"]["mean"]["fake"] == 1.0
    assert "without_emotion6" not in run(data).as_json()


def test_all_parts_each_with_its_means(data: Path) -> None:
    found = run(data, part="all").as_json()
    assert set(found["parts"]) == {"benchmark", "train-test", "validation"}
    assert found["parts"]["train-test"]["mean"]["fake"] == 0.0
    assert "trained_on" not in found["sets"]


def test_sets_of_other_languages_with_their_own_and_with_english_labels(data: Path) -> None:
    own = [("damage", "damage", "")]
    english = [*own, ("delay", "damage", ""), ("damage", "delay", "")]
    for name, rows in (("sib_deu", english), ("sib_deu_own", own), ("sib_fra", own)):
        write_set(data, "multilingual", name, rows)
    found = run(data, part="multilingual")
    told = found.as_json()
    assert list(told["sets"]) == ["sib_deu", "sib_deu_own", "sib_fra"]
    assert told["own_label_names"]["mean"]["fake"] == 1.0
    assert told["english_label_names"]["mean"]["fake"] == pytest.approx(2 / 3)
    assert told["mean"]["fake"] == pytest.approx(7 / 9)
    lines = found.as_markdown()
    assert any(line.startswith("| mean, English labels | | | 66.7 |") for line in lines)
    assert any(line.startswith("| mean, labels in the texts' language | | | 100.0 |") for line in lines)
    assert "own_label_names" not in run(data).as_json()
    assert not any(name.startswith("sib_") for name in run(data, part="all").as_json()["sets"])


def test_differences_to_the_baseline_with_intervals_over_sets(data: Path) -> None:
    source = FakeSession(FakeModel(), Contrary("similarity", kind="similarity"))
    found = run(data, source=source).as_json()
    gains = [1.0, 1 / 3 - 2 / 3]
    assert found["difference"]["fake"]["mean"] == pytest.approx(sum(gains) / 2)
    assert tuple(found["difference"]["fake"]["interval"]) == pytest.approx(mean_interval(gains))
    assert "similarity" not in found["difference"]
    assert len(found["mean_interval"]["fake"]) == 2
    assert run(data, sets=["easy"]).as_json()["mean_interval"]["fake"] is None


def test_several_models_and_baselines(data: Path) -> None:
    source = FakeSession(FakeModel("one"), FakeModel("two"))
    report = run(data, source=source, models=["one", "two"], baselines=[Baseline("near", "similarity", "x")])
    assert report.models == ["one", "two", "similarity", "near"]
    lines = report.as_markdown()
    assert lines[0] == "| set | rows | labels | one | two | similarity | near |"
    assert len({line.count("|") for line in lines}) == 1
    assert lines[-2].startswith("| mean |")
    assert lines[-1].startswith("| rows a second |")


def test_the_papers_labels(tmp_path: Path) -> None:
    rows: list[Row] = [(name, name, "test") for name in ("damage", "delay", "praise", "delay")]
    write_set(tmp_path, "benchmark", "named", rows)
    write_set(tmp_path, "benchmark", "not_in_paper", rows)
    paper = {"named": {"damage": "Wet Damage", "delay": "Delay", "praise": None}}
    (tmp_path / "paper_labels.json").write_text(json.dumps(paper), encoding="utf-8")
    named, other = run(tmp_path, paper_labels=True).sets
    assert (named.labels, named.rows) == (["Wet Damage", "Delay"], 3)
    assert named.models["fake"].accuracy == 1.0
    assert (other.labels, other.rows) == (["damage", "delay", "praise"], 4)
    assert run(tmp_path).sets[0].labels == ["damage", "delay", "praise"]


def test_balancing_labels_changes_what_leans(data: Path) -> None:
    class Leaning(FakeModel):
        def probabilities(self, texts, labels, **options):  # type: ignore[no-untyped-def]
            scores = super().probabilities(texts, labels)
            scores.probabilities[:, 0] += 0.45
            return scores

    rows: list[Row] = [("damage", "damage", "test"), ("delay", "delay", "test")] * 10
    write_set(data, "benchmark", "leaning", rows)
    source = FakeSession(Leaning("lean"))
    plain = run(data, source=source, models=["lean"], sets=["leaning"])
    balanced = run(data, source=source, models=["lean"], sets=["leaning"], balance=True)
    assert plain.sets[0].models["lean"].accuracy == 1.0
    assert balanced.sets[0].models["lean"].ece != plain.sets[0].models["lean"].ece
    told = balanced.as_json()["sets"]["leaning"]["lean"]
    assert told["plain"]["accuracy"] == 1.0
    assert told["skewed"] is None  # ten rows of a label are too few for a resample
    assert "plain" not in plain.as_json()["sets"]["leaning"]["lean"]
    assert not any("skewed" in line for line in balanced.as_markdown())


def test_balancing_is_shown_on_imbalanced_resamples_too(data: Path) -> None:
    rows: list[Row] = [("damage", "damage", "test"), ("delay", "delay", "test")] * 40
    write_set(data, "benchmark", "even", rows)
    report = run(data, models=["fake"], sets=["even"], balance=True)
    told = report.as_json()["sets"]["even"]["fake"]["skewed"]
    assert (told["resamples"], told["share"], told["plain"]) == (2, 0.8, 1.0)
    assert [line for line in report.as_markdown() if line.startswith("| mean, skewed, each row alone |")]


def test_a_language_model_beside_the_whole_table_has_figures_of_its_own_alone() -> None:
    right = measure(np.array([0, 1]), np.eye(2, dtype=np.float32))
    one = SetResult(
        "easy",
        "benchmark",
        2,
        ["damage", "delay"],
        {"ours": right, "llm": right},
        seconds={"ours": 1.0, "llm": 1.0},
        plain={"ours": 0.5},
        imbalanced={"ours": Imbalanced(0.8, 2, 0.25, 0.75)},
    )
    page = BenchmarkReport([one], ["ours", "llm"], "ours", {}).as_markdown()
    assert "| mean, each row alone | | | 50.0 | |" in page


def test_max_rows(data: Path) -> None:
    found = run(data, max_rows=1).as_json()
    assert {one["rows"] for one in found["sets"].values()} == {1}


def test_what_is_not_there_is_refused(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(UserError, match="There is no set “absent”"):
        run(data, sets=["absent"])
    with pytest.raises(UserError, match="There is no set “other”"):
        run(data, sets=["other"])  # of another part
    with pytest.raises(UserError):
        run(tmp_path_factory.mktemp("empty"))
    with pytest.raises(UserError):
        run(tmp_path_factory.mktemp("empty"), part="train-test")


def test_cancel(data: Path) -> None:
    with pytest.raises(Cancelled):
        run(data, progress=StoppingProgress(4))
