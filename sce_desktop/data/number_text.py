"""Many probabilities as text at once: the 9 significant digits that bring a float32 back unchanged.

The same digits as ``format(value, ".9g")``, by whole numbers instead of a call for each value: a float32 is
M * 2**E, so its first nine digits are M * 5**k shifted by -(E + k) bits, which 64 bits hold down to 1e-9.
Rarer values (below that, from 1 up, NaN) are formatted one by one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_DIGITS: Final = 9
_SMALLEST: Final = -9  # decimal exponent
_DECADES: Final = np.array([float(f"1e{exponent}") for exponent in range(_SMALLEST, 0)])
_FIVES: Final = np.array([5 ** (_DIGITS - 1 - e) for e in range(_SMALLEST, 0)], np.uint64)
_TENS: Final = np.array([float(10 ** (_DIGITS - 1 - e)) for e in range(_SMALLEST, 0)])
_TRIPLES: Final = np.array([list(f"{number:03d}".encode()) for number in range(1000)], np.uint8)
_FIXED_FROM: Final = -4  # decimal exponent from which up no "e" is written
_WIDTH: Final = 17  # bytes: the longest text and the delimiter behind it
_ONE: Final = np.uint64(1)


def rounded(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return ``values`` (n,) with 9 significant digits: what their texts would be read as."""
    decades, digits, usual = _digits(values)
    result = digits / _TENS[decades]
    for place in np.flatnonzero(~usual).tolist():
        result[place] = float(f"{float(values[place]):.9g}")
    return result


def joined(matrix: NDArray[np.float32], delimiter: str) -> list[str]:
    """Return the texts of each row of ``matrix`` (n, K), with the ASCII sign ``delimiter`` between them."""
    rows, width = matrix.shape
    if not rows:
        return []
    out, lengths = _texts(np.ascontiguousarray(matrix, np.float32).ravel())
    out[np.arange(len(out)), lengths] = ord(delimiter)
    lengths += 1
    text = out[np.arange(_WIDTH) < lengths[:, None]].tobytes().decode("ascii")
    ends = np.cumsum(lengths.reshape(rows, width).sum(axis=1)).tolist()
    return [text[start : end - 1] for start, end in zip([0, *ends], ends, strict=False)]


def _digits(values: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the decade of each value (n,), its nine digits as a number, and whether these are right."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    usual = (values >= _DECADES[0]) & (values < 1)
    bits = np.where(usual, bits, np.float32(0.5).view(np.uint32))
    decades = np.searchsorted(_DECADES, bits.view(np.float32).astype(np.float64), side="right") - 1
    mantissa = (bits & np.uint32(0x7FFFFF) | np.uint32(0x800000)).astype(np.uint64)
    tens = _DIGITS - 1 - (decades + _SMALLEST)
    shift = (150 - (bits >> np.uint32(23)).astype(np.int64) - tens).astype(np.uint64)
    product = mantissa * _FIVES[decades]
    digits = product >> shift
    left = product - (digits << shift)
    half = _ONE << (shift - _ONE)
    digits += (left > half) | ((left == half) & (digits & _ONE == 1))  # ties to even, as C does
    usual &= digits < 10**_DIGITS
    return decades, digits, usual


def _texts(values: NDArray[np.float32]) -> tuple[Bytes, NDArray[np.int64]]:
    """Return the text of each value (n, _WIDTH), from the left, and its length (n,)."""
    decades, digits, usual = _digits(values)
    upper, lower = np.divmod(np.where(usual, digits, 0).astype(np.uint32), np.uint32(1000))
    source = np.empty((len(values), _DIGITS + len(_SIGNS)), np.uint8)
    source[:, 0:3] = _TRIPLES.take(upper // np.uint32(1000), axis=0)
    source[:, 3:6] = _TRIPLES.take(upper % np.uint32(1000), axis=0)
    source[:, 6:9] = _TRIPLES.take(lower, axis=0)
    source[:, _DIGITS:] = _SIGNS
    zeros = np.argmax(source[:, _DIGITS - 1 :: -1] != ord("0"), axis=1)  # at the end
    forms = decades * _DIGITS + zeros
    places = _PLACES.take(forms, axis=0)
    places += (np.arange(len(values)) * source.shape[1])[:, None]
    out, lengths = source.ravel().take(places), _LENGTHS.take(forms)
    rare = np.flatnonzero(~usual)
    if len(rare):
        texts = [f"{value:.9g}".encode() for value in values[rare].tolist()]
        out[rare] = np.array(texts, f"S{_WIDTH}").view(np.uint8).reshape(-1, _WIDTH)
        lengths[rare] = list(map(len, texts))
    return out, lengths


def _forms() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each decade and number of zeros at the end which digits and signs are written, and how many.

    Shapes (decades * digits, _WIDTH), places in a row of ``source`` in `_texts`, and (decades * digits,).
    """
    at = {sign: _DIGITS + place for place, sign in enumerate(bytes(_SIGNS).decode())}
    places = np.zeros((len(_DECADES) * _DIGITS, _WIDTH), np.int64)
    lengths = np.zeros(len(places), np.int64)
    for exponent in range(_SMALLEST, 0):
        for zeros in range(_DIGITS):
            digits = list(range(_DIGITS - zeros))
            if exponent >= _FIXED_FROM:
                written = [at[sign] for sign in "0." + "0" * (-exponent - 1)] + digits
            else:
                point = [at["."]] if zeros < _DIGITS - 1 else []
                written = [0, *point, *digits[1:], *(at[sign] for sign in f"e-{-exponent:02d}")]
            form = (exponent - _SMALLEST) * _DIGITS + zeros
            places[form, : len(written)] = written
            lengths[form] = len(written)
    return places, lengths


_SIGNS: Final = np.frombuffer(b"0.e-56789", np.uint8)
_PLACES, _LENGTHS = _forms()
