from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label, LabelEffect, Origin, SwitchEffect
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels


@pytest.fixture
def three(project: Project) -> Project:
    """Labels 1 to 3 (a, b, c), several a row; rows 1 to 6."""
    fill(project, [f"text {number}" for number in range(1, 8)])
    use_labels(project, "a", "b", "c", multi_label=True)
    project.decide([1, 2], Decision.LABEL, [1])
    project.decide([3], Decision.LABEL, [2], origin=Origin.BULK)
    project.decide([4], Decision.LABEL, [1, 2], origin=Origin.IMPORTED)
    project.decide([5], Decision.LABEL, [1, 3])
    project.decide([6], Decision.NONE)
    return project


def labels_of(project: Project) -> dict[int, tuple[int, ...]]:
    return {row_id: a.label_ids for row_id, a in project.annotations(range(1, 8)).items()}


def test_previews_count_what_the_edits_touch(three: Project) -> None:
    label_set = three.label_set()
    assert label_set is not None
    run = three.open_run("sce", "sce", "m", "f", label_set.labels)
    three.add_scores(run.id, [1], Scores(np.full((1, 3), 0.5, np.float32)))
    of_a = LabelEffect(rows=4, hand=3, bulk=0, imported=1, overlap=2, runs=1)
    assert three.rename_preview(1) == of_a
    assert three.delete_preview(1) == three.split_preview(1) == of_a
    assert three.delete_preview(1, move_to=2) == replace(of_a, overlap=1)
    assert three.merge_preview([1, 2], 3) == LabelEffect(5, 3, 1, 1, 1, 1)
    with pytest.raises(ValueError, match="not in the active"):
        three.rename_preview(9)


def test_merged_rows_keep_time_and_origin_and_other_labels(three: Project) -> None:
    before = three.annotations(range(1, 8))
    label_set = three.merge_labels([1, 2], 2)
    assert [(label.id, label.name, label.synonyms) for label in label_set.labels] == [
        (2, "b", ("a",)),
        (3, "c", ()),
    ]
    assert labels_of(three) == {1: (2,), 2: (2,), 3: (2,), 4: (2,), 5: (2, 3), 6: ()}
    for row_id, annotation in three.annotations(range(1, 8)).items():
        assert replace(annotation, label_ids=before[row_id].label_ids) == before[row_id]
    assert three.undo() is not None
    assert three.annotations(range(1, 8)) == before


def test_merging_with_itself_does_nothing(three: Project) -> None:
    before = three.undo_text()
    three.merge_labels([1], 1)
    assert three.undo_text() == before


def test_deleted_label_leaves_its_rows_unlabelled_and_tells_what_they_were(three: Project) -> None:
    three.delete_label(1)
    assert labels_of(three) == {3: (2,), 4: (2,), 5: (3,), 6: ()}
    assert three.row_ids(RowQuery(state=RowState.UNLABELLED)).tolist() == [1, 2, 7]
    assert three.former_labels(range(1, 8)) == {1: ("a",), 2: ("a",), 4: ("a",), 5: ("a",)}
    change = three.undo()
    assert change is not None
    assert (change.row_ids, change.labels) == ((1, 2, 4, 5), (1,))
    assert labels_of(three)[5] == (1, 3)


def test_label_cannot_be_deleted_in_favour_of_itself_or_a_stranger(three: Project) -> None:
    for target in (1, 9):
        with pytest.raises(ValueError, match="label"):
            three.delete_label(1, move_to=target)
    assert len(labels_of(three)) == 6


def test_split_rows_wait_until_they_are_decided_anew(three: Project) -> None:
    label_set = three.split_label(1, [Label("a early"), Label("a late")])
    assert [label.name for label in label_set.labels] == ["a early", "a late", "b", "c"]
    queue = RowQuery(former_ids=(1,))
    assert three.row_ids(queue).tolist() == [1, 2, 4, 5]
    early = label_set.labels[0].id
    assert early is not None
    three.decide([1], Decision.LABEL, [early])
    three.decide([4], Decision.NONE)
    assert three.row_ids(queue).tolist() == [2, 5]
    three.undo()
    assert three.row_ids(queue).tolist() == [2, 4, 5]


@pytest.mark.parametrize(
    ("parts", "told"), [(["a", "x"], "other names"), (["x", "b"], "twice"), ([], "no parts to split into")]
)
def test_split_into_known_names_is_refused_and_changes_nothing(
    three: Project, parts: list[str], told: str
) -> None:
    before = three.label_set(), labels_of(three), three.undo_text()
    with pytest.raises(UserError, match=told):
        three.split_label(1, [Label(name) for name in parts])
    assert (three.label_set(), labels_of(three), three.undo_text()) == before


def test_annotations_survive_a_switch_where_ids_are_the_same(three: Project) -> None:
    first = three.label_set()
    assert first is not None
    second = three.set_labels([first.labels[0], Label("new")], name="Other", multi_label=True)
    assert (second.name, second.version) == ("Other", 1)
    assert labels_of(three) == {1: (1,), 2: (1,), 4: (1,), 5: (1,), 6: ()}
    assert three.use_label_set(first.id) == first
    assert labels_of(three)[4] == (1, 2)
    assert three.undo_text() == "Use “Labels” 1"
    three.undo()
    assert three.label_set() == second
    with pytest.raises(KeyError):
        three.use_label_set(99)
    assert three.label_set() == second


def test_switching_back_brings_the_old_name_back(three: Project) -> None:
    first = three.label_set()
    assert first is not None
    three.set_labels([replace(first.labels[0], name="x"), *first.labels[1:]])
    three.use_label_set(first.id)
    assert three.verify() == []
    typed_anew = three.set_labels([Label("a")])
    assert typed_anew.labels[0].id == 1


def test_what_another_version_would_hide_is_counted(three: Project) -> None:
    full = three.label_set()
    assert full is not None
    for labels, expected in ((full.labels[:1], SwitchEffect(3, 0)), (full.labels[1:], SwitchEffect(4, 0))):
        other = three.set_labels(labels)
        three.use_label_set(full.id)
        assert three.use_preview(other.id) == expected
    three.use_label_set(other.id)
    assert three.use_preview(full.id) == SwitchEffect(0, 0)
    with pytest.raises(KeyError):
        three.use_preview(99)


def test_rows_with_several_labels_keep_a_set_from_allowing_one(three: Project) -> None:
    before = three.label_set(), labels_of(three), three.undo_text()
    assert before[0] is not None
    labels = before[0].labels
    with pytest.raises(
        UserError, match=r"^2 rows have several labels: reduce each of them to one label first"
    ):
        three.set_labels(labels, multi_label=False)
    assert (three.label_set(), labels_of(three), three.undo_text()) == before
    assert three.row_ids(RowQuery(state=RowState.SEVERAL)).tolist() == [4, 5]
    assert three.state_counts()[RowState.SEVERAL] == 2
    with pytest.raises(UserError, match=r"^1 row has several labels: reduce it to one label first\.$"):
        three.set_labels(labels[:2], name="Other", multi_label=False)
    three.decide([4], Decision.LABEL, [1])
    one = three.set_labels(labels[:2], multi_label=False)
    assert not one.multi_label
    assert labels_of(three) == {1: (1,), 2: (1,), 3: (2,), 4: (1,), 5: (1,), 6: ()}
    with pytest.raises(UserError, match=r"^1 row has several labels"):  # they come back with the label
        three.set_labels([*one.labels, Label("c")])
    assert three.set_labels([*one.labels, Label("new")]).labels[-1].name == "new"


def test_a_version_of_one_label_a_row_is_refused_while_rows_have_several(project: Project) -> None:
    fill(project, ["one", "two"])
    use_labels(project, "a", "b")
    one = project.label_set()
    assert one is not None
    several = project.set_labels(one.labels, multi_label=True)
    project.decide([1], Decision.LABEL, [1, 2])
    with pytest.raises(UserError, match=r"^1 row has several labels"):
        project.use_label_set(one.id)
    assert project.label_set() == several
    project.decide([1], Decision.LABEL, [2])
    assert project.use_label_set(one.id) == one
    for _ in range(3):  # the version, the decisions
        project.undo()
    assert project.label_set() == several
    for _ in range(3):
        project.redo()
    assert project.label_set() == one


def test_a_project_that_lost_sight_of_second_labels_can_be_edited(three: Project) -> None:
    """An earlier program let a set become one of one label while rows had several."""
    label_set = three.label_set()
    assert label_set is not None
    with three._database.write() as connection:
        connection.exec_driver_sql("UPDATE label_sets SET multi_label = 0")
    labels = [replace(label, name=f"{label.name}!") for label in label_set.labels]
    assert [label.name for label in three.set_labels(labels).labels] == ["a!", "b!", "c!"]
    three.delete_label(2)
