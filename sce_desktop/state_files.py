"""Small files of state beside the settings: read without trust, set aside where they make no sense.

Somebody may have edited them, a disk may have damaged them, a sync client may have put a link or a folder in
their place. None of that keeps the program from starting: the file is renamed, so that nothing in it is lost,
one sentence says so, and what it held has its defaults.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sce_desktop.core import private
from sce_desktop.core.i18n import _
from sce_desktop.temporary import temporary_beside

MOST_BYTES: Final = 16 << 20
"""The largest file that is read; ours have some kilobytes, and views of large selections some megabytes."""
_MOST_PARTS: Final = 100_000  # lists and objects, which take ten times their text in memory
_MOST_ASIDE: Final = 1000

_log = logging.getLogger(__name__)
_reported: list[str] = []
_listeners: list[Callable[[str], object]] = []


class MalformedError(ValueError):
    """A file of state that cannot be used; says why, without what stands in it."""


def read_text(file: Path) -> str | None:
    """Return the text of ``file``, None if there is none.

    Raises:
        MalformedError: It is no regular file, too large, not to be read, or no UTF-8.
    """
    try:
        if not file.exists():
            if not file.is_symlink():
                return None
            raise MalformedError("a link to a file that does not exist")
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe would keep whoever opens it waiting
            raise MalformedError("not a file")
        with file.open("rb") as stream:
            found = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MalformedError(error.strerror or type(error).__name__) from error
    if len(found) > MOST_BYTES:
        raise MalformedError("too large")
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedError("not UTF-8") from error


def read_json(file: Path, kind: type) -> Any:
    """Return what ``file`` holds, which has to be of ``kind`` (dict or list); None if there is no file.

    NaN and infinities, which JSON has not, are None.

    Raises:
        MalformedError: It makes no sense.
    """
    text = read_text(file)
    if text is None:
        return None
    if text.count("[") + text.count("{") > _MOST_PARTS:
        raise MalformedError("too many parts")
    try:
        found = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise MalformedError("no JSON") from error
    if not isinstance(found, kind):
        raise MalformedError("other JSON")
    return found


def write_text(file: Path, text: str) -> None:
    """Write ``file`` aside, then put it in its place; a link stays a link.

    OSError where that fails, or where anything but a regular file lies: a device must never be replaced.
    """
    target = Path(os.path.realpath(file))
    if not is_usable(target):
        raise FileExistsError(errno.EEXIST, "not a file", str(target))
    private.make_folder(target.parent)
    with temporary_beside(target) as aside:
        with open(aside, "w", encoding="utf-8", opener=private.opener) as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(target)


def set_aside(file: Path, sentence: str, why: object) -> None:
    """Rename ``file`` and report ``sentence``, a message with ``{file}`` for its new name."""
    place = next(
        place
        for number in range(1, _MOST_ASIDE + 1)
        if not os.path.lexists(place := _aside(file, number)) or number == _MOST_ASIDE
    )
    try:
        file.rename(place)
    except FileNotFoundError:
        return  # another start of the program was faster
    except OSError as error:
        _log.warning("%s cannot be used (%s), nor renamed: %s", file, why, error)
        reason = error.strerror or type(error).__name__
        report(
            _(
                "{file} cannot be read, nor renamed ({reason}), so the defaults apply: move or delete it.",
                file=file,
                reason=reason,
            )
        )
        return
    _log.warning("%s cannot be used (%s): it is called %s now", file, why, place.name)
    report(_(sentence, file=place))


def report(sentence: str) -> None:
    """Pass ``sentence`` on, once, to all who listen, and to who comes later: the window and its terminal."""
    if sentence not in _reported:
        _reported.append(sentence)
        for hear in _listeners:
            hear(sentence)


@contextmanager
def hearing(hear: Callable[[str], object]) -> Iterator[None]:
    """Let ``hear`` have every sentence in here, those that were reported before first."""
    _listeners.append(hear)
    try:
        for sentence in _reported:
            hear(sentence)
        yield
    finally:
        _listeners.remove(hear)
        if not _listeners:
            _reported.clear()


def is_usable(file: Path) -> bool:
    """Whether ``file`` is a regular file, or there is none yet."""
    try:
        return stat.S_ISREG(file.stat().st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _aside(file: Path, number: int) -> Path:
    return file.with_name(f"{file.name}.unreadable{f'-{number}' if number > 1 else ''}")
