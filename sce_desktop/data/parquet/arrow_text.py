"""Arrow's values as texts, and those texts as the values again.

Integers and floats in the shortest form that reads back to the same value, truth values as true and false,
dates and times in ISO 8601 (with +00:00 where they have a time zone), lists and structures as JSON, bytes as
text if they are UTF-8 and as hexadecimal digits if not. No two values of a type have the same text, but for
bytes in texts that are no UTF-8: they are shown as U+FFFD.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sce_desktop.core.names import numbered
from sce_desktop.core.tables import Cell

if TYPE_CHECKING:
    import pyarrow as pa

_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY_MS: Final = 86_400_000
_HEX: Final = re.compile("(?:[0-9a-f]{2})+")
_DURATION: Final = re.compile(r"(?:(-?\d+) days?, )?(\d+):(\d\d):(\d\d)(?:\.(\d+))?")


def texts_of(array: pa.Array, broken: set[int] | None = None) -> list[Cell]:
    """Return the values of a column as texts; ``broken`` gets the places of texts that are no UTF-8."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        used = pc.unique(array.indices).drop_null()
        wrong: set[int] = set()
        texts = dict(zip(used.to_pylist(), texts_of(array.dictionary.take(used), wrong), strict=True))
        places = array.indices.to_pylist()
        if wrong and broken is not None:
            bad = {used[place].as_py() for place in wrong}
            broken.update(row for row, place in enumerate(places) if place in bad)
        return [texts.get(place) for place in places]
    if isinstance(kind, pa.BaseExtensionType):
        return texts_of(array.storage, broken)
    if _is_text(kind):
        return _strings(array, broken)
    if pa.types.is_date32(kind):
        return _moments(array.cast(pa.int32()), "D")
    if pa.types.is_date64(kind):
        days = [None if ms is None else ms // _DAY_MS for ms in array.cast(pa.int64()).to_pylist()]
        return _moments(pa.array(days, pa.int64()), "D")
    if pa.types.is_timestamp(kind):
        moments = map(_short_time, _moments(array.cast(pa.int64()), kind.unit))
        return [moment and f"{moment}+00:00" for moment in moments] if kind.tz is not None else [*moments]
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        numbers = array.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()).to_pylist()
        write = _time if pa.types.is_time(kind) else _duration
        return [None if number is None else write(number, _PER_SECOND[kind.unit]) for number in numbers]
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # Not by way of Python's float, in which the 0.1 of a float32 reads 0.10000000149011612.
        return array.cast(pa.float32()).cast(pa.string()).to_pylist()
    if pa.types.is_nested(kind):
        inside: set[int] = set()
        values = _values(array, inside)
        nested = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
        if inside and broken is not None:
            broken.update(row for row, text in enumerate(nested) if text and "\ufffd" in text)
        return nested
    return [_text(value) for value in array.to_pylist()]


def _strings(array: pa.Array, broken: set[int] | None) -> list[Cell]:
    import pyarrow as pa

    try:
        return array.to_pylist()
    except UnicodeDecodeError:
        large = pa.types.is_large_string(array.type)
        found = array.cast(pa.large_binary() if large else pa.binary()).to_pylist()
    texts = [None if raw is None else raw.decode("utf-8", "replace") for raw in found]
    if broken is not None:
        broken.update(
            row
            for row, (raw, text) in enumerate(zip(found, texts, strict=True))
            if text and text.encode() != raw
        )
    return texts


def _values(array: pa.Array, broken: set[int]) -> list[Any]:
    """Return the values of a column as JSON knows them: what it has no kind of value for is text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _values(array.storage, broken)
    if pa.types.is_map(kind):
        entry = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        pairs = _values(array.cast(pa.list_(entry)), broken)
        return [items and [[item["key"], item["value"]] for item in items] for items in pairs]
    if pa.types.is_struct(kind):
        names = _names(kind)
        columns = [  # of a part of an array, pyarrow gives columns of nothing but nulls without a length
            [None] * len(array) if pa.types.is_null(column.type) else _values(column, broken)
            for column in array.flatten()
        ]
        rows = zip(*columns, strict=True) if columns else iter([()] * len(array))
        return [
            dict(zip(names, row, strict=True)) if there else None
            for row, there in zip(rows, array.is_valid().to_pylist(), strict=True)
        ]
    if pa.types.is_nested(kind):
        items = iter(_values(array.flatten(), broken))
        lengths = pc.list_value_length(array).to_pylist()
        return [None if length is None else [next(items) for _ in range(length)] for length in lengths]
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_float64(kind):
        return array.to_pylist()
    texts = texts_of(array, broken)
    if pa.types.is_floating(kind):
        return [None if text is None else float(text) for text in texts]
    return texts


def _names(kind: pa.StructType) -> list[str]:
    """Return the names of a structure's fields, those that recur with a number."""
    return numbered(kind.field(place).name for place in range(kind.num_fields))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_bytes(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def _moments(numbers: pa.Array, unit: str) -> list[Cell]:
    """Return counts of days or parts of seconds since 1970 as ISO 8601, in years beyond Python's, too."""
    texts = np.datetime_as_string(
        numbers.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64).view(f"M8[{unit}]")
    ).tolist()
    if numbers.null_count:
        there = numbers.is_valid().to_pylist()
        texts = [text if is_there else None for text, is_there in zip(texts, there, strict=True)]
    return [text if text is None or text[0] != "-" else _year_of_four(text) for text in texts]


def _year_of_four(text: str) -> str:
    year, dash, rest = text[1:].partition("-")
    return f"-{year.zfill(4)}{dash}{rest}"


def _short_time(text: Cell) -> Cell:
    """Take off zeros of the fraction of a second, which the column's unit brings."""
    return text.rstrip("0").removesuffix(".") if text is not None and "." in text else text


def _time(number: int, per_second: int) -> str:
    seconds, part = divmod(number, per_second)
    whole = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{whole}.{_digits(part, per_second)}".rstrip("0") if part else whole


def _duration(number: int, per_second: int) -> str:
    days, rest = divmod(number, 86_400 * per_second)
    seconds, part = divmod(rest, per_second)
    text = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if part:
        digits = _digits(part, per_second).ljust(6, "0")
        text += f".{digits.removesuffix('000') if len(digits) == 9 else digits}"
    return f"{days} day{'s' if abs(days) != 1 else ''}, {text}" if days else text


def _digits(part: int, per_second: int) -> str:
    return str(part).zfill(len(str(per_second)) - 1)


def _text(value: Any) -> Cell:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return _bytes_text(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _bytes_text(raw: bytes) -> str:
    """Return bytes as the text that they are, or as hexadecimal digits where that would be read otherwise."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.hex()
    return text if _bytes_of(text) == raw else raw.hex()


def _bytes_of(text: str) -> bytes:
    if _HEX.fullmatch(text) and _bytes_text(raw := bytes.fromhex(text)) == text:
        return raw
    return text.encode()


# --- and back


def restorable(kind: pa.DataType) -> bool:
    """Whether `array_of` can make values of this type from their texts."""
    import pyarrow as pa

    is_ = pa.types
    if is_.is_dictionary(kind):
        return not is_.is_nested(kind.value_type) and restorable(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return restorable(kind.storage_type)
    if is_.is_map(kind):
        return _plain(kind.key_type) and _plain(kind.item_type)
    if is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind):
        return _plain(kind.value_type)
    if is_.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return len({field.name for field in fields}) == len(fields) and all(_plain(f.type) for f in fields)
    return (
        _is_text(kind)
        or _is_bytes(kind)
        or is_.is_null(kind)
        or is_.is_boolean(kind)
        or is_.is_integer(kind)
        or is_.is_floating(kind)
        or is_.is_decimal(kind)
        or is_.is_date(kind)
        or is_.is_time(kind)
        or is_.is_timestamp(kind)
        or is_.is_duration(kind)
    )


def _plain(kind: pa.DataType) -> bool:
    """Whether values of this type can be made within others."""
    import pyarrow as pa

    extended = isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind)
    return not extended and restorable(kind)


def array_of(texts: Sequence[Cell], kind: pa.DataType) -> pa.Array:
    """Return the values of type ``kind`` that `texts_of` wrote. ValueError if it did not write them."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        made = array_of(texts, kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            made.indices.cast(kind.index_type), made.dictionary, ordered=kind.ordered
        )
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, array_of(texts, kind.storage_type))
    nested = pa.types.is_nested(kind)
    values = [None if text is None else _value(json.loads(text) if nested else text, kind) for text in texts]
    return pa.array(values, kind)


def _value(found: Any, kind: pa.DataType) -> Any:
    """Return what Arrow takes for a value of ``kind``; ``found`` is its text, or what JSON made of it."""
    import pyarrow as pa

    is_ = pa.types
    if found is None or _is_text(kind):
        return found
    if is_.is_map(kind):
        return [(_value(key, kind.key_type), _value(value, kind.item_type)) for key, value in found]
    if is_.is_struct(kind):
        return {name: _value(value, kind.field(name).type) for name, value in found.items()}
    if is_.is_nested(kind):
        return [_value(item, kind.value_type) for item in found]
    if is_.is_boolean(kind):
        return found if isinstance(found, bool) else {"true": True, "false": False}[found]
    if is_.is_integer(kind):
        return int(found)
    if is_.is_float16(kind):
        return np.float16(found)
    if is_.is_floating(kind):
        return float(found)
    if is_.is_decimal(kind):
        return Decimal(found)
    if _is_bytes(kind):
        return _bytes_of(found)
    if is_.is_date32(kind):
        return int(np.datetime64(found, "D").astype(np.int64))
    if is_.is_date64(kind):
        return int(np.datetime64(found, "D").astype(np.int64)) * _DAY_MS
    if is_.is_timestamp(kind):
        return int(np.datetime64(found.removesuffix("+00:00"), kind.unit).astype(np.int64))
    if is_.is_time(kind):
        whole, _, part = found.partition(".")
        hours, minutes, seconds = map(int, whole.split(":"))
        return _number(3600 * hours + 60 * minutes + seconds, part, _PER_SECOND[kind.unit])
    if is_.is_duration(kind) and (match := _DURATION.fullmatch(found)):
        days, hours, minutes, seconds = (int(match[place] or 0) for place in range(1, 5))
        total = 86_400 * days + 3600 * hours + 60 * minutes + seconds
        return _number(total, match[5] or "", _PER_SECOND[kind.unit])
    raise ValueError(f"{found!r} is no {kind}")


def _number(seconds: int, part: str, per_second: int) -> int:
    digits = len(str(per_second)) - 1
    return seconds * per_second + int(part.ljust(digits, "0")[:digits] or 0)
