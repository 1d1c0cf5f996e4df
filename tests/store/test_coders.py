from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import RowQuery
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels


@pytest.fixture
def coded(project: Project) -> Project:
    """Labels 1 (Billing) and 2 (Other); rows 1 to 6."""
    fill(project, [f"text {number}" for number in range(1, 7)])
    use_labels(project, "Billing", "Other", multi_label=True)
    project.decide([1, 2], Decision.LABEL, [1])
    project.decide([3], Decision.LABEL, [1, 2])
    project.decide([4], Decision.NONE)
    project.decide([5], Decision.SKIPPED)
    return project


def test_answers_are_labels_names_or_none_of_these(coded: Project) -> None:
    coder = coded.add_coder("Ann", "ann.csv", {1: "Billing", 2: "billing ", 3: ["Other", "Billing"], 6: None})
    assert (coder.name, coder.source, coder.rows) == ("Ann", "ann.csv", 4)
    assert coded.coders() == (coder,)
    assert coded.coder_answers(coder.id) == {
        1: frozenset({1}),
        2: frozenset({"billing "}),
        3: frozenset({1, 2}),
        6: frozenset(),
    }
    assert coded.coder_answers(0) == {
        1: frozenset({1}),
        2: frozenset({1}),
        3: frozenset({1, 2}),
        4: frozenset(),
    }
    assert coded.annotations([6]) == {}  # no annotation of the user's


def test_answers_follow_renames_and_merges(coded: Project) -> None:
    coder = coded.add_coder("gold", "column gold", {1: "Billing", 2: "billing ", 3: "Refund"})
    label_set = coded.label_set()
    assert label_set is not None
    billing, other = label_set.labels
    coded.set_labels([replace(billing, name="Invoices"), other, Label("billing "), Label("Refund")])
    assert coded.coder_answers(coder.id) == {1: {1}, 2: {3}, 3: {4}}
    coded.merge_labels([3, 4], 1)
    assert coded.coder_answers(coder.id) == {1: {1}, 2: {1}, 3: {1}}
    coded.merge_labels([1], 2)
    assert coded.coder_answers(coder.id) == {1: {2}, 2: {2}, 3: {2}}
    coded.undo()
    assert coded.coder_answers(coder.id)[1] == {1}


def test_disagreements_are_a_filter_and_adjudication_a_decision(coded: Project) -> None:
    ann = coded.add_coder("Ann", "", {1: "Other", 2: "Billing", 4: "Other", 5: "Other", 6: "Other"})
    bob = coded.add_coder("Bob", "", {3: ["Billing", "Other"], 5: "Billing", 6: "Other"})
    assert coded.row_ids(RowQuery(disagreeing=(0, ann.id))).tolist() == [1, 4]
    assert coded.row_ids(RowQuery(disagreeing=(0, bob.id))).tolist() == []
    assert coded.row_ids(RowQuery(disagreeing=(ann.id, bob.id))).tolist() == [5]
    assert coded.row_ids(RowQuery(disagreeing=(0, ann.id, bob.id))).tolist() == [1, 4, 5]
    coded.decide([1], Decision.LABEL, [2])
    assert coded.row_ids(RowQuery(disagreeing=(0, ann.id))).tolist() == [4]


def test_name_is_taken_until_the_coder_is_removed(coded: Project, path: Path) -> None:
    coder = coded.add_coder("Ann", "", {1: "Other"})
    with pytest.raises(UserError, match="already"):
        coded.add_coder("Ann", "", {2: "Other"})
    with pytest.raises(UserError, match="Enter a name for the annotator"):
        coded.add_coder(" ", "", {2: "Other"})
    for answers in ({}, {0: "Other"}, {7: "Other"}):
        with pytest.raises(ValueError, match="no such row"):
            coded.add_coder("Bob", "", answers)
    coded.remove_coder(coder.id)
    assert coded.coders() == ()
    with pytest.raises(KeyError):
        coded.coder_answers(coder.id)
    assert coded.undo_text() == "Remove labels of Ann"
    coded.close()
    with Project.open(path) as again:
        again.undo()
        assert again.coders() == (coder,)
        assert again.coder_answers(coder.id) == {1: {2}}


def test_repair_brings_coders_and_samples_over(coded: Project, tmp_path: Path) -> None:
    kept = coded.add_coder("Ann", "", {1: "Other"})
    coded.remove_coder(coded.add_coder("Bob", "", {1: "Other"}).id)
    audit = coded.create_audit([5, 2], 1)
    coded.close()
    assert Project.repair_file(coded.path, tmp_path / "copy.sce").problems == ()
    with Project.open(tmp_path / "copy.sce") as copy:
        assert copy.coders() == (kept,)
        assert copy.coder_answers(kept.id) == {1: {2}}
        assert copy.audits() == (audit,)
        assert copy.audit_rows(audit.id).tolist() == [5, 2]
        assert copy.verify() == []
