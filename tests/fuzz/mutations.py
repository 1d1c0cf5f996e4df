"""Damage to bytes: what transfer, editors, and people who mean ill do to files."""

from __future__ import annotations

from hypothesis import strategies as st

_TOKENS = [
    *(b"\x00", b"\xff", b'"', b"'", b"\\", b",", b";", b"\t"),
    *(b"\n", b"\r", b"\r\n", b"{", b"}", b"[", b"]", b":"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xed\xa0\x80"),
    *(b"\\ud800", b"PK\x03\x04", b"PAR1", b"\x1f\x8b"),
    *(b"-1", b"0", b"99999999999", b"1e999", b"NaN", b"null"),
    *(b"true", b"<", b">", b"&amp;", b"&#0;", b"]]>"),
    *(b"XFD1048576", b"<c>", b"</row>", b"sep=;", b"id,text\n", b"\xe2\x80\x8b", b"\xf0\x9f\x98\x80"),
]  # fmt: skip

_place = st.floats(0, 1, allow_nan=False)
_mutation = st.one_of(
    st.tuples(st.just("set"), _place, st.integers(0, 255)),
    st.tuples(st.just("cut"), _place, st.integers(1, 200)),
    st.tuples(st.just("end"), _place, st.just(0)),
    st.tuples(st.just("start"), _place, st.just(0)),
    st.tuples(st.just("double"), _place, st.integers(1, 400)),
    st.tuples(st.just("repeat"), _place, st.integers(1, 40)),
    st.tuples(st.just("insert"), _place, st.integers(0, len(_TOKENS) - 1)),
    st.tuples(st.just("fill"), _place, st.integers(1, 60)),
)

mutations = st.lists(_mutation, max_size=4)


def mutated(content: bytes, found: list[tuple[str, float, int]]) -> bytes:
    """Return ``content`` after each of the mutations (kind, where from 0 to 1, how much or what)."""
    for kind, where, number in found:
        at = int(where * len(content))
        before, after = content[:at], content[at:]
        if kind == "set":
            content = before + bytes([number]) + after[1:]
        elif kind == "cut":
            content = before + after[number:]
        elif kind == "end":
            content = before
        elif kind == "start":
            content = after
        elif kind == "double":
            content = before + after[:number] + after
        elif kind == "repeat":
            content = before + after[:number] * 2000 + after[number:]
        elif kind == "insert":
            content = before + _TOKENS[number] + after
        else:
            content = before + after[:1] * number + after[number:]
    return content
