"""B18, B19: whatever a user does is taken back and done again, also after a restart."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sce_desktop.core.types import Annotation, ChangeKind, Decision, Label, LabelSet, Origin, RowMarks
from sce_desktop.store import history
from sce_desktop.store.project import Project
from sce_desktop.store.query import RowQuery, RowState
from tests.store.conftest import fill, use_labels
from tests.store.test_crash import START, run_until_death
from tests.store.test_versions import add as add_version

ROWS = 8
row_sets = st.sets(st.integers(1, ROWS), min_size=1, max_size=5).map(sorted)
fresh_names = st.sampled_from(["red", "green", "blue", "grün", "Red > dark", "50%", "a, b"])


@dataclass
class World:
    """All that a user has said, in plain Python. Annotations keep labels that are out of use."""

    label_set: LabelSet | None = None
    annotations: dict[int, Annotation] = field(default_factory=dict)
    marks: dict[int, RowMarks] = field(default_factory=dict)
    audits: list[list[int]] = field(default_factory=list)
    coders: dict[str, dict[int, str | None]] = field(default_factory=dict)
    version: int | None = None


def in_use(world: World) -> dict[int, Label]:
    return {label.id: label for label in world.label_set.labels if label.id} if world.label_set else {}


class UndoMachine(RuleBasedStateMachine):
    """Does the same to a project and to a `World`."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.path = self.folder / f"p{len(list(self.folder.iterdir()))}.sce"
        self.project = Project.create(self.path)
        fill(self.project, [f"text {number}" for number in range(ROWS)])
        self.versions = [add_version(self.project).id for _ in range(2)]
        self.world = World()
        self.past: list[World] = []
        self.future: list[World] = []

    def teardown(self) -> None:
        self.project.close()

    def act(self, change: Callable[[World], Any]) -> None:
        """Change the world by an action that can be undone."""
        self.past.append(copy.deepcopy(self.world))
        self.future.clear()
        change(self.world)

    def use(self, label_set: LabelSet) -> None:
        """Note that the project uses another label set, if it is another one."""
        before = self.world.label_set
        if before is None or before.id != label_set.id:
            self.act(lambda world: setattr(world, "label_set", label_set))

    def a_label(self, data: st.DataObject) -> Label:
        assert self.world.label_set is not None
        return data.draw(st.sampled_from(self.world.label_set.labels))

    def has_labels(self, count: int = 1) -> bool:
        return self.world.label_set is not None and len(self.world.label_set.labels) >= count

    # --- deciding

    @precondition(has_labels)
    @rule(
        data=st.data(), rows=row_sets, origin=st.sampled_from(Origin), queue=st.sampled_from(["", "random"])
    )
    def decide(self, data: st.DataObject, rows: list[int], origin: Origin, queue: str) -> None:
        assert self.world.label_set is not None
        ids = [self.a_label(data).id]
        if self.world.label_set.multi_label:
            ids = list(dict.fromkeys([*ids, self.a_label(data).id]))
        self.decided(rows, Decision.LABEL, [id_ for id_ in ids if id_], origin, queue)

    @rule(rows=row_sets, decision=st.sampled_from([Decision.NONE, Decision.SKIPPED]))
    def decide_without_label(self, rows: list[int], decision: Decision) -> None:
        self.decided(rows, decision, [], Origin.HAND, "file")

    def decided(
        self, rows: list[int], decision: Decision, ids: list[int], origin: Origin, queue: str
    ) -> None:
        self.project.decide(rows, decision, ids, origin=origin, queue=queue)
        moment = self.project.annotations(rows)[rows[0]].decided_at
        new = {row: Annotation(row, decision, tuple(ids), origin, moment, queue) for row in rows}
        self.act(lambda world: world.annotations.update(new))

    @rule(rows=row_sets)
    def clear(self, rows: list[int]) -> None:
        self.project.clear_decision(rows)
        if set(rows) & set(self.world.annotations):
            self.act(lambda world: [world.annotations.pop(row, None) for row in rows])

    @rule(
        rows=row_sets,
        unsure=st.none() | st.booleans(),
        flag=st.none() | st.booleans(),
        note=st.none() | st.sampled_from(["", "mind", "日本"]),
    )
    def mark(self, rows: list[int], unsure: bool | None, flag: bool | None, note: str | None) -> None:
        wanted = {"unsure": unsure, "flag": flag, "note": note}
        told = self.project.mark_rows(rows, unsure=unsure, flag=flag, note=note)
        changes: dict[str, Any] = {key: value for key, value in wanted.items() if value is not None}
        old = {row: self.world.marks.get(row, RowMarks(row)) for row in rows}
        new = {row: replace(was, **changes) for row, was in old.items()}
        assert told == new
        if new != old:
            self.act(lambda world: world.marks.update(new))

    # --- labels

    @rule(name=fresh_names)
    def add_label(self, name: str) -> None:
        labels = list(in_use(self.world).values())
        if name not in [label.name for label in labels]:
            self.use(self.project.set_labels([*labels, Label(name)]))

    @precondition(has_labels)
    @rule(data=st.data(), name=fresh_names, colour=st.sampled_from(["", "#112233"]))
    def edit_label(self, data: st.DataObject, name: str, colour: str) -> None:
        label = self.a_label(data)
        labels = in_use(self.world)
        if name not in [other.name for other in labels.values()]:
            edited = replace(label, name=name, colour=colour)
            self.use(
                self.project.set_labels([edited if other is label else other for other in labels.values()])
            )

    @precondition(has_labels)
    @rule(data=st.data(), multi=st.booleans())
    def reorder(self, data: st.DataObject, multi: bool) -> None:
        labels = data.draw(st.permutations(list(in_use(self.world).values())))
        self.use(self.project.set_labels(labels, multi_label=multi))

    @precondition(lambda self: self.has_labels(2))
    @rule(data=st.data(), synonyms=st.booleans())
    def merge(self, data: st.DataObject, synonyms: bool) -> None:
        into, *going = data.draw(st.permutations(list(in_use(self.world).values())))[
            : data.draw(st.integers(2, 3))
        ]
        ids = {label.id for label in going}
        assert into.id is not None
        before = self.project.merge_preview([label.id for label in going if label.id], into.id)
        assert before.rows == sum(bool(ids & set(a.label_ids)) for a in self.world.annotations.values())
        after = self.project.merge_labels(
            [label.id for label in going if label.id], into.id, synonyms=synonyms
        )

        def change(world: World) -> None:
            self.moved(world, ids, into.id)
            world.label_set = after

        self.act(change)
        (merged,) = [label for label in after.labels if label.id == into.id]
        gone = {word for label in going for word in label.wordings} if synonyms else set()
        assert set(merged.synonyms) == (set(into.synonyms) | gone) - {merged.name}
        assert not ids & {label.id for label in after.labels}

    @precondition(has_labels)
    @rule(data=st.data(), move=st.booleans())
    def delete(self, data: st.DataObject, move: bool) -> None:
        label, *others = data.draw(st.permutations(list(in_use(self.world).values())))
        target = others[0].id if move and others else None
        assert label.id is not None
        after = self.project.delete_label(label.id, move_to=target)

        def change(world: World) -> None:
            if target is not None:
                self.moved(world, {label.id}, target)
            world.label_set = after

        self.act(change)
        assert [other.id for other in after.labels] == [i for i in in_use(self.past[-1]) if i != label.id]

    @precondition(has_labels)
    @rule(data=st.data())
    def split(self, data: st.DataObject) -> None:
        label = self.a_label(data)
        names = {other.name for other in in_use(self.world).values()}
        parts = [Label(name) for name in (f"{label.name} 1", f"{label.name} 2")]
        if names & {part.name for part in parts}:
            return
        assert label.id is not None
        after = self.project.split_label(label.id, parts)
        self.act(lambda world: setattr(world, "label_set", after))
        waiting = [row for row, a in sorted(self.world.annotations.items()) if label.id in a.label_ids]
        assert self.project.row_ids(RowQuery(former_ids=(label.id,))).tolist() == waiting

    @precondition(has_labels)
    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(self.project.label_sets()))
        self.use(self.project.use_label_set(chosen.id))

    @staticmethod
    def moved(world: World, going: set[int | None], into: int | None) -> None:
        for row, a in world.annotations.items():
            if going & set(a.label_ids):
                ids = [into if id_ in going else id_ for id_ in a.label_ids]
                world.annotations[row] = replace(a, label_ids=tuple(dict.fromkeys(i for i in ids if i)))

    # --- samples, coders, versions

    @rule(rows=row_sets)
    def draw_sample(self, rows: list[int]) -> None:
        self.project.create_audit(rows[::-1], seed=1)
        self.act(lambda world: world.audits.append(rows[::-1]))

    @rule(rows=row_sets, said=st.none() | fresh_names, name=st.sampled_from(["gold", "Ann"]))
    def add_or_remove_coder(self, rows: list[int], said: str | None, name: str) -> None:
        if name in self.world.coders:
            (coder,) = [coder for coder in self.project.coders() if coder.name == name]
            self.project.remove_coder(coder.id)
            self.act(lambda world: world.coders.pop(name))
        else:
            self.project.add_coder(name, "a file", dict.fromkeys(rows, said))
            self.act(lambda world: world.coders.update({name: dict.fromkeys(rows, said)}))

    @rule(place=st.none() | st.integers(0, 1))
    def activate(self, place: int | None) -> None:
        version = None if place is None else self.versions[place]
        self.project.activate_version(version)
        if version != self.world.version:
            self.act(lambda world: setattr(world, "version", version))

    # --- there and back

    @rule()
    def undo(self) -> None:
        self.turn(self.project.undo, self.past, self.future)

    @rule()
    def redo(self) -> None:
        self.turn(self.project.redo, self.future, self.past)

    def turn(self, way: Callable[[], Any], source: list[World], target: list[World]) -> None:
        change = way()
        assert (change is None) == (not source)
        if change is None:
            return
        before = self.world
        target.append(before)
        self.world = source.pop()
        told = set(change.row_ids)
        for row in range(1, ROWS + 1):
            if before.annotations.get(row) != self.world.annotations.get(row):
                assert row in told
            if before.marks.get(row, RowMarks(row)) != self.world.marks.get(row, RowMarks(row)):
                assert row in told
        old, new = in_use(before), in_use(self.world)
        assert set(change.labels) == {id_ for id_ in {*old, *new} if old.get(id_) != new.get(id_)}
        assert change.label_set == (before.label_set != self.world.label_set)

    @rule()
    def reopen(self) -> None:
        self.project.close()
        self.project = Project.open(self.path)

    @invariant()
    def both_say_the_same(self) -> None:
        project, world = self.project, self.world
        ids = range(1, ROWS + 1)
        used = in_use(world)
        shown, former = {}, {}
        for row, a in world.annotations.items():
            kept = [label_id for label_id in used if label_id in a.label_ids]
            if a.decision is not Decision.LABEL or kept:
                shown[row] = replace(a, label_ids=tuple(kept))
            if len(kept) < len(a.label_ids):
                former[row] = len(a.label_ids) - len(kept)
        assert project.label_set() == world.label_set
        assert project.annotations(ids) == shown
        assert {row: len(names) for row, names in project.former_labels(ids).items()} == former
        assert project.marks(ids) == {row: m for row, m in world.marks.items() if m != RowMarks(row)}
        assert project.state_counts()[RowState.UNLABELLED] == ROWS - len(shown)
        assert [project.audit_rows(audit.id).tolist() for audit in project.audits()] == world.audits
        known = {coder.name: set(project.coder_answers(coder.id)) for coder in project.coders()}
        assert known == {name: set(said) for name, said in world.coders.items()}
        active = project.active_version()
        assert (active and active.id) == world.version
        assert (bool(project.undo_text()), bool(project.redo_text())) == (bool(self.past), bool(self.future))
        assert project.verify() == []


def test_anything_is_taken_back_and_done_again(tmp_path: Path) -> None:
    machine = type("Machine", (UndoMachine,), {"folder": tmp_path})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=40,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_first_decision_is_untouched_after_undo_and_restart(project: Project, path: Path) -> None:
    """B19: label row 1, go to row 2, Ctrl+Z, close, reopen; bulk is one step; redo works."""
    fill(project, ["one", "two", "three", "four"])
    a, b = use_labels(project, "a", "b")
    project.decide([1], Decision.LABEL, [a])
    assert project.undo_text() == "Label “a”"
    change = project.undo()
    assert change is not None
    assert (change.kind, change.row_ids, change.label_set) == (ChangeKind.DECIDE, (1,), False)
    project.close()
    with Project.open(path) as again:
        assert again.annotations([1, 2]) == {}
        assert again.redo_text() == "Label “a”"
        again.decide([1, 2, 3], Decision.LABEL, [b], origin=Origin.BULK)
        assert again.redo_text() == ""
        assert again.redo() is None
        assert again.undo_text() == "Label “b”, 3 rows"
        change = again.undo()
        assert change is not None
        assert (change.kind, change.rows, again.annotations([1, 2, 3])) == (ChangeKind.BULK, 3, {})
        assert again.redo() == change
        assert len(again.annotations([1, 2, 3])) == 3


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda p: p.set_labels([*p.label_set().labels, Label("c")]), "Add label “c”"),
        (lambda p: p.set_labels(p.label_set().labels[:1]), "Remove label “b”"),
        (lambda p: p.set_labels(p.label_set().labels[::-1]), "Reorder labels"),
        (lambda p: p.set_labels([replace(p.label_set().labels[0], name="x")], name=None), "Change labels"),
        (lambda p: p.merge_labels([2], 1), "Merge “b” into “a”"),
        (lambda p: p.delete_label(2), "Delete label “b”"),
        (lambda p: p.split_label(2, [Label("c"), Label("d")]), "Split label “b”"),
        (lambda p: p.mark_rows([1, 2], flag=True), "Flag, 2 rows"),
        (lambda p: p.set_marks(1, note="x"), "Note"),
        (lambda p: p.clear_decision([1, 2, 3]), "Clear 1 row"),
        (lambda p: p.create_audit([2, 1], 5), "Draw 2 rows at random"),
    ],
)
def test_menus_say_what_would_be_undone(project: Project, edit: Callable[[Project], Any], text: str) -> None:
    fill(project, ["one", "two", "three"])
    use_labels(project, "a", "b")
    project.decide([1], Decision.NONE)
    edit(project)
    assert project.undo_text() == text


def test_parts_of_an_import_are_one_action_unless_something_came_between(project: Project) -> None:
    fill(project, ["one", "two", "three", "four"])
    (a,) = use_labels(project, "a")

    def imported(row_id: int) -> Annotation:
        return Annotation(row_id, Decision.LABEL, (a,), Origin.IMPORTED, "2026-01-01T00:00:00.000+00:00")

    action = project.annotate([imported(1)], [RowMarks(1, flag=True)])
    assert project.annotate([imported(2)], action=action) == action
    project.decide([4], Decision.NONE)
    other = project.annotate([imported(3)], action=action)
    assert other != action
    assert project.annotate([imported(4)], action=other) == other
    assert sorted(project.annotations([1, 2, 3, 4])) == [1, 2, 3, 4]
    project.undo()
    assert project.annotations([4])[4].decision is Decision.NONE
    project.undo()
    project.undo()
    assert (project.annotations([1, 2, 3, 4]), project.marks([1])) == ({}, {})
    assert project.undo_text() == "Add label “a”"


def test_history_is_bounded(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(project, [f"text {number}" for number in range(40)])
    monkeypatch.setattr(history, "KEPT_ACTIONS", 5)
    monkeypatch.setattr(history, "KEPT_ROWS", 30)
    for row_id in range(1, 11):
        project.decide([row_id], Decision.NONE)
    undone = [change.row_ids for change in iter(project.undo, None)]
    assert undone == [(10,), (9,), (8,), (7,), (6,)]
    for _ in undone:
        project.redo()
    project.decide(range(1, 41), Decision.SKIPPED)  # larger than all that is kept: it stays as the newest
    assert next(change.rows for change in iter(project.undo, None)) == 40
    project.redo()
    project.decide([1], Decision.NONE)  # too much together with the one before
    with project._database.read() as connection:
        (held,) = connection.exec_driver_sql("SELECT count(*) FROM row_changes").one()
    assert held <= 31


def test_nothing_is_left_of_what_was_undone_and_dropped(project: Project) -> None:
    fill(project, ["one", "two"])
    project.create_audit([1], 1)
    project.add_coder("gold", "column", {1: "a"})
    project.decide([1, 2], Decision.NONE)
    while project.undo():
        pass
    assert (project.audits(), project.coders()) == ((), ())
    project.decide([2], Decision.SKIPPED)
    with project._database.read() as connection:
        for table, left in (("audits", 0), ("audit_rows", 0), ("coders", 0), ("other_annotations", 0),
                            ("actions", 1), ("row_changes", 1)):  # fmt: skip
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one() == left, table


def test_undo_of_a_version_that_is_deleted_ends_at_the_model_as_it_was(project: Project) -> None:
    first, second = add_version(project), add_version(project)
    project.activate_version(first.id)
    project.activate_version(second.id)
    project.delete_version(first.id)
    assert project.undo() is not None
    assert project.active_version() is None
    assert project.redo() is not None
    assert project.active_version() == replace(second, active=True)


def test_change_names_a_bounded_number_of_rows(project: Project) -> None:
    fill(project, [f"text {number}" for number in range(1_500)])
    project.decide(range(1, 1_501), Decision.NONE, origin=Origin.BULK)
    change = project.undo()
    assert change is not None
    assert (change.rows, len(change.row_ids), change.row_ids[:2]) == (1_500, 1_000, (1, 2))


UNDO_FOR_EVER = (
    START
    + """
for turn in range(10_000):
    project.undo()
    tell("undone", turn)
    project.redo()
"""
)


@pytest.mark.parametrize("turns", [0, 3])
def test_killed_in_an_undo_leaves_the_project_whole(path: Path, turns: int) -> None:
    rows = range(1, 4_001)
    with Project.create(path) as project:
        fill(project, [f"text {number}" for number in range(len(rows))])
        a, b = use_labels(project, "a", "b")
        project.decide(rows, Decision.LABEL, [a])
        project.merge_labels([a], b)
    run_until_death(UNDO_FOR_EVER, path, kill_at=f"undone {turns}")
    with Project.open(path) as project:
        assert project.verify() == []
        while project.redo():
            pass
        label_set = project.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ["b"]
        assert {x.label_ids for x in project.annotations(rows).values()} == {(b,)}
        project.undo()
        assert {x.label_ids for x in project.annotations(rows).values()} == {(a,)}
        assert len(project.annotations(rows)) == len(rows)
        project.undo()
        assert project.annotations(rows) == {}
