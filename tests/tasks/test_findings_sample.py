"""Shares while a large table is being scored are those of its random sample, and say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.controllers.findings_work import Wanted, look
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.estimates import wilson_interval
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import AUDIT
from sce_desktop.core.runs import Run, Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.findings_sample import mean_share
from sce_desktop.tasks.scoring import sample_first
from sce_desktop.tasks.scoring.sample_first import project_sample

ROWS, SAMPLE = 1000, 240


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """1,000 rows: the first 300 are late for sure, the others praise for sure."""
    monkeypatch.setattr(sample_first, "SAMPLE_FROM", 500)
    monkeypatch.setattr(sample_first, "SAMPLE_ROWS", SAMPLE)
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(f"text {n}", "first" if n < 500 else "second") for n in range(ROWS)]
        project.add_rows(["text", "half"], [rows], text_columns=[0], source={})
        project.set_labels([Label("Late"), Label("Praise")])
        yield project


def score(project: Project, ids: np.ndarray) -> Run:
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    project.activate(run.id)
    late = np.where(ids <= 300, 0.9, 0.1).astype(np.float32)
    project.add_scores(run.id, ids, Scores(np.stack([late, 1 - late], axis=1)))
    return run


def answer(project: Project, view: str = "shares"):  # type: ignore[no-untyped-def]
    wanted = Wanted(view, column=None if view == "shares" else 1, alias="sce")  # type: ignore[arg-type]
    return look(project, wanted, None, progress=SilentProgress())


def test_shares_are_of_the_sample_and_not_of_the_first_rows(project: Project) -> None:
    sample, _total = project_sample(project)
    score(project, np.unique(np.concatenate([np.arange(1, 51), sample])))  # the screen shows late rows
    found = answer(project)
    late = float(np.where(sample <= 300, 0.9, 0.1).mean())
    share = found.findings.whole.shares[0].share
    assert share.value == pytest.approx(late, abs=1e-6)
    assert share.interval == pytest.approx(wilson_interval(late, SAMPLE, rows=ROWS), abs=1e-6)
    assert share.interval[0] < 0.9 * 0.3 + 0.1 * 0.7 < share.interval[1]
    assert "Model estimates from 240 of 1,000 rows, drawn at random and scored first." in found.sentences[1]


def test_a_part_of_the_sample_is_a_sample_too(project: Project) -> None:
    sample, _total = project_sample(project)
    score(project, np.unique(np.concatenate([np.arange(1, 51), sample[:120]])))
    found = answer(project)
    assert "from 120 of 1,000 rows" in found.sentences[1]
    late = float(np.where(sample[:120] <= 300, 0.9, 0.1).mean())
    assert found.findings.whole.shares[0].share.value == pytest.approx(late, abs=1e-6)


def test_parts_are_estimated_by_their_own_rows(project: Project) -> None:
    sample, _total = project_sample(project)
    score(project, sample)
    found = answer(project, "column")
    first, second = found.findings.groups
    assert (first.name, second.name) == ("first", "second")
    inside = sample[sample <= 500]
    assert first.sampled == len(inside)
    assert first.rows == 500
    late = float(np.where(inside <= 300, 0.9, 0.1).mean())
    assert first.shares[0].share.value == pytest.approx(late, abs=1e-6)
    assert second.shares[0].share.value == pytest.approx(0.1, abs=1e-6)


def test_labelled_rows_count_as_labelled(project: Project) -> None:
    sample, _total = project_sample(project)
    score(project, sample)
    label_set = project.label_set()
    assert label_set is not None
    praise = label_set.labels[1].id
    assert praise is not None
    project.decide(sample[sample <= 300].tolist(), Decision.LABEL, [praise])
    found = answer(project)
    late = float(np.where(sample <= 300, 0.0, 0.1).mean())
    assert found.findings.whole.shares[0].share.value == pytest.approx(late, abs=1e-6)


def test_too_little_of_the_sample_is_no_estimate(project: Project) -> None:
    sample, _total = project_sample(project)
    score(project, np.unique(np.concatenate([np.arange(1, 301), sample[:20]])))
    with pytest.raises(UserError, match="Shares appear when 100 rows drawn at random are scored: "):
        answer(project)


def test_with_every_row_scored_the_figures_are_of_all(project: Project) -> None:
    score(project, np.arange(1, ROWS + 1))
    found = answer(project)
    assert found.findings.whole.shares[0].share.value == pytest.approx(0.9 * 0.3 + 0.1 * 0.7, abs=1e-6)
    assert found.findings.whole.shares[0].share.interval is None
    assert "Model estimates only" in found.sentences[1]


def test_an_audit_sample_goes_before(project: Project) -> None:
    sample, _total = project_sample(project)
    score(project, sample)
    label_set = project.label_set()
    assert label_set is not None
    drawn = np.random.default_rng(0).permutation(ROWS)[:40] + 1
    project.create_audit(drawn, 1)
    for row_id in drawn.tolist():
        label_id = label_set.labels[int(row_id > 300)].id
        assert label_id is not None
        project.decide([row_id], Decision.LABEL, [label_id], queue=AUDIT)
    found = answer(project)
    assert "Estimated from a random sample of 40 rows" in found.sentences[1]
    assert "Scoring is under way: predictions of 240 of 1,000 rows, drawn at random." in found.notes


def test_the_interval_holds_as_often_as_it_says() -> None:
    """Probabilities of 20,000 rows; 1,000 samples of 200."""
    rng = np.random.default_rng(0)
    rows = rng.beta(0.2, 1.8, 20_000)
    held = 0
    for _draw in range(1000):
        low, high = mean_share(rng.choice(rows, 200, replace=False), len(rows)).interval or (0, 0)
        held += low <= rows.mean() <= high
    assert held >= 950
