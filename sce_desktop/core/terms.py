"""The words of a text that may name what it is about, in languages with and without spaces between words.

Where a script puts no spaces, what lies between them is taken apart without a dictionary: Chinese into pairs
of characters, Japanese into runs of kanji and of katakana (hiragana carries the grammar). Thai, Lao, Khmer
and Burmese would need a dictionary, and give no terms.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import regex

# Neither numbers nor halves of "didn't" name anything; vowel signs of Indian scripts belong to their letters.
_WORD: Final = regex.compile(r"(?<![\w'’])[\p{L}\p{M}]{2,}(?![\w'’])")
_RUN: Final = regex.compile(r"\p{Han}+|[\p{Katakana}ー]+|[^\p{Han}\p{Katakana}ー]+")
_NO_TERMS: Final = regex.compile(r"[\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_KANA: Final = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_SPACELESS: Final = regex.compile(r"[\p{Han}\p{Katakana}]")
_MUCH: Final = 0.1  # of the words; a language has a quarter to a half
_LONGEST: Final = 6  # kanji in a row: more are several words
_GRAMMAR: Final = regex.compile(r"[的了是不在我你他她它们有个就也都很这那没与和吗吧呢啊把被给到说要会能请]+")


def terms(text: str, stop_words: Collection[str] = ()) -> list[str]:
    """Return the words of ``text`` in lower case, and pairs of neighbours joined by a space.

    Args:
        text: Any text.
        stop_words: Words that name nothing; their neighbours become neighbours of each other.
    """
    lowered = text.lower()
    japanese = _KANA.search(lowered) is not None
    found: list[str] = []
    words: list[str] = []
    for word in _WORD.findall(lowered):
        if _SPACELESS.search(word) or _NO_TERMS.search(word):
            found += _without_spaces(word, japanese=japanese)
        elif word not in stop_words:
            words.append(word)
    return [*words, *map(" ".join, itertools.pairwise(words)), *found]


def languages_of(texts: Iterable[str], stop_words: Mapping[str, Collection[str]]) -> list[str]:
    """Return the languages whose stop words make up much of ``texts``, the one with the most first.

    Args:
        texts: Of one language or several.
        stop_words: By language.
    """
    left = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    threshold = _MUCH * left.total()
    found: list[str] = []
    while len(found) < len(stop_words):
        shares = {
            language: sum(left[word] for word in words)
            for language, words in stop_words.items()
            if language not in found
        }
        best = max(shares, key=lambda language: shares[language])
        if shares[best] <= threshold:
            break
        found.append(best)
        for word in stop_words[best]:
            left.pop(word, None)
    return found


def _without_spaces(word: str, *, japanese: bool) -> list[str]:
    found = []
    for run in _RUN.findall(word):
        if not _SPACELESS.search(run):
            if not _NO_TERMS.search(run) and len(run) > 1:
                found.append(run)  # Latin or Korean letters among Chinese ones
        elif japanese:
            if 1 < len(run) <= _LONGEST or "ー" in run:
                found.append(run)
        else:
            for part in _GRAMMAR.split(run):
                found += [part[at : at + 2] for at in range(len(part) - 1)]
    return found
