from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.finetune import finetune_embedder as adapting_ml
from sce_desktop.ml.finetune.standard import FineTuned
from sce_desktop.ml.similarity import SimilarityModel
from sce_desktop.ml.transductive import TransductiveModel
from sce_desktop.research import few_shot_learning as few_shot_ml
from sce_desktop.research import setfit_learner
from sce_desktop.research.few_shot import FewShotReport, drawn, few_shot
from sce_desktop.research.few_shot_learning import Draw
from tests.ml.tiny import DictCache, tiny_sce_model
from tests.tasks.fakes import FakeModel, StoppingProgress

WORDS = {
    "wet": ["football", "team", "match", "goal", "player", "game"],
    "blue": ["stock", "market", "bank", "company", "business", "government"],
}
MORE = ["new", "old", "very", "never", "always", "not", "is", "was"]


class TinySession:
    """Real models, tiny ones."""

    def __init__(self) -> None:
        self._model = tiny_sce_model(name="ours")

    def model(self, name: str) -> object:
        return self._model if name == "ours" else FakeModel()

    def baseline(self, spec: str) -> SimilarityModel:
        return SimilarityModel(tiny_sce_model(seed=5, name="theirs").text_embedder)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "validation").mkdir()
    for name, extra in (("many", MORE), ("few", MORE[:2])):
        with gzip.open(tmp_path / "validation" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            for label, words in WORDS.items():
                for word in words:
                    for one in extra:
                        text = f"{word} {one} {words[0]}"
                        file.write(json.dumps({"text": text, "label": label, "split": "test"}) + "\n")
    return tmp_path


def run(data: Path, **options: object) -> FewShotReport:
    arguments = {
        "source": TinySession(),
        "model": "ours",
        "sets": ["many"],
        "sizes": (1, 8),
        "draws": 3,
        "progress": SilentProgress(),
        **options,
    }
    return few_shot(data, **arguments)  # type: ignore[arg-type]


def test_every_method_at_every_size(data: Path) -> None:
    found = run(data).as_json()
    assert list(found["sets"]) == ["many"]
    assert found["sets"]["many"]["rows"] == 96
    assert list(found["sets"]["many"]["sizes"]) == ["1", "8"]
    by = found["sets"]["many"]["sizes"]["8"]
    assert list(by) == [
        "ours zero-shot",
        "ours fine-tune",
        "ours logistic",
        "ours mix",
        "similarity zero-shot",
        "similarity logistic",
        "similarity mix",
    ]
    assert by["ours fine-tune"]["mean"] > by["ours zero-shot"]["mean"] + 0.1
    assert by["ours logistic"]["mean"] > 0.8
    assert found["mean"]["8"]["ours mix"] == pytest.approx(by["ours mix"]["mean"])
    assert by["ours zero-shot"]["spread"] > 0  # other rows remain in every draw
    assert found["seconds"]["total"] > 0


def test_the_whole_table_can_be_measured_too(data: Path) -> None:
    alone = run(data, sizes=(2,)).accuracies["many"][2]
    found = run(data, whole_table=True, sizes=(2,)).accuracies["many"][2]
    assert {name: found[name] for name in alone} == alone
    assert set(found) == set(alone) | {f"{name}, whole table" for name in alone}
    assert {len(draws) for draws in found.values()} == {3}


def test_zero_shot_in_the_whole_table_is_what_a_model_in_its_table_says(data: Path) -> None:
    model = tiny_sce_model(name="ours")
    texts = [f"{word} {one}" for words in WORDS.values() for word in words for one in MORE]
    labels = [Label(name) for name in WORDS]
    space = few_shot_ml.space_of(model, texts, labels, cache=None, progress=SilentProgress())
    draw = Draw(np.array([0, 95]), np.array([0, 1]), np.arange(1, 95), 0)
    answers = few_shot_ml.in_table(few_shot_ml.zero_shot)(space, draw, SilentProgress())
    told = TransductiveModel.from_texts(model, texts).score(space.vectors, labels).probabilities
    assert (answers == told.argmax(1)[1:95]).all()


def test_rows_without_a_label_settle_what_the_fine_tune_leaves_open() -> None:
    """Two groups of rows; single rows lie off, their neighbours do not."""
    random = np.random.default_rng(0)
    gold = np.repeat([0, 1], 100)
    vectors = np.eye(2, 16)[gold] + 0.12 * random.normal(size=(200, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = (random.normal(size=(200, 2)) + np.eye(2)[gold]).astype(np.float32)
    names = np.eye(2, 16, dtype=np.float32)
    space = few_shot_ml.Space(vectors.astype(np.float32), names, scores, 1.0)
    draw = Draw(np.array([0, 199]), np.array([0, 1]), np.arange(1, 199), 0)
    alone = few_shot_ml.alone(few_shot_ml.fine_tune)(space, draw, SilentProgress())
    together = few_shot_ml.in_table(few_shot_ml.fine_tune)(space, draw, SilentProgress())
    assert (together == gold[1:199]).mean() > (alone == gold[1:199]).mean() + 0.05


def test_training_the_weights_of_the_sce_can_be_measured_too(data: Path) -> None:
    session = TinySession()
    weights = [p.clone() for p in session._model.parameters()]
    found = run(data, source=session, sizes=(8,), trained_head=True).accuracies["many"][8]
    assert np.mean(found["ours head"]) > np.mean(found["ours zero-shot"]) + 0.05
    assert np.mean(found["ours fine-tune and head"]) > 0.6
    assert all((a == b).all() for a, b in zip(weights, session._model.parameters(), strict=True))


@pytest.mark.parametrize("kept", [True, False])
def test_the_embedder_adapted_can_be_measured_too(
    data: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """Where it is not kept, the answers are those of the fast way."""
    real = adapting_ml.finetune_embedder
    made: list[FineTuned] = []

    def short(*arguments: Any, settings: FinetuneSettings, **options: Any) -> FineTuned:
        made.append(real(*arguments, settings=replace(settings, epochs=10), **options))
        return made[-1]

    monkeypatch.setattr(few_shot_ml, "finetune_embedder", short)
    monkeypatch.setattr(adapting_ml, "_better", lambda *_: kept)
    found = run(data, sizes=(8,), draws=1, adapt_embedder=True).accuracies["many"][8]
    fast, adapted = found["ours fine-tune"], found["ours fine-tune, embedder adapted"]
    assert [one.adapted is not None and one.adapted.kept for one in made] == [kept]
    if kept:
        assert adapted[0] > found["ours zero-shot"][0]
    else:
        assert adapted == fast


def test_setfit_where_it_is_asked_for(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Always:
        def __init__(self, _folder: Path, texts: list[str]) -> None:
            self.count = len(texts)

        def __call__(self, _space: object, draw: Draw, _progress: object) -> IdArray:
            assert self.count == len(draw.train) + len(draw.test)
            return np.full(len(draw.test), draw.gold[0])

    monkeypatch.setattr(setfit_learner, "SetFit", Always)
    monkeypatch.setattr(setfit_learner, "check_setfit", lambda: None)
    report = run(data, draws=5, setfit=True)
    found = report.accuracies["many"]
    assert "similarity SetFit" not in found[1]
    assert len(found[8]["similarity SetFit"]) == 3
    assert len(found[8]["similarity mix"]) == 5
    assert "similarity SetFit" not in report.as_json()["mean"]["1"]
    assert report.as_json()["mean"]["8"]["similarity SetFit"] == pytest.approx(0.5)
    rows = [line.split("|")[-2].strip() for line in report.as_markdown()]
    assert rows[0] == "similarity SetFit"
    assert (rows[2], rows[3], rows[4], rows[5]) == ("", "50.0 ± 0.0", "", "50.0")


def test_setfit_that_is_not_installed_is_reported_before_anything_runs(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setfit_learner.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"sce-desktop\[setfit\]"):
        run(data, source=None, setfit=True)


def test_sizes_that_leave_too_few_rows_are_left_out(data: Path) -> None:
    progress = SilentProgress()
    found = run(data, sets=["many", "few"], sizes=(1, 16, 32), progress=progress)
    assert list(found.accuracies) == ["many"]
    assert list(found.accuracies["many"]) == [1, 16]
    assert "few" in progress.warnings[0]
    with pytest.raises(UserError, match="No set has enough rows"):
        run(data, sets=["few"])


def test_a_table(data: Path) -> None:
    lines = run(data, sizes=(1,)).as_markdown()
    assert lines[0].startswith("| set | rows per label | ours zero-shot | ours fine-tune |")
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["many", "mean"]
    assert all(line.count("|") == lines[0].count("|") for line in lines)


def test_texts_are_embedded_once(data: Path) -> None:
    cache = DictCache()
    run(data, cache=cache)
    kept = len(cache)
    run(data, cache=cache, draws=2)
    assert len(cache) == kept == 2 * 96


def test_max_rows_and_parts(data: Path) -> None:
    assert run(data, sets=None, part="validation", max_rows=70, sizes=(1,)).rows == {"many": 70}


def test_draws_are_stratified_disjoint_and_the_same_every_time() -> None:
    gold = np.array([0] * 30 + [1] * 10)
    first, again = list(drawn(gold, 4, 3)), list(drawn(gold, 4, 3))
    for (train, test), (train_again, _) in zip(first, again, strict=True):
        assert np.bincount(gold[train]).tolist() == [4, 4]
        assert not set(train) & set(test)
        assert len(train) + len(test) == 40
        np.testing.assert_array_equal(train, train_again)
    assert first[0][0].tolist() != first[1][0].tolist()


def test_what_is_no_sce_and_cancelling(data: Path) -> None:
    with pytest.raises(UserError, match="fake is not an SCE model"):
        run(data, model="fake")
    with pytest.raises(Cancelled):
        run(data, progress=StoppingProgress(20))


def test_each_head_stands_beside_the_chosen_one(data: Path) -> None:
    report = run(data, heads=True, whole_table=True)
    found = report.as_json()
    assert found["chosen"] == report.chosen
    heads = ["chosen head", "SCE head", "logistic regression", "product"]
    for size in ("1", "8"):
        by = found["sets"]["many"]["sizes"][size]
        assert set(by) == {
            f"ours {name}{joint}" for name in ("zero-shot", *heads) for joint in ("", ", whole table")
        }
        assert sum(found["chosen"]["many"][int(size)].values()) == 3
    assert found["chosen"]["many"][1] == {"product": 3}
    one = report.accuracies["many"][1]
    assert one["ours chosen head"] == one["ours product"]
    best = report.accuracies["many"][8]
    assert np.mean(best["ours chosen head"]) > np.mean(best["ours zero-shot"]) + 0.1
    assert found["baselines"] == {}  # nothing else is loaded
