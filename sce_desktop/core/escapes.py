"""Characters that act on a terminal, a log or the order of reading, written out: ``\\x1b``, ``\\u202e``.

Names of files, columns, labels and models come from anywhere. In a message they are shown as they are, but
for what would do something instead of being read. Nothing here changes what is stored.
"""

from __future__ import annotations

import os
import re
from typing import Final

_LINES: Final = "\n\t"
# C0 and C1 controls; what ends a line or paragraph; explicit embeddings, overrides and isolates of the
# bidirectional algorithm (Unicode annex 9, 2.1 to 2.4; marks without an end, such as U+200F, only stand
# beside a letter); interlinear annotations; halves of a pair, which no terminal and no log can encode.
_ACTING: Final = (
    r"\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"
)
_ALL: Final = re.compile(f"[{_ACTING}]")
# `text.isolated` sets a name off by the last two, and a sentence within another keeps them.
_IN_SENTENCE: Final = re.compile(f"(?![{_LINES}\u2068\u2069])[{_ACTING}]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Verbatim(str):
    """A text that messages take as it is: what a file is to be called is no message."""

    __slots__ = ()


def shown(text: object) -> str:
    """Return ``text`` (a path, a name) on one line, with every acting character written out."""
    return _ALL.sub(_written, str(text))


def shown_lines(text: str) -> str:
    """Return whole lines, names within which may be set off, with all else that acts written out."""
    return _IN_SENTENCE.sub(_written, text)


def one_line(message: str) -> str:
    """Return a whole message on one line; names within it may be set off from other directions."""
    return _IN_SENTENCE.sub(_written, message).replace("\n", "\\n").replace("\t", "\\t")


def in_message(value: object) -> object:
    """Return ``value`` as a message shows it: a path or what a library says on one line, numbers as they are.

    A text may be several lines of ours; whoever puts a name into it writes it by `shown`, as `quoting` does.
    """
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        return _IN_SENTENCE.sub(_written, value)
    if isinstance(value, os.PathLike):
        return shown(os.fspath(value))
    if isinstance(value, BaseException):
        return one_line(" ".join(str(value).split()))
    return value


def _written(found: re.Match[str]) -> str:
    character = found[0]
    number = ord(character)
    return _SHORT.get(character) or (f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}")
