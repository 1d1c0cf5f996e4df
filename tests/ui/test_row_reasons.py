"""Why this label: asked in the background, shown for the row and the label that one looks at alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import reasons_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.reasons import Reasons
from sce_desktop.tasks.scoring.model_cache import MainModel
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.ui.rows.row_panel import RowPanel
from tests.ml.tiny import DictCache, tiny_sce_model
from tests.ui.conftest import MakeProject
from tests.ui.panels import give_scores, open_in, settle
from tests.ui.wiring import wired

TEXTS = ("The parcel was LATE", "late delivery again", "refund my money", "", "rain and wet weather")
LABELS = ("late", "refund", "weather")


@pytest.fixture(scope="module")
def model() -> SCEModel:
    return tiny_sce_model()


@pytest.fixture
def panel(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, model: SCEModel
) -> Iterator[RowPanel]:
    """The panel over a scored project, with the tiny model as what scores."""
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0, 0, 1, 2])
        late, refund, _ = [label.id or 0 for label in project.label_set().labels]  # type: ignore[union-attr]
        project.decide([2], Decision.LABEL, (late,))
        project.decide([3], Decision.LABEL, (refund,))
    panel = wired(RowPanel, controllers)()
    qtbot.addWidget(panel)
    panel.resize(480, 900)
    panel.show()
    cache = DictCache()
    model.embed([text for text in TEXTS if text], cache=cache)
    model_cache = controllers.scorer.model_cache
    model_cache.main = MainModel(NamedModel("sce", "tiny", model), controllers.scorer.base, None)
    model_cache.known_vectors = KnownVectors(model.text_embedder.key, cache)
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    controllers.navigation.set_current_row(1)
    yield panel
    controllers.preferences.change_setting("reasons", False)
    qtbot.waitUntil(lambda: not controllers.workspace.workers.reasons.busy)


def answered(qtbot: QtBot, panel: RowPanel) -> None:
    qtbot.waitUntil(lambda: not panel.reasons.explainer.busy)


def marked(panel: RowPanel) -> list[str]:
    text = panel.text.view.toPlainText()
    return [text[mark.start : mark.end] for mark in panel.text.marks.layer("reasons")]


def test_nothing_is_asked_while_it_is_folded(qtbot: QtBot, controllers: Controllers, panel: RowPanel) -> None:
    submitted: list[object] = []
    controllers.workspace.workers.reasons.jobSubmitted.connect(submitted.append)
    controllers.navigation.set_current_row(2)
    controllers.navigation.set_current_row(1)
    assert not panel.reasons.explainer.busy
    assert submitted == []
    assert panel.reasons.words.isHidden()


def test_the_words_of_the_prediction_are_marked_and_named(
    qtbot: QtBot, controllers: Controllers, panel: RowPanel
) -> None:
    panel.reasons.button.click()
    qtbot.waitUntil(lambda: bool(marked(panel)))
    answered(qtbot, panel)
    assert "LATE" in marked(panel)
    assert panel.reasons.words.text().startswith("For “late”: LATE")
    assert panel.reasons.note.isVisibleTo(panel)
    assert "Approximation" in panel.reasons.note.text()
    selections = panel.text.view.extraSelections()
    assert [one.cursor.selectedText() for one in selections] == marked(panel)  # type: ignore[attr-defined]


def test_similar_labelled_rows_lead_to_them(qtbot: QtBot, controllers: Controllers, panel: RowPanel) -> None:
    panel.reasons.button.click()
    similar = panel.reasons.similar
    qtbot.waitUntil(lambda: similar.isVisibleTo(panel))
    shown = [button for button in similar.buttons if button.isVisibleTo(panel)]
    assert [button.row_id for button in shown] == [2, 3]
    assert shown[0].accessibleName() == "Row 2: late"
    assert "late delivery again" in shown[0].accessibleDescription()
    with qtbot.waitSignal(controllers.navigation.rowAsked) as asked:
        shown[0].click()
    assert asked.args == [2]


def test_the_label_that_one_chose_or_points_at_is_explained(
    qtbot: QtBot, controllers: Controllers, panel: RowPanel
) -> None:
    labels = {label.name: label.id for label in controllers.workspace.labels}
    asked: list[int] = []
    panel.reasons.button.click()
    panel.reasons.explainer.wordsFound.connect(lambda found: asked.append(found.label_id))
    qtbot.waitUntil(lambda: asked == [labels["late"]])
    panel.labels.pointedAt.emit(labels["weather"])
    qtbot.waitUntil(lambda: asked[1:] == [labels["weather"]])
    panel.labels.pointedAt.emit(None)
    qtbot.waitUntil(lambda: asked[2:] == [labels["late"]])
    assert controllers.edits.decide([1], Decision.LABEL, [labels["refund"] or 0])
    qtbot.waitUntil(lambda: asked[3:] == [labels["refund"]])
    assert panel.reasons.words.text().startswith(("For “refund”", "Against “refund”", "No single word"))


def test_what_was_asked_for_another_row_is_dropped(
    qtbot: QtBot, controllers: Controllers, panel: RowPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, begun = threading.Event(), threading.Event()
    explain = reasons_work.explain

    def held(main: MainModel, question: reasons_work.Question, **keywords: object) -> Reasons:
        if question.row.id == 1:
            begun.set()
            gate.wait(30)
        return explain(main, question, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(reasons_work, "explain", held)
    found: list[int] = []
    panel.reasons.explainer.wordsFound.connect(lambda reasons: found.append(reasons.label_id))
    panel.reasons.button.click()
    qtbot.waitUntil(begun.is_set)
    controllers.navigation.set_current_row(5)
    assert marked(panel) == []
    gate.set()
    qtbot.waitUntil(lambda: bool(marked(panel)))
    answered(qtbot, panel)
    assert len(found) == 1
    assert set(marked(panel)) <= set(TEXTS[4].split())


def test_blank_rows_and_blind_mode_show_nothing(
    qtbot: QtBot, controllers: Controllers, panel: RowPanel
) -> None:
    panel.reasons.button.click()
    qtbot.waitUntil(lambda: bool(marked(panel)))
    controllers.navigation.set_current_row(4)
    assert not panel.reasons.explainer.busy
    assert panel.reasons.words.isHidden()
    controllers.navigation.set_current_row(1)
    qtbot.waitUntil(lambda: bool(marked(panel)))
    controllers.preferences.change_setting("blind", True)
    assert marked(panel) == []
    assert panel.reasons.words.text() == "Hidden in blind mode."
    assert panel.reasons.similar.isHidden()
    controllers.preferences.change_setting("blind", False)
    qtbot.waitUntil(lambda: bool(marked(panel)))


def test_a_language_model_says_so(qtbot: QtBot, controllers: Controllers, panel: RowPanel) -> None:
    class Prompted:
        """A language model makes no text vectors."""

    controllers.scorer.model_cache.main = MainModel(
        NamedModel("sce", "llm", Prompted()),  # type: ignore[arg-type]
        controllers.scorer.base,
        None,
    )
    panel.reasons.button.click()
    qtbot.waitUntil(lambda: panel.reasons.words.isVisibleTo(panel))
    assert panel.reasons.words.text() == "Not available for LLMs, which make no text vectors."
    assert panel.reasons.note.isHidden()


def test_the_key_and_the_setting(qtbot: QtBot, controllers: Controllers, panel: RowPanel) -> None:
    assert "(W)" in panel.reasons.button.toolTip()
    panel.setFocus()
    QTest.keyClick(panel, Qt.Key.Key_W)
    assert controllers.preferences.settings["reasons"] is True
    qtbot.waitUntil(lambda: bool(marked(panel)))
    again = wired(RowPanel, controllers)()
    qtbot.addWidget(again)
    assert again.reasons.button.isChecked()
    answered(qtbot, again)
    panel.reasons.button.click()
    assert controllers.preferences.settings["reasons"] is False
    assert marked(panel) == []


def test_the_model_is_loaded_where_it_is_not_there_yet(
    qtbot: QtBot, controllers: Controllers, panel: RowPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_cache = controllers.scorer.model_cache
    main, model_cache.main = model_cache.main, None

    def load(*_: object, **__: object) -> MainModel | None:
        model_cache.main = main
        return main

    monkeypatch.setattr(reasons_work, "load_main", load)
    panel.reasons.button.click()
    qtbot.waitUntil(lambda: bool(marked(panel)))
    answered(qtbot, panel)


def test_more_leads_to_the_guide(qtbot: QtBot, controllers: Controllers, panel: RowPanel) -> None:
    with qtbot.waitSignal(controllers.navigation.guideAsked) as asked:
        panel.reasons.note.linkActivated.emit("#")
    assert asked.args == [panel.reasons]


def test_the_reasons_come_into_sight_where_the_panel_is_low(
    qtbot: QtBot, controllers: Controllers, panel: RowPanel
) -> None:
    panel.resize(480, 420)
    panel.reasons.button.click()
    answered(qtbot, panel)

    def seen() -> bool:
        viewport = panel.area.viewport()
        top = panel.reasons.words.mapTo(viewport, panel.reasons.words.rect().topLeft()).y()
        return panel.reasons.words.isVisibleTo(panel) and 0 <= top < viewport.height()

    qtbot.waitUntil(lambda: panel.area.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(seen)
