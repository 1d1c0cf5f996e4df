"""Guesses about the encoding of a text file. The user's choice overrides them.

Legacy encodings are ranked by chardet's models of which letters follow each other in which language. Three
things are added: a reading in which letters stand where no language puts them counts less, of readings that
are equally likely the one whose encoding is in wider use comes first, and where a table has only a letter or
two beyond ASCII any other encoding than cp1252 must fit far better. What cannot be told apart even so is
reported, with the line that shows the difference.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sce_desktop.core.progress import Progress
from sce_desktop.data.csv.byte_marks import by_marks
from sce_desktop.data.csv.text_source import byte_chunks

_UTF8_LIMIT = 1 << 28  # bytes that are checked for being UTF-8
_SAMPLE = 1 << 14  # bytes of lines with other than ASCII: chardet's models look at no more
# What tables come in, in the field, by Python's names and by how widely each is used beside the others.
_LEGACY = {
    "cp1252": 1.0,
    **dict.fromkeys(("cp1250", "iso8859-2", "cp1251", "cp1253", "cp1254"), 0.97),
    **dict.fromkeys(("cp1255", "cp1256", "cp1257", "cp1258"), 0.97),
    **dict.fromkeys(("cp874", "cp932", "cp949", "gb18030", "big5", "euc-jp"), 0.97),
    **dict.fromkeys(("iso8859-5", "iso8859-7", "koi8-r", "koi8-u", "cp866"), 0.92),
    **dict.fromkeys(("mac-roman", "cp850", "cp852"), 0.92),
}
_DOUBLE_BYTE = ("cp932", "cp949", "gb18030", "big5", "big5hkscs", "euc-jp")
_TURKISH = 1.4  # as against Icelandic, which few write: in bytes they have six letters in common
_SHORT = 30  # a few bytes, squared, are not enough to speak against cp1252
_RARER = 1.2  # by how much more any encoding but cp1252 must fit if all rests on a single letter
_EQUAL = 0.98
_DOUBTFUL = 0.95  # of the best reading's weight: the other one may as well be right
_FEW, _DOUBTFUL_OF_FEW = 5, 0.5  # characters beyond ASCII that speak for anything but cp1252
_ODD = 3  # the power that misplaced letters count with
_LIKELY = 8  # encodings that are offered first
_IN_WORDS = "’‘'-‐‑–"  # signs that stand between letters in many languages
_SIGNS = "¤£§°±½¼¾©®€¥¢²³¹×÷«»•…™–—"
_OPENING = "¿¡‚„"
_AFTER_OE = "uieds"  # what follows œ in a word
_NEVER_ALONE = "˘˛˝ˇ˙"  # accents without a letter
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "HEBREW", "ARABIC", "THAI")


@dataclass(frozen=True, slots=True)
class EncodingGuess:
    """Plausible encodings, the best first, in Python's names.

    ``rival`` is one of them if it is as likely as the best; ``line`` is the first that they read differently,
    by its 1-based number, and ``raw`` its bytes.
    """

    ranked: tuple[str, ...]
    rival: str = ""
    line: int = 0
    raw: bytes = b""


def detect_encodings(path: Path, size: int) -> tuple[str, ...]:
    """Return plausible encodings of a text file, the best first, in Python's names."""
    return guess_encoding(path, size).ranked


def guess_encoding(path: Path, size: int, progress: Progress | None = None) -> EncodingGuess:
    """Find out the encoding of a text file; ``progress`` is asked while it is read.

    In this order: a byte order mark; UTF-16 and UTF-32 by their zero bytes; UTF-8 if everything (up to
    256 MB) decodes, or most lines beyond ASCII do; then a legacy encoding by such lines.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid = True
    sample: list[tuple[int, bytes]] = []  # lines beyond ASCII with their numbers
    sampled = read = 0
    for number, data in _whole_lines(path, size):
        if progress is not None:
            progress.check()
        if not read and (found := by_marks(data)):
            return EncodingGuess((found, *(name for name in ("utf-8", "cp1252") if name != found)))
        if valid:
            try:
                decoder.decode(data)
            except UnicodeDecodeError:
                valid = False
        if sampled < _SAMPLE and not data.isascii():
            for place, line in enumerate(data.splitlines(keepends=True)):
                if sampled < _SAMPLE and not line.isascii():
                    sample.append((number + place, line[:_SAMPLE]))
                    sampled += len(line)
        read += len(data)
        if read >= _UTF8_LIMIT or (not valid and sampled >= _SAMPLE):
            break
    if valid:
        return EncodingGuess(("utf-8", "cp1252", "utf-16"))
    legacy = _legacy(sample)
    if _mostly_utf8([line for _, line in sample]):
        return EncodingGuess(("utf-8", *legacy.ranked))
    return EncodingGuess((*legacy.ranked, "utf-8"), legacy.rival, legacy.line, legacy.raw)


def _whole_lines(path: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the file in pieces that end with a line, each with the number of its first line."""
    number, rest = 1, b""
    for data, _ in byte_chunks(path, size):
        cut = data.rfind(b"\n") + 1
        if cut or len(rest) + len(data) > _SAMPLE:
            cut = cut or len(data)
            whole = rest + data[:cut] if rest else data[:cut]
            rest = data[cut:]
            yield number, whole
            number += whole.count(b"\n")
        else:
            rest += data
    if rest:
        yield number, rest


def _mostly_utf8(lines: list[bytes]) -> bool:
    """Whether a damaged file is UTF-8 nevertheless: legacy text is hardly ever valid UTF-8 by accident."""
    good = 0
    for line in lines:
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            continue
        good += 1
    return good > 0 and 2 * good >= len(lines)


def _legacy(lines: list[tuple[int, bytes]]) -> EncodingGuess:
    """Rank legacy encodings for lines that hold bytes beyond ASCII."""
    sample = b"".join(line for _, line in lines)
    readings: dict[str, tuple[float, str]] = {}  # what each text weighs, and its first encoding
    usual = list(_LEGACY)
    for weight, encoding, text in _weighed(sample):
        best, first = readings.setdefault(text, (weight, encoding))
        if encoding in usual and weight > _EQUAL * best and usual.index(encoding) < usual.index(first):
            readings[text] = (best, encoding)  # what follows the sample may tell them apart
    ranked = [encoding for _, encoding in readings.values()]
    others = [name for name in _LEGACY if name not in ranked and _decoded(sample, name) is not None]
    ranked = list(dict.fromkeys([*ranked, *others, "cp1252"]))[:_LIKELY]
    if _is_latin_9(sample, ranked[0]):
        return _doubtful(lines, ["iso8859-15", *ranked][:_LIKELY], "cp1252")
    return _doubtful(lines, ranked, _rival([(weight, name) for weight, name in readings.values()], sample))


def _rival(readings: list[tuple[float, str]], sample: bytes) -> str:
    """Return the encoding that may as well be right as the first one, if any."""
    if not readings:
        return ""
    (best, first), *others = readings
    few = sum(byte > 0x7F for byte in sample) < _FEW
    if first == "cp1252":  # what it was given by the margin is no certainty
        least = best * _DOUBTFUL / _margin(sample)
    else:
        least = best * (_DOUBTFUL_OF_FEW if few else _DOUBTFUL)
    likely = [name for weight, name in others if weight > least]
    if first != "cp1252" and few and "cp1252" in likely:
        return "cp1252"
    return likely[0] if likely else ""


def _doubtful(lines: list[tuple[int, bytes]], ranked: list[str], rival: str) -> EncodingGuess:
    """Return the guess with the first line that the rival, if any, reads differently."""
    for number, line in lines if rival else []:
        if _decoded(line, ranked[0]) != _decoded(line, rival):
            return EncodingGuess(tuple(ranked), rival, number, line)
    return EncodingGuess(tuple(ranked))


def _is_latin_9(sample: bytes, best: str) -> bool:
    """Whether letters or the euro stand where cp1252 has signs that make no sense there."""
    western = _decoded(sample, "cp1252")
    if best != "cp1252" or western is None or any(0x80 <= byte < 0xA0 for byte in sample):
        return False
    latin_9 = sample.decode("iso8859-15")
    for_it = against_it = 0
    for (before, sign, after), other in zip(_with_neighbours(western), latin_9, strict=True):
        if sign != other:
            letters = before.isalpha() or after.isalpha()
            fits = other == "€" or (letters and not _is_misplaced(before, other, after, latin=True))
            if other in "Œœ":  # a vowel follows, or it is a fraction before a unit
                fits = fits and not before.isdigit() and after.lower() in _AFTER_OE
            for_it += fits
            against_it += not fits
    return for_it > against_it


def _weighed(sample: bytes) -> list[tuple[float, str, str]]:
    """Return (weight, encoding, text) of what the sample may be, the best first."""
    from chardet import detect_all

    names = {_named_by_chardet(name): name for name in _LEGACY}
    readings = []
    western = _decoded(sample, "cp1252") or ""
    margin = _margin(sample)
    matches = detect_all(sample, ignore_threshold=True, include_encodings=names, compat_names=False)
    icelandic = any(match["encoding"] == "cp1252" and match["language"] == "is" for match in matches)
    for match in matches:
        name = names.get(match["encoding"] or "")
        text = _decoded(sample, name) if name else None
        if name == "big5" and text is None:
            name, text = "big5hkscs", _decoded(sample, "big5hkscs")
        if name is not None and text is not None:
            usual = _LEGACY.get(name, _LEGACY["big5"])
            if name == "cp1254" and icelandic:
                usual *= _TURKISH
            if name != "cp1252":
                usual /= (1 + _SHORT / len(sample) ** 2) * margin
            odd = _misplaced(text, western)
            readings.append((match["confidence"] * usual * (1 - odd) ** _ODD, name, text))
    readings.sort(key=lambda reading: -reading[0])
    if not readings or readings[0][1] not in _DOUBLE_BYTE:
        for name in filter(None, (_east_asian(sample), "cp1252" if not readings else "")):
            if (text := _decoded(sample, name)) is not None:
                readings.insert(0, (1.0, name, text))
    return readings


def _margin(sample: bytes) -> float:
    """Return how many times likelier any other encoding must be than cp1252.

    The fewer kinds of bytes speak for it, the more: a word or two of another language stand in English texts
    too, and the sequences of so few letters fit one language or another by chance. Signs say nothing.
    """
    western = sample.decode("cp1252", "replace")
    letters = {
        character
        for place, character in enumerate(western)
        if character > "\x7f" and not _is_sign(western, place)
    }
    return 1 + _RARER / max(len(letters), 0.5) ** 2


def _east_asian(sample: bytes) -> str | None:
    """Return the encoding under which a text is Japanese by its kana or Korean by its Hangul, if any."""
    for encoding, blocks, share in (
        ("cp932", ("HIRAGANA LETTER", "KATAKANA LETTER"), 0.2),
        ("euc-jp", ("HIRAGANA LETTER", "KATAKANA LETTER"), 0.2),
        ("cp949", ("HANGUL SYLLABLE",), 0.9),
    ):
        text = _decoded(sample, encoding)
        wide = [character for character in text or "" if character > "\x7f" and character.isalpha()]
        fitting = sum(unicodedata.name(character, "").startswith(blocks) for character in wide)
        if text and len(wide) > 1 and fitting >= share * len(wide) and not _mostly_latin(text):
            return encoding
    return None


def _named_by_chardet(encoding: str) -> str:
    """Return its name of an encoding, or that of the larger one that it looks for instead."""
    return {"euc-jp": "euc_jis_2004", "big5": "big5hkscs"}.get(encoding, encoding)


def _decoded(sample: bytes, encoding: str) -> str | None:
    """Return the text, None if it does not decode. The sample may end within a character."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def _misplaced(text: str, western: str) -> float:
    """Return which share of the characters beyond ASCII stand where no language puts them.

    Those are signs and controls between letters, letters of two alphabets in one word, a single letter of
    another alphabet among Latin words, capitals within a word of small letters, and letters where a sign
    makes sense in ``western``, the reading as cp1252.
    """
    latin = _mostly_latin(text)
    signs = western if len(western) == len(text) else text  # of one byte each: their places are the same
    beyond = misplaced = 0
    for place, (before, character, after) in enumerate(_with_neighbours(text)):
        if character > "\x7f":
            beyond += 1
            misplaced += _is_misplaced(before, character, after, latin=latin) or (
                character.isalpha() and character != signs[place] and _is_sign(signs, place)
            )
    return misplaced / beyond if beyond else 0.0


def _with_neighbours(text: str) -> Iterator[tuple[str, str, str]]:
    return zip(f" {text}", text, f"{text[1:]} ", strict=False)


def _is_sign(text: str, place: int) -> bool:
    """Whether a usual sign stands where it makes sense: a part of no word."""
    before, after = text[place - 1 : place] or " ", text[place + 1 : place + 2] or " "
    if text[place] == "µ":  # as in 5 µm
        return after in ("m", "g", "l", "s") and not before.isalpha()
    return text[place] in _SIGNS and not before.isalpha() and not after.isalpha()


def _mostly_latin(text: str) -> bool:
    """Whether more than half of the letters are ASCII."""
    letters = sum(character.isalpha() for character in text)
    return 2 * sum(character.isalpha() for character in text if character <= "\x7f") > letters


def _is_misplaced(before: str, character: str, after: str, *, latin: bool) -> bool:
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cn", "Co"):
        return True
    if kind.startswith("M"):
        return not before.isalpha() and not unicodedata.combining(before)
    if character == "¶":
        return before.isalpha() or after.isalpha()
    if character in _NEVER_ALONE or "\u2500" <= character <= "\u259f":  # lines and blocks of a frame
        return True
    if character in _OPENING and before.isalpha():
        return True
    if not character.isalpha() or character in "ªº":
        return before.isalpha() and after.isalpha() and character not in _IN_WORDS
    if character.isupper() and (before.islower() or (before.isupper() and after.islower())):
        return True
    if character.islower() and after.isupper() and not before.isalpha():
        return True
    alphabet = _alphabet(character)
    if latin and alphabet != "LATIN" and not before.isalpha() and not after.isalpha():
        return True
    for neighbour in (before, after):
        if neighbour.isalpha() and neighbour not in "ªº":
            other = _alphabet(neighbour)
            if alphabet != other and alphabet in _ALPHABETS and other in _ALPHABETS:
                return True
    return alphabet not in _ALPHABETS and before.isascii() and before.islower() and after.islower()


def _alphabet(letter: str) -> str:
    return "LATIN" if letter <= "\x7f" else unicodedata.name(letter, "").split(" ", 1)[0]
