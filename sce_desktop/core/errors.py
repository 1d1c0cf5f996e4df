"""The ways a job ends without a result that are not bugs."""

from __future__ import annotations

import traceback
from pathlib import Path

from sce_desktop.core.i18n import _


class UserError(Exception):
    """A failure that we know (bad file, disk full, model missing).

    The message is one sentence for the user, with what to do. Everything else that is raised is a bug.
    """


class DamagedProject(UserError):  # noqa: N818 - what it is about
    """A project file that cannot be used as it is, though much of it may be rescued.

    ``what`` says so without the way out, which is a command here and a button in the window.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        name = Path(path.name)  # which the log may have, unlike other names
        self.what = _("{name} {problem}.", name=name, problem=what)
        super().__init__(
            _(
                '{name} {problem}: rescue what can be read with "sce-desktop project repair {name} COPY".',
                name=name,
                problem=what,
            )
        )


class RescuedProject(UserError):  # noqa: N818 - an outcome, too
    """The file of the open project, ``path``, was lost, and what was saved in it is in ``copy``."""

    def __init__(self, path: Path, copy: Path, what: str) -> None:
        self.path, self.copy = path, copy
        super().__init__(what)


class LeftInLog(UserError):  # noqa: N818 - an outcome, too
    """A project could not be brought into its one file when it was closed; what was to be done is done."""


def reason_of(error: BaseException) -> str:
    """Return why ``error`` was raised, for brackets in a sentence: the system's words without its number."""
    if strerror := getattr(error, "strerror", None):
        return str(strerror)
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].partition(". ")[0].rstrip(".:")


def already_there(path: object, why: str = "") -> UserError:
    """Return the failure that ``path`` exists, ``why`` it cannot be replaced unasked, and how to ask."""
    if why:
        return UserError(
            _(
                "{path} already exists and {reason}: choose another name, or add --force to replace it.",
                path=path,
                reason=why,
            )
        )
    return UserError(
        _("{path} already exists: choose another name, or add --force to replace it.", path=path)
    )


class Cancelled(Exception):  # noqa: N818 - an outcome, not an error
    """The user stopped the job; what was finished stays."""


def let_go(error: BaseException) -> None:
    """End what ``error``, and what led to it, hold in the frames of their tracebacks; those are dropped.

    A failure that is kept, to be shown, keeps its frames, and they keep open files and statements. In a
    circle with them it may live for good (`imports.importing`), and SQLite cannot close the file.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        traceback.clear_frames(found.__traceback__)
        found.__traceback__ = None
        found = found.__cause__ or found.__context__
