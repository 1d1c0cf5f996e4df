"""What is read in parts is of one state of the project, whatever people and jobs write meanwhile."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.controllers import evaluate_work, findings_work
from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import AUDIT, RowOrder, RowQuery
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.audits import draw, gather_sampled, plan
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.tables import export
from sce_desktop.tasks.tables.columns import cells_of
from sce_desktop.tasks.tables.export import export_table
from tests.tasks.fakes import FakeModel

ROWS = 60


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    for size in ("_FIRST_ROWS", "_CHUNK_ROWS", "_BLOCK_ROWS"):
        monkeypatch.setattr(export, size, 10)
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(str(n), f"{'damage' if n % 2 else 'delay'} {n}") for n in range(ROWS)]
        project.add_rows(["id", "text"], [rows], text_columns=[1], source={})
        project.set_labels(clean_labels(["damage", "delay", "other"]))
        damage, delay, _ = _label_ids(project)
        project.decide(range(1, 31), Decision.LABEL, [damage])
        project.decide(range(31, 51), Decision.LABEL, [delay], origin=Origin.BULK)
        project.set_marks(12, flag=True, note="look")
        score_project(project, [NamedModel("sce", "fake", FakeModel())], progress=SilentProgress())
        yield project


def _label_ids(project: Project) -> list[int]:
    label_set = project.label_set()
    assert label_set is not None
    return [label.id for label in label_set.labels if label.id is not None]


def merge(project: Project) -> None:
    damage, delay, _ = _label_ids(project)
    project.merge_labels([damage], delay)


def remove_run(project: Project) -> None:
    run = project.active_run("sce")
    assert run is not None
    project.remove_run(run.id)


def add_rows(project: Project) -> None:
    project.add_rows(["id", "text"], [[("new", "damage new")] * 25], text_columns=[1], source={})


def undo(project: Project) -> None:
    while project.undo() is not None:
        pass


def rename(project: Project) -> None:
    label_set = project.label_set()
    assert label_set is not None
    project.set_labels(clean_labels(["broken", "late"]))


def decide(project: Project) -> None:
    project.decide(range(1, 61), Decision.NONE)
    project.mark_rows(range(1, 61), flag=True)


CHANGES = [merge, remove_run, add_rows, undo, rename, decide]


class Meanwhile(SilentProgress):
    """Lets somebody in another thread change the project when so much has been written."""

    def __init__(self, project: Project, change: Callable[[Project], None], after: int) -> None:
        self.project, self.change, self.after = project, change, after
        self.happened = False

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        if done >= self.after and not self.happened and stage == "exporting":
            self.happened = True
            in_another_thread(self.change, self.project)


def in_another_thread(change: Callable[[Project], None], project: Project) -> None:
    with ThreadPoolExecutor(1) as window:
        window.submit(change, project).result(30)


def _contents(path: Path) -> object:
    if path.suffix != ".xlsx":
        return path.read_bytes()
    with zipfile.ZipFile(path) as book:  # but for the second in which it was made
        return {name: book.read(name) for name in book.namelist() if name != "docProps/core.xml"}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx"])
def test_an_export_is_of_the_state_at_its_beginning(
    project: Project, tmp_path: Path, change: Callable[[Project], None], ending: str
) -> None:
    before, meanwhile, after = (tmp_path / f"{name}.{ending}" for name in ("before", "meanwhile", "after"))
    export_table(project, before, progress=SilentProgress())
    watch = Meanwhile(project, change, after=20)
    assert export_table(project, meanwhile, progress=watch) == ROWS
    assert watch.happened
    assert _contents(meanwhile) == _contents(before)
    export_table(project, after, progress=SilentProgress())
    assert _contents(after) != _contents(before)  # the change did happen


@pytest.mark.parametrize("only", ["labelled", "unlabelled", "flagged", "shown"])
def test_the_rows_of_an_export_are_those_of_its_beginning(
    project: Project, tmp_path: Path, only: export.Which
) -> None:
    query = RowQuery(order=RowOrder.CONFIDENCE, run_id=project.runs()[0].id)
    written = []
    for name, change in (("before", None), ("meanwhile", decide)):
        watch = SilentProgress() if change is None else Meanwhile(project, change, after=1)
        export_table(project, tmp_path / f"{name}.csv", only=only, query=query, progress=watch)
        written.append((tmp_path / f"{name}.csv").read_bytes())
    assert written[0] == written[1]


def test_what_is_said_of_the_models_is_of_the_same_state(project: Project, tmp_path: Path) -> None:
    watch = Meanwhile(project, remove_run, after=10)
    export_table(project, tmp_path / "p.csv", note=True, progress=watch)
    assert project.runs() == ()
    assert "sce: fake" in (tmp_path / "p.csv.about.txt").read_text(encoding="utf-8")


def test_nothing_is_held_when_an_export_fails(project: Project, tmp_path: Path) -> None:
    def fail(_: Project) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        export_table(project, tmp_path / "p.csv", progress=Meanwhile(project, fail, after=10))
    in_another_thread(merge, project)
    assert len(_label_ids(project)) == 2


# --- figures -----------------------------------------------------------------------------------------------


def when_called(
    monkeypatch: pytest.MonkeyPatch, project: Project, name: str, change: Callable[[Project], None]
) -> None:
    """Let ``change`` happen in another thread when ``name`` of the project is called first."""
    as_it_is, calls = getattr(project, name), []

    def called(*args: object, **options: object) -> object:
        if not calls:
            calls.append(1)
            in_another_thread(change, project)
        return as_it_is(*args, **options)

    monkeypatch.setattr(project, name, called)


def decide_sample(project: Project) -> None:
    project.decide(project.audit_rows(project.audits()[-1].id), Decision.NONE, queue=AUDIT)


def redraw(project: Project) -> None:
    draw(project, len(plan(project).kept) + 3, seed=9)


@pytest.mark.parametrize("change", [decide_sample, redraw])
def test_the_audit_sample_is_of_the_same_state_as_the_decisions(
    project: Project, monkeypatch: pytest.MonkeyPatch, change: Callable[[Project], None]
) -> None:
    """The sample has been read and the decisions have not when they change."""
    draw(project, 6, seed=1)
    other = _label_ids(project)[2]
    project.decide(project.audit_rows(1)[:4], Decision.LABEL, [other], queue=AUDIT)
    expected = gather_sampled(project, ["sce"])
    assert len(expected.audit) == 4
    with monkeypatch.context() as patch:
        when_called(patch, project, "audit_frame", change)
        found = evaluate_work.evaluate(project, ["sce"], False, progress=SilentProgress())
    assert found is not None
    part = found.quality.parts[0]
    assert (part.decided, part.none, found.quality.waiting) == (4, 0, 2)


def test_findings_are_of_one_state_and_name_the_model_that_they_are_of(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = findings_work.Wanted(alias="sce")
    expected = findings_work.look(project, wanted, None, progress=SilentProgress())
    with monkeypatch.context() as patch:
        when_called(patch, project, "active_run", merge)
        found = findings_work.look(project, wanted, None, progress=SilentProgress())
    assert found.evidence.names == expected.evidence.names == ("damage", "delay", "other")
    assert found.findings.whole == expected.findings.whole
    remove_run(project)
    findings_work.write(project, found, tmp_path / "found.html", progress=SilentProgress())
    assert "Model: sce: fake" in (tmp_path / "found.html").read_text(encoding="utf-8")


def test_a_column_is_read_as_far_as_it_went_at_the_beginning(project: Project) -> None:
    cells = cells_of(project, 0, SilentProgress())
    first = next(cells)
    add_rows(project)
    assert len([first, *cells]) == ROWS
    assert project.row_count() == ROWS + 25


def test_a_snapshot_begins_when_it_begins(project: Project) -> None:
    """And not with the first that is read in it."""
    with project.snapshot():
        in_another_thread(merge, project)
        assert len(_label_ids(project)) == 3
    assert len(_label_ids(project)) == 2


def test_texts_to_learn_from_belong_to_their_labels(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sce_desktop.tasks.training.training import training_rows

    expected = training_rows(project, tuple(Origin))
    with monkeypatch.context() as patch:
        when_called(patch, project, "annotations", undo)
        found = training_rows(project, tuple(Origin))
    assert found.texts == expected.texts
    assert np.array_equal(found.gold, expected.gold)
    assert project.annotations([1]) == {}
