"""Numbers of a workbook as text: which value they hold, not how wide or in which colour.

Digits stay as they are stored: 123456789012345678 keeps all eighteen, 0.1 is 0.1. Binary noise is not data:
0.30000000000000004 is 0.3, with the 15 digits that Excel works with. A number format is applied where it
says which value a cell holds: zero-padded and grouped ids (00042, 000-00-0000), percents (12.5%), dates and
times in ISO 8601, durations as hours:minutes:seconds. Other formats (currencies, fixed decimals) are not.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from sce_desktop.core.limits import MAX_NUMBER

_TOKEN = re.compile(r'"([^"]*)"?|\\(.)|\[([^\]]*)\]?|_.?|\*.?|([0#?])|([Gg]eneral)|(.)', re.DOTALL)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_EMPTY = {"0": "0", "#": "", "?": " "}  # what a place without a digit shows
_LITERALS = set(" $-+():!^&'~{}<>=")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"-?\d+")
_DAY = 86_400_000  # milliseconds
_LAST_DAY = 2_958_465  # 9999-12-31
_LONGEST_DURATION = 1e9  # days
_PERCENT_IDS = {9, 10}
_DATE_IDS = {*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)}
_WHOLE_ID, _DURATION_ID = 1, 46

Kind = Literal["general", "percent", "date", "duration"]


class _Token(NamedTuple):
    """A piece of a number format: a place for a digit (0, # or ?), the decimal point, or text as it is."""

    kind: Literal["digit", "point", "text"]
    text: str


class _Section(NamedTuple):
    """One of the formats between semicolons. ``tokens`` is empty where it is more than digits and text."""

    condition: tuple[str, float] | None
    tokens: Sequence[_Token]


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of one style become text."""

    kind: Kind
    sections: tuple[_Section, ...] = ()
    times_only: bool = False  # of dates: no day is shown

    def text(self, raw: str, *, since_1904: bool = False) -> str:
        """Return the stored number ``raw`` as text; as it stands if it is none."""
        if self.kind == "general" and not self.sections and raw.isdecimal() and raw.isascii():
            return raw  # most numbers
        raw = raw.strip()
        if len(raw) > MAX_NUMBER or not _NUMBER.fullmatch(raw):
            return raw
        value = float(raw)
        if abs(value) == float("inf"):
            return raw
        shown: str | None = None
        if self.kind == "percent":
            shown = f"{value * 100:.15g}%"
        elif self.kind == "duration":
            shown = duration_text(value)
        elif self.kind == "date":
            shown = date_text(value, since_1904=since_1904, times_only=self.times_only)
        elif self.sections:
            shown = self._padded(raw, value)
        if shown is not None:
            return shown
        return ("0" if raw == "-0" else raw) if _WHOLE.fullmatch(raw) else number_text(value)

    def _padded(self, raw: str, value: float) -> str | None:
        """Return the number in the digit places of its section, None where that would change the value."""
        section, signed = self._section(value)
        point = next((i for i, token in enumerate(section.tokens) if token.kind == "point"), None)
        before, after = section.tokens[:point], section.tokens[point:] if point is not None else ()
        places = [i for i, token in enumerate(before) if token.kind == "digit"]
        stored = bool(_WHOLE.fullmatch(raw))
        digits = raw.lstrip("-") if stored else format(Decimal(f"{abs(value):.15g}"), "f")
        whole, _, fraction = digits.partition(".")
        if not places or len(fraction) > sum(token.kind == "digit" for token in after):
            return None
        padded = sum(before[i].text == "0" for i in places) > 1
        grouped = places[-1] - places[0] + 1 > len(places)
        in_full = not stored and len(places) == len(section.tokens)  # 1.2E+17 in the format 0
        if not (padded or grouped or in_full):
            return None
        sign = "-" if signed and value < 0 else ""
        return sign + _whole(before, whole.lstrip("0") or "") + _decimals(after, fraction)

    def _section(self, value: float) -> tuple[_Section, bool]:
        """Return the section for ``value`` and whether a minus is put before it."""
        sections = self.sections
        if any(section.condition for section in sections):
            for section in sections:
                if section.condition is None or _holds(value, *section.condition):
                    return section, True
            return sections[-1], True
        if value < 0 and len(sections) > 1:
            return sections[1], False
        if value == 0 and len(sections) > 2:
            return sections[2], False
        return sections[0], True


GENERAL = NumberFormat("general")


def built_in(number: int) -> NumberFormat:
    """Return the format that Excel knows by its number alone."""
    if number in _PERCENT_IDS:
        return NumberFormat("percent")
    if number in _DATE_IDS:
        return NumberFormat("date", times_only=number in {18, 19, 20, 21, 45, 47})
    if number == _DURATION_ID:
        return NumberFormat("duration")
    return number_format("0") if number == _WHOLE_ID else GENERAL


def number_format(code: str) -> NumberFormat:
    """Return what the format ``code`` says of the values."""
    sections, kinds, letters = [], [], ""
    for part in _split(code):
        section, kind, found = _parse(part)
        sections.append(section)
        kinds.append(kind)
        letters = letters or found
    if "percent" in kinds:
        return NumberFormat("percent")
    if kinds[0] in ("date", "duration"):
        return NumberFormat(kinds[0], times_only=not set(letters) & set("yd"))
    return NumberFormat("general", tuple(sections) if any(s.tokens for s in sections) else ())


def _split(code: str) -> list[str]:
    """Return the sections between semicolons that are not quoted."""
    parts, start = [], 0
    for match in _TOKEN.finditer(code):
        if match[0] == ";":
            parts.append(code[start : match.start()])
            start = match.end()
    return [*parts, code[start:]]


def _parse(part: str) -> tuple[_Section, Kind, str]:
    """Return a section, what it shows and the letters of its dates."""
    condition, plain, letters = None, True, ""
    tokens: list[_Token] = []
    kind: Kind = "general"
    for quoted, escaped, bracket, digit, general, other in _TOKEN.findall(part):
        if bracket:
            if found := _CONDITION.fullmatch(bracket.strip()):
                condition = (found[1], float(found[2]))
            elif re.fullmatch(r"h+|m+|s+", bracket, re.IGNORECASE):
                kind = "duration"
            elif bracket.startswith("$") and (sign := bracket[1:].partition("-")[0]):
                tokens.append(_Token("text", sign))
        elif digit:
            tokens.append(_Token("digit", digit))
        elif quoted or escaped or other in _LITERALS:
            tokens.append(_Token("text", quoted or escaped or other))
        elif other == ".":
            tokens.append(_Token("point", other))
        elif other == "%":
            kind = "percent"
        elif other and other in "dmyhsDMYHS":
            kind = "date" if kind == "general" else kind
            letters += other.lower()
        elif general or other:
            plain = False
    return _Section(condition, tokens if plain and kind == "general" else ()), kind, letters


def _whole(tokens: Sequence[_Token], digits: str) -> str:
    """Put ``digits`` into the places from the right; those for which there is no place come first."""
    result: list[str] = []
    places = sum(token.kind == "digit" for token in tokens)
    for token in reversed(tokens):
        if token.kind != "digit":
            result.append(token.text)
            continue
        places -= 1
        taken = digits if places == 0 else digits[-1:]
        result.append(taken or _EMPTY[token.text])
        digits = digits[: len(digits) - len(taken)]
    return "".join(reversed(result))


def _decimals(tokens: Sequence[_Token], digits: str) -> str:
    """Put the decimal ``digits`` into the places from the left."""
    result: list[str] = []
    for token in tokens:
        if token.kind == "digit":
            result.append(digits[:1] or _EMPTY[token.text])
            digits = digits[1:]
        else:
            result.append(token.text)
    return "".join(result)


def _holds(value: float, operator: str, bound: float) -> bool:
    return {
        "<": value < bound,
        "<=": value <= bound,
        ">": value > bound,
        ">=": value >= bound,
        "=": value == bound,
        "<>": value != bound,
    }[operator]


def date_text(value: float, *, since_1904: bool, times_only: bool) -> str | None:
    """Return days since the workbook's first day in ISO 8601, None for days that no calendar has."""
    if not 0 <= value <= _LAST_DAY + 1:
        return None
    if value < 1 and (times_only or not since_1904):
        return _time_text(round(value * _DAY) % _DAY)
    if since_1904:
        first = datetime.datetime(1904, 1, 1)
    elif int(value) == 60:  # Excel's 1900 is a leap year
        return "1900-02-29" + ("" if value == 60 else f"T{_time_text(round((value - 60) * _DAY))}")
    else:
        first = datetime.datetime(1899, 12, 31 if value < 60 else 30)
    try:
        moment = first + datetime.timedelta(milliseconds=round(value * _DAY))
    except OverflowError:
        return None
    return moment.date().isoformat() if value.is_integer() else moment.isoformat()


def _time_text(milliseconds: int) -> str:
    return (datetime.datetime.min + datetime.timedelta(milliseconds=milliseconds)).time().isoformat()


def duration_text(days: float) -> str | None:
    """Return a duration as hours:minutes:seconds, None for one that is no duration."""
    if abs(days) > _LONGEST_DURATION:
        return None
    total = round(abs(days) * _DAY)
    hours, rest = divmod(total, 3_600_000)
    seconds = number_text(rest % 60_000 / 1000)
    whole = seconds.partition(".")[0]
    return f"{'-' if days < 0 and total else ''}{hours}:{rest // 60_000:02}:{'0' * (2 - len(whole))}{seconds}"


def number_text(value: float) -> str:
    """Return a number with the 15 digits that Excel works with."""
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}".replace("e", "E")
