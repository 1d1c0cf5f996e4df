"""The paper's architecture and data with small parts; what of `pretrain` is there for it alone."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop import paths
from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.hub import installing
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.sce import LabelVectors
from sce_desktop.research.pretrain import run
from sce_desktop.research.pretrain.build import Builder
from sce_desktop.research.pretrain.config import DataConfig, SamplerConfig, parse_config, read_config
from sce_desktop.research.pretrain.sampler import Sampler
from sce_desktop.research.pretrain.sets import read_training_data
from tests.ml.tiny import tiny_sentence_transformer

PRESETS = paths.resources_dir() / "pretrain"
NAMES = {
    "bbc_news": {"Sport": "sport", "Business": "business"},
    "huffpost": {"Sports": "Sports", "Business": "Business", "Crime": None},
    "mind_news": {"Movies": "entertainment", "TV": "entertainment", "Entertainment": "entertainment"},
    "nyt_sections": {"Food and dining": "Food", "Books": None, "Fashion": "Style", "Style": "Style"},
}
WORDINGS = {
    "mind_news": {"Movies": ["films"], "TV": ["shows"], "Entertainment": ["stars"]},
    "nyt_sections": {"Food and dining": ["cooking"], "Books": ["novels"]},
}


@pytest.fixture
def paper_world(tmp_path: Path) -> Path:
    """The presets beside a tiny folder of the paper's sets, 40 rows a label."""
    for name, labels in NAMES.items():
        path = tmp_path / "data" / "train" / f"{name}.jsonl.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as file:
            for label in labels:
                for i in range(40):
                    text = f"{label} {name} of the day and week {i}"
                    split = "test" if i % 5 == 0 else "train"
                    file.write(json.dumps({"text": text, "label": label, "split": split}) + "\n")
    validation = tmp_path / "data" / "validation"
    validation.mkdir()
    with gzip.open(validation / "wire.jsonl.gz", "wt", encoding="utf-8") as file:
        for label in ("sports", "politics"):
            row = {"text": f"a day of {label}", "label": label, "split": "validation"}
            file.write(json.dumps(row) + "\n")
    (tmp_path / "data" / "paper_labels.json").write_text(json.dumps(NAMES), encoding="utf-8")
    (tmp_path / "wordings.json").write_text(json.dumps(WORDINGS), encoding="utf-8")
    return tmp_path


def _data(**more: object) -> DataConfig:
    raw = {"folder": "data", "label_names": "data/paper_labels.json", "wordings": "wordings.json", **more}
    return parse_config({"data": raw}).data


def test_it_is_what_the_paper_says() -> None:
    small, papers = read_config(PRESETS / "paper-minilm.toml"), read_config(PRESETS / "paper.toml")
    m, o, x = small.model, small.optim, small.mixture
    assert (m.architecture, m.attention, m.layers, m.train_embedder) == ("paper", "joint", 0, False)
    assert (m.embedder, m.label_encoder, m.score_scale) == ("all-MiniLM-L6-v2", "", 1.0)
    assert (o.weight_decay, o.cosine_loss, o.noise) == (1e-4, 0, 0)
    assert 1e-6 <= o.head_learning_rate <= 1e-5
    assert (x.rows, x.reworded, x.row_share, x.all_labels) == (1, "right", 1.0, 1.0)
    assert x.synonyms > 0
    assert (x.wordnet, x.mixed, x.distractors) == (0, 0, 0)
    assert small.data.sets == papers.data.sets
    assert small.data.held_out == pytest.approx(5325 / 21325, abs=0.001)


def test_the_open_one_differs_in_what_it_is_trained_on_alone() -> None:
    few, many = read_config(PRESETS / "paper-minilm.toml"), read_config(PRESETS / "paper-minilm-open.toml")
    assert (many.model.architecture, many.model.attention, many.model.layers) == ("paper", "joint", 0)
    assert many.model.embedder == few.model.embedder
    assert not many.model.train_embedder
    assert many.data.sets == read_config(PRESETS / "sce-mini.toml").data.sets
    assert many.data.wordnet


def test_it_trains_on_tiny_stand_ins(paper_world: Path) -> None:
    installing.add(tiny_sentence_transformer(paper_world, name="start"), name="tiny")
    config = (PRESETS / "paper-minilm.toml").read_text(encoding="utf-8")
    config = config.replace('embedder = "all-MiniLM-L6-v2"', 'embedder = "tiny"')
    for key, value in {"steps": 6, "groups": 16, "validate_every": 3}.items():
        config = re.sub(rf"^{key} = \d+", f"{key} = {value}", config, flags=re.MULTILINE)
    path = paper_world / "paper-minilm.toml"
    path.write_text(config, encoding="utf-8")
    done = run(path, paper_world / "out", progress=SilentProgress())
    assert done.finished
    assert set(done.validation) == {*(f"{name}_seen" for name in NAMES), "wire"}
    facts = json.loads((paper_world / "out" / "training.json").read_text(encoding="utf-8"))
    trace = facts["members"]["model"]
    assert trace["steps"] == [3, 6]
    assert all(loss > 0 for loss in trace["losses"])
    model = SCEModel.from_pretrained(paper_world / "out")
    assert (model.config.sce.architecture, model.config.sce.attention) == ("paper", "joint")
    three = [Label("sports"), Label("business"), Label("health")]
    found = model.probabilities(["the team won"], three).probabilities
    turned = model.probabilities(["the team won"], three[::-1]).probabilities
    np.testing.assert_allclose(found[:, ::-1], turned, atol=1e-5)


def test_labels_take_the_other_names_with_their_synonyms(paper_world: Path) -> None:
    training_data = read_training_data(_data(sets=["mind_news", "nyt_sections"]), paper_world)
    mind, nyt = training_data.train

    def words(one, row: int) -> set[str]:
        return {training_data.labels.strings[n] for n in one.wordings.values[row] if n >= 0}

    assert words(mind, 0) == {"entertainment", "stars"}  # a label of that name was there: its own alone
    assert len(mind.texts) == 3 * 32
    assert words(nyt, 0) == {"Food", "food", "cooking"}  # "Books" is dropped
    assert words(nyt, 1) == {"Style", "style"}
    assert len(nyt.texts) == 3 * 32


def test_a_label_without_another_name_is_named(paper_world: Path) -> None:
    names = {"bbc_news": {"Sport": "sport"}}
    (paper_world / "data" / "paper_labels.json").write_text(json.dumps(names), encoding="utf-8")
    with pytest.raises(UserError, match="no name for “Business” of bbc_news"):
        read_training_data(_data(sets=["bbc_news"]), paper_world)


def test_rows_held_out_are_validated_by_and_not_trained_on(paper_world: Path) -> None:
    training_data = read_training_data(_data(held_out=0.25), paper_world)
    aside = {one.name: one for one in training_data.validation}
    assert set(aside) == {*(f"{name}_seen" for name in NAMES), "wire"}
    assert not aside["wire"].calibrates
    for one in training_data.train:
        seen = aside[f"{one.name}_seen"]
        assert seen.calibrates
        assert len(seen.texts) == pytest.approx(0.25 * (len(seen.texts) + len(one.texts)), abs=0.5)
        assert not set(seen.texts) & set(one.texts.tolist())
        for text, right in zip(seen.texts, seen.right, strict=True):
            old = training_data.texts.strings[text].split(f" {one.name}")[0]
            assert training_data.labels.strings[seen.labels[right]] == NAMES[one.name][old]


def test_only_the_right_label_is_reworded(paper_world: Path) -> None:
    training_data = read_training_data(_data(sets=["nyt_sections"]), paper_world)
    config = SamplerConfig(
        groups=60, rows=1, wordnet=0, distractors=0, all_labels=1, synonyms=1, reworded="right", cut=0
    )
    batch = Sampler(training_data.train, None, config).batch(0)
    own = {training_data.labels.add(name) for name in ("Food", "Style")}
    right = np.take_along_axis(batch.labels, batch.right, 1)
    wrong = np.take_along_axis(batch.labels, 1 - batch.right, 1)
    assert set(wrong.ravel().tolist()) == own
    assert not set(right.ravel().tolist()) & own


def test_a_row_share_of_one_draws_rows_as_they_come(paper_world: Path) -> None:
    training_data = read_training_data(_data(sets=["bbc_news", "mind_news"]), paper_world)
    shape = {"groups": 4000, "rows": 1, "wordnet": 0, "distractors": 0, "cut": 0}
    as_they_come = Sampler(training_data.train, None, SamplerConfig(row_share=1.0, **shape)).batch(0)
    mind = np.isin(as_they_come.texts, training_data.train[1].texts).mean()
    assert mind == pytest.approx(96 / 160, abs=0.03)


@pytest.mark.parametrize("scale", [0.05, 0.5])
def test_scores_begin_as_small_as_asked(paper_world: Path, scale: float) -> None:
    tiny_sentence_transformer(paper_world, name="tiny")
    model = {"embedder": "tiny", "architecture": "paper", "attention": "joint", "train_embedder": False}
    raw = {"model": model, "data": {"folder": "data", "sets": ["bbc_news"]}}
    scores = []
    for factor in (1.0, scale):
        config = parse_config(raw | {"model": model | {"score_scale": factor}})
        training_data = read_training_data(config.data, paper_world)
        torch.manual_seed(0)
        head = (
            Builder.from_config(config, training_data, paper_world, torch.device("cpu")).head(config).eval()
        )
        q = torch.linspace(-1, 1, 3 * head.config.text_width).view(3, -1).sin()
        h = torch.linspace(-9, 9, 4 * head.config.encoder.hidden_size).view(4, -1).cos()
        scores.append(head(q, LabelVectors(h)))
    torch.testing.assert_close(scores[1], scale * scores[0], rtol=1e-4, atol=1e-5)


def test_a_scale_of_nothing_is_refused(paper_world: Path) -> None:
    tiny_sentence_transformer(paper_world, name="tiny")
    raw = {"model": {"embedder": "tiny", "score_scale": 0.5}, "data": {"folder": "data"}}
    config = parse_config(raw)
    training_data = read_training_data(config.data, paper_world)
    with pytest.raises(UserError, match="score_scale"):
        Builder.from_config(config, training_data, paper_world, torch.device("cpu"))
