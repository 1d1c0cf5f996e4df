"""The two ways a job ends without a result that are not bugs."""

from __future__ import annotations


class UserError(Exception):
    """A failure that we know (bad file, disk full, model missing).

    The message is one sentence for the user, with what to do. Everything else that is raised is a bug.
    """


class LeftInLog(UserError):  # noqa: N818 - an outcome, too
    """A project could not be brought into its one file when it was closed; what was to be done is done."""


def already_there(path: object, why: str = "") -> UserError:
    """Return the failure that ``path`` exists, ``why`` it cannot be replaced unasked, and how to ask."""
    reason = f" and {why}" if why else ""
    return UserError(f"{path} already exists{reason}: choose another name, or add --force to replace it.")


class Cancelled(Exception):  # noqa: N818 - an outcome, not an error
    """The user stopped the job; what was finished stays."""
