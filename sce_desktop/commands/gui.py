"""``gui``: opens the window."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from sce_desktop import paths
from sce_desktop.commands import options
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import set_language
from sce_desktop.core.progress import Progress
from sce_desktop.imports import spare_imports
from sce_desktop.settings import Settings


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(commands, "gui", "open the window (the default without a command)")
    parser.add_argument(
        "path", nargs="?", type=Path, metavar="PROJECT_OR_TABLE", help="project or table to open"
    )
    parser.set_defaults(run=run, network=True)  # the window has a setting for it


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Open the window and wait until it closes."""
    if args.path is not None and not args.path.is_file():
        raise UserError(f"{args.path} does not exist: give a project or a table.")
    if importlib.util.find_spec("PySide6") is None:
        raise UserError("The window needs PySide6: install it with pip install PySide6-Essentials.")
    if sys.platform.startswith("linux") and not any(
        map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    ):
        raise UserError("There is no display for the window: use the commands, see sce-desktop --help.")
    settings = Settings.load()
    set_language(str(settings["language"]), paths.resources_dir() / "locale")  # before the window's modules
    try:
        spare_imports()
        from sce_desktop import app
    except ImportError as error:  # such as libEGL.so.1
        raise UserError(f"The window cannot start, a system library is missing: {error}.") from error
    return app.main(args.path, settings)
