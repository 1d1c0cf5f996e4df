from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.controllers import evaluate_work, findings_work
from sce_desktop.core.annotations import Annotation, Decision, Label, Origin
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import AUDIT, OPEN_AUDIT
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation import quality
from sce_desktop.tasks.evaluation.audits import draw, plan, sample, state
from sce_desktop.tasks.evaluation.evidence import AuditSample, Evidence, Source, gather
from sce_desktop.tasks.insight.findings import basis

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


def test_a_draw_is_taken_back_in_one_step(project: Project) -> None:
    _decide(project, [5, 6], origin=Origin.BULK)
    before = project.annotations([5, 6])
    assert draw(project, 39, seed=3)[1] == 2
    assert project.annotations([5, 6]) == {}
    project.undo()
    assert project.audits() == ()
    assert project.annotations([5, 6]) == before
    project.redo()
    assert len(project.audits()) == 1
    assert project.annotations([5, 6]) == {}
    project.undo()
    project.undo()
    assert project.annotations([5, 6]) == {}  # the step before: the decisions themselves


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


def _at(project: Project, row_ids: list[int], minute: int, queue: str, **more: object) -> None:
    label_set = project.label_set()
    assert label_set is not None
    label = (label_set.labels[0].id or 0,)
    about = {"decision": Decision.LABEL, "label_ids": label, "origin": Origin.HAND, **more}
    moment = f"2026-01-01T00:{minute:02d}:00.000+00:00"
    project.annotate(
        Annotation(row_id, decided_at=moment, queue=queue, **about)  # type: ignore[arg-type]
        for row_id in row_ids
    )


def test_what_became_of_the_sample_is_counted_and_told(project: Project) -> None:
    draw(project, 12, seed=1)
    now = state(project)
    assert now is not None
    ids = now.row_ids.tolist()
    _at(project, [ids[1]], 0, "file")  # before its turn: stays
    for place, row_id in enumerate(ids[:9]):
        if place in (0, 2, 8):
            _at(project, [row_id], place + 1, OPEN_AUDIT if place == 2 else AUDIT)
    _at(project, [ids[3]], 4, AUDIT, decision=Decision.SKIPPED, label_ids=())
    _at(project, [ids[5]], 20, "confusion")  # its first answer is lost
    _at(project, [ids[6]], 21, AUDIT, origin=Origin.BULK)  # so is this one's
    _at(project, [ids[10]], 22, AUDIT, origin=Origin.BULK)  # does not make the sample longer
    found = sample(project)
    assert found is not None
    assert found.row_ids.tolist() == [*ids[:5], ids[7], ids[8]]
    assert (found.seen, found.skipped, found.passed, found.again, found.later) == (1, 1, 2, 2, 3)
    evidence = gather(project, (), found)
    assert sorted(evidence.row_ids[evidence.audit]) == sorted([*ids[:3], ids[8]])
    assert evidence.waiting == 2 + 3  # whoever skipped a row has looked at it
    said = basis(evidence, model=False)
    assert "1 row was labelled with predictions visible" in said
    assert quality.assess(evidence).parts[0].notes == found.notes
    assert "Excluded: 2 rows relabelled out of order." in said
    assert "1 skipped row excluded" in said
    assert "2 unlabelled rows excluded" in said
    assert AuditSample(found.row_ids).notes == ()
    assert AuditSample(found.row_ids, skipped=3).notes == (
        "3 skipped rows excluded (assumed missing at random).",
    )


def test_both_panels_measure_on_the_same_rows(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    draw(project, 10, seed=1)
    now = state(project)
    assert now is not None
    ids = now.row_ids.tolist()
    _decide(project, ids[6:9], queue="file")
    _decide(project, ids[:2], queue=AUDIT)
    measured: list[Evidence] = []
    assess = quality.assess

    def keep(one: Evidence) -> quality.Quality:
        measured.append(one)
        return assess(one)

    monkeypatch.setattr(quality, "assess", keep)
    evaluate_work.evaluate(project, [], False, progress=SilentProgress())
    answer = findings_work.look(project, findings_work.Wanted(), None, progress=SilentProgress())
    assert measured[0].audit.tolist() == answer.evidence.audit.tolist()
    assert sorted(answer.evidence.row_ids[answer.evidence.audit]) == sorted(ids[:2])
    assert answer.findings.sampled == 2


def test_without_a_sample_there_is_none(project: Project) -> None:
    assert state(project) is None
    assert sample(project) is None
