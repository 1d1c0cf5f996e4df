"""Files of a model folder, looked at before they are read: links, devices and sizes.

Model folders come from anywhere. A file is read only if it is an ordinary one of a sane size that lies in the
folder, or, in the cache of the Hugging Face hub, among the blobs of the same model, to which its snapshots
link.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.text import size_text

MOST_FILES = 10_000
MOST_FOLDERS_DEEP = 8
LARGEST_JSON = 10_000_000
"""Bytes of a configuration or an index; the largest that models on the hub have is below 9 MB."""
LARGEST_CARD = 1_000_000
"""Bytes that are read of a README.md."""
_TEXT_FILES = (".json", ".jinja", ".txt", ".md", ".py", ".toml", ".yaml", ".yml")
_LARGEST_TEXT = 100_000_000
"""Bytes of any other file that a library may read whole: vocabularies, merges, templates."""
_DEEPEST = 60
"""Levels of a JSON file: libraries copy and compare what is in it, and recurse to do so."""
MOST_CONTAINERS, _MOST_VALUES = 100_000, 6_000_000
"""Lists and objects, and values, of a JSON file: each takes far more memory than its two characters there."""


def check_folder(folder: Path) -> None:
    """Refuse a model folder that holds anything but ordinary files and folders.

    Links are followed only to files in the folder itself and, where it is a snapshot in the cache of the
    Hugging Face hub, in that model's own cache. Files and folders whose names begin with a dot are no part of
    a model: they are neither looked at nor copied.

    Raises:
        UserError: A link leads out of the folder or nowhere, a file is no ordinary one, a text file is larger
            than any model needs, or there are too many files.
    """
    root = folder.resolve()
    allowed = (root, *_own_cache(root))
    waiting, files = [(root, 0)], 0
    while waiting:
        place, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            raise UserError(
                _("{folder} cannot be read: {reason}.", folder=place, reason=error.strerror)
            ) from None
        for entry in entries:
            if entry.name.startswith("."):
                continue
            files += 1
            path = Path(entry.path)
            if files > MOST_FILES or depth > MOST_FOLDERS_DEEP:
                raise UserError(
                    _(
                        "{folder} is not a model folder: it has more than {files} files or {levels} levels "
                        "of folders.",
                        folder=folder,
                        files=number(MOST_FILES),
                        levels=MOST_FOLDERS_DEEP,
                    )
                )
            if entry.is_symlink():
                _check_link(path, allowed)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append((path, depth + 1))
                continue
            check_regular(path)


def check_regular(file: Path) -> int:
    """Return the bytes of ``file``.

    Raises:
        UserError: It is missing, no ordinary file, or a text file far beyond what any model has.
    """
    try:
        found = file.stat()
    except OSError as error:
        raise UserError(_("{file} cannot be read: {reason}.", file=file, reason=error.strerror)) from None
    if not stat.S_ISREG(found.st_mode):
        raise UserError(_("{file} is not an ordinary file: copy or download the model again.", file=file))
    if file.suffix in _TEXT_FILES:
        _check_size(file, found.st_size, _LARGEST_TEXT)
    return found.st_size


def read_text(file: Path, most: int) -> str:
    """Return the text of an ordinary file of at most ``most`` bytes; never waits for a pipe or a device.

    Raises:
        FileNotFoundError: There is none.
        UserError: It is no ordinary file, too large, not UTF-8, or cannot be read.
    """
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UserError(_("{file} cannot be read: {reason}.", file=file, reason=error.strerror)) from None
    try:
        with os.fdopen(handle, "rb") as stream:
            found = os.fstat(stream.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UserError(
                    _("{file} is not an ordinary file: copy or download the model again.", file=file)
                )
            _check_size(file, found.st_size, most)
            return stream.read(most + 1).decode("utf-8")
    except OSError as error:
        raise UserError(_("{file} cannot be read: {reason}.", file=file, reason=error.strerror)) from None
    except ValueError:
        raise damaged(file) from None


def parse_json(file: Path, text: str, most: int = MOST_CONTAINERS) -> Any:
    """Return what the JSON ``text`` of ``file`` holds, with at most so many lists and objects.

    Raises:
        UserError: It is not JSON, nested too deeply, or would take far more memory than its size.
    """
    if text.count("[") + text.count("{") > most or text.count(",") > _MOST_VALUES:
        raise UserError(_("{file} holds more values than any model needs: choose another model.", file=file))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise damaged(file) from None
    if _depth(value) > _DEEPEST:
        raise damaged(file)
    return value


def damaged(file: Path) -> UserError:
    """Return the error for a file that does not hold what its name says."""
    return UserError(_("{file} is damaged: copy or download the model again.", file=file))


def card_text(file: Path) -> str:
    """Return the beginning of a README.md; empty where there is none or it is no ordinary file."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return ""
        with file.open("rb") as stream:
            return stream.read(LARGEST_CARD).decode("utf-8", "replace")
    except OSError:
        return ""


def _check_size(file: Path, size: int, most: int) -> None:
    if size > most:
        raise UserError(
            _(
                "{file} has {size}, more than the {most} that any model needs: choose another model.",
                file=file,
                size=size_text(size),
                most=size_text(most),
            )
        )


def _own_cache(root: Path) -> tuple[Path, ...]:
    """Return where the snapshots of the hub's cache may link to, if ``root`` is or lies in one.

    The layout is ``models--OWNER--NAME/snapshots/REVISION/...`` with links to ``../../blobs/HASH``.
    """
    for place in (root, *root.parents):
        if place.parent.name == "snapshots" and place.parent.parent.name.startswith("models--"):
            return (place.parent.parent / "blobs", place)
    return ()


def _check_link(link: Path, allowed: tuple[Path, ...]) -> None:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # a loop: RuntimeError before Python 3.13
        raise UserError(
            _("{file} is a link that leads nowhere: copy or download the model again.", file=link)
        ) from None
    if not any(target.is_relative_to(place) for place in allowed):
        raise UserError(
            _(
                "{file} is a link out of the model's folder, to {target}: copy the file itself, or download "
                "the model again.",
                file=link,
                target=target,
            )
        )


def _depth(value: Any) -> int:
    """Return how many lists and objects stand in each other at most, without recursion."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, dict):
            inside = list(one.values())
        elif isinstance(one, list):
            inside = one
        else:
            continue
        deepest = max(deepest, depth)
        if depth > _DEEPEST:
            return depth
        waiting += [(each, depth + 1) for each in inside if isinstance(each, dict | list)]
    return deepest
