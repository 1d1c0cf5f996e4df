"""Where the window was, how large, and which folders were used last: a file of Qt's beside the settings."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import QSettings

from sce_desktop import paths
from sce_desktop.core.private import own_file


def window_state() -> QSettings:
    """Return the state of the window, kept in a file that only its owner can read.

    Qt makes a missing file readable for everybody, whatever the umask is, and keeps the mode of one.
    """
    file = paths.config_dir() / "window.ini"
    with contextlib.suppress(OSError):  # a folder that cannot be written: nothing is kept then
        own_file(file)
    return QSettings(str(file), QSettings.Format.IniFormat)
