"""Guesses about the delimiter of a text file. The user's choice overrides them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from sce_desktop.core.giving_way import give_way
from sce_desktop.data.csv.byte_marks import looks_binary
from sce_desktop.data.csv.csv_grammar import QUOTE, Dialect, Style, without_end
from sce_desktop.data.csv.encodings import detect_encodings

__all__ = ["cell_counts", "detect_delimiter", "detect_encodings", "looks_binary", "usual"]

DELIMITERS = (",", ";", "\t", "|")
_SNIFFED_RECORDS = 300
_SNIFFED_CHARACTERS = 1 << 16
_CLEVERCSV_CHARACTERS = 1 << 13  # it needs seconds for more


def detect_delimiter(
    lines: Sequence[str],
    *,
    quoting: bool = True,
    style: Style | None = None,
    header: bool = True,
    complete: bool = True,
) -> str:
    """Return the delimiter that cuts most records into as many cells as the header, or "" for one column.

    Consistency decides: a sign that the texts merely use is seldom in the header as well. Where the usual
    signs tie or none fits, clevercsv's guess is taken if it is consistent too. ``style`` says more about
    quotes than ``quoting``.
    """
    style = style or Style(QUOTE if quoting else "")

    def consistency(sign: str) -> tuple[float, int]:
        return _consistency(cell_counts(lines, style.cut_at(sign), complete=complete), header=header)

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


def consistent_delimiters(
    lines: Sequence[str], style: Style, *, header: bool, complete: bool
) -> dict[str, int]:
    """Return the usual delimiters that cut all records alike, and into how many cells."""
    found = {}
    for sign in DELIMITERS:
        counts = cell_counts(lines, style.cut_at(sign), complete=complete)
        share, width = _consistency(counts, header=header)
        if share == 1.0 and len(counts) > 1:
            found[sign] = width
    return found


def cell_counts(lines: Sequence[str], dialect: Dialect, *, complete: bool) -> list[int]:
    """Count the cells of the first records; blank lines are none, nor is one that the lines do not end."""
    counts: list[int] = []
    index = characters = 0
    while index < len(lines) and len(counts) < _SNIFFED_RECORDS and characters < _SNIFFED_CHARACTERS:
        give_way()
        start = index
        if without_end(lines[index]):
            record = dialect.read(lines, index, complete=complete)
            if record is None:
                break
            counts.append(len(record.cells))
            index = record.end
        else:
            index += 1
        characters += sum(len(lines[at]) for at in range(start, index))  # islice would begin at line 0
    return counts


def usual(counts: Iterable[int]) -> int:
    """Return the commonest count, of equally common ones the largest."""
    return max(((share, count) for count, share in Counter(counts).items()), default=(0, 1))[1]


def _consistency(counts: Sequence[int], *, header: bool) -> tuple[float, int]:
    """Return (share of records with as many cells as the header, that number); (0, 0) if it is none.

    A sign that is in the header is a delimiter if it is in half of the records too: ragged as they may
    be, they are reported one by one. Without a header, most records must have the same number of cells.
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
