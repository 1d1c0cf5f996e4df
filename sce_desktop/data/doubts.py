"""Guesses about a table that may as well be otherwise, in words: with the line that shows the difference."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sce_desktop.core.i18n import N_, _, listed, number
from sce_desktop.core.tables import Doubt
from sce_desktop.data.csv.csv_grammar import ESCAPE, QUOTE, Style

_SHOWN = 70  # characters of a line
_BEFORE = 25  # of them at most before the first difference
_NAMES = {",": N_("commas"), ";": N_("semicolons"), "\t": N_("tabs"), "|": N_("vertical bars")}
_FLAGS = {"\t": "tab", ";": "';'", "|": "'|'"}


def encoding_doubt(raw: bytes, line: int, taken: str, rival: str) -> Doubt:
    """Two encodings are as likely: ``raw`` is the first line that they read differently."""
    ours, theirs = _where_different(raw.decode(taken, "replace"), raw.decode(rival, "replace"))
    return Doubt(
        _(
            "Line {line} reads “{ours}” as {taken} and “{theirs}” as {rival}: {taken} was used.",
            line=number(line),
            ours=ours,
            taken=taken.upper(),
            theirs=theirs,
            rival=rival.upper(),
        ),
        _("Read as {encoding}", encoding=rival.upper()),
        "encoding",
        rival,
        f"--encoding {rival}",
    )


def style_doubt(ours: Sequence[str], theirs: Sequence[str], line: int, taken: Style, other: Style) -> Doubt:
    """Quotes or escapes may be other ones: ``ours`` and ``theirs`` are the cells of a record in both ways."""
    here, there = _where_different(" | ".join(ours), " | ".join(theirs))
    sentence = _(
        "Line {line} was read as “{here}” ({style}). It could also be “{there}” ({other_style}).",
        line=number(line),
        here=here,
        style=_style_words(taken, other),
        there=there,
        other_style=_style_words(other, taken),
    )
    if taken.quote != other.quote:
        single = other.quote != QUOTE
        offer = _("Read single quotes") if single else _("Keep single quotes")
        return Doubt(sentence, offer, "quote", other.quote, f"--quote {'single' if single else 'double'}")
    if taken.spaces != other.spaces:
        offer = _("Skip these spaces") if other.spaces else _("Keep these spaces")
        flag = "--skip-spaces" if other.spaces else "--no-skip-spaces"
        return Doubt(sentence, offer, "spaces", other.spaces, flag)
    if other.escapes:
        return Doubt(sentence, _("Read backslash escapes"), "escape", ESCAPE, "--escape backslash")
    return Doubt(sentence, _("Keep backslashes"), "escape", "", "--escape none")


def _style_words(style: Style, other: Style) -> str:
    """Say in which way ``style`` is not as the other one."""
    words = []
    if style.quote != other.quote:
        single = style.quote != QUOTE
        words.append(_("single quotes around cells") if single else _("single quotes as plain text"))
    if style.spaces != other.spaces:
        words.append(_("without spaces before quotes") if style.spaces else _("with spaces before quotes"))
    if style.escapes != other.escapes:
        words.append(_("backslash escapes") if style.escapes else _("backslashes as plain text"))
    return listed(words)


def header_doubt(line: int, text: str, taken: int, columns: int, *, sheet: bool = False) -> Doubt:
    """A later line (or row of a ``sheet``) than that of the header looks like one."""
    sentence, offer = (
        (
            N_("Row {line} (“{text}”) looks like the header, with {columns} columns; row {taken} was used."),
            N_("Use row {line} as header"),
        )
        if sheet
        else (
            N_(
                "Line {line} (“{text}”) looks like the header, with {columns} columns; line {taken} was used."
            ),
            N_("Use line {line} as header"),
        )
    )
    return Doubt(
        _(sentence, line=number(line), text=_shown(text), columns=number(columns), taken=number(taken)),
        _(offer, line=number(line)),
        "header_row",
        line,
        f"--header-row {line}",
    )


def no_header_doubt(line: int, text: str, *, sheet: bool = False) -> Doubt:
    """The header looks like a row."""
    sentence = (
        N_("Row {line} (“{text}”) was used as the header, but it looks like a row of data.")
        if sheet
        else N_("Line {line} (“{text}”) was used as the header, but it looks like a row of data.")
    )
    return Doubt(
        _(sentence, line=number(line), text=_shown(text)),
        _("Read it as a row"),
        "header_row",
        0,
        "--header-row 0",
    )


def line_doubt(line: int, text: str) -> Doubt:
    """The first line of a text file names its one column, or is one of its texts."""
    return Doubt(
        _(
            "Line {line} (“{text}”) was used as the header, and each other line is a row.",
            line=number(line),
            text=_shown(text),
        ),
        _("Read it as a row"),
        "header_row",
        0,
        "--header-row 0",
    )


def delimiter_doubt(delimiter: str, rival: str, line: int, text: str) -> Doubt:
    """Another sign cuts the lines as evenly."""
    sentence = (
        N_("Lines were split at {taken}, but {rival} fit as well: see line {line} (“{text}”).")
        if delimiter
        else N_("Lines were not split, but {rival} fit as well: see line {line} (“{text}”).")
    )
    known = _(_NAMES[delimiter]) if delimiter in _NAMES else delimiter
    other = _(_NAMES[rival])
    return Doubt(
        _(sentence, taken=known, rival=other, line=number(line), text=_shown(text)),
        _("Split at {delimiter}", delimiter=other),
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
    """Return a part of a line, with marks where something is missing."""
    before, after = "…" * (start > 0), "…" * (len(text) > start + _SHOWN)
    return f"{before}{text[start : start + _SHOWN]}{after}"
