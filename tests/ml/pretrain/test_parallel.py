"""Two CPU processes stand for two GPUs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research import pretrain
from sce_desktop.research.pretrain import parallel as module
from sce_desktop.research.pretrain.ranks import Ranks
from sce_desktop.research.pretrain.sampler import Batch


class StopsAt(SilentProgress):
    def __init__(self, step: int) -> None:
        super().__init__()
        self.left = step

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled


def test_two_processes_train_as_one_does(world: Path, write_config) -> None:
    """The same losses and accuracies; stopped and gone on with two, it is still the same."""
    config = write_config(steps=12, run="validate_every = 4\nsave_every = 5")
    text = config.read_text().replace("validate_every = 20\n", "")
    config.write_text(text)
    traces = {}
    for name, device in (("one", "cpu"), ("two", "cpu:2")):
        out = world / name
        if name == "two":
            with pytest.raises(Cancelled):
                pretrain.run(config, out, device=device, progress=StopsAt(7))
        assert pretrain.run(config, out, device=device, progress=SilentProgress()).finished
        traces[name] = json.loads((out / "training.json").read_text())["members"]["model"]
    assert traces["two"]["steps"] == traces["one"]["steps"] == [4, 8, 12]
    assert np.allclose(traces["one"]["losses"][0], traces["two"]["losses"][0], atol=1e-4)
    # the mean of the four steps up to 8 has the last one alone after the stop
    assert np.allclose(traces["one"]["losses"][2], traces["two"]["losses"][2], atol=1e-3)
    for one, two in zip(traces["one"]["accuracies"], traces["two"]["accuracies"], strict=True):
        assert one.keys() == two.keys()
        assert all(abs(one[name][kind] - two[name][kind]) < 3.5 for name in one for kind in one[name])
    models = [SCEModel.from_pretrained(world / name) for name in traces]
    first, second = (dict(model.named_parameters()) for model in models)
    assert max(float((first[name] - second[name]).detach().abs().max()) for name in first) < 5e-3
    assert not list(world.glob(".*.training"))


def test_a_process_that_fails_is_named(world: Path, write_config, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write_config(steps=50)
    usual = module.Followers

    def broken(path: Path, *rest: object) -> object:
        return usual(path.with_name("gone.toml"), *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(sys.modules["sce_desktop.research.pretrain.run"], "Followers", broken)
    with pytest.raises(
        UserError, match=r"^Training on cpu failed: There is no configuration file .*gone\.toml"
    ):
        pretrain.run(config, world / "out", device="cpu:2", progress=SilentProgress())


def test_groups_that_devices_cannot_share_are_refused(world: Path, write_config) -> None:
    config = write_config(steps=5)
    with pytest.raises(UserError, match=r"mixture\.groups is 4, which 3 devices cannot share"):
        pretrain.run(config, world / "out", device="cpu:3", progress=SilentProgress())


def test_the_shares_of_a_batch_are_the_batch() -> None:
    shape = (4, 3)
    batch = Batch(
        np.arange(12).reshape(shape),
        np.arange(8).reshape(4, 2),
        np.ones((4, 3, 2), dtype=bool),
        np.zeros(shape, dtype=np.int64),
        np.ones(shape),
    )
    shares = [Ranks(rank, 2).share(batch) for rank in range(2)]
    assert shares[1].texts.tolist() == [[3, 4, 5], [9, 10, 11]]
    assert sorted(np.concatenate([one.labels for one in shares]).ravel().tolist()) == list(range(8))
    assert {one.mask.shape for one in shares} == {(2, 3, 2)}
