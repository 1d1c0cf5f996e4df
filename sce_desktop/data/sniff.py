"""Guesses about a text file: its encoding and its delimiter. The user's choice overrides both."""

from __future__ import annotations

import codecs
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from sce_desktop.data.csv_grammar import read_record, without_end
from sce_desktop.data.text_source import byte_chunks

_UTF8_LIMIT = 1 << 28  # bytes that are checked for being UTF-8
_SAMPLE = 1 << 14  # bytes of lines with other than ASCII, for guessing among legacy encodings
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a part of it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What tables come in, in the field; without this list the guess falls on rarities such as cp775.
_LEGACY = (
    *("cp1252", "cp1250", "iso8859_2", "cp1251", "koi8_r", "cp866", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp1257", "cp874", "cp932", "euc_jp", "gb18030", "big5", "cp949", "mac_roman", "cp850"),
)
_CONTROLS = [bytes([code]) for code in range(32) if chr(code) not in "\t\n\v\f\r\x1b\x1c\x1d\x1e\x1f"]
_FEW = 10  # characters beyond ASCII are too few to tell western European encodings from their neighbours
_SPARSE = 0.04  # of the letters have accents at least in the languages of central Europe, and in Turkish
_NEVER_IN_WORDS = "¡¢£¤¥¦§¨©ª«¬®¯±²³µ¶¸¹»¼½¾¿÷×†‡ˆ‰‹›˜™“”„‚"  # in cp1252
_LATIN = 0.35  # of the letters are beyond ASCII at most, where a text is in Latin script

DELIMITERS = (",", ";", "\t", "|")
_SNIFFED_RECORDS = 300
_SNIFFED_CHARACTERS = 1 << 16
_CLEVERCSV_CHARACTERS = 1 << 13  # it needs seconds for more


def detect_encodings(path: Path, size: int) -> tuple[str, ...]:
    """Return plausible encodings of a text file, the best first, in Python's names.

    In this order: a byte order mark; UTF-16 by its zero bytes; UTF-8 if everything (up to 256 MB) decodes, or
    most lines beyond ASCII do; then charset-normalizer over such lines, preferring cp1252 where they are few.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid = True
    sample = bytearray()
    read = 0
    for data, _ in byte_chunks(path, size):
        if not read and (found := _by_zeros_or_mark(data)):
            return (found, *(name for name in ("utf-8", "cp1252") if name != found))
        if valid:
            try:
                decoder.decode(data)
            except UnicodeDecodeError:
                valid = False
        if len(sample) < _SAMPLE and not data.isascii():
            lines = data.splitlines(keepends=True)
            sample += b"".join(line for line in lines if not line.isascii())[:_SAMPLE]
        read += len(data)
        if read >= _UTF8_LIMIT or (not valid and len(sample) >= _SAMPLE):
            break
    if valid:
        return ("utf-8", "cp1252", "utf-16")
    legacy = _legacy(bytes(sample))
    return ("utf-8", *legacy) if _mostly_utf8(bytes(sample)) else (*legacy, "utf-8")


def looks_binary(head: bytes) -> bool:
    """Whether the beginning of a file is no text in any encoding."""
    if _by_zeros_or_mark(head):
        return False
    controls = sum(map(head.count, _CONTROLS))
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return controls > 0.02 * len(head)  # random bytes: a tenth
    return controls > 0.25 * len(head)


def _by_zeros_or_mark(head: bytes) -> str | None:
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    half = len(head) // 2
    if half >= 2:
        even, odd = head[0 : 2 * half : 2].count(0), head[1 : 2 * half : 2].count(0)
        if max(even, odd) > 0.4 * half and min(even, odd) < 0.05 * half:
            return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _mostly_utf8(sample: bytes) -> bool:
    """Whether a damaged file is UTF-8 nevertheless: legacy text is hardly ever valid UTF-8 by accident."""
    lines = sample.splitlines()
    good = 0
    for line in lines:
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            continue
        good += 1
    return good > 0 and 2 * good >= len(lines)


def _legacy(sample: bytes) -> tuple[str, ...]:
    """Rank legacy encodings for lines that hold bytes beyond ASCII."""
    from charset_normalizer import from_bytes

    ranked: list[str] = []
    for match in from_bytes(sample, cp_isolation=list(_LEGACY)):
        same = match.could_be_from_charset  # give the same text for this sample
        ranked += [name for name in _LEGACY if name in same]
    first = _east_asian(sample) or _western(sample, ranked)
    decodable = [name for name in _LEGACY if _decoded(sample, name) is not None]
    best_first = [first] if first else []
    return tuple(dict.fromkeys([*best_first, *ranked, *decodable, "cp1252"]))[:8]


def _decoded(sample: bytes, encoding: str) -> str | None:
    """Return the text, None if it does not decode. The sample may end within a character."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def _western(sample: bytes, ranked: Sequence[str]) -> str | None:
    """Return cp1252 if the text is in Latin script and nothing speaks against it.

    Few accents, in number or share, do not tell it from cp1250 and the like: then the commonest is the best
    guess. With many, charset-normalizer may speak against it. So do signs within words: ``zap³aci³em`` is no
    cp1252.
    """
    text = _decoded(sample, "cp1252")
    if text is None:
        return None
    letters = sum(character.isalpha() for character in text)
    beyond = [character for character in text if character > "\x7f"]
    accented = sum(character.isalpha() for character in beyond)
    if accented > max(_LATIN * letters, 2):
        return None
    triples = zip(text, text[1:], text[2:], strict=False)
    inside = sum(a.isalpha() and c.isalpha() and b in _NEVER_IN_WORDS for a, b, c in triples)
    if inside > 0.1 * len(beyond):
        return None
    unsure = len(beyond) < _FEW or accented < _SPARSE * letters
    return "cp1252" if unsure or ranked[:1] == ["cp1252"] else None


def _east_asian(sample: bytes) -> str | None:
    """Return the encoding under which the text is Japanese by its kana or Korean by its Hangul, if any."""
    for encoding, blocks, share in (
        ("cp932", ("HIRAGANA LETTER", "KATAKANA LETTER"), 0.2),
        ("euc_jp", ("HIRAGANA LETTER", "KATAKANA LETTER"), 0.2),
        ("cp949", ("HANGUL SYLLABLE",), 0.9),
    ):
        text = _decoded(sample, encoding)
        wide = [character for character in text or "" if character > "\x7f" and character.isalpha()]
        fitting = sum(unicodedata.name(character, "").startswith(blocks) for character in wide)
        if len(wide) > 1 and fitting >= share * len(wide):
            return encoding
    return None


def detect_delimiter(
    lines: Sequence[str], *, quoting: bool, header: bool = True, complete: bool = True
) -> str:
    """Return the delimiter that cuts most records into as many cells as the header, or "" for one column.

    Consistency decides: a sign that the texts merely use is seldom in the header as well. Where the usual
    signs tie or none fits, clevercsv's guess is taken if it is consistent too.
    """

    def consistency(sign: str) -> tuple[float, int]:
        return _consistency(cell_counts(lines, sign, quoting=quoting, complete=complete), header=header)

    shares = {sign: consistency(sign) for sign in DELIMITERS}
    best = max(shares.values())
    winners = [sign for sign, share in shares.items() if share == best]
    if best > (0.0, 0) and len(winners) == 1:
        return winners[0]
    guess = _clevercsv(lines)
    if guess in winners and best > (0.0, 0):
        return guess
    if guess and consistency(guess) > max(best, (0.9, 0)):
        return guess
    return winners[0] if best > (0.0, 0) else ""


def cell_counts(lines: Sequence[str], delimiter: str, *, quoting: bool, complete: bool) -> list[int]:
    """Count the cells of the first records; blank lines are none, nor is one that the lines do not end."""
    counts: list[int] = []
    index = characters = 0
    while index < len(lines) and len(counts) < _SNIFFED_RECORDS and characters < _SNIFFED_CHARACTERS:
        start = index
        if without_end(lines[index]):
            record = read_record(lines, index, delimiter, quoting=quoting, complete=complete)
            if record is None:
                break
            counts.append(len(record.cells))
            index = record.end
        else:
            index += 1
        characters += sum(map(len, islice(lines, start, index)))
    return counts


def usual(counts: Iterable[int]) -> int:
    """Return the commonest count, of equally common ones the largest."""
    return max(((share, count) for count, share in Counter(counts).items()), default=(0, 1))[1]


def _consistency(counts: Sequence[int], *, header: bool) -> tuple[float, int]:
    """Return (share of records with as many cells as the header, that number); (0, 0) if it is none.

    A sign that is in the header is a delimiter if it is in half of the records too: ragged as they may
    be, they are told one by one. Without a header, most records must have the same number of cells.
    """
    width = (counts[0] if header else usual(counts)) if counts else 1
    body = counts[1:] if header else counts
    same = body.count(width)
    fits = 2 * sum(count > 1 for count in body) >= len(body) if header else 2 * same > len(body)
    share = same / len(body) if body else 1.0
    return (share, width) if width > 1 and fits else (0.0, 0)


def _clevercsv(lines: Sequence[str]) -> str:
    import clevercsv

    sample = "".join(islice(lines, 100))[:_CLEVERCSV_CHARACTERS]
    try:
        dialect = clevercsv.Detector().detect(sample)
    except Exception:  # its guess is welcome, its failures are no news
        return ""
    guess = dialect.delimiter if dialect else ""
    # Letters, digits and what prose is made of are never a delimiter unless the user says so.
    return guess if guess and not guess.isalnum() and guess not in " .-'\"/_()\r\n" else ""
