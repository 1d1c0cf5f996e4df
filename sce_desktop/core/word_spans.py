"""Where the words of a text are, in any script: what a reader would point at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import regex

Span = tuple[int, int]
"""From a character to the one behind the last, in the text as it is."""

_SPACELESS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_LETTER: Final = rf"[\w\p{{M}}--[{_SPACELESS}]]"
_WORD = regex.compile(
    rf"(?P<run>[{_SPACELESS}][{_SPACELESS}\p{{M}}]*)"
    rf"|{_LETTER}+(?:['’\-\u200c]{_LETTER}+)*"  # "don't", "well-known"; a joiner within a Persian word
    r"|\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}\u200d\ufe0f\p{Extended_Pictographic}]*",
    regex.VERSION1,
)


def word_spans(text: str, cuts: Iterable[int] = ()) -> list[Span]:
    """Return the spans of the words and signs of ``text``, in order; punctuation and spaces are in none.

    Scripts that put no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are cut where
    ``cuts`` says that something begins, such as a token of the model; without any, at every character.
    """
    places = sorted(set(cuts))
    found: list[Span] = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if match["run"] is None:
            found.append((start, end))
            continue
        inside = [cut for cut in (places or range(start, end)) if start < cut < end]
        found += zip([start, *inside], [*inside, end], strict=True)
    return found


def without_spans(text: str, spans: Iterable[Span]) -> str:
    """Return ``text`` without the characters of ``spans``, which do not overlap."""
    kept, at = [], 0
    for start, end in sorted(spans):
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]])
