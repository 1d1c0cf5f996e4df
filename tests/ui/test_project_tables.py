"""Tables come into projects and out of them, or leave nothing behind."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from sce_desktop.controllers import work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Origin
from sce_desktop.core.choices import ExportChoices, ImportChoices
from sce_desktop.core.errors import UserError
from sce_desktop.core.tables import TableOptions
from tests.ui.conftest import MakeProject
from tests.ui.projects_bench import LABELS, open_in, told


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_import_makes_and_opens_a_project(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    path = table(tmp_path, "id,text,gold\n1,late,Late\n2,broken,Late\n3,kind,Praise\n4,,\n")
    controllers.preferences.settings["projects_folder"] = str(tmp_path / "projects")
    choices = ImportChoices(path, TableOptions(), text_columns=(1,), label_column=2)
    heard = told(controllers)
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.import_table(choices)
    assert [tone for tone, _ in heard] == ["info"]
    assert "1 row has no text" in heard[0][1]
    project = controllers.workspace.project
    assert project is not None
    assert project.path == tmp_path / "projects" / "in.sce"
    assert [label.name for label in controllers.workspace.labels] == ["Late", "Praise"]
    ids = project.row_ids()
    annotations = project.annotations(ids)
    late, praise = (label.id for label in controllers.workspace.labels)
    assert [annotations[i].label_ids if i in annotations else () for i in ids.tolist()] == [
        (late,),
        (late,),
        (praise,),
        (),
    ]
    assert {annotation.origin for annotation in annotations.values()} == {Origin.IMPORTED}
    assert [row.cells[2] for row in project.rows(ids)] == ["Late", "Late", "Praise", ""]


def test_import_of_the_same_table_again_takes_a_free_name(tmp_path: Path) -> None:
    (tmp_path / "in.sce").write_bytes(b"")
    (tmp_path / "in 2.sce").write_bytes(b"")
    assert work.free_path(tmp_path, "in") == tmp_path / "in 3.sce"


def test_failed_import_leaves_nothing(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    folder = tmp_path / "projects"
    controllers.preferences.settings["projects_folder"] = str(folder)
    heard = told(controllers)
    with qtbot.waitSignal(controllers.messages.notified):
        controllers.projects.import_table(
            ImportChoices(table(tmp_path, "text\na\n"), TableOptions(encoding="none"), text_columns=(0,))
        )
    assert heard[0][0] == "warn"
    assert list(folder.iterdir()) == []


def test_folder_that_cannot_be_made_is_reported(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    controllers.preferences.settings["projects_folder"] = str(tmp_path / "file" / "projects")
    heard = told(controllers)
    with qtbot.waitSignal(controllers.messages.notified):
        controllers.projects.import_table(
            ImportChoices(table(tmp_path, "text\na\n"), TableOptions(), text_columns=(0,))
        )
    assert heard[0][0] == "warn"
    assert "choose another" in heard[0][1]


def test_append_adds_rows_and_tells(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    project = open_in(qtbot, controllers, make_project(labels=LABELS))
    path = table(tmp_path, "ref,text\n9,one more\n")
    with qtbot.waitSignals([controllers.workspace.rowsChanged, controllers.workspace.countsChanged]):
        controllers.projects.import_table(ImportChoices(path, TableOptions(), text_columns=(1,), append=True))
    assert project.row_count() == 6
    assert tuple(label.name for label in controllers.workspace.labels) == LABELS


def test_append_of_other_columns_is_refused(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    project = open_in(qtbot, controllers, make_project())
    heard = told(controllers)
    with qtbot.waitSignal(controllers.messages.notified):
        controllers.projects.import_table(
            ImportChoices(table(tmp_path, "other\nx\n"), TableOptions(), text_columns=(0,), append=True)
        )
    assert heard[0][0] == "warn"
    assert project.row_count() == 5


def test_export_writes_and_says_how_many(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    heard = told(controllers)
    job = controllers.projects.export_table(ExportChoices(tmp_path / "out.csv"))
    assert job is not None
    with qtbot.waitSignal(job.finished) as finished:
        pass
    assert finished.args == [5]
    assert heard == [("info", f"5 rows were written to {tmp_path / 'out.csv'}.")]
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("ref,text,label")


def test_preview_fails_to_the_caller_alone(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    heard = told(controllers)
    job = controllers.projects.preview(tmp_path / "missing.csv")
    with qtbot.waitSignal(job.failed) as failed:
        pass
    assert isinstance(failed.args[0], UserError)
    assert heard == []
