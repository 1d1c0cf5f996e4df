from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.heads import Way
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Epoch
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.finetune.standard import CAUTIOUS, FineTuned, finetune, folds
from sce_desktop.ml.finetune.versions import changed_weights, with_changes
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.tiny import DictCache, tiny_sce_model

# What the words of a label say nothing about, so that only examples can teach it.
WORDS = {
    "wet": ["football team", "match goal", "player match", "goal team", "team player", "goal player"],
    "blue": ["stock market", "bank stock", "market company", "company bank", "bank market", "stock company"],
    "fast": ["doctor hospital", "law court", "school student", "court minister", "student law", "hospital"],
}
LABELS = [Label(name) for name in (*WORDS, "music")]  # no example of the last
TEXTS = [text for texts in WORDS.values() for text in texts]
GOLD = [place for place, texts in enumerate(WORDS.values()) for _ in texts]
QUICK = FinetuneSettings(epochs=30)


@pytest.fixture(scope="module")
def base() -> SCEModel:
    return tiny_sce_model()


@pytest.fixture(scope="module")
def tuned(base: SCEModel) -> FineTuned:
    return finetune(base, TEXTS, GOLD, LABELS, settings=QUICK, progress=SilentProgress())


def tune(base: SCEModel, texts: list[str], gold: list[int], **options: object) -> tuple[FineTuned, list[str]]:
    progress = SilentProgress()
    arguments = {"labels": LABELS, "settings": QUICK, "progress": progress, **options}
    return finetune(base, texts, gold, **arguments), progress.warnings  # type: ignore[arg-type]


def right(found: np.ndarray, gold: list[int]) -> float:
    return float((found.argmax(1) == gold).mean())


def test_it_learns_what_the_names_do_not_say(base: SCEModel, tuned: FineTuned) -> None:
    gold = np.array(GOLD)
    assert sorted(tuned.measured.tolist()) == list(range(len(TEXTS)))
    assert tuned.cross_validated
    before, after = (right(found, gold[tuned.measured].tolist()) for found in (tuned.before, tuned.after))
    assert after > before + 0.2
    learned = tuned.model.probabilities(TEXTS, LABELS).probabilities
    assert right(learned, GOLD) > right(base.probabilities(TEXTS, LABELS).probabilities, GOLD) + 0.2


def test_before_is_what_the_base_says(base: SCEModel, tuned: FineTuned) -> None:
    np.testing.assert_allclose(
        tuned.before, base.probabilities(TEXTS, LABELS).probabilities[tuned.measured], atol=1e-5
    )
    assert base.correction is None


def test_rows_are_not_measured_by_what_learned_from_them(base: SCEModel, tuned: FineTuned) -> None:
    learned = tuned.model.probabilities(TEXTS, LABELS).probabilities[tuned.measured]
    assert np.abs(learned - tuned.after).max() > 0.01


def test_the_order_of_labels_changes_nothing(tuned: FineTuned) -> None:
    whole = tuned.model.probabilities(TEXTS, LABELS).probabilities
    random = np.random.default_rng(0)
    for _ in range(5):
        order = random.permutation(len(LABELS))
        found = tuned.model.probabilities(TEXTS, [LABELS[i] for i in order]).probabilities
        assert np.abs(found - whole[:, order]).max() < 1e-5


def test_a_label_without_examples_keeps_its_score(base: SCEModel, tuned: FineTuned) -> None:
    assert tuned.model.config.corrected == ("wet", "blue", "fast")
    assert tuned.model.labels == tuple(LABELS)
    unknown = [Label("music"), Label("film")]
    scale = tuned.model.config.temperature
    new = np.log(tuned.model.probabilities(TEXTS, unknown).probabilities) * scale
    old = np.log(base.probabilities(TEXTS, unknown).probabilities)
    np.testing.assert_allclose(new[:, 0] - new[:, 1], old[:, 0] - old[:, 1], atol=1e-3)


def test_the_same_seed_the_same_model(base: SCEModel, tuned: FineTuned) -> None:
    again, _ = tune(base, TEXTS, GOLD)
    assert again.model.fingerprint == tuned.model.fingerprint != base.fingerprint
    assert again.measured.tolist() == tuned.measured.tolist()


def test_text_vectors_come_from_the_cache(base: SCEModel) -> None:
    cache = DictCache()
    tune(base, TEXTS, GOLD, cache=cache)
    kept = len(cache)
    changed, _ = tune(base, TEXTS, GOLD, cache=cache)
    changed.model.embed(TEXTS, cache=cache)
    assert len(cache) == kept == len(set(TEXTS))


def test_it_goes_on_from_a_fine_tuned_model(base: SCEModel, tuned: FineTuned) -> None:
    texts = ["film music", "music travel", "film food", "train car", "flight car", "train hotel"]
    gold = [0, 0, 0, 1, 1, 1]
    further, _ = tune(tuned.model, texts, gold, labels=[Label("music"), Label("new"), *LABELS[:3]])
    assert further.model.config.corrected == ("wet", "blue", "fast", "music", "new")
    assert right(further.model.probabilities(TEXTS, LABELS[:3]).probabilities, GOLD) > 0.8


def test_a_version_goes_into_a_blob_and_back(base: SCEModel, tuned: FineTuned) -> None:
    blob = changed_weights(tuned.model)
    assert len(blob) < 10_000
    again = with_changes(base, blob)
    assert again.fingerprint == tuned.model.fingerprint
    np.testing.assert_array_equal(
        again.probabilities(TEXTS, LABELS).probabilities,
        tuned.model.probabilities(TEXTS, LABELS).probabilities,
    )


@pytest.mark.parametrize("damage", [lambda blob: blob[:40], lambda blob: b"", lambda blob: b"x" * 400])
def test_a_damaged_blob(base: SCEModel, tuned: FineTuned, damage) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match="damaged"):
        with_changes(base, damage(changed_weights(tuned.model)))


def test_a_folder_with_what_was_learned(tuned: FineTuned, tmp_path: Path) -> None:
    tuned.model.save_pretrained(tmp_path / "mine")
    again = SCEModel.from_pretrained(tmp_path / "mine")
    assert again.labels == tuple(LABELS)
    np.testing.assert_allclose(
        again.probabilities(TEXTS, again.labels).probabilities,
        tuned.model.probabilities(TEXTS, LABELS).probabilities,
        atol=0.02,
    )


# --- bad input ---------------------------------------------------------------------------------------------


def test_rows_of_one_label_teach_nothing(base: SCEModel) -> None:
    with pytest.raises(UserError, match=r"at least two labels with examples \(only “wet” has some\)"):
        tune(base, TEXTS[:6], GOLD[:6])
    with pytest.raises(UserError, match="at least two labels"):
        tune(base, [], [])


def test_a_single_example_is_learned_from_and_not_measured(base: SCEModel) -> None:
    tuned, _ = tune(base, [*TEXTS[:12], "film music"], [*GOLD[:12], 3])
    assert tuned.untested == ("music",)
    assert 12 not in tuned.measured
    assert "music" in tuned.model.config.corrected


def test_one_example_of_each_label_is_enough_to_learn_from(base: SCEModel) -> None:
    tuned, warnings = tune(base, TEXTS[::6], GOLD[::6])
    assert len(tuned.measured) == 0
    assert not tuned.calibrated
    assert tuned.temperature == 1.0
    assert set(tuned.untested) == set(WORDS)
    assert warnings == []
    before, after = (one.probabilities(TEXTS[::6], LABELS).probabilities for one in (base, tuned.model))
    assert (after[range(3), range(3)] > before[range(3), range(3)]).all()


def test_contradictions_are_reported_and_stay_in_one_fold(base: SCEModel) -> None:
    tuned, warnings = tune(base, [*TEXTS, TEXTS[0], TEXTS[0]], [*GOLD, 1, 0])
    assert warnings == ["Texts with different labels in different rows: 1. All are used."]
    assert len(tuned.measured) == len(TEXTS) + 2


def test_a_learning_rate_that_leaves_the_numbers(base: SCEModel) -> None:
    tuned, warnings = tune(base, TEXTS, GOLD, settings=FinetuneSettings(epochs=100, lr=1e6))
    assert tuned.stopped == "non-finite"
    assert "lower the learning rate" in warnings[0]
    assert np.isfinite(tuned.model.probabilities(TEXTS, LABELS).probabilities).all()


@pytest.mark.parametrize("lr", [0.0, -1.0, float("nan"), float("inf")])
def test_a_learning_rate_that_is_none(base: SCEModel, lr: float) -> None:
    with pytest.raises(UserError, match="learning rate"):
        tune(base, TEXTS, GOLD, settings=FinetuneSettings(lr=lr))


def test_a_model_that_gives_no_numbers() -> None:
    broken = tiny_sce_model()
    with torch.no_grad():
        broken.head.adapt.weight.fill_(float("inf"))
    with pytest.raises(UserError, match="no finite predictions"):
        tune(broken, TEXTS, GOLD)


class StopsAt(SilentProgress):
    """Cancels at the n-th question, and counts them."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at, self.asked = at, 0

    def check(self) -> None:
        self.asked += 1
        if self.asked == self.at:
            raise Cancelled


def test_it_can_be_cancelled_at_every_stage(base: SCEModel) -> None:
    watched = StopsAt(0)
    tune(base, TEXTS, GOLD, progress=watched)
    assert watched.asked > 100
    for at in (1, 2, 3, watched.asked // 2, watched.asked):
        with pytest.raises(Cancelled):
            tune(base, TEXTS, GOLD, progress=StopsAt(at))
    assert base.correction is None


def test_stop_and_keep(base: SCEModel) -> None:
    tuned, _ = tune(base, TEXTS, GOLD, on_epoch=lambda e: e.stage != "keeping" or e.number < 2)
    assert (tuned.stopped, len(tuned.losses)) == ("early", 2)
    assert tuned.model.correction is not None
    assert not tuned.cut_short  # everything had been measured


@pytest.mark.parametrize("stage", ["choosing", "measuring"])
def test_stop_while_it_measures_keeps_a_model_of_all_rows(base: SCEModel, stage: str) -> None:
    tuned, _ = tune(base, TEXTS, GOLD, on_epoch=lambda e: e.stage != stage)
    assert tuned.cut_short
    assert len(tuned.measured) == 0
    assert len(tuned.losses) > 2  # what is kept was fitted after the stop
    learned = tuned.model.probabilities(TEXTS, LABELS).probabilities
    assert right(learned, GOLD) > right(base.probabilities(TEXTS, LABELS).probabilities, GOLD) + 0.2


def test_stop_in_a_later_fold_keeps_what_was_measured_before(base: SCEModel) -> None:
    whole, _ = tune(base, TEXTS, GOLD)
    tuned, _ = tune(base, TEXTS, GOLD, on_epoch=lambda e: e.fold < 3)
    assert tuned.cut_short
    count = len(tuned.measured)
    assert 0 < count < len(TEXTS)
    assert tuned.measured.tolist() == whole.measured[:count].tolist()
    assert tuned.heads.way is Way.SCE  # no time is left to compare the others
    np.testing.assert_allclose(tuned.after, whole.heads.measured[Way.SCE][:count], atol=1e-5)


def test_every_epoch_is_reported(base: SCEModel) -> None:
    told: list[Epoch] = []

    def on_epoch(epoch: Epoch) -> bool:
        told.append(epoch)
        return True

    tuned, _ = tune(base, TEXTS, GOLD, on_epoch=on_epoch)
    measuring = [epoch for epoch in told if epoch.stage == "measuring"]
    assert {epoch.fold for epoch in measuring} == {1, 2, 3, 4, 5}
    assert all(epoch.held_out is not None for epoch in measuring)
    keeping = [epoch for epoch in told if epoch.stage == "keeping"]
    assert [epoch.number for epoch in keeping] == list(range(1, len(tuned.losses) + 1))
    assert told[-1] is keeping[-1]


def test_progress_goes_from_nothing_to_all(base: SCEModel) -> None:
    reports: list[tuple[int, int | None]] = []

    class Watches(SilentProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            if stage == "fine-tuning":
                reports.append((done, total))

    tune(base, TEXTS, GOLD, progress=Watches())
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    assert reports[-1][0] == reports[-1][1]


def test_imbalanced_rows_are_learned_from(base: SCEModel) -> None:
    """99 to 1, and the rare label is not lost."""
    texts = [f"{text} {word}" for word in ("new", "old", "very", "never") for text in TEXTS[:6]]
    tuned, _ = tune(base, [*texts, *TEXTS[6:8]], [0] * len(texts) + [1, 1])
    found = tuned.model.probabilities(TEXTS[8:12], LABELS[:2]).probabilities
    assert right(found, [1] * 4) >= 0.75


def test_many_rows_are_held_out_once(base: SCEModel) -> None:
    texts = [f"{text} {a} {b}" for text in TEXTS for a in WORDS_MORE for b in WORDS_MORE]
    gold = [place for place in GOLD for _ in range(len(WORDS_MORE) ** 2)]
    tuned, _ = tune(base, texts, gold)
    assert not tuned.cross_validated
    assert len(tuned.measured) == pytest.approx(len(texts) / 5, abs=3)
    assert tuned.train_rows == len(texts) - len(tuned.measured)
    assert tuned.calibrated


WORDS_MORE = ("new", "old", "very", "never", "always")


# --- parts -------------------------------------------------------------------------------------------------


def test_folds_are_stratified_and_keep_equal_texts_together() -> None:
    gold = np.array([0] * 20 + [1] * 10 + [2])
    groups = np.array([*range(18), 17, 17, *range(20, 30), 40])
    found = folds(gold, groups, 5, np.random.default_rng(0))
    assert found[30] == -1
    assert len(set(found[17:20].tolist())) == 1
    assert np.bincount(found[20:30]).tolist() == [2, 2, 2, 2, 2]
    assert np.bincount(found[:18]).max() <= 4


def test_rows_that_may_not_be_measured_are_learned_from_alone(base: SCEModel, tuned: FineTuned) -> None:
    may = np.ones(len(TEXTS), bool)
    may[[0, 1, 6, 12, 13, 14, 15, 16, 17]] = False  # none of the last label's
    found, _ = tune(base, TEXTS, GOLD, measurable=may)
    assert sorted(found.measured.tolist()) == np.flatnonzero(may).tolist()
    assert found.untested == ("fast",)
    learned = found.model.probabilities(TEXTS, LABELS).probabilities
    assert right(learned, GOLD) > right(base.probabilities(TEXTS, LABELS).probabilities, GOLD) + 0.2
    assert found.train_rows == len(TEXTS)


def test_answers_of_the_model_itself_make_before_no_better(base: SCEModel) -> None:
    own = base.probabilities(TEXTS, LABELS).probabilities.argmax(1)
    texts = [*TEXTS, *(f"{text} again" for text in TEXTS)]
    accepted = base.probabilities(texts[len(TEXTS) :], LABELS).probabilities.argmax(1).tolist()
    may = np.arange(len(texts)) < len(TEXTS)
    found, _ = tune(base, texts, [*GOLD, *accepted], measurable=may)
    gold = np.array(GOLD)[found.measured]
    assert (found.before.argmax(1) == gold).mean() == pytest.approx((own == GOLD).mean())


def test_nothing_is_measured_or_chosen_by_rows_that_may_not_be(base: SCEModel) -> None:
    found, _ = tune(base, TEXTS, GOLD, measurable=np.zeros(len(TEXTS), bool))
    assert len(found.measured) == 0
    assert (found.recipe, found.temperature, found.calibrated) == (CAUTIOUS, base.config.temperature, False)
    assert found.model.correction is not None


def test_a_row_is_not_judged_by_what_learned_its_text_from_another() -> None:
    gold = np.array([0, 0, 0, 0, 1, 1, 1, 0, 1])
    groups = np.array([0, 1, 2, 3, 4, 5, 6, 0, 5])
    may = np.array([1, 1, 1, 1, 1, 1, 1, 0, 0], bool)
    found = folds(gold, groups, 3, np.random.default_rng(0), may)
    assert (found >= 0).all()
    assert (found[7], found[8]) == (found[0], found[5])
    alone = folds(gold, np.arange(9), 3, np.random.default_rng(0), may)
    assert alone[7:].tolist() == [-1, -1]  # always learned from


def test_a_label_with_one_row_that_may_be_measured() -> None:
    gold, may = np.array([0, 0, 0, 1, 1]), np.array([1, 0, 0, 1, 1], bool)
    found = folds(gold, np.arange(5), 2, np.random.default_rng(0), may)
    assert found[0] >= 0  # the others teach the label meanwhile
    assert found[1:3].tolist() == [-1, -1]


def test_folds_never_take_all_examples_of_a_label() -> None:
    random = np.random.default_rng(0)
    for seed in range(50):
        draw = np.random.default_rng(seed)
        gold, groups = draw.integers(0, 4, 30), draw.integers(0, 12, 30)
        found = folds(gold, groups, 5, random)
        for fold in range(5):
            assert set(gold[found == fold]) <= set(gold[found != fold])
