"""Fine-tunes in a project: the keys stay, and whatever is found there is read or a sentence."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.annotations import Origin
from sce_desktop.core.figures import ChangedRow, Figures, LabelChange, PairedCounts
from sce_desktop.core.training import (
    EncoderReport,
    FinetuneSettings,
    Fit,
    Recipe,
    SinceVersion,
    TrainingReport,
)
from sce_desktop.store.project import Project
from sce_desktop.store.runs.training_json import read_report, read_version, report_json
from tests.store.test_versions import add

# As the programs before `TrainingReport` wrote them.
FIGURES = {"accuracy": 0.5, "interval": [0.4, 0.6], "macro_f1": 0.5, "ece": 0.1}
DIFFERENCE = {
    "mean": 0.2,
    "interval": [0.1, 0.3],
    "won": 8,
    "lost": 0,
    "p_value": 0.0078125,
    "sentence": "Better.",
}
SETTINGS = {
    "epochs": 40,
    "lr": 0.5,
    "seed": 3,
    "balanced": False,
    "adapt_embedder": True,
    "recipe": {"hold": 10.0, "ridge": 0.3},
    "temperature": 1.25,
    "calibrated": True,
    "stopped": "settled",
    "origins": ["hand", "bulk"],
    "label_ids": {"Late": 1, "Damaged": 2},
    "expected_seconds": 4.5,
    "embedder": "e, adapted",
    "row_ids": [2, 3, 5],
}
METRICS = {
    "measured": 40,
    "difference": DIFFERENCE,
    "before": FIGURES,
    "after": FIGURES | {"accuracy": 0.7},
    "logistic_regression": FIGURES | {"accuracy": 0.6},
    "labels_changed": {"Late": {"rows": 20, "before": {"f1": 0.5}, "after": {"f1": None}}},
    "baselines": {"similarity": FIGURES | {"accuracy": 0.4}},
    "since": {"version": 2, "rows": 30, **DIFFERENCE},
    "left_out": {"audit": 3},
    "cut_short": True,
    "untested_labels": ["Praise"],
    "losses": [1.0, 0.5],
    "embedder": {"kept": True, "steps": 40, "sentence": "Kept.", "seconds": 9.5, "fast": FIGURES},
    "changed_rows": [{"row_id": 3, "before": "Late", "after": "Damaged", "gold": "Damaged"}],
}
ONE = Figures(0.5, (0.4, 0.6), 0.5, 0.1)
REPORT = TrainingReport(
    paired=PairedCounts(40, 8, 0),
    before=ONE,
    after=replace(ONE, accuracy=0.7),
    logistic=replace(ONE, accuracy=0.6),
    by_label=(LabelChange("Late", 20, 0.5, None),),
    baselines={"similarity": replace(ONE, accuracy=0.4)},
    since=SinceVersion(2, PairedCounts(30, 8, 0)),
    left_out={"audit": 3},
    untested=("Praise",),
    changed_rows=(ChangedRow(3, "Late", "Damaged", "Damaged"),),
    encoder=EncoderReport(True, "Kept.", 40, 9.5, ONE),
    fit=Fit(
        recipe=Recipe(10.0, 0.3),
        temperature=1.25,
        calibrated=True,
        stopped="settled",
        cut_short=True,
        losses=(1.0, 0.5),
        expected_seconds=4.5,
        encoder_key="e, adapted",
        labels={"Late": 1, "Damaged": 2},
        row_ids=(2, 3, 5),
    ),
)


def read(settings: object = None, metrics: object = None) -> tuple[FinetuneSettings | None, TrainingReport]:
    return read_version(json.dumps(settings or SETTINGS), json.dumps(metrics or METRICS))


def test_what_a_project_holds_is_read() -> None:
    settings, report = read()
    assert settings == FinetuneSettings(40, 0.5, 3, False, True, (Origin.HAND, Origin.BULK))
    assert report == REPORT


def test_the_keys_in_a_project_stay(project: Project, path: Path) -> None:
    version = add(project, settings=SETTINGS, metrics=METRICS)
    project.close()
    with sqlite3.connect(path) as plain:
        (stored,) = plain.execute("SELECT settings, metrics FROM model_versions").fetchall()
    plain.close()
    settings, metrics = map(json.loads, stored)
    assert settings == SETTINGS
    for found in (metrics["difference"], metrics["since"]):  # made again of what was counted
        assert found.pop("sentence").startswith("Better: ")
        assert 0 < found.pop("interval")[0] < found.pop("mean") < 0.3
    for found in (expected := json.loads(json.dumps(METRICS)))["difference"], expected["since"]:
        for key in ("sentence", "interval", "mean"):
            found.pop(key)
    assert metrics == expected
    with Project.open(path) as again:
        assert again.versions() == (version,)


def test_unknown_keys_are_passed_over() -> None:
    settings, report = read(
        SETTINGS | {"head": "new"}, METRICS | {"before": FIGURES | {"auc": 0.9}, "x": [1]}
    )
    assert report == REPORT
    assert settings is not None


def test_of_what_is_missing_nothing_is_claimed() -> None:
    settings, report = read_version("{}", "{}")  # as a repaired project may have it
    assert settings is None
    assert report == TrainingReport()
    assert report.sentence == "Not measured: there are no validation rows."
    assert not report.better
    older = {key: value for key, value in METRICS.items() if key not in ("embedder", "since", "losses")}
    assert read(metrics=older)[1].measured == 40


@pytest.mark.parametrize(
    "broken",
    [
        {"measured": "40"},
        {"measured": 3},  # fewer rows than changes
        {"difference": [1]},
        {"difference": {"won": 8}},
        {"before": {"accuracy": 0.5}},
        {"after": FIGURES | {"interval": [0.1]}},
        {"after": FIGURES | {"accuracy": 10**400}},
        {"after": FIGURES | {"ece": float("nan")}},
        {"labels_changed": {"Late": 1}},
        {"baselines": [FIGURES]},
        {"since": {"rows": 1}},
        {"untested_labels": "Praise"},
        {"losses": ["x"]},
        {"embedder": {"kept": True}},
        {"changed_rows": [{"row_id": True, "before": "a", "after": "b", "gold": "b"}]},
    ],
)
def test_figures_that_make_no_sense_are_a_sentence(broken: dict[str, Any]) -> None:
    settings, report = read(metrics=METRICS | broken)
    assert report.sentence == (
        "The results of this version are damaged and cannot be shown. The version can still be used."
    )
    assert (report.before, report.changed_rows, report.better) == (None, (), False)
    assert settings is not None
    assert report.fit.labels == {"Late": 1, "Damaged": 2}  # with which it can still be used


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", "null and void", "[" * 100_000])
def test_what_is_no_json_is_a_sentence_and_the_version_is_there(
    project: Project, path: Path, text: str
) -> None:
    add(project, settings=SETTINGS, metrics=METRICS)
    project.close()
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE model_versions SET metrics = ?", (text,))
    plain.close()
    with Project.open(path) as again:
        (version,) = again.versions()
        assert version.report.problem
        assert version.settings is not None
        assert version.learned.tolist() == [2, 3, 5]


@pytest.mark.parametrize(
    "broken", [{"epochs": "x"}, {"origins": ["nobody"]}, {"row_ids": 3}, {"label_ids": [1]}]
)
def test_settings_that_make_no_sense_are_a_sentence(broken: dict[str, Any]) -> None:
    settings, report = read(SETTINGS | broken)
    assert settings is None
    assert report.problem
    assert report.measured == 40  # the results are there all the same


def test_what_an_older_program_claimed_is_not_repeated() -> None:
    kept = {"mean": 4 / 30, "interval": [0.03, 0.27], "won": 4, "lost": 0, "sentence": "Better by 3 to 27."}
    report = read_report({"measured": 30, "difference": kept})
    assert report.sentence == "No clear difference yet (+0 to +27 points, 95% CI, 30 rows)."
    assert read_report({"measured": 200, "difference": {"won": 30, "lost": 10}}).better


def test_a_report_comes_back_as_it_was() -> None:
    assert read_report(json.loads(json.dumps(report_json(REPORT)))).changed_rows == REPORT.changed_rows
    empty = TrainingReport(fit=Fit(losses=(0.5,)))
    assert read_report(json.loads(json.dumps(report_json(empty)))) == empty
