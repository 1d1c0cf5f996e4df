from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.settings import SETTINGS, Settings


def test_only_overrides_are_written(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path / "new folder" / "settings.json")
    settings["threads"] = 3
    settings["theme"] = "dark"
    settings["theme"] = "system"
    settings.save()
    assert json.loads(settings.file.read_text(encoding="utf-8")) == {"threads": 3}
    assert [file.name for file in settings.file.parent.iterdir()] == ["settings.json"]
    assert Settings.load(settings.file)["threads"] == 3


def test_defaults_are_allowed_values() -> None:
    for setting in SETTINGS:
        assert setting.check(setting.default) == setting.default


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "\x00", "[" * 200_000, '{"a":' * 200_000, "3"),
        '{"threads": "many", "cache_megabytes": 7, "theme": "pink"}',
        '{"threads": NaN, "theme": ["dark"], "model": {"a": 1}}',
    ],
    ids=lambda text: text[:20],
)
def test_a_bad_file_means_defaults(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text, encoding="utf-8")
    settings = Settings.load(file)
    assert all(settings[setting.key] == setting.default for setting in SETTINGS)


def test_what_a_newer_version_wrote_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"telescope": [1], "threads": 2}', encoding="utf-8")
    settings = Settings.load(file)
    settings["threads"] = 4
    settings.save()
    assert json.loads(file.read_text(encoding="utf-8")) == {"telescope": [1], "threads": 4}


@pytest.mark.parametrize(
    ("key", "value"),
    [("threads", 1.5), ("threads", -1), ("threads", True), ("device", "tpu"), ("cache_megabytes", 9)],
)
def test_values_are_checked(tmp_path: Path, key: str, value: str | float) -> None:
    settings = Settings(tmp_path / "settings.json")
    with pytest.raises(UserError, match=key):
        settings[key] = value


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("x", encoding="utf-8")
    settings = Settings(blocker / "settings.json")
    settings["threads"] = 2
    with pytest.raises(UserError, match="cannot be written"):
        settings.save()


def test_a_file_that_is_none_or_no_text_is_ignored_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "settings.json"
    for make in (lambda: file.write_bytes(bytes(range(256))), file.mkdir):
        make()
        with caplog.at_level(logging.WARNING):
            assert Settings.load(file)["theme"] == "system"
        assert f"{file} cannot be used" in caplog.text
        caplog.clear()
    settings = Settings.load(file)
    settings["threads"] = 2
    settings.save()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "settings.json",
        "settings.json.unreadable",
        "settings.json.unreadable-2",
    ]
    with caplog.at_level(logging.WARNING):
        Settings.load(tmp_path / "missing.json")
    assert caplog.text.count("missing.json") == 0
