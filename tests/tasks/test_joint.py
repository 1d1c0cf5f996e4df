"""A model that knows the table, on files, in projects and from Python: the same numbers."""

from __future__ import annotations

import csv
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml import transductive
from sce_desktop.ml.classifier import SCEClassifier
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.similarity import SimilarityModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evaluation import EvaluationSettings, evaluate_table
from sce_desktop.tasks.evaluation.gold import GoldSource
from sce_desktop.tasks.scoring.classify import ClassifyReport, ClassifySettings, classify_table
from sce_desktop.tasks.scoring.joint import (
    can_be_transductive,
    fit_transductive,
    fit_transductive_to_project,
    reference_rows,
)
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import score_project
from tests.ml.tiny import DictCache, tiny_sce_model
from tests.tasks.fakes import FakeModel

NAMES = ["delivery", "payment", "app"]
THINGS = {
    "delivery": ["parcel late", "driver rude", "package lost", "box broken", "courier late"],
    "payment": ["invoice wrong", "charged twice", "refund money", "bill expensive", "fee charge"],
    "app": ["login error", "website crash", "password bug", "tracking crashes", "map wrong"],
}
ROWS = [
    (f"{start} {thing}", label)
    for label, things in THINGS.items()
    for thing in things
    for start in ("the", "my", "very bad", "new")
]
TEXTS = [text for text, _ in ROWS]
LABELS = clean_labels(NAMES)


class TinySession:
    """Real models, tiny ones."""

    def __init__(self) -> None:
        self._model = tiny_sce_model(says_none=True, name="ours")

    def model(self, name: str) -> SCEModel:
        return self._model

    def baseline(self, spec: str) -> SimilarityModel:
        return SimilarityModel(self._model.text_embedder, "similarity")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "right"), *ROWS[:30], ("  ", "app"), *ROWS[30:]])
    return path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project.create(tmp_path / "p.sce")
    project.add_rows(["text"], [[(text,) for text in [*TEXTS, ""]]], text_columns=[0], source={})
    project.set_labels(LABELS)
    return project


def classify(table: Path, output: Path, **options: object) -> ClassifyReport:
    arguments = {
        "text_columns": ["text"],
        "labels": LABELS,
        "source": TinySession(),
        "model": "ours",
        "progress": SilentProgress(),
        **options,
    }
    wanted = {one.name: arguments.pop(one.name) for one in fields(ClassifySettings) if one.name in arguments}
    settings = ClassifySettings(**wanted)  # type: ignore[arg-type]
    return classify_table(table, output, settings, **arguments)  # type: ignore[arg-type]


def written(path: Path) -> FloatArray:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["sce_status"] != "blank"]
    return np.array([[float(row[f"sce_p:{name}"]) for name in NAMES] for row in rows], dtype=np.float32)


def test_a_file_a_project_and_python_agree(table: Path, tmp_path: Path, project: Project) -> None:
    report = classify(table, tmp_path / "out.csv", whole_table=True, batch_rows=7)
    assert report.whole_table
    assert (report.rows, report.skipped_blank) == (len(ROWS) + 1, 1)
    from_file = written(tmp_path / "out.csv")
    classifier = SCEClassifier(TinySession().model("ours"))
    from_python = classifier.predict_proba(TEXTS, NAMES, whole_table=True)
    np.testing.assert_allclose(from_file, from_python, atol=1e-5)
    assert np.abs(from_python - classifier.predict_proba(TEXTS, NAMES)).max() > 0.01
    with project:
        main = NamedModel("sce", "ours", TinySession().model("ours"))
        known = fit_transductive_to_project(main, project, cache=DictCache(), progress=SilentProgress())
        (run,) = score_project(project, [known], progress=SilentProgress())
        scores = project.scores(run.id, range(1, len(TEXTS) + 1))
        found = np.array([scores[row].probabilities for row in range(1, len(TEXTS) + 1)])
    np.testing.assert_allclose(found, from_python, atol=1e-5)
    assert (run.model, run.whole_table, run.title) == ("ours", True, "ours, whole table")


def test_one_by_one_they_are_what_they_were(table: Path, tmp_path: Path) -> None:
    report = classify(table, tmp_path / "out.csv")
    assert not report.whole_table
    alone = TinySession().model("ours").probabilities(TEXTS, LABELS).probabilities
    np.testing.assert_allclose(written(tmp_path / "out.csv"), alone, atol=1e-6)


def test_evaluate_measures_the_model_with_the_table_and_the_baseline_without(table: Path) -> None:
    def measured(whole_table: bool) -> dict[str, FloatArray]:
        report = evaluate_table(
            GoldSource(table, ["text"], "right"),
            EvaluationSettings(("ours",), whole_table=whole_table),
            source=TinySession(),
            progress=SilentProgress(),
        )
        assert report.rows == len(ROWS)
        return {name: (one.accuracy, one.ece) for name, one in report.models.items()}

    alone, together = measured(False), measured(True)
    assert alone["ours"] != together["ours"]
    assert alone["similarity"] == together["similarity"]


def test_rows_that_are_not_measured_tell_something_too(table: Path) -> None:
    """Of ten rows measured, all of the table's rows are the table."""
    report = evaluate_table(
        GoldSource(table, ["text"], "right"),
        EvaluationSettings(("ours",), max_rows=10, whole_table=True),
        source=TinySession(),
        progress=SilentProgress(),
    )
    picked = np.sort(np.random.default_rng(0).choice(len(ROWS), 10, replace=False))
    right = SCEClassifier(TinySession().model("ours")).predict_proba(TEXTS, NAMES, whole_table=True)
    gold = [NAMES.index(ROWS[place][1]) for place in picked]
    assert report.models["ours"].accuracy == (right[picked].argmax(1) == gold).mean()


@pytest.mark.parametrize(("labels", "several"), [(LABELS, True), (LABELS[:1], False)])
def test_labels_asked_by_themselves_are_refused(
    table: Path, tmp_path: Path, labels: tuple[object, ...], several: bool
) -> None:
    with pytest.raises(UserError, match="not available with one label"):
        classify(table, tmp_path / "out.csv", labels=labels, multi_label=several, whole_table=True)
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(ValueError, match="not available with multi_label"):
        SCEClassifier(TinySession().model("ours")).predict_proba(
            TEXTS, NAMES, multi_label=True, whole_table=True
        )


def test_projects_of_several_labels_a_row_are_refused(tmp_path: Path) -> None:
    with Project.create(tmp_path / "several.sce") as project:
        project.add_rows(["text"], [[("parcel",)]], text_columns=[0], source={})
        project.set_labels(LABELS, multi_label=True)
        main = NamedModel("sce", "ours", TinySession().model("ours"))
        with pytest.raises(UserError, match="not available with one label"):
            fit_transductive_to_project(main, project, cache=None, progress=SilentProgress())


def test_a_language_model_cannot() -> None:
    named = NamedModel("sce", "llm:x", FakeModel(kind="llm"))
    assert not can_be_transductive(named)
    with pytest.raises(UserError, match="needs an SCE model"):
        fit_transductive(named, TEXTS, cache=None, progress=SilentProgress())


def test_a_table_without_texts_changes_nothing() -> None:
    named = NamedModel("sce", "ours", TinySession().model("ours"))
    assert fit_transductive(named, ["", "  "], cache=None, progress=SilentProgress()) == named
    classifier = SCEClassifier(TinySession().model("ours"))
    assert classifier.predict_proba([], NAMES, whole_table=True).shape == (0, 3)


def test_a_project_without_texts_keeps_no_run_that_claims_to_know_them(tmp_path: Path) -> None:
    named = NamedModel("sce", "ours", TinySession().model("ours"))
    with Project.create(tmp_path / "blank.sce") as project:
        project.add_rows(["text"], [[(" ",)]], text_columns=[0], source={})
        project.set_labels(LABELS)
        assert fit_transductive_to_project(named, project, cache=None, progress=SilentProgress()) == named


def test_new_rows_make_another_model_of_it(project: Project) -> None:
    with project:
        main = NamedModel("sce", "ours", TinySession().model("ours"))
        cache = DictCache()

        def fingerprint() -> str:
            return fit_transductive_to_project(
                main, project, cache=cache, progress=SilentProgress()
            ).model.fingerprint

        first = fingerprint()
        assert first == fingerprint() != main.model.fingerprint
        project.add_rows(["text"], [[("parcel lost",)]], text_columns=[0], source={})
        assert fingerprint() != first


def test_rows_that_stand_for_many_are_spread_over_all_and_mostly_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transductive, "MAX_ROWS", 200)
    ids = np.arange(1, 10_001)
    found = reference_rows(ids)
    assert len(found) == 200
    assert np.array_equal(found, np.sort(found))
    assert np.histogram(found, 10, (0, 10_001))[0].min() >= 10
    more = reference_rows(np.arange(1, 11_001))
    assert len(np.intersect1d(found, more)) >= 160
    assert np.array_equal(reference_rows(ids[:150]), ids[:150])
