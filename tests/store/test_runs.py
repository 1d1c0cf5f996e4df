from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import KeptModel, Run, Scores
from sce_desktop.store.project import Project
from sce_desktop.store.runs import runs
from tests.store.conftest import fill, use_labels

NAMES = ("a", "b", "c")


@pytest.fixture
def labels(project: Project) -> tuple[Label, ...]:
    fill(project, ["one", "two", "", "four", "five", "six"])
    return project.set_labels([Label(name) for name in NAMES]).labels


def open_run(project: Project, labels: tuple[Label, ...], **changes: object) -> Run:
    arguments = {
        "alias": "sce",
        "kind": "sce",
        "model": "sce-mini",
        "fingerprint": "f1",
        "multi_label": False,
    }
    return project.open_run(**{**arguments, "labels": labels, **changes})  # type: ignore[arg-type]


def probabilities(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet([1.0] * len(NAMES), count).astype(np.float32)


def test_rows_that_no_label_fits_count_for_none_as_they_come(project: Project) -> None:
    fill(project, [f"text {number}" for number in range(8)])
    a, b = use_labels(project, "a", "b")
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    sure = np.array([[0.9, 0.1]] * 4, np.float32)
    project.add_scores(run.id, [1, 2, 3, 4], Scores(sure, np.array([0.1, 0.5, 0.4, 0.99], np.float32)))
    assert project.predicted_counts(run.id) == {a: 2, b: 0}
    project.add_scores(run.id, [5, 6], Scores(sure[:2], np.array([0.8, 0.0], np.float32)))
    assert project.predicted_counts(run.id) == {a: 3, b: 0}
    assert project.unfitting_ids(run.id).tolist() == [2, 4, 5]
    assert project.row_ids(RowQuery(run_id=run.id, predicted_ids=(a,))).tolist() == [1, 3, 6]
    use_labels(project, "a", "b", multi_label=True)
    several = project.open_run("sce", "sce", "m", "g", label_set.labels, multi_label=True)
    project.add_scores(several.id, [1, 2], Scores(np.array([[0.6, 0.7], [0.4, 0.3]], np.float32)))
    assert project.predicted_counts(several.id) == {a: 0, b: 1}
    project.set_threshold(0.8)
    assert project.unfitting_ids(several.id).tolist() == [1, 2]


def test_run_is_described(project: Project, labels: tuple[Label, ...], path: Path) -> None:
    run = open_run(project, labels)
    assert (run.alias, run.kind, run.model, run.fingerprint) == ("sce", "sce", "sce-mini", "f1")
    assert (run.labels, run.multi_label, run.finished_at, run.scored) == (labels, False, None, 0)
    project.close()
    with Project.open(path) as opened:
        assert opened.runs() == (run,)


def test_what_people_read_of_a_run_is_not_what_it_is(
    project: Project, labels: tuple[Label, ...], path: Path
) -> None:
    known = open_run(project, labels, model="x", fingerprint="f2", whole_table=True)
    named_so = open_run(project, labels, model="x, whole table")
    assert (known.title, named_so.title) == ("x, whole table", "x, whole table")
    assert (known.whole_table, named_so.whole_table) == (True, False)
    assert open_run(project, labels, model="x", fingerprint="f2", whole_table=True) == known
    project.close()
    with Project.open(path) as opened:
        assert opened.runs() == (known, named_so)


def test_same_question_goes_on_with_the_same_run(project: Project, labels: tuple[Label, ...]) -> None:
    run = open_run(project, labels)
    assert open_run(project, labels) == run
    project.finish_run(run.id)
    assert open_run(project, labels).id == run.id
    recoloured = tuple(replace(label, colour="#123456", shortcut="x") for label in labels)
    assert open_run(project, recoloured).id == run.id  # says the same to a model
    assert len(project.runs()) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"alias": "other"},
        {"fingerprint": "f2"},
        {"multi_label": True},
        {"whole_table": True},
        {"labels": lambda labels: labels[::-1]},
        {"labels": lambda labels: labels[:2]},
        {"labels": lambda labels: (replace(labels[0], name="A"), *labels[1:])},
        {"labels": lambda labels: (replace(labels[0], description="x"), *labels[1:])},
        {"labels": lambda labels: (replace(labels[0], synonyms=("x",)), *labels[1:])},
        {"labels": lambda labels: (replace(labels[0], id=7), *labels[1:])},
    ],
    ids=["alias", "model", "multi", "whole table", "order", "fewer", "name", "description", "synonyms", "id"],
)
def test_other_question_is_another_run(project: Project, labels: tuple[Label, ...], changes: dict) -> None:
    first = open_run(project, labels)
    changes = dict(changes)
    edited = changes.pop("labels", tuple)(labels)
    second = open_run(project, edited, **changes)
    assert second.id != first.id
    assert project.runs() == (first, second)


def test_label_without_an_id_is_a_bug(project: Project) -> None:
    with pytest.raises(ValueError, match="labels of the project"):
        open_run(project, (Label("a"),))


def test_one_run_is_active_under_its_alias(project: Project, labels: tuple[Label, ...]) -> None:
    assert project.active_run("sce") is None
    first, baseline = open_run(project, labels), open_run(project, labels, alias="similarity")
    second = open_run(project, labels, fingerprint="f2")
    assert project.active_run("sce") == first  # what is shown stays until the new one has something to show
    project.activate(second.id)
    assert project.active_run("sce") == second
    assert project.active_run("similarity") == baseline
    project.activate(first.id)
    assert project.active_run("sce") == first
    with pytest.raises(KeyError):
        project.activate(99)


# --- scores


def test_scores_come_back_whole(project: Project, labels: tuple[Label, ...], path: Path) -> None:
    run = open_run(project, labels)
    p, none = probabilities(4), np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    project.add_scores(run.id, [5, 1, 4, 2], Scores(p, none))
    project.close()
    with Project.open(path) as opened:
        found = opened.scores(run.id, [1, 2, 3, 5, 99])
        assert sorted(found) == [1, 2, 5]
        for place, row_id in enumerate([5, 1, 4, 2]):
            score = opened.scores(run.id, [row_id])[row_id]
            assert score.probabilities.dtype == np.float32
            assert (score.probabilities == p[place]).all()
            assert score.none == float(none[place])
            ordered = np.sort(p[place])
            assert (score.top, score.confidence) == (p[place].argmax(), float(ordered[-1]))
            assert score.margin == float(ordered[-1] - ordered[-2])
        assert opened.runs()[0].scored == 4


def test_model_that_does_not_know_none(project: Project, labels: tuple[Label, ...]) -> None:
    run = open_run(project, labels)
    project.add_scores(run.id, [1], Scores(probabilities(1)))
    assert project.scores(run.id, [1])[1].none is None


def test_whole_table(project: Project, labels: tuple[Label, ...]) -> None:
    run = open_run(project, labels)
    p = probabilities(3)
    p[1] = [1 / 3, 1 / 3, 1 / 3]  # a tie: the first label
    project.add_scores(run.id, [4, 2, 1], Scores(p))
    ids, top, confidence, margin = project.run_arrays(run.id)
    assert ids.tolist() == [1, 2, 4]
    assert top.tolist() == [p[2].argmax(), 0, p[0].argmax()]
    assert confidence.tolist() == p[[2, 1, 0]].max(axis=1).tolist()
    assert margin.dtype == np.float32
    assert margin[1] == 0
    ids, matrix = project.run_matrix(run.id)
    assert ids.tolist() == [1, 2, 4]
    assert (matrix == p[[2, 1, 0]]).all()
    counts = np.bincount(top, minlength=3).tolist()
    assert project.predicted_counts(run.id) == dict(zip([1, 2, 3], counts, strict=True))


def test_run_without_scores(project: Project, labels: tuple[Label, ...]) -> None:
    run = open_run(project, labels)
    project.add_scores(run.id, [], Scores(np.empty((0, 3), np.float32)))
    assert [len(array) for array in project.run_arrays(run.id)] == [0, 0, 0, 0]
    assert project.run_matrix(run.id)[1].shape == (0, 3)
    assert project.predicted_counts(run.id) == {1: 0, 2: 0, 3: 0}


def test_scored_rows_keep_their_scores(project: Project, labels: tuple[Label, ...]) -> None:
    run = open_run(project, labels)
    p, other = probabilities(2), probabilities(2, seed=1)
    project.add_scores(run.id, [1, 2], Scores(p))
    project.add_scores(run.id, [2, 4], Scores(other))
    assert (project.scores(run.id, [2])[2].probabilities == p[1]).all()
    assert (project.scores(run.id, [4])[4].probabilities == other[1]).all()
    assert project.runs()[0].scored == 3
    assert project.verify() == []


def test_unscored_rows_are_those_with_a_text(project: Project, labels: tuple[Label, ...]) -> None:
    run, other = open_run(project, labels), open_run(project, labels, alias="similarity")
    assert project.unscored_ids(run.id).tolist() == [1, 2, 4, 5, 6]
    project.add_scores(run.id, [4, 1], Scores(probabilities(2)))
    assert project.unscored_ids(run.id).tolist() == [2, 5, 6]
    assert project.unscored_ids(other.id).tolist() == [1, 2, 4, 5, 6]
    fill(project, ["new", " "])  # appended rows are the only new work
    assert project.unscored_ids(run.id).tolist() == [2, 5, 6, 7]


def test_scores_that_do_not_fit_are_refused(project: Project, labels: tuple[Label, ...]) -> None:
    run = open_run(project, labels)
    good = probabilities(2)
    for ids, p in [
        ([1], good),
        ([1, 2], good[:, :2]),
        ([1, 7], good),
        ([0, 1], good),
        ([1, 2], good * np.nan),
    ]:
        with pytest.raises(ValueError, match=r"probabilit|row"):
            project.add_scores(run.id, ids, Scores(p))
    with pytest.raises(KeyError):
        project.add_scores(99, [1, 2], Scores(good))
    assert project.runs()[0].scored == 0


def test_many_scores_in_short_transactions(
    project: Project, labels: tuple[Label, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(project, labels)
    fill(project, ["more"] * 1_200)
    sizes: list[int] = []
    count = runs._count_scored

    def counting(connection, run_id: int, change: int) -> None:
        sizes.append(change)
        count(connection, run_id, change)

    monkeypatch.setattr(runs, "_count_scored", counting)
    project.add_scores(run.id, range(1, 1_201), Scores(probabilities(1_200)))
    assert sizes == [500, 500, 200]


def test_removed_run_is_gone(project: Project, labels: tuple[Label, ...]) -> None:
    run, other = open_run(project, labels), open_run(project, labels, alias="similarity")
    for each in (run, other):
        project.add_scores(each.id, [1, 2], Scores(probabilities(2)))
    project.remove_run(run.id)
    assert [each.id for each in project.runs()] == [other.id]
    assert project.scores(run.id, [1, 2]) == {}
    assert sorted(project.scores(other.id, [1, 2])) == [1, 2]
    assert project.active_run("sce") is None
    assert project.verify() == []


def test_old_run_keeps_its_labels(project: Project, labels: tuple[Label, ...]) -> None:
    run = open_run(project, labels)
    project.add_scores(run.id, [1], Scores(probabilities(1)))
    project.set_labels([replace(labels[0], name="new"), Label("d")])
    assert project.runs()[0].label_names == NAMES  # stale, and never blank
    assert sorted(project.scores(run.id, [1])) == [1]


def test_the_model_is_kept_with_who_chose_it(path: Path) -> None:
    with Project.create(path) as project:
        assert project.model() == KeptModel()
        project.use_model("sce-multi", chosen=False)
        assert project.model() == KeptModel("sce-multi")
        project.use_model("/models/mine", chosen=True)
    with Project.open(path) as project:
        assert project.model() == KeptModel("/models/mine", chosen=True)
        project.use_model("", chosen=False)
        assert project.model() == KeptModel()
