"""Whether there is anything to see in a text: the one answer for imports, scoring, projects and exports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# Everything that leaves no ink and is no word: white space, control and format characters (Unicode's Cc, Cf,
# Zs, Zl, Zp) and what Unicode calls ignorable by default, such as variation selectors and Hangul fillers;
# the empty Braille cell, too. Written out, since asking for a million characters takes a tenth of a second.
INVISIBLE: Final = (
    "\\x00-\\x20\\x7f-\\xa0\\xad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160"
    "\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164"
    "\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\U000110bd\\U000110cd\\U00013430-\\U0001343f"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff"
)
_VISIBLE = re.compile(f"[^{INVISIBLE}]")


def is_blank(text: str | None) -> bool:
    """Return whether a text has no visible character at all: there is nothing to classify then."""
    return not text or _VISIBLE.search(text) is None


def are_blank(texts: Sequence[str]) -> list[bool]:
    """Return `is_blank` of each of many texts, in less time."""
    search = _VISIBLE.search
    return [search(text) is None for text in texts]
