"""Files 0600, folders 0700, whatever the umask is; what the user has opened up on purpose stays so."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop import cli, log, paths
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.core import private
from sce_desktop.data.atomic import replacing
from sce_desktop.data.writers import write_table
from sce_desktop.ml.hub.folders import replaced_folder
from sce_desktop.settings import Settings
from sce_desktop.store.file.placing import lock_of
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="elsewhere the folder says who may read, and its owner is the user already"
)


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct, autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: mode(path) for path in folder.iterdir()}


def test_a_project_with_all_that_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "p.sce"
    with Project.create(path) as project:
        project.add_rows(("text",), [[("a",)]], text_columns=[0], source={})
        found = modes(tmp_path)
        assert set(found) == {"p.sce", "p.sce-wal", "p.sce-shm", ".p.sce.lock"}
        assert set(found.values()) == {0o600}
        project.backup(tmp_path / "copy.sce")
    Project.repair_file(path, tmp_path / "repaired.sce")
    assert modes(tmp_path) == dict.fromkeys(("p.sce", "copy.sce", "repaired.sce"), 0o600)


def test_a_project_that_others_may_use_stays_so(tmp_path: Path) -> None:
    path, copy = tmp_path / "p.sce", tmp_path / "copy.sce"
    with Project.create(path) as project:
        project.backup(copy)
    path.chmod(0o660)
    copy.chmod(0o640)
    with Project.open(path) as project:
        assert modes(tmp_path) == {
            "p.sce": 0o660,
            "p.sce-wal": 0o660,
            "p.sce-shm": 0o660,
            ".p.sce.lock": 0o660,  # or nobody else could see whether it is open
            "copy.sce": 0o640,
        }
        project.backup(copy, overwrite=True)
    assert modes(tmp_path) == {"p.sce": 0o660, "copy.sce": 0o640}


def test_a_lock_alone_is_private(tmp_path: Path) -> None:
    lock = lock_of(tmp_path / "p.sce")
    assert lock.acquire()
    assert modes(tmp_path) == {".p.sce.lock": 0o600}
    lock.release()


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
def test_exports_while_they_are_written_and_then(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out.{ending}"
    seen: list[int] = []

    def batches() -> Iterator[list[tuple[str]]]:
        yield [("a",)]
        seen.extend(modes(tmp_path).values())
        yield [("b",)]

    write_table(path, ("text",), batches())
    assert seen
    assert set(seen) <= {0o600, 0o700}  # the second is a folder
    assert modes(tmp_path) == {path.name: 0o600}
    path.chmod(0o644)
    write_table(path, ("text",), [[("c",)]])
    assert mode(path) == 0o644


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "x.txt") as aside:
        assert mode(aside) == 1 / (mode(aside) - 0o600)  # 0600, and then it fails
    assert list(tmp_path.iterdir()) == []


def test_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "mine"
    with replaced_folder(folder) as aside:
        (aside / "sub").mkdir()
        for place in (aside, aside / "sub"):
            (place / "config.json").write_text("{}", encoding="utf-8")
    found = {str(path.relative_to(tmp_path)): mode(path) for path in tmp_path.rglob("*")}
    assert found == {
        "models": 0o700,
        "models/mine": 0o700,
        "models/mine/sub": 0o700,
        "models/mine/config.json": 0o600,
        "models/mine/sub/config.json": 0o600,
    }
    folder.chmod(0o750)
    with replaced_folder(folder):
        pass
    assert mode(folder) == 0o750


def test_what_is_our_own(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "config" / "settings.json")
    settings["offline"] = True
    settings.save()
    recent = RecentProjects(tmp_path / "data" / "recent.json")
    recent.remember(tmp_path / "p.sce", rows=1, labelled=0, scored=0)
    VectorCache(tmp_path / "cache" / "vectors.sqlite").close()
    log.start_log(tmp_path / "log" / "x.log")
    logging.getLogger("sce_desktop.x").info("a line")
    for place in ("config", "data", "cache", "log"):
        assert mode(tmp_path / place) == 0o700
        assert modes(tmp_path / place)
        assert set(modes(tmp_path / place).values()) == {0o600}


def test_what_an_older_version_has_made_is_narrowed() -> None:
    for folder in paths.own_folders():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
    paths.log_file().write_text("earlier\n", encoding="utf-8")
    paths.log_file().chmod(0o644)
    top = paths.data_dir().parent
    top.chmod(0o755)
    assert cli.main(["flops"]) == 0
    logging.getLogger("sce_desktop.x").info("a line")
    assert {mode(folder) for folder in paths.own_folders()} == {0o700}
    assert mode(paths.log_file()) == 0o600
    assert paths.log_file().read_text(encoding="utf-8").startswith("earlier\n")
    assert mode(top) == 0o755  # the user has named it


def test_a_linked_folder_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "shared"
    elsewhere.mkdir()
    elsewhere.chmod(0o755)
    (tmp_path / "models").symlink_to(elsewhere)
    private.narrow_folders([tmp_path / "models"])
    assert mode(elsewhere) == 0o755


def test_no_core_dump(umask: int) -> None:
    if umask:
        pytest.skip("once is enough")
    code = (
        "import resource, sys; from sce_desktop import cli; sys.argv = ['sce-desktop', '--version']; "
        "cli.main(); print(resource.getrlimit(resource.RLIMIT_CORE)[0])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "0"
