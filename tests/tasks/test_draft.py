"""The draft of a project: when it is made, what sees it, and what an export writes of it."""

from __future__ import annotations

import csv
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowOrder, RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.core.tables import TableOptions
from sce_desktop.ml.draft.model import DraftModel, encoder_key
from sce_desktop.ml.draft.static import load
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import draft as drafting
from sce_desktop.tasks.scoring.classify import ClassifySettings, classify_table
from sce_desktop.tasks.scoring.draft import DraftSource, draft_project
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.tables.export import export_table
from tests.ml.test_draft import vectors
from tests.ml.tiny import DictCache, tiny_sce
from tests.tasks.fakes import StoppingProgress

TEXTS = ["parcel late", "", *(f"money back {number}" for number in range(40)), "rude driver"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny model with a draft."""
    folder = tiny_sce(tmp_path, attention="shared")
    vectors(SCEModel.from_pretrained(folder)).save(folder)
    return folder


@pytest.fixture
def model(folder: Path) -> SCEModel:
    return SCEModel.from_pretrained(folder)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setattr(drafting, "DRAFT_FROM", 5)
    monkeypatch.setattr(drafting, "_BATCH", 8)
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["text"], [[(text,) for text in TEXTS]], text_columns=[0], source={})
        project.set_labels(clean_labels(["parcel", "money", "driver"]))
        yield project


def opened(project: Project, model: SCEModel) -> Run:
    label_set = project.label_set()
    assert label_set is not None
    return project.open_run("sce", "sce", "tiny", model.fingerprint, label_set.labels)


def make(project: Project, model: SCEModel, folder: Path, **options: object) -> tuple[Run, list[int]]:
    """Make the draft; return the run and how many rows had one each time that it was announced."""
    run = opened(project, model)
    seen: list[int] = []
    settings = {"progress": SilentProgress(), **options}
    draft_project(
        project,
        run,
        project.unscored_ids(run.id),
        NamedModel("sce", "tiny", model),
        str(folder),
        on_draft=lambda: seen.append(project.draft_count(run.id)),
        **settings,  # type: ignore[arg-type]
    )
    return run, seen


def test_the_draft_is_what_the_models_head_makes_of_static_vectors(
    project: Project, model: SCEModel, folder: Path
) -> None:
    run, seen = make(project, model, folder)
    assert seen == [0, 42]
    found = project.draft_scores(run.id, [1, 43])
    expected = DraftModel(model, vectors(model)).probabilities([TEXTS[0], TEXTS[42]], run.labels)
    np.testing.assert_allclose(
        [found[1].probabilities, found[43].probabilities], expected.probabilities, atol=2e-3
    )


def test_static_vectors_are_moved_by_rows_from_all_over_the_table(
    project: Project, model: SCEModel, folder: Path
) -> None:
    assert model.tokenizer is not None
    static = load(folder, model.tokenizer, encoder_key(model), width=model.text_embedder.dim)
    assert static is not None
    static.read_first = 6
    static.save(folder)
    cache = DictCache()
    run, seen = make(project, model, folder, cache=cache)
    assert seen == [0, 42]
    some = project.texts(project.unscored_ids(run.id)[::7][:6])
    assert cache.get(model.text_embedder.key, some)[0].all()
    assert len(cache) == 6
    draft = DraftModel(model, static.moved(some, model.embed(some)))
    expected = draft.probabilities([TEXTS[0]], run.labels).probabilities
    found = project.draft_scores(run.id, [1])  # made again of its text
    np.testing.assert_allclose([found[1].probabilities], expected, atol=2e-3)


def test_a_draft_that_is_stopped_keeps_what_it_has(project: Project, model: SCEModel, folder: Path) -> None:
    with pytest.raises(Cancelled):
        make(project, model, folder, progress=StoppingProgress(3))
    run = opened(project, model)
    assert 0 < project.draft_count(run.id) < 42


def test_there_is_no_draft_where_the_model_is_as_fast(
    project: Project, model: SCEModel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = DictCache()
    model.embed([text for text in TEXTS if text], cache=cache)
    assert make(project, model, folder, cache=cache)[1] == []
    monkeypatch.setattr(drafting, "DRAFT_FROM", 100)
    assert make(project, model, folder)[1] == []


def test_there_is_no_draft_of_a_model_without_one(project: Project, model: SCEModel, folder: Path) -> None:
    (folder / "draft.safetensors").unlink()
    assert make(project, model, folder)[1] == []


def test_the_draft_does_not_keep_a_model_in_memory(project: Project, folder: Path) -> None:
    run, _seen = make(project, SCEModel.from_pretrained(folder), folder)
    gc.collect()
    assert project.draft_scores(run.id, [1]) == {}
    assert project.draft_count(run.id) == 42  # the order of the table stays


def test_rows_on_the_screen_are_scored_before_the_draft(
    project: Project, model: SCEModel, folder: Path
) -> None:
    calls: list[tuple[int, list[int]]] = []

    def before_rest(run: Run, rest: IdArray, _score_screen: object) -> None:
        calls.append((len(project.run_arrays(run.id).row_ids), rest.tolist()))

    score_project(
        project,
        [NamedModel("sce", "tiny", model)],
        first_ids=np.array([43, 5]),
        before_rest=before_rest,
        progress=SilentProgress(),
    )
    ((scored, rest),) = calls
    assert scored == 2
    assert rest == [number for number in range(1, 43) if number not in (2, 5)]


def test_rows_that_come_on_the_screen_do_not_wait_for_the_draft(
    project: Project, model: SCEModel, folder: Path
) -> None:
    """A draft of a million rows takes minutes. Rows that one scrolls to are scored by the model meanwhile."""
    named = NamedModel("sce", "tiny", model)
    shown = [1]
    begun: list[tuple[int, list[int]]] = []  # before each batch: rows with a draft alone, rows with a score

    class Scrolling(SilentProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            if stage == "making a draft":
                run = opened(project, model)
                begun.append((project.draft_count(run.id), project.run_arrays(run.id).row_ids.tolist()))
                if done == 16:
                    shown[:] = [40, 5, 2]  # one without a draft yet, one with, a blank one

    progress = Scrolling()

    def before_rest(run: Run, rest: IdArray, score_screen: Callable[[], None]) -> None:
        draft_project(
            project,
            run,
            rest,
            named,
            str(folder),
            on_draft=lambda: None,
            between=score_screen,
            progress=progress,
        )

    score_project(
        project,
        [named],
        first_ids=np.array([1]),
        on_screen=lambda: np.array(shown),
        before_rest=before_rest,
        progress=progress,
    )
    assert begun == [
        (0, [1]),
        (8, [1]),
        (16, [1]),
        (23, [1, 5, 40]),  # row 5 has a score in place of its draft
        (31, [1, 5, 40]),
        (38, [1, 5, 40]),  # row 40 had its score first
        (39, [1, 5, 40]),
    ]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_an_export_has_drafts_only_where_they_are_asked_for(
    project: Project, model: SCEModel, folder: Path, tmp_path: Path
) -> None:
    run, _seen = make(project, model, folder)
    project.add_scores(run.id, [1], model.probabilities(TEXTS[:1], run.labels))
    plain, drafted = tmp_path / "plain.csv", tmp_path / "drafted.csv"
    export_table(project, plain, final=True, progress=SilentProgress())
    rows = read(plain)
    assert "sce_source" not in rows[0]
    assert [bool(row["sce_label"]) for row in rows] == [True, *[False] * 42]
    export_table(project, drafted, final=True, drafts=True, progress=SilentProgress())
    rows = read(drafted)
    assert [row["sce_source"] for row in rows] == ["model", "", *["draft"] * 41]
    assert all(row["sce_label"] for row in rows[2:])
    assert not any(row["final_label"] for row in rows[1:])  # a draft gives no final label
    by_label = RowQuery(order=RowOrder.PREDICTED, run_id=run.id)
    some = tmp_path / "some.csv"
    columns = ["text", "sce_label"]
    export_table(
        project,
        some,
        only="shown",
        query=by_label,
        columns=columns,
        drafts=True,
        progress=SilentProgress(),
    )
    assert list(read(some)[0]) == ["text", "sce_label", "sce_source"]
    assert [row["text"] for row in read(some)] == [
        TEXTS[number - 1] for number in project.row_ids(by_label, draft=True)
    ]


class Session:
    """Loads models from folders."""

    def model(self, name: str) -> SCEModel:
        return SCEModel.from_pretrained(name)

    def baseline(self, spec: str) -> SCEModel:
        raise AssertionError(spec)


def test_classify_writes_a_draft_that_says_so(folder: Path, tmp_path: Path) -> None:
    table, output = tmp_path / "t.csv", tmp_path / "o.csv"
    table.write_text("text\n" + "".join(f"{text or '  '}\n" for text in TEXTS), encoding="utf-8")
    report = classify_table(
        table,
        output,
        ClassifySettings(model=str(folder), draft=True),
        text_columns=["text"],
        labels=clean_labels(["parcel", "money"]),
        source=DraftSource(Session()),
        options=TableOptions(),
        progress=SilentProgress(),
    )
    assert (report.rows, report.scored) == (43, 42)
    rows = read(output)
    assert [row["sce_source"] for row in rows] == ["draft", "", *["draft"] * 41]
    assert rows[0]["sce_label"]


def test_a_model_without_a_draft_is_refused_in_one_sentence(folder: Path) -> None:
    (folder / "draft.safetensors").unlink()
    with pytest.raises(UserError, match="has no draft: score without --draft"):
        DraftSource(Session()).model(str(folder))
