"""Every query against the same question answered row by row in Python."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core import folding
from sce_desktop.core.annotations import Annotation, Decision, Label, Origin
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery, RowState
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from tests.store.conftest import fill

REFERENCES = sorted(f"r{number}" for number in range(100))  # as texts: r1, r10, r11, ..., r2
WORDS = ["alpha", "Beta", "GAMMA", "ähre", "ÄHRE", "50%", "a_b", "日本語", "x"]


@dataclass
class Fact:
    """What is known of a row."""

    id: int
    text: str
    state: RowState = RowState.UNLABELLED
    labels: tuple[int, ...] = ()
    former: tuple[int, ...] = ()
    flag: bool = False
    unsure: bool = False
    p: dict[int, np.ndarray] = field(default_factory=dict)
    unfitting: bool = False  # the first run says that no label fits


@dataclass
class World:
    """A project and, beside it, everything about it in plain Python."""

    project: Project
    facts: list[Fact]
    set_order: list[int]  # label ids in the order of the label set
    run_labels: dict[int, list[int]]  # label ids of each run in its own order


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    choose = random.Random(5)
    with Project.create(tmp_path_factory.mktemp("select") / "world.sce") as project:
        texts = [" ".join(choose.choices(WORDS, k=choose.randint(1, 4))) for _ in range(150)]
        for place in choose.sample(range(150), 15):
            texts[place] = choose.choice(["", " ", "\n"])
        fill(project, texts[:100])
        fill(project, texts[100:])
        facts = [Fact(number, text) for number, text in enumerate(texts, start=1)]
        labels = project.set_labels([Label(name) for name in "abcd"], multi_label=True).labels
        ids = [label.id for label in labels if label.id is not None]
        for fact in facts:
            kind = choose.choice(["label", "label", "none", "skipped", "", ""])
            if kind == "label":
                fact.labels = tuple(choose.sample(ids, choose.randint(1, 2)))
                project.decide([fact.id], Decision.LABEL, fact.labels)
            elif kind:
                fact.state = RowState(kind)
                project.decide([fact.id], Decision(kind))
            fact.flag, fact.unsure = choose.random() < 0.2, choose.random() < 0.2
            project.set_marks(fact.id, flag=fact.flag, unsure=fact.unsure)
        kept = [labels[3], labels[0], labels[1]]  # the third is removed: its rows are unlabelled
        project.set_labels(kept)
        order = [label.id for label in kept if label.id is not None]
        for fact in facts:
            fact.former = tuple(label for label in fact.labels if label not in order)
            fact.labels = tuple(label for label in fact.labels if label in order)
            if fact.labels:
                fact.state = RowState.LABELLED
        run_labels = {}
        for alias, its_labels in (("sce", kept), ("similarity", [*kept[::-1], labels[2]])):
            run = project.open_run(alias, "sce", alias, "f", its_labels)
            run_labels[run.id] = [label.id for label in its_labels if label.id is not None]
            scored = [fact for fact in facts if fact.text.strip() and choose.random() < 0.8]
            choose.shuffle(scored)
            # Few distinct numbers, so that there are ties.
            p = np.array([[choose.randint(1, 4) for _ in its_labels] for _ in scored], np.float32)
            p /= p.sum(axis=1, keepdims=True)
            none = None
            if alias == "sce":
                none = np.array([choose.choice([0.1, 0.2, 0.7]) for _ in scored], np.float32)
                for fact, probability in zip(scored, none, strict=True):
                    fact.unfitting = bool(probability >= 0.5)
            project.add_scores(run.id, [fact.id for fact in scored], Scores(p, none))
            for fact, vector in zip(scored, p, strict=True):
                fact.p[run.id] = vector
        yield World(project, facts, order, run_labels)


def top_label(world: World, fact: Fact, run_id: int) -> int | None:
    return world.run_labels[run_id][fact.p[run_id].argmax()] if run_id in fact.p else None


def given_label(world: World, fact: Fact, run_id: int) -> int | None:
    return None if run_id == 1 and fact.unfitting else top_label(world, fact, run_id)


def fits(world: World, fact: Fact, query: RowQuery) -> bool:
    fold = folding.folded if folding.folded(query.search) != folding.bare(query.search) else folding.bare
    answers = [fold(query.search) in fold(fact.text)]
    if query.state is RowState.FLAGGED:
        answers.append(fact.flag)
    elif query.state is RowState.UNSURE:
        answers.append(fact.unsure)
    elif query.state is RowState.SEVERAL:
        answers.append(len(fact.labels) > 1)
    elif query.state is not RowState.ANY:
        answers.append(fact.state is query.state)
    if query.label_ids:
        answers.append(bool(set(fact.labels) & set(query.label_ids)))
    if query.predicted_ids:
        assert query.run_id is not None
        answers.append(given_label(world, fact, query.run_id) in query.predicted_ids)
    if query.confidence is not None:
        low, high = query.confidence
        answers.append(query.run_id in fact.p and low <= float(fact.p[query.run_id].max()) <= high)
    if query.disagree is not None:
        assert query.compare is not None
        ours, theirs = given_label(world, fact, query.compare[0]), top_label(world, fact, query.compare[1])
        answers.append(ours is not None and theirs is not None and (ours != theirs) is query.disagree)
    blank = (
        False
        if query.blank is None and query.order not in (RowOrder.FILE, RowOrder.COLUMN) and query.among is None
        else query.blank
    )
    if blank is not None:
        answers.append((not fact.text.strip()) is blank)
    if query.pattern:
        answers.append(re.search(query.pattern, fact.text, re.IGNORECASE) is not None)
    if query.among is not None:
        answers.append(fact.id in query.among)
    if query.duplicate is not None:
        same = [other for other in world.facts if other.text == fact.text and other.text.strip()]
        answers.append((len(same) > 1) is query.duplicate)
    if query.former_ids:
        answers.append(bool(set(fact.former) & set(query.former_ids)))
    for cell in query.cells:
        value = (f"r{(fact.id - 1) % 100}", fact.text)[cell.column]
        answers.append(value in cell.values or (not value and None in cell.values))
    return all(answers)


def rare_first(world: World, run_id: int | None) -> list[int]:
    """Return the undecided rows of a run, labels with the fewest decisions taking turns; unfitting last."""
    assert run_id is not None
    keyed = []
    for unfitting, (place, label) in itertools.product((False, True), enumerate(world.run_labels[run_id])):
        turn = sum(label in fact.labels for fact in world.facts)
        mine = [fact for fact in world.facts if top_label(world, fact, run_id) == label]
        mine = [fact for fact in mine if (given_label(world, fact, run_id) is None) is unfitting]
        free = [fact for fact in mine if fact.state is RowState.UNLABELLED]
        for more, fact in enumerate(sorted(free, key=lambda fact: -float(fact.p[run_id].max()))):
            keyed.append((unfitting, turn + more, -float(fact.p[run_id].max()), place, fact.id))
    return [row_id for *_, row_id in sorted(keyed)]


def expected(world: World, query: RowQuery) -> list[int]:
    """Return what `RowOrder` and `RowQuery` promise. Not for RANDOM."""
    sign = -1 if query.descending else 1
    turns = rare_first(world, query.run_id) if query.order is RowOrder.RARE else []

    def key(fact: Fact) -> tuple[float, ...] | None:
        match query.order:
            case RowOrder.FILE:
                return (sign * fact.id,)
            case RowOrder.COLUMN:
                return (sign * REFERENCES.index(f"r{(fact.id - 1) % 100}"),)
            case RowOrder.LENGTH:
                return (sign * len(fact.text),)
            case RowOrder.ANNOTATION:
                if fact.labels:
                    return (sign * min(world.set_order.index(label) for label in fact.labels),)
                others = {RowState.NONE: len(world.set_order), RowState.SKIPPED: len(world.set_order) + 1}
                return (sign * others[fact.state],) if fact.state in others else None
            case RowOrder.DISAGREE:
                assert query.compare is not None
                first, second = query.compare
                tops = [given_label(world, fact, first), top_label(world, fact, second)]
                return (-sign * (None not in tops and tops[0] != tops[1]),)
            case RowOrder.GIVEN:
                return (sign * query.given.index(fact.id),) if fact.id in query.given else None
            case RowOrder.RARE:
                return (sign * turns.index(fact.id),) if fact.id in turns else None
        if query.run_id not in fact.p:
            return None
        p = fact.p[query.run_id]
        best, second = np.sort(p)[:-3:-1]
        match query.order:
            case RowOrder.CONFIDENCE:
                return (sign * best,)
            case RowOrder.MARGIN:
                return (sign * float(best - second),)
        unfitting = query.run_id == 1 and fact.unfitting
        return (sign * (len(p) if unfitting else int(p.argmax())), -best)

    known = [(key(fact), fact.id) for fact in world.facts if fits(world, fact, query)]
    ordered = sorted((k, id_) for k, id_ in known if k is not None)
    return [id_ for _, id_ in ordered] + [id_ for k, id_ in known if k is None]


@pytest.mark.parametrize("order", [order for order in RowOrder if order is not RowOrder.RANDOM])
@pytest.mark.parametrize("descending", [False, True])
def test_order(world: World, order: RowOrder, descending: bool) -> None:
    for run_id, compare in ((1, (1, 2)), (2, (2, 1))):
        given = (70, 3, 150, 4)
        query = RowQuery(
            order=order,
            order_column=0,
            descending=descending,
            run_id=run_id,
            compare=compare,
            given=given,
        )
        assert world.project.row_ids(query).tolist() == expected(world, query)


@pytest.mark.parametrize("state", RowState)
@pytest.mark.parametrize("blank", [None, True, False])
def test_state(world: World, state: RowState, blank: bool | None) -> None:
    query = RowQuery(state=state, blank=blank)
    assert world.project.row_ids(query).tolist() == expected(world, query)


def test_rows_without_text_are_in_file_order_alone(world: World) -> None:
    without = {fact.id for fact in world.facts if not fact.text.strip()}
    assert without
    assert without <= set(world.project.row_ids(RowQuery()).tolist())
    for order in (RowOrder.RANDOM, RowOrder.LENGTH, RowOrder.ANNOTATION):
        assert not without & set(world.project.row_ids(RowQuery(order=order)).tolist())
    some = tuple(without)[:2]
    chosen = RowQuery(order=RowOrder.GIVEN, among=some, given=some)  # somebody asked for these
    assert world.project.row_ids(chosen).tolist() == list(some)
    assert set(world.project.row_ids(RowQuery(blank=True, order=RowOrder.RANDOM)).tolist()) == without


def test_state_counts_say_the_same(world: World) -> None:
    counts = {state: len(expected(world, RowQuery(state=state))) for state in RowState}
    assert world.project.state_counts() == counts


@pytest.mark.parametrize("disagree", [True, False])
def test_disagreement_is_about_labels_not_places(world: World, disagree: bool) -> None:
    query = RowQuery(disagree=disagree, compare=(1, 2))
    found = world.project.row_ids(query).tolist()
    assert found == expected(world, query)
    assert found


def test_any_combination(world: World) -> None:
    choose = random.Random(9)
    label_ids = [*world.set_order, 3]
    hits = 0
    for _ in range(250):
        query = RowQuery(
            search=choose.choice(["", "", "", "a", "ta", "BETA", "ähr", "50%", "_", "日本", "no such"]),
            state=choose.choice([RowState.ANY, *RowState]),
            label_ids=tuple(choose.sample(label_ids, choose.choice([0, 0, 1, 2]))),
            run_id=choose.choice([1, 2]),
            predicted_ids=tuple(choose.sample(label_ids, choose.choice([0, 0, 1, 2]))),
            confidence=choose.choice([None, None, (0.0, 0.5), (0.4, 1.0)]),
            compare=(1, 2),
            disagree=choose.choice([None, None, True, False]),
            blank=choose.choice([None, None, True, False]),
            pattern=choose.choice(["", "", "", "^a|x$", "ä[hx]", "ta.*x"]),
            among=choose.choice([None, None, tuple(choose.sample(range(1, 151), 90))]),
            duplicate=choose.choice([None, None, True, False]),
            former_ids=choose.choice([(), (), (3,)]),
            given=tuple(choose.sample(range(1, 151), 20)),
            order_column=0,
            order=choose.choice([order for order in RowOrder if order is not RowOrder.RANDOM]),
            descending=choose.random() < 0.5,
        )
        found = world.project.row_ids(query).tolist()
        assert found == expected(world, query), query
        hits += bool(found)
    assert hits > 50


def test_bounds_of_confidence_belong_to_the_range(world: World) -> None:
    values = sorted({float(fact.p[1].max()) for fact in world.facts if 1 in fact.p})
    query = RowQuery(run_id=1, confidence=(values[1], values[3]))
    found = world.project.row_ids(query).tolist()
    assert found == expected(world, query)
    assert {float(world.facts[id_ - 1].p[1].max()) for id_ in found} == set(values[1:4])


def test_random_order_is_stable_under_filters(world: World) -> None:
    everything = world.project.row_ids(RowQuery(order=RowOrder.RANDOM, seed=3)).tolist()
    assert sorted(everything) == [fact.id for fact in world.facts if fact.text.strip()]
    some = world.project.row_ids(RowQuery(order=RowOrder.RANDOM, seed=3, state=RowState.UNLABELLED)).tolist()
    wanted = set(some)
    assert some == [id_ for id_ in everything if id_ in wanted]
    others = [
        world.project.row_ids(RowQuery(order=RowOrder.RANDOM, seed=seed)).tolist() for seed in (0, 1, -1)
    ]
    assert len({tuple(ids) for ids in [everything, *others]}) == 4


def test_random_order_looks_random(world: World) -> None:
    firsts = [int(world.project.row_ids(RowQuery(order=RowOrder.RANDOM, seed=seed))[0]) for seed in range(60)]
    assert len(set(firsts)) > 40
    assert abs(np.mean(firsts) - 75.5) < 20


def test_query_must_say_which_run() -> None:
    for incomplete in (
        {"predicted_ids": (1,)},
        {"confidence": (0.0, 1.0)},
        {"order": RowOrder.MARGIN},
        {"disagree": True},
        {"order": RowOrder.DISAGREE},
    ):
        with pytest.raises(ValueError, match="needs"):
            RowQuery(**incomplete)


SCORED = {RowOrder.CONFIDENCE, RowOrder.MARGIN, RowOrder.PREDICTED, RowOrder.RARE, RowOrder.DISAGREE}


def test_empty_project(tmp_path: Path) -> None:
    with Project.create(tmp_path / "a.sce") as project:
        for order, search in itertools.product(RowOrder, ["", "x"]):
            if order not in SCORED:
                assert project.row_ids(RowQuery(order=order, search=search, order_column=0)).tolist() == []


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("values", [("r7", "r9"), ("alpha",), ("r7", None), (None,), ("R7",)])
def test_cells_of_a_column(world: World, column: int, values: tuple[str | None, ...]) -> None:
    query = RowQuery(cells=(CellFilter(column, values),))
    assert world.project.row_ids(query).tolist() == expected(world, query)


@pytest.mark.parametrize("text_columns", [[0], [1], [2], [2, 0]])
def test_cells_before_and_after_the_text(project: Project, text_columns: list[int]) -> None:
    rows = [("a", "b", "c"), ("c", "a", "b"), (None, "", "a"), ("\ud800a", "b", "\ud800")]
    project.add_rows(("x", "y", "z"), [rows], text_columns=text_columns, source={})
    for column, value in itertools.product(range(3), ["a", "b", "c"]):
        found = project.row_ids(RowQuery(cells=(CellFilter(column, (value,)),))).tolist()
        assert found == [number for number, row in enumerate(rows, start=1) if row[column] == value]
    empty = [project.row_ids(RowQuery(cells=(CellFilter(c, (None,)),))).tolist() for c in range(3)]
    assert empty == [[3], [3], []]
    both = (CellFilter(0, ("a", "c")), CellFilter(1, ("a",)))
    assert project.row_ids(RowQuery(cells=both)).tolist() == [2]


def test_decided_since(project: Project) -> None:
    fill(project, ["one", "two", "three"])
    moments = ["2026-01-01T10:00:00.000+00:00", "2026-01-02T10:00:00.000+00:00"]
    project.annotate(
        Annotation(row_id, Decision.NONE, (), Origin.HAND, moment)
        for row_id, moment in enumerate(moments, start=1)
    )
    assert project.row_ids(RowQuery(decided_since=moments[0])).tolist() == [1, 2]
    assert project.row_ids(RowQuery(decided_since="2026-01-02")).tolist() == [2]


def test_rows_beyond_the_project_are_no_rows(world: World) -> None:
    query = RowQuery(among=(0, 5, 151, -1), given=(900, 5, 5, 0), order=RowOrder.GIVEN)
    assert world.project.row_ids(query).tolist() == [5]
    assert world.project.row_ids(RowQuery(among=())).tolist() == []
