"""Versions whose text embedder was adapted, and those in fewer bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.encoder.precision import precisions
from sce_desktop.ml.finetune import finetune_embedder
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.training import cost
from sce_desktop.tasks.training.version_models import export_version, project_models
from tests.ml.test_finetune import TEXTS
from tests.ml.tiny import DictCache
from tests.tasks.version_bench import (  # noqa: F401
    NAMES,
    OneModel,
    base_fixture,
    make,
    one_thread_fixture,
    project_fixture,
)

ADAPTING = FinetuneSettings(epochs=10, lr=1.9, adapt_embedder=True)


def test_an_adapted_version_is_kept_used_exported_and_left_again(
    project: Project, base: SCEModel, tmp_path: Path
) -> None:
    base.save_pretrained(tmp_path / "base")
    base = SCEModel.from_pretrained(tmp_path / "base")  # rounded to what a folder keeps, as every base is
    cache, source = DictCache(), OneModel(base)
    labels = [Label(name) for name in NAMES]
    zero_shot = score_project(
        project,
        project_models(project, source, "tiny", [], SilentProgress()).models,
        cache=cache,
        progress=SilentProgress(),
    )[0]
    made = make(project, base, settings=ADAPTING, cache=cache)
    version, want = made.version, made.tuned.model
    encoder, after = version.report.encoder, version.report.after
    assert encoder is not None
    assert encoder.kept
    assert encoder.standard is not None
    assert after is not None
    assert encoder.standard.accuracy <= after.accuracy
    assert encoder.seconds > 0
    assert version.settings == ADAPTING
    assert version.report.fit.encoder_key == want.text_embedder.key != base.text_embedder.key
    assert len(project.version_weights(version.id)) < 60_000

    project.activate_version(version.id)
    loaded = project_models(project, source, "tiny", [], SilentProgress()).models
    (run,) = score_project(project, loaded, cache=cache, progress=SilentProgress())
    assert run.fingerprint == want.fingerprint != zero_shot.fingerprint
    found = project.scores(run.id, [1, 7, 13])
    said = want.probabilities([TEXTS[0], TEXTS[6], TEXTS[12]], labels).probabilities
    np.testing.assert_allclose([found[row].probabilities for row in (1, 7, 13)], said, atol=1e-5)
    texts = list(dict.fromkeys(TEXTS))
    for model in (base, want):
        assert cache.get(model.text_embedder.key, texts)[0].all()

    export_version(project, version, source, tmp_path / "out")
    again = SCEModel.from_pretrained(tmp_path / "out")
    assert again.text_embedder.key == want.text_embedder.key
    np.testing.assert_allclose(
        again.probabilities(TEXTS, again.labels).probabilities,
        want.probabilities(TEXTS, again.labels).probabilities,
        atol=2e-3,
    )

    project.activate_version(None)
    back = project_models(project, source, "tiny", [], SilentProgress()).models
    assert score_project(project, back, cache=cache, progress=SilentProgress())[0].id == zero_shot.id
    project.delete_version(version.id)
    assert project.versions() == ()


@pytest.mark.skipif("bfloat16" not in precisions(torch.device("cpu")), reason="no bfloat16 on this CPU")
@pytest.mark.parametrize("settings", [FinetuneSettings(epochs=10), ADAPTING], ids=["fast", "adapted"])
def test_a_version_serves_in_another_precision_and_rows_are_read_again(
    project: Project, base: SCEModel, tmp_path: Path, settings: FinetuneSettings
) -> None:
    base.save_pretrained(tmp_path / "base")
    exact = SCEModel.from_pretrained(tmp_path / "base")
    fewer = SCEModel.from_pretrained(tmp_path / "base", precision="bfloat16")
    cache, texts = DictCache(), list(dict.fromkeys(TEXTS))
    made = make(project, exact, settings=settings, cache=cache)
    project.activate_version(made.version.id)
    runs, models = [], []
    for source in (OneModel(exact), OneModel(fewer)):
        models = project_models(project, source, "tiny", [], SilentProgress()).models
        runs += score_project(project, models, cache=cache, progress=SilentProgress())
    first, second = runs
    assert second.fingerprint == f"{first.fingerprint}:bfloat16"
    assert (first.scored, second.scored) == (second.scored, first.scored)  # all rows, by each
    used = models[0].model
    assert isinstance(used, SCEModel)
    assert used.text_embedder.weights_key == made.tuned.model.text_embedder.key
    for key in (used.text_embedder.key, used.text_embedder.weights_key):
        assert cache.get(key, texts)[0].all()
    before, after = (project.scores(run.id, [1, 7, 13]) for run in runs)
    for row in (1, 7, 13):
        np.testing.assert_allclose(after[row].probabilities, before[row].probabilities, atol=0.05)


@pytest.mark.skipif("bfloat16" not in precisions(torch.device("cpu")), reason="no bfloat16 on this CPU")
def test_a_fine_tune_starts_from_vectors_of_its_own_precision(
    project: Project, base: SCEModel, tmp_path: Path
) -> None:
    base.save_pretrained(tmp_path / "base")
    fewer = SCEModel.from_pretrained(tmp_path / "base", precision="bfloat16")
    cache, texts = DictCache(), list(dict.fromkeys(TEXTS))
    made = make(project, fewer, cache=cache)
    assert cache.get(fewer.text_embedder.key, texts)[0].all()
    assert not cache.get(fewer.text_embedder.weights_key, texts)[0].any()
    assert made.tuned.model.precision == "bfloat16"
    assert made.version.base_fingerprint == fewer.identity != fewer.fingerprint


def test_an_embedder_that_brought_nothing_is_reported_and_not_kept(
    project: Project, base: SCEModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finetune_embedder, "_better", lambda *_: False)
    version = make(project, base, settings=ADAPTING).version
    assert version.report.encoder is not None
    assert not version.report.encoder.kept
    assert "the standard fine-tune is kept" in version.report.encoder.sentence
    assert version.report.fit.encoder_key == ""
    assert len(project.version_weights(version.id)) < 10_000


def test_too_little_memory_for_an_embedder_is_reported_before(
    project: Project, base: SCEModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "free_memory", lambda: 350_000_000)
    assert make(project, base).version
    with pytest.raises(UserError, match=r"needs about \d{3} MB of memory, but 350 MB is free"):
        make(project, base, settings=ADAPTING)
    assert len(project.versions()) == 1


def test_learning_from_rows_that_the_base_cannot_read_is_reported(project: Project, base: SCEModel) -> None:
    project.add_rows(["text"], [[("Посылка пришла слишком поздно",)]], text_columns=[0], source={})
    progress = SilentProgress()
    make(project, base, progress=progress)
    assert "1 of 20 texts is in Cyrillic script, which tiny cannot read: " in " ".join(progress.warnings)
