from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.models import Device
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import as_kept
from sce_desktop.ml.encoder.embedder import cached_encode
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.hub import session as session_module
from sce_desktop.ml.hub.session import ALL_GPUS, ModelSession, choose_device, choose_devices, with_all
from sce_desktop.ml.parallel import embedder as module
from sce_desktop.ml.parallel.embedder import EmbedderPool, EncoderCopy
from sce_desktop.ml.parallel.pool import WorkerPool
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.tiny import DictCache, tiny_sce, tiny_sce_model

GPUS = [Device("cuda", "Big GPU", True, "", 8), Device("cuda:1", "Big GPU", True, "", 8)]


def texts_of(count: int) -> list[str]:
    words = ["the", "parcel", "was", "late", "and", "i", "wait", "for", "my", "refund"]
    return [" ".join(words[n % 3 : 3 + n % 7]) + f" {n}" for n in range(count)]


def test_a_copy_has_the_key_and_the_vectors_of_the_original() -> None:
    embedder = tiny_sce_model().text_embedder
    assert isinstance(embedder, NativeEmbedder)
    copy = EncoderCopy.of(embedder).embedder("cpu")
    assert copy.key == embedder.key
    assert np.array_equal(copy.encode(texts_of(20)), embedder.encode(texts_of(20)))


def test_vectors_of_several_devices_are_those_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(EmbedderPool, "alone", 16)
    folder = tiny_sce(tmp_path)
    texts = [*texts_of(90), *texts_of(5)]
    one, several = ModelSession("cpu"), ModelSession("cpu:2")
    assert (one.devices, several.devices) == (("cpu",), ("cpu", "cpu"))
    labels = [Label("late parcel"), Label("refund")]
    models = [session.model(folder) for session in (one, several)]
    assert all(isinstance(model, SCEModel) for model in models)
    assert one.model(folder).text_embedder.pool is None  # type: ignore[union-attr]
    cache = DictCache()
    right = models[0].probabilities(texts, labels).probabilities
    found = models[1].probabilities(texts, labels, cache=cache).probabilities
    assert np.allclose(found, right, atol=1e-6)
    assert len(cache) == 90
    pool = models[1].text_embedder.pool  # type: ignore[union-attr]
    assert isinstance(pool, EmbedderPool)
    workers = pool._pool
    assert isinstance(workers, WorkerPool)
    assert len(workers.process_ids) == 2

    # one is killed: its texts go to the other, and whoever waits for them is told
    workers._workers[1].process.kill()
    progress = SilentProgress()
    again = cached_encode(models[1].text_embedder, texts_of(90), None, progress)  # type: ignore[union-attr]
    plain = models[1].text_embedder.encode(texts_of(90))  # type: ignore[union-attr]
    assert np.array_equal(again, as_kept(plain))
    assert progress.warnings == ["A worker on cpu failed, and others do its rows: its process ended (-9)."]
    several.unload()
    assert workers.process_ids == []


def test_all_gpus_are_a_device_where_there_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_all(GPUS[:1]) == tuple(GPUS[:1])
    *single, together = with_all(GPUS)
    assert [one.name for one in single] == ["cuda", "cuda:1"]
    assert [one.description for one in single] == ["Big GPU (GPU 0)", "Big GPU (GPU 1)"]
    assert (together.name, together.description) == (ALL_GPUS, "All GPUs (2 × Big GPU)")
    assert (together.usable, together.memory) == (True, 16)
    broken = Device("cuda:2", "Old GPU", False, "no code for it")
    monkeypatch.setattr(session_module, "devices", lambda: with_all([*GPUS, broken]))
    assert [str(one) for one in choose_devices(ALL_GPUS)] == ["cuda", "cuda:1"]
    assert str(choose_device(ALL_GPUS)) == "cuda"
    assert str(choose_device("auto")) == "cuda"
    monkeypatch.setattr(session_module, "devices", lambda: with_all([GPUS[1], broken]))
    assert [str(one) for one in choose_devices(ALL_GPUS)] == ["cuda:1"]


def test_all_gpus_of_a_machine_without_one_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "devices", lambda: (Device("cpu", "some CPU", True),))
    with pytest.raises(session_module.UserError, match=r"no device “cuda”.*choose auto or cpu\.$"):
        ModelSession(ALL_GPUS)
