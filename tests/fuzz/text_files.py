"""Delimited text, JSON and labels as bytes: mostly well formed, in every form that programs write."""

from __future__ import annotations

import gzip
import json
from typing import Any

from hypothesis import strategies as st

_PIECES = [
    *("", " ", "a", "text", "The parcel came late."),
    *("Ünïcödé é è", "Добрый день", "日本語テキスト", "שלום", "مرحبا"),
    *("👍🏽", "👨‍👩‍👧", "\u200b", "\ufeff", "\x00"),
    *("\x1b[31m", "\u2028", "\x85", "e\u0301", "\ufffe", "A" * 3000),
    *('say "hi"', 'a""b', '"', "'quoted'", "it's"),
    *("\\", '\\"', "a\\,b", "a,b;c\td|e", "line\nbreak", "cr\rhere"),
    *("=1+1", "-5", "@x", "0001", "1e5", "NaN", "null", "TRUE", "2", "2.0", "Late", "late", "late\u200b"),
    *("2024-05-01", '["a", "b"]', "['a']", "{}", "[]", "12345678901234567890", "-0", "1,5", "sep=;"),
]  # fmt: skip
_ENCODINGS = [
    *("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"),
    *("utf-16-le", "utf-16-be", "utf-32", "cp1252", "cp1251"),
    *("cp932", "gb18030", "cp949", "iso8859-15", "mac_roman", "cp437"),
]  # fmt: skip
_HEADERS = [
    "id",
    "text",
    "label",
    "gold",
    "text",
    "",
    " ",
    "name",
    "description",
    "decided_at",
    "labels",
    "sce_label",
]

cell = st.one_of(st.sampled_from(_PIECES), st.text(max_size=12))
header = st.one_of(st.sampled_from(_HEADERS), cell)
surrogate = st.text(st.characters(), max_size=4)


@st.composite
def delimited(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return a name and the bytes of csv, tsv or txt."""
    sign = draw(st.sampled_from([",", ";", "\t", "|", ":", ", ", " "]))
    quote = draw(st.sampled_from(['"', '"', '"', "'", ""]))
    escape = draw(st.sampled_from([quote + quote, "\\" + quote, quote]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
    always = draw(st.booleans())
    width = draw(st.integers(1, 6))

    def field(value: str) -> str:
        if quote and (always or sign in value or quote in value or "\n" in value or "\r" in value):
            return quote + value.replace(quote, escape) + quote
        return value

    lines = draw(st.lists(st.sampled_from(["sep=;", "Report of May", "# comment", "", ";;;"]), max_size=2))
    lines.append(sign.join(field(draw(header)) for _ in range(width)))
    for _ in range(draw(st.integers(0, 8))):
        ragged = max(width + draw(st.sampled_from([0, 0, 0, 0, -1, 1, 5])), 0)
        lines.append(sign.join(field(draw(cell)) for _ in range(ragged)))
    if draw(st.integers(0, 9)) == 0:
        lines += [lines[-1]] * draw(st.sampled_from([100, 5000]))
    text = end.join(lines) + draw(st.sampled_from([end, ""]))
    content = text.encode(draw(st.sampled_from(_ENCODINGS)), "replace")
    name = draw(st.sampled_from(["a.csv", "a.csv", "a.tsv", "a.txt", "a", "a.dat"]))
    if draw(st.integers(0, 9)) == 0:
        return f"{name}.gz", gzip.compress(content, mtime=0)
    return name, content


_leaf = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), cell, surrogate)
value = st.recursive(
    _leaf, lambda v: st.lists(v, max_size=3) | st.dictionaries(cell, v, max_size=3), max_leaves=6
)
record = st.dictionaries(st.one_of(header, surrogate), value, max_size=5)


def _deep(depth: int, kind: str) -> str:
    return '{"a":' * depth + "1" + "}" * depth if kind == "object" else "[" * depth + "]" * depth


@st.composite
def json_text(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return a name and the bytes of JSON in one of its shapes, or of JSON Lines."""
    records = draw(st.lists(record, max_size=5))
    columns = sorted({key for one in records for key in one})
    shape = draw(
        st.sampled_from(
            [
                "lines",
                "lines",
                "list",
                "wrapped",
                "columns",
                "index",
                "split",
                "value",
                "deep",
                "twice",
                "wide",
            ]
        )
    )
    found: Any = records
    if shape == "wrapped":
        found = {draw(header): draw(value), "data": records, draw(header): draw(value)}
    elif shape == "columns":
        found = {key: {str(n): one.get(key) for n, one in enumerate(records)} for key in columns}
    elif shape == "index":
        found = {str(n): one for n, one in enumerate(records)}
    elif shape == "split":
        found = {
            "columns": columns,
            "index": [*range(len(records))],
            "data": [list(one.values()) for one in records],
        }
    elif shape == "value":
        found = draw(value)
    ascii_only = draw(st.booleans())
    indent = draw(st.sampled_from([None, None, 2]))
    if shape == "lines":
        text = "\n".join(json.dumps(one, ensure_ascii=ascii_only) for one in records)
    elif shape == "deep":
        text = (
            json.dumps({"text": "x"})
            + "\n"
            + _deep(draw(st.sampled_from([10, 600, 100_000])), draw(st.sampled_from(["object", "list"])))
        )
    elif shape == "twice":
        text = '{"text": "a", "text": "b"}\n{"text": 1' + "0" * draw(st.sampled_from([10, 5000])) + "}"
    elif shape == "wide":
        text = "\n".join(f'{{"k{n}": {n}}}' for n in range(draw(st.sampled_from([10, 3000, 60_000]))))
    else:
        text = json.dumps(found, ensure_ascii=ascii_only, indent=indent)
    content = text.encode(
        draw(st.sampled_from(_ENCODINGS[:8])), "surrogatepass" if draw(st.booleans()) else "replace"
    )
    name = draw(st.sampled_from(["a.json", "a.jsonl", "a.ndjson", "a.json", "a.csv"]))
    if draw(st.integers(0, 9)) == 0:
        return f"{name}.gz", gzip.compress(content, mtime=0)
    return name, content


@st.composite
def labels(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return a name and the bytes of a file of labels."""
    names = draw(st.lists(st.one_of(cell, surrogate), max_size=6))
    kind = draw(st.sampled_from(["txt", "list", "objects", "mapping", "jsonl", "doccano", "csv"]))
    fields = ["name", "description", "synonyms", "colour", "shortcut", "label", "text"]
    if kind == "csv":
        name, content = draw(delimited())
        return "labels.csv", content
    objects = [
        dict(draw(st.dictionaries(st.sampled_from(fields), value, max_size=4)), name=name) for name in names
    ]
    if kind == "txt":
        text = "\n".join(names)
    elif kind == "list":
        text = json.dumps(names)
    elif kind == "objects":
        text = json.dumps(objects)
    elif kind == "mapping":
        text = json.dumps(dict.fromkeys(names, draw(value)))
    else:
        text = "\n".join(
            map(json.dumps, objects if kind == "jsonl" else [{"text": n, "suffix_key": "a"} for n in names])
        )
    name = (
        "labels.txt"
        if kind == "txt"
        else draw(st.sampled_from(["labels.json", "labels.jsonl", "labels.txt"]))
    )
    return name, text.encode("utf-8", "surrogatepass" if draw(st.booleans()) else "replace")
