"""Figures of labelling sessions, and agreement with oneself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Annotation, Decision, Label, Origin
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.sessions import APART, figures, next_repeat, open_rows, self_agreement

START = datetime(2026, 7, 1, 9, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path):
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(("text",), [[(f"text {n}",) for n in range(60)]], text_columns=[0], source={})
        project.set_labels([Label("Late"), Label("Lost")])
        yield project


def label(project: Project, count: int, *, origin: Origin = Origin.HAND, first: int = 1) -> None:
    project.annotate(
        Annotation(row, Decision.LABEL, (1,), origin, (START + timedelta(seconds=12 * row)).isoformat())
        for row in range(first, first + count)
    )


def test_figures_are_of_rows_labelled_by_hand(project: Project) -> None:
    label(project, 30)
    label(project, 10, origin=Origin.BULK, first=31)
    now = (START + timedelta(seconds=12 * 31)).timestamp()
    found = figures(project, SilentProgress(), now=now, day_start=START.timestamp())
    assert (found.today, found.session, found.median_seconds) == (30, 30, 12)
    assert found.rows_an_hour == 300
    assert figures(project, SilentProgress(), now=now, day_start=now).today == 0
    later = figures(project, SilentProgress(), now=now + 40 * 86400, day_start=now)
    assert (later.today, later.rows_an_hour) == (0, None)


def test_open_rows_of_a_queue(project: Project) -> None:
    label(project, 10)
    assert open_rows(project, None) == 50
    assert open_rows(project, np.arange(8, 15)) == 4


def test_agreement_with_oneself_has_intervals(project: Project) -> None:
    assert self_agreement(project, SilentProgress()).sentence == "No row has been repeated yet."
    label(project, 20)
    project.decide(range(11, 21), Decision.LABEL, [2])
    for row in range(1, 21):
        project.add_repeat(row, [2 if row in (1, *range(11, 21)) else 1])
    found = self_agreement(project, SilentProgress())
    assert (found.rows, found.differing) == (20, (1,))
    assert found.agreement.same == pytest.approx(0.95)
    assert found.agreement.kappa == pytest.approx(0.9)
    assert found.share == pytest.approx((0.7513, 0.9987), abs=1e-3)
    assert found.kappa == pytest.approx((0.5026, 0.9975), abs=1e-3)
    assert found.sentence == (
        "You gave 20 repeated rows the same label in 95% of cases (75 to 100%). "
        "Cohen's kappa 0.90 (0.50 to 1.00)."
    )


def test_equal_answers_throughout_are_no_certainty(project: Project) -> None:
    label(project, 10)
    project.decide([1, 2, 3], Decision.LABEL, [2])
    for row in range(1, 11):
        project.add_repeat(row, [2 if row < 4 else 1])
    found = self_agreement(project, SilentProgress())
    assert found.agreement.kappa == 1
    assert found.kappa is not None
    assert found.kappa[0] < 0.5 < found.kappa[1] == 1


def test_a_row_comes_again_when_enough_others_came_since(project: Project) -> None:
    label(project, APART)
    assert next_repeat(project, 0) is None
    label(project, 5, first=APART + 1)
    drawn = {next_repeat(project, seed) for seed in range(40)}
    assert drawn == {1, 2, 3, 4, 5}
