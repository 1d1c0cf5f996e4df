"""The window goes first: who computes in Python beside it pauses while it answers a key.

Python runs one thread at a time. Beside three busy threads the window would have a quarter of it, and a key
would take four times as long; a shorter switch interval hands over sooner and changes nothing in that. So
the window says when it begins to answer and when it is through (some 20 ms), and loops that run long in
workers ask every few rows. Where there is no window nobody ever waits.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

MOST_S: Final = 0.15  # that one answer holds up work, however long it takes
MOST_IN_A_ROW_S: Final = 2.0  # that answers hold up work where each begins before the last has ended
REST_S: Final = 0.1  # for work after that, before they hold it up again
EVERY: Final = 32  # items of a loop between two looks: a millisecond or less

_T = TypeVar("_T")
_answering = False
_since = -math.inf  # time.monotonic() when the answer began
_first = 0.0  # when the first of those in a row did
_window = 0  # the thread that answers
_answered = threading.Event()


class _Urgent(threading.local):
    depth = 0  # of `urgent`, in this thread


_urgent = _Urgent()


def begin_answer() -> None:
    """Say that the thread that calls answers the user: others `give_way` until `end_answer`.

    One that begins before the last has ended, as keys come faster than they are answered, holds up work
    as the first does, for `MOST_IN_A_ROW_S`; then work has `REST_S` for itself.
    """
    global _answering, _since, _first, _window
    _window, _since = threading.get_ident(), time.monotonic()
    if _answering:
        if _since - _first > MOST_IN_A_ROW_S + REST_S:
            _first = _since
        return
    _first = _since
    _answered.clear()
    _answering = True


def end_answer() -> None:
    """Say that the answer is there."""
    global _answering
    _answering = False
    _answered.set()


def is_answering() -> bool:
    """Whether an answer has begun and is not there yet."""
    return _answering


def since_answer() -> float:
    """Return how many seconds ago the last answer began."""
    return time.monotonic() - _since


def is_held_up() -> bool:
    """Whether work waits for an answer now: one that is not there, and has not held it up for too long."""
    return _answering and _left() > 0


def give_way() -> None:
    """Wait until the window has answered, `MOST_S` after it began at most; at once if it does not answer.

    Who holds what the window may need, a turn to write, does not wait: see `urgent`.
    """
    if not _answering or _urgent.depth or threading.get_ident() == _window:
        return
    while _answering and (left := _left()) > 0:
        _answered.wait(left)


def _left() -> float:
    """Return for how many seconds the answer holds up work at most."""
    return min(_since + MOST_S, _first + MOST_IN_A_ROW_S) - time.monotonic()


def giving_way(items: Iterable[_T]) -> Iterator[_T]:
    """Yield ``items``; give way now and then."""
    for place, item in enumerate(items):
        if _answering and place % EVERY == 0:
            give_way()
        yield item


@contextmanager
def urgent() -> Iterator[None]:
    """Let this thread not give way: others wait for what it holds."""
    _urgent.depth += 1
    try:
        yield
    finally:
        _urgent.depth -= 1
