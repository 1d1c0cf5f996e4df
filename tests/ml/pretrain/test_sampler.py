"""What a batch holds: right answers that are right, masks that hide others, the same each time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.research.pretrain.config import DataConfig, SamplerConfig
from sce_desktop.research.pretrain.prefetch import drawn
from sce_desktop.research.pretrain.sampler import Sampler
from sce_desktop.research.pretrain.sets import OTHERS, read_training_data, text_id
from sce_desktop.research.pretrain.training_data import (
    FACETS,
    Lists,
    StringTable,
    make_free_labels,
    make_written,
    parts_of,
)
from tests.ml.pretrain.conftest import TOPICS, _write


@pytest.fixture
def training_data(world: Path):
    return read_training_data(DataConfig(wordings="wordings.json", wordnet="glosses.jsonl"), world)


def _same(one, other) -> bool:
    return all(
        np.array_equal(getattr(one, k), getattr(other, k)) for k in ("texts", "labels", "mask", "right")
    )


def test_a_label_is_worded_as_its_parts_too() -> None:
    assert parts_of("Science and technology (all)")[:4] == [
        "Science and technology (all)",
        "Science and technology",
        "Science",
        "Technology",
    ]
    assert "science" in parts_of("Science and technology")
    assert parts_of("Sports") == ["Sports", "sports"]


def test_the_same_step_gives_the_same_batch_in_any_process(training_data) -> None:
    def make(seed: int) -> Sampler:
        config = SamplerConfig(groups=4, rows=8)
        return Sampler(training_data.train, training_data.glosses, config, seed=seed)

    assert _same(make(1).batch(5), make(1).batch(5))
    assert not _same(make(1).batch(5), make(1).batch(6))
    assert not _same(make(1).batch(5), make(2).batch(5))
    with drawn(make(1), start=3, workers=2) as ahead:
        assert all(_same(next(ahead), make(1).batch(step)) for step in range(3, 7))


@pytest.mark.parametrize("kind", [{"wordnet": 1.0}, {"wordnet": 0.0}, {"wordnet": 0.0, "mixed": 1.0}])
def test_the_right_label_is_never_masked_and_every_label_is_real(training_data, kind) -> None:
    sampler = Sampler(
        training_data.train, training_data.glosses, replace(SamplerConfig(groups=6, rows=16), **kind)
    )
    for step in range(5):
        batch = sampler.batch(step)
        p, t = np.indices(batch.right.shape)
        assert batch.mask[p, t, batch.right].all()
        assert (batch.labels[p, batch.right] >= 0).all()
        assert not (batch.mask & (batch.labels == -1)[:, None]).any()


def test_another_right_label_of_a_gloss_is_masked(training_data) -> None:
    config = SamplerConfig(groups=8, rows=16, wordnet=1.0)
    batch = Sampler(training_data.train, training_data.glosses, config).batch(0)
    texts, labels = training_data.texts.strings, training_data.labels.strings
    right = {"a broken box": {"box", "thing", "parcel"}, "money that goes back": {"refund", "money", "thing"}}
    seen = 0
    for p, t, k in np.ndindex(batch.mask.shape):
        text, label = texts[batch.texts[p, t]], labels[batch.labels[p, k]]
        if label in right.get(text, ()) and k != batch.right[p, t]:
            assert not batch.mask[p, t, k]
            seen += 1
    assert seen > 50


def test_the_label_belongs_to_the_text(training_data) -> None:
    config = SamplerConfig(groups=8, rows=16, wordnet=0.0, synonyms=0.0, distractors=1.0)
    batch = Sampler(training_data.train, training_data.glosses, config).batch(0)
    for p, t in np.ndindex(batch.right.shape):
        label = training_data.labels.strings[batch.labels[p, batch.right[p, t]]]
        text = training_data.texts.strings[batch.texts[p, t]]
        if label == "damaged box":
            assert set(text.split()) <= set(TOPICS[label].split())


def test_test_rows_of_a_train_set_are_held_out(world: Path) -> None:
    _write(world / "train" / "held.jsonl.gz", {"x": "a b c d e f g", "y": "h i j k l m"}, 20, 4, "test")
    with pytest.raises(UserError, match="held"):
        read_training_data(DataConfig(sets=("held",)), world)


def test_missing_set_is_named(world: Path) -> None:
    with pytest.raises(UserError, match="nothing_here"):
        read_training_data(DataConfig(sets=("nothing_here",)), world)


def test_lists_draw_only_what_they_hold() -> None:
    lists = Lists.pack([[1], [2, 3, 4], [5, 6]])
    rows = np.array([0, 1, 2] * 100)
    found = lists.draw(rows, np.random.default_rng(0).random(300), first=1)
    assert set(found[rows == 0]) == {1}
    assert set(found[rows == 1]) == {3, 4}
    assert set(found[rows == 2]) == {6}


def _gold(training_data) -> dict[str, str]:
    return {
        training_data.texts.strings[t]: training_data.labels.strings[s.wordings.values[n, 0]]
        for s in training_data.train
        for n in range(len(s.counts))
        for t in s.texts[s.starts[n] : s.starts[n + 1]]
    }


def test_two_labels_merged_are_right_for_the_texts_of_both(training_data) -> None:
    config = SamplerConfig(groups=16, rows=16, wordnet=0.0, synonyms=0.0, distractors=0.0, merged=1.0)
    texts, labels = training_data.texts.strings, training_data.labels.strings
    gold = _gold(training_data)
    merged = {number: row for s in training_data.train for *row, number in s.merged.tolist()}
    parts = {n: {w for m in s.merged.tolist() if m[2] == n for label in m[:2]
                 for w in (labels[i] for i in s.wordings.values[label] if i >= 0)}
             for s in training_data.train for n in s.merged[:, 2].tolist()}  # fmt: skip
    seen = 0
    for step in range(4):
        batch = Sampler(training_data.train, None, config, seed=step).batch(0)
        for p, t in np.ndindex(batch.right.shape):
            number = int(batch.labels[p, batch.right[p, t]])
            if number in merged:
                assert gold[texts[batch.texts[p, t]]] in parts[number]
                seen += 1
            else:
                assert labels[number] == gold[texts[batch.texts[p, t]]]
        assert all(len(set(row[row >= 0])) >= 2 for row in batch.labels)
    assert seen > 20


def test_texts_of_labels_left_out_belong_to_other(training_data) -> None:
    config = SamplerConfig(groups=16, rows=16, wordnet=0.0, synonyms=0.0, distractors=0.0, others=1.0)
    batch = Sampler(training_data.train, None, config, others=training_data.others).batch(0)
    gold, seen = _gold(training_data), 0
    for p, t in np.ndindex(batch.right.shape):
        label = training_data.labels.strings[batch.labels[p, batch.right[p, t]]]
        text = training_data.texts.strings[batch.texts[p, t]]
        offered = {training_data.labels.strings[n] for n in batch.labels[p] if n >= 0}
        topic = gold[text]
        if label in OTHERS:
            assert topic not in offered
            seen += 1
        else:
            assert label == topic
    assert seen > 5


def test_free_labels_that_mean_the_same_never_stand_against_each_other() -> None:
    texts, labels = StringTable(), StringTable()
    lines = [
        ("The match ended two to one.", ["Football match", "Sports", "Athletics", "Report", "Joy"]),
        ("She won the marathon.", ["Marathon", "Sport", "Athletics", "Report", "Pride"]),
        ("Parliament passed the budget.", ["Budget law", "Politics", "Government", "Report", "Neutral"]),
        ("Who wrote Hamlet?", ["Playwright", "Literature", "Books", "Question", "Curiosity"]),
    ]
    owners = [([text], names) for text, names in lines]
    free = make_free_labels(owners, FACETS, text_table=texts, label_table=labels)
    config = SamplerConfig(groups=8, rows=8, wordnet=0.0, free_labels=1.0)
    batch = Sampler([], None, config, free=free).batch(0)
    right = {text: set(names) for text, names in lines}
    against = {frozenset(("Sports", "Sport")), frozenset(("Sport", "Athletics"))}
    judged = 0
    for p, t in np.ndindex(batch.right.shape):
        text = texts.strings[batch.texts[p, t]]
        own = labels.strings[batch.labels[p, batch.right[p, t]]]
        assert own in right[text]
        assert batch.mask[p, t, batch.right[p, t]]
        for k in np.flatnonzero(batch.mask[p, t]):
            other = labels.strings[batch.labels[p, k]]
            assert other == own or other not in right[text]
            assert frozenset((other, own)) not in against
            judged += other != own
    assert judged > 20


def test_a_file_of_free_labels_is_matched_by_text(world: Path) -> None:
    plain = read_training_data(DataConfig(), world)
    text = plain.texts.strings[plain.train[0].texts[0]]
    lines = [
        {"id": text_id(text), "labels": ["Narrow", "Broad", "Wide", "Note"]},
        {"id": "000000000000", "labels": ["Gone"]},
    ]
    (world / "free.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    free = read_training_data(DataConfig(free_labels=("free.jsonl",)), world).free
    assert free is not None
    assert [plain.texts.strings[n] for n in free.texts] == [text]
    assert "Gone" not in read_training_data(DataConfig(free_labels=("free.jsonl",)), world).labels.strings


def test_broader_categories_of_a_set_s_labels_are_right_for_their_texts(world: Path) -> None:
    broader = {
        "parcels": {
            "late delivery": ["Shipping", "Delay"],
            "refund money": ["Payments"],
            "gone": ["Nothing"],
        },
        "news": {"sports": ["Leisure"]},
    }
    (world / "broader.json").write_text(json.dumps(broader))
    training_data = read_training_data(DataConfig(broader="broader.json"), world)
    config = SamplerConfig(groups=8, rows=16, wordnet=0.0, broader=1.0)
    batch = Sampler(training_data.train, None, config, broader=training_data.broader).batch(0)
    gold = _gold(training_data)
    for p, t in np.ndindex(batch.right.shape):
        label = training_data.labels.strings[batch.labels[p, batch.right[p, t]]]
        own = gold[training_data.texts.strings[batch.texts[p, t]]]
        assert label in broader.get("parcels", {}).get(own, []) + broader["news"].get(own, [])
    assert len({int(n) for n in batch.labels.ravel()} - {-1}) == 4


WRITTEN = [
    {
        "kind": "news",
        "labels": [
            ["Sport", "Games and matches", "they won 3 to 1", "a tie break"],
            ["Economy", "Business", "prices rise", "shares fall"],
            ["Sport politics", "Federations", "the federation votes", "a new president of the league"],
        ],
    },
    {
        "kind": "shop",
        "labels": [
            ["Refund", "Money back", "i want my money", "pay me back"],
            ["Sporting goods", "Gear", "this racket broke", "shoes too small"],
        ],
    },
]


def _written(lines: list, **kind: float) -> tuple:
    texts, labels = StringTable(), StringTable()
    written = make_written(lines, text_table=texts, label_table=labels)
    config = SamplerConfig(groups=24, rows=16, wordnet=0.0, written=1.0, **kind)
    return texts.strings, labels.strings, Sampler([], None, config, written=written)


def test_a_written_text_has_its_own_label_and_sees_its_own_set() -> None:
    texts, labels, sampler = _written(WRITTEN, all_labels=1.0)
    right = {text: {name, other} for line in WRITTEN for name, other, *own in line["labels"] for text in own}
    sets = [{word.casefold() for label in line["labels"] for word in label[:2]} for line in WRITTEN]
    of_text = {text: i for i, line in enumerate(WRITTEN) for _, _, *own in line["labels"] for text in own}
    both = 0
    for step in range(4):
        batch = sampler.batch(step)
        for p, t in np.ndindex(batch.right.shape):
            text = texts[batch.texts[p, t]]
            assert labels[batch.labels[p, batch.right[p, t]]].casefold() in {
                w.casefold() for w in right[text]
            } | {part.casefold() for w in right[text] for part in parts_of(w)}
            names = [labels[n].casefold() for n in batch.labels[p][batch.mask[p, t]]]
            assert len(set(names) & sets[of_text[text]]) >= len(WRITTEN[of_text[text]]["labels"])
            both += len(set(names) & sets[1 - of_text[text]]) > 0
    assert both > 100  # sets stand side by side, as each other's distractors


def test_labels_of_two_written_sets_that_share_a_stem_never_stand_against_each_other() -> None:
    texts, labels, sampler = _written(WRITTEN, all_labels=1.0, synonyms=0.0)
    seen = 0
    for step in range(4):
        batch = sampler.batch(step)
        for p, t in np.ndindex(batch.right.shape):
            if texts[batch.texts[p, t]] == "this racket broke":
                names = {labels[n] for n in batch.labels[p][batch.mask[p, t]]}
                assert "Sport" not in names
                seen += "Economy" in names
    assert seen > 5


def test_written_sets_are_read_with_the_rest(world: Path) -> None:
    path = world / "written.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in WRITTEN), encoding="utf-8")
    training_data = read_training_data(
        DataConfig(wordings="wordings.json", written=("written.jsonl",)), world
    )
    assert training_data.written is not None
    assert len(training_data.written.label_starts) == 3
    path.write_text('{"kind": "news"}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"written\.jsonl is not a file of label sets"):
        read_training_data(DataConfig(wordings="wordings.json", written=("written.jsonl",)), world)
