from __future__ import annotations

import tracemalloc
import unicodedata
from collections.abc import Iterator, Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.runs import large_arrays
from sce_desktop.tasks.insight import neighbours
from sce_desktop.tasks.insight.neighbours import copies, near_copies, similar, suspects
from tests.tasks.fakes import StoppingProgress


def lists(groups: list[np.ndarray]) -> list[list[int]]:
    return [group.tolist() for group in groups]


def test_similar_is_exact_whatever_the_lengths() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((5000, 24)).astype(np.float32) * rng.uniform(0.1, 9, (5000, 1))
    vectors = vectors.astype(np.float32)
    vectors[7] = 0
    places, cosines = similar(vectors, vectors[42], 10)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    expected = unit @ unit[42]
    assert places[0] == 42
    assert places.tolist() == np.argsort(-expected)[:10].tolist()
    assert cosines == pytest.approx(expected[places], abs=1e-5)


def test_similar_with_few_rows() -> None:
    assert similar(np.ones((2, 3), dtype=np.float32), np.ones(3, dtype=np.float32), 20)[0].tolist() == [0, 1]
    assert similar(np.ones((0, 3), dtype=np.float32), np.ones(3, dtype=np.float32))[0].tolist() == []


def test_copies_but_for_case_spaces_and_punctuation() -> None:
    texts = [
        "Late  delivery!",
        "other",
        "late delivery",
        " ",
        "",
        "Café",
        "Cafe\u0301",
        "LATE, delivery",
        "??",
        "!!",
    ]
    assert lists(copies(texts)) == [[0, 2, 7], [5, 6]]


NEAR = [
    "The parcel came two weeks late and nobody answered my letters about it.",
    "the parcel came two weeks late, and nobody answered my letter about it",
    "The refund was paid at once, thank you very much for the quick help.",
    "The parcel came two weeks late and nobody answered my letters about it!",
    "包裹晚了两个星期才到，没有人回复我的信件，真的很失望。",
    "包裹晚了两个星期才到，没有人回复我的信，真的很失望。",
    "",
]


def test_near_copies_in_any_language() -> None:
    assert lists(near_copies(NEAR, progress=SilentProgress())) == [[0, 1, 3], [4, 5]]
    assert lists(near_copies(NEAR, similarity=1.0, progress=SilentProgress())) == [[0, 3]]
    assert near_copies([], progress=SilentProgress()) == []


def test_near_copies_are_found_and_nothing_else() -> None:
    """Against comparing every pair by hand."""
    from rapidfuzz import fuzz

    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghij"), 6)) for _ in range(300)]
    texts = [" ".join(rng.choice(words, 14)) for _ in range(120)]
    for place in range(0, 120, 3):  # one word of fourteen is another
        parts = texts[place].split()
        parts[int(rng.integers(14))] = "changed"
        texts.append(" ".join(parts))
    found = {tuple(pair) for group in near_copies(texts, progress=SilentProgress()) for pair in _pairs(group)}
    truth = {
        (a, b)
        for a in range(len(texts))
        for b in range(a + 1, len(texts))
        if fuzz.ratio(texts[a], texts[b]) >= 90
    }
    assert len(truth) >= 35
    assert len(found & truth) >= 0.95 * len(truth)
    assert found <= truth


def _pairs(group: np.ndarray) -> list[tuple[int, int]]:
    return [(a, b) for i, a in enumerate(group.tolist()) for b in group.tolist()[i + 1 :]]


def template(number: int) -> str:
    """Texts that share so much that all are candidates for each other, and are no near copies."""
    rng = np.random.default_rng(number)
    words = " ".join("".join(rng.choice(list("abcdefghijklmnop"), 7)) for _ in range(5))
    return f"Dear customer, thank you for your message about {words}. We have passed it on to the team there."


@pytest.mark.parametrize("first", [0, 75, 150])
def test_a_copy_is_found_among_many_candidates_wherever_it_stands(first: int) -> None:
    """Of 150 texts of one template the 50 first were compared, and no others."""
    texts = [template(number) for number in range(150)]
    copy = template(500)
    texts.insert(first, copy)
    texts.append(copy.replace("thank you", "thank yo"))  # 99 %
    assert lists(near_copies(texts, progress=SilentProgress())) == [[first, 151]]


def grouped(texts: Sequence[str], similarity: float = 0.9) -> set[frozenset[str]]:
    """The groups by what is in them; the same text twice is told apart by its places."""
    named = [f"{text} #{texts[:place].count(text)}" for place, text in enumerate(texts)]
    groups = near_copies(texts, similarity=similarity, progress=SilentProgress())
    assert [len(group) for group in groups] == sorted((len(group) for group in groups), reverse=True)
    return {frozenset(named[place] for place in group) for group in groups}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("similarity", [0.8, 0.9, 0.95])
def test_groups_do_not_depend_on_the_order_of_the_rows(seed: int, similarity: float) -> None:
    """With more candidates than are compared, among them many that share as much, copies and blanks."""
    rng = np.random.default_rng(seed)
    texts = [template(number) for number in range(70)] + ["", " ", "A b!", "a B", "x" * 5000, "x" * 5001]
    for number in range(0, 70, 2):
        text = list(texts[number])
        for at in rng.integers(len(text), size=rng.integers(0, 9)):
            text[at] = "z"
        texts.append("".join(text))
    expected = grouped(texts, similarity)
    assert len(expected) >= 3
    for _ in range(3):
        assert grouped([texts[place] for place in rng.permutation(len(texts))], similarity) == expected
    assert grouped(texts[::-1], similarity) == expected


@settings(max_examples=30, deadline=None, database=None)
@given(st.data())
def test_any_texts_in_any_order_give_the_same_groups(data: st.DataObject) -> None:
    words = st.sampled_from(["late", "parcel", "lost", "refund", "naïve", "包裹"])
    some = st.lists(words, min_size=4, max_size=12).map(" ".join)
    texts = data.draw(st.lists(some, min_size=2, max_size=70, unique=True))
    mixed = data.draw(st.permutations(texts))
    assert grouped(texts) == grouped(mixed)


def test_hashes_of_very_many_texts_are_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [template(number) for number in range(80)]
    texts += [text.replace("thank you", "thank yo") for text in texts[::3]]
    held = near_copies(texts, progress=SilentProgress())
    made = list[np.ndarray]()

    def noted(shape: tuple[int, ...], kind: type[np.generic]) -> np.ndarray:
        made.append(large_arrays.large(shape, kind))
        return made[-1]

    monkeypatch.setattr(large_arrays, "_MOST", 1000)
    monkeypatch.setattr(neighbours, "large", noted)
    assert lists(near_copies(texts, progress=SilentProgress())) == lists(held)
    assert [isinstance(array, np.memmap) for array in made] == [True]
    assert len(held) == 27


class Noting(SilentProgress):
    """Notes what Python holds whenever texts are compared."""

    def __init__(self) -> None:
        self.held: list[int] = []

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Note it."""
        if stage == "comparing texts":
            self.held.append(tracemalloc.get_traced_memory()[0])


def test_texts_are_not_held_while_they_are_compared() -> None:
    count, length = 1_002, 1_000  # the last batch, of which all is there, has two
    near_copies(["brings", "its libraries"], progress=SilentProgress())

    def texts() -> Iterator[str]:
        rng = np.random.default_rng(0)
        letters = list("abcdefghijklmnopqrst")
        for _ in range(count // 2):
            text = "".join(rng.choice(letters, 8)) * (length // 8)
            yield text
            yield text[:-1]

    noting = Noting()
    tracemalloc.start()
    try:
        found = near_copies(texts(), progress=noting)
    finally:
        tracemalloc.stop()
    assert len(found) == count // 2
    assert noting.held
    assert max(noting.held) < count * length / 2


def test_texts_that_are_alone_have_no_arrays_of_their_own() -> None:
    numbers = np.arange(20_000, dtype=np.int32)
    numbers[-1] = 7
    tracemalloc.start()
    try:
        found = neighbours._groups(numbers)
        _now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lists(found) == [[7, 19_999]]
    assert most < 60 * len(numbers)  # an array alone takes twice as much


def test_near_copies_can_be_stopped() -> None:
    with pytest.raises(Cancelled):
        near_copies([f"text {n} and more" for n in range(5000)], progress=StoppingProgress(2))


def clusters(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((4, 16))
    labels = np.repeat(np.arange(4), 50)
    vectors = centres[labels] + rng.standard_normal((200, 16)) * 0.3
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), labels


def test_wrong_labels_are_found_with_the_right_one_proposed() -> None:
    vectors, labels = clusters()
    wrong = np.asarray([3, 60, 110, 160, 199])
    given = labels.copy()
    given[wrong] = (labels[wrong] + 1) % 4
    found = suspects(vectors, given, 6)
    assert set(wrong) <= set(found.places.tolist())
    assert len(found.places) <= 10
    first = found.places[: len(wrong)]
    assert set(first) == set(wrong)
    assert found.proposed[: len(wrong)].tolist() == labels[first].tolist()
    assert found.given[: len(wrong)].tolist() == given[first].tolist()
    assert (np.diff(found.confidence) >= 0).all()
    assert found.too_few == ()


def test_labels_with_few_rows_are_reported_and_left_out() -> None:
    vectors, labels = clusters()
    few = labels.copy()
    few[:3] = 5
    found = suspects(vectors, few, 6)
    assert found.too_few == (5,)
    assert not set(found.places.tolist()) & {0, 1, 2}
    nothing = suspects(vectors[:4], np.asarray([0, 1, 2, 3]), 6)
    assert nothing.places.tolist() == []
    assert nothing.too_few == (0, 1, 2, 3)


def test_copies_in_any_language() -> None:
    texts = [
        "包裹破损了！",
        "包裹破损了",
        "दिन अच्छा",  # differs from the next in vowel signs alone: other words
        "दीन अच्छा",
        "وصلت الشحنة",
        "وصلـــت الشُّحنة.",
        "배송이 늦어요",
        unicodedata.normalize("NFD", "배송이 늦어요"),
        "ﾊﾞｽ ＡＢＣ",
        "バス abc",
    ]
    assert lists(copies(texts)) == [[0, 1], [4, 5], [6, 7], [8, 9]]


def test_near_copies_without_spaces() -> None:
    one = "昨日届いた荷物の箱が潰れていて、中の皿も割れていました。返金をお願いします。"
    texts = [
        one,
        one.replace("昨日", "今日"),
        "アプリにログインできません。パスワードも変更できません。助けてください。",
    ]
    assert lists(near_copies(texts, progress=SilentProgress())) == [[0, 1]]
