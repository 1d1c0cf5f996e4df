from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.bulk import BulkOutcome
from sce_desktop.tasks.insight.duplicates import CopyGroup, decide_rest, find_groups, give_all, group_answers
from tests.tasks.fakes import StoppingProgress

LETTER = "The parcel came two weeks late and nobody answered my letters about it"
TEXTS = (
    "The driver was kind",
    f"{LETTER}.",
    "",
    "the driver was kind!",
    f"{LETTER.replace('letters', 'letter')}!",
    "The driver was  kind.",
    "Something else altogether",
    f"{LETTER}.",
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["text"], [[(text,) for text in TEXTS]], text_columns=[0], source={})
        project.set_labels([Label("late"), Label("praise")])
        yield project


@pytest.fixture
def groups(project: Project) -> list[CopyGroup]:
    return find_groups(project, 0.9, progress=SilentProgress())


def answers(project: Project, groups: list[CopyGroup]) -> list[dict[tuple[int, ...], int]]:
    return [dict(found.answers) for found in group_answers(project, groups, progress=SilentProgress())]


def test_groups_say_whether_they_are_copies(project: Project, groups: list[CopyGroup]) -> None:
    found = [(group.row_ids.tolist(), group.exact, group.text) for group in groups]
    assert found == [([1, 4, 6], True, "The driver was kind"), ([2, 5, 8], False, f"{LETTER}.")]
    copies = find_groups(project, 1, progress=SilentProgress())
    assert [(group.row_ids.tolist(), group.exact) for group in copies] == [([1, 4, 6], True), ([2, 8], True)]
    with pytest.raises(Cancelled):
        find_groups(project, progress=StoppingProgress(2))


def test_the_rest_is_decided_alike_but_for_contradictions_and_samples(
    project: Project, groups: list[CopyGroup]
) -> None:
    project.decide([1], Decision.LABEL, [2])
    project.decide([2], Decision.LABEL, [1])
    project.decide([5], Decision.NONE)
    project.decide([4], Decision.SKIPPED)
    assert answers(project, groups) == [{(2,): 1}, {(1,): 1, (0,): 1}]
    assert [found.contradictory for found in group_answers(project, groups, progress=SilentProgress())] == [
        False,
        True,
    ]
    project.create_audit([6], seed=0)
    assert decide_rest(project, groups, queue="file", progress=SilentProgress()) == BulkOutcome(1, spared=1)
    assert answers(project, groups) == [{(2,): 2}, {(1,): 1, (0,): 1}]
    found = project.annotations([1, 4])
    assert (found[1].origin, found[4].origin) == (Origin.HAND, Origin.BULK)
    project.undo()
    assert project.annotations([4])[4].decision is Decision.SKIPPED


def test_all_get_one_answer_in_one_step_and_who_has_it_keeps_it(
    project: Project, groups: list[CopyGroup]
) -> None:
    project.decide([2], Decision.LABEL, [1])
    project.decide([5], Decision.LABEL, [2])
    assert give_all(project, groups[1:], (1,), queue="file", progress=SilentProgress()).rows == 2
    assert answers(project, groups) == [{}, {(1,): 3}]
    assert project.annotations([2])[2].origin is Origin.HAND
    assert give_all(project, groups, (0,), queue="file", progress=SilentProgress()).rows == 6
    assert answers(project, groups) == [{(0,): 3}, {(0,): 3}]
    project.undo()
    project.undo()
    assert answers(project, groups) == [{}, {(1,): 1, (2,): 1}]


def test_rows_of_a_sample_are_never_given_the_same(project: Project, groups: list[CopyGroup]) -> None:
    project.create_audit([6, 2], seed=0)
    found = give_all(project, groups, (1,), queue="file", progress=SilentProgress())
    assert found == BulkOutcome(4, spared=2)
    assert project.annotations([6, 2]) == {}
