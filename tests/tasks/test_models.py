from __future__ import annotations

import json
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.tasks.scoring.models import (
    Baseline,
    devices,
    installed_models,
    labels_for,
    load_models,
    open_session,
    open_vector_cache,
    parse_baselines,
    similarity_beside,
)
from tests.tasks.fakes import FakeModel, FakeSession, RecordingProgress


@pytest.mark.parametrize(
    ("text", "alias", "model"),
    [
        ("similarity", "similarity", ""),
        ("similarity:all-MiniLM-L6-v2", "similarity", "all-MiniLM-L6-v2"),
        ("similarity:C:\\my models\\a=b", "similarity", "C:\\my models\\a=b"),
        ("e5=similarity:intfloat/e5", "e5", "intfloat/e5"),
        ("my.model-2=similarity", "my.model-2", ""),
        ("модель=similarity", "модель", ""),
    ],
)
def test_baselines_are_read(text: str, alias: str, model: str) -> None:
    assert Baseline.parse(text) == Baseline(alias, "similarity", model)


@pytest.mark.parametrize(
    "text", ["", "knn", "similarity:", "=similarity", "a b=similarity", "sce=similarity", "x=y"]
)
def test_other_baselines_are_refused(text: str) -> None:
    with pytest.raises(UserError):
        Baseline.parse(text)


@pytest.mark.parametrize(
    ("text", "baseline", "spec"),
    [
        ("llm", Baseline("llm", "llm", ""), "llm"),
        ("llm:SmolLM2", Baseline("llm", "llm", "SmolLM2"), "llm:SmolLM2"),
        ("chat=llm:/моя папка/x", Baseline("chat", "llm", "/моя папка/x"), "llm:/моя папка/x"),
    ],
)
def test_the_llm_is_a_baseline(text: str, baseline: Baseline, spec: str) -> None:
    assert Baseline.parse(text) == baseline
    assert baseline.spec == spec


def test_two_baselines_need_two_names() -> None:
    assert len(parse_baselines(["similarity", "b=similarity:x"])) == 2
    with pytest.raises(UserError, match="Two baselines are called “similarity”"):
        parse_baselines(["similarity", "similarity:x"])


def test_models_are_loaded_in_order_with_their_names() -> None:
    session = FakeSession(FakeModel("one"))
    progress = RecordingProgress()
    loaded = load_models(session, ["one"], [Baseline("b", "similarity", "x")], progress)
    assert [(named.alias, named.name) for named in loaded.models] == [("sce", "one"), ("b", "b")]
    assert loaded.models[1].model.name == "similarity:x"
    assert progress.reports[-1] == (2, 2, "loading models")
    assert loaded.seconds >= 0


def test_labels_of_the_user_come_before_those_of_the_model() -> None:
    model = FakeModel(labels=(Label("own"), Label("other")))
    assert labels_for(model, clean_labels(["a", "b"])) == (Label("a"), Label("b"))
    assert labels_for(model, None) == model.labels
    assert labels_for(model, ()) == model.labels
    with pytest.raises(UserError, match="has no labels of its own"):
        labels_for(FakeModel(), None)
    assert labels_for(FakeModel(), clean_labels(["alone"])) == (Label("alone"),)


def test_what_the_window_asks_of_the_machine() -> None:
    assert "all-MiniLM-L6-v2" in {entry.name for entry in installed_models()}
    assert devices()[0].name == "cpu"
    with pytest.raises(UserError, match="tpu"):
        open_session("tpu")


def test_the_cache_is_the_users() -> None:
    import numpy as np

    cache = open_vector_cache(10)
    cache.put("g", ["a"], np.ones((1, 3), dtype=np.float32))
    again = open_vector_cache(10)
    assert again.get("g", ["a", "b"])[0].tolist() == [True, False]


def written_config(folder: Path, tokens: int) -> str:
    folder.mkdir()
    config = {"model_type": "sce", "embedder": {"kind": "native", "encoder": {"vocab_size": tokens}}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(folder)


def test_similarity_compares_in_the_vectors_of_a_model_of_many_languages(tmp_path: Path) -> None:
    english = written_config(tmp_path / "english", 30_522)
    many = written_config(tmp_path / "many", 250_037)
    assert similarity_beside(english) == "all-MiniLM-L6-v2"
    assert similarity_beside(many) == many
    assert similarity_beside("llm:any") == similarity_beside("not there") == "all-MiniLM-L6-v2"
    session = FakeSession(FakeModel(english), FakeModel(many))
    baselines = [Baseline("similarity"), Baseline("e5", "similarity", "e5"), Baseline("llm", "llm")]

    loaded = load_models(session, [many], baselines, RecordingProgress())
    assert [named.name for named in loaded.models] == [many, "similarity", "e5", "llm"]
    assert [getattr(named.model, "name", "") for named in loaded.models[1:]] == [
        f"similarity:{many}",
        "similarity:e5",
        "llm",
    ]
    assert loaded.baselines == {"similarity": many, "e5": "e5", "llm": "SmolLM2-135M-Instruct"}
    assert [named.title for named in loaded.models] == [many, many, "e5", "SmolLM2-135M-Instruct"]

    beside_english = load_models(session, [english], baselines[:1], RecordingProgress())
    assert beside_english.baselines == {"similarity": "all-MiniLM-L6-v2"}
    assert getattr(beside_english.models[1].model, "name", "") == "similarity"
