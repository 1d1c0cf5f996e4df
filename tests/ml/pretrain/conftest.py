"""A little world to train in: two sets whose labels share words with their texts, glosses, a tiny start."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from tests.ml.tiny import tiny_sentence_transformer

TOPICS = {
    "late delivery": "the parcel was late and i wait for the delivery day and week",
    "damaged box": "the box was broken and wet and damaged by the driver",
    "refund money": "i want my money back please refund the price and the fee",
    "app login": "the app crashes and the login password error on the website",
}
OTHERS = {"sports": "a good sports day with friendly sport", "politics": "politics and business of our time"}


def _write(path: Path, topics: dict[str, str], n: int, seed: int, split: str = "train") -> None:
    rng = random.Random(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for _ in range(n):
            label = rng.choice(sorted(topics))
            words = topics[label].split()
            rng.shuffle(words)
            text = " ".join(words[: rng.randint(5, len(words))])
            file.write(json.dumps({"text": text, "label": label, "split": split}) + "\n")


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder with train/, validation/, glosses, wordings and the start model ``tiny-sentences``."""
    _write(tmp_path / "train" / "parcels.jsonl.gz", TOPICS, 120, 1)
    _write(tmp_path / "train" / "news.jsonl.gz", OTHERS, 60, 2)
    _write(tmp_path / "validation" / "more.jsonl.gz", TOPICS | OTHERS, 60, 3, "test")
    glosses = [
        {"t": "a broken box", "p": [["box"], ["thing", "parcel"]], "d": 0},
        {"t": "a person who drives", "p": [["driver", "courier"], ["person"]], "d": 0},
        {"t": "money that goes back", "p": [["refund"], ["money"], ["thing"]], "d": 0},
    ]
    (tmp_path / "glosses.jsonl").write_text("".join(json.dumps(g) + "\n" for g in glosses))
    (tmp_path / "wordings.json").write_text(json.dumps({"parcels": {"late delivery": ["slow", "too late"]}}))
    tiny_sentence_transformer(tmp_path)
    return tmp_path


CONFIG = """
[model]
name = "trained"
embedder = "tiny-sentences"
layers = 1
dropout = 0.0
{model}
[data]
wordings = "wordings.json"
wordnet = "glosses.jsonl"
max_tokens = 32
[mixture]
groups = 4
rows = 8
wordnet = 0.2
{mixture}
[optim]
steps = {steps}
warmup = 5
learning_rate = 5e-3
head_learning_rate = 5e-3
average = 0.5
{optim}
[run]
validate_every = 20
{run}
{more}
"""


@pytest.fixture
def write_config(world: Path):
    """Write a configuration into the world and return its path."""

    def write(*, steps: int = 40, name: str = "config.toml", **parts: str) -> Path:
        filled = {k: parts.get(k, "") for k in ("model", "mixture", "optim", "run", "more")}
        path = world / name
        path.write_text(CONFIG.format(steps=steps, **filled), encoding="utf-8")
        return path

    return write
