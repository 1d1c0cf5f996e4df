"""Where the window was, how large, and which folders were used last: a file of Qt's beside the settings."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from PySide6.QtCore import QSettings

from sce_desktop import paths, state_files
from sce_desktop.core.i18n import N_
from sce_desktop.core.private import own_file

_UNREADABLE = N_(
    "The layout of the window could not be read and is the default one; the file is kept as {file}."
)


def window_state(file: Path | None = None) -> QSettings:
    """Return what the window remembers, in a file of its owner alone; one that makes no sense is set aside.

    Qt makes a missing file readable for everybody, whatever the umask is, and keeps the mode of one.
    """
    file = file or paths.config_dir() / "window.ini"
    try:
        if (text := state_files.read_text(file)) is not None and "\0" in text:
            raise state_files.MalformedError("not text")
        if text is not None and _opened(file).status() is QSettings.Status.FormatError:
            raise state_files.MalformedError("no ini file")
    except state_files.MalformedError as error:
        state_files.set_aside(file, _UNREADABLE, error)
        if os.path.lexists(file):  # it could not be renamed, and Qt would wait for a pipe
            file = file.with_name("window-new.ini")
    with contextlib.suppress(OSError):  # a folder that cannot be written: nothing is kept then
        own_file(file)
    return _opened(file)


def _opened(file: Path) -> QSettings:
    return QSettings(str(file), QSettings.Format.IniFormat)
