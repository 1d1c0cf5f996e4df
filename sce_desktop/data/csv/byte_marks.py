"""What the first bytes of a file say: a mark, the zero bytes of UTF-16 and UTF-32, or that it is no text."""

from __future__ import annotations

import codecs
from collections import Counter

_SAMPLE = 1 << 14  # bytes
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a part of it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_CONTROLS = [bytes([code]) for code in range(32) if chr(code) not in "\t\n\v\f\r\x1b\x1c\x1d\x1e\x1f"]


def looks_binary(head: bytes) -> bool:
    """Whether the beginning of a file is no text in any encoding."""
    if by_marks(head):
        return False
    controls = sum(map(head.count, _CONTROLS))
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return controls > 0.02 * len(head)  # random bytes: a tenth
    return controls > 0.25 * len(head)


def by_marks(head: bytes) -> str | None:
    """Return the Unicode encoding that a file's beginning shows, by its mark or its zero bytes, if any."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    if b"\0" not in head:
        return None
    half = len(head) // 2
    even, odd = head[0 : 2 * half : 2], head[1 : 2 * half : 2]
    if half and max(even.count(0), odd.count(0)) > 0.4 * half > 8 * min(even.count(0), odd.count(0)):
        return "utf-16-le" if odd.count(0) > even.count(0) else "utf-16-be"
    for high, low, name in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        block, count = Counter(high).most_common(1)[0] if high else (0, 0)
        if 0 < block < 0x20 and count > half / 2 and Counter(low).most_common(1)[0][1] < 0.3 * half:
            return name  # one alphabet lies in one block of 256 characters
    if _is_text_with_zeros(head):
        return None
    from chardet import detect

    whole = head[: min(len(head), _SAMPLE) // 4 * 4]
    found = detect(whole, include_encodings=(*_WIDE, "utf-8", "cp1252"), compat_names=False)["encoding"]
    if found not in _WIDE:
        return None
    swapped = found[:-2] + ("be" if found.endswith("le") else "le")
    return max((found, swapped), key=lambda name: _ascii_count(whole, name))  # line ends at least are ASCII


def _is_text_with_zeros(head: bytes) -> bool:
    """Whether few bytes are zero and the rest is UTF-8, where half a wide character would be a control."""
    rest = head.replace(b"\0", b"")
    if len(rest) < 0.75 * len(head) or any(map(rest.count, _CONTROLS)):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(rest)
    except UnicodeDecodeError:
        return False
    return True


def _ascii_count(head: bytes, encoding: str) -> int:
    return sum(character < "\x80" for character in head.decode(encoding, "ignore"))
