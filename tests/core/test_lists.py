from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce_desktop.core.lists import begins_as_list, from_list, is_list

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6), max_size=4)


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ('["Late", "Damaged"]', ("Late", "Damaged")),
        ("[]", ()),
        ('[" ", "\u200b", "a", "a"]', ("a",)),
        ("['Late']", ("Late",)),
        ("['Late', \"It's wet\"]", ("Late", "It's wet")),
        (r"['it\'s', 'a\\b', 'caf\xe9', 'caf\u00e9']", ("it's", "a\\b", "café")),
        ("[u'Late', ]", ("Late",)),
        ("['Late' 'Damaged'\n 'Rude']", ("Late", "Damaged", "Rude")),  # as NumPy prints an array
        (" [ 'a' , 'b' ] ", ("a", "b")),
    ],
)
def test_lists_of_names(cell: str, names: tuple[str, ...]) -> None:
    assert from_list(cell) == names


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "abc",
        '"abc"',
        "null",
        "[null, 3]",
        "[1]",
        "[nan]",
        "[None, 'a']",
        "[['a']]",
        "['a'",
        "['a'] and more",
        "[a, b]",
        "['a', b'c']",
        "['a\nb']",
        r"['\x']",
        "[__import__('os')]",
        "[" * 5000,
        "[urgent] call back",
        '{"a": 1}',
        '[""]',
        "[' ', '']",
        '["\u200b"]',
    ],
)
def test_what_is_no_list_of_names(cell: str) -> None:
    assert from_list(cell) is None


@given(NAMES)
def test_json_and_python_write_the_same(names: list[str]) -> None:
    found = from_list(json.dumps(names))
    assert found == from_list(json.dumps(names, ensure_ascii=False)) == from_list(repr(names))


@pytest.mark.parametrize(
    "cell", ["['" + "\\'" * 100_000, "['a'" + " " * 200_000 + "b]", "[" + "'a'," * 50_000]
)
def test_long_cells_are_read_at_once(cell: str) -> None:
    started = time.perf_counter()
    assert from_list(cell) is None
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("cell", ['["a"]', "[]", '[""]', "['a', ' ']"])
def test_lists_of_texts_are_lists_though_they_name_nothing(cell: str) -> None:
    assert is_list(cell)
    assert begins_as_list(cell)


@pytest.mark.parametrize(
    ("cell", "begins"),
    [
        ("[null,3]", True),
        ('["Late"', True),
        (' [["a"]]', True),
        ('{"a":1}', True),
        ("abc", False),
        ("a [b]", False),
    ],
)
def test_what_was_meant_as_a_list(cell: str, begins: bool) -> None:
    assert not is_list(cell)
    assert begins_as_list(cell) is begins
