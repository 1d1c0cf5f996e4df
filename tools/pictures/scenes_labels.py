"""Labels and models: their dialogs, many labels, groups of labels, a language model beside the model."""

from __future__ import annotations

import sys

from pictures.material import GROUPED_LABELS, ROOT, many_labels, sample_texts
from pictures.studio import Studio
from tests.ui.wiring import wired


def label_dialogs(studio: Studio) -> None:
    """A label's details, and labels that are suggested."""
    from sce_desktop.ui.labels.labels_panel import LabelsPanel

    studio.sample()
    panel = studio.window.workspace.labels
    assert isinstance(panel, LabelsPanel)
    panel.select(studio.controllers.workspace.labels[2].id)
    editor = panel.show_details()
    assert editor is not None
    studio.shot("label-details", editor)
    editor.reject()
    suggestions = panel.offers.suggest()
    assert suggestions is not None
    studio.until(lambda: not studio.controllers.workspace.workers.files.busy)
    studio.shot("suggestions", suggestions)
    suggestions.reject()


def two_hundred(studio: Studio) -> None:
    """Two hundred labels."""
    studio.open_table(studio.table("Two hundred.csv", sample_texts()[:60]), many_labels())
    studio.score()
    studio.shot("labels-200")


def low(studio: Studio) -> None:
    """A panel below two hundred labels and a long text: the likeliest labels stay in sight."""
    from sce_desktop.core.annotations import Decision

    texts = ["word " * 900, *sample_texts()[:40]]
    studio.open_table(studio.table("Little room.csv", texts), many_labels())
    studio.score()
    studio.bring("Evaluate")
    studio.shot("low-panel")
    studio.controllers.edits.decide([1], Decision.LABEL, [studio.controllers.workspace.labels[0].id or 0])
    studio.shot("low-panel-decided")


def labels_grouped(studio: Studio) -> None:
    """Labels that say what they belong to, and one of their groups folded."""
    from sce_desktop.ui.labels.labels_panel import LabelsPanel

    studio.open_table(studio.table("Grouped.csv", sample_texts()[:80]), GROUPED_LABELS)
    studio.score()
    studio.shot("labels-grouped")
    panel = studio.window.workspace.labels
    assert isinstance(panel, LabelsPanel)
    panel.model.fold(["Delivery"])
    panel.list.setCurrentIndex(panel.model.index(0))
    panel.list.setFocus()
    studio.shot("labels-folded")


def models(studio: Studio) -> None:
    """The models manager: what is here, one that is spoilt, one being fetched; terms and code."""
    from dataclasses import replace

    from PySide6.QtCore import Qt

    from sce_desktop.ui.models.model_questions import CodeQuestion, FetchQuestion
    from sce_desktop.ui.models.models_dialog import ModelsDialog

    studio.sample()
    spoilt = studio.home / "data" / "models" / "نموذج قديم"
    spoilt.mkdir(parents=True)
    (spoilt / "config.json").write_text("{", encoding="utf-8")
    store = studio.controllers.models
    dialog = wired(ModelsDialog, studio.controllers)(studio.window)
    dialog.open()
    studio.until(lambda: len(store.installed) > 2)
    studio.shot("models", dialog)
    studio.controllers.preferences.change_setting("offline", False)
    found = dialog.list.findItems("jina-embeddings-v3", Qt.MatchFlag.MatchExactly)
    dialog.list.setCurrentItem(found[0])
    studio.shot("models-online", dialog)
    question = FetchQuestion(next(one for one in store.known if one.name == "jina-embeddings-v3"), dialog)
    question.open()
    studio.shot("models-terms", question)
    question.reject()
    gated = next(one for one in store.known if one.gated)
    question = FetchQuestion(replace(gated, code=True), dialog)
    question.open()
    studio.shot("models-gated", question)
    question.reject()
    code = CodeQuestion("gte-multilingual-base", dialog)
    code.open()
    studio.shot("models-code", code)
    code.reject()


def llm_column(studio: Studio) -> None:
    """An LLM (a tiny one that answers at random) beside the model, for the rows on the screen."""
    sys.path.insert(0, str(ROOT))
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.tasks.scoring.models import add_model
    from sce_desktop.ui.window.run_bar import RunBar
    from tests.ml.tiny_llm import tiny_llm

    add_model(
        tiny_llm(studio.home, context=2048, name="tiny-chat"), name="tiny-chat", progress=SilentProgress()
    )
    studio.sample()
    bar = studio.window.tool_bar.findChild(RunBar)
    assert bar is not None
    studio.controllers.models.refresh()
    studio.until(lambda: ("tiny-chat", "llm") in bar._models)
    menu = bar.llm_menu()
    menu.popup(bar.llm_button.mapTo(studio.window, bar.llm_button.rect().bottomLeft()))
    studio.shot("llm-menu", menu)
    menu.close()
    bar._ask_llm_about("screen")
    studio.until(
        lambda: len(studio.controllers.workspace.runs) == 3 and studio.controllers.scorer.job is None
    )
    studio.rest(1)
    studio.shot("llm-column")


SCENES = {
    "label_dialogs": label_dialogs,
    "many_labels": two_hundred,
    "low": low,
    "labels_grouped": labels_grouped,
    "models": models,
    "llm_column": llm_column,
}
