"""Who gives each row its final label, as the store finds it."""

from __future__ import annotations

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.query import FinalSource, RowOrder, RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.store.runs.final import SOURCES
from tests.store.conftest import fill, use_labels


@pytest.fixture
def filled(project: Project) -> tuple[Project, int, list[int]]:
    """Eight rows, the last without text; rows 1 to 6 are scored, of row 6 the model says that none fits."""
    fill(project, ["one", "two", "three", "four", "five", "six", "seven", None])
    ids = use_labels(project, "a", "b")
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    sure = np.asarray([0.95, 0.9, 0.8, 0.7, 0.6, 0.99], np.float32)
    none = np.asarray([0, 0, 0, 0, 0, 0.9], np.float32)
    project.add_scores(run.id, [1, 2, 3, 4, 5, 6], Scores(np.stack([sure, 1 - sure], axis=1), none))
    return project, run.id, ids


def found(project: Project, run_id: int | None, threshold: float | None = None) -> str:
    ids, codes = project.final_sources(run_id, threshold)
    assert ids.tolist() == [1, 2, 3, 4, 5, 6, 7]  # a row without text has no final label
    return "".join("-AM"[code] for code in codes)


def test_the_annotation_comes_first_then_the_model_then_nobody(
    filled: tuple[Project, int, list[int]],
) -> None:
    project, run_id, labels = filled
    assert [source.value for source in SOURCES] == ["none", "annotator", "model"]
    assert found(project, run_id) == "MMMMM--"
    assert found(project, None) == "-------"
    project.set_threshold(0.75)
    assert found(project, run_id) == "MMM----"
    assert found(project, run_id, 0.65) == "MMMM---"
    project.decide([2, 7], Decision.LABEL, [labels[1]])
    project.decide([5], Decision.NONE)
    project.decide([1], Decision.SKIPPED)
    project.decide([4], Decision.LABEL, [labels[0]], origin=Origin.IMPORTED)
    assert found(project, run_id) == "-AMAA-A"
    project.clear_decision([1])
    assert found(project, run_id) == "MAMAA-A"


def test_a_label_that_is_out_of_use_is_no_final_label(filled: tuple[Project, int, list[int]]) -> None:
    project, run_id, labels = filled
    project.decide([7], Decision.LABEL, [labels[0]])
    label_set = project.label_set()
    assert label_set is not None
    project.set_labels([label for label in label_set.labels if label.name == "b"])
    assert found(project, run_id) == "-------"


def test_several_labels_a_row(project: Project) -> None:
    fill(project, ["one", "two", "three"])
    use_labels(project, "a", "b", multi_label=True)
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels, multi_label=True)
    given = np.asarray([[0.9, 0.8], [0.4, 0.55], [0.2, 0.1]], np.float32)
    project.add_scores(run.id, [1, 2, 3], Scores(given))
    assert "".join("-AM"[code] for code in project.final_sources(run.id)[1]) == "MM-"
    assert "".join("-AM"[code] for code in project.final_sources(run.id, 0.6)[1]) == "M--"


def test_rows_are_found_by_their_source(filled: tuple[Project, int, list[int]]) -> None:
    project, run_id, labels = filled
    project.set_threshold(0.75)
    project.decide([2], Decision.LABEL, [labels[1]])

    def ids(source: FinalSource, **query: object) -> list[int]:
        return project.row_ids(RowQuery(final=source, run_id=run_id, **query)).tolist()  # type: ignore[arg-type]

    assert ids(FinalSource.MODEL) == [1, 3]
    assert ids(FinalSource.ANNOTATOR) == [2]
    assert ids(FinalSource.NONE) == [4, 5, 6, 7]
    assert ids(FinalSource.NONE, order=RowOrder.CONFIDENCE) == [5, 4, 6, 7]
    assert ids(FinalSource.NONE, search="s") == [6, 7]
    assert project.row_ids(RowQuery(final=FinalSource.NONE)).tolist() == [1, 3, 4, 5, 6, 7]
