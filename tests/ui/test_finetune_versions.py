"""The versions in the Fine-tune panel: used, compared, deleted and exported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import tuning_work, work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ALL_SCORES
from sce_desktop.core.versions import ModelVersion
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation import card
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.tasks.training import version_models
from sce_desktop.ui.finetune.finetune_panel import FineTunePanel
from tests.ml.tiny import DictCache
from tests.ui.finetune_bench import (  # noqa: F401
    click,
    engine_fixture,
    make_version,
    method_fixture,
    panel_fixture,
    project_fixture,
    two_versions,
)
from tests.ui.panels import give_scores
from tests.ui.wiring import controllers_of


def test_a_version_is_used_and_the_base_model_comes_back(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    assert controllers.workspace.project is not None
    give_scores(controllers.workspace.project, [0, 1, 2])
    controllers.scorer.refresh()
    first, _ = two_versions(qtbot, panel)
    panel.versions.select(first)
    with qtbot.waitSignal(controllers.scorer.modelsChanged):
        click(qtbot, panel.versions.use_button)
    assert controllers.scorer.title == "sce-mini + version 1"
    assert controllers.scorer.job is not None  # what was scored gets new scores
    qtbot.waitUntil(lambda: controllers.scorer.job is None)
    assert not panel.result.use_button.isEnabled()
    assert panel.result.use_button.text() == "In use"
    controllers.edits.undo()
    assert controllers.scorer.version is None
    controllers.edits.redo()
    assert controllers.scorer.title == "sce-mini + version 1"
    panel.versions.select(None)
    assert panel.versions.use_button.text() == "Use base model"
    click(qtbot, panel.versions.use_button)
    assert controllers.workspace.project.active_version() is None
    qtbot.waitUntil(lambda: controllers.scorer.job is None)


def test_two_versions_are_compared(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    two = two_versions(qtbot, panel)
    panel.versions.list.clearSelection()
    for place in (0, 1):
        item = panel.versions.list.topLevelItem(place)
        assert item is not None
        item.setSelected(True)
    assert sorted(version.id for version in panel.result.versions) == [version.id for version in two]
    assert panel.result.title.text() == "version 1 and version 2"
    assert len(panel.result.figures.texts) == 4
    with qtbot.waitSignal(controllers.messages.notified) as told:
        click(qtbot, panel.result.differ_button)
    assert "has not scored any rows yet" in told.args[0]
    assert controllers.workspace.project is not None
    runs = [
        give_scores(controllers.workspace.project, tops, fingerprint=f"f{n}")
        for n, tops in enumerate(([0, 1], [0, 2]))
    ]
    for run, version in zip(runs, two, strict=True):
        describe(controllers.workspace.project, run, model=version.title)
    click(qtbot, panel.result.differ_button)
    shown(qtbot, controllers, [2])
    assert controllers.navigation.query.name == "version 1 and version 2 differ"
    controllers.workspace.scoresChanged.emit(ALL_SCORES)  # other scores come in: the comparison stays
    assert controllers.navigation.query.given == (2,)
    # With joint prediction on, or off: the versions are compared as both have scored.
    describe(controllers.workspace.project, runs[0], whole_table=True)
    with qtbot.waitSignal(controllers.messages.notified) as told:
        click(qtbot, panel.result.differ_button)
    assert told.args[0].startswith("version 1 has not scored any rows yet")
    describe(controllers.workspace.project, runs[1], whole_table=True)
    controllers.navigation.set_query(RowQuery())
    click(qtbot, panel.result.differ_button)
    shown(qtbot, controllers, [2])
    for run in runs:
        describe(controllers.workspace.project, run, whole_table=False)
    give_scores(
        controllers.workspace.project, [0, 1, 1], fingerprint="base"
    )  # of "sce-mini", the base of both
    panel.versions.select(two[1])
    controllers.navigation.set_query(RowQuery())
    click(qtbot, panel.result.differ_button)
    shown(qtbot, controllers, [2])
    # Scores for labels that have been edited since are of another question.
    controllers.edits.set_labels(
        [replace(label, name=f"{label.name}!") for label in controllers.workspace.labels]
    )
    for tops, model in (([0, 1], "sce-mini"), ([1, 0], two[1].title)):
        run = give_scores(controllers.workspace.project, tops, fingerprint=f"late {model}")
        describe(controllers.workspace.project, run, model=model)
    controllers.edits.undo()
    controllers.navigation.set_query(RowQuery())
    click(qtbot, panel.result.differ_button)
    shown(qtbot, controllers, [2])


def shown(qtbot: QtBot, controllers: Controllers, rows: list[int]) -> None:
    """Wait until these rows are shown alone."""
    qtbot.waitUntil(lambda: list(controllers.navigation.query.given) == rows)


def describe(project: Project, run: Run, **said: object) -> None:
    """Let a run be of another model: what really scores with it needs one."""
    import sqlalchemy as sa

    from sce_desktop.store.file import schema

    with project._database.write() as connection:
        connection.execute(sa.update(schema.runs).where(schema.runs.c.id == run.id).values(**said))


def test_a_version_is_deleted_after_a_question(qtbot: QtBot, panel: FineTunePanel) -> None:
    controllers = controllers_of(panel)
    first, second = two_versions(qtbot, panel)
    controllers.scorer.use_version(second.id)
    panel.versions.select(second)
    panel.versions.ask_delete()
    (box,) = panel.versions.findChildren(QMessageBox)
    click(qtbot, box.button(QMessageBox.StandardButton.Yes))
    qtbot.waitUntil(lambda: [v.id for v in controllers.tuner.versions] == [first.id])
    assert controllers.scorer.version is None
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.active_version() is None


def test_a_version_is_exported(
    qtbot: QtBot, panel: FineTunePanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, Path]] = []

    def export(
        _project: object,
        _model_cache: object,
        _choice: object,
        version: ModelVersion,
        folder: Path,
        **_: object,
    ) -> None:
        written.append((version.name, folder))

    monkeypatch.setattr(tuning_work, "export", export)
    first, _ = two_versions(qtbot, panel)
    panel.versions.select(first)
    panel.versions.ask_export()
    (dialog,) = panel.versions.findChildren(QFileDialog)
    with qtbot.waitSignal(controllers_of(panel).messages.notified):
        dialog.fileSelected.emit(str(tmp_path))
    dialog.reject()
    assert written == [("version 1", tmp_path / "sce-mini-+-version-1")]


def test_an_export_leaves_the_vectors_of_the_window_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written: list[tuple[Path, str]] = []

    class Model:
        def save_pretrained(self, folder: Path, *, card: str) -> None:
            written.append((folder, card))

    model_cache = work.ModelCache(cache_megabytes=1)
    known = model_cache.known_vectors = KnownVectors("of the window", DictCache())
    monkeypatch.setattr(work.ModelCache, "open", lambda *_, **__: None)
    monkeypatch.setattr(work.ModelCache, "version_model", lambda *_: Model())
    monkeypatch.setattr(card, "version_card", lambda version, _model: f"from {version.base}")
    version = make_version(project, base="another")
    choice = ModelChoice("another", (), "cpu", 1)
    tuning_work.export(project, model_cache, choice, version, tmp_path / "out", progress=SilentProgress())
    assert written == [(tmp_path / "out", "from another")]
    assert model_cache.known_vectors is known


def test_a_project_of_the_same_name_gets_its_own_version(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_cache = work.ModelCache(cache_megabytes=1)
    model_cache._session = object()  # type: ignore[assignment]
    monkeypatch.setattr(version_models, "version_model", lambda _project, version, _source: version)
    first = make_version(project)
    for other in (
        replace(first, data_hash="other"),
        replace(first, created_at="2030-01-01"),
        replace(first, base_fingerprint="other"),
    ):
        found: object = model_cache.version_model(project, first)
        assert found is first
        found = model_cache.version_model(project, other)
        assert found is other
