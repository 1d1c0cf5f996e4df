from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.labels import (
    MOST_VALUES,
    column_labels,
    merge_labels,
    report_merged,
    report_unmerged,
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(str(n), f"text {n}", ("Billing", " label ", "", None)[n % 4]) for n in range(20)]
        project.add_rows(["id", "text", "gold"], [rows], text_columns=[1], source={})
        yield project


def test_values_of_a_column_in_order_of_appearance(project: Project) -> None:
    """Spaces are kept, nothing is split."""
    assert column_labels(project, 2, progress=SilentProgress()) == [
        (Label("Billing"), 5),
        (Label(" label "), 5),
    ]


def test_columns_of_anything_or_nothing_are_refused(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(str(n), "") for n in range(MOST_VALUES + 1)]
        project.add_rows(["id", "empty"], [rows], text_columns=[0], source={})
        for column in (0, 1):
            with pytest.raises(UserError, match="choose another column"):
                column_labels(project, column, progress=SilentProgress())


def test_merging_moves_answers_with_time_and_origin(project: Project) -> None:
    a, b, c = (label.id for label in project.set_labels([Label("A"), Label("B"), Label("C")]).labels)
    assert a is not None
    assert b is not None
    assert c is not None
    project.decide([1, 2], Decision.LABEL, [a])
    project.decide([3], Decision.LABEL, [b], origin=Origin.IMPORTED)
    project.decide([4], Decision.NONE)
    before = project.annotations([3])[3]
    merged = merge_labels(project, {b: a, c: a}, progress=SilentProgress())
    assert merged is not None
    assert [label.name for label in merged.labels] == ["A"]
    after = project.annotations([1, 2, 3, 4])
    assert [after[row].label_ids for row in (1, 2, 3, 4)] == [(a,), (a,), (a,), ()]
    assert (after[3].decided_at, after[3].origin) == (before.decided_at, Origin.IMPORTED)
    assert merge_labels(project, {b: a}, progress=SilentProgress()) == merged


def test_merging_of_several_labels_a_row_keeps_each_once(project: Project) -> None:
    a, b = (label.id for label in project.set_labels([Label("A"), Label("B")], multi_label=True).labels)
    assert a is not None
    assert b is not None
    project.decide([1], Decision.LABEL, [a, b])
    merge_labels(project, {b: a}, progress=SilentProgress())
    assert project.annotations([1])[1].label_ids == (a,)


def test_a_label_that_goes_cannot_take_over(project: Project) -> None:
    a, b = (label.id for label in project.set_labels([Label("A"), Label("B")]).labels)
    assert a is not None
    assert b is not None
    with pytest.raises(ValueError, match="must stay"):
        merge_labels(project, {a: b, b: a}, progress=SilentProgress())


def test_merged_names_are_reported_with_what_nobody_sees_in_them() -> None:
    progress = SilentProgress()
    report_merged(dict.fromkeys(("late", "Late", "late\u200b"), "late"), progress)
    assert progress.warnings == [r"Merged into the label “late”: “Late”, “late\u200b”."]


@pytest.mark.parametrize(
    ("names", "told"), [(["late", "Late"], 1), (["late", " late "], 0), (["late", "lost"], 0), ([], 0)]
)
def test_how_to_merge_is_reported_where_there_is_something_to_merge(names: list[str], told: int) -> None:
    progress = SilentProgress()
    report_unmerged(names, progress)
    assert len(progress.warnings) == told
