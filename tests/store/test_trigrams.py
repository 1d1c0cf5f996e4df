"""The records of the search index give back what they were made of, in each of their forms."""

from __future__ import annotations

import random

import numpy as np
import pytest

from sce_desktop.store.content import trigrams


@pytest.mark.parametrize("letters", ["ab", "abcdefghij", "aé日x\n\0", "".join(map(chr, range(97, 123)))])
def test_records_name_the_rows_that_have_a_trigram(letters: str) -> None:
    choose = random.Random(len(letters))
    texts = ["".join(choose.choices(letters, k=choose.randint(0, 9))) for _ in range(3_000)]
    places = np.arange(len(texts), dtype=np.uint32) * 5 + 7
    half = len(texts) // 2
    parts = [trigrams.pairs(texts[:half], places[:half]), trigrams.pairs(texts[half:], places[half:])]
    records = dict(trigrams.records(3, trigrams.joined(parts)))
    rows: dict[int, list[int]] = {}
    for place, text in zip(places.tolist(), texts, strict=True):
        for code in set(trigrams.codes_of(text, 100)):
            rows.setdefault(code, []).append(place)
    assert set(records) == {trigrams.record_id(3, code) for code in rows}
    for code, wanted in rows.items():
        found = trigrams.rows_of(records[trigrams.record_id(3, code)])
        assert np.flatnonzero(found).tolist() == wanted


def test_records_made_in_slices_are_those_made_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = random.Random(5)
    texts = ["".join(choose.choices("abcde aé日", k=choose.randint(0, 60))) for _ in range(900)]
    places = np.arange(len(texts), dtype=np.uint32)
    parts = [trigrams.pairs(texts[n : n + 300], places[n : n + 300]) for n in (0, 300, 600)]
    whole = trigrams.records(2, trigrams.joined(parts))
    assert list(trigrams.records_of(2, parts)) == [whole]
    assert list(trigrams.records_of(2, [])) == [[]]
    monkeypatch.setattr(trigrams, "_AT_ONCE", 3_000)
    slices = list(trigrams.records_of(2, parts))
    assert len(slices) > 8
    assert [record for some in slices for record in some] == whole


@pytest.mark.parametrize("count", [1, 2, 64, 65, 300, 1_983, 1_984, 8_000, trigrams.BLOCK])
def test_each_form_of_a_record(count: int) -> None:
    rows = np.sort(np.random.default_rng(count).choice(trigrams.BLOCK, count, replace=False))
    ((number, record),) = trigrams.records(0, (5 << trigrams.BITS | rows).astype(np.uint32))
    assert number == 5
    assert np.flatnonzero(trigrams.rows_of(record)).tolist() == rows.tolist()
    assert len(record) <= min(1 + 2 * count + 64, 1 + trigrams.BLOCK // 8)


@pytest.mark.parametrize(
    "record",
    [b"", b"\0", b"\0a", b"\0\xff\xff", b"\1" + bytes(70), b"\1" + b"\xff" * 99, b"\2ab", b"\3ab", "text", 7],
)
def test_what_is_no_record_is_refused(record: object) -> None:
    with pytest.raises(trigrams.DamagedRecordError):
        trigrams.rows_of(record)


def test_all_records_of_a_code_are_read_at_once() -> None:
    """Every form, blocks without a record among them."""
    rng = np.random.default_rng(0)
    counts = {0: 1, 1: 64, 3: 65, 4: 1_983, 5: 1_984, 7: trigrams.BLOCK, 8: 300, 9: 2}
    records = []
    for block, count in counts.items():
        rows = np.sort(rng.choice(trigrams.BLOCK, count, replace=False))
        records.append(trigrams.records(block, (5 << trigrams.BITS | rows).astype(np.uint32))[0][1])
    found = trigrams.rows_of_blocks(np.array(list(counts)), records, 10).reshape(10, trigrams.BLOCK)
    for block in range(10):
        wanted = np.zeros(trigrams.BLOCK, bool)
        if block in counts:
            wanted = trigrams.rows_of(records[list(counts).index(block)])
        assert np.array_equal(found[block], wanted)


@pytest.mark.parametrize(
    "record", [b"", b"\0a", b"\0\xff\xff", b"\1" + bytes(70), b"\1" + b"\xff" * 99, b"\2ab", b"\3ab", "text"]
)
def test_one_damaged_record_among_others_is_refused(record: object) -> None:
    sound = trigrams.records(0, np.array([5 << trigrams.BITS | 7], np.uint32))[0][1]
    with pytest.raises(trigrams.DamagedRecordError):
        trigrams.rows_of_blocks(np.arange(3), [sound, record, sound], 3)
