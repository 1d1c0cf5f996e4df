"""The whole way: a configuration in, a model folder out; stopped and gone on with; refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.encoder.bert import EncoderConfig, TextEncoder
from sce_desktop.ml.encoder.published import load_embedder
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.paths import resources_dir
from sce_desktop.research.pretrain import run
from sce_desktop.research.pretrain.calibrate import NONE_SHARE, SetScores, _platt, fit
from sce_desktop.research.pretrain.config import member_configs, read_config
from sce_desktop.research.pretrain.dual_encoder import TokenLists, TrainedDualEncoder, encode_packed
from tests.ml.pretrain.conftest import TOPICS
from tests.ml.tiny import tiny_sentence_transformer, tiny_text_encoder

LABELS = [Label(name) for name in TOPICS]
TEXTS = list(TOPICS.values())


def test_training_learns_and_the_model_loads(world: Path, write_config) -> None:
    done = run(write_config(steps=60), world / "out", progress=SilentProgress())
    assert done.finished
    assert done.validation["more"]["sce"] > 70
    model = SCEModel.from_pretrained(str(world / "out"))
    found = model.probabilities(TEXTS, LABELS).probabilities
    assert found.argmax(1).tolist() == [0, 1, 2, 3]
    facts = json.loads((world / "out" / "training.json").read_text())
    assert facts["members"]["model"]["steps"] == [20, 40, 60]
    assert not list(world.glob(".out.training"))


def test_a_model_that_says_none_knows_what_fits_and_is_calibrated(world: Path, write_config) -> None:
    done = run(write_config(steps=120, model="says_none = true"), world / "out", progress=SilentProgress())
    assert done.validation["more"]["yes"] > 80
    model = SCEModel.from_pretrained(str(world / "out"))
    assert model.config.temperature != 1.0
    with_own = model.probabilities(TEXTS[:1], LABELS)
    without = model.probabilities(TEXTS[:1], LABELS[1:])
    assert with_own.none is not None
    assert without.none is not None
    assert without.none[0] > with_own.none[0]
    yes = model.probabilities(TEXTS, LABELS, multi_label=True)
    assert yes.none is None
    assert np.argmax(yes.probabilities, 1).tolist() == [0, 1, 2, 3]
    alone = model.probabilities(TEXTS, LABELS[:1], multi_label=True).probabilities
    assert np.allclose(alone, yes.probabilities[:, :1], atol=1e-6)  # no label changes another's
    facts = json.loads((world / "out" / "training.json").read_text())
    assert 0 <= facts["members"]["calibration"]["more"]["none_auroc"] <= 1


def test_a_platt_fit_finds_the_frequencies() -> None:
    rng = np.random.default_rng(0)
    logit = rng.normal(size=(4000, 1)) * 2
    happens = rng.random(4000) < 1 / (1 + np.exp(-(0.5 * logit[:, 0] - 1)))
    scores = np.concatenate([3 * np.log(np.array([[0.7, 0.3]])).repeat(1000, 0)])
    right = (np.arange(1000) % 10 >= 7).astype(np.int64)
    one = SetScores(scores, right, logit[~happens, 0], logit[happens, 0], scores)
    found = fit([one])
    assert found.temperature == pytest.approx(3.0, rel=0.02)  # scores are three times the true log odds
    p = found.none(np.array([-4.0, 0.0, 4.0], dtype=np.float32))
    odds = np.exp(0.5 * np.array([-4.0, 0.0, 4.0]) - 1) / NONE_SHARE
    truth = odds / (1 + odds)  # as if texts that fit none came so much more seldom
    assert np.abs(p - truth).max() < 0.05


@pytest.mark.parametrize("seed", range(12))
def test_a_platt_fit_reaches_its_minimum(seed: int) -> None:
    # Logits around zero: a search without slope stalled at seed 2, far off the frequency.
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=4000)
    happens = rng.random(4000) < 1 / (1 + np.exp(-(logits - 2.2)))
    found = _platt([(logits, happens.astype(np.float64))])
    assert found(logits).mean() == pytest.approx(happens.mean(), abs=1e-4)
    assert found.scale == pytest.approx(1.0, abs=0.15)


class StopAfter(SilentProgress):
    """Wants to stop at a step."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.left = steps

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


TWO = "[average.members.a.optim]\nseed = 1\n[average.members.b.mixture]\nmixed = 0.3"


@pytest.mark.parametrize("more", ["", TWO], ids=["one", "two"])
def test_stopped_and_gone_on_is_the_same_as_in_one_go(world: Path, write_config, more: str) -> None:
    path = write_config(steps=30, more=more)
    run(path, world / "whole", progress=SilentProgress())
    with pytest.raises(KeyboardInterrupt):
        run(path, world / "parts", progress=StopAfter(13))
    assert (world / ".parts.training").is_dir()
    run(path, world / "parts", progress=SilentProgress())
    one, other = (SCEModel.from_pretrained(str(world / n)).state_dict() for n in ("whole", "parts"))
    assert all(torch.allclose(one[k], other[k], atol=2e-3) for k in one)


def test_average_lies_between_start_and_members(world: Path, write_config) -> None:
    more = "[average]\ninterpolation = 0.0\nrefit_steps = 5\n" + TWO
    run(write_config(steps=20, more=more), world / "out", progress=SilentProgress())
    model = SCEModel.from_pretrained(str(world / "out"))
    start = load_embedder(world / "tiny-sentences").encode(TEXTS)
    assert np.abs(model.embed(TEXTS) - start).max() < 2e-3  # float16 storage


def test_an_average_need_not_be_refitted(world: Path, write_config) -> None:
    for steps in (0, 20):
        more = f"[average]\ninterpolation = 1.0\nrefit_steps = {steps}\n{TWO}"
        trained = run(write_config(steps=20, more=more), world / f"out{steps}", progress=SilentProgress())
        assert trained.validation
    as_is, refitted = (SCEModel.from_pretrained(str(world / f"out{n}")).state_dict() for n in (0, 20))
    moved = [k for k in as_is if not torch.equal(as_is[k], refitted[k])]
    assert moved
    assert all(k.startswith("head.") for k in moved)


def test_the_papers_architecture_trains_over_a_frozen_embedder(world: Path, write_config) -> None:
    tiny_sentence_transformer(world, model_type="roberta", name="tiny-roberta", seed=5)
    model = (
        'architecture = "paper"\nattention = "joint"\ntrain_embedder = false\nlabel_encoder = "tiny-roberta"'
    )
    done = run(write_config(steps=80, model=model), world / "out", progress=SilentProgress())
    assert done.validation["more"]["sce"] > 50
    state = json.loads((world / "out" / "config.json").read_text())
    assert state["token_table"] == "own"


def test_a_loss_that_is_not_finite_stops_and_names_the_step(world: Path, write_config) -> None:
    with pytest.raises(UserError, match="step 20"):
        run(write_config(optim="clip = 1e30\nnoise = 1e38"), world / "out", progress=SilentProgress())
    assert not (world / "out").exists()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"run": "patient = 3"}, "run.patient"),
        ({"optim": 'clip = "much"'}, "optim.clip"),
        ({"model": 'architecture = "other"'}, "model.architecture"),
        ({"model": 'label_encoder = "tiny-sentences"'}, "label_encoder"),
        ({"model": 'says_none = true\narchitecture = "paper"'}, "says_none"),
        ({"more": "[average.members.a.model]\nlayers = 2"}, "one shape"),
        ({"more": "[average.members.a.wrong]\nlayers = 2"}, "average.members.a.wrong"),
    ],
)
def test_a_wrong_configuration_is_named(world: Path, write_config, parts, message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(write_config(**parts), world / "out", progress=SilentProgress())


def test_not_toml(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("steps = = 3")
    with pytest.raises(UserError, match=r"c\.toml"):
        run(tmp_path / "c.toml", tmp_path / "out", progress=SilentProgress())


def test_packed_and_padded_vectors_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(q, k, v, bounds, _other, _longest, _too):
        out = torch.empty_like(q)
        for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            parts = (x[a:b].transpose(0, 1) for x in (q, k, v))
            out[a:b] = torch.nn.functional.scaled_dot_product_attention(*parts).transpose(0, 1)
        return out

    monkeypatch.setattr("torch.nn.attention.varlen.varlen_attn", plain)
    encoder, rng = tiny_text_encoder(), np.random.default_rng(0)
    lists = TokenLists([rng.integers(4, 90, n).tolist() for n in range(2, 30)], device=torch.device("cpu"))
    rows, dual_encoder = np.arange(28)[::-1].copy(), TrainedDualEncoder(encoder, lists, 20)
    cut = np.minimum(lists.lengths[rows], 17)
    with torch.no_grad():
        packed = encode_packed(encoder, lists.packed(rows, cut))
        assert torch.allclose(dual_encoder.encode(rows, cut), packed, atol=1e-5)


def test_vectors_with_a_bias_by_distance_are_those_of_each_text_alone() -> None:
    torch.manual_seed(3)
    shape = EncoderConfig(
        vocab_size=90,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=40,
        pad_token_id=1,
        relative_attention_num_buckets=8,
        model_type="mpnet",
    )
    encoder, rng = TextEncoder(shape).eval(), np.random.default_rng(0)
    ids = [rng.integers(4, 90, n).tolist() for n in (3, 9, 30, 17, 4)] * 8
    dual_encoder = TrainedDualEncoder(encoder, TokenLists(ids, device=torch.device("cpu")), len(ids))
    rows = np.arange(len(ids))
    with torch.no_grad():
        alone = torch.cat([encoder(torch.tensor([one])) for one in ids])
        assert torch.allclose(dual_encoder.encode(rows, dual_encoder.tokens.lengths), alone, atol=1e-5)
        with torch.autocast("cpu", torch.bfloat16):  # there the bias is rounded once, for all layers
            half = dual_encoder.encode(rows, dual_encoder.tokens.lengths)
    assert (half * alone).sum(1).min() > 0.999


def test_a_model_in_int8_is_written_where_it_is_asked_for(world: Path, write_config) -> None:
    run(write_config(steps=2, model="weight_bits = 8"), world / "out", progress=SilentProgress())
    assert SCEModel.from_pretrained(world / "out").config.weight_bits == 8
    with pytest.raises(UserError, match="weight_bits must be one of 8, 16"):
        read_config(write_config(steps=2, model="weight_bits = 4", name="other.toml"))


def test_keep_loss_holds_the_vectors_near(world: Path, write_config) -> None:
    start = load_embedder(world / "tiny-sentences").encode(TEXTS)
    moved = []
    for weight in (0.0, 50.0):
        path = write_config(steps=30, optim=f"keep_loss = {weight}", name=f"{weight}.toml")
        run(path, world / f"out{weight}", progress=SilentProgress())
        vectors = SCEModel.from_pretrained(str(world / f"out{weight}")).embed(TEXTS)
        moved.append(float(1 - (vectors * start).sum(1).mean()))
    assert moved[1] < 0.5 * moved[0]


def test_the_configuration_of_the_larger_model_reads() -> None:
    config = read_config(resources_dir() / "pretrain" / "sce-base.toml")
    assert (config.model.embedder, config.model.weight_bits) == ("all-mpnet-base-v2", 8)
    assert [one.optim.seed for one in member_configs(config).values()] == [60, 61]
    for file in (*config.data.free_labels, *config.data.written, config.data.wordings):
        assert (resources_dir() / "pretrain" / file).is_file()


def test_the_shipped_configuration_reads_and_names_its_members() -> None:
    config = read_config(resources_dir() / "pretrain" / "sce-mini.toml")
    members = member_configs(config)
    assert len(members) == 12
    assert members["plain"].mixture.pairs == 0.05
    assert members["pairs-5"].mixture.pairs == 0.1
    assert members["pairs-5"].optim.seed == 54
    for file in (*config.data.free_labels, *config.data.written, config.data.wordings):
        assert (resources_dir() / "pretrain" / file).is_file()
