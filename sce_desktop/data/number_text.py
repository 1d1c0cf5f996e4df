"""Many probabilities as text at once: the 9 significant digits that bring a float32 back unchanged.

The same digits as ``format(value, ".9g")``, by a multiplication in float64 instead of a call for each value:
its error is less than a millionth of the last digit, so it can matter only where the rest of the number is
close to a half. Such values, and the rarer ones (0, from 1 up, NaN), are formatted one by one.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core import text_arrays
from sce_desktop.core.giving_way import give_way

if TYPE_CHECKING:
    import pyarrow as pa

_DIGITS: Final = 9
_SMALLEST: Final = -38  # decimal exponent: that of the smallest float32 that has all its digits
_DECADES: Final = np.array([float(f"1e{exponent}") for exponent in range(_SMALLEST, 2)])
_TENS: Final = np.array([float(f"1e{_DIGITS - 1 - exponent}") for exponent in range(_SMALLEST, 1)])
_EXACT: Final = _DIGITS - 1 - 22 - _SMALLEST  # the first decade whose power of ten float64 holds exactly
_CLOSE: Final = 0.4999  # to a half
_OF_BITS: Final = np.array(  # the decade in which the numbers with an exponent of a float32 begin
    [min(max(math.floor((bits - 127) * math.log10(2)) - _SMALLEST, 0), len(_TENS) - 1) for bits in range(256)]
)
_FOURS: Final = np.frombuffer(b"".join(f"{number:04d}".encode() for number in range(10_000)), np.uint32)
_ZEROS: Final = np.array(  # that the four digits of a number end with
    [4 if not number else next(n for n in range(4) if number % 10 ** (n + 1)) for number in range(10_000)],
    np.int32,
)
_FIXED_FROM: Final = -4  # decimal exponent from which up no "e" is written
_FORMS: Final = len(_TENS) - 1  # decades below 1
_EXPONENTS: Final = np.frombuffer(
    b"".join(f"e-{-exponent:02d}".encode() for exponent in range(_SMALLEST, 0)), np.uint32
)
_AT_ONCE: Final = 16_384  # values: what is made of them stays in the processor's cache

# The bytes in which a number is written: the delimiter and the number up to its first digit that is not 0
# (and the point behind that, where there is an exponent) end at _HEAD, eight more digits at _TAIL, the
# exponent behind them. The text is a part of that; zeros at its end are left out.
_HEAD, _TAIL, _WIDTH = 8, 16, 24
_LAYOUT: Final = np.dtype(
    {
        "names": ["head", "middle", "lower", "exponent"],
        "formats": [np.uint64, np.uint32, np.uint32, np.uint32],
        "offsets": [0, _HEAD, _HEAD + 4, _TAIL],
        "itemsize": _WIDTH,
    }
)


def number(value: Any) -> int | float:
    """Return a number with 9 significant digits, as Python's own type."""
    return value if isinstance(value, int) else float(f"{float(value):.9g}")


def rounded(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return ``values`` (n,) with 9 significant digits: what their texts would be read as."""
    import pyarrow.compute as pc

    result = np.empty(len(values), np.float64)
    exact = np.empty(len(values), np.bool_)
    for start in range(0, len(values), _AT_ONCE):
        give_way()
        some = slice(start, start + _AT_ONCE)
        decades, digits, usual = _digits(values[some])
        np.divide(digits, _TENS.take(decades), out=result[some])
        np.logical_and(usual, decades >= _EXACT, out=exact[some])
    others = np.flatnonzero(~exact)
    if len(others):
        texts = joined(values[others][:, None], ",")
        read = pc.cast(texts, "float64").buffers()[1]  # to the nearest, as Python reads them
        result[others] = np.frombuffer(read, np.float64, len(others))
    return result


def joined(matrix: NDArray[np.float32], delimiter: str) -> pa.StringArray:
    """Return the texts of each row of ``matrix`` (n, K), with the ASCII sign ``delimiter`` between them."""
    rows, width = matrix.shape
    matrix = np.ascontiguousarray(matrix, np.float32)
    size = max(1, _AT_ONCE // max(width, 1))
    parts = []
    for start in range(0, rows, size):
        give_way()
        parts.append(_rows(matrix[start : start + size], delimiter))
    return text_arrays.concatenated(parts)


def _rows(matrix: NDArray[np.float32], delimiter: str) -> pa.StringArray:
    rows, width = matrix.shape
    if not width:
        return text_arrays.repeated("", rows)
    layout, ends = _written(matrix.ravel(), delimiter)
    ends[0 : 2 * rows * width : 2 * width] += 1  # no delimiter before the first of a row
    every_other = np.arange(0, len(ends) - 1, 2, dtype=np.int32)
    texts = text_arrays.taken(text_arrays.of_bytes(layout.view(np.uint8), ends), every_other)
    data, places = text_arrays.buffers(texts)
    return text_arrays.of_bytes(data, places[::width])


def _digits(values: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the decade of each value (n,), its nine digits as a number, and whether these are right."""
    values = np.ascontiguousarray(values, np.float32)
    usual = (values >= np.float32(1.2e-38)) & (values < 1)
    wide = np.where(usual, values, np.float32(0.5)).astype(np.float64)
    decades = _OF_BITS.take(values.view(np.uint32) >> np.uint32(23) & np.uint32(0xFF))
    decades[~usual] = _FORMS - 1
    decades += wide >= _DECADES.take(decades + 1)
    scaled = wide * _TENS.take(decades)
    digits = np.rint(scaled)
    usual &= (np.abs(scaled - digits) < _CLOSE) & (digits < 10**_DIGITS)
    return decades, digits, usual


def _written(values: NDArray[np.float32], delimiter: str) -> tuple[NDArray[np.void], NDArray[np.int32]]:
    """Return the bytes in which ``values`` (n,) are, and (2n + 1,) where each begins and ends in turn."""
    decades, digits, usual = _digits(values)
    whole = np.where(usual, digits, 10.0 ** (_DIGITS - 1)).astype(np.uint32)
    upper = whole // np.uint32(10_000)
    lower = whole - upper * np.uint32(10_000)
    first = upper // np.uint32(10_000)
    middle = upper - first * np.uint32(10_000)
    heads, begins = _heads(delimiter)
    layout = np.empty(len(values), _LAYOUT)
    layout["head"] = heads.take(decades * 10 + first)
    layout["middle"] = _FOURS.take(middle)
    layout["lower"] = _FOURS.take(lower)
    layout["exponent"] = _EXPONENTS.take(decades)
    zeros = _ZEROS.take(lower)
    many = np.flatnonzero(lower == 0)
    zeros[many] += _ZEROS.take(middle[many])
    starts = np.arange(0, _WIDTH * len(values), _WIDTH, dtype=np.int32)
    ends = np.empty(2 * len(values) + 1, np.int32)
    ends[0:-1:2] = starts + begins.take(decades)
    ends[1::2] = starts + np.where(decades >= _FIXED_FROM - _SMALLEST, _TAIL - zeros, _TAIL + 4)
    ends[-1] = _WIDTH * len(values)
    _without_zeros(layout, ends, np.flatnonzero((decades < _FIXED_FROM - _SMALLEST) & (zeros > 0)), zeros)
    odd = np.flatnonzero(~usual)
    if len(odd):
        texts = [f"{delimiter}{value:.9g}".encode() for value in values[odd].tolist()]
        layout[odd] = np.array(texts, f"S{_WIDTH}").view(_LAYOUT)
        ends[2 * odd] = starts[odd]
        ends[2 * odd + 1] = starts[odd] + np.fromiter(map(len, texts), np.int32, len(texts))
    return layout, ends


def _without_zeros(
    layout: NDArray[np.void], ends: NDArray[np.int32], places: NDArray[np.int64], zeros: NDArray[np.int32]
) -> None:
    """Put the exponents at ``places`` in the place of the ``zeros`` before them."""
    signs = layout.view(np.uint8).reshape(-1, _WIDTH)
    of_places = zeros[places]
    for count in np.flatnonzero(np.bincount(of_places)).tolist():
        some = places[of_places == count]
        end = _TAIL - count - (count == _DIGITS - 1)  # one digit alone has no point behind it
        signs[some, end : end + 4] = signs[some, _TAIL : _TAIL + 4]
        ends[2 * some + 1] = some * _WIDTH + end + 4


@functools.lru_cache(maxsize=8)
def _heads(delimiter: str) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return what numbers begin with, by decade and first digit (decades * 10,), and where by decade."""
    heads, begins = [], []
    for exponent in range(_SMALLEST, 0):
        fixed = exponent >= _FIXED_FROM
        before = f"{delimiter}0.{'0' * (-exponent - 1)}" if fixed else delimiter
        texts = [f"{before}{digit}{'' if fixed else '.'}" for digit in range(10)]
        heads += [text.rjust(_HEAD).encode() for text in texts]
        begins.append(_HEAD - len(texts[0]))
    return np.frombuffer(b"".join(heads), np.uint64), np.array(begins, np.int32)
