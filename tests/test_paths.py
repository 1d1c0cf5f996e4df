from __future__ import annotations

from pathlib import Path

import pytest

from sce_desktop import log, paths


def test_one_variable_moves_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path / "мой дом"))
    places = [*paths.user_dirs().values(), paths.settings_file(), paths.vector_cache_file(), paths.log_file()]
    assert all(place.is_relative_to(tmp_path / "мой дом") for place in places)
    assert not (tmp_path / "мой дом").exists()


def test_without_it_the_places_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(paths.HOME_VARIABLE)
    assert paths.APP_NAME in str(paths.config_dir())


def test_shipped_files_are_found_in_a_checkout() -> None:
    assert paths.bundled_models_dir().is_dir()
    assert paths.resources_dir().is_dir()


def test_a_log_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    import logging

    blocker = tmp_path / "file"
    blocker.write_text("x", encoding="utf-8")
    log.start_log(blocker / "log" / "x.log")
    file = tmp_path / "log" / "x.log"
    log.start_log(file)
    logging.getLogger("sce_desktop.test").info("kept")
    assert "kept" in file.read_text(encoding="utf-8")
