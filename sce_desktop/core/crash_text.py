"""What killed the program, read from what Python wrote at its end, and where an exception came from.

Python's `faulthandler` writes the stacks of all threads when the process itself dies: thousands of characters
in which the one line that matters is hard to find, with paths that name the user.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Final

from sce_desktop.core import scrubbing

_OURS: Final = "sce_desktop/"
_FATAL: Final = re.compile(r"^(?:Fatal Python error|Windows fatal exception): (?P<what>.+)$", re.MULTILINE)
_FRAME: Final = re.compile(r'File "(?P<file>[^"]*)", line (?P<line>\d+|\?\?\?) in (?P<name>\S+)')
_PLACE: Final = re.compile(r"^  (?P<place>\S.*:\d+ in \S+)$", re.MULTILINE)
_MODULES: Final = re.compile(r"^Extension modules: .*\(total: (?P<count>\d+)\)$", re.MULTILINE)
_MOST: Final = 20_000  # characters; a hundred threads write more


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the process died.

    Attributes:
        kind: In the words of Python: "Segmentation fault", "Aborted", "Bus error".
        place: Where the thread that died was in the code, the program's own if it is among its frames.
        stacks: What all threads did, with the paths of the code shortened.
    """

    kind: str
    place: str
    stacks: str


def read_fault(text: str) -> Fault | None:
    """Read what `faulthandler` wrote; None if it makes no sense, as where the disk was full."""
    found = _FATAL.search(text)
    if found is None:
        return None
    whole_lines, _newline, _cut = text[found.start() : found.start() + _MOST].rpartition("\n")
    stacks = _FRAME.sub(_shortened, whole_lines)  # of half a path the rest would stay
    stacks = _MODULES.sub(lambda one: f"Extension modules: {one['count']}", stacks).strip()
    frames = [f"{one['file']}:{one['line']} in {one['name']}" for one in _FRAME.finditer(_dying(stacks))]
    return Fault(found["what"].strip(), _most_telling(frames), stacks)


def place_in(trace: str) -> str:
    """Return the place in a `scrubbing.trace` where it went wrong, the program's own if there is one."""
    return _most_telling([found["place"] for found in reversed(list(_PLACE.finditer(trace)))])


def _most_telling(places: list[str]) -> str:
    """Of places, the innermost first, the first one of ours; else the innermost; empty without any."""
    return next((place for place in places if place.startswith(_OURS)), places[0] if places else "")


def _dying(stacks: str) -> str:
    """Return the stack of the thread that died: it is called the current one."""
    _before, found, after = stacks.partition("Current thread")
    return after.partition("\n\n")[0] if found else stacks


def _shortened(found: re.Match[str]) -> str:
    path = found["file"]
    short = scrubbing.short_path(Path(path))
    if short == path and PureWindowsPath(path).is_absolute():  # a report that is read on another system
        short = PureWindowsPath(path).name
    return f'File "{short}", line {found["line"]} in {found["name"]}'
