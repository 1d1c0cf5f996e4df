"""Temporary files beside what they will become: gone however a run ends.

Whoever is stopped or fails removes its own. Who is killed cannot: so every process keeps a list of them in
the cache folder, locked while it lives, and the next start of the program removes what the lists of dead
processes name. Nothing is ever searched for in the user's folders.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import re
import shutil
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from sce_desktop import paths
from sce_desktop.core.private import make_folder

COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""

OTHERS_AGE_S: Final = 86_400.0
"""A list of another machine, whose locks may not be seen here, is left alone for so long."""
_OURS: Final = re.compile(r"\.[0-9a-f]{32}\.(partial|old)")
_LISTS: Final = "temporary"

_log = logging.getLogger(__name__)


@contextmanager
def temporary_beside(target: Path) -> Iterator[Path]:
    """Give the path of a file or folder to make beside ``target``; what is there at the end is removed.

    So are the companions of a database. The name says nothing of the target, whose own may be as long as
    names can be, and has no ending of ours: nobody takes what a crash leaves there for a result.
    """
    path = target.with_name(f".{uuid.uuid4().hex}.partial")
    _note(path)
    try:
        yield path
    finally:
        _remove(path)
        _forget(path)


@contextmanager
def set_aside(folder: Path) -> Iterator[Path]:
    """Give the path that ``folder`` is renamed to while another takes its place.

    At the end it is removed, or renamed back where nothing took its place; the next start does so if we are
    killed.
    """
    old = folder.with_name(f".{uuid.uuid4().hex}.old")
    _note(old, back=folder)
    try:
        yield old
    finally:
        _put_back(old, folder)
        _forget(old)


def remove_companions(path: Path) -> None:
    """Remove what SQLite keeps beside the database ``path``."""
    for ending in COMPANIONS:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def sweep() -> None:
    """Remove what processes that are dead have left. Called at every start; failing is silent."""
    try:
        lists = sorted((paths.cache_dir() / _LISTS).glob("*.jsonl"))
    except OSError:
        return
    for file in lists:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            _sweep(file)


# --- the list of this process ------------------------------------------------------------------------------

_changing = threading.Lock()
_active: set[str] = set()
_list: IO[bytes] | None = None


def _note(path: Path, *, back: Path | None = None) -> None:
    """Put ``path`` on the list of this process; without a list nothing is swept, and nothing else changes."""
    with _changing, contextlib.suppress(OSError):
        _active.add(str(path))
        _write({"path": str(path.absolute()), **({"back": str(back.absolute())} if back else {})})


def _forget(path: Path) -> None:
    global _list
    with _changing, contextlib.suppress(OSError):
        _active.discard(str(path))
        if _active or _list is None:
            if _list is not None:
                _write({"gone": str(path.absolute())})
            return
        name, stream, _list = Path(_list.name), _list, None
        if sys.platform == "win32":  # an open file cannot be removed there
            stream.close()
        name.unlink(missing_ok=True)
        stream.close()


def _write(line: dict[str, Any]) -> None:
    global _list
    if _list is None:
        folder = paths.cache_dir() / _LISTS
        make_folder(folder)
        file = folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
        file.touch(mode=0o600, exist_ok=False)
        stream = file.open("ab", buffering=0)
        if not _lock(stream):
            stream.close()
            file.unlink(missing_ok=True)
            return
        _list = stream
        _list.write(json.dumps({"host": platform.node()}).encode() + b"\n")
    _list.write(json.dumps(line).encode() + b"\n")


# --- the lists of others -----------------------------------------------------------------------------------


def _sweep(file: Path) -> None:
    with file.open("rb") as stream:
        if not _lock(stream):
            return  # its process lives
        said = [json.loads(line) for line in stream.read().splitlines() if line.endswith(b"}")]
        head, *lines = said or [{"host": platform.node()}]  # killed before it could write anything
        elsewhere = head["host"] != platform.node()
        if elsewhere and time.time() - file.stat().st_mtime < OTHERS_AGE_S:
            return
        left: dict[str, str] = {}
        for line in lines:
            if "gone" in line:
                left.pop(line["gone"], None)
            else:
                left[line["path"]] = line.get("back", "")
        for name, back in left.items():
            path = Path(name)
            if not _OURS.fullmatch(path.name):  # whoever wrote that, it was not us
                continue
            if back:
                _put_back(path, Path(back))
            else:
                _remove(path)
        _log.info("removed what an earlier run left: %d", len(left))
    file.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
            return
        remove_companions(path)
        path.with_name(f".{path.name}.lock").unlink(missing_ok=True)
        path.unlink(missing_ok=True)


def _put_back(old: Path, folder: Path) -> None:
    with contextlib.suppress(OSError):
        if not old.exists():
            return
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(folder)


if sys.platform == "win32":
    import msvcrt

    def _lock(stream: IO[bytes]) -> bool:
        stream.seek(0)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _lock(stream: IO[bytes]) -> bool:
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another process has it, or there are no locks: then there is no list either
            return False
        return True
