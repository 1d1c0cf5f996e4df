from __future__ import annotations

import pytest

from sce_desktop.data.guess import gold_like, guess_columns


def test_b02_text_and_label_by_name_and_shape() -> None:
    assert guess_columns(["text", "label"], [("roof leaks", "damage")]) == (0, 1)


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        (
            ["id", "url", "note"],
            [("1", "https://example.org/a/very/long/address/of/things", "it broke")],
            (2, None),
        ),
        (["id", "n"], [("1", "2"), ("3", "4")], (None, None)),
        (["a", "b"], [(f"sentence number {n}", f"k{n % 3}") for n in range(100)], (0, None)),
        (["a", "tag"], [(f"sentence number {n}", f"k{n % 3}") for n in range(100)], (0, 1)),
        (["a", "b"], [(f"sentence number {n}", f"k{n}") for n in range(100)], (0, None)),
        (["text", " Label "], [("x y", "b"), ("z", "b")], (0, 1)),
        (["title", "body"], [("A title", "A much longer body of this text")], (1, None)),
        (["text"], [("说明文字",)], (0, None)),
        (["id", "text"], [], (1, None)),
        (["id", "text", "gold"], [("1", "", None)], (1, 2)),
        ([], [], (None, None)),
    ],
)
def test_guesses(
    columns: list[str], rows: list[tuple[str | None, ...]], expected: tuple[int | None, int | None]
) -> None:
    assert guess_columns(columns, rows) == expected


FULL = [("a text", "Late"), ("b text", "Lost"), ("c text", ""), ("d text", "Late")]
PART = [("a text", "Late"), ("b text", None), ("c text", ""), ("d text", "  ")]


@pytest.mark.parametrize(
    "name",
    [
        *("gold", "Gold label", "gold_label", "label", "LABELS", "y_true", "truth", "ground-truth"),
        *("expected", "expected_category", "annotation", "Annotations", "class", "classes", "Kategorie"),
    ],
)
def test_a_full_column_with_the_name_of_labels_looks_like_gold(name: str) -> None:
    assert guess_columns(("text", name), FULL) == (0, 1)
    assert gold_like(("text", name), FULL) == {1}
    assert gold_like(("text", name), PART) == frozenset()  # somebody is at work
    assert gold_like(("text", name), []) == frozenset()


FEW_VALUES = {
    "gender": ("m", "f"),
    "Country": ("Germany", "France", "Spain"),
    "store": ("North", "South", "Harbour"),
    "channel": ("mail", "phone", "chat"),
    "stars": ("1", "2", "3", "4", "5"),
    "Product line": ("Basic", "Plus"),
    "goldsmith": ("Mr Au", "Mrs Ag"),
    "unlabelled_text": ("yes", "no"),
}


@pytest.mark.parametrize("name", FEW_VALUES)
def test_a_column_of_few_values_is_no_labels_by_that_alone(name: str) -> None:
    few = FEW_VALUES[name]
    rows = [(f"sentence number {n} of these", few[n % len(few)]) for n in range(200)]
    assert guess_columns(("comment", name), rows) == (0, None)
    assert gold_like(("comment", name), rows) == frozenset()
    named = [(*row, ("Late", "Lost")[n % 2]) for n, row in enumerate(rows)]
    assert guess_columns(("comment", name, "Ground truth"), named) == (0, 2)
    assert gold_like(("comment", name, "Ground truth"), named) == {2}
