"""Learning from a larger trained model: its vectors, the labels it picks, the divergence from it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.pretrain import run
from sce_desktop.research.pretrain.config import DataConfig, SamplerConfig
from sce_desktop.research.pretrain.sampler import UNKNOWN, Sampler
from sce_desktop.research.pretrain.sets import read_training_data
from sce_desktop.research.pretrain.teacher import Teacher, distillation
from tests.ml.pretrain.conftest import TOPICS


@pytest.fixture
def taught_world(world: Path, write_config) -> Path:
    """The world with a trained model in ``teacher``."""
    run(write_config(steps=60, name="teacher.toml"), world / "teacher", progress=SilentProgress())
    return world


def _with_teacher(path: Path) -> Path:
    path.write_text(path.read_text().replace("[data]", '[data]\nteacher = "teacher"'), encoding="utf-8")
    return path


def _teacher(world: Path, training_data) -> Teacher:
    return Teacher.load(world / "teacher", training_data, max_tokens=32, device=torch.device("cpu"))


def test_a_teacher_scores_a_batch_as_its_model_does(taught_world: Path) -> None:
    training_data = read_training_data(DataConfig(wordnet="glosses.jsonl"), taught_world)
    teacher = _teacher(taught_world, training_data)
    batch = Sampler(
        training_data.train, None, SamplerConfig(groups=2, rows=6, wordnet=0.0, distractors=0.0)
    ).batch(3)
    model = SCEModel.from_pretrained(str(taught_world / "teacher"))
    found = teacher.scores(batch, temperature=model.config.temperature)[0].exp().numpy()
    own = batch.labels[0][batch.labels[0] >= 0]
    texts = [training_data.texts.strings[n] for n in batch.texts[0]]
    labels = [Label(training_data.labels.strings[n]) for n in own]
    right = model.probabilities(texts, labels).probabilities
    np.testing.assert_allclose(found[:, : len(own)], right, atol=2e-3)  # vectors are kept in half precision


def test_the_teacher_picks_labels_near_to_each_text(taught_world: Path) -> None:
    training_data = read_training_data(DataConfig(wordnet="glosses.jsonl"), taught_world)
    taught = _teacher(taught_world, training_data).taught
    parcels = next(s for s in training_data.train if s.name == "parcels")
    hits = 0
    for label, name in enumerate(sorted(TOPICS)):
        for text in parcels.texts[parcels.starts[label] : parcels.starts[label + 1]]:
            first = taught.labels[np.searchsorted(taught.texts, text), 0]
            hits += training_data.labels.strings[first].casefold() == name
    assert hits > 0.7 * len(parcels.texts)
    sampler = Sampler(
        training_data.train, None, SamplerConfig(groups=3, rows=8, wordnet=0, taught=1.0), taught=taught
    )
    batch = sampler.batch(0)
    assert (batch.right == UNKNOWN).all()
    offered = {n for row in batch.labels for n in row if n >= 0}
    assert offered <= set(taught.labels.ravel().tolist())


def test_distillation_is_the_divergence_of_the_labels_seen() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(2, 3, 4, generator=generator)
    mask = torch.ones(2, 3, 4, dtype=torch.bool)
    mask[0, :, 3] = False
    targets = F.log_softmax(torch.randn(2, 3, 4, generator=generator).masked_fill(~mask, -1e9), -1)
    found = distillation(scores.masked_fill(~mask, -1e9), targets, mask, temperature=1.0)
    own = F.log_softmax(scores.masked_fill(~mask, -1e9), -1)
    right = F.kl_div(own, targets, log_target=True, reduction="none").masked_fill(~mask, 0).sum(-1).mean()
    torch.testing.assert_close(found, right)
    same = distillation(targets, targets, mask, temperature=1.0)
    torch.testing.assert_close(same, torch.tensor(0.0), atol=1e-6, rtol=0)


def test_a_student_learns_what_only_the_teacher_knows(taught_world: Path, write_config) -> None:
    """Where no right label is ever told, the teacher's judgement alone teaches."""
    config = write_config(
        steps=80,
        mixture="taught = 0.8",
        optim="teacher_loss = 1.0",
        model="says_none = true",
    )
    done = run(_with_teacher(config), taught_world / "out", progress=SilentProgress())
    assert done.validation["more"]["sce"] > 70
    facts = json.loads((taught_world / "out" / "training.json").read_text())
    assert facts["configuration"]["data"]["teacher"] == "teacher"


def test_a_model_that_cannot_teach_is_refused(world: Path, write_config) -> None:
    frozen = write_config(steps=5, name="teacher.toml", model="train_embedder = false")
    start = json.dumps(str(world / "tiny-sentences"))  # found from wherever the model is loaded
    frozen.write_text(frozen.read_text().replace('"tiny-sentences"', start), encoding="utf-8")
    run(frozen, world / "teacher", progress=SilentProgress())
    with pytest.raises(UserError, match="teacher cannot teach"):
        run(_with_teacher(write_config()), world / "out", progress=SilentProgress())


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"optim": "teacher_loss = 1.0"}, "need a teacher"),
        ({"mixture": "taught = 0.5"}, "need a teacher"),
        ({"mixture": "taught = 0.5", "teacher": True}, "teacher_loss alone"),
        (
            {"optim": "teacher_loss = 1.0", "model": "train_embedder = false", "teacher": True},
            "train_embedder",
        ),
    ],
)
def test_settings_of_a_teacher_that_would_do_nothing_are_refused(
    world: Path, write_config, parts, message: str
) -> None:
    path = write_config(**{k: v for k, v in parts.items() if k != "teacher"})
    if "teacher" in parts:
        path = _with_teacher(path)
    with pytest.raises(UserError, match=message):
        run(path, world / "out", progress=SilentProgress())


def test_a_single_file_where_a_list_is_due_is_refused(world: Path, write_config) -> None:
    path = write_config()
    path.write_text(
        path.read_text().replace("[data]", '[data]\nfree_labels = "labels.jsonl"'), encoding="utf-8"
    )
    with pytest.raises(UserError, match=r"data\.free_labels must be a list of texts"):
        run(path, world / "out", progress=SilentProgress())
