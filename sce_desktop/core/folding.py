"""How texts are compared where somebody looks for a piece of one: in any script, however it was typed.

Letter case, full and half width, composed and decomposed letters and what nobody sees (joiners, the Arabic
tatweel, vowel points of Arabic and Hebrew) never count. Accents of Latin, Greek and Cyrillic letters count
where they were typed: "cafe" finds "café", "café" does not find "cafe". Vowel signs of Indian and Thai
letters and the marks of kana are letters to their readers, and always count.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from typing import Final

FORM: Final = f"1, Unicode {unicodedata.unidata_version}"
"""What `bare` texts depend on: an index of them that was made in another form must be made again."""
_UNSEEN: Final = (
    "\u00ad\u034f\u0640\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"  # joiners, tatweel, bidi
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"  # Arabic vowels, hamza above
)
_ACCENTS: Final = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_LEFT_OUT = re.compile(f"[{_UNSEEN}]+")
_LEFT_OUT_BARE = re.compile(f"[{_UNSEEN}{_ACCENTS}]+")
_CHANGING: Final = (  # all but ideographs, Hangul syllables and what is private, which stay as they are
    range(0x20, 0x3400),
    range(0xA000, 0xAC00),
    range(0xF900, 0x17000),
    range(0x1A000, 0x20000),
    range(0x2F800, 0x2FA20),
)
_STROKES: Final = (("ł", "l"), ("ø", "o"), ("đ", "d"))  # Unicode takes them apart into nothing


def folded(text: str) -> str:
    """Return ``text`` as it is compared with what was typed with accents."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _LEFT_OUT.sub("", _apart(text)))


def bare(text: str) -> str:
    """Return ``text`` as it is compared with what was typed without accents."""
    if text.isascii():
        return text.lower()
    kept = unicodedata.normalize("NFC", _LEFT_OUT_BARE.sub("", _apart(text)))
    for letter, plain in _STROKES:
        kept = kept.replace(letter, plain)
    return kept


def contains_bare(text: str, key: str) -> bool:
    """Return whether ``bare(text)`` contains ``key``, a `bare` one; most texts need no folding for that."""
    if text.isascii():
        return key in text.lower()
    if unicodedata.is_normalized("NFC", text) and key in text.lower():
        return True
    return _beginnings(key[:1]).search(text) is not None and key in bare(text)


def _apart(text: str) -> str:
    # Turkish: i, ı, I and İ are found by each other, as nobody knows the language of a text.
    text = text.replace("İ", "i").replace("ı", "i")
    return unicodedata.normalize("NFKD", text).casefold()


@functools.lru_cache(maxsize=256)
def _beginnings(letter: str) -> re.Pattern[str]:
    """Return what matches every character that `bare` can make ``letter`` of, with what follows it or not."""
    if not letter:
        return re.compile("")
    wanted = {letter, unicodedata.normalize("NFD", letter)[0]}
    found = "".join(sorted(wanted.union(*(_made_into().get(one, ()) for one in wanted))))
    return re.compile(f"[{re.escape(found)}]")


@functools.cache
def _made_into() -> dict[str, list[str]]:
    """Return by letter the other characters whose `bare` form has it."""
    others: dict[str, list[str]] = {}
    for character in map(chr, itertools.chain.from_iterable(_CHANGING)):
        if not character.isprintable():
            continue
        plain = bare(character)
        if plain != character:
            for letter in plain:
                others.setdefault(letter, []).append(character)
    return others
