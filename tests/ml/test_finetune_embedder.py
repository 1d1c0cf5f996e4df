"""The slower fine-tune, on a tiny model: PEFT on our own encoder, what is kept of it, and when it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.heads import Way
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import Epoch
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.finetune import adapting, finetune_embedder
from sce_desktop.ml.finetune.adapting import AdapterTrainer, adapted, pace_of, why_not
from sce_desktop.ml.finetune.fitting import Fitter
from sce_desktop.ml.finetune.recipes import FOLDS, adapter_steps, adapter_work
from sce_desktop.ml.finetune.standard import FineTuned, finetune
from sce_desktop.ml.finetune.versions import changed_weights, in_other_way, in_way, with_changes
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.test_finetune import GOLD, LABELS, TEXTS, StopsAt, right
from tests.ml.tiny import DictCache, tiny_sce_model

SETTINGS = FinetuneSettings(epochs=10, lr=1.9, adapt_embedder=True)


@pytest.fixture(scope="module")
def base() -> SCEModel:
    return tiny_sce_model()


@pytest.fixture(scope="module")
def tuned(base: SCEModel) -> FineTuned:
    return slow(base)


def slow(base: SCEModel, **options: object) -> FineTuned:
    arguments = {"settings": SETTINGS, "progress": SilentProgress(), **options}
    return finetune_embedder.finetune_embedder(base, TEXTS, GOLD, LABELS, **arguments)  # type: ignore[arg-type]


def trained(base: SCEModel, steps: int = 20, **options: object) -> AdapterTrainer:
    trainer = AdapterTrainer(base, TEXTS, np.array(GOLD), LABELS, **options)  # type: ignore[arg-type]
    for _ in range(steps):
        trainer.step()
    return trainer


# --- the adapter -------------------------------------------------------------------------------------------


def test_an_untrained_adapter_changes_nothing(base: SCEModel) -> None:
    same = adapted(base, trained(base, 0).adapter())
    np.testing.assert_allclose(same.embed(TEXTS), base.embed(TEXTS), atol=2e-3)  # rounded to what is kept


def test_training_lowers_the_loss_and_leaves_the_base_alone(base: SCEModel) -> None:
    before, vectors = base.fingerprint, base.embed(TEXTS)
    trainer = trained(base, 0, rate=3.0)
    losses = [trainer.step() for _ in range(30)]
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
    again = SCEModel(base.config, base.embedder, base.head, base.tokenizer)
    assert again.fingerprint == before
    np.testing.assert_array_equal(base.embed(TEXTS), vectors)
    assert all(p.grad is None for p in base.parameters())


def test_it_is_the_attention_of_every_layer_that_learns(base: SCEModel) -> None:
    assert set(trained(base, 1).adapter()) == {f"layers.{n}.{m}" for n in (0, 1) for m in ("qkv", "out")}


def test_merged_weights_say_what_the_adapter_said(base: SCEModel) -> None:
    trainer = trained(base, rate=3.0)
    model = adapted(base, trainer.adapter())
    beside = trainer.reader.encode(TEXTS)
    assert np.abs(beside - base.embed(TEXTS)).max() > 0.05
    np.testing.assert_allclose(model.embed(TEXTS), beside, atol=5e-3)
    assert model.text_embedder.key != base.text_embedder.key


def test_an_adapter_of_another_encoder_is_refused(base: SCEModel) -> None:
    a, b = torch.zeros(8, 3), torch.zeros(5, 8)
    for name in ("layers.0.qkv", "layers.7.qkv", "layers.0"):
        with pytest.raises(ValueError, match="no map"):
            adapted(base, {name: (a, b)})


def test_texts_are_cut_where_the_model_stops_reading(base: SCEModel) -> None:
    long = "word " * 500
    trainer = AdapterTrainer(base, [long, "team"], np.array([0, 1]), LABELS[:2])
    assert max(map(len, trainer.texts)) == base.max_tokens
    assert np.isfinite(trainer.step())


def test_long_texts_go_through_in_parts(base: SCEModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, checks = trained(base, 0), StopsAt(0)
    loss, slopes = whole.slopes(checks)
    assert checks.asked == 1
    monkeypatch.setattr(adapting, "MOST_TOKENS", 9)
    found, in_parts = trained(base, 0).slopes(checks)
    assert checks.asked > 4
    assert found == pytest.approx(loss, abs=1e-5)
    for one, other in zip(slopes, in_parts, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-3)


def test_of_many_labels_some_take_part_in_a_step(base: SCEModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapting, "MOST_LABELS", 5)
    labels = [*LABELS, *(Label(f"team {n}") for n in range(40))]
    trainer = AdapterTrainer(base, TEXTS, np.array(GOLD), labels)
    for _ in range(5):
        columns = trainer.columns(np.arange(len(TEXTS)))
        assert {0, 1, 2} <= set(columns.tolist())
        assert len(columns) <= 8
        assert np.isfinite(trainer.step())


def test_the_same_seed_the_same_adapter(base: SCEModel) -> None:
    one, two = (adapted(base, trained(base, 5, seed=3).adapter()) for _ in range(2))
    assert one.fingerprint == two.fingerprint
    assert one.fingerprint != adapted(base, trained(base, 5, seed=4).adapter()).fingerprint


def test_the_trial_before_learns_nothing(base: SCEModel) -> None:
    before = base.embed(TEXTS)
    pace = pace_of(base, TEXTS, LABELS, SilentProgress())
    assert pace.step > 0
    assert pace.read > 0
    assert pace.step_bytes > 0
    np.testing.assert_array_equal(
        SCEModel(base.config, base.embedder, base.head, base.tokenizer).embed(TEXTS), before
    )


# --- the fine-tune -----------------------------------------------------------------------------------------


def test_what_is_kept_is_better_on_the_rows_left_out(base: SCEModel, tuned: FineTuned) -> None:
    found = tuned.adapted
    assert found is not None
    assert found.kept
    assert found.steps in adapter_steps(len(TEXTS), SETTINGS.epochs)
    gold = np.array(GOLD)[tuned.measured].tolist()
    fast = finetune(base, TEXTS, GOLD, LABELS, settings=SETTINGS, progress=SilentProgress())
    np.testing.assert_array_equal(found.fast, fast.after)
    np.testing.assert_array_equal(tuned.before, fast.before)
    assert right(tuned.after, gold) > right(found.fast, gold) > right(tuned.before, gold)
    assert right(tuned.model.probabilities(TEXTS, LABELS).probabilities, GOLD) == 1
    assert tuned.model.config.corrected == ("wet", "blue", "fast")
    assert tuned.model.labels == tuple(LABELS)
    assert tuned.model.adapter
    assert set(tuned.seconds) == {"embed", "train", "adapt"}


def test_a_version_goes_into_a_small_blob_and_back(base: SCEModel, tuned: FineTuned) -> None:
    blob = changed_weights(tuned.model)
    assert len(blob) < 60_000
    again = with_changes(base, blob)
    assert again.fingerprint == tuned.model.fingerprint
    assert again.text_embedder.key == tuned.model.text_embedder.key
    cut = blob[:-10]
    with pytest.raises(UserError, match="damaged"):
        with_changes(base, cut)
    with pytest.raises(UserError, match="another model"):
        with_changes(tiny_sce_model(model_type="roberta"), blob.replace(b"layers.1.qkv", b"layers.9.qkv"))


def test_an_exported_folder_makes_the_same_vectors(
    base: SCEModel, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("out")
    base.save_pretrained(folder / "base")
    saved = SCEModel.from_pretrained(folder / "base")
    model = adapted(saved, trained(saved, 5).adapter())
    model.save_pretrained(folder / "mine")
    again = SCEModel.from_pretrained(folder / "mine")
    assert again.text_embedder.key == model.text_embedder.key
    np.testing.assert_array_equal(again.embed(TEXTS), model.embed(TEXTS))


def test_vectors_go_to_the_cache_under_a_key_of_their_own(base: SCEModel) -> None:
    cache = DictCache()
    found = slow(base, cache=cache)
    distinct = len(set(TEXTS))
    assert len(cache) == 2 * distinct
    found.model.embed(TEXTS, cache=cache)
    assert len(cache) == 2 * distinct


def test_where_it_is_no_better_the_fast_way_stays(base: SCEModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def learns_nothing(self: AdapterTrainer, _progress: object) -> float:
        self.steps += 1
        return 1.0

    monkeypatch.setattr(AdapterTrainer, "step", learns_nothing)
    found = slow(base)
    fast = finetune(base, TEXTS, GOLD, LABELS, settings=SETTINGS, progress=SilentProgress())
    assert found.adapted is not None
    assert not found.adapted.kept
    assert found.adapted.sentence.endswith(
        "no better on the validation rows: the standard fine-tune is kept."
    )
    assert found.model.fingerprint == fast.model.fingerprint
    np.testing.assert_array_equal(found.after, fast.after)


def test_a_version_holds_both_encoders(base: SCEModel, tuned: FineTuned) -> None:
    heads = tuned.heads
    assert (heads.way, heads.best) == (Way.ADAPTED, Way.ADAPTED)
    np.testing.assert_array_equal(heads.measured[Way.ADAPTED], tuned.after)
    assert f"{100 * right(tuned.after, np.array(GOLD)[tuned.measured].tolist()):.1f}%" in heads.reason
    blob = changed_weights(heads.fitted, heads.adapted, heads.way)
    assert with_changes(base, blob).fingerprint == tuned.model.fingerprint
    for way in (Way.SCE, Way.LOGISTIC, Way.PRODUCT):
        found = with_changes(base, in_other_way(blob, way))
        assert found.fingerprint == in_way(base, heads.fitted, way).fingerprint
        assert found.text_embedder.key == base.text_embedder.key
    back = with_changes(base, in_other_way(in_other_way(blob, Way.SCE), Way.ADAPTED))
    assert back.fingerprint == tuned.model.fingerprint


def test_another_head_leaves_the_encoder_to_be_used_later(base: SCEModel, tuned: FineTuned) -> None:
    found = slow(base, settings=replace(SETTINGS, head=Way.SCE))
    assert found.heads.way is Way.SCE
    assert found.model.text_embedder.key == base.text_embedder.key
    assert found.heads.usable(Way.ADAPTED)
    np.testing.assert_array_equal(found.after, found.heads.measured[Way.SCE])


def test_an_encoder_that_was_asked_for_is_kept(base: SCEModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finetune_embedder, "_better", lambda *_args: False)
    assert slow(base).heads.way is not Way.ADAPTED
    asked = slow(base, settings=replace(SETTINGS, head=Way.ADAPTED))
    assert (asked.heads.way, asked.heads.usable(Way.ADAPTED)) == (Way.ADAPTED, True)
    assert asked.heads.best is not Way.ADAPTED
    assert asked.model.adapter
    assert "asked" in asked.heads.reason


def test_a_loss_that_is_no_number_ends_it(base: SCEModel, monkeypatch: pytest.MonkeyPatch) -> None:
    slopes = AdapterTrainer.slopes

    def breaks(self: AdapterTrainer, progress: Progress) -> tuple[float, object]:
        loss, found = slopes(self, progress)
        return (float("nan"), found) if self.steps == 3 else (loss, found)

    monkeypatch.setattr(AdapterTrainer, "slopes", breaks)
    progress = SilentProgress()
    found = slow(base, progress=progress)
    assert found.adapted is not None
    assert not found.adapted.kept
    assert not found.model.adapter
    assert any("(non-finite values) in step 4: lower" in warning for warning in progress.warnings)


def test_weights_too_large_to_be_kept_leave_the_fast_way(base: SCEModel) -> None:
    progress = SilentProgress()
    settings = replace(SETTINGS, lr=1e7)
    found = slow(base, progress=progress, settings=settings)
    fast = finetune(base, TEXTS, GOLD, LABELS, settings=settings, progress=SilentProgress())
    assert found.adapted is not None
    assert not found.adapted.kept
    assert found.model.fingerprint == fast.model.fingerprint
    assert any("lower the learning rate" in warning for warning in progress.warnings)


@pytest.mark.parametrize("lost", ["left out", "kept"])
def test_an_embedder_that_gives_no_numbers_is_not_kept(
    base: SCEModel, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    looks = FOLDS * len(adapter_steps(len(TEXTS), SETTINGS.epochs))
    merge, merged = adapting.adapted, 0

    def overflows(model: SCEModel, adapter: adapting.Adapter) -> SCEModel:
        nonlocal merged
        merged += 1
        tuned = merge(model, adapter)
        if merged == (1 if lost == "left out" else looks + 1):
            tuned.embedder.layers[0].get_submodule("qkv").weight.data.fill_(torch.inf)
        return tuned

    monkeypatch.setattr(finetune_embedder, "adapted", overflows)
    progress = SilentProgress()
    found = slow(base, progress=progress)
    assert found.adapted is not None
    assert not found.adapted.kept
    assert not found.model.adapter
    why = "diverged (non-finite values)" if lost == "left out" else "could not be fine-tuned on all rows"
    assert why in found.adapted.sentence
    assert any("(non-finite values) in step" in warning for warning in progress.warnings)


def test_an_embedder_that_no_longer_knows_its_own_rows_is_not_kept(
    base: SCEModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vectors of all rows collapse in the last training, though all numbers are finite."""
    keep, examples_of, last = finetune_embedder._Work._keep, finetune_embedder.examples_of, False

    def keeps(self: finetune_embedder._Work, *arguments: object) -> object:
        nonlocal last
        last = True
        return keep(self, *arguments)  # type: ignore[arg-type]

    def collapsed(*arguments: object) -> object:
        examples, before = examples_of(*arguments)  # type: ignore[arg-type]
        if last:
            one, scores = examples.vectors[:1], torch.zeros_like(examples.scores)
            examples = replace(examples, vectors=one.repeat(len(examples), 1), scores=scores)
        return examples, before

    monkeypatch.setattr(finetune_embedder._Work, "_keep", keeps)
    monkeypatch.setattr(finetune_embedder, "examples_of", collapsed)
    found = slow(base)
    assert found.adapted is not None
    assert not found.adapted.kept
    assert last
    assert "fine-tuned on all rows: the standard fine-tune is kept" in found.adapted.sentence


def test_without_rows_to_leave_out_the_fast_way_stays(base: SCEModel) -> None:
    found = finetune_embedder.finetune_embedder(
        base, TEXTS[5:8], [0, 1, 2], LABELS, settings=SETTINGS, progress=SilentProgress()
    )
    assert found.adapted is not None
    assert found.adapted.sentence.startswith("No validation rows for a fine-tuned text encoder")
    assert not found.model.adapter


def stopping_at(stage: str, number: int, fold: int) -> Callable[[Epoch], bool]:
    stopped = False

    def on_epoch(epoch: Epoch) -> bool:
        nonlocal stopped
        stopped = stopped or (epoch.stage, epoch.number, epoch.fold) == (stage, number, fold)
        return not stopped

    return on_epoch


@pytest.mark.parametrize("moment", [("choosing", 2, 0), ("adapting", 1, 1), ("adapting", 7, 3)])
def test_stop_while_it_is_measured_keeps_the_fast_way(base: SCEModel, moment: tuple[str, int, int]) -> None:
    found = slow(base, on_epoch=stopping_at(*moment))
    assert found.cut_short
    assert found.adapted is not None
    assert not found.adapted.kept
    assert found.adapted.sentence.startswith("Stopped before")
    assert not found.model.adapter
    if moment[0] == "adapting":
        fast = finetune(base, TEXTS, GOLD, LABELS, settings=SETTINGS, progress=SilentProgress())
        assert found.model.fingerprint == fast.model.fingerprint


@pytest.mark.parametrize("stop_in_fit", [False, True])
def test_stop_while_rows_are_read_and_fitted_is_heard_there(
    base: SCEModel, monkeypatch: pytest.MonkeyPatch, stop_in_fit: bool
) -> None:
    """After the first look: in the second batch of texts, or in the second epoch of the fit."""
    encode, fit = NativeEmbedder.encode, Fitter.fit
    stop_early = reading = False
    batches = epochs = 0

    def in_batches(self: NativeEmbedder, texts: list[str], **options: object) -> object:
        if self.key == base.text_embedder.key:
            return encode(self, texts, **options)  # type: ignore[arg-type]
        nonlocal reading
        reading = True
        return encode(self, texts, **options | {"batch_size": 2})  # type: ignore[arg-type]

    forward = NativeEmbedder._forward

    def counted(self: NativeEmbedder, ids: list[list[int]]) -> object:
        nonlocal batches, stop_early
        if reading and not stop_in_fit:
            batches += 1
            stop_early = True
        return forward(self, ids)

    def in_epochs(
        self: Fitter, recipes: object, *, on_epoch: Callable[..., bool], **options: object
    ) -> object:
        def watched(epoch: int, loss: float, apart: float | None) -> bool:
            nonlocal epochs, stop_early
            if reading and stop_in_fit:
                epochs += 1
                stop_early = True
            return on_epoch(epoch, loss, apart)

        return fit(self, recipes, on_epoch=watched, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(NativeEmbedder, "encode", in_batches)
    monkeypatch.setattr(NativeEmbedder, "_forward", counted)
    monkeypatch.setattr(Fitter, "fit", in_epochs)
    found = slow(base, on_epoch=lambda _: not stop_early)
    assert found.cut_short
    assert found.adapted is not None
    assert found.adapted.sentence.startswith("Stopped before")
    assert (batches, epochs) == ((0, 1) if stop_in_fit else (1, 0))


def test_stop_in_the_last_training_keeps_what_there_is(base: SCEModel, tuned: FineTuned) -> None:
    assert tuned.adapted is not None
    late = slow(base, on_epoch=stopping_at("keeping", tuned.adapted.steps - 1, 0))
    assert late.adapted is not None
    early = slow(base, on_epoch=stopping_at("keeping", 1, 0))
    assert early.adapted is not None
    assert not early.adapted.kept
    assert late.adapted.kept  # a look before the chosen one was better than the fast way too
    assert 1 < late.adapted.steps < tuned.adapted.steps
    assert {late.model.fingerprint, early.model.fingerprint}.isdisjoint({tuned.model.fingerprint})


@pytest.mark.parametrize("check", [1, 60, 150])
def test_cancel_keeps_nothing(base: SCEModel, check: int) -> None:
    with pytest.raises(Cancelled):
        slow(base, progress=StopsAt(check))


def test_every_step_is_reported(base: SCEModel) -> None:
    told: list[Epoch] = []
    reports: list[tuple[int, int | None]] = []

    class Watches(SilentProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            if stage == "fine-tuning the text encoder":
                reports.append((done, total))

    def on_epoch(epoch: Epoch) -> bool:
        told.append(epoch)
        return True

    slow(base, progress=Watches(), on_epoch=on_epoch)
    steps = [epoch for epoch in told if epoch.stage == "adapting"]
    last = adapter_steps(len(TEXTS), SETTINGS.epochs)[-1]
    assert [epoch.number for epoch in steps] == FOLDS * list(range(1, last + 1))
    assert all(np.isfinite(epoch.loss) for epoch in steps)
    assert {epoch.stage for epoch in told[: told.index(steps[0])]} == {"choosing"}
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    assert reports[-1][0] == reports[-1][1] == (FOLDS + 1) * last


def test_of_many_rows_one_part_is_left_out(base: SCEModel) -> None:
    words = [
        f"{a} {b}"
        for a in ("new", "old", "very", "never", "always")
        for b in ("slow", "happy", "good", "poor", "angry")
    ]
    texts = [f"{text} {word}" for text in TEXTS for word in words]
    gold = [place for place in GOLD for _ in words]
    folds: set[int] = set()

    def on_epoch(epoch: Epoch) -> bool:
        if epoch.stage == "adapting":
            folds.add(epoch.fold)
        return True

    found = finetune_embedder.finetune_embedder(
        base, texts, gold, LABELS, settings=SETTINGS, progress=SilentProgress(), on_epoch=on_epoch
    )
    assert folds == {1}
    assert not found.cross_validated
    assert found.train_rows == len(texts) - len(found.measured)


# --- where it cannot be ------------------------------------------------------------------------------------


@pytest.fixture
def without_peft(monkeypatch: pytest.MonkeyPatch) -> None:
    find = adapting.importlib.util.find_spec
    monkeypatch.setattr(
        adapting.importlib.util, "find_spec", lambda name: None if name == "peft" else find(name)
    )
    return


@pytest.mark.usefixtures("without_peft")
def test_without_peft_a_sentence_says_so(base: SCEModel) -> None:
    assert "pip install peft" in why_not(base)
    with pytest.raises(UserError, match="package peft"):
        slow(base)


def test_an_embedder_of_another_kind_is_refused() -> None:
    assert why_not(object()).startswith("The text encoder of this model cannot be fine-tuned")


def test_an_adapted_embedder_is_not_adapted_again(base: SCEModel, tuned: FineTuned) -> None:
    """What a version keeps would be the last adapter alone, and make another model."""
    assert "is already fine-tuned" in why_not(tuned.model)
    with pytest.raises(UserError, match="start from its base model"):
        slow(tuned.model)
    with pytest.raises(ValueError, match="already"):
        adapted(tuned.model, trained(base, 1).adapter())
    again = finetune(tuned.model, TEXTS, GOLD, LABELS, settings=SETTINGS, progress=SilentProgress())
    assert with_changes(base, changed_weights(again.model)).fingerprint == again.model.fingerprint


def test_how_much_work_there_is() -> None:
    assert adapter_steps(64) == (10, 20, 40)
    assert adapter_steps(64, epochs=1) == (1, 2, 4)
    assert adapter_steps(1600)[-1] == 200
    assert adapter_steps(100_000)[-1] == 400
    assert adapter_steps(1, epochs=1) == (1,)
    assert adapter_work(80, 80) == (6 * 40, 16 * 80)
    assert adapter_work(1600, 1600) == (2 * 200, 4 * 1600)
