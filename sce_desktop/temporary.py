"""Temporary files beside what they will become: gone however a run ends.

Whoever is stopped or fails removes its own. Who is killed cannot: so every name says which process it belongs
to, and every process keeps a list of its names in the cache folder, locked while it lives. The next start of
the program removes what the lists of dead processes name, and what lies under the names of dead processes in
the program's own folders and the system's temporary folder. So does the first temporary file of a process in
any other folder there, for a list may be lost. Names of other machines and containers go when nobody has
touched them for `OTHERS_AGE_S`. What belongs to another user is left alone.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from sce_desktop import paths, process
from sce_desktop.core import private

COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""

OTHERS_AGE_S: Final = 86_400.0
"""What is of another machine, whose locks and processes may not be seen here, is left alone for so long."""
_BESIDE: Final = re.compile(rf"\.sce-({process.OWNER})-[0-9a-f]{{12}}\.(partial|old)")
_LEFT: Final = re.compile(rf"\.?\.sce-({process.OWNER})-[0-9a-f]{{12}}\.partial(-\w+|\.lock)*")
_EARLIER: Final = re.compile(r"\.[0-9a-f]{32}\.(partial|old)")  # names that said nothing of their process
_FOLDER: Final = re.compile(rf"sce-desktop-({process.OWNER})-\w+")
_FOR_SOCKETS: Final = re.compile(r"sce-ray-\w+")
_LOCK: Final = re.compile(r"\..+\.lock", re.DOTALL)
_LISTS: Final = "temporary"
_LARGE: Final = 16_000_000  # bytes, which take some 4 ms to be freed

_log = logging.getLogger(__name__)


@contextmanager
def temporary_beside(target: Path) -> Iterator[Path]:
    """Give the path of a file or folder to make beside ``target``; what is there at the end is removed.

    So are the companions of a database. The name says nothing of the target, whose own may be as long as
    names can be, and has no ending of ours: nobody takes what a crash leaves there for a result.
    """
    _sweep_once(target.parent)
    path = target.with_name(_name("partial"))
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
    old = folder.with_name(_name("old"))
    _note(old, back=folder)
    try:
        yield old
    finally:
        _put_back(old, folder)
        _forget(old)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a new folder of this user's alone in the system's temporary folder; it is removed at the end."""
    folder = make_folder()
    try:
        yield folder
    finally:
        remove_folder(folder)


def make_folder(*, for_sockets: bool = False) -> Path:
    """Make a folder as `temporary_folder` does, for whoever cannot say when it ends: see `remove_folder`.

    The path of a socket has 107 characters at most: ``for_sockets`` the name is short, and the list alone
    says whose it is.
    """
    prefix = "sce-ray-" if for_sockets else f"sce-desktop-{process.owner()}-"
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    _note(folder)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove what `make_folder` made; what cannot be removed now goes with a later start."""
    shutil.rmtree(folder, ignore_errors=True)
    _forget(folder)


def note_lock(path: Path) -> bool:
    """Put the lock file ``path`` on the list of this process, before it is made: locks go, their files stay.

    Returns whether it was not there yet.
    """
    new = str(path) not in _active
    _note(path, kind="lock")
    return new


def forget_lock(path: Path) -> None:
    """Take the lock file ``path`` off the list."""
    _forget(path)


def remove_companions(path: Path) -> None:
    """Remove what SQLite keeps beside the database ``path``."""
    for ending in COMPANIONS:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def sweep() -> None:
    """Remove what processes that are dead have left. Called at every start; failing is silent."""
    lists: list[Path] = []
    with contextlib.suppress(OSError):
        lists = sorted((paths.cache_dir() / _LISTS).glob("*.jsonl"))
    for file in lists:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            _sweep(file)
    for folder in (*paths.user_dirs().values(), Path(tempfile.gettempdir())):
        _sweep_once(folder)


# --- the list of this process ------------------------------------------------------------------------------

_changing = threading.Lock()
_active: set[str] = set()
_seen: set[str] = set()  # folders that were looked through, with the process that did
_list: IO[bytes] | None = None


def _name(ending: str) -> str:
    return f".sce-{process.owner()}-{uuid.uuid4().hex[:12]}.{ending}"


def _note(path: Path, *, back: Path | None = None, kind: str = "path") -> None:
    """Put ``path`` on the list of this process; without a list its name alone says whose it is."""
    with _changing, contextlib.suppress(OSError):
        _active.add(str(path))
        _write({kind: str(path.absolute()), **({"back": str(back.absolute())} if back else {})})


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


def _after_fork() -> None:
    """A child has nothing on the list of its parent, and must not write to it."""
    global _list, _changing
    _changing = threading.Lock()
    _active.clear()
    _list = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _write(line: dict[str, Any]) -> None:
    global _list
    if _list is None:
        folder = paths.cache_dir() / _LISTS
        private.make_folder(folder)
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
    if not file.is_file():
        return
    with file.open("rb") as stream:
        if not _lock(stream):
            return  # its process lives
        said = [json.loads(line) for line in stream.read().splitlines() if line.endswith(b"}")]
        head, *lines = said or [{"host": platform.node()}]  # killed before it could write anything
        elsewhere = head["host"] != platform.node()
        if elsewhere and time.time() - file.stat().st_mtime < OTHERS_AGE_S:
            return
        left: dict[str, dict[str, str]] = {}
        for line in lines:
            if "gone" in line:
                left.pop(line["gone"], None)
            else:
                left[line["lock"] if "lock" in line else line["path"]] = line
        for name, line in left.items():
            _sweep_listed(Path(name), line)
        _log.info("removed what an earlier run left: %d", len(left))
    file.unlink(missing_ok=True)


def _sweep_listed(path: Path, line: dict[str, str]) -> None:
    if "lock" in line:
        _remove_lock(path)
    elif not any(ours.fullmatch(path.name) for ours in (_BESIDE, _EARLIER, _FOLDER, _FOR_SOCKETS)):
        return  # whoever wrote that, it was not us
    elif back := line.get("back", ""):
        _put_back(path, Path(back))
    else:
        _remove(path)


def _sweep_once(folder: Path) -> None:
    """Remove what dead processes left in ``folder`` under names of theirs; once for each process."""
    key = f"{os.getpid()} {folder}"
    if key in _seen:
        return
    _seen.add(key)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if (found := _LEFT.fullmatch(entry.name) or _FOLDER.fullmatch(entry.name)) is not None:
                with contextlib.suppress(OSError):
                    if _is_left(Path(entry.path), found[1]):
                        _remove(Path(entry.path))
                        _log.info("removed what a dead process left: %s", entry.name)


def _is_left(path: Path, owner: str) -> bool:
    """Whether nobody works with ``path`` any more, as far as that can be known."""
    if not _is_own(path):
        return False
    if process.is_here(owner):
        return process.is_dead(owner)
    touched = [path, *(path.iterdir() if stat.S_ISDIR(path.lstat().st_mode) else ())]
    return time.time() - max(one.lstat().st_mtime for one in touched) > OTHERS_AGE_S


def _is_own(path: Path) -> bool:
    return not hasattr(os, "geteuid") or path.lstat().st_uid == os.geteuid()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
            return
        remove_companions(path)
        source = path.with_name(f"{path.name}-source")  # of a repair
        remove_companions(source)
        _unlink(source)
        path.with_name(f".{path.name}.lock").unlink(missing_ok=True)
        _unlink(path)


def _unlink(path: Path) -> None:
    """Remove the file ``path`` if it is there; nobody waits until the space of a large one is free.

    The file system takes more than 0.1 s for half a gigabyte. A file that is open loses its name at once and
    its space when it is closed: by a thread here, or by the system if the process ends before.
    """
    with contextlib.suppress(OSError, RuntimeError):  # whatever hinders it, the file is removed below
        found = path.lstat()
        if sys.platform != "win32" and stat.S_ISREG(found.st_mode) and found.st_size >= _LARGE:
            file = path.open("rb", buffering=0)
            try:
                path.unlink()
                threading.Thread(target=file.close, name="free space").start()
            except BaseException:
                file.close()
                raise
    path.unlink(missing_ok=True)


def _remove_lock(path: Path) -> None:
    """Remove the file of a lock that nobody holds."""
    if not _LOCK.fullmatch(path.name) or path.is_symlink() or not path.is_file() or path.stat().st_size:
        return
    with contextlib.suppress(OSError), path.open("rb") as stream:
        if sys.platform != "win32" and not _lock(stream):
            return
        if os.path.samestat(os.fstat(stream.fileno()), path.stat()) and sys.platform != "win32":
            path.unlink()
            return
    if sys.platform == "win32":  # an open file cannot be removed there, nor one that somebody holds
        with contextlib.suppress(OSError):
            path.unlink()


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
