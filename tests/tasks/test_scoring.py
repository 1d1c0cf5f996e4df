from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.scored import ScoredChunk
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring import scoring
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import next_chunk, score_project
from tests.tasks.fakes import FakeModel, RecordingProgress, StoppingProgress

TEXTS = ["damage one", "", "delay two", "both damage and delay", "  ", *(f"damage {n}" for n in range(95))]
SCORED = 98


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        add(project, TEXTS)
        project.set_labels(clean_labels(["damage", "delay"]))
        yield project


def add(project: Project, texts: Sequence[str]) -> None:
    project.add_rows(["text"], [[(text,) for text in texts]], text_columns=[0], source={})


def named(model: FakeModel, alias: str = "sce") -> NamedModel:
    return NamedModel(alias, model.name, model)


def test_every_row_with_text_is_scored_once(project: Project) -> None:
    model = FakeModel()
    (run,) = score_project(project, [named(model)], progress=SilentProgress())
    assert model.scored == [text for text in TEXTS if text.strip()]
    assert run == project.active_run("sce")
    assert (run.scored, run.finished_at is not None) == (SCORED, True)
    score = project.scores(run.id, [4])[4]
    np.testing.assert_allclose(score.probabilities, [0.5, 0.5])
    assert score.top == 0  # the tie goes to the first label
    score_project(project, [named(model)], progress=SilentProgress())
    assert len(model.scored) == SCORED


def test_chunks_are_handed_over_once_they_are_in_the_project(project: Project) -> None:
    seen: list[ScoredChunk] = []

    def take(chunk: ScoredChunk) -> None:
        kept = project.scores(chunk.run.id, chunk.row_ids)
        assert sorted(kept) == sorted(chunk.row_ids.tolist())
        seen.append(chunk)

    shown = np.asarray([50, 40], dtype=np.int64)
    with pytest.raises(Cancelled):
        score_project(
            project, [named(FakeModel())], first_ids=shown, on_scored=take, progress=StoppingProgress(4)
        )
    score_project(project, [named(FakeModel())], on_scored=take, progress=SilentProgress())
    assert seen[0].row_ids.tolist() == [50, 40]
    assert seen[0].run.scored == 0  # as the run was before
    assert seen[-1].run.scored > 0  # it was continued
    ids = np.concatenate([chunk.row_ids for chunk in seen])
    assert len(ids) == len(set(ids.tolist())) == SCORED
    for chunk in seen:
        kept = project.scores(chunk.run.id, chunk.row_ids)
        for row_id, probabilities in zip(chunk.row_ids, chunk.scores.probabilities, strict=True):
            np.testing.assert_array_equal(kept[int(row_id)].probabilities, probabilities)


def test_new_rows_alone_are_scored_later(project: Project) -> None:
    model = FakeModel()
    score_project(project, [named(model)], progress=SilentProgress())
    add(project, ["new delay", "", "new damage"])
    score_project(project, [named(model)], progress=SilentProgress())
    assert model.scored[SCORED:] == ["new delay", "new damage"]


def test_cancel_keeps_what_is_scored_and_the_next_call_goes_on(project: Project) -> None:
    model = FakeModel()
    with pytest.raises(Cancelled):
        score_project(project, [named(model)], progress=StoppingProgress(4))
    run = project.active_run("sce")
    assert run is not None
    kept = run.scored
    assert 0 < kept < SCORED
    assert run.finished_at is None
    assert project.verify() == []
    score_project(project, [named(model)], progress=SilentProgress())
    assert len(model.scored) == SCORED
    again = project.active_run("sce")
    assert again is not None
    assert (again.id, again.scored) == (run.id, SCORED)


def test_rows_on_screen_come_first_with_every_model(project: Project) -> None:
    order: list[tuple[str, str]] = []

    class Noting(FakeModel):
        def probabilities(self, texts, labels, **options):  # type: ignore[no-untyped-def]
            order.extend((self.name, text) for text in texts)
            return super().probabilities(texts, labels, **options)

    models = [named(Noting("main")), named(Noting("base", kind="similarity"), "similarity")]
    shown = np.asarray([50, 2, 40, 4], dtype=np.int64)  # row 2 is blank
    score_project(project, models, first_ids=shown, progress=SilentProgress())
    first = [TEXTS[49], TEXTS[39], TEXTS[3]]
    assert order[:6] == [("main", text) for text in first] + [("base", text) for text in first]
    assert len(order) == 2 * SCORED


def test_rows_that_come_on_the_screen_meanwhile_go_before_the_rest_with_every_model(project: Project) -> None:
    """A table is scored for hours: who scrolls sees scores of the model soon."""
    order: list[tuple[str, int]] = []
    shown = [50, 2, 40, 4]  # row 2 is blank

    def take(chunk: ScoredChunk) -> None:
        order.extend((chunk.run.alias, row_id) for row_id in chunk.row_ids.tolist())
        if len(order) >= 2 * 3 + scoring.FIRST_CHUNK:
            shown[:] = [99, 40, 98, 2, 1_000_000]  # scored, blank and unknown ones among them

    progress = RecordingProgress()
    runs = score_project(
        project,
        [named(FakeModel()), named(FakeModel("near", kind="similarity"), "near")],
        first_ids=np.asarray(shown),
        on_screen=lambda: np.asarray(shown),
        on_scored=take,
        progress=progress,
    )
    begun = 2 * 3 + scoring.FIRST_CHUNK
    assert order[begun : begun + 4] == [("sce", 99), ("sce", 98), ("near", 99), ("near", 98)]
    assert len(order) == len(set(order)) == 2 * SCORED
    assert all(run.scored == SCORED and run.finished_at for run in runs)
    counted = [done for done, _total, stage in progress.reports if stage.endswith("SCE")]
    assert counted == sorted(counted)
    assert progress.reports[-1] == (SCORED, SCORED, "scoring with near")


def test_a_baseline_that_cannot_score_is_not_asked_about_the_screen_again(project: Project) -> None:
    class Unable(FakeModel):
        asked = 0

        def probabilities(self, texts, labels, **options):  # type: ignore[no-untyped-def]
            self.asked += 1
            raise UserError("Too many labels.")

    unable = Unable("near", kind="similarity")
    models = [named(FakeModel()), named(unable, "near")]
    with pytest.raises(UserError, match="Too many"):
        score_project(project, models, on_screen=lambda: np.array([60, 70]), progress=SilentProgress())
    assert unable.asked == 1
    run = project.active_run("sce")
    assert run is not None
    assert run.scored == SCORED


def test_a_model_that_is_asked_about_the_screen_alone_goes_on_later(project: Project) -> None:
    main, slow = FakeModel(), FakeModel("slow", kind="llm")
    models = [named(main), named(slow, "llm")]

    def show(*rows: int, only: tuple[str, ...] = ("llm",)) -> int:
        ids = np.asarray(rows, dtype=np.int64)
        runs = score_project(project, models, first_ids=ids, first_only=only, progress=SilentProgress())
        assert runs[0].finished_at is not None
        assert (runs[1].finished_at is None) == (runs[1].scored < SCORED)
        return runs[1].scored

    assert show(50, 2, 40) == 2  # row 2 is blank
    assert len(main.scored) == SCORED
    assert slow.scored == [TEXTS[49], TEXTS[39]]
    run = project.active_run("llm")
    assert run is not None
    assert sorted(project.scores(run.id, [40, 41, 50])) == [40, 50]
    assert show(50, 41) == 3
    assert slow.scored[2:] == [TEXTS[40]]  # what is scored is not asked again
    assert show() == 3
    progress = RecordingProgress()
    score_project(project, models[1:], first_ids=np.asarray([1]), first_only=("llm",), progress=progress)
    assert progress.reports[-1][:2] == (4, 4)  # three were scored before
    assert show(only=()) == SCORED
    assert len(slow.scored) == SCORED


def test_what_a_baseline_cannot_do_keeps_no_other_model_from_scoring(project: Project) -> None:
    class Refusing(FakeModel):
        def probabilities(self, texts, labels, **options):  # type: ignore[no-untyped-def]
            raise UserError("The 200 labels leave no room for a text.")

    models = [named(FakeModel()), named(Refusing("llm", kind="llm"), "llm"), named(FakeModel("near"), "near")]
    with pytest.raises(UserError, match="leave no room"):
        score_project(project, models, first_ids=np.asarray([1, 3]), progress=SilentProgress())
    found = {run.alias: (run.scored, run.finished_at is not None) for run in project.runs()}
    assert found == {"sce": (SCORED, True), "llm": (0, False), "near": (SCORED, True)}
    with pytest.raises(UserError, match="leave no room"):
        score_project(project, models[1:2], progress=SilentProgress())  # the first of them tells at once


def test_each_model_has_its_own_run(project: Project) -> None:
    models = [named(FakeModel()), named(FakeModel("near", kind="similarity"), "near")]
    runs = score_project(project, models, progress=SilentProgress())
    assert [(run.alias, run.kind, run.model) for run in runs] == [
        ("sce", "sce", "fake"),
        ("near", "similarity", "near"),
    ]
    assert [run.scored for run in project.runs()] == [SCORED, SCORED]


def test_edited_labels_make_a_new_run_and_the_old_one_stays(project: Project) -> None:
    model = FakeModel()
    (old,) = score_project(project, [named(model)], progress=SilentProgress())
    project.set_labels(clean_labels(["damage", "delay", "praise"]))
    (new,) = score_project(project, [named(model)], progress=SilentProgress())
    assert new.id != old.id
    assert len(model.scored) == 2 * SCORED
    assert {run.scored for run in project.runs()} == {SCORED}
    project.set_labels(clean_labels(["damage", "delay"]))  # and back: nothing is to be done
    (back,) = score_project(project, [named(model)], progress=SilentProgress())
    assert back.id == old.id
    assert len(model.scored) == 2 * SCORED


def test_runs_that_label_edits_left_behind_are_removed(project: Project) -> None:
    model = named(FakeModel())
    names = ["damage", "delay"]
    made = [score_project(project, [model], progress=SilentProgress())[0].id]
    (tuned,) = score_project(project, [named(FakeModel(fingerprint="tuned"))], progress=SilentProgress())
    for name in ("praise", "price", "app"):
        names.append(name)
        project.set_labels(clean_labels(names))
        made.append(score_project(project, [model], progress=SilentProgress())[0].id)
    kept = [run.id for run in project.runs()]
    assert kept == [tuned.id, *made[-2:]]  # a version's run is compared with, whatever its labels
    assert project.verify() == []


def test_runs_of_a_model_that_is_called_so_stay(project: Project) -> None:
    """Of one that knows the table those are removed that knew fewer rows; its name makes no model one."""
    for fingerprint in "abcd":
        model = NamedModel("sce", "x, whole table", FakeModel(fingerprint=fingerprint))
        score_project(project, [model], progress=SilentProgress())
    assert [run.fingerprint for run in project.runs()] == [*"abcd"]
    for fingerprint in "efgh":
        model = NamedModel("sce", "x", FakeModel(fingerprint=fingerprint), whole_table=True)
        score_project(project, [model], progress=SilentProgress())
    kept = [run.fingerprint for run in project.runs() if run.whole_table]
    assert kept == [*"gh"]
    assert len(project.runs()) == 4 + len(kept)
    alone = NamedModel("sce", "x", FakeModel(fingerprint="i"))
    score_project(project, [alone], progress=SilentProgress())
    assert [run.fingerprint for run in project.runs()] == [*"abcdghi"]


def test_a_run_that_is_looked_at_stays_until_the_next_one(project: Project) -> None:
    """It is active when the scoring begins, and the window may still show it when that ends."""
    model = named(FakeModel())
    for labels in (["damage", "a"], ["damage", "b"]):
        project.set_labels(clean_labels(labels))
        score_project(project, [model], progress=SilentProgress())
    project.set_labels(clean_labels(["damage", "c"]))
    with pytest.raises(Cancelled):
        score_project(project, [model], progress=StoppingProgress(4))
    stopped = project.active_run("sce")
    assert stopped is not None
    for labels, stays in ((["damage", "d"], True), (["damage", "e"], False)):
        project.set_labels(clean_labels(labels))
        score_project(project, [model], progress=SilentProgress())
        assert (stopped.id in {run.id for run in project.runs()}) == stays


def test_another_model_under_the_same_alias_makes_a_new_run(project: Project) -> None:
    (old,) = score_project(project, [named(FakeModel())], progress=SilentProgress())
    (new,) = score_project(project, [named(FakeModel(fingerprint="tuned"))], progress=SilentProgress())
    assert new.id != old.id
    assert project.active_run("sce") == project.runs()[1]


def test_without_labels_those_of_the_model(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        add(project, ["a", "b"])
        with pytest.raises(UserError, match="no labels"):
            score_project(project, [named(FakeModel())], progress=SilentProgress())
        own = (Label("damage", description="broken"), Label("delay"))
        (run,) = score_project(project, [named(FakeModel(labels=own))], progress=SilentProgress())
        assert run.label_names == ("damage", "delay")
        kept = project.label_set()
        assert kept is not None
        assert kept.labels[0].description == "broken"


def test_one_label_is_scored_too(project: Project) -> None:
    project.set_labels(clean_labels(["damage"]))
    (run,) = score_project(project, [named(FakeModel())], progress=SilentProgress())
    assert not run.multi_label
    assert run.label_names == ("damage",)


def test_a_project_open_elsewhere_is_refused(project: Project) -> None:
    with Project.open(project.path) as second, pytest.raises(UserError, match="open elsewhere"):
        score_project(second, [named(FakeModel())], progress=SilentProgress())


def test_progress_counts_the_rows_of_each_model_as_the_project_does(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FIRST_CHUNK", 10)
    progress = RecordingProgress()
    models = [named(FakeModel()), named(FakeModel("near", kind="similarity"), "near")]
    score_project(project, models, progress=progress)
    for stage in ("scoring with SCE", "scoring with near"):
        done = [done for done, total, said in progress.reports if (total, said) == (SCORED, stage)]
        assert done == sorted(done)
        assert done[:2] == [0, 10]
        assert done[-1] == SCORED
    assert {stage for *_, stage in progress.reports} == {"scoring with SCE", "scoring with near"}


def test_progress_goes_on_from_what_was_scored_before(project: Project) -> None:
    with pytest.raises(Cancelled):
        score_project(project, [named(FakeModel())], progress=StoppingProgress(4))
    run = project.active_run("sce")
    assert run is not None
    assert 0 < run.scored < SCORED
    progress = RecordingProgress()
    score_project(project, [named(FakeModel())], progress=progress)
    assert progress.reports[0] == (run.scored, SCORED, "scoring with SCE")
    assert progress.reports[-1] == (SCORED, SCORED, "scoring with SCE")


def test_the_screen_is_scored_and_told_model_by_model_before_the_rest(project: Project) -> None:
    first = np.array([50, 7, 40])
    scored: dict[str, list[int]] = {}

    class Watching(RecordingProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            if stage not in scored:  # it begins: what it says of those before must be in the file
                scored[stage] = [run.scored for run in project.runs()]
            super().report(done, total, stage=stage)

    models = [named(FakeModel()), named(FakeModel("near", kind="similarity"), "near")]
    score_project(project, models, first_ids=first, progress=Watching())
    assert scored == {
        "scoring visible rows with SCE": [0],
        "scoring visible rows with near": [len(first), 0],
        "scoring with SCE": [len(first), len(first)],
        "scoring with near": [SCORED, len(first)],
    }


def test_chunks_grow_and_shrink_towards_their_time() -> None:
    assert next_chunk(32, 0.001) == 128
    assert next_chunk(100, 0.7) == 100
    assert next_chunk(100, 1.4) == 50
    assert next_chunk(100, 60.0) == 25
    assert next_chunk(10, 60.0) == scoring.SMALLEST_CHUNK
    assert next_chunk(19_000, 0.1) == scoring.LARGEST_CHUNK
