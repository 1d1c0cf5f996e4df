"""Any actions in any order are taken back and done again, also after a restart."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sce_desktop.core.annotations import Annotation, Decision, Label, LabelSet, Origin, RowMarks
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.store.project import Project
from tests.store.conftest import fill
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

    def use(self, choose: Callable[[], LabelSet], asked: LabelSet | None = None) -> None:
        """Let the project use another label set, and note it if it is another one.

        It may be refused where rows have several labels: where it is known what is ``asked`` for, then alone.
        """
        before = self.world.label_set
        refusal: UserError | None = None
        try:
            label_set = choose()
        except UserError as error:
            refusal = error
        if refusal is not None:
            assert "several labels" in str(refusal)
            assert any(len(a.label_ids) > 1 for a in self.world.annotations.values())
            assert asked is None or self.leaves_several(asked)
            return
        assert not self.leaves_several(label_set)
        if before is None or before.id != label_set.id:
            self.act(lambda world: setattr(world, "label_set", label_set))

    def leaves_several(self, after: LabelSet) -> bool:
        """Whether rows would come to have several labels of ``after``, in which a row has one."""
        if after.multi_label:
            return False
        before = self.world.label_set
        ids = {label.id for label in after.labels}
        new = ids - set(in_use(self.world)) if before and not before.multi_label else ids
        rows = [set(a.label_ids) & ids for a in self.world.annotations.values()]
        return any(len(labels) > 1 and labels & new for labels in rows)

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
            self.use(lambda: self.project.set_labels([*labels, Label(name)]))

    @precondition(has_labels)
    @rule(data=st.data(), name=fresh_names, colour=st.sampled_from(["", "#112233"]))
    def edit_label(self, data: st.DataObject, name: str, colour: str) -> None:
        label = self.a_label(data)
        labels = in_use(self.world)
        if name not in [other.name for other in labels.values()]:
            edited = replace(label, name=name, colour=colour)
            after = [edited if other is label else other for other in labels.values()]
            self.use(lambda: self.project.set_labels(after))

    @precondition(has_labels)
    @rule(data=st.data(), multi=st.booleans())
    def reorder(self, data: st.DataObject, multi: bool) -> None:
        labels = data.draw(st.permutations(list(in_use(self.world).values())))
        assert self.world.label_set is not None
        asked = replace(self.world.label_set, labels=tuple(labels), multi_label=multi)
        self.use(lambda: self.project.set_labels(labels, multi_label=multi), asked)

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
        self.use(lambda: self.project.use_label_set(chosen.id), chosen)

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
