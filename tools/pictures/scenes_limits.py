"""What the program says before something gets too large, of what it refuses, and of what goes for good."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

from pictures.material import sample_texts
from pictures.studio import Studio

_Usage = namedtuple("_Usage", "total used free")
LABELS = 100
ROWS = 5_000


def limits(studio: Studio) -> None:
    """A large import, one that does not fit, a project that is refused, settings that are set aside."""
    from sce_desktop import paths, state_files
    from sce_desktop.settings import Settings
    from sce_desktop.tasks.tables import room

    controllers = studio.controllers
    usage = shutil.disk_usage
    table = studio.table("A year of feedback.csv", sample_texts() * 20)
    size = table.stat().st_size
    free = 4 * size
    setattr(room.shutil, "disk_usage", lambda _place: _Usage(10 * size, 10 * size - free, free))  # noqa: B010
    with studio.importing(table) as dialog:
        studio.shot("import-room", dialog)
        free = size // 2
        for name in ("_on_model", "_show_state"):
            getattr(dialog, name)()
        studio.shot("import-no-room", dialog)
    setattr(room.shutil, "disk_usage", usage)  # noqa: B010

    hostile = studio.home / "From somebody.sce"
    _write_hostile(hostile)
    studio.window.open_path(hostile)
    studio.until(lambda: studio.window.strip.isVisible())
    studio.shot("refused-project")
    studio.window.strip.hide()

    settings = paths.settings_file()
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("{not JSON", encoding="utf-8")
    with state_files.hearing(lambda sentence: controllers.messages.notify_of_program(sentence, "warn")):
        Settings.load()
    studio.until(lambda: studio.window.strip.isVisible())
    studio.shot("settings-set-aside")
    studio.window.strip.hide()


def for_good(studio: Studio) -> None:
    """A fine-tune on a sample of very many rows, and deleting for good."""
    from sce_desktop.core.purging import PurgeScope
    from sce_desktop.tasks.training import sampling
    from sce_desktop.ui.rows.purge_dialog import PurgeDialog

    controllers = studio.controllers
    sampling.rows_that_fit.__defaults__ = (60.0,)
    path = studio.home / "Very many labels.sce"
    _write_labelled(path)
    before = controllers.workspace.project
    controllers.projects.open_project(path)
    studio.until(lambda: controllers.workspace.project not in (None, before))
    studio.until(lambda: controllers.scorer.ready)
    panel = studio.bring("Fine-tune")
    studio.until(lambda: "About" in panel.start.takes.text())
    studio.shot("finetune-sampled")
    panel.start.settings_button.setChecked(True)
    studio.until(lambda: panel.start.adapt.isEnabled() and "About" in panel.start.adapt_note.text())
    studio.shot("finetune-sampled-settings")

    for name, scope in (
        ("purge-row", PurgeScope(rows=(12,))),
        ("purge-history", PurgeScope()),
    ):
        purge = PurgeDialog(controllers.workspace, controllers.navigation, controllers.projects, scope)
        purge.setParent(studio.window, purge.windowFlags())
        purge.open()
        studio.until(purge.sure.isEnabled)
        studio.shot(name, purge)
        purge.reject()


def _write_hostile(path: Path) -> None:
    """Write a project whose table of rows has a trigger."""
    import sqlite3
    from contextlib import closing

    from sce_desktop.store.project import Project

    Project.create(path).close()
    with closing(sqlite3.connect(str(path))) as plain:
        found = plain.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchone()
        plain.execute(f'CREATE TRIGGER t AFTER INSERT ON "{found[0]}" BEGIN SELECT 1; END')
        plain.commit()


def _write_labelled(path: Path) -> None:
    """Write a project of many rows and labels, all labelled, with notes."""
    from sce_desktop.core.annotations import Decision, Label
    from sce_desktop.store.project import Project

    texts = sample_texts()
    rows = [(f"T-{number}", f"{texts[number % len(texts)]} ({number})") for number in range(ROWS)]
    with Project.create(path) as project:
        project.add_rows(("ticket", "message"), [rows], text_columns=[1], source={})
        found = project.set_labels([Label(f"Reason {number:02}") for number in range(LABELS)])
        ids = project.row_ids().tolist()
        for place, label in enumerate(found.labels):
            project.decide(ids[place::LABELS], Decision.LABEL, [label.id or 0])
        project.set_marks(12, note="Called back on Monday.")
        project.add_coder("Anna", "anna.csv", {1: "Reason 01"})


SCENES = {"limits": limits, "for-good": for_good}
