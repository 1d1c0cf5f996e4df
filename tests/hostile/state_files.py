"""What may lie where the program keeps a small file of state: each builder puts one thing at a path."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path


def _binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 40)


def _huge(path: Path) -> None:
    with path.open("wb") as file:  # a hole: nothing of it is on the disk
        file.write(b'{"threads": "')
        file.truncate(3 << 30)


def _many_lists(path: Path) -> None:
    path.write_text("[" + "[]," * 4_000_000 + "[]]", encoding="utf-8")


def _socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(before)


def _link_to_pipe(path: Path) -> None:
    """Stands for a link to a device, which a mistake in what is tested might replace."""
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir()
    os.mkfifo(elsewhere / "pipe")
    path.symlink_to(elsewhere / "pipe")


BUILDERS: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "deep lists": lambda path: path.write_text("[" * 200_000, encoding="utf-8"),
    "deep objects": lambda path: path.write_text('{"a":' * 200_000, encoding="utf-8"),
    "deep and whole": lambda path: path.write_text("[" * 100_000 + "]" * 100_000, encoding="utf-8"),
    "many lists": _many_lists,
    "cut off": lambda path: path.write_text('{"threads": 2, "the', encoding="utf-8"),
    "another kind": lambda path: path.write_text('"text"', encoding="utf-8"),
    "nothing but NaN": lambda path: path.write_text("NaN", encoding="utf-8"),
    "binary": _binary,
    "UTF-16": lambda path: path.write_text('{"threads": 2}', encoding="utf-16"),
    "huge": _huge,
    "folder": lambda path: (path / "within").mkdir(parents=True),
    "pipe": os.mkfifo,
    "socket": _socket,
    "dangling link": lambda path: path.symlink_to(path.with_name("nothing")),
    "link to itself": lambda path: path.symlink_to(path),
    "link to a pipe": _link_to_pipe,
}
"""By what they make. None is a file of state of this program."""

WRONG_TYPES = {
    "settings.json": '{"threads": "many", "theme": ["dark"], "model": {"a": 1}, "offline": NaN, '
    '"keys": "{\\"accept\\": ", "column_widths": "[1]", "daily_goal": 3, "telescope": 1}',
    "recent.json": '[{"path": 3, "opened_at": 1.0}, {"path": "/a.sce", "opened_at": 1.0}, 7, null]',
}
"""Files that are JSON of the right kind with some values of other types."""
