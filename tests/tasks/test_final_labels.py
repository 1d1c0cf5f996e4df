from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.errors import UserError
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.annotators import GOLD
from sce_desktop.tasks.evaluation.final_labels import error_text, final_labels
from tests.tasks.finals import audit, scored_project


@pytest.fixture
def made(tmp_path: Path) -> Iterator[tuple[Project, np.ndarray]]:
    project, gold = scored_project(tmp_path / "p.sce")
    with project:
        yield project, gold


def test_without_evidence_rows_are_counted_and_nothing_is_promised(made: tuple[Project, np.ndarray]) -> None:
    project, _gold = made
    found = final_labels(project)
    model, review = found.counts(0.9)
    assert (found.rows, found.annotated, model + review) == (600, 0, 600)
    assert 0 < model < 600
    assert found.audited is None
    assert found.why == "No error can be told yet: label an audit sample, or import gold labels."
    assert found.summary(0.9) == f"{model} rows labelled by the model, {review} to review."


def test_an_audit_sample_promises_an_error_that_is_kept(made: tuple[Project, np.ndarray]) -> None:
    project, gold = made
    audit(project, gold, 200)
    found = final_labels(project)
    assert found.audited is not None
    assert (found.audited.basis, found.audited.rows, found.annotated) == ("audit", 200, 200)
    assert len(found.audited.predictions.frame) == 600
    assert len(found.audited.predictions.open) == 400
    assert len(found.audited.predictions.corrected) == found.audited.predictions.wrong.sum()
    point = found.audited.choose(0.3)
    ids, codes = project.final_sources(1, point.threshold)
    by_model = ids[codes == 2]
    assert (len(by_model), len(ids[codes == 1])) == (point.rows, 200)
    assert 0 < gold[by_model - 1].mean() <= 0.3
    assert found.counts(point.threshold) == (point.rows, point.review)
    assert (
        f"{point.rows} rows labelled by the model, {point.review} to review; error at most "
        in found.summary(point.threshold, 0.3)
    )
    assert found.summary(point.threshold, 0.3).endswith(" (95% confidence, 200 audited rows).")


def test_too_few_audited_rows_are_refused_with_the_number_that_lacks(
    made: tuple[Project, np.ndarray],
) -> None:
    project, gold = made
    audit(project, np.zeros_like(gold), 100, labelled=40)
    found = final_labels(project)
    assert found.audited is not None
    with pytest.raises(UserError) as refused:
        found.audited.choose(0.05)
    assert str(refused.value) == (
        "60 audited rows without a mistake are the least for an error of 5%: label 20 more."
    )
    assert found.notes == ("60 rows of the audit sample are still to be labelled.",)
    assert found.audited.choose(0.1).threshold == 0.0


def test_too_many_mistakes_are_refused(made: tuple[Project, np.ndarray]) -> None:
    project, gold = made
    audit(project, np.ones_like(gold), 150)
    found = final_labels(project)
    assert found.audited is not None
    with pytest.raises(UserError, match=r"^No confidence threshold keeps the error at 10% or less: of 150 "):
        found.audited.choose(0.1)


def test_gold_for_every_row_is_exact(made: tuple[Project, np.ndarray]) -> None:
    project, gold = made
    label_set = project.label_set()
    assert label_set is not None
    names = [label_set.labels[place].name for place in gold]
    project.add_coder(GOLD, "topic", {n + 1: [name] for n, name in enumerate(names)})
    found = final_labels(project)
    assert found.audited is not None
    assert (found.audited.basis, found.audited.curve.exact, found.annotated) == ("gold", True, 0)
    assert found.audited.curve.at(0).high == pytest.approx(gold.mean())
    error = error_text(float(gold.mean()))
    assert found.summary(0.0).endswith(f"0 to review; error {error} (gold labels for every row).")
    project.decide([1, 2], Decision.LABEL, [label_set.labels[0].id or 0])
    assert final_labels(project).counts(0.0) == (598, 0)


def test_gold_for_some_rows_is_a_sample_if_they_are_a_random_one(made: tuple[Project, np.ndarray]) -> None:
    project, gold = made
    some = np.random.default_rng(3).choice(600, 150, replace=False)
    names = ("late", "damaged")
    project.add_coder(GOLD, "topic", {int(n) + 1: [names[gold[n]]] for n in some})
    found = final_labels(project)
    assert found.audited is not None
    assert (found.audited.basis, found.audited.curve.exact) == ("gold", False)
    assert len(found.audited.predictions.open) == 600  # gold labels are for evaluation: rows stay open
    assert len(found.audited.predictions.corrected) == 0
    assert "random sample" in found.notes[0]
    assert found.summary(0.0).endswith("(95% confidence, 150 gold labels).")


def test_a_gold_label_that_is_no_label_here_and_none_of_these_are_errors(
    made: tuple[Project, np.ndarray],
) -> None:
    project, _gold = made
    project.add_coder(GOLD, "topic", {1: ["lost"], 2: [], 3: ["late"], 4: ["damaged"]})
    found = final_labels(project)
    assert found.audited is not None
    assert found.audited.predictions.wrong.tolist() == [True, True, False, True]


def test_labels_in_bulk_and_imported_ones_are_the_annotators_but_prove_nothing(
    made: tuple[Project, np.ndarray],
) -> None:
    project, gold = made
    audit(project, gold, 100)
    before = final_labels(project)
    open_rows = np.flatnonzero(project.final_sources(1, 0.0)[1] == 2)[:50] + 1
    label_set = project.label_set()
    assert label_set is not None
    other = label_set.labels[1].id or 0
    project.decide(open_rows[:25], Decision.LABEL, [other], origin=Origin.BULK)
    project.decide(open_rows[25:], Decision.LABEL, [other], origin=Origin.IMPORTED)
    after = final_labels(project)
    assert before.audited is not None
    assert after.audited is not None
    assert after.annotated == before.annotated + 50
    assert len(after.audited.predictions.corrected) == len(before.audited.predictions.corrected)
    assert after.audited.curve.at(0).high >= before.audited.curve.at(0).high


def test_rows_that_came_after_the_draw_are_not_covered(made: tuple[Project, np.ndarray]) -> None:
    project, gold = made
    audit(project, gold, 100)
    project.add_rows(("ref", "text"), [[("new", "new text")] * 3], text_columns=[1], source={})
    fresh = np.asarray([[0.9, 0.1]] * 3, np.float32)
    project.add_scores(1, [601, 602, 603], Scores(fresh))
    found = final_labels(project)
    assert found.notes[-1] == (
        "3 rows that the model can label are not covered: draw a new audit sample to include them."
    )
    assert found.counts(0.0) == (503, 0)


def test_several_labels_a_row_are_refused(tmp_path: Path) -> None:
    with Project.create(tmp_path / "m.sce") as project:
        project.add_rows(("text",), [[("one",), ("two",)]], text_columns=[0], source={})
        labels = project.set_labels([Label("a"), Label("b")], multi_label=True).labels
        found = final_labels(project)
        assert found.why == "Nothing is scored yet: press Score first."
        run = project.open_run("sce", "sce", "m", "f", labels, multi_label=True)
        project.add_scores(run.id, [1, 2], Scores(np.asarray([[0.9, 0.8], [0.1, 0.2]], np.float32)))
        found = final_labels(project)
        assert found.audited is None
        assert (
            found.why == "An error can be promised only where a row has one label: here it may have several."
        )
        assert found.counts(0.5) == (1, 1)


def test_errors_are_rounded_up() -> None:
    assert error_text(0.05) == "5%"
    assert error_text(0.0481) == "4.9%"
    assert error_text(0.0) == "0%"
    assert error_text(0.1234) == "12.4%"


def test_a_skipped_row_is_to_be_reviewed(made: tuple[Project, np.ndarray]) -> None:
    project, gold = made
    audit(project, gold, 60)
    ids, codes = project.final_sources(1, 0.0)
    project.decide([int(ids[codes == 2][0])], Decision.SKIPPED)
    found = final_labels(project)
    assert found.counts(0.0)[1] == 1
    assert sum(found.counts(0.0)) + found.annotated == found.rows
