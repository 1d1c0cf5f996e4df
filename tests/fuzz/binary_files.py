"""Workbooks and parquet as bytes: parts that a library would never write, in a container that is whole."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.data import workbooks
from tests.fuzz.mutations import mutated, mutations
from tests.fuzz.text_files import cell, header

_REFERENCES = [
    "A1",
    "B1",
    "A2",
    "B2",
    "C3",
    "AA10",
    "XFD1",
    "A1048576",
    "XFD1048576",
    "XFE1",
    "A0",
    "a3",
    "",
    "1",
    "A1:B2",
    "Ä1",
]
_NUMBERS = [
    *("0", "1", "-1", "0.1", "45413.5625", "60", "-0.5", "123456789012345678"),
    *("1.5E+300", "1E400", "NaN", "1_000", "", " 7 ", "007"),
    *("abc", "99999999999999999999", "2958466", "0.30000000000000004", "+5", ".5", "5.", "1,5"),
]  # fmt: skip
_CODES = [
    *("General", "0", "0000000", "000-00-0000", "yyyy-mm-dd", "[h]:mm:ss", "0.00%"),
    *("#,##0.00", "@", "# ?/?", ""),
    *("[&lt;=9999999]###-####;(###) ###-####", "0;-0;;@", '"x', "[", "\\\\"),
    *("[$-409]d", "0.0.0", "?????", "_(* 0_)"),
]  # fmt: skip


def _written(write: Callable[[Path], object], name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def _escaped(text: str) -> str:
    kept = "".join(
        c
        for c in text
        if c in "\t\n" or (c >= " " and not 0xD800 <= ord(c) < 0xE000 and c not in "\ufffe\uffff")
    )
    return kept.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


@st.composite
def _cell(draw: st.DrawFn, wild: bool) -> str:
    """Return a cell; a ``wild`` one may stand anywhere and point to texts that are not there."""
    reference = draw(st.one_of(st.just(""), st.sampled_from(_REFERENCES))) if wild else ""
    at = f' r="{_escaped(reference)}"' if reference else ""
    style = draw(st.sampled_from(["", ' s="0"', ' s="1"', ' s="2"', ' s="99"', ' s="-1"', ' s="x"']))
    kind = draw(st.sampled_from(["n", "n", "s", "inlineStr", "str", "b", "e", "d", "zz"]))
    if kind == "s" and not wild:
        return f'<c{at}{style} t="s"><v>0</v></c>'
    formula = draw(st.sampled_from(["", "", "", "<f>A1+1</f>", "<f/>"]))
    if kind == "inlineStr":
        text = _escaped(draw(cell))
        runs = f'<r><t xml:space="preserve">{text}</t></r><rPh><t>x</t></rPh>'
        return f'<c{at}{style} t="{kind}">{formula}<is>{runs}</is></c>'
    stored = _escaped(draw(st.one_of(st.sampled_from(_NUMBERS), cell)))
    value = draw(st.sampled_from([f"<v>{stored}</v>", "", "<v/>"]))
    return f'<c{at}{style} t="{kind}">{formula}{value}</c>'


@st.composite
def xlsx(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return an xlsx file, parts of which may be damaged inside of a zip archive that is whole."""
    rows = ['<row><c t="inlineStr"><is><t>text</t></is></c></row>']
    wild = draw(st.integers(0, 2)) == 0
    for _ in range(draw(st.integers(0, 6))):
        number = draw(st.sampled_from(["", "", "3", "1048576", "99999999", "0", "x"])) if wild else ""
        found = "".join(draw(st.lists(_cell(wild), max_size=5)))
        rows.append(f'<row r="{number}">{found}</row>' if number else f"<row>{found}</row>")
    body = "".join(rows) * draw(st.sampled_from([1, 1, 1, 200]))
    codes = draw(st.lists(st.one_of(st.sampled_from(_CODES), cell), max_size=3))
    formats = "".join(
        f'<numFmt numFmtId="{170 + n}" formatCode="{_escaped(code)}"/>' for n, code in enumerate(codes)
    )
    styles = "".join(f'<xf numFmtId="{number}"/>' for number in (0, *range(170, 170 + len(codes)), 14, 46, 9))
    shared = "".join(f"<si><t>{_escaped(draw(cell))}</t></si>" for _ in range(draw(st.integers(1, 3))))
    dimension = draw(st.sampled_from(["", '<dimension ref="A1:XFD1048576"/>', '<dimension ref="x"/>']))
    content = _written(
        lambda path: workbooks.xlsx(
            path,
            body,
            shared=f"<sst>{shared}</sst>" if not wild or draw(st.booleans()) else None,
            styles=f"<styleSheet><numFmts>{formats}</numFmts><cellXfs>{styles}</cellXfs></styleSheet>",
            book=draw(st.sampled_from(["", '<workbookPr date1904="1"/>', "<!-- x -->"])),
            before=dimension,
            sheets=draw(st.sampled_from([1, 1, 2, 30])),
        ),
        "a.xlsx",
    )
    damaged = draw(st.integers(0, 2)) == 0
    return draw(st.sampled_from(["a.xlsx", "a.xlsm", "a.csv"])), draw(
        _repacked(content)
    ) if damaged else content


@st.composite
def _repacked(draw: st.DrawFn, content: bytes) -> bytes:
    """Damage one part of a zip archive, or leave one out, and pack it again."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    victim = draw(st.sampled_from([*parts]))
    if draw(st.integers(0, 5)) == 0:
        del parts[victim]
    else:
        parts[victim] = mutated(parts[victim], draw(mutations))
    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", draw(st.sampled_from([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]))
    ) as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return buffer.getvalue()


@st.composite
def other_workbook(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return an ods or xls file."""
    if draw(st.booleans()):
        times = st.sampled_from([1] * 9 + [2, 300, 16_384, 1_048_576, 10**9])
        rows = [
            workbooks.ods_row(
                *[(_escaped(draw(cell)), draw(times)) for _ in range(draw(st.integers(0, 3)))],
                times=draw(times),
            )
            for _ in range(draw(st.integers(0, 4)))
        ]
        content = _written(lambda path: workbooks.ods(path, *rows), "a.ods")
        return "a.ods", draw(_repacked(content)) if draw(st.booleans()) else content
    place = st.sampled_from([0, 0, 1, 1, 2, 3, 255, 256, 65_535])
    texts = st.text(st.characters(max_codepoint=255), max_size=20)
    found = draw(st.lists(st.tuples(place, place, texts), max_size=8))
    return "a.xls", _written(lambda path: workbooks.xls(path, found), "a.xls")


@st.composite
def parquet(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return a parquet file with columns of odd types and values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    length = draw(st.integers(0, 5))
    small = st.integers(-(2**31), 2**31 - 1)
    big = st.integers(-(2**63), 2**63 - 1)
    raw = st.one_of(
        st.binary(max_size=6), st.just(b"\xff\xfe"), cell.map(lambda text: text.encode("utf-8", "replace"))
    )
    texts = cell.map(lambda text: text.encode("utf-8", "replace").decode())
    kinds: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
        "string": (pa.string(), texts),
        "large": (pa.large_string(), texts),
        "bytes": (pa.binary(), raw),
        "fixed": (pa.binary(3), st.binary(min_size=3, max_size=3)),
        "int64": (pa.int64(), big),
        "uint64": (pa.uint64(), st.integers(0, 2**64 - 1)),
        "float": (pa.float64(), st.floats()),
        "float32": (pa.float32(), st.floats(width=32)),
        "bool": (pa.bool_(), st.booleans()),
        "null": (pa.null(), st.none()),
        "list": (pa.list_(pa.string()), st.lists(texts, max_size=3)),
        "struct": (
            pa.struct([("a", pa.int32()), ("b", pa.binary())]),
            st.fixed_dictionaries({"a": small, "b": raw}),
        ),
        "map": (pa.map_(pa.string(), pa.int64()), st.lists(st.tuples(texts, big), max_size=2)),
    }
    later: dict[str, tuple[Any, Any]] = {  # stored as numbers, then seen as something else
        "date32": (pa.int32(), pa.date32()),
        "date64": (pa.int64(), pa.date64()),
        "second": (pa.int64(), pa.timestamp("s")),
        "zoned": (pa.int64(), pa.timestamp("us", "Europe/Berlin")),
        "nano": (pa.int64(), pa.timestamp("ns")),
        "time": (pa.int64(), pa.time64("us")),
        "duration": (pa.int64(), pa.duration("ms")),
    }
    arrays, names = [], []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from([*kinds, *later, "invalid", "dictionary"]))
        none = st.none()
        if kind in later:
            stored, seen = later[kind]
            numbers = small if pa.types.is_int32(stored) else big
            found = [draw(none | numbers) for _ in range(length)]
            array = pa.array(found, stored).view(seen)
        elif kind == "invalid":
            array = pa.array([draw(none | raw) for _ in range(length)], pa.binary()).view(pa.string())
        elif kind == "dictionary":
            array = pa.array([draw(none | texts) for _ in range(length)], pa.string()).dictionary_encode()
        else:
            array = pa.array([draw(none | kinds[kind][1]) for _ in range(length)], kinds[kind][0])
        arrays.append(array)
        names.append(draw(header).encode("utf-8", "replace").decode())
    table = pa.table(arrays, names=names)
    buffer = io.BytesIO()
    options = {"compression": draw(st.sampled_from(["none", "zstd", "snappy"])), "version": "2.6"}
    try:
        pq.write_table(table, buffer, **options)
    except (pa.ArrowException, ValueError, OverflowError):  # what cannot be written: the next file
        return "a.parquet", b"PAR1"
    return draw(st.sampled_from(["a.parquet", "a.pq", "a.csv"])), buffer.getvalue()
