"""The paper's own configuration, run from end to end on tiny models of the same architectures."""

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
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.hub import installing
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.pretrain import run
from sce_desktop.research.pretrain.config import read_config
from tests.ml.test_known_models import tiny_jina
from tests.ml.tiny import tiny_sentence_transformer

PRESET = paths.resources_dir() / "pretrain" / "paper.toml"


def test_it_is_what_the_paper_says() -> None:
    config = read_config(PRESET)
    m, o = config.model, config.optim
    assert (m.architecture, m.attention, m.layers, m.train_embedder) == ("paper", "joint", 0, False)
    assert (m.embedder, m.label_encoder) == ("jina-embeddings-v3", "roberta-base")
    assert (o.head_learning_rate, o.weight_decay) == (1e-5, 1e-4)
    assert config.mixture.groups * config.mixture.rows == 512
    assert config.mixture.synonyms > 0
    assert (config.mixture.wordnet, config.mixture.distractors, o.cosine_loss) == (0, 0, 0)
    assert config.data.sets == ("bbc_news", "huffpost", "mind_news", "nyt_sections")


def test_it_trains_on_tiny_stand_ins(tmp_path: Path) -> None:
    installing.add(tiny_jina(tmp_path / "jina"), name="jina-embeddings-v3")
    installing.add(tiny_sentence_transformer(tmp_path, model_type="roberta", name="r"), name="roberta-base")
    labels = {"sports": "the team won the match", "business": "the bank and the stock market"}
    for part, name in (("train", n) for n in read_config(PRESET).data.sets):
        (tmp_path / "data" / part).mkdir(parents=True, exist_ok=True)
        with gzip.open(tmp_path / "data" / part / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            for i in range(40):
                label = list(labels)[i % 2]
                file.write(
                    json.dumps({"text": f"{labels[label]} {i}", "label": label, "split": "train"}) + "\n"
                )
    (tmp_path / "wordings.json").write_text('{"bbc_news": {"sports": ["sport", "game"]}}', encoding="utf-8")
    config = PRESET.read_text(encoding="utf-8")
    for key, value in {"steps": 3, "rows": 8, "groups": 2, "validate_every": 3}.items():
        config = re.sub(rf"^{key} = \d+", f"{key} = {value}", config, flags=re.MULTILINE)
    path = tmp_path / "paper.toml"
    path.write_text(config, encoding="utf-8")
    assert run(path, tmp_path / "out", progress=SilentProgress()).finished
    model = SCEModel.from_pretrained(tmp_path / "out")
    assert model.config.sce.architecture == "paper"
    assert model.config.embedder["adapter"] == "classification"
    assert model.config.token_table == "own"
    both = [Label("sports"), Label("business"), Label("health")]
    found = model.probabilities(["the team won"], both).probabilities
    turned = model.probabilities(["the team won"], both[::-1]).probabilities
    np.testing.assert_allclose(found[:, ::-1], turned, atol=1e-5)
    assert found.shape == (1, 3)
    assert torch.isfinite(torch.from_numpy(found)).all()


@pytest.mark.parametrize("name", ["jina-embeddings-v3", "roberta-base"])
def test_its_parts_can_be_fetched_by_name(name: str) -> None:
    from sce_desktop.ml.hub.known_models import known

    assert known(name) is not None
