from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.tasks.evaluation.evaluation import (
    EvaluationReport,
    EvaluationSettings,
    evaluate_table,
    with_similarity,
)
from sce_desktop.tasks.evaluation.gold import GoldSource, sample
from sce_desktop.tasks.scoring.models import Baseline
from tests.tasks.fakes import FakeModel, FakeSession, StoppingProgress

TABLE = """text,topic
a wet damage,damage
the delay,delay
a long delay,damage
,damage
something else,
damage,praise
damage,damage
"""

GOLD = {"labels", "lists", "merge_alike"}  # options that belong to the table


def evaluate(folder: Path, text: str = TABLE, **options: object) -> EvaluationReport:
    table = folder / "in.csv"
    table.write_text(text, encoding="utf-8")
    asked = {"models": ("fake",), **options}
    gold = GoldSource(table, ["text"], "topic")
    gold = replace(gold, **{key: asked.pop(key) for key in GOLD & asked.keys()})  # type: ignore[arg-type]
    source = asked.pop("source", FakeSession(FakeModel()))
    progress = asked.pop("progress", SilentProgress())
    settings = EvaluationSettings(**asked)  # type: ignore[arg-type]
    return evaluate_table(gold, settings, source=source, progress=progress)  # type: ignore[arg-type]


def test_labels_are_the_distinct_gold_values(tmp_path: Path) -> None:
    report = evaluate(tmp_path)
    assert report.labels == ["damage", "delay", "praise"]
    assert report.rows == 5
    assert report.skipped == {"blank": 1, "no_gold": 1, "other_label": 0}
    found = report.models["fake"]
    assert found.accuracy == 3 / 5
    assert found.confusion.tolist() == [[2, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert set(report.seconds) == {"load", "embed", "score", "total"}


def test_the_similarity_baseline_is_always_there(tmp_path: Path) -> None:
    assert list(evaluate(tmp_path).models) == ["fake", "similarity"]
    other = Baseline("near", "similarity", "x")
    assert list(evaluate(tmp_path, baselines=[other]).models) == ["fake", "similarity", "near"]
    own = Baseline("similarity", "similarity", "x")
    assert with_similarity([own]) == [own]


def test_several_models_side_by_side(tmp_path: Path) -> None:
    source = FakeSession(FakeModel("one"), FakeModel("two"))
    assert list(evaluate(tmp_path, source=source, models=["one", "two"]).models) == [
        "one",
        "two",
        "similarity",
    ]


def test_rows_with_another_gold_label_are_left_out_and_told(tmp_path: Path) -> None:
    progress = SilentProgress()
    report = evaluate(tmp_path, labels=clean_labels(["delay", "damage"]), progress=progress)
    assert (report.labels, report.rows) == (["delay", "damage"], 4)
    assert report.skipped["other_label"] == 1
    assert any("excluded: " in warning for warning in progress.warnings)


def test_labels_of_the_model_come_before_gold_values(tmp_path: Path) -> None:
    source = FakeSession(FakeModel(labels=(Label("damage"), Label("delay"))))
    assert evaluate(tmp_path, source=source).labels == ["damage", "delay"]


def test_gold_values_that_look_the_same_stay_apart_and_are_reported(tmp_path: Path) -> None:
    progress = SilentProgress()
    text = "text,topic\nx,Billing\ny,billing \nz,Caf\u00e9\nw,Cafe\u0301\n"
    report = evaluate(tmp_path, text, progress=progress)
    assert report.labels == ["Billing", "billing ", "Caf\u00e9", "Cafe\u0301"]
    assert any("look the same" in warning for warning in progress.warnings)


def test_gold_values_that_look_like_missing_are_labels(tmp_path: Path) -> None:
    report = evaluate(tmp_path, "text,topic\nx,NA\ny,null\nz,NaN\nw,\n")
    assert report.labels == ["NA", "null", "NaN"]
    assert report.rows == 3


LISTS = """text,topic
damage,"[""delay"", ""damage""]"
the delay,"[""damage""]"
a long delay,"[""delay"", ""praise""]"
damage and delay,[]
damage,"[""lost""]"
praise,praise
,"[""delay""]"
"""


def test_lists_of_labels_are_taken_apart_and_any_of_them_is_right(tmp_path: Path) -> None:
    progress = SilentProgress()
    labels = clean_labels(["damage", "delay", "praise"])
    report = evaluate(tmp_path, LISTS, labels=labels, progress=progress)
    assert (report.multi_label, report.rows) == (True, 4)
    assert report.skipped == {"blank": 1, "no_gold": 1, "other_label": 1}
    found = report.models["fake"]
    assert found.accuracy == 3 / 4
    assert found.confusion.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]  # of several the predicted one
    assert any("“topic” has lists of labels" in warning for warning in progress.warnings)
    assert evaluate(tmp_path, LISTS).labels == ["delay", "damage", "praise", "lost"]


def test_labels_of_lists_are_asked_each_by_itself(tmp_path: Path) -> None:
    report = evaluate(tmp_path, LISTS, labels=clean_labels(["damage", "delay", "praise"]))
    assert report.models["fake"].ece == pytest.approx(0.375)  # every answer is sure to 0.75
    checked = evaluate(tmp_path, LISTS, shuffles=2)
    assert checked.orders["fake"].changed == 0
    with pytest.raises(UserError, match="not available with one label"):
        evaluate(tmp_path, LISTS, whole_table=True)


def test_lists_as_they_stand(tmp_path: Path) -> None:
    report = evaluate(tmp_path, LISTS, lists=False)
    assert not report.multi_label
    assert report.labels[:2] == ['["delay", "damage"]', '["damage"]']


def test_max_rows_is_always_the_same_sample(tmp_path: Path) -> None:
    text = "text,topic\n" + "".join(f"{'damage' if n % 3 else 'delay'} {n},damage\n" for n in range(300))
    labels = clean_labels(["damage", "delay"])
    first = evaluate(tmp_path, text, labels=labels, max_rows=50).models["fake"].accuracy
    assert evaluate(tmp_path, text, labels=labels, max_rows=50).models["fake"].accuracy == first
    assert evaluate(tmp_path, text, labels=labels, max_rows=50).rows == 50
    assert evaluate(tmp_path, text, labels=labels, max_rows=5000).rows == 300


def test_a_sample_keeps_the_order() -> None:
    items = list(range(100))
    taken = sample(items, 10)
    assert taken == sorted(taken)
    assert len(set(taken)) == 10
    assert taken != items[:10]
    assert sample(items, 10) == taken


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("text,topic\n", "no label"),
        ("text,topic\n,a\n,b\n", "No row has a text and one of the labels in “topic”"),
        ("text,topic\nx,a\ny,a\n", "at least two"),
        ("text,subject\nx,a\n", "no column “topic”"),
        ("words,topic\nx,a\n", "no column “text”"),
    ],
)
def test_what_cannot_be_measured_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        evaluate(tmp_path, text)


def test_cancel(tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        evaluate(tmp_path, progress=StoppingProgress(2))


def test_gold_values_that_differ_in_spaces_are_one_label_and_every_group_is_reported(tmp_path: Path) -> None:
    progress = SilentProgress()
    text = "text,topic\ndelay,delay\na delay,delay \ndamage,damage\nx,2\ny,2.0\nz,Damage\n"
    report = evaluate(tmp_path, text, progress=progress)
    assert report.labels == ["delay", "damage", "2", "2.0", "Damage"]
    assert report.models["fake"].accuracy_interval is not None
    assert report.rows == 6
    assert "Some labels look the same: add --merge-labels to merge them." in progress.warnings
    told = [warning for warning in progress.warnings if "“" in warning]
    assert [[name in one for name in ("“delay ”", "“2.0”", "“Damage”")] for one in told] == [
        [True, False, False],
        [False, False, True],
        [False, True, False],
    ]
    report = evaluate(tmp_path, text, labels=clean_labels([" delay", "damage"]))
    assert (report.rows, report.skipped["other_label"]) == (3, 3)


@pytest.mark.parametrize("text", ["\u200b", "\ufeff\u00ad", "\0", "\ufe0f "])
def test_invisible_texts_are_blank(tmp_path: Path, text: str) -> None:
    report = evaluate(tmp_path, f"text,topic\ndelay,delay\ndamage,damage\n{text},delay\nx,\u2060\n")
    assert (report.rows, report.skipped) == (2, {"blank": 1, "no_gold": 1, "other_label": 0})


def test_lists_of_python_are_lists_of_labels(tmp_path: Path) -> None:
    text = "text,topic\ndelay,\"['delay', 'damage']\"\ndamage,['damage']\ndelay,['delay' 'damage']\n"
    report = evaluate(tmp_path, text)
    assert (report.labels, report.multi_label, report.rows) == (["delay", "damage"], True, 3)


@pytest.mark.parametrize("broken", ["[null,3]", '["delay"', '[["a"]]', '{"a":1}', "[1,2]", '[""]'])
def test_damaged_lists_are_left_out_and_told(tmp_path: Path, broken: str) -> None:
    progress = SilentProgress()
    rows = [("delay", '["delay"]')] * 3 + [("damage", '["damage"]'), ("delay", broken), ("x", "abc")]
    text = "text\ttopic\n" + "".join(f"{text}\t{cell}\n" for text, cell in rows)
    report = evaluate(tmp_path, text, progress=progress)
    assert report.labels == ["delay", "damage", "abc"]
    assert (report.rows, report.skipped) == (5, {"blank": 0, "no_gold": 1, "other_label": 0})
    assert (
        f"1 cell of “topic” has no label, as it is not a list of labels: row 5: “{broken}”."
        in progress.warnings
    )
