from __future__ import annotations

from pathlib import Path

import pytest

from sce_desktop.store.project import Project
from tests.store.conftest import fill


def test_sample_keeps_its_order_and_what_it_was_drawn_from(project: Project, path: Path) -> None:
    fill(project, ["one", "", "three", "four", "five"])
    audit = project.create_audit([5, 1, 4], seed=7)
    assert (audit.seed, audit.size, audit.frame, audit.blind) == (7, 3, 4, True)
    fill(project, ["a later row"])  # the sample says nothing about it
    other = project.create_audit([3], seed=8, frame_ids=[3, 6], blind=False)
    project.close()
    with Project.open(path) as again:
        assert again.audits() == (audit, other)
        assert again.audit_rows(audit.id).tolist() == [5, 1, 4]
        assert again.audit_frame(audit.id).tolist() == [1, 3, 4, 5]
        assert again.audit_frame(other.id).tolist() == [3, 6]
        again.undo()
        assert again.audits() == (audit,)
        with pytest.raises(KeyError):
            again.audit_rows(other.id)
        again.redo()
        assert again.audit_rows(other.id).tolist() == [3]


@pytest.mark.parametrize(
    ("rows", "frame"), [([], None), ([1, 1], None), ([2], None), ([9], None), ([1], [3]), ([1], [1, 9])]
)
def test_what_is_no_sample_is_refused(project: Project, rows: list[int], frame: list[int] | None) -> None:
    fill(project, ["one", "", "three"])
    with pytest.raises(ValueError, match="sample"):
        project.create_audit(rows, seed=1, frame_ids=frame)
    assert project.audits() == ()
