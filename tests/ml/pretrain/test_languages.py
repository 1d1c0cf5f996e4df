"""Label names in other languages, senses with labels in many, a frozen table in 4-bit blocks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.encoder.quantised import QuantisedTable, quantised
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.pretrain import run
from sce_desktop.research.pretrain.config import DataConfig, SamplerConfig
from sce_desktop.research.pretrain.sampler import Sampler
from sce_desktop.research.pretrain.sets import TrainingData, read_training_data
from sce_desktop.research.pretrain.training_data import StringTable, make_dictionary, make_translations
from tests.ml.pretrain.conftest import TOPICS, _write

NAMES = {
    "Late delivery": ["späte Lieferung", "livraison en retard"],
    "damaged box": ["kaputte Kiste", "boîte abîmée"],
    "refund money": ["Geld zurück", ""],
    "sports": ["Sport", "sport"],
}
SENSES = [
    {
        "t": "a broken box",
        "p": {"eng": [["box"], ["thing"]], "deu": [["Kiste", "Schachtel"], ["Ding"]], "fra": [["boîte"]]},
        "d": {"deu": "ein Behälter mit Deckel"},
    },
    {"t": "a person who drives", "p": {"eng": [["driver"]], "deu": [["Fahrer"]]}, "d": {"ell": "που οδηγεί"}},
]


@pytest.fixture
def training_data(world: Path) -> TrainingData:
    (world / "names.json").write_text(json.dumps({"labels": NAMES}), encoding="utf-8")
    with gzip.open(world / "senses.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps(sense) + "\n" for sense in SENSES))
    config = DataConfig(wordnet="glosses.jsonl", translations="names.json", dictionary="senses.jsonl.gz")
    return read_training_data(config, world)


def test_translations_stand_by_number_whatever_the_case() -> None:
    labels = StringTable()
    numbers = [labels.add(name) for name in ("late delivery", "unknown", "Refund money")]
    table = make_translations(NAMES, labels)
    assert len(table) == len(labels)
    assert [labels.strings[n] for n in table[numbers[0]]] == ["späte Lieferung", "livraison en retard"]
    assert table[numbers[1]].tolist() == [-1, -1]
    assert labels.strings[table[numbers[2], 0]] == "Geld zurück"
    assert table[numbers[2], 1] == -1
    assert (table[len(numbers) :] == -1).all()  # a translation has none of its own


def _strings(training_data: TrainingData, labels: np.ndarray) -> list[str]:
    return [training_data.labels.strings[n] for n in labels if n >= 0]


def test_a_group_is_put_into_one_language_and_nothing_else_changes(training_data: TrainingData) -> None:
    base = SamplerConfig(
        groups=8, rows=8, wordnet=0.0, synonyms=0.0, distractors=0.0, all_labels=1.0, cut=0.0
    )
    plain = Sampler(training_data.train, training_data.glosses, base, seed=3)
    config = SamplerConfig(**{**base.__dict__, "translated": 1.0})
    other = Sampler(
        training_data.train, training_data.glosses, config, translations=training_data.translations, seed=3
    )
    german, french = ({own[i] for own in NAMES.values()} for i in (0, 1))
    seen: set[str] = set()
    for step in range(20):
        batch, as_before = other.batch(step), plain.batch(step)
        assert (batch.labels >= 0).sum() > 0
        for labels in batch.labels:
            names = _strings(training_data, labels)
            assert len(set(names)) == len(names)
            seen |= set(names)
        assert batch.mask.shape[:2] == as_before.mask.shape[:2]
    assert seen & german
    assert seen & french
    assert "politics" in seen  # has no translation
    assert "refund money" in seen  # has none in French


def test_two_labels_that_would_become_one_stay_as_they_are(training_data: TrainingData) -> None:
    table = training_data.translations
    assert table is not None
    a, b = (training_data.labels.strings.index(name) for name in ("sports", "politics"))
    table[b] = table[a]
    sampler = Sampler(training_data.train, None, SamplerConfig(), translations=table)
    for seed in range(10):
        found = sampler._translate(np.array([a, b, a]), np.random.default_rng(seed))
        if found[0] == found[1]:
            raise AssertionError("two labels became one")
        assert found[0] == found[2]


def test_senses_by_language_of_their_labels() -> None:
    texts, labels = StringTable(), StringTable()
    german, english, french = make_dictionary(SENSES, texts, labels)  # deu, eng, fra

    def rows(found) -> list[tuple[str, list[str]]]:  # type: ignore[no-untyped-def]
        return [
            (texts.strings[text], [labels.strings[n] for n in right[:count]])
            for text, right, count in zip(found.texts, found.right.values, found.right.counts, strict=True)
        ]

    assert rows(german) == [
        ("a broken box", ["Kiste", "Schachtel", "Ding"]),
        ("ein Behälter mit Deckel", ["Kiste", "Schachtel", "Ding"]),
        ("a person who drives", ["Fahrer"]),
    ]
    assert german.own.tolist() == [2, 2, 1]
    assert rows(english) == [("ein Behälter mit Deckel", ["box", "thing"]), ("που οδηγεί", ["driver"])]
    assert rows(french) == [("a broken box", ["boîte"])]


def test_groups_of_the_dictionary_have_labels_of_one_language(training_data: TrainingData) -> None:
    config = SamplerConfig(groups=16, rows=8, wordnet=0.0, dictionary=1.0)
    batch = Sampler(training_data.train, None, config, dictionary=training_data.dictionary, seed=1).batch(0)
    german, english = {"Kiste", "Schachtel", "Ding", "Fahrer"}, {"box", "thing", "driver"}
    kinds = [set(_strings(training_data, labels)) for labels in batch.labels]
    assert all(names <= german or names <= english or names == {"boîte"} for names in kinds)
    assert any(names <= german for names in kinds)
    assert np.take_along_axis(batch.mask, batch.right[..., None], 2).all()


def test_sets_of_other_folders_are_looked_at_and_calibrate_nothing(world: Path) -> None:
    _write(world / "multilingual" / "other.jsonl.gz", TOPICS, 20, 5)
    found = read_training_data(DataConfig(validated_in=("validation", "multilingual")), world).validation
    assert {one.name: one.calibrates for one in found} == {"more": True, "other": False}
    with pytest.raises(UserError, match="no set nowhere to choose by"):
        read_training_data(DataConfig(validation=("nowhere",)), world)


def test_training_from_blocks_leaves_them_as_they_are(world: Path, write_config) -> None:  # type: ignore[no-untyped-def]
    from safetensors.torch import load_file, save_file

    _write(world / "multilingual" / "other.jsonl.gz", TOPICS, 20, 5)
    start = world / "tiny-sentences"
    state = load_file(start / "model.safetensors")
    name = next(k for k in state if k.endswith("word_embeddings.weight"))
    blocks, scales = quantised(state.pop(name))
    state |= {name.replace("weight", "blocks"): blocks, name.replace("weight", "scales"): scales}
    save_file(state, start / "model.safetensors")
    config = json.loads((start / "config.json").read_text()) | {"token_bits": 4}
    (start / "config.json").write_text(json.dumps(config))
    members = "[average]\nrefit_steps = 0\n" + "".join(
        f"[average.members.{name}]\noptim = {{ seed = {seed} }}\n" for seed, name in enumerate("ab")
    )
    path = write_config(steps=4, more=members)
    text = path.read_text().replace(
        "max_tokens = 32", 'max_tokens = 32\nvalidated_in = ["validation", "multilingual"]'
    )
    path.write_text(text)
    run(path, world / "out", progress=SilentProgress())
    model = SCEModel.from_pretrained(world / "out")
    assert isinstance(model.embedder.tokens, QuantisedTable)
    assert torch.equal(model.embedder.tokens.blocks, blocks)
    assert torch.equal(model.embedder.tokens.scales, scales)
    told = json.loads((world / "out" / "training.json").read_text())["members"]["calibration"]
    assert set(told) == {"more", "other"}
