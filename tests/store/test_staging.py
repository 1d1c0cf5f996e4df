"""Rows come in with decisions about them while somebody works: seen in one moment, or never."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import rule, run_state_machine_as_test

from sce_desktop.core.annotations import Annotation, Decision, Label, Origin, RowMarks
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.store.annotations import coders, history
from sce_desktop.store.content import importing, staging
from sce_desktop.store.content.rows import ImportReport, Shape
from sce_desktop.store.content.staging import StagedRows
from sce_desktop.store.file.connections import connect
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels
from tests.store.test_crash import START, run_until_death
from tests.store.test_importing import INDEXES, stored_rows
from tests.store.test_undo_machine import ROWS, UndoMachine

OLD, NEW = 12, 20
TOLD = "2026-01-01T00:00:00.000+00:00"


@pytest.fixture
def filled(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Twelve rows, decided in every way, and parts of three."""
    monkeypatch.setattr(staging, "PART", 3)
    monkeypatch.setattr(importing, "_PART_ROWS", 3)
    monkeypatch.setattr(coders, "_PART", 3)
    fill(project, [f"text {number}" for number in range(OLD)])
    a, b = use_labels(project, "a", "b")
    project.decide([1, 2], Decision.LABEL, [a])
    project.decide([3], Decision.LABEL, [b])
    project.decide([4], Decision.NONE)
    project.decide([5], Decision.SKIPPED, origin=Origin.IMPORTED)
    project.set_marks(6, flag=True, note="look")
    project.add_coder("gold", "column gold", {1: "a", 2: "b"})
    return project


def said(row_id: int, label_id: int | None) -> Annotation:
    if label_id is None:
        return Annotation(row_id, Decision.NONE, (), Origin.IMPORTED, TOLD, "")
    return Annotation(row_id, Decision.LABEL, (label_id,), Origin.IMPORTED, TOLD, "")


def say(staged: StagedRows, labels: Sequence[Label], *names: str) -> None:
    """Give the new rows ``labels`` and labels of these names in turns; the last two rows other things."""
    known = {label.name for label in labels}
    wanted = staged.set_labels(
        [*labels, *(Label(name) for name in names if name not in known)], multi_label=False
    )
    ids = {label.name: label.id for label in wanted.labels}
    *rows, none, noted = staged.row_ids.tolist()
    given = [said(row, ids[names[place % len(names)]]) for place, row in enumerate(rows)]
    staged.annotate([*given, said(none, None)], [RowMarks(noted, flag=True, note="new")])


def add(
    project: Project,
    *names: str,
    progress: SilentProgress | None = None,
    then: Callable[[StagedRows], object] | None = None,
) -> ImportReport:
    """Append twenty rows that say ``names``."""
    label_set = project.label_set()
    labels = label_set.labels if label_set is not None else ()

    def and_then(staged: StagedRows) -> None:
        say(staged, labels, *names)
        if then is not None:
            then(staged)

    batch = [(f"n{number}", f"new {number}") for number in range(NEW)]
    return project.add_rows(
        ("ref", "text"), [batch], text_columns=[1], source={}, progress=progress, and_then=and_then
    )


def everything(project: Project) -> dict[str, Any]:
    """All that somebody can ask a project about decisions, rows that are not seen among it."""
    ids = range(1, OLD + NEW + 1)
    a, b = (1, 2)
    queries = [RowQuery(state=state) for state in RowState]
    queries += [RowQuery(label_ids=(a,)), RowQuery(former_ids=(a, b)), RowQuery(decided_since="2000")]
    queries += [RowQuery(order=RowOrder.ANNOTATION), RowQuery(order=RowOrder.RANDOM), RowQuery(search="e")]
    return {
        "rows": (project.row_count(), project.blank_count(), project.duplicate_count()),
        "ids": [project.row_ids(query).tolist() for query in queries],
        "annotations": project.annotations(ids),
        "answers": [column.tolist() for column in project.answers()],
        "asked": [column.tolist() for column in project.answers(ids)],
        "marks": project.marks(ids),
        "first open": project.first_open(range(4, OLD + 1)),
        "former": project.former_labels(ids),
        "counts": (project.annotation_counts(), project.state_counts()),
        "bare": project.has_bare_decisions(),
        "labels": (project.label_set(), project.label_sets()),
        "previews": [
            project.delete_preview(a),
            project.merge_preview([a], b),
            project.split_preview(b),
            project.use_preview(1),
        ],
        "undo": (project.undo_text(), project.undo_rows(), project.redo_text(), project.redo_rows()),
        "interrupted": project.interrupted(),
        "coders": (project.coders(), project.coder_answers(0), project.coder_answers(1)),
        "said": [project.answers_of_others(row_id) for row_id in ids],
        "disagreeing": project.row_ids(RowQuery(disagreeing=(0, 1))).tolist(),
        "whole": project.verify(),
    }


class Looking(SilentProgress):
    """Does something in another thread whenever it is asked whether to go on: between any two parts."""

    def __init__(self, look: Callable[[], object]) -> None:
        self.look = look
        self.times = 0

    def check(self) -> None:
        self.times += 1
        with ThreadPoolExecutor(1) as other:
            other.submit(self.look).result(30)


def raw_counts(project: Project) -> dict[str, int]:
    """How many records there are, seen or not."""
    tables = ("rows", "annotations", "annotation_labels", "marks", "labels", "coders", "other_annotations")
    with closing(connect(project.path, "mode=ro")) as plain:
        found = {name: plain.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
        left = "SELECT count(*) FROM row_changes WHERE action_id NOT IN (SELECT id FROM actions)"
        return found | {"left": plain.execute(left).fetchone()[0]}


# --- seen with the rows


def test_nobody_sees_anything_before_all_is_there(filled: Project) -> None:
    expected = everything(filled)
    assert expected["whole"] == []

    def look() -> None:
        assert everything(filled) == expected

    watch = Looking(look)
    add(filled, "a", "new", "b", progress=watch)
    assert watch.times > NEW // 3
    found = everything(filled)
    assert found["rows"] == (OLD + NEW, 0, 0)
    assert found["whole"] == []
    label_set = filled.label_set()
    assert label_set is not None
    assert [label.name for label in label_set.labels] == ["a", "b", "new"]
    assert len({label.colour for label in label_set.labels}) == 3
    assert filled.annotation_counts() == {1: 2 + 6, 2: 1 + 6, 3: 6}
    assert filled.state_counts()[RowState.LABELLED] == 3 + 18
    assert filled.marks([OLD + NEW]) == {OLD + NEW: RowMarks(OLD + NEW, flag=True, note="new")}
    assert filled.annotations([OLD + 1])[OLD + 1] == said(OLD + 1, 1)


def test_it_is_undone_and_done_again_in_one_step_also_after_a_restart(filled: Project, path: Path) -> None:
    add(filled, "a", "new")
    assert filled.undo_text() == "Import annotations"
    assert filled.undo_rows() == NEW
    after = everything(filled)
    filled.undo()
    assert set(filled.annotations(range(OLD + 1, OLD + NEW + 1))) == set()
    assert filled.marks([OLD + NEW]) == {}
    assert filled.undo_text() == "Add label “new”"
    filled.redo()
    assert everything(filled) == after
    filled.close()
    with Project.open(path) as project:
        project.undo()
        assert set(project.annotations(range(OLD + 1, OLD + NEW + 1))) == set()
        project.redo()
        assert everything(project) == after


def test_whoever_decides_meanwhile_is_not_held_up_and_undoes_the_import_first(filled: Project) -> None:
    """Were a transaction open at any of these moments, deciding would wait for ever."""
    decided = itertools.count()

    def decide() -> None:
        filled.decide([next(decided) % OLD + 1], Decision.NONE)

    watch = Looking(decide)
    add(filled, "a", "new", progress=watch)
    assert watch.times > NEW // 3
    assert filled.undo_text() == "Import annotations"
    filled.undo()
    filled.undo()
    assert filled.undo_text() == "None of these"
    for _ in range(watch.times):
        filled.undo()
    assert filled.annotations([1])[1].label_ids == (1,)
    for _ in range(watch.times + 2):
        filled.redo()
    assert filled.annotations([OLD + 2])[OLD + 2].label_ids == (3,)
    assert filled.verify() == []


def test_what_was_undone_is_given_up_when_rows_come(filled: Project) -> None:
    filled.undo()
    add(filled, "a")
    assert filled.redo_text() == ""
    assert raw_counts(filled)["left"] == 0


def test_a_full_history_is_cut_back_without_keeping_anybody(
    filled: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "KEPT_ROWS", NEW + 1)
    monkeypatch.setattr(history, "_SWEPT", 2)
    filled.decide(range(1, 11), Decision.NONE)
    add(filled, "a")
    assert (filled.undo_text(), raw_counts(filled)["left"]) == ("Import annotations", 0)
    filled.undo()
    assert filled.undo_text() == ""


def rename(project: Project) -> None:
    label_set = project.label_set()
    assert label_set is not None
    first, *rest = label_set.labels
    project.set_labels([Label("another name", id=first.id), *rest])


def rename_and_take_the_name(project: Project) -> None:
    rename(project)
    label_set = project.label_set()
    assert label_set is not None
    project.set_labels([*label_set.labels[1:], Label("a")])


def add_the_new_one(project: Project) -> None:
    label_set = project.label_set()
    assert label_set is not None
    project.set_labels([*label_set.labels, Label("new")])


def call_another_new(project: Project) -> None:
    label_set = project.label_set()
    assert label_set is not None
    project.set_labels([Label("new", id=label_set.labels[0].id), label_set.labels[1]])


@pytest.mark.parametrize(
    ("edit", "names", "counts"),
    [
        (rename, ["another name", "b", "new"], [2 + 6, 1 + 6, 6]),
        (lambda p: p.merge_labels([1], 2), ["b", "a", "new"], [3 + 6, 6, 6]),
        (lambda p: p.delete_label(1), ["b", "a", "new"], [1 + 6, 2 + 6, 6]),
        (lambda p: p.split_label(1, [Label("a1"), Label("a2")]), ["a1", "a2", "b", "a", "new"], None),
        (rename_and_take_the_name, ["b", "a", "new"], [1 + 6, 6, 6]),
        (add_the_new_one, ["a", "b", "new"], [2 + 6, 1 + 6, 6]),
        (call_another_new, ["new", "b"], [2 + 6 + 6, 1 + 6]),
        (lambda p: p.undo(), ["a", "b", "new"], [2 + 6, 1 + 6, 6]),
    ],
)
def test_labels_may_be_edited_meanwhile(
    filled: Project, edit: Callable[[Project], object], names: list[str], counts: list[int] | None
) -> None:
    """Edits touch seen rows alone; a label stays the one that it was, whatever it is called by then."""
    add(filled, "a", "new", "b", then=lambda _staged: edit(filled))
    label_set = filled.label_set()
    assert label_set is not None
    assert [label.name for label in label_set.labels] == names
    if counts is not None:
        found = filled.annotation_counts()
        assert [found[label.id or 0] for label in label_set.labels] == counts
    assert len(filled.annotations(range(OLD + 1, OLD + NEW + 1))) == NEW - 1
    assert filled.verify() == []


def test_a_label_that_no_row_has_does_not_come_back(filled: Project) -> None:
    add(filled, "b", then=lambda _staged: filled.delete_label(1))
    label_set = filled.label_set()
    assert label_set is not None
    assert [label.name for label in label_set.labels] == ["b"]


def test_several_labels_a_row(project: Project) -> None:
    fill(project, ["x"])
    use_labels(project, "a")

    def both(staged: StagedRows) -> None:
        labels = staged.set_labels([Label("a"), Label("b")], multi_label=True).labels
        ids = tuple(label.id for label in labels if label.id is not None)
        staged.annotate([Annotation(2, Decision.LABEL, ids, Origin.IMPORTED, TOLD, "")])

    project.add_rows(("ref", "text"), [[("1", "y")]], text_columns=[1], source={}, and_then=both)
    label_set = project.label_set()
    assert label_set is not None
    assert label_set.multi_label
    assert project.annotations([2])[2].label_ids == (1, 2)


def test_what_is_wrong_is_a_bug_and_leaves_nothing(filled: Project) -> None:
    before = raw_counts(filled)
    wrong: list[Callable[[StagedRows], object]] = [
        lambda staged: staged.annotate([said(1, None)]),  # a row that is seen
        lambda staged: staged.annotate([said(OLD + 1, 99)]),
        lambda staged: staged.annotate([said(OLD + NEW + 1, None)]),
        lambda staged: staged.annotate([], [RowMarks(1, flag=True)]),
    ]
    for then in wrong:
        with pytest.raises(ValueError, match="no such"):
            add(filled, "a", "new", then=then)
    with pytest.raises(UserError, match="twice"):
        add(filled, "a", then=lambda staged: staged.set_labels([Label("x")] * 2, multi_label=False))
    assert raw_counts(filled) == before


# --- or never


class Cancelling(SilentProgress):
    def __init__(self, times: int) -> None:
        self.times = times

    def check(self) -> None:
        self.times -= 1
        if self.times < 0:
            raise Cancelled


@pytest.mark.parametrize("times", [0, 3, 7, 8, 9, 12, 14])
def test_cancelling_leaves_nothing(filled: Project, times: int) -> None:
    expected, before = everything(filled), raw_counts(filled)
    with pytest.raises(Cancelled):
        add(filled, "a", "new", progress=Cancelling(times))
    assert everything(filled) == expected
    assert raw_counts(filled) == before
    assert stored_rows(filled) == (OLD, INDEXES)
    add(filled, "a", "new")
    assert filled.verify() == []


def test_a_failure_in_the_last_moment_leaves_nothing(
    filled: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, before = everything(filled), raw_counts(filled)
    with monkeypatch.context() as patch:
        patch.setattr(importing, "now", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            add(filled, "a", "new")
    assert everything(filled) == expected
    assert raw_counts(filled) == before


KILLED = (
    START
    + """
from sce_desktop.core.annotations import Annotation, Origin
from sce_desktop.store.content import staging
staging.PART = 50
def label(staged):
    made = staged.set_labels([Label("a"), Label("new")], multi_label=False).labels
    def annotations():
        for number, row in enumerate(staged.row_ids.tolist()):
            if number % 50 == 0:
                tell("annotated", number)
                if number == 2500:  # whoever is to be killed here waits for that
                    time.sleep(60)
            yield Annotation(row, Decision.LABEL, (made[number % 2].id,), Origin.IMPORTED, "2026", "")
    staged.annotate(annotations())
    tell("annotated", "all")
    time.sleep(60)
rows = [(f"r{n}", f"new {n}") for n in range(5000)]
project.add_rows(("ref", "text"), [rows], text_columns=[1], source={}, and_then=label)
"""
)
CODER = (
    START
    + """
from sce_desktop.store.annotations import coders
coders._PART = 50
class Answers(dict):
    def items(self):
        return [(row, "a") for row in self]
write_part = project._database.write_part
def telling(**how):
    telling.parts += 1
    tell("part", telling.parts)
    if telling.parts == 40:  # the kill takes its time on a busy machine
        time.sleep(60)
    return write_part(**how)
telling.parts = 0
project._database.write_part = telling
project.add_coder("second", "file", {row: "a" for row in range(1, 4001)})
"""
)


@pytest.mark.parametrize("kill_at", ["annotated 0", "annotated 2500", "annotated all"])
def test_killed_in_the_middle_leaves_nothing(path: Path, tmp_path: Path, kill_at: str) -> None:
    with Project.create(path) as project:
        fill(project, [f"text {number}" for number in range(OLD)])
        (a,) = use_labels(project, "a")
        project.decide([1, 2], Decision.LABEL, [a])
        before = raw_counts(project)
    run_until_death(KILLED, path, kill_at=kill_at)
    with Project.open(path, read_only=True) as project:  # nothing is swept, and nothing is seen
        assert project.annotation_counts() == {a: 2}
        assert project.state_counts()[RowState.LABELLED] == 2
        assert project.undo_text() == "Label “a”, 2 rows"
        assert project.row_ids(RowQuery(order=RowOrder.ANNOTATION)).tolist() == list(range(1, OLD + 1))
        project.backup(tmp_path / "copy.sce")
    for place in (path, tmp_path / "copy.sce"):
        with Project.open(place) as project:
            assert raw_counts(project) == before
            assert project.verify() == []
            label_set = project.label_set()
            assert label_set is not None
            assert [label.name for label in label_set.labels] == ["a"]
            add(project, "a", "new")
            assert project.row_count() == OLD + NEW


def test_answers_of_a_coder_are_there_at_once_or_never(path: Path) -> None:
    with Project.create(path) as project:
        fill(project, [f"text {number}" for number in range(4000)])
        use_labels(project, "a")
        project.add_coder("gold", "column gold", {1: "a"})
        before = raw_counts(project)
    run_until_death(CODER, path, kill_at="part 40")
    with Project.open(path, read_only=True) as project:
        assert [coder.name for coder in project.coders()] == ["gold"]
        assert project.answers_of_others(1) == [("gold", frozenset([1]))]
    with Project.open(path) as project:
        assert raw_counts(project) == before
        assert project.verify() == []


def test_a_coder_is_replaced_in_one_moment_while_somebody_works(filled: Project) -> None:
    """What a new decision drops out of the history is not what is on its way."""
    seen: list[list[tuple[str, int]]] = []
    write_part = filled._database.write_part

    def between(**how: bool) -> Any:
        with ThreadPoolExecutor(1) as other:
            other.submit(meanwhile).result(30)
        return write_part(**how)

    def meanwhile() -> None:
        seen.append([(coder.name, coder.rows) for coder in filled.coders()])
        filled.decide([7], Decision.NONE)
        filled.undo()
        filled.decide([8], Decision.NONE)  # drops what was undone, and coders that nothing leads back to
        assert filled.verify() == []

    filled._database.write_part = between  # type: ignore[method-assign]
    answers = dict.fromkeys(range(1, OLD + 1), "b")
    filled.add_coder("gold", "column gold", answers, replaces=filled.coders()[0].id)
    assert seen == [[("gold", 2)]] * 4
    assert [(coder.name, coder.rows) for coder in filled.coders()] == [("gold", OLD)]
    filled.undo()
    filled.undo()
    assert [(coder.name, coder.rows) for coder in filled.coders()] == [("gold", 2)]


def test_a_coder_whose_answers_fail_leaves_nothing(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = raw_counts(filled)
    with pytest.raises(UserError, match="already"):
        filled.add_coder("gold", "file", {1: "a"})
    with monkeypatch.context() as patch:
        patch.setattr(history, "record_removal", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            filled.add_coder("second", "file", dict.fromkeys(range(1, 11), "a"))
    assert raw_counts(filled) == before
    assert [coder.name for coder in filled.coders()] == ["gold"]


# --- rows


def test_a_part_of_rows_ends_when_somebody_waits(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half characters in the middle too: what was written of a batch is not written again."""
    monkeypatch.setattr(importing, "_ROWS_A_STATEMENT", 2)
    monkeypatch.setattr(type(filled._database), "awaited", property(lambda _: True))
    batch = [(f"half \ud83d {n}" if n in (3, 8) else f"n{n}", f"new {n}") for n in range(11)]
    filled.add_rows(("ref", "text"), [batch], text_columns=[1], source={})
    assert [row.cells for row in filled.rows(range(OLD + 1, OLD + 12))] == batch
    assert filled.verify() == []


def test_parts_are_small_while_people_decide(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_BATCH_ROWS", 10)
    sizes: list[int] = []
    insert = importing._insert_some

    def noting(database: Any, fields: list[Any], rows: Any, step: int) -> int:
        sizes.append(insert(database, fields, rows, step))
        return sizes[-1]

    monkeypatch.setattr(importing, "_insert_some", noting)
    batch = [(f"n{n}", f"new {n}") for n in range(20)]
    filled._database._durable_at -= 3600  # an hour later
    filled.add_rows(("ref", "text"), [batch], text_columns=[1], source={})
    filled.decide([1], Decision.NONE)
    filled.add_rows(("ref", "text"), [batch], text_columns=[1], source={})
    assert sizes == [10, 10, *[3] * 6, 2]


# --- anything else that people do


class WhileRowsComeIn(UndoMachine):
    """The same as `UndoMachine` in a project in which rows with decisions lie that nobody sees yet."""

    def __init__(self) -> None:
        super().__init__()
        self.stage()

    def stage(self) -> None:
        database = self.project._database
        rows = [(f"s{number}", f"staged {number}") for number in range(6)]
        importing._insert_all(database, [rows], Shape(("ref", "text"), (1,)), SilentProgress(), ahead=False)
        self.staged = StagedRows(database, SilentProgress())
        label_set = self.project.label_set()
        labels = label_set.labels if label_set is not None else ()
        say(self.staged, labels, *[label.name for label in labels], "red", "brown")

    @rule()
    def reopen(self) -> None:
        super().reopen()
        self.stage()

    def teardown(self) -> None:
        """In the end the rows are seen, each with the label that it was given, whatever that is called."""
        project = self.project
        with closing(connect(self.path, "mode=ro")) as plain:
            given = plain.execute(
                "SELECT row_id, label_id FROM annotation_labels WHERE row_id > ? ORDER BY row_id", (ROWS,)
            ).fetchall()
        wanted = {label.id: label.name for label in self.staged._labels}
        source: dict[str, Any] = {}
        shape, report = Shape(("ref", "text"), (1,)), ImportReport(6, 0, 0)
        importing._finish(
            project._database, shape, source, report, self.staged, SilentProgress(), before=ROWS
        )
        label_set = project.label_set()
        assert label_set is not None
        by_name = {label.name: label.id for label in label_set.labels}
        used = set(by_name.values())
        found = project.annotations(range(ROWS + 1, ROWS + 7))
        for row_id, label_id in given:
            assert found[row_id].label_ids == (label_id if label_id in used else by_name[wanted[label_id]],)
        assert project.verify() == []
        project.undo()
        assert project.annotations(range(ROWS + 1, ROWS + 7)) == {}
        super().teardown()


def test_anything_is_taken_back_while_rows_come_in(tmp_path: Path) -> None:
    machine = type("Machine", (WhileRowsComeIn,), {"folder": tmp_path})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=8,
            stateful_step_count=30,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
