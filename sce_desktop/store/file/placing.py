"""Putting a project file in its place: whole, nothing of another database beside it, over nothing unasked.

SQLite takes whatever lies beside a database under its name and "-wal" or "-journal" for a part of it. What an
earlier file of that name has left there would be mixed into a new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.names import check_name
from sce_desktop.core.private import make_file, mode_like
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import connect, file_uri, overwrite_deleted
from sce_desktop.store.file.failures import error_code
from sce_desktop.store.file.header import check_companions
from sce_desktop.store.file.lock import FileLock
from sce_desktop.store.file.stopping import fetch_watched
from sce_desktop.temporary import COMPANIONS, remove_companions, temporary_beside

_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_MAGIC: Final = b"SQLite format 3\0"
_BEGINNINGS: Final = {"-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"), "-journal": (b"\xd9\xd5\x05\xf9",)}
_SIZE_FIELDS: Final = ((16, 2), (24, 4), (28, 4), (68, 4), (92, 4))  # of the header: start and bytes
_LARGE: Final = 10_000_000  # bytes
_LOOK_S: Final = 0.05  # between two looks at whether to go on
_SHM_BLOCK: Final = 32_768
_SHM_IN_USE: Final = 128  # the byte of the "-shm" file that everybody has locked who has the log open


def lock_of(path: Path) -> FileLock:
    """Return the lock that whoever writes to the project ``path`` holds."""
    return FileLock(path.with_name(f".{path.name}.lock"), mode=mode_like(path))


@contextmanager
def new_file(path: Path, *, overwrite: bool, locked: bool = False) -> Iterator[Path]:
    """Give a place beside ``path`` for a database; move it to ``path`` at the end, remove it on failure.

    The place is an empty file that only its owner can read, as is a new project. It has no ending of ours, so
    that nobody takes what a crash leaves there for a project. See `put_in_place`.
    """
    with explaining(path):
        check_target(path, overwrite=overwrite)
        target = path.resolve()
        with temporary_beside(target) as draft:
            # what is wrong with the folder is reported by the system, not by SQLite
            make_file(draft)
            yield draft
            put_in_place(draft, path, overwrite=overwrite, locked=locked)


def put_in_place(
    draft: Path, path: Path, *, overwrite: bool, locked: bool = False, progress: Progress | None = None
) -> None:
    """Rename the closed database ``draft`` to ``path`` after reading all of it again.

    Whatever interrupts this, ``path`` is then the new file, whole, or what it was before. Leftovers beside it
    are removed. ``locked``: the caller holds its `lock_of`. ``progress`` is asked while it is read again.

    Raises:
        UserError: The draft is not whole; there is a file and not ``overwrite``, or it is in use; the place
            cannot be written.
    """
    with explaining(path):
        _check_while_written(draft, path, progress)
        target = path.resolve()
        with contextlib.nullcontext() if locked else _claimed(target):
            check_target(path, overwrite=overwrite)
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
                written = os.fstat(file.fileno())
            if target.exists():
                _settle(target)
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            _check_unused(target)
            remove_companions(target)
            draft.replace(target)
            sync_folder(target.parent)
            if not os.path.samestat(written, target.stat()) or _leftovers(target):
                raise UserError(
                    _("Another program wrote to {path} at the same time: choose another name.", path=path)
                )


def check_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a place where no project file can be put. UserError says why."""
    check_name(path)
    if not path.parent.is_dir():
        raise UserError(_("The folder {parent} does not exist: choose another folder.", parent=path.parent))
    if path.is_dir():
        raise UserError(_("{path} is a folder: give a file name.", path=path))
    if path.is_symlink() and not path.exists():
        raise UserError(_("{path} is a link to a file that does not exist: choose another name.", path=path))
    if path.exists() and not (overwrite and path.is_file()):
        raise UserError(_("{path} already exists: choose another name.", path=path))


def _check_while_written(draft: Path, path: Path, progress: Progress | None) -> None:
    """Check that ``draft`` is whole; a large one is brought to the disk meanwhile, for the most part."""
    if _size(draft) < _LARGE:
        check_whole(draft, path, progress)
        return
    file = draft.open("rb+")
    disk = ThreadPoolExecutor(1, thread_name_prefix="sync")
    syncing = disk.submit(os.fsync, file.fileno())
    try:
        check_whole(draft, path, progress)
        while not syncing.done():  # a disk may take seconds, and nothing stops it
            wait([syncing], _LOOK_S)
            (progress or SilentProgress()).check()
    finally:
        disk.shutdown(wait=os.name != "posix")  # elsewhere nobody can remove what is still open
        # Closed at the end alone: closing a file lets go of the locks that SQLite has on it.
        syncing.add_done_callback(lambda _done: file.close())
    syncing.result()


def check_whole(draft: Path, path: Path, progress: Progress | None = None) -> None:
    """Read the closed database ``draft`` again. UserError, which names ``path``, if it is not whole."""
    try:
        whole = not any(_size(file) for file in _leftovers(draft)) and _is_sound(draft, progress)
    except sqlite3.Error:
        whole = False
    if not whole:
        raise UserError(
            _(
                "{name} could not be written completely, so nothing was replaced: check the disk, then "
                "check the project that it was made from with “sce-desktop project verify”.",
                name=path.name,
            )
        )


def is_open(path: Path) -> bool:
    """Whether somebody has the project ``path`` open to write to it, this process included."""
    lock = lock_of(path.resolve())
    if not lock.path.exists():
        return False
    try:
        free = lock.acquire()
    except OSError:
        return False
    lock.release()
    return not free


def has_strange_log(path: Path) -> bool:
    """Whether the log beside the project ``path`` is of another database.

    A project that is closed is in no mode that has a log, and says so in its header: before there is a log it
    is changed, and after it is gone. SQLite would take the log without looking at that.
    """
    try:
        if not _size(path.with_name(f"{path.name}-wal")):
            return False
        with path.open("rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return head.startswith(_MAGIC) and head[18:20] == b"\x01\x01"


def lacks_its_end(path: Path) -> bool:
    """Whether the project ``path`` is shorter than its header says, as a copy that broke off is.

    SQLite takes part of a page for a whole one, and fails where it comes to what is missing, if ever.
    A log or journal that belongs to the file may hold the rest, or another header.
    """
    journal = path.with_name(f"{path.name}-journal")
    try:
        with path.open("rb") as file:
            head = file.read(100)
            length = file.seek(0, os.SEEK_END)
        if _size(journal) or (_size(path.with_name(f"{path.name}-wal")) and not has_strange_log(path)):
            return False
    except OSError:
        return False  # reported by whoever reads it in earnest
    if len(head) < 100 or not head.startswith(_MAGIC):
        return False
    page, changes, pages, application, valid_for = (
        int.from_bytes(head[start : start + size], "big") for start, size in _SIZE_FIELDS
    )
    counted = changes == valid_for  # else it was written by a program that does not count pages
    return (
        application == schema.APPLICATION_ID and counted and length < pages * (65_536 if page == 1 else page)
    )


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn the failures of the system while ``path`` is written into a `UserError`."""
    try:
        yield
    except OSError as error:
        raise UserError(_refusal(path, error)) from error


def _refusal(path: Path, error: OSError) -> str:
    if error.errno in _FULL:
        return _(
            "There is no room for {path}: free some space or choose another disk; nothing was written.",
            path=path,
        )
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return _("{path} cannot be written: its folder is write-protected. Choose another folder.", path=path)
    if error.errno == errno.ENAMETOOLONG:
        return _("The name {name}… is too long: choose a shorter one.", name=path.name[:40])
    return _(
        "{path} cannot be written ({reason}): choose another folder.",
        path=path,
        reason=error.strerror or error,
    )


@contextmanager
def _claimed(target: Path) -> Iterator[None]:
    lock = lock_of(target)
    if not lock.acquire():
        raise _in_use(target)
    try:
        yield
    finally:
        lock.release()


def _in_use(path: Path) -> UserError:
    return UserError(_("{path} is open: close it there, or choose another name.", path=path))


def _leftovers(path: Path) -> list[Path]:
    places = (path.with_name(path.name + ending) for ending in COMPANIONS)
    return [place for place in places if place.exists()]


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _is_sound(draft: Path, progress: Progress | None) -> bool:
    with contextlib.closing(connect(draft, "mode=ro")) as plain:
        (application_id,) = plain.execute("PRAGMA application_id").fetchone()
        (pages,) = plain.execute("PRAGMA page_count").fetchone()
        (page,) = plain.execute("PRAGMA page_size").fetchone()
        checked = fetch_watched(plain, "PRAGMA quick_check(1)", progress or SilentProgress())
    return (application_id, pages * page, checked) == (schema.APPLICATION_ID, _size(draft), ("ok",))


def _settle(target: Path) -> None:
    """Bring a project that is to be replaced into its one file: it is whole then if we are killed."""
    if not any(_size(file) for file in _leftovers(target)) or has_strange_log(target):
        return
    check_companions(target)
    try:
        plain = sqlite3.connect(file_uri(target, "mode=rw"), uri=True, timeout=0, isolation_level=None)
        with contextlib.closing(plain):
            overwrite_deleted(plain)
            mode = plain.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.Error as error:
        if error_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise _in_use(target) from error
        return  # no database, or one that is damaged: there is nothing to bring in
    if mode != ("delete",):
        raise _in_use(target)


def _check_unused(target: Path) -> None:
    """Refuse where the leftovers beside ``target`` are in use by a program that knows no lock of ours."""
    for file in _leftovers(target):
        ending = file.name.removeprefix(target.name)
        with file.open("rb") as stream:
            head = stream.read(4)
        if ending in _BEGINNINGS and head.strip(b"\0") and head not in _BEGINNINGS[ending]:
            raise UserError(_("{file} is in the way: move it, or choose another name.", file=file))
        if ending == "-shm" and (_size(file) % _SHM_BLOCK or _is_locked(file)):
            raise UserError(
                _(
                    "{file} is in use by another program: close that program, or choose another name.",
                    file=file,
                )
            )


if sys.platform == "win32":

    def _is_locked(_: Path) -> bool:
        """Whether SQLite has the file open: there it could not be removed."""
        return False
else:
    import fcntl

    def _is_locked(shm: Path) -> bool:
        with shm.open("rb+") as stream:
            try:
                fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _SHM_IN_USE)
            except OSError:
                return True
        return False


def sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` durable, where the system knows how."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot; the file itself is safe
            os.fsync(handle)
    finally:
        os.close(handle)
