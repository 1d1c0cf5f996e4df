"""Large tables: the screen, a random sample, the rest; what the sample says, once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sce_desktop.core.errors import Cancelled
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import sample_first, scoring
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.sample_first import SampleReport, project_sample, sample_ids, seconds_left
from sce_desktop.tasks.scoring.scoring import score_project
from tests.tasks.fakes import FakeModel, StoppingProgress

ROWS, SAMPLE = 400, 60


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large here; and every rest takes long."""
    monkeypatch.setattr(sample_first, "SAMPLE_FROM", 100)
    monkeypatch.setattr(sample_first, "SAMPLE_ROWS", SAMPLE)
    monkeypatch.setattr(scoring, "REPORT_FROM_S", 0.0)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """400 rows and some blank ones: a quarter about damage, the others about delay."""
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(f"{'damage' if n % 4 == 0 else 'delay'} {n}",) for n in range(ROWS)]
        project.add_rows(["text"], [[*rows, (" ",), ("",)]], text_columns=[0], source={})
        project.set_labels(clean_labels(["damage", "delay"]))
        yield project


def named(model: FakeModel, alias: str = "sce") -> NamedModel:
    return NamedModel(alias, model.name, model)


def test_small_tables_have_no_sample() -> None:
    assert not len(sample_ids(np.arange(100)))
    assert len(sample_ids(np.arange(101))) == SAMPLE


def test_the_screen_comes_first_then_the_sample_then_the_rest_in_order(project: Project) -> None:
    model, similar = FakeModel(), FakeModel("similarity", kind="similarity")
    screen = np.array([5, 6, 7])
    score_project(
        project, [named(model), named(similar, "similarity")], first_ids=screen, progress=SilentProgress()
    )
    sample, total = project_sample(project)
    assert (len(sample), total) == (SAMPLE, ROWS)
    for one in (model, similar):
        assert one.scored[:3] == project.texts(screen)
        drawn = sample[~np.isin(sample, screen)]
        end = 3 + len(drawn)
        assert one.scored[3:end] == [project.texts([row_id])[0] for row_id in drawn.tolist()]
        rest = np.setdiff1d(np.arange(1, ROWS + 1), np.concatenate([screen, sample]))
        assert one.scored[end:] == project.texts(rest)


def test_what_the_sample_says_is_reported_when_it_is_through(project: Project) -> None:
    class Other(FakeModel):
        """Says damage of the rows whose number ends in 1, 3, 5, ..., which are about delay, too."""

        def probabilities(self, texts, labels, **more):  # type: ignore[no-untyped-def]
            changed = [f"damage {text}" if int(text.split()[1]) % 2 else text for text in texts]
            found = super().probabilities(changed, labels, **more)
            return found

    model, other = FakeModel(), Other("similarity", kind="similarity")
    heard: list[tuple[SampleReport, int]] = []
    score_project(
        project,
        [named(model), named(other, "similarity")],
        on_sample=lambda report: heard.append((report, len(model.scored))),
        progress=SilentProgress(),
    )
    ((report, scored),) = heard
    assert scored == SAMPLE  # the rest waits
    numbers = [int(project.texts([row_id])[0].split()[1]) for row_id in project_sample(project)[0].tolist()]
    damage = np.mean([n % 4 == 0 for n in numbers])
    assert (report.rows, report.total, report.project) == (SAMPLE, ROWS, project.path)
    assert dict(report.shares) == pytest.approx({"damage": damage, "delay": 1 - damage})
    assert [name for name, _share in report.shares] == ["delay", "damage"]
    # both labels are in the text then, and the tie goes to the first
    assert report.disagree == pytest.approx(np.mean([n % 2 == 1 for n in numbers]))


def test_it_is_reported_once_a_run_and_resumed_runs_keep_the_sample(project: Project) -> None:
    heard: list[SampleReport] = []
    model = FakeModel()
    with pytest.raises(Cancelled):
        score_project(project, [named(model)], on_sample=heard.append, progress=StoppingProgress(3))
    before = list(model.scored)
    sample, _total = project_sample(project)
    in_order = [project.texts([row_id])[0] for row_id in sample.tolist()]
    assert before == in_order[: len(before)]
    assert 0 < len(before) < SAMPLE
    assert not heard
    score_project(project, [named(model)], on_sample=heard.append, progress=SilentProgress())
    assert model.scored[:SAMPLE] == in_order
    assert len(model.scored) == ROWS
    assert [report.rows for report in heard] == [SAMPLE]
    project.add_rows(["text"], [[("delay more",)]], text_columns=[0], source={})
    score_project(project, [named(model)], on_sample=heard.append, progress=SilentProgress())
    assert len(heard) == 1


def test_it_is_reported_though_only_a_baseline_had_to_go_on(project: Project) -> None:
    """The model has scored its part of the sample, and stops within that of the baseline."""
    heard: list[SampleReport] = []
    model, similar = FakeModel(), FakeModel("similarity", kind="similarity")

    class Stopping(FakeModel):
        def probabilities(self, *_all: Any, **_more: Any) -> Scores:
            raise Cancelled

    with pytest.raises(Cancelled):
        score_project(
            project,
            [named(model), named(Stopping("similarity", kind="similarity"), "similarity")],
            on_sample=heard.append,
            progress=SilentProgress(),
        )
    assert len(model.scored) == SAMPLE
    assert not heard
    both = [named(model), named(similar, "similarity")]
    score_project(project, both, on_sample=heard.append, progress=SilentProgress())
    assert [(report.rows, report.disagree) for report in heard] == [(SAMPLE, 0.0)]


def test_the_time_left_is_that_of_all_models() -> None:
    assert seconds_left([10.0, 2.0], [100, 100], [1000, 500]) == pytest.approx(110)
    assert seconds_left([0.0, 2.0], [0, 100], [1000, 500]) == pytest.approx(30)
    assert seconds_left([0.0], [0], [1000]) == 0


def test_nothing_is_reported_where_the_rest_is_soon_done(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "REPORT_FROM_S", 60.0)
    heard: list[SampleReport] = []
    score_project(project, [named(FakeModel())], on_sample=heard.append, progress=SilentProgress())
    assert not heard


def test_rows_that_no_label_fits_are_a_share_too(project: Project) -> None:
    project.set_labels(clean_labels(["damage", "nothing like it"]))
    heard: list[SampleReport] = []
    score_project(
        project, [named(FakeModel(says_none=True))], on_sample=heard.append, progress=SilentProgress()
    )
    shares = dict(heard[0].shares)
    assert shares["none of these"] == pytest.approx(1 - shares["damage"])
    assert shares["nothing like it"] == 0


def test_several_labels_a_row(project: Project) -> None:
    project.set_labels(clean_labels(["damage", "delay", "a"]), multi_label=True)
    heard: list[SampleReport] = []
    score_project(project, [named(FakeModel())], on_sample=heard.append, progress=SilentProgress())
    shares = dict(heard[0].shares)
    assert shares["a"] == 1  # every text has an a
    assert shares["damage"] + shares["delay"] == pytest.approx(1)


def report(**more: object) -> SampleReport:
    shares = (("Delivery", 0.41), ("Price", 0.3), ("App", 0.2), ("Staff", 0.08), ("Other", 0.01))
    return SampleReport(Path("p.sce"), 1, 2000, 100_000, shares, 6600.0, **more)  # type: ignore[arg-type]


def test_the_sentence() -> None:
    assert report(beside="similarity", disagree=0.12).sentence() == (
        "2,000 of 100,000 rows scored at random: Delivery 41%, Price 30%, App 20%, Staff 8%, …; "
        "12% disagree with Similarity. The rest takes about 1 h 50 min in the background."
    )
    assert report().sentence(background=False).endswith("Staff 8%, …. The rest takes about 1 h 50 min.")
