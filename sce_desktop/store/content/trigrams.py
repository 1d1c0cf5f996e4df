"""The search index: which rows of a block have a trigram, a record for each block and trigram.

`BLOCK` consecutive rows make a block. A trigram is known by 16 bits of a hash: two that share them are one to
the index, which only narrows down where to look. A record holds the places of the rows in their block in
whichever form is shortest, as Roaring bitmaps do (https://arxiv.org/abs/1603.06549): a list, gaps of a byte,
or a bit for each row. The work is numpy's, which leaves Python's lock to others meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

BITS: Final = 14
BLOCK: Final = 1 << BITS
CODES: Final = 1 << 16
_AT_ONCE: Final = 2_000_000  # pairs that are made into records: some 100 MB
LIST, GAPS, BITMAP = range(3)
_FEW: Final = BLOCK // 255  # rows: a list of so many is as short as gaps may be
_MANY: Final = BLOCK // 8 - _FEW  # rows: from here on a bit for each row is shorter

Pairs = NDArray[np.uint32]
"""A trigram's code, shifted by `BITS`, with the place of a row that has it."""


class DamagedRecordError(ValueError):
    """A record is none that `records` makes."""


def record_id(block: int, code: int) -> int:
    """Return the number of the record of a block and a code."""
    return block * CODES + code


def pairs(texts: Sequence[str], places: NDArray[np.uint32]) -> Pairs:
    """Return the trigrams of ``texts``, which stand at ``places`` (n,) of a block: sorted, each pair once."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    codes = _codes(
        "\n".join((*texts, "", "", ""))
    )  # so that each text has a line end and two more characters
    ends = np.cumsum(lengths) - 1
    found = np.left_shift(codes[: lengths.sum()], BITS, dtype=np.uint32)
    found |= np.repeat(places, lengths)
    inside = np.ones(len(found), np.bool_)
    for before in range(3):  # what begins here goes on in the next text
        inside[np.maximum(ends - before, 0)] = False
    return _distinct(found[inside])


def joined(parts: Sequence[Pairs]) -> Pairs:
    """Return the pairs of several parts of one block, sorted, each once."""
    return parts[0] if len(parts) == 1 else _distinct(np.concatenate(parts or [np.empty(0, np.uint32)]))


def records_of(block: int, parts: Sequence[Pairs]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield what `records` makes of all ``parts`` of a block, some codes at a time: it takes less memory."""
    slices = sum(map(len, parts)) // _AT_ONCE + 1
    bounds = np.linspace(0, CODES, slices + 1).astype(np.uint32) << np.uint32(BITS)
    cuts = [np.searchsorted(part, bounds).tolist() for part in parts]
    for number in range(slices):
        some = [part[cut[number] : cut[number + 1]] for part, cut in zip(parts, cuts, strict=True)]
        yield records(block, joined(some))


def records(block: int, found: Pairs) -> list[tuple[int, bytes]]:
    """Return the records (number, places) of a block, in the order of their numbers."""
    if not len(found):
        return []
    codes, places = found >> BITS, (found & (BLOCK - 1)).astype("<u2")
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    ends = np.append(starts[1:], len(codes))
    gaps, gap_ends = _gaps(places, starts, ends)
    listed, first = places.tobytes(), 0
    made = []
    for code, start, end, gap_end in zip(
        codes[starts].tolist(), starts.tolist(), ends.tolist(), gap_ends, strict=True
    ):
        rows, last = end - start, first
        first = gap_end
        if rows <= _FEW:
            record = b"\0" + listed[2 * start : 2 * end]
        elif rows < _MANY:
            record = b"\1" + gaps[last:gap_end]
        else:
            bits = np.zeros(BLOCK, np.uint8)
            bits[places[start:end]] = 1
            record = b"\2" + np.packbits(bits).tobytes()
        made.append((record_id(block, code), record))
    return made


def rows_of(record: Any) -> NDArray[np.bool_]:
    """Return which rows of its block (BLOCK,) a record names.

    Raises:
        DamagedRecordError: It is no record of ours.
    """
    rows = np.zeros(BLOCK, np.bool_)
    if not isinstance(record, bytes) or len(record) < 2:
        raise DamagedRecordError
    kind, data = record[0], np.frombuffer(record, np.uint8, offset=1)
    if kind == BITMAP and len(data) == BLOCK // 8:
        return np.unpackbits(data).view(np.bool_)
    if kind == LIST and len(data) % 2 == 0:
        places = data.view("<u2").astype(np.int64)
    elif kind == GAPS:
        places = np.cumsum(np.where(data == 0, 255, data), dtype=np.int64)[data > 0] - 1
    else:
        raise DamagedRecordError
    if not len(places) or places.max() >= BLOCK:
        raise DamagedRecordError
    rows[places] = True
    return rows


def rows_of_blocks(blocks: NDArray[np.int64], records: Sequence[Any], size: int) -> NDArray[np.bool_]:
    """Return which rows of the first ``size`` blocks, in one array, the ``records`` (n,) of one code name.

    ``blocks`` (n,): whose record each is. All are read at once: of ten million rows a code has six hundred.

    Raises:
        DamagedRecordError: One of them is no record of ours; `rows_of` tells which.
    """
    rows = np.zeros(size * BLOCK, np.bool_)
    if not all(isinstance(record, bytes) and len(record) > 1 for record in records):
        raise DamagedRecordError
    kinds = np.frombuffer(b"".join([record[:1] for record in records]), np.uint8)
    lengths = np.fromiter(map(len, records), np.int64, len(records)) - 1
    for kind in np.unique(kinds).tolist():
        mine = np.flatnonzero(kinds == kind)
        data = np.frombuffer(b"".join([records[place][1:] for place in mine.tolist()]), np.uint8)
        some, long = blocks[mine], lengths[mine]
        if kind == BITMAP and (long == BLOCK // 8).all():
            rows.reshape(size, BLOCK)[some] = np.unpackbits(data).view(np.bool_).reshape(-1, BLOCK)
            continue
        if kind == LIST and (long % 2 == 0).all():
            places, counts = data.view("<u2").astype(np.int64), long // 2
        elif kind == GAPS:
            ends, here = np.cumsum(long), data > 0
            passed = np.cumsum(np.where(here, data, np.uint8(255)), dtype=np.int64)
            counts = np.diff(np.concatenate([[0], np.cumsum(here)[ends - 1]]))
            before = np.concatenate([[0], passed[ends[:-1] - 1]])
            places = passed[here] - np.repeat(before, counts) - 1
        else:
            raise DamagedRecordError
        if not counts.all() or places.max() >= BLOCK:
            raise DamagedRecordError
        rows[places + np.repeat(some * BLOCK, counts)] = True
    return rows


def codes_of(needle: str, most: int) -> list[int]:
    """Return the codes of up to ``most`` distinct trigrams of ``needle``; none if it is too short."""
    return list(dict.fromkeys(_codes(needle).tolist()))[:most] if len(needle) >= 3 else []


def _codes(text: str) -> NDArray[np.uint32]:
    """Return the code (n - 2,) of each trigram of a text of n characters."""
    if text.isascii():
        characters = np.frombuffer(text.encode(), np.uint8).astype(np.uint32)
    else:
        characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
    codes = characters[:-2] * np.uint32(0x9E3779B1)
    for shift, following, factor in (
        (np.uint32(15), characters[1:-1], np.uint32(0x85EBCA6B)),
        (np.uint32(13), characters[2:], np.uint32(0xC2B2AE35)),
    ):
        codes ^= codes >> shift
        codes += following
        codes *= factor
    return codes >> np.uint32(16)


def _distinct(found: Pairs) -> Pairs:
    if not len(found):
        return found
    found.sort()
    return found[np.concatenate([[True], found[1:] != found[:-1]])]


def _gaps(
    places: NDArray[np.uint16], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[bytes, list[int]]:
    """Return all gaps, a byte for each 255 rows (0) and one for the rest (1 to 255), and where groups end."""
    between = np.diff(places, prepend=places[:1]) - np.uint16(1)
    between[starts] = places[starts]
    far = between // np.uint16(255)
    behind = np.cumsum(far, dtype=np.int32)
    behind += np.arange(1, len(far) + 1, dtype=np.int32)
    gaps = np.zeros(behind[-1], np.uint8)
    gaps[behind - 1] = between - far * np.uint16(255) + np.uint16(1)
    return gaps.tobytes(), behind[ends - 1].tolist()
