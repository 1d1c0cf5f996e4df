"""Many probabilities as text at once: the 9 significant digits that bring a float32 back unchanged.

The same digits as ``format(value, ".9g")``, by a multiplication in float64 instead of a call for each value:
its error is less than a millionth of the last digit, so it can matter only where the rest of the number is
close to a half. Such values, and the rarer ones (0, from 1 up, NaN), are formatted one by one.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

_DIGITS: Final = 9
_SMALLEST: Final = -38  # decimal exponent: that of the smallest float32 that has all its digits
_DECADES: Final = np.array([float(f"1e{exponent}") for exponent in range(_SMALLEST, 2)])
_TENS: Final = np.array([float(f"1e{_DIGITS - 1 - exponent}") for exponent in range(_SMALLEST, 1)])
_EXACT: Final = _DIGITS - 1 - 22 - _SMALLEST  # the first decade whose power of ten float64 holds exactly
_CLOSE: Final = 0.4999  # to a half
_OF_BITS: Final = np.array(  # the decade in which the numbers with an exponent of a float32 begin
    [min(max(math.floor((bits - 127) * math.log10(2)) - _SMALLEST, 0), len(_TENS) - 1) for bits in range(256)]
)
_TRIPLES: Final = np.array([list(f"{number:03d}".encode()) for number in range(1000)], np.uint8)
_FIXED_FROM: Final = -4  # decimal exponent from which up no "e" is written
_AT_ONCE: Final = 8_192  # values: what is made of them stays in the processor's cache

# All that a number may be written with, in its order: the nine digits stand for the zeros from place 5 on,
# the exponent for the last zero, the delimiter for the comma. Which of it is written depends on the form.
_SIGNS: Final = np.frombuffer(b"0.0000.00000000e-00,", np.uint8)
_FIRST, _POINT, _EXPONENT = 5, 6, 15
_FORMS: Final = len(_TENS) - 1  # decades below 1


def rounded(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return ``values`` (n,) with 9 significant digits: what their texts would be read as."""
    decades, digits, usual = _digits(values)
    result = digits / _TENS[decades]
    for place in np.flatnonzero(~usual | (decades < _EXACT)).tolist():
        result[place] = float(f"{float(values[place]):.9g}")
    return result


def joined(matrix: NDArray[np.float32], delimiter: str) -> list[str]:
    """Return the texts of each row of ``matrix`` (n, K), with the ASCII sign ``delimiter`` between them."""
    rows, width = matrix.shape
    if not rows:
        return []
    values = np.ascontiguousarray(matrix, np.float32).ravel()
    parts = [
        _texts(values[start : start + _AT_ONCE], ord(delimiter)) for start in range(0, len(values), _AT_ONCE)
    ]
    text = b"".join([part for part, _ in parts]).decode("ascii")
    lengths = np.concatenate([part for _, part in parts])
    ends = np.cumsum(lengths.reshape(rows, width).sum(axis=1)).tolist()
    return [text[start : end - 1] for start, end in zip([0, *ends], ends, strict=False)]


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


def _texts(values: NDArray[np.float32], delimiter: int) -> tuple[bytes, NDArray[np.int64]]:
    """Return the texts of ``values`` (n,) with a delimiter behind each, and how long each is with it (n,)."""
    decades, digits, usual = _digits(values)
    whole = np.where(usual, digits, 0).astype(np.uint32)
    upper, lower = np.divmod(whole, np.uint32(1000))
    leading = _TRIPLES.take(upper // np.uint32(1000), axis=0)
    out = np.empty((len(values), len(_SIGNS)), np.uint8)
    out[:] = _SIGNS
    out[:, _FIRST] = leading[:, 0]
    out[:, _POINT + 1 : _POINT + 3] = leading[:, 1:]
    out[:, _POINT + 3 : _POINT + 6] = _TRIPLES.take(upper % np.uint32(1000), axis=0)
    out[:, _POINT + 6 : _EXPONENT] = _TRIPLES.take(lower, axis=0)
    out[:, -3:-1] = _EXPONENTS.take(decades, axis=0)
    out[:, -1] = delimiter
    forms = decades * _DIGITS + _zeros_at_end(whole)
    written, lengths = _WRITTEN.take(forms, axis=0), _LENGTHS.take(forms)
    rare = np.flatnonzero(~usual)
    if len(rare):
        texts = [f"{value:.9g}{chr(delimiter)}".encode() for value in values[rare].tolist()]
        out[rare] = np.array(texts, f"S{len(_SIGNS)}").view(np.uint8).reshape(-1, len(_SIGNS))
        lengths[rare] = list(map(len, texts))
        written[rare] = np.arange(len(_SIGNS)) < lengths[rare, None]
    return out[written].tobytes(), lengths


def _zeros_at_end(digits: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return how many zeros each of the numbers (n,) ends with, no more than all digits but one."""
    zeros = np.zeros(len(digits), np.int64)
    places = np.arange(len(digits))
    for count in range(1, _DIGITS):
        places = places[digits[places] % np.uint32(10**count) == 0]
        zeros[places] = count
    return zeros


def _forms() -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return for each decade and number of zeros at the end which of `_SIGNS` are written, and how many.

    Shapes (decades * digits, signs) and (decades * digits,).
    """
    written = np.zeros((_FORMS * _DIGITS, len(_SIGNS)), np.bool_)
    for exponent in range(_SMALLEST, 0):
        for zeros in range(_DIGITS):
            form = written[(exponent - _SMALLEST) * _DIGITS + zeros]
            form[[_FIRST, -1]] = True
            form[_POINT + 1 : _EXPONENT - zeros] = True
            if exponent >= _FIXED_FROM:
                form[: 1 - exponent] = True  # "0." and the zeros behind it
            else:
                form[_POINT] = zeros < _DIGITS - 1
                form[_EXPONENT:] = True
    return written, written.sum(axis=1)


_EXPONENTS: Final = np.array(
    [list(f"{-exponent:02d}".encode()) for exponent in range(_SMALLEST, 0)], np.uint8
)
_WRITTEN, _LENGTHS = _forms()
