"""Guesses about a table that may as well be otherwise, in words: with the line that shows the difference."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sce_desktop.core.tables import Doubt
from sce_desktop.data.csv.csv_grammar import ESCAPE, QUOTE, Style

_SHOWN = 70  # characters of a line
_BEFORE = 25  # of them at most before the first difference
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_FLAGS = {"\t": "tab", ";": "';'", "|": "'|'"}


def encoding_doubt(raw: bytes, line: int, taken: str, rival: str) -> Doubt:
    """Two encodings are as likely: ``raw`` is the first line that they read differently."""
    ours, theirs = _where_different(raw.decode(taken, "replace"), raw.decode(rival, "replace"))
    return Doubt(
        f"Line {line:,} reads “{ours}” as {taken.upper()} and “{theirs}” as {rival.upper()}: "
        f"{taken.upper()} was used.",
        f"Read as {rival.upper()}",
        "encoding",
        rival,
        f"--encoding {rival}",
    )


def style_doubt(ours: Sequence[str], theirs: Sequence[str], line: int, taken: Style, other: Style) -> Doubt:
    """Quotes or escapes may be other ones: ``ours`` and ``theirs`` are the cells of a record in both ways."""
    here, there = _where_different(" | ".join(ours), " | ".join(theirs))
    sentence = (
        f"Line {line:,} was read {_style_words(taken, other)} as “{here}”; "
        f"{_style_words(other, taken)} it is “{there}”."
    )
    if taken.quote != other.quote:
        single = other.quote != QUOTE
        offer = "Read single quotes" if single else "Keep single quotes"
        return Doubt(sentence, offer, "quote", other.quote, f"--quote {'single' if single else 'double'}")
    if taken.spaces != other.spaces:
        offer = "Skip these spaces" if other.spaces else "Keep these spaces"
        flag = "--skip-spaces" if other.spaces else "--no-skip-spaces"
        return Doubt(sentence, offer, "spaces", other.spaces, flag)
    if other.escapes:
        return Doubt(sentence, "Read backslash escapes", "escape", ESCAPE, "--escape backslash")
    return Doubt(sentence, "Keep backslashes", "escape", "", "--escape none")


def _style_words(style: Style, other: Style) -> str:
    """Say in which way ``style`` is not as the other one."""
    words = []
    if style.quote != other.quote:
        single = style.quote != QUOTE
        words.append("with single quotes around cells" if single else "with single quotes as plain text")
    if style.spaces != other.spaces:
        words.append("without the spaces before quotes" if style.spaces else "with the spaces before quotes")
    if style.escapes != other.escapes:
        words.append("with backslash escapes" if style.escapes else "with backslashes as plain text")
    return " and ".join(words).replace(" and with ", " and ")


def header_doubt(line: int, text: str, taken: int, columns: int, *, kind: str = "line") -> Doubt:
    """A later line (or row of a sheet, by its ``kind``) than that of the header looks like one."""
    return Doubt(
        f"{kind.capitalize()} {line:,} (“{_shown(text)}”) looks like the header, with {columns:,} columns; "
        f"{kind} {taken:,} was used.",
        f"Use {kind} {line:,} as header",
        "header_row",
        line,
        f"--header-row {line}",
    )


def no_header_doubt(line: int, text: str, *, kind: str = "line") -> Doubt:
    """The header looks like a row."""
    return Doubt(
        f"{kind.capitalize()} {line:,} (“{_shown(text)}”) was used as the header, but it looks like a row.",
        "Read it as a row",
        "header_row",
        0,
        "--header-row 0",
    )


def line_doubt(line: int, text: str) -> Doubt:
    """The first line of a text file names its one column, or is one of its texts."""
    return Doubt(
        f"Line {line:,} (“{_shown(text)}”) was used as the header, and every other line is a row.",
        "Read it as a row",
        "header_row",
        0,
        "--header-row 0",
    )


def delimiter_doubt(delimiter: str, rival: str, line: int, text: str) -> Doubt:
    """Another sign cuts the lines as evenly."""
    ours = f"split at {_NAMES.get(delimiter, delimiter)}" if delimiter else "not split"
    return Doubt(
        f"Lines were {ours}, but {_NAMES[rival]} fit as well: see line {line:,} (“{_shown(text)}”).",
        f"Split at {_NAMES[rival]}",
        "delimiter",
        rival,
        f"--delimiter {_FLAGS.get(rival, rival)}",
    )


def _where_different(ours: str, theirs: str) -> tuple[str, str]:
    """Return what two readings of a line show around their first difference."""
    ours, theirs = _flat(ours), _flat(theirs)
    same = next(
        (place for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )
    start = max(0, same - _BEFORE) if max(len(ours), len(theirs)) > _SHOWN else 0
    return _cut(ours, start), _cut(theirs, start)


def _shown(text: str) -> str:
    return _cut(_flat(text), 0)


def _flat(text: str) -> str:
    return re.sub(r"[\r\n]+", "⏎", text.rstrip("\r\n"))


def _cut(text: str, start: int) -> str:
    """Return a part of a line, with marks where something was left out."""
    before, after = "…" * (start > 0), "…" * (len(text) > start + _SHOWN)
    return f"{before}{text[start : start + _SHOWN]}{after}"
