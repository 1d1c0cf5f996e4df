"""Reading a project in parts, all of them of one state."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from sce_desktop.store.project import Project

_P = ParamSpec("_P")
_R = TypeVar("_R")


def one_state(read: Callable[Concatenate[Project, _P], _R]) -> Callable[Concatenate[Project, _P], _R]:
    """Let all that a function reads of its first argument be as it is when the function begins.

    Whoever works in the window meanwhile is not held up, and is not seen: what a table or a figure is made of
    fits together. For functions that read and do not write; long computing belongs outside, because the
    write-ahead log cannot be shortened beyond what somebody still reads.
    """

    @functools.wraps(read)
    def reading(project: Project, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with project.snapshot():
            return read(project, *args, **kwargs)

    return reading
