"""Arrow's values become texts, and the texts the same values again."""

from __future__ import annotations

import string
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce_desktop.core.errors import UserError
from sce_desktop.data.column_types import ColumnTypes
from sce_desktop.data.parquet.arrow_text import array_of, restorable, texts_of

UNITS = ("s", "ms", "us", "ns")
DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def integers(bits: int, *, signed: bool = True) -> st.SearchStrategy[int]:
    low = -(2 ** (bits - 1)) if signed else 0
    return st.integers(low, 2 ** (bits - signed) - 1)


def bytes_() -> st.SearchStrategy[bytes]:
    hexadecimal = st.text("0123456789abcdef", max_size=8).map(str.encode)
    return st.binary(max_size=6) | hexadecimal | hexadecimal.map(lambda text: text.hex().encode())


LEAVES: list[tuple[pa.DataType, st.SearchStrategy[object]]] = [
    (pa.string(), st.text(max_size=5)),
    (pa.large_string(), st.text(max_size=5)),
    (pa.bool_(), st.booleans()),
    (pa.int8(), integers(8)),
    (pa.int64(), integers(64)),
    (pa.uint64(), integers(64, signed=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.float32(), st.floats(allow_nan=False, width=32)),
    (pa.float16(), st.floats(allow_nan=False, width=16)),
    (pa.decimal128(12, 3), st.decimals(-(10**8), 10**8, places=3)),
    (pa.decimal256(40, 0), integers(120).map(Decimal)),
    (pa.binary(), bytes_()),
    (pa.large_binary(), bytes_()),
    (pa.binary(2), st.binary(min_size=2, max_size=2)),
    (pa.date32(), integers(32)),
    (pa.date64(), st.integers(-(10**6), 10**7).map(lambda day: day * 86_400_000)),
    *((pa.timestamp(unit), integers(62)) for unit in UNITS),
    (pa.timestamp("us", "Europe/Berlin"), st.integers(-(10**15), 10**16)),
    (pa.timestamp("ns", "+05:30"), st.integers(-(10**18), 10**18)),
    (pa.time32("s"), st.integers(0, DAY["s"] - 1)),
    (pa.time32("ms"), st.integers(0, DAY["ms"] - 1)),
    (pa.time64("us"), st.integers(0, DAY["us"] - 1)),
    (pa.time64("ns"), st.integers(0, DAY["ns"] - 1)),
    *((pa.duration(unit), integers(60)) for unit in UNITS),
    (pa.null(), st.none()),
]


@st.composite
def typed(draw: st.DrawFn, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[object]]:
    leaf: tuple[pa.DataType, st.SearchStrategy[object]] = draw(st.sampled_from(LEAVES))
    kind, values = leaf
    shape = (
        draw(st.sampled_from(["leaf", "leaf", "list", "large_list", "fixed", "struct", "map"]))
        if depth
        else "leaf"
    )
    if shape == "leaf":
        return kind, st.none() | values
    kind, values = draw(typed(depth - 1))  # type: ignore[call-arg]  # hypothesis gives draw
    if shape == "fixed":
        return pa.list_(kind, 2), st.none() | st.lists(values, min_size=2, max_size=2)
    if shape == "struct":
        other, more = draw(typed(depth - 1))  # type: ignore[call-arg]
        fields = pa.struct([("a", kind), ("b é", other)])
        return fields, st.none() | st.fixed_dictionaries({"a": values, "b é": more})
    if shape == "map":
        entries = st.lists(st.tuples(st.text(string.ascii_letters, max_size=3), values), max_size=3)
        return pa.map_(pa.string(), kind), st.none() | entries
    made = pa.large_list(kind) if shape == "large_list" else pa.list_(kind)
    return made, st.none() | st.lists(values, max_size=3)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_every_type_comes_back(data: st.DataObject) -> None:
    kind, values = data.draw(typed())  # type: ignore[call-arg]
    array = pa.array(data.draw(st.lists(values, max_size=6)), kind)
    texts = texts_of(array)
    assert all(text is None or isinstance(text, str) for text in texts)
    assert restorable(kind)
    assert array_of(texts, kind).equals(array)
    cut = array[1:]  # a part of an array, whose parts inside are whole
    assert texts_of(cut) == texts[1:]


def test_a_part_of_records_with_a_field_of_nulls() -> None:
    kind = pa.map_(pa.string(), pa.struct([("a", pa.null()), ("b", pa.int8())]))
    array = pa.array([[("x", None)], None, [("y", {"a": None, "b": 1}), ("z", None)]], kind)
    assert texts_of(array[1:]) == texts_of(array)[1:] == [None, '[["y", {"a": null, "b": 1}], ["z", null]]']


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array([3_652_060, -800_000], pa.date32()), ["11969-01-01", "-0221-09-04"]),
        (pa.array([[3_652_060], None], pa.list_(pa.date32())), ['["11969-01-01"]', None]),
        (pa.array([253_402_300_800], pa.timestamp("s", "UTC")), ["10000-01-01T00:00:00+00:00"]),
        (pa.array([1], pa.timestamp("ns")), ["1970-01-01T00:00:00.000000001"]),
        (pa.array([[1.5, None, 0.1]], pa.list_(pa.float32())), ["[1.5, null, 0.1]"]),
        (pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int8())), ['[["k", 1]]', "[]"]),
        (pa.array([{"a": {"b": [None, b"x"]}}]), ['{"a": {"b": [null, "x"]}}']),
        (pa.array([86_399, -1], pa.duration("s")), ["23:59:59", "-1 day, 23:59:59"]),
        (pa.array([b"\xff\x00", b"ff00", b"text"]), ["ff00", "66663030", "text"]),
        (pa.array(["u", None, "v", "u"]).dictionary_encode(), ["u", None, "v", "u"]),
        (pa.array([5, None, 5], pa.int64()).dictionary_encode(), ["5", None, "5"]),
        (pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), ['{"a": 1, "a_2": 2}']),
    ],
)
def test_texts_of_odd_values(array: pa.Array, texts: list[str | None]) -> None:
    assert texts_of(array) == texts
    if restorable(array.type):
        assert array_of(texts, array.type).equals(array)


def broken(*raw: bytes | None) -> pa.Array:
    """Return a column of texts that are no UTF-8."""
    array = pa.array(raw, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(array), array.buffers())


@pytest.mark.parametrize("wrap", ["plain", "dictionary", "list", "struct"])
def test_bytes_that_are_no_utf8_are_shown_and_told(wrap: str) -> None:
    plain = broken(b"ok", b"caf\xe9", None, b"\xff", "\ufffd é".encode())
    places: set[int] = set()
    if wrap == "dictionary":
        array: pa.Array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 4, 1]), plain)
        assert texts_of(array, places) == ["ok", "caf\ufffd", None, "\ufffd", "\ufffd é", "caf\ufffd"]
        assert places == {1, 3, 5}
    elif wrap == "plain":
        assert texts_of(plain, places) == ["ok", "caf\ufffd", None, "\ufffd", "\ufffd é"]
        assert places == {1, 3}
    elif wrap == "list":
        array = pa.ListArray.from_arrays(pa.array([0, 1, 2]), plain[:2])
        assert texts_of(array, places) == ['["ok"]', '["caf\ufffd"]']
        assert places == {1}
    else:
        array = pa.StructArray.from_arrays([plain[:2]], ["a"])
        assert texts_of(array, places) == ['{"a": "ok"}', '{"a": "caf\ufffd"}']
        assert places == {1}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (pa.int8(), "1.5"),
        (pa.int8(), "300"),
        (pa.bool_(), "yes"),
        (pa.date32(), "2024-13-01"),
        (pa.duration("s"), "an hour"),
        (pa.time32("s"), "12"),
        (pa.list_(pa.int8()), "["),
        (pa.list_(pa.int8()), "5"),
        (pa.struct([("a", pa.int8())]), '{"b": 1}'),
        (pa.decimal128(5, 2), "x"),
        (pa.binary(2), "abc"),
    ],
)
def test_texts_that_are_no_values_of_a_type_are_refused(kind: pa.DataType, text: str) -> None:
    with pytest.raises(UserError, match=r"“a” holds cells that are no"):
        ColumnTypes((pa.field("a", kind),)).maker(0)([text])


def test_types_are_kept_as_text() -> None:
    schema = pa.schema(
        [
            pa.field("a", pa.timestamp("us", "Europe/Berlin"), nullable=False),
            pa.field("b", pa.list_(pa.int8())),
        ],
        metadata={"pandas": "{}", "about": "an export"},
    )
    types = ColumnTypes.of_schema(schema)
    assert ColumnTypes.from_text(types.to_text()) == types
    assert types.metadata == {b"pandas": b"{}"}
    other = ColumnTypes((types.fields[0], pa.field("b", pa.int8())))
    assert types.shared_with(other).fields == (types.fields[0], None)
    assert ColumnTypes.from_text(types.shared_with(other).to_text()) == types.shared_with(other)
    assert types.picked([1]).fields == (types.fields[1],)


@pytest.mark.parametrize("text", ["", "x", "====", "AAAA", "/////w=="])
def test_what_is_no_text_of_types(text: str) -> None:
    assert ColumnTypes.from_text(text) is None
