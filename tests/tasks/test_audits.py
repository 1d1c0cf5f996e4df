from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.types import Decision, Label, Origin
from sce_desktop.store.project import Project
from sce_desktop.store.query import AUDIT
from sce_desktop.tasks.audits import draw, plan, sample, state
from sce_desktop.tasks.evidence import Source, gather

ROWS = 40


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(str(n), "" if n == 0 else f"text {n}") for n in range(ROWS)]  # row 1 is blank
        project.add_rows(("ref", "text"), [rows], text_columns=[1], source={})
        project.set_labels([Label("a"), Label("b")])
        yield project


def _decide(project: Project, ids: list[int], **more: object) -> None:
    label_set = project.label_set()
    assert label_set is not None
    project.decide(ids, Decision.LABEL, [label_set.labels[0].id or 0], **more)  # type: ignore[arg-type]


def test_a_sample_is_drawn_from_rows_that_nobody_has_answered(project: Project) -> None:
    _decide(project, [2, 3])
    _decide(project, [4], origin=Origin.IMPORTED)
    _decide(project, [5], origin=Origin.BULK)
    project.decide([6], Decision.SKIPPED)
    found = plan(project)
    assert found.frame.tolist() == list(range(5, ROWS + 1))
    assert (len(found.kept), found.known) == (0, 3)
    audit, cleared = draw(project, len(found.frame), seed=3)
    assert cleared == 1  # the model's own answer would be seen
    assert (audit.size, audit.frame, audit.blind) == (36, 36, True)
    drawn = project.audit_rows(audit.id)
    assert sorted(drawn) == found.frame.tolist() != drawn.tolist()
    now = state(project)
    assert now is not None
    assert (now.decided, now.skipped, now.waiting) == (0, 1, 35)
    assert now.first_waiting == next(row_id for row_id in drawn.tolist() if row_id != 6)


def test_a_larger_sample_keeps_the_rows_of_the_present_one(project: Project) -> None:
    draw(project, 10, seed=1)
    first = state(project)
    assert first is not None
    _decide(project, first.row_ids[:4].tolist(), queue=AUDIT)
    found = plan(project)
    assert (len(found.frame), found.kept.tolist(), found.decided) == (39, first.row_ids.tolist(), 4)
    for size in (10, 40):
        with pytest.raises(UserError, match="choose 11 to 39"):
            draw(project, size, seed=2)
    draw(project, 25, seed=2, blind=False)
    larger = state(project)
    assert larger is not None
    assert larger.row_ids[:10].tolist() == first.row_ids.tolist()
    assert len(set(larger.row_ids.tolist())) == 25
    assert (larger.decided, larger.audit.blind) == (4, False)
    project.undo()
    assert len(project.audits()) == 1


def test_rows_added_later_ask_for_a_new_sample(project: Project) -> None:
    draw(project, 10, seed=1)
    before = state(project)
    assert before is not None
    _decide(project, before.row_ids[:4].tolist(), queue=AUDIT)
    project.add_rows(("ref", "text"), [[("x", "a new text")]], text_columns=[1], source={})
    found = plan(project)
    assert len(found.kept) == 0
    assert found.known == 4
    assert ROWS + 1 in found.frame


def test_rows_decided_out_of_their_turn_are_no_sample_yet(project: Project) -> None:
    draw(project, 10, seed=1)
    now = state(project)
    assert now is not None
    ids = now.row_ids.tolist()
    _decide(project, ids[7:9], queue="least certain")
    _decide(project, ids[1:2], queue="file")
    found = sample(project)
    assert found is not None
    assert len(found.row_ids) == 0
    _decide(project, [ids[0]], queue=AUDIT)
    _decide(project, [ids[2]], queue=AUDIT)
    evidence = gather(project, (), sample(project))
    assert sorted(evidence.row_ids[evidence.audit]) == sorted(ids[:3])
    assert evidence.source[np.isin(evidence.row_ids, ids[7:9])].tolist() == [Source.HAND] * 2
    _decide(project, [ids[9]], queue=AUDIT)
    assert len(gather(project, (), sample(project)).audit) == 6


def test_without_a_sample_there_is_none(project: Project) -> None:
    assert state(project) is None
    assert sample(project) is None
