from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.colours import FIRST_COLOURS, colour_of
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels

FULL = Label("Billing", "money matters", ("invoice", "payment"), "#aa0000", "b")


def test_labels_come_back_as_they_are(project: Project, path: Path) -> None:
    odd = [
        Label(name) for name in ("Food, drink", "C# / .NET", "a|b", '50% "off"', "{x}", "é\u0301 👍", "A > B")
    ]
    made = project.set_labels([FULL, *odd], name="Topics", multi_label=True)
    assert (made.name, made.version, made.multi_label) == ("Topics", 1, True)
    assert made.labels[0] == replace(FULL, id=made.labels[0].id)
    assert [replace(label, id=None, colour="") for label in made.labels[1:]] == odd
    assert len({label.id for label in made.labels}) == 8
    project.close()
    with Project.open(path) as opened:
        assert opened.label_set() == made
        assert opened.label_sets() == (made,)


def test_same_content_makes_no_new_version(project: Project) -> None:  # the same file twice
    first = project.set_labels([Label("a"), FULL])
    assert project.set_labels([Label("a"), FULL]) == first
    assert project.set_labels(first.labels) == first
    assert project.label_sets() == (first,)


@pytest.mark.parametrize(
    "change",
    [
        lambda labels: labels[::-1],
        lambda labels: labels[:1],
        lambda labels: (replace(labels[0], description="x"), labels[1]),
        lambda labels: (replace(labels[0], colour="#000000"), labels[1]),
        lambda labels: (*labels, Label("c")),
    ],
    ids=["order", "removed", "description", "colour", "added"],
)
def test_every_edit_makes_the_next_version(project: Project, change) -> None:
    first = project.set_labels([Label("a"), Label("b")])
    second = project.set_labels(change(first.labels))
    assert (second.name, second.version, second.id != first.id) == (first.name, 2, True)
    assert project.label_set() == second
    assert project.label_sets() == (first, second)


def test_multi_label_stays_unless_given(project: Project) -> None:
    first = project.set_labels([Label("a")], multi_label=True)
    assert project.set_labels([*first.labels, Label("b")]).multi_label
    assert not project.set_labels(first.labels, multi_label=False).multi_label


def test_sets_of_other_names_can_be_switched_between(project: Project) -> None:
    topics = project.set_labels([Label("a"), Label("b")], name="Topics")
    moods = project.set_labels([Label("good"), Label("b")], name="Moods")
    assert (moods.version, moods.labels[1].id) == (1, topics.labels[1].id)  # one label, in two sets
    assert project.set_labels(topics.labels, name="Topics") == topics
    assert project.label_set() == topics


def test_ids_survive_renames(project: Project) -> None:
    first = project.set_labels([Label("a"), Label("b")])
    renamed = replace(first.labels[0], name="A")
    second = project.set_labels([Label("a"), renamed, first.labels[1]])
    assert [label.id for label in second.labels[1:]] == [label.id for label in first.labels]
    assert second.labels[0].id not in {label.id for label in first.labels}  # the name is free for another one


def test_names_may_be_exchanged(project: Project) -> None:
    a, b = project.set_labels([Label("a"), Label("b")]).labels
    second = project.set_labels([replace(a, name="b"), replace(b, name="a")])
    assert [(label.id, label.name) for label in second.labels] == [(a.id, "b"), (b.id, "a")]


@pytest.mark.parametrize(
    "names",
    [("complaint", "x", "complaint"), ("a", " "), ("",), ("A", "A "), ("\nA", "B", "A"), ("a", "\u200b")],
)
def test_equal_and_empty_names_are_refused(project: Project, names: tuple[str, ...]) -> None:
    before = project.set_labels([Label("a"), Label("b")])
    with pytest.raises(UserError, match=r"appears twice|has no name"):
        project.set_labels([Label(name) for name in names])
    assert project.label_set() == before


def test_names_that_only_look_alike_are_kept_as_typed(project: Project) -> None:
    names = ["Billing", "billing ", "BILLING", "Caf\u00e9", "Cafe\u0301"]
    use_labels(project, *names)
    label_set = project.label_set()
    assert label_set is not None
    assert [label.name for label in label_set.labels] == names


def test_a_name_with_other_spaces_is_the_same_label(project: Project) -> None:
    (label, _) = project.set_labels([Label("Late"), Label("b")]).labels
    project.set_labels([Label("b")])
    assert [one.id for one in project.set_labels([Label("b"), Label("Late ")]).labels][1] == label.id
    with pytest.raises(UserError, match="not valid UTF-8"):
        project.set_labels([Label("half \ud83d")])


def test_labels_of_older_projects_that_are_one_now_can_be_merged_one_by_one(project: Project) -> None:
    first = project.set_labels([Label(name) for name in ("A", "A2", "B", "B2")]).labels
    project.close()
    with closing(sqlite3.connect(project.path)) as plain:  # as the rule did not refuse before
        for old, new in (("A2", "A "), ("B2", " B")):
            plain.execute("UPDATE labels SET name = ? WHERE name = ?", (new, old))
            plain.execute(
                "UPDATE label_sets SET labels = replace(labels, ?, ?)", (json.dumps(old), json.dumps(new))
            )
        plain.commit()
    with Project.open(project.path) as again:
        label_set = again.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ["A", "A ", "B", " B"]
        with pytest.raises(UserError, match="twice"):
            again.set_labels([*label_set.labels, Label("A  ")])
        again.merge_labels([first[1].id or 0], first[0].id or 0)
        merged = again.merge_labels([first[3].id or 0], first[2].id or 0)
        assert [label.name for label in merged.labels] == ["A", "B"]


def test_one_id_for_two_labels_is_a_bug(project: Project) -> None:
    (label,) = project.set_labels([Label("a")]).labels
    with pytest.raises(ValueError, match="same id"):
        project.set_labels([label, replace(label, name="b")])


def test_id_of_another_project_means_nothing(project: Project) -> None:
    (label,) = project.set_labels([Label("a", id=4711)]).labels
    assert label.id == 1


# --- deleting a label that rows have


def test_annotations_of_a_removed_label_wait_for_it(project: Project, path: Path) -> None:
    fill(project, ["text"] * 150)
    first = project.set_labels([Label("a"), Label("b")])
    a, b = (label.id for label in first.labels)
    assert a is not None
    assert b is not None
    project.decide(range(1, 101), Decision.LABEL, [a])
    project.decide(range(101, 111), Decision.LABEL, [b])

    project.set_labels(first.labels[1:])
    project.close()
    with Project.open(path) as opened:
        assert opened.verify() == []
        assert opened.annotation_counts() == {b: 10}
        assert opened.state_counts()[RowState.UNLABELLED] == 140
        assert list(opened.annotations(range(1, 151))) == list(range(101, 111))
        unlabelled = opened.row_ids(RowQuery(state=RowState.UNLABELLED)).tolist()
        assert unlabelled == [*range(1, 101), *range(111, 151)]
        assert opened.row_ids(RowQuery(label_ids=(a,))).tolist() == []
        with pytest.raises(ValueError, match="active label set"):
            opened.decide([1], Decision.LABEL, [a])

        opened.decide([1], Decision.LABEL, [b])  # decided anew: the old answer has gone
        again = opened.set_labels([Label("b"), Label("a")])  # typed anew, without ids
        assert [label.id for label in again.labels] == [b, a]
        assert opened.annotation_counts() == {b: 11, a: 99}
        assert opened.verify() == []


def test_row_keeps_its_other_labels(project: Project) -> None:
    fill(project, ["text"])
    labels = project.set_labels([Label("a"), Label("b"), Label("c")], multi_label=True).labels
    ids = [label.id for label in labels if label.id is not None]
    project.decide([1], Decision.LABEL, ids[::-1])
    assert project.annotations([1])[1].label_ids == tuple(ids)  # in the order of the set, not of the clicks
    project.set_labels([labels[2], labels[0]])
    assert project.annotations([1])[1].label_ids == (ids[2], ids[0])
    project.set_labels([labels[1]])
    project.set_labels(labels)
    assert project.annotations([1])[1].label_ids == tuple(ids)


def test_all_labels_may_be_removed(project: Project) -> None:
    use_labels(project, "a")
    label_set = project.set_labels([])
    assert (label_set.labels, project.annotation_counts()) == ((), {})
    assert project.verify() == []


# --- colours


def colours(project: Project) -> dict[str, str]:
    labels = project.label_set()
    return {label.name: label.colour for label in labels.labels} if labels else {}


def test_a_label_keeps_its_colour_as_long_as_it_lives(project: Project) -> None:
    ids = {label.name: label.id for label in project.set_labels([Label(name) for name in "abcdef"]).labels}
    first = colours(project)
    assert list(first.values()) == list(FIRST_COLOURS[:6])
    project.merge_labels([ids["b"]], ids["c"])
    assert colours(project) == {name: first[name] for name in "acdef"}
    project.delete_label(ids["a"])
    project.split_label(ids["d"], [Label("d1"), Label("d2")])
    now = colours(project)
    assert list(now) == ["c", "d1", "d2", "e", "f"]
    assert {name: now[name] for name in "cef"} == {name: first[name] for name in "cef"}
    assert first["d"] not in (now["d1"], now["d2"])  # what has just gone is not taken for what has come
    assert len(set(now.values())) == 5
    for _ in range(3):
        project.undo()
    assert colours(project) == first
    for _ in range(3):
        project.redo()
    assert colours(project) == now


def test_new_labels_take_a_free_colour_and_a_label_that_is_back_its_own(project: Project) -> None:
    project.set_labels([Label(name) for name in "abc"])
    first = colours(project)
    project.set_labels([Label("a"), Label("c")])
    assert colours(project) == {name: first[name] for name in "ac"}  # typed anew, by name alone
    project.set_labels([Label("a"), Label("b"), Label("c")])
    assert colours(project) == first
    project.set_labels([Label("a"), Label("c")])
    project.set_labels([Label("a"), Label("c"), Label("x")])
    assert colours(project)["x"] == first["b"]
    project.set_labels([Label("a"), Label("c"), Label("x"), Label("b")])
    assert len(set(colours(project).values())) == 4


def test_labels_of_an_older_program_keep_the_colour_of_their_id(project: Project, path: Path) -> None:
    a, b, c = project.set_labels([Label(name) for name in "abc"]).labels
    project.close()
    with closing(sqlite3.connect(path)) as plain, plain:
        (stored,) = plain.execute("SELECT labels FROM label_sets").fetchone()
        bare = [label | {"colour": ""} for label in json.loads(stored)]
        plain.execute("UPDATE label_sets SET labels = ?", (json.dumps(bare),))
    with Project.open(path) as opened:
        assert set(colours(opened).values()) == {""}
        before = [colour_of(label) for label in opened.label_set().labels]
        opened.set_labels([*opened.label_set().labels, Label("d")])
        assert opened.undo_text() == "Add label “d”"
        assert list(colours(opened).values())[:3] == before == [a.colour, b.colour, c.colour]
        opened.undo()
        opened.delete_label(a.id)
        assert [colour_of(label) for label in opened.label_set().labels] == before[1:]
