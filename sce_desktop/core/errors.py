"""The two ways a job ends without a result that are not bugs."""

from __future__ import annotations


class UserError(Exception):
    """A failure that we know (bad file, disk full, model missing).

    The message is one sentence for the user, with what to do. Everything else that is raised is a bug.
    """


class Cancelled(Exception):  # noqa: N818 - an outcome, not an error
    """The user stopped the job; what was finished stays."""
