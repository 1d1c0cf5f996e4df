from __future__ import annotations

import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import (
    asks_yes_no,
    check_scorable,
    clean_labels,
    distinct_labels,
    label_key,
    look_alikes,
    meaningless,
    merged_names,
    parent_of,
    roll_up,
)

SEPARATORS = ["Food, drink", "C# / .NET", "a|b", '50% "off"', "{x}"]


def test_names_are_opaque_and_stay_as_typed() -> None:
    assert [label.name for label in clean_labels(SEPARATORS)] == SEPARATORS
    assert [label.name for label in clean_labels([" header ", "Ärger\u2028"])] == [" header ", "Ärger\u2028"]


def test_labels_keep_what_they_carry() -> None:
    label = Label("damage", description="broken goods", synonyms=("breakage",), id=7)
    assert clean_labels([label, "delay"]) == (label, Label("delay"))


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([], "no label"),
        (["", "a"], "no name"),
        ([" \t", "a"], "no name"),
        (["a", "b", "a"], "twice"),
        (["complaint", "complaint "], "twice"),
    ],
)
def test_bad_label_sets_are_refused(names: list[str], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        clean_labels(names)


def test_one_label_is_a_question_but_no_choice() -> None:
    one = clean_labels(["complaint"])
    check_scorable(one)
    assert asks_yes_no(one, multi_label=False)
    assert not asks_yes_no(clean_labels(["complaint", "praise"]), multi_label=False)
    with pytest.raises(UserError, match="at least two"):
        check_scorable(one, least=2)
    with pytest.raises(UserError, match="at least one"):
        check_scorable(())


def test_look_alikes_by_case_spaces_and_unicode_form() -> None:
    names = ["Billing", "other", "billing ", "BILLING", "Caf\u00e9", "Cafe\u0301"]
    assert look_alikes(names) == [("Billing", "billing ", "BILLING"), ("Caf\u00e9", "Cafe\u0301")]
    assert look_alikes(["Straße", "STRASSE"]) == [("Straße", "STRASSE")]
    assert look_alikes(SEPARATORS) == []


@pytest.mark.parametrize(
    "group",
    [
        ("2", "2.0"),
        ("2", "2,0", "2.00"),
        ("-1", "-1.0"),
        ("late", "late\u200b", "Late\ufeff"),
        ("la\u00adte", "late"),
        ("very late", "very\u00a0late", "very  late"),
    ],
)
def test_look_alikes_by_how_a_number_is_written_and_by_what_nobody_sees(group: tuple[str, ...]) -> None:
    assert look_alikes(["other", *group]) == [group]


def test_other_numbers_do_not_look_alike() -> None:
    assert look_alikes(["2", "2.5", "20", "2.01", "v2.0", "2.0.0", "02", "1,000", "1"]) == []


def test_one_rule_tells_labels_apart() -> None:
    assert label_key(" A\n") == label_key("A") != label_key("a")
    assert [label.name for label in distinct_labels(["A ", "B", "A", "\u200b", " A", "b"])] == [
        "A ",
        "B",
        "b",
    ]


@pytest.mark.parametrize("text", ["half \ud83d", "Caf\udce9"])
def test_half_a_character_is_no_label(text: str) -> None:
    for label in (Label(text), Label("a", text), Label("a", synonyms=("b", text)), Label("a", shortcut=text)):
        with pytest.raises(UserError, match="not valid UTF-8") as caught:
            clean_labels([label, Label("c")])
        str(caught.value).encode()


def test_names_without_meaning() -> None:
    codes = ["1", "3.5", "A", "A1", "Q7", "x_12", "label 3", "Topic B", "LABEL_0", "--", "№ 5"]
    words = ["HR", "IT", "COVID19", "Web 2.0", "好", "Class action", "topical", "5 stars", "مال"]
    assert meaningless(codes + words) == codes


def test_distinct_values_in_first_seen_order() -> None:
    values = ["NA", "b", "", None, "a", "b", " ", "null", "billing ", "Billing"]
    assert [label.name for label in distinct_labels(values)] == [
        "NA",
        "b",
        "a",
        "null",
        "billing ",
        "Billing",
    ]


@pytest.mark.parametrize(
    ("name", "parent", "top"),
    [
        ("Billing", None, "Billing"),
        ("Billing > Refund", "Billing", "Billing"),
        ("A > B > C", "A > B", "A"),
        ("a>b", None, "a>b"),
        (" > b", None, " > b"),
        ("a > ", None, "a > "),
        ("5 > 3 > ", None, "5 > 3 > "),
    ],
)
def test_parents_are_a_way_of_naming(name: str, parent: str | None, top: str) -> None:
    assert parent_of(name) == parent
    assert roll_up([name]) == {name: top}


def test_names_that_look_the_same_are_merged_into_the_given_or_the_commonest_one() -> None:
    rows = {"Late": 2, "late": 5, " late": 1, "Damaged": 1, "Lost": 3}
    assert merged_names(rows) == dict.fromkeys(("Late", "late", " late"), "late")
    assert merged_names(rows, ["LATE", "Damaged"]) == dict.fromkeys(("LATE", "Late", "late", " late"), "LATE")
    assert merged_names({"Late": 1, "Lost": 1}) == {}


@pytest.mark.parametrize("name", ["x" * 3000, "\ud83d" + "x" * 3000])
def test_messages_do_not_repeat_a_text_of_pages(name: str) -> None:
    with pytest.raises(UserError) as caught:
        clean_labels([name, name])
    assert len(str(caught.value)) < 200
