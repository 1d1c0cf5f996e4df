"""Where our files lie: per user by appdirs, and what is shipped with the program.

``SCE_DESKTOP_HOME`` moves every per-user place below one folder (tests, portable use). Nothing is made here:
whoever writes makes the folder.
"""

from __future__ import annotations

import os
from pathlib import Path

APP_NAME = "sce-desktop"
APP_ID = "alt.scedesktop.app"
"""Reverse-domain name by which desktops, packages and stores know the program. No registry gives away names
below ``alt`` (RFC 9476): the project has no domain of its own, and claims none.
"""
HOME_VARIABLE = "SCE_DESKTOP_HOME"


def _user_dir(kind: str) -> Path:
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home).expanduser().absolute() / kind
    try:
        import appdirs
    except ImportError:  # pretrain runs where it is not installed
        return Path.home() / f".{APP_NAME}" / kind
    folder: str = getattr(appdirs, f"user_{kind}_dir")(APP_NAME, False)
    return Path(folder)


def config_dir() -> Path:
    """Folder of the settings."""
    return _user_dir("config")


def data_dir() -> Path:
    """Folder of what must not be lost: models and projects."""
    return _user_dir("data")


def cache_dir() -> Path:
    """Folder of what can be made again."""
    return _user_dir("cache")


def log_dir() -> Path:
    """Folder of the rotating log."""
    return _user_dir("log")


def settings_file() -> Path:
    """The settings that differ from their defaults."""
    return config_dir() / "settings.json"


def models_dir() -> Path:
    """Folder of the models that the user added or downloaded."""
    return data_dir() / "models"


def projects_dir() -> Path:
    """Folder of new projects unless the user saves elsewhere."""
    return data_dir() / "projects"


def vector_cache_file() -> Path:
    """Text vectors, shared by all projects."""
    return cache_dir() / "vectors.sqlite"


def log_file() -> Path:
    """The newest of the rotating log files."""
    return log_dir() / f"{APP_NAME}.log"


def user_dirs() -> dict[str, Path]:
    """Every per-user place by its name, for the doctor and the settings dialog."""
    return {
        "config": config_dir(),
        "data": data_dir(),
        "cache": cache_dir(),
        "log": log_dir(),
        "models": models_dir(),
        "projects": projects_dir(),
    }


def own_folders() -> tuple[Path, ...]:
    """The folders that are the program's own and that nobody else is to read."""
    return (config_dir(), data_dir(), cache_dir(), log_dir(), models_dir(), projects_dir())


def _bundled(name: str) -> Path:
    package = Path(__file__).parent
    installed = package / "_bundled" / name
    return installed if installed.is_dir() else package.parent / name


def bundled_models_dir() -> Path:
    """Folder of the models shipped with the program, in an installed wheel and in a checkout alike."""
    return _bundled("models")


def resources_dir() -> Path:
    """Folder of icons, styles, label templates and the sample table."""
    return _bundled("resources")


def guide_dir() -> Path:
    """Folder of the user guide: Markdown pages, their contents, and pictures."""
    return _bundled("docs")
