"""Files of state that make no sense: set aside, reported in one sentence, never the end of the program."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sce_desktop import cli, paths, state_files
from sce_desktop.controllers.keymap import COMMANDS, Keymap
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.controllers.scoring_states import ScoringStates
from sce_desktop.controllers.view_state import ViewState
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import RowQuery
from sce_desktop.ml.hub.folders import known_sha256
from sce_desktop.settings import SETTINGS, Settings
from tests.hostile.state_files import BUILDERS, WRONG_TYPES

PROJECT = Path("/p.sce")


def defaults(file: Path) -> bool:
    settings = Settings.load(file)
    return all(settings[setting.key] == setting.default for setting in SETTINGS)


READERS: dict[str, tuple[str, Callable[[Path], bool]]] = {
    "settings.json": ("Your settings could not be read", defaults),
    "recent.json": ("The list of recent projects could not be read", lambda f: RecentProjects(f).all() == []),
    "places.json": (
        "The last view of your projects could not be read",
        lambda f: ViewState(f).shown_last(PROJECT) == (RowQuery(), None),
    ),
    "scoring.json": (
        "Which projects are being scored could not be read",
        lambda f: ScoringStates(f).of(PROJECT, "") is None,
    ),
}


def kind_of(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return stat.S_IFMT(found.st_mode), found.st_size


@pytest.fixture(autouse=True)
def _nothing_reported_before() -> None:
    with state_files.hearing(lambda _: None):
        pass


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("builder", BUILDERS)
def test_what_makes_no_sense_is_set_aside_and_reported_once(
    tmp_path: Path, builder: str, reader: str
) -> None:
    sentence, reads_defaults = READERS[reader]
    file = tmp_path / reader
    BUILDERS[builder](file)
    before = kind_of(file)
    heard: list[str] = []
    started = time.process_time()
    with state_files.hearing(heard.append):
        assert reads_defaults(file)
        assert reads_defaults(file)
    assert time.process_time() - started < 10
    (told,) = heard
    assert told.startswith(sentence)
    assert "\n" not in told
    aside = file.with_name(f"{reader}.unreadable")
    assert told.endswith(f"the file is kept as {aside}.")
    assert [path.name for path in tmp_path.iterdir() if path.name != "elsewhere"] == [aside.name]
    assert kind_of(aside) == before


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_nobody_may_read(tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The administrator may read everything: so the refusal comes from the opening."""
    sentence, reads_defaults = READERS[reader]
    file = tmp_path / reader
    file.write_text("{}", encoding="utf-8")
    really = Path.open

    def refuse(path: Path, *arguments: object, **options: object) -> object:
        if path == file:
            raise PermissionError(13, "Permission denied", str(path))
        return really(path, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)
    heard: list[str] = []
    with state_files.hearing(heard.append):
        assert reads_defaults(file)
    assert [told.startswith(sentence) for told in heard] == [True]
    assert [path.name for path in tmp_path.iterdir()] == [f"{reader}.unreadable"]


@pytest.mark.parametrize("reader", READERS)
def test_one_that_cannot_be_renamed_is_reported_and_left(
    tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / reader
    os.mkfifo(file)

    def refuse(path: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "rename", refuse)
    heard: list[str] = []
    with state_files.hearing(heard.append):
        assert READERS[reader][1](file)
        assert READERS[reader][1](file)
    (told,) = heard
    assert told.startswith(f"{file} cannot be read, nor renamed (Permission denied)")
    assert file.is_fifo()


def test_settings_of_other_types_have_their_defaults_and_the_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(WRONG_TYPES["settings.json"], encoding="utf-8")
    heard: list[str] = []
    with state_files.hearing(heard.append):
        for _start in range(2):
            settings = Settings.load(file)
            changed = {s.key: settings[s.key] for s in SETTINGS if settings[s.key] != s.default}
            assert changed == {"daily_goal": 3}
            assert Keymap(settings).keys() == {command.name: command.key for command in COMMANDS}
    (told,) = heard
    assert told.startswith("Some settings could not be read")
    assert json.loads(file.read_text(encoding="utf-8")) == {"daily_goal": 3, "telescope": 1}
    aside = tmp_path / "settings.json.unreadable"
    assert aside.read_text(encoding="utf-8") == WRONG_TYPES["settings.json"]


def test_recent_projects_of_other_types_are_dropped_and_the_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "recent.json"
    file.write_text(WRONG_TYPES["recent.json"], encoding="utf-8")
    heard: list[str] = []
    with state_files.hearing(heard.append):
        for _start in range(2):
            assert [entry.path for entry in RecentProjects(file).all()] == ["/a.sce"]
    (told,) = heard
    assert told.startswith("Some recent projects could not be read")
    assert (tmp_path / "recent.json.unreadable").read_text(encoding="utf-8") == WRONG_TYPES["recent.json"]


def test_a_link_to_settings_stays_one(tmp_path: Path) -> None:
    """People keep such files in a folder of their own and put links where programs look."""
    (tmp_path / "kept").mkdir()
    real, link = tmp_path / "kept" / "mine.json", tmp_path / "settings.json"
    real.write_text('{"threads": 2}', encoding="utf-8")
    link.symlink_to(real)
    settings = Settings.load(link)
    settings["theme"] = "dark"
    settings.save()
    assert link.is_symlink()
    assert json.loads(real.read_text(encoding="utf-8")) == {"threads": 2, "theme": "dark"}


def test_nothing_that_was_set_aside_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    for number in range(3):
        file.write_text(f"[{number}", encoding="utf-8")
        Settings.load(file)
    kept = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert kept == {
        "settings.json.unreadable": "[0",
        "settings.json.unreadable-2": "[1",
        "settings.json.unreadable-3": "[2",
    }


def test_a_command_reports_it_on_stderr_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths.settings_file().parent.mkdir(parents=True)
    os.mkfifo(paths.settings_file())
    table = tmp_path / "in.csv"
    table.write_text("id,text\n1,late\n", encoding="utf-8")
    classify = ["classify", str(table), "--text", "none", "--label", "Late", "-o", str(tmp_path / "o.csv")]
    assert cli.main(classify) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "Your settings could not be read" in line] == lines[:1]
    assert len(lines) == 2
    assert cli.main(classify) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("builder", BUILDERS)
def test_the_memory_of_hashes_is_made_again(tmp_path: Path, builder: str) -> None:
    memory = paths.cache_dir() / "sha256.json"
    memory.parent.mkdir(parents=True)
    BUILDERS[builder](memory)
    file = tmp_path / "weights"
    file.write_bytes(b"weights")
    assert known_sha256(file) == known_sha256(file)
    assert len(known_sha256(file)) == 64
    if builder == "link to a pipe":
        assert (memory.parent / "elsewhere" / "pipe").is_fifo()


@pytest.mark.parametrize("builder", ["pipe", "folder", "socket", "link to a pipe", "link to itself"])
def test_nothing_but_a_file_is_ever_replaced(tmp_path: Path, builder: str) -> None:
    file = tmp_path / "settings.json"
    BUILDERS[builder](file)
    before = kind_of(file), {path: kind_of(path) for path in tmp_path.rglob("*")}
    settings = Settings(file)
    settings["threads"] = 2
    with pytest.raises(UserError, match="cannot be written"):
        settings.save()
    assert (kind_of(file), {path: kind_of(path) for path in tmp_path.rglob("*")}) == before


@pytest.mark.parametrize("builder", ["pipe", "folder", "socket", "link to a pipe", "dangling link"])
def test_a_log_that_is_no_file_ends_nothing(builder: str) -> None:
    paths.log_file().parent.mkdir(parents=True)
    BUILDERS[builder](paths.log_file())
    assert cli.main(["flops"]) == 0
