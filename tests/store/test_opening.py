from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.store.file import migrations, opening, placing, schema
from sce_desktop.store.project import Project
from tests.store.conftest import fill, use_labels


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        for statement in statements:
            plain.execute(statement)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_create_close_open(path: Path) -> None:
    with Project.create(path, name="Müller & Söhne") as project:
        assert (project.name, project.path, project.read_only) == ("Müller & Söhne", path, False)
        assert (project.columns, project.row_count(), project.label_set()) == ((), 0, None)
    with Project.open(path) as project:
        assert project.name == "Müller & Söhne"


def test_name_is_that_of_the_file_unless_given(project: Project) -> None:
    assert project.name == "survey"


def test_closed_project_is_one_ordinary_file(path: Path, project: Project) -> None:
    fill(project, ["a", "b"])
    assert len(names(path.parent)) > 1
    project.close()
    project.close()
    assert names(path.parent) == ["survey.sce"]
    with pytest.raises(RuntimeError, match="is closed"):
        project.row_count()
    with pytest.raises(RuntimeError, match="is closed"):
        project.decide([1], Decision.NONE)
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert plain.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
        assert plain.execute("PRAGMA user_version").fetchone() == (migrations.schema_version(),)


def test_odd_paths(tmp_path: Path) -> None:
    folder = tmp_path / "модели 1 #50%?"
    folder.mkdir()
    path = folder / "a&b=c ü.sce"
    with Project.create(path) as project:
        fill(project, ["a"])
    with Project.open(path) as project:
        assert project.row_count() == 1
    assert names(folder) == [path.name]


def test_create_never_replaces_a_file(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(UserError, match="already exists"):
        Project.create(path)
    assert path.read_text() == "mine"
    assert names(path.parent) == ["survey.sce"]


def test_create_in_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="choose another folder"):
        Project.create(tmp_path / "missing" / "a.sce")


def test_closing_a_project_that_broke_meanwhile_is_no_failure(path: Path, project: Project) -> None:
    fill(project, [f"text {number}" * 20 for number in range(500)])
    project.close()
    opened = Project.open(path)
    os.truncate(path, 5_000)
    opened.close()
    assert ".survey.sce.lock" not in names(path.parent)
    with pytest.raises(UserError, match="damaged"):
        Project.open(path)


@pytest.mark.parametrize(
    ("module", "broken"), [(opening, "write_schema"), (placing, "sync_folder")], ids=["schema", "folder"]
)
def test_create_that_breaks_off_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, broken: str
) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise OSError("broken off")

    monkeypatch.setattr(module, broken, fail)
    with pytest.raises(UserError, match="cannot be written"):
        Project.create(path)
    assert [name for name in names(path.parent) if name != "survey.sce"] == []
    monkeypatch.undo()
    with Project.open(path) if path.exists() else Project.create(path) as project:
        assert project.verify() == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n" + b"\0" * 2000,
        b"PK\x03\x04" + b"z" * 5000,
        b"text,label\nroof leaks,damage\n",
    ],
    ids=["empty", "png", "zip", "csv"],
)
def test_other_files_are_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UserError, match="not a project"):
        Project.open(path)
    assert path.read_bytes() == content
    assert names(path.parent) == ["survey.sce"]


def test_other_databases_folders_and_missing_files_are_refused(path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        Project.open(path)
    with pytest.raises(UserError, match="is a folder"):
        Project.open(path.parent)
    sql(path, "CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
    with pytest.raises(UserError, match="not a project"):
        Project.open(path)


def test_newer_project_is_refused_kindly(path: Path) -> None:
    Project.create(path).close()
    sql(path, f"PRAGMA user_version={migrations.schema_version() + 1}")
    with pytest.raises(UserError, match="newer version"):
        Project.open(path)
    with pytest.raises(UserError, match="newer version"):
        Project.open(path, read_only=True)
    assert names(path.parent) == ["survey.sce"]


def test_cut_project_is_reported_to_be_damaged(path: Path, project: Project) -> None:
    fill(project, [f"text {number}" * 20 for number in range(500)])
    project.close()
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(UserError, match=r"damaged.*project repair"):
        Project.open(path).close()


@pytest.mark.parametrize("missing", [1, 3_000, opening.PAGE_BYTES, 3 * opening.PAGE_BYTES + 1])
@pytest.mark.parametrize("read_only", [False, True])
def test_project_without_its_end_is_reported_at_once(
    path: Path, project: Project, missing: int, *, read_only: bool
) -> None:
    fill(project, [f"text {number}" * 20 for number in range(500)])
    project.close()
    os.truncate(path, path.stat().st_size - missing)
    before = path.read_bytes()
    with pytest.raises(DamagedProject, match=r"damaged \(its end is missing\).*project repair"):
        Project.open(path, read_only=read_only)
    assert path.read_bytes() == before
    assert names(path.parent) == ["survey.sce"]
    assert Project.repair_file(path, path.with_name("copy.sce")).rows > 0


def test_end_that_is_in_the_log_is_not_missed(path: Path, project: Project) -> None:
    fill(project, [f"text {number}" * 20 for number in range(500)])
    copy = path.with_name("copy.sce")
    for ending in ("", "-wal"):  # what a killed program leaves
        shutil.copy(path.with_name(f"survey.sce{ending}"), copy.with_name(f"copy.sce{ending}"))
    assert copy.with_name("copy.sce-wal").stat().st_size
    with Project.open(copy) as opened:
        assert opened.row_count() == 500
        assert opened.verify() == []


def test_length_is_not_asked_of_a_header_that_does_not_count_pages(path: Path) -> None:
    Project.create(path).close()
    with path.open("rb+") as file:  # as programs do that know no count of pages
        file.seek(28)
        file.write((9_999).to_bytes(4, "big"))
        file.seek(92)
        file.write(b"\0\0\0\0")
    Project.open(path).close()


def test_project_without_one_of_its_tables_is_reported_to_be_damaged(path: Path) -> None:
    Project.create(path).close()
    sql(path, "DROP TABLE marks")
    with pytest.raises(UserError, match="damaged"):
        Project.open(path)
    assert names(path.parent) == ["survey.sce"]


# --- the same project twice


def test_second_opening_is_read_only_with_a_notice(path: Path, project: Project) -> None:
    fill(project, ["a", "b"])
    (label,) = use_labels(project, "x")
    with Project.open(path) as second:
        assert second.read_only
        assert "open elsewhere" in second.read_only_reason
        assert second.row_count() == 2
        project.decide([1], Decision.LABEL, [label])
        assert list(second.annotations([1, 2])) == [1]  # it sees what the first one does
        with pytest.raises(UserError, match="open elsewhere"):
            second.decide([2], Decision.NONE)
        with pytest.raises(UserError, match="open elsewhere"):
            fill(second, ["c"])
    project.close()
    assert names(path.parent) == ["survey.sce"]
    with Project.open(path) as again:
        assert not again.read_only


def test_closing_while_another_reads_loses_nothing(path: Path, project: Project) -> None:
    fill(project, ["a", "b"])
    with Project.open(path, read_only=True) as second:
        project.decide([1], Decision.NONE)
        project.close()
        assert list(second.annotations([1, 2])) == [1]
    with Project.open(path) as again:
        assert list(again.annotations([1, 2])) == [1]


def test_who_waited_takes_over_when_the_project_is_closed(
    path: Path, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    fill(project, ["a", "b"])
    with Project.open(path) as second:
        assert second.open_elsewhere
        assert not second.is_free()
        assert second.row_count() == 2
        project.decide([1], Decision.NONE)
        project.close()
        assert second.is_free()
        with Project.open(path) as third:  # while the second still reads
            assert not third.read_only
            assert not third.open_elsewhere
            assert not second.is_free()
            third.decide([2], Decision.NONE)
            assert list(second.annotations([1, 2])) == [1, 2]
            second.close()
    assert names(path.parent) == ["survey.sce"]
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


def test_closing_while_another_reads_is_no_failure(
    path: Path, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    fill(project, ["a", "b"])
    second = Project.open(path)
    third = Project.open(path, read_only=True)
    assert (second.row_count(), third.row_count()) == (2, 2)
    with second.snapshot():  # in the middle of reading even
        assert second.row_count() == 2
        project.decide([1], Decision.NONE)
        project.close()
    assert list(third.annotations([1])) == [1]
    assert not third.open_elsewhere  # it was asked to be read only
    assert [
        record.getMessage() for record in caplog.records if "brought into one file" in record.message
    ] == []
    second.close()
    third.close()
    with Project.open(path) as again:
        assert list(again.annotations([1])) == [1]
    assert names(path.parent) == ["survey.sce"]


def test_opened_for_reading_only(path: Path, project: Project) -> None:
    fill(project, ["a"])
    project.close()
    with Project.open(path, read_only=True) as second, Project.open(path) as third:
        assert "opened read-only" in second.read_only_reason
        assert not third.read_only


def test_link_and_target_are_one_project(path: Path, project: Project, tmp_path: Path) -> None:
    link = tmp_path / "other" / "link.sce"
    link.parent.mkdir()
    link.symlink_to(path)
    with Project.open(link) as second:
        assert second.read_only


OPEN = """
import sys
from sce_desktop.core.errors import UserError
from sce_desktop.store.project import Project
try:
    with Project.open(sys.argv[1]) as project:
        print(project.row_count(), project.read_only_reason)
except UserError as error:
    print("refused", error)
"""


def open_as_an_ordinary_user(path: Path) -> str:
    """Open a project in a process that file permissions bind, even where the tests run as root."""
    command = [sys.executable, "-c", OPEN, str(path)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("as root, permissions can only be tested with setpriv")
        dropped = "-dac_override,-dac_read_search"
        command = ["setpriv", f"--inh-caps={dropped}", f"--bounding-set={dropped}", *command]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("killed", [False, True], ids=["closed", "left in WAL mode"])
def test_write_protected_folder(path: Path, project: Project, killed: bool) -> None:
    fill(project, ["a", "b", "c"])
    project.close()
    if killed:
        sql(path, "PRAGMA journal_mode=WAL")
    path.parent.chmod(0o555)
    try:
        answer = open_as_an_ordinary_user(path)
    finally:
        path.parent.chmod(0o755)
    assert answer.startswith("3 The folder of this project is write-protected")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_write_protected_file(path: Path, project: Project) -> None:
    fill(project, ["a", "b", "c"])
    project.close()
    path.chmod(0o444)
    assert open_as_an_ordinary_user(path).startswith("3 The file of this project is write-protected")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_unfinished_log_in_a_write_protected_folder_is_not_passed_over(
    path: Path, project: Project, tmp_path: Path
) -> None:
    fill(project, ["a", "b", "c"])
    left = tmp_path / "left"
    left.mkdir()
    for name in ("survey.sce", "survey.sce-wal"):  # what a killed program leaves
        shutil.copy(path.with_name(name), left)
    left.chmod(0o555)
    try:
        answer = open_as_an_ordinary_user(left / "survey.sce")
    finally:
        left.chmod(0o755)
    assert answer.startswith("refused survey.sce was not closed properly")
