"""The panels Fine-tune, Map and Duplicates."""

from __future__ import annotations

from pictures.material import LANGUAGE_LABELS, LANGUAGES, many_labels, sample_labels, sample_texts
from pictures.studio import Studio


def map_(studio: Studio) -> None:
    """The map: your labels, the model's with a selection, two hundred labels, many scripts, none yet."""
    import numpy as np

    from sce_desktop.ui.map.map_panel import MapPanel

    def shown() -> MapPanel:
        panel: MapPanel = studio.bring("Map")
        studio.until(lambda: panel.data.facts is not None or panel.data.failure)
        studio.rest()
        return panel

    studio.open_table(studio.table("Not scored yet.csv", [f"{text}!" for text in sample_texts()[:60]]))
    studio.until(lambda: studio.controllers.scorer.ready)
    shown()
    studio.shot("map-empty")
    studio.sample()
    panel = shown()
    studio.shot("map")
    panel.bar.colour.setCurrentIndex(1)
    pixels = panel.view.pixels()
    panel._select(pixels[:, 0] < np.median(pixels[:, 0]), False)
    studio.shot("map-selected")
    panel.clear_selection()
    studio.open_table(studio.table("Two hundred.csv", sample_texts()[:60]), many_labels())
    studio.score()
    shown()
    studio.shot("map-200")
    studio.open_table(studio.table("多语言 – لغات.csv", [text for text, _ in LANGUAGES]), LANGUAGE_LABELS)
    studio.score()
    shown()
    studio.shot("map-languages")


def duplicates(studio: Studio) -> None:
    """Groups of duplicates: before anything was looked for, and found, some contradictory."""
    from sce_desktop.core.annotations import Decision
    from sce_desktop.ui.duplicates.duplicates_panel import DuplicatesPanel

    texts = sample_texts()[:60]
    near = [f"{text.rstrip('.')}!" for text in texts[:20:2]] + [text.upper() for text in texts[:9:3]]
    scripts = [text for text, _ in LANGUAGES[:5]] * 2
    studio.open_table(studio.table("Sent twice.csv", [*texts, *near, *texts[:4], *scripts]), sample_labels())
    studio.window.strip.hide()
    controllers = studio.controllers
    panel: DuplicatesPanel = studio.bring("Duplicates")
    studio.shot("duplicates-first")
    for place, row_id in enumerate((1, 61, 3, 5, 65)):
        controllers.edits.decide([row_id], Decision.LABEL, [controllers.workspace.labels[place % 3].id or 0])
    panel.find_button.click()
    studio.until(lambda: panel._search is None)
    studio.shot("duplicates")


def finetune(studio: Studio) -> None:
    """The Fine-tune panel without labels, before, while and after it learns, and with several versions."""
    from sce_desktop.core.training import FinetuneSettings
    from sce_desktop.ui.finetune.finetune_panel import FineTunePanel

    controllers = studio.controllers
    studio.open_table(studio.table("Nothing yet.csv", sample_texts()[:40]))
    panel: FineTunePanel = studio.bring("Fine-tune")
    studio.shot("finetune-empty")
    studio.sample()

    def learn(choices: FinetuneSettings) -> None:
        before = len(controllers.tuner.versions)
        controllers.tuner.start(choices)
        studio.until(lambda: controllers.tuner.job is None and len(controllers.tuner.versions) > before)
        studio.rest(0.5)

    studio.decide_rightly(range(1, 61))
    studio.rest(1)
    studio.shot("finetune")
    panel.start.settings_button.setChecked(True)
    studio.until(lambda: panel.start.adapt.isEnabled() and "About" in panel.start.adapt_note.text())
    studio.shot("finetune-settings")
    panel.start.settings_button.setChecked(False)
    controllers.tuner.start(FinetuneSettings())
    studio.until(lambda: len(controllers.tuner.watch.measured) > 12 or controllers.tuner.job is None)
    studio.shot("finetune-running", rest=0)
    studio.until(lambda: controllers.tuner.job is None)
    studio.rest(1)
    studio.window.strip.hide()
    studio.shot("finetune-done")
    panel.result.tabs.setCurrentIndex(2)
    studio.shot("finetune-labels")
    panel.result.tabs.setCurrentIndex(3)
    studio.shot("finetune-changed")
    panel.result.tabs.setCurrentWidget(panel.result.ways)
    studio.shot("finetune-ways")
    panel.result.tabs.setCurrentIndex(0)
    controllers.scorer.use_version(controllers.tuner.versions[-1].id)
    studio.until(lambda: controllers.scorer.job is None)
    studio.decide_rightly(range(61, 141))
    studio.rest(1)
    learn(FinetuneSettings())
    learn(FinetuneSettings(seed=1))
    studio.window.strip.hide()
    studio.shot("versions")
    panel.versions.list.selectAll()
    panel.versions.list.clearSelection()
    for place in (0, 2):
        item = panel.versions.list.topLevelItem(place)
        assert item is not None
        item.setSelected(True)
    studio.rest(0.3)
    studio.shot("versions-compared")


def docks(studio: Studio) -> None:
    """All panels open at once, as tabs."""
    studio.sample()
    titles = list(studio.window.docks)
    for title in (*titles, titles[0]):
        studio.bring(title)
    studio.until(lambda: not any(worker.busy for worker in studio.workers))
    studio.shot("docks")


SCENES = {
    "docks": docks,
    "map": map_,
    "duplicates": duplicates,
    "finetune": finetune,
}
