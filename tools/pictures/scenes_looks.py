"""The look: the window in high contrast and at the compact density, and the first picture of the README."""

from __future__ import annotations

from pictures.studio import Studio

CONTRAST = ("contrast",)


def looks(studio: Studio) -> None:
    """The sample in high contrast, with panels and dialogs; then at the compact density, two lines a row."""
    from sce_desktop.core.query import RowQuery
    from sce_desktop.ui.transfer.export_dialog import ExportDialog
    from sce_desktop.ui.window.settings_dialog import SettingsDialog

    studio.shot("start", modes=CONTRAST)
    studio.sample()
    window, controllers = studio.window, studio.controllers
    studio.shot("main", modes=CONTRAST)
    for name in ("Evaluate", "Findings", "Fine-tune", "Map"):
        studio.bring(name)
        studio.shot(name.lower(), modes=CONTRAST)
    window.close_panels()
    controllers.navigation.set_query(RowQuery(search="parcel"))
    studio.shot("search", modes=CONTRAST)
    controllers.navigation.set_query(RowQuery())
    window.settings_commands.show_settings()
    settings = window.findChildren(SettingsDialog)[-1]
    studio.shot("settings", settings, modes=CONTRAST)
    settings.reject()
    window.file_commands.ask_export()
    studio.rest()
    export = window.findChildren(ExportDialog)[-1]
    studio.shot("export", export, modes=CONTRAST)
    export.reject()
    controllers.preferences.change_setting("density", "compact")
    studio.shot("compact")
    controllers.preferences.change_setting("row_height", "comfortable")
    controllers.preferences.change_setting("density", "comfortable")
    studio.shot("two-lines")


def cover(studio: Studio) -> None:
    """What the README begins with: texts of two lines, labels beside them, the map of them all below."""
    import numpy as np

    from sce_desktop.core.annotations import Decision
    from sce_desktop.ui.map.map_panel import MapPanel

    studio.window.resize(1440, 960)
    studio.sample()
    controllers = studio.controllers
    project = controllers.workspace.project
    assert project is not None
    studio.decide_rightly([row for row in range(1, 40) if row % 4])
    controllers.edits.decide([13], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    controllers.preferences.change_setting("row_height", "comfortable")
    panel: MapPanel = studio.bring("Map")
    studio.until(lambda: panel.data.facts is not None or panel.data.failure)
    panel.bar.colour.setCurrentIndex(1)
    assert np.size(panel.view.pixels())
    controllers.navigation.set_current_row(9)
    studio.rest(1)
    studio.window.strip.hide()
    studio.shot("cover")


SCENES = {"looks": looks, "cover": cover}
