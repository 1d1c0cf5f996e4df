"""Versions made by fine-tunes of a project: where they come from, what they learn, when they are used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.figures import PairedCounts
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.core.training import FinetuneSettings, SinceVersion, TrainingReport
from sce_desktop.core.versions import ModelVersion
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.training import cost
from sce_desktop.tasks.training.training import training_rows
from sce_desktop.tasks.training.version_models import export_version, project_models, version_model
from sce_desktop.tasks.training.versions import improve_project
from tests.ml.test_finetune import GOLD, TEXTS, StopsAt
from tests.ml.tiny import tiny_sce_model
from tests.tasks.version_bench import (  # noqa: F401
    NAMES,
    OneModel,
    base_fixture,
    decide,
    make,
    one_thread_fixture,
    project_fixture,
)


def test_a_version_says_where_it_comes_from(project: Project, base: SCEModel) -> None:
    made = make(project, base)
    version = made.version
    assert project.versions() == (version,)
    assert (version.name, version.base, version.base_fingerprint) == ("version 1", "tiny", base.fingerprint)
    assert (version.train_rows, version.held_out_rows, version.seed, version.active) == (18, 0, 0, False)
    assert version.data_hash == training_rows(project).data_hash
    assert version.report.after.accuracy > version.report.before.accuracy
    assert version.report.difference.better or not version.report.difference.shown
    assert version.settings.origins == (Origin.HAND, Origin.IMPORTED)
    assert version.settings.epochs == 30


def test_the_rows_that_a_version_learned_from_are_kept(project: Project, base: SCEModel) -> None:
    project.create_audit([2, 5], seed=1)
    make(project, base)
    (version,) = project.versions()
    ids = version.learned
    assert ids.dtype == np.int64
    assert ids.tolist() == [1, 3, 4, *range(6, 19)]
    without = replace(version.report, fit=replace(version.report.fit, row_ids=()))
    assert replace(version, report=without).learned.tolist() == []


def test_changed_rows_are_listed(project: Project, base: SCEModel) -> None:
    made = make(project, base)
    assert made.version.report.changed_rows
    texts = dict(zip(made.tuned.measured.tolist(), made.tuned.after.argmax(1).tolist(), strict=True))
    for one in made.version.report.changed_rows:
        assert one.before != one.after == NAMES[texts[one.row_id - 1]]
        assert one.gold == NAMES[GOLD[one.row_id - 1]]


def test_a_version_is_used_in_place_of_its_base(project: Project, base: SCEModel, tmp_path: Path) -> None:
    made = make(project, base)
    labels = [Label(name) for name in NAMES]
    found = version_model(project, made.version, OneModel(base))
    want = made.tuned.model.probabilities(TEXTS, labels).probabilities
    np.testing.assert_array_equal(found.probabilities(TEXTS, labels).probabilities, want)
    export_version(project, made.version, OneModel(base), tmp_path / "out")
    again = SCEModel.from_pretrained(tmp_path / "out")
    np.testing.assert_allclose(again.probabilities(TEXTS, again.labels).probabilities, want, atol=0.02)


def test_the_folder_of_a_version_says_where_it_comes_from(
    project: Project, base: SCEModel, tmp_path: Path
) -> None:
    version = make(project, base).version
    version = replace(version, base=str(tmp_path / "mine" / "our-base"))  # a folder of this machine
    export_version(project, version, OneModel(base), tmp_path / "out")
    readme = tmp_path / "out" / "README.md"
    card = readme.read_text(encoding="utf-8")
    before, after = version.report.before, version.report.after
    for said in (
        "library_name: sce-desktop",
        f"Fine-tuned from our-base (fingerprint {base.fingerprint[:12]}) on {version.created_at[:10]} by",
        f"on {version.train_rows} labelled rows with {len(NAMES)} labels.",
        "The folder is complete: our-base is not needed to use it.",
        "- At most 30 epochs",
        "- Class-balanced weights: yes",
        "- Text encoder: unchanged",
        f"On {version.report.measured} rows (cross-validated):",
        f"| Accuracy, % (95% CI) | {100 * before.accuracy:.1f} (",
        f"| Macro-F1 | {before.macro_f1:.3f} | {after.macro_f1:.3f} |",
        version.report.difference.sentence,
    ):
        assert said in card
    assert str(tmp_path) not in card
    assert not any(text in card for text in TEXTS)
    export_version(project, replace(version, created_at="2030-01-02"), OneModel(base), tmp_path / "out")
    assert "on 2030-01-02 by" in readme.read_text(encoding="utf-8")  # no older card is left
    readme.write_text("my card", encoding="utf-8")
    export_version(project, version, OneModel(base), tmp_path / "out")
    assert readme.read_text(encoding="utf-8") == "my card"


def test_a_renamed_label_keeps_what_was_learned_and_a_namesake_does_not(
    project: Project, base: SCEModel
) -> None:
    made = make(project, base)
    wet, blue, fast, _ = project.label_set().labels  # type: ignore[union-attr]
    renamed = Label("damp", id=wet.id)
    project.set_labels([renamed, blue, fast, Label("wet")])
    found = version_model(project, made.version, OneModel(base))
    assert found.config.corrected == ("damp", "blue", "fast")
    assert [label.name for label in found.labels] == ["damp", "blue", "fast"]
    assert found.correction is not None
    assert made.tuned.model.correction is not None
    np.testing.assert_array_equal(found.correction.weight, made.tuned.model.correction.weight)


def test_labels_that_are_all_gone(project: Project, base: SCEModel) -> None:
    made = make(project, base)
    project.set_labels(clean_labels(["a", "b"]))
    found = version_model(project, made.version, OneModel(base))
    assert found.correction is None
    assert found.labels == ()


def test_another_base_is_refused(project: Project, base: SCEModel) -> None:
    made = make(project, base)
    with pytest.raises(UserError, match="is not the base model of version 1: fine-tune again"):
        version_model(project, made.version, OneModel(tiny_sce_model(seed=3)))


def test_which_rows_are_learned_from(project: Project) -> None:
    labels = project.label_set().labels  # type: ignore[union-attr]
    decide(project, [1, 2], [labels[1].id], origin=Origin.BULK)
    decide(project, [3], [], Decision.NONE)
    decide(project, [4], [], Decision.SKIPPED)
    decide(project, [19], [labels[0].id])  # a blank row
    every = training_rows(project, tuple(Origin))
    assert every.ids.tolist() == [1, 2, *range(5, 19)]
    assert every.gold[:2].tolist() == [1, 1]
    assert every.measurable.tolist() == [False, False, *[True] * 14]
    assert every.left_out == {"origin": 0, "blank": 1, "several": 0, "audit": 0}
    by_hand = training_rows(project)  # rows in bulk only where they are asked for
    assert by_hand.ids.tolist() == list(range(5, 19))
    assert by_hand.left_out["origin"] == 2
    assert by_hand.data_hash != every.data_hash


def test_all_rows_skipped(project: Project, base: SCEModel) -> None:
    decide(project, range(1, 19), [], Decision.SKIPPED)
    with pytest.raises(UserError, match="at least two labels with examples"):
        make(project, base)
    assert project.versions() == ()


def test_projects_without_labels_or_with_several_a_row(tmp_path: Path) -> None:
    with Project.create(tmp_path / "other.sce") as project:
        with pytest.raises(UserError, match="no labels yet"):
            training_rows(project)
        project.set_labels(clean_labels(["a", "b"]), multi_label=True)
        with pytest.raises(UserError, match="is not available in multi-label projects"):
            training_rows(project)


def test_cancelling_leaves_the_versions_as_they_are(project: Project, base: SCEModel) -> None:
    first = make(project, base).version
    project.activate_version(first.id)
    watched = StopsAt(0)
    make(project, base, progress=watched, name="counted")
    for at in (1, watched.asked // 2, watched.asked):
        with pytest.raises(Cancelled):
            make(project, base, progress=StopsAt(at), name="never")
    assert [version.name for version in project.versions()] == ["version 1", "counted"]
    active = project.active_version()
    assert active is not None
    assert active.id == first.id


def test_a_version_that_cannot_be_written(
    project: Project, base: SCEModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make(project, base).version
    project.activate_version(first.id)

    def full(*args: object, **options: object) -> None:
        raise UserError("The disk is full: make room.")

    monkeypatch.setattr(type(project), "add_version", full)
    with pytest.raises(UserError, match="disk is full"):
        make(project, base)
    assert [version.id for version in project.versions()] == [first.id]


def test_rows_of_a_random_sample_are_not_learned_from(project: Project, base: SCEModel) -> None:
    project.create_audit([2, 5, 18], seed=1)
    rows = training_rows(project)
    assert not {2, 5, 18} & set(rows.ids.tolist())
    assert rows.left_out["audit"] == 3
    made = make(project, base)
    assert made.version.train_rows == 15
    assert made.version.report.left_out["audit"] == 3


def test_nor_are_other_rows_with_their_texts(project: Project) -> None:
    labels = project.label_set().labels  # type: ignore[union-attr]
    project.add_rows(["text"], [[(TEXTS[1],), (TEXTS[2],)]], text_columns=[0], source={})
    decide(project, [21, 22], [labels[0].id])
    project.create_audit([2], seed=1)  # 21 is its copy
    rows = training_rows(project)
    assert not {2, 21} & set(rows.ids.tolist())
    assert 22 in rows.ids
    assert rows.left_out["audit"] == 2


def test_baselines_are_measured_on_the_same_rows(project: Project, base: SCEModel) -> None:
    labels = project.label_set().labels  # type: ignore[union-attr]
    run = project.open_run("similarity", "similarity", "m", "f", labels)
    ids = project.unscored_ids(run.id)
    table = np.full((len(ids), 4), 0.1, np.float32)
    table[:, 1] = 0.7
    project.add_scores(run.id, ids[:-2], Scores(table[:-2]))  # the last labelled row is not scored yet
    assert make(project, base).version.report.baselines == {}
    project.add_scores(run.id, ids[-2:], Scores(table[-2:]))
    found = make(project, base).version.report.baselines["similarity"]
    assert found.accuracy == pytest.approx(1 / 3)


def test_the_version_in_use_scores_the_project(project: Project, base: SCEModel) -> None:
    source = OneModel(base)
    before = project_models(project, source, "tiny", [], SilentProgress()).models[0]
    assert (before.name, before.model.fingerprint) == ("tiny", base.fingerprint)
    (old,) = score_project(project, [before], progress=SilentProgress())
    made = make(project, base)
    project.activate_version(made.version.id)
    now = project_models(project, source, "another", [], SilentProgress()).models[0]
    assert now.name == "tiny + version 1"
    (new,) = score_project(project, [now], progress=SilentProgress())
    assert (new.model, new.scored) == ("tiny + version 1", old.scored)
    assert new.fingerprint == made.tuned.model.fingerprint != old.fingerprint
    assert old.id in [run.id for run in project.runs()]  # what the base said stays to be compared with
    project.activate_version(None)
    back = project_models(project, source, "tiny", [], SilentProgress()).models[0]
    (again,) = score_project(project, [back], progress=SilentProgress())
    assert again.id == old.id


def test_the_version_in_use_is_compared_on_what_neither_has_seen(project: Project, base: SCEModel) -> None:
    first = make(project, base)
    assert first.version.report.since is None
    project.activate_version(first.version.id)
    assert make(project, base).version.report.since.paired.rows == 0
    labels = project.label_set().labels  # type: ignore[union-attr]
    project.add_rows(["text"], [[(TEXTS[0],), ("goal match",)]], text_columns=[0], source={})
    # 1, 2: decided again; 20: new; 21: the text of row 1; 22: new
    decide(project, [1, 2, 20, 21, 22], [labels[0].id])
    since = make(project, base).version.report.since
    assert since is not None
    assert (since.version, since.paired.rows) == (first.version.number, 2)


def test_a_version_whose_rows_are_not_known_is_compared_on_nothing(
    project: Project, base: SCEModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.activate_version(make(project, base).version.id)
    monkeypatch.setattr(ModelVersion, "learned", property(lambda _: np.zeros(0, np.int64)))
    assert make(project, base).version.report.since.paired.rows == 0


def test_answers_in_bulk_are_learned_from_and_not_measured(project: Project, base: SCEModel) -> None:
    labels = project.label_set().labels  # type: ignore[union-attr]
    decide(project, [1, 7, 13], [labels[0].id], origin=Origin.BULK)
    made = make(project, base, settings=FinetuneSettings(epochs=30, origins=tuple(Origin)))
    assert made.version.train_rows == 18
    assert made.version.report.measured == 15
    measured = set(training_rows(project, tuple(Origin)).ids[made.tuned.measured].tolist())
    assert not measured & {1, 7, 13}


def test_from_answers_in_bulk_alone_nothing_is_claimed(project: Project, base: SCEModel) -> None:
    labels = project.label_set().labels  # type: ignore[union-attr]
    for row, place in enumerate(GOLD, 1):
        decide(project, [row], [labels[place].id], origin=Origin.BULK)
    made = make(project, base, settings=FinetuneSettings(epochs=30, origins=tuple(Origin)))
    assert made.version.report.difference.sentence == "Not measured: there are no validation rows."
    assert made.version.report.before is None
    with pytest.raises(UserError, match="at least two labels"):  # never by itself
        improve_project(project, base, "tiny", progress=SilentProgress())


def test_a_result_that_is_not_shown_to_be_better_is_not_kept(project: Project, base: SCEModel) -> None:
    trial, version = improve_project(project, base, "tiny", progress=SilentProgress())
    assert trial.report.difference.mean > 0
    assert not trial.report.difference.shown  # 18 rows are too few
    assert version is None
    assert project.versions() == ()


@pytest.mark.parametrize(
    ("base_rows", "since_rows", "better"),
    [
        ((30, 4, 0), None, False),  # 3 to 27 points by the bootstrap alone
        ((30, 5, 0), None, False),
        ((30, 6, 0), None, True),
        ((100, 0, 9), None, False),
        ((100, 20, 4), (30, 4, 0), False),
        ((100, 20, 4), (10, 9, 0), False),
        ((100, 20, 4), (0, 0, 0), False),
        ((100, 20, 4), (40, 8, 1), True),
    ],
)
def test_only_the_exact_test_lets_a_version_be_used(
    base_rows: tuple[int, int, int], since_rows: tuple[int, int, int] | None, better: bool
) -> None:
    since = None if since_rows is None else SinceVersion(1, PairedCounts(*since_rows))
    assert TrainingReport(PairedCounts(*base_rows), since=since).better == better


def test_a_result_that_is_better_is_used(tmp_path: Path, base: SCEModel) -> None:
    texts = [f"{text} {word}" for word in ("new", "old", "very") for text in TEXTS]
    with Project.create(tmp_path / "more.sce") as project:
        project.add_rows(["text"], [[(text,) for text in texts]], text_columns=[0], source={})
        labels = project.set_labels(clean_labels(NAMES)).labels
        for row, place in enumerate(GOLD * 3, 1):
            decide(project, [row], [labels[place].id])
        trial, version = improve_project(project, base, "tiny", progress=SilentProgress())
        assert trial.report.difference.shown
        assert version is not None
        active = project.active_version()
        assert active is not None
        assert active.id == version.id
        # nothing new was decided: it cannot be better than what is in use
        assert improve_project(project, base, "tiny", progress=SilentProgress())[1] is None
        assert len(project.versions()) == 1


def test_a_table_too_large_for_the_memory_is_refused_before_it_starts(
    project: Project, base: SCEModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "free_memory", lambda: 50_000_000)
    with pytest.raises(UserError, match="50 MB is free: learn from fewer rows"):
        make(project, base)
    assert project.versions() == ()


def test_labels_merged_since_the_last_version(project: Project, base: SCEModel) -> None:
    first = make(project, base).version
    wet, blue, *_ = project.label_set().labels  # type: ignore[union-attr]
    project.merge_labels([blue.id], wet.id)
    found = version_model(project, first, OneModel(base))
    assert found.config.corrected == ("wet", "fast")
    assert make(project, base).version.train_rows == 18


def test_contradicting_rows_are_reported_and_used(project: Project, base: SCEModel) -> None:
    labels = project.label_set().labels  # type: ignore[union-attr]
    project.add_rows(["text"], [[(TEXTS[0],)]], text_columns=[0], source={})
    decide(project, [21], [labels[2].id])
    progress = SilentProgress()
    assert make(project, base, progress=progress).version.train_rows == 19
    assert progress.warnings[0] == "Texts with different labels in different rows: 1. All are used."
