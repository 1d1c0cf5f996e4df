"""The models in memory, the devices they run on, and what they are expected to take."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.models import Device
from sce_desktop.ml.hub import session as module
from sce_desktop.ml.hub.session import ModelSession, choose_device, devices
from tests.ml.tiny import tiny_sce, tiny_sentence_transformer

GPU = Device("cuda", "Some GPU", True, "", 8_000_000_000)
DEAD = Device("cuda", "Old GPU", False, "the installed torch has no code for sm_35")
CPU = Device("cpu", "some CPU", True)


def machine(monkeypatch: pytest.MonkeyPatch, *here: Device) -> None:
    monkeypatch.setattr(module, "devices", lambda: here)


def test_auto_takes_a_gpu_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, CPU, GPU)
    assert choose_device().type == "cuda"
    machine(monkeypatch, CPU, DEAD)
    assert choose_device().type == "cpu"
    machine(monkeypatch, CPU)
    assert choose_device().type == "cpu"


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, CPU, DEAD)
    with pytest.raises(UserError, match="no device “mps”"):
        ModelSession("mps")
    with pytest.raises(UserError, match="cannot be used: the installed torch has no code"):
        ModelSession("cuda")
    with pytest.raises(UserError, match="no device “cuda:1”"):
        choose_device("cuda:1")
    with pytest.raises(UserError, match=r"no device “toaster” on this machine: choose auto or cpu\.$"):
        choose_device("toaster")


def test_the_cpu_is_always_there() -> None:
    assert devices()[0].name == "cpu"
    assert devices()[0].usable


def test_a_gpu_that_torch_cannot_use_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(module.shutil, "which", lambda _: "/usr/bin/nvidia-smi")
    for version, advice in ((None, "install its CUDA build"), ("12.8", "update the NVIDIA driver")):
        monkeypatch.setattr(torch.version, "cuda", version)
        gpu = devices()[1]
        assert not gpu.usable
        assert advice in gpu.problem


def test_models_are_loaded_once(tmp_path: Path) -> None:
    session = ModelSession("cpu")
    folder = tiny_sce(tmp_path)
    model = session.model(folder)
    assert session.model(str(folder)) is model
    baseline = session.baseline(f"similarity:{folder}")
    assert session.baseline(f"similarity:{folder}") is baseline
    assert (model.kind, baseline.kind) == ("sce", "similarity")
    session.unload()
    assert session.model(folder) is not model


def test_the_model_used_longest_ago_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LOADED_MODELS", 2)
    session = ModelSession("cpu")
    one, two, three = (
        tiny_sce(tmp_path, name=name, seed=i) for i, name in enumerate(("one", "two", "three"))
    )
    kept, dropped = session.model(one), session.model(two)
    assert session.model(one) is kept
    session.model(three)
    assert session.model(one) is kept
    assert session.model(two) is not dropped


def test_a_failed_load_keeps_what_is_loaded(tmp_path: Path) -> None:
    session = ModelSession("cpu")
    folder = tiny_sce(tmp_path)
    model = session.model(folder)
    with pytest.raises(UserError, match="not an SCE"):
        session.model(tiny_sentence_transformer(tmp_path))
    with pytest.raises(UserError, match="no model"):
        session.model("nobody")
    assert session.model(folder) is model


@pytest.mark.parametrize("spec", ["magic", "llmx:some", ""])
def test_unknown_baselines_are_refused(spec: str) -> None:
    with pytest.raises(UserError, match="no baseline"):
        ModelSession("cpu").baseline(spec)


def test_baselines_by_folder(tmp_path: Path) -> None:
    session = ModelSession("cpu")
    folder = tiny_sentence_transformer(tmp_path)
    model = session.baseline(f"similarity:{folder}")
    found = model.probabilities(["late"], [Label("late"), Label("refund")]).probabilities
    assert found[0].argmax() == 0


def test_threads_are_set_where_asked() -> None:
    before = torch.get_num_threads()
    try:
        ModelSession("cpu")
        assert torch.get_num_threads() == before
        ModelSession("cpu", threads=before + 1)
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_the_estimate_grows_with_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TRIAL_SECONDS", 0.05)
    session = ModelSession("cpu")
    model = session.model(tiny_sce(tmp_path))
    some = session.estimate(model, 1000, 20, 5)
    assert 0 < some < 60
    assert session.estimate(model, 100_000, 20, 5) > 20 * some
    assert session.estimate(model, 1000, 20, 5, cached=1000) < some
    baseline = session.baseline(f"similarity:{tiny_sentence_transformer(tmp_path)}")
    assert session.estimate(baseline, 1000, 20, 5) > 0


def test_the_estimate_of_a_steady_worker_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2 ms a text and 1 ms a scored row, on a clock of the test's own."""
    now = 0.0

    def work(seconds: float) -> None:
        nonlocal now
        now += seconds

    session = ModelSession("cpu")
    model = session.model(tiny_sce(tmp_path))
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    monkeypatch.setattr(model.text_embedder, "encode", lambda texts: work(0.002 * len(texts)))

    def score(rows: Any, _labels: Any) -> None:
        work(0.001 * len(rows))

    monkeypatch.setattr(model, "score", score)
    assert session.estimate(model, 1000, 20, 5) == pytest.approx(3.0)
    assert session.estimate(model, 1000, 20, 5, cached=500) == pytest.approx(2.0)
