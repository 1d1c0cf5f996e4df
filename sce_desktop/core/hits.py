"""Where what was searched for is in a text: compared as `core.folding` does, in the text's own places."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence

from sce_desktop.core.folding import bare, folded
from sce_desktop.core.word_spans import Span

_JAMO = range(0x1160, 0x1200)  # vowels and finals, which join the letter before them
MOST_HITS = 500  # in one text; more is no help to anybody


def hits(text: str, needles: Sequence[str]) -> list[Span]:
    """Return the spans of ``text`` that match any of ``needles``, in order, those that touch as one.

    "cafe" finds “Café”, and the whole of it: letters with their marks are never cut apart.
    """
    found: list[Span] = []
    maps: dict[bool, tuple[str, list[int]] | None] = {}
    for needle in needles:
        plain, accented = bare(needle), folded(needle)
        if not accented:
            found += _plain_hits(text, needle)
            continue
        by_accents = plain != accented
        if by_accents not in maps:
            maps[by_accents] = _folded_map(text, folded if by_accents else bare)
        mapped = maps[by_accents]
        if mapped is not None:
            found += _hits_in(*mapped, accented if by_accents else plain)
    return _joined(found)


def _plain_hits(text: str, needle: str) -> Iterator[Span]:
    at = text.find(needle) if needle else -1
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + len(needle))


def _hits_in(whole: str, places: list[int], key: str) -> Iterator[Span]:
    """Yield the spans of the original text; ``places`` has one more entry than ``whole`` has characters."""
    for count, (start, end) in enumerate(_plain_hits(whole, key)):
        if count == MOST_HITS:
            return
        last = end
        while last < len(whole) and places[last] == places[end - 1]:
            last += 1  # the rest of what one letter became, as of "ß"
        yield places[start], places[last]


def _folded_map(text: str, fold: Callable[[str], str]) -> tuple[str, list[int]] | None:
    """Return the folded text and for each of its characters, and its end, where it begins in ``text``.

    None where the text cannot be cut so that the parts fold to the whole.
    """
    if text.isascii():
        return text.lower(), list(range(len(text) + 1))
    whole = fold(text)
    for parts in (_letters(text), _pieces(text)):
        places: list[int] = []
        made: list[str] = []
        for start, end in parts:
            part = fold(text[start:end])
            made.append(part)
            places += [start] * len(part)
        if "".join(made) == whole:
            return whole, [*places, len(text)]
    return None


def _letters(text: str) -> Iterator[Span]:
    """Cut ``text`` into letters, each with the marks and unseen characters that follow it."""
    start = 0
    for at in range(1, len(text)):
        if not _joins(text[at]):
            yield start, at
            start = at
    if text:
        yield start, len(text)


def _joins(character: str) -> bool:
    """Whether a character belongs to the letter before it."""
    if character.isascii():
        return False
    if ord(character) in _JAMO:
        return True
    apart = unicodedata.normalize("NFKD", character)
    return unicodedata.category(apart[0]).startswith("M") or not folded(character)


def _pieces(text: str) -> Iterator[Span]:
    """Cut ``text`` between words, where a letter joins the one before in a way that `_letters` misses."""
    start = 0
    for at in range(1, len(text)):
        if text[at].isspace() != text[at - 1].isspace():
            yield start, at
            start = at
    if text:
        yield start, len(text)


def _joined(found: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
