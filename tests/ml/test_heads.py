"""Which way a fine-tune predicts in, and that each of them can be used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.heads import Way
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.classifier import SCEClassifier
from sce_desktop.ml.finetune.heads import SHARES, UNTRIED_SHARE, Opinions, choose, cross_chosen
from sce_desktop.ml.finetune.logistic import fit_logistic
from sce_desktop.ml.finetune.standard import FineTuned, finetune
from sce_desktop.ml.finetune.versions import changed_weights, in_other_way, in_way, with_changes
from sce_desktop.ml.sce.head import mix
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.transductive import TransductiveModel
from tests.ml.test_finetune import GOLD, LABELS, QUICK, TEXTS, tune
from tests.ml.tiny import tiny_sce_model

FAST_WAYS = (Way.ZERO_SHOT, Way.SCE, Way.LOGISTIC, Way.PRODUCT)


@pytest.fixture(scope="module")
def base() -> SCEModel:
    return tiny_sce_model()


@pytest.fixture(scope="module")
def tuned(base: SCEModel) -> FineTuned:
    return finetune(base, TEXTS, GOLD, LABELS, settings=QUICK, progress=SilentProgress())


def said(model: SCEModel, labels: list[Label] = LABELS) -> np.ndarray:
    return model.probabilities(TEXTS, labels).probabilities


def opinions(rows: int, *, sce: float, logistic: float, base: float = 0.4, seed: int = 0) -> Opinions:
    """Rows of four labels, of which each way gives the right one about as much probability as said."""
    random = np.random.default_rng(seed)
    gold = random.integers(0, 4, rows)

    def found(level: float) -> np.ndarray:
        scores = random.normal(0, 1, (rows, 4)).astype(np.float32)
        scores[np.arange(rows), gold] += 4 * level
        return torch.softmax(torch.from_numpy(scores), 1).numpy()

    return Opinions(gold, found(base), found(sce), np.log(found(logistic)), np.arange(4))


# --- the choice --------------------------------------------------------------------------------------------


def test_without_rows_the_product_is_taken() -> None:
    chosen = choose(opinions(0, sce=0.5, logistic=0.5))
    assert (chosen.way, chosen.share, chosen.temperature) == (Way.PRODUCT, UNTRIED_SHARE, 1.0)


@pytest.mark.parametrize(
    ("levels", "way"),
    [
        ({"sce": 0.6, "logistic": 0.6}, Way.PRODUCT),
        ({"sce": 0.1, "logistic": 1.2}, Way.LOGISTIC),
        ({"sce": 1.2, "logistic": 0.0}, Way.SCE),
        ({"sce": 0.0, "logistic": 0.0, "base": 1.2}, Way.ZERO_SHOT),
    ],
)
def test_another_way_is_taken_where_it_is_clearly_better(levels: dict[str, float], way: Way) -> None:
    for seed in range(3):
        assert choose(opinions(200, **levels, seed=seed)).way is way


def test_few_rows_do_not_speak_against_the_product() -> None:
    ways = [choose(opinions(4, sce=0.5, logistic=0.9, seed=seed)).way for seed in range(20)]
    assert ways.count(Way.PRODUCT) >= 19


def test_the_share_follows_the_better_one() -> None:
    assert choose(opinions(300, sce=0.6, logistic=0.9)).share > SHARES[0]
    assert choose(opinions(300, sce=0.9, logistic=0.3)).share == SHARES[0]


def test_rows_do_not_choose_the_way_that_they_are_measured_by() -> None:
    """Two halves that want different ways: each is answered as the other one chose."""
    one, other = opinions(200, sce=0.1, logistic=1.2), opinions(200, sce=1.2, logistic=0.0)
    both = replace(
        one,
        **{
            name: np.concatenate([getattr(one, name), getattr(other, name)])
            for name in ("gold", "base", "sce", "logistic")
        },
    )
    after, ways = cross_chosen(both, np.repeat([0, 1], 200), None)
    np.testing.assert_array_equal(after[:200], one.sce)
    np.testing.assert_array_equal(after[200:], ways[Way.LOGISTIC][200:])
    forced, _ = cross_chosen(both, np.repeat([0, 1], 200), Way.SCE)
    np.testing.assert_array_equal(forced, both.sce)


# --- the product -------------------------------------------------------------------------------------------


def test_the_product_is_a_normalised_geometric_mean() -> None:
    first, second = np.array([[0.7, 0.2, 0.1]]), np.array([[0.1, 0.3, 0.6]])
    want = first**0.75 * second**0.25
    want /= want.sum()
    found = mix(torch.from_numpy(first).log(), torch.from_numpy(second).log(), torch.arange(3), 0.25).exp()
    np.testing.assert_allclose(found.numpy(), want, atol=1e-12)


def test_labels_that_the_regression_does_not_know_keep_their_probability() -> None:
    first = torch.tensor([[0.5, 0.3, 0.15, 0.05]])
    own = torch.tensor([[0.9, 0.1]]).log()
    for share in (0.0, 0.3, 1.0):
        found = mix(first.log(), own, torch.tensor([2, 0]), share).exp()
        torch.testing.assert_close(found[:, [1, 3]], first[:, [1, 3]])
        torch.testing.assert_close(found.sum(), torch.tensor(1.0))
    torch.testing.assert_close(found[0, 2], torch.tensor(0.9 * 0.65))


def test_two_classes_are_as_scikit_learn_says() -> None:
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(0)
    vectors = random.normal(size=(40, 5)).astype(np.float32)
    gold = (vectors[:, 0] + 0.5 * random.normal(size=40) > 0).astype(np.int64)
    found = np.exp(fit_logistic(vectors, gold, 2, SilentProgress()).log_probabilities(vectors))
    learner = LogisticRegression(C=10, class_weight="balanced", max_iter=1000).fit(vectors, gold)
    np.testing.assert_allclose(found, learner.predict_proba(vectors), atol=2e-3)


def test_a_class_without_rows_is_never_predicted() -> None:
    vectors = np.eye(4, dtype=np.float32)
    found = fit_logistic(vectors, np.array([0, 2, 0, 2]), 3, SilentProgress()).log_probabilities(vectors)
    assert np.exp(found[:, 1]).max() == 0
    np.testing.assert_allclose(np.exp(found).sum(1), 1, atol=1e-6)


# --- the model ---------------------------------------------------------------------------------------------


def test_each_way_predicts_what_it_says(base: SCEModel, tuned: FineTuned) -> None:
    ways = {way: said(in_way(base, tuned.heads.fitted, way)) for way in FAST_WAYS}
    np.testing.assert_array_equal(ways[Way.ZERO_SHOT], said(base))
    np.testing.assert_array_equal(ways[tuned.heads.way], said(tuned.model))
    for one, other in ((Way.SCE, Way.LOGISTIC), (Way.SCE, Way.PRODUCT), (Way.SCE, Way.ZERO_SHOT)):
        assert np.abs(ways[one] - ways[other]).max() > 1e-3
    share = tuned.heads.share
    mixed = ways[Way.SCE][:, :3] ** (1 - share) * ways[Way.LOGISTIC][:, :3] ** share
    mixed *= ways[Way.SCE][:, :3].sum(1, keepdims=True) / mixed.sum(1, keepdims=True)
    np.testing.assert_allclose(ways[Way.PRODUCT][:, :3], mixed, atol=1e-5)
    for found in ways.values():
        np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)


def test_the_way_that_is_asked_for_is_taken(base: SCEModel, tuned: FineTuned) -> None:
    for way in FAST_WAYS:
        asked, _ = tune(base, TEXTS, GOLD, settings=replace(QUICK, head=way))
        assert (asked.heads.way, asked.heads.best) == (way, tuned.heads.best)
        np.testing.assert_allclose(asked.after, asked.heads.measured[way], atol=1e-6)
        np.testing.assert_allclose(said(asked.model), said(in_way(base, tuned.heads.fitted, way)), atol=1e-5)
        assert "asked" in asked.heads.reason


def test_the_reason_gives_the_figures(tuned: FineTuned) -> None:
    accuracy = (tuned.heads.measured[tuned.heads.way].argmax(1) == np.array(GOLD)[tuned.measured]).mean()
    assert f"{100 * accuracy:.1f}%" in tuned.heads.reason
    assert f"{len(GOLD)} validation rows" in tuned.heads.reason


def test_one_row_a_label_says_nothing_and_the_product_is_taken(base: SCEModel) -> None:
    few, _ = tune(base, [TEXTS[0], TEXTS[6], TEXTS[12]], [0, 1, 2])
    assert (few.heads.way, few.heads.share) == (Way.PRODUCT, UNTRIED_SHARE)
    assert "no validation rows" in few.heads.reason


def test_rows_labelled_in_bulk_alone_do_not_speak_for_the_regression(base: SCEModel) -> None:
    bulk, _ = tune(base, TEXTS, GOLD, measurable=np.zeros(len(TEXTS), dtype=np.bool_))
    assert bulk.heads.way is Way.SCE


def test_a_stop_leaves_the_sce_head(base: SCEModel) -> None:
    stopped, _ = tune(base, TEXTS, GOLD, on_epoch=lambda epoch: epoch.stage != "choosing")
    assert stopped.heads.way is Way.SCE
    assert not stopped.heads.usable(Way.LOGISTIC)
    assert "stopped" in stopped.heads.reason


def test_a_version_holds_every_way(base: SCEModel, tuned: FineTuned) -> None:
    blob = changed_weights(tuned.heads.fitted, tuned.heads.adapted, tuned.heads.way)
    assert with_changes(base, blob).fingerprint == tuned.model.fingerprint
    prints = set()
    for way in FAST_WAYS:
        found = with_changes(base, in_other_way(blob, way))
        np.testing.assert_array_equal(said(found), said(in_way(base, tuned.heads.fitted, way)))
        prints.add(found.fingerprint)
    assert len(prints) == len(FAST_WAYS)
    assert base.fingerprint in prints


def test_a_version_follows_labels_that_are_renamed_or_gone(base: SCEModel, tuned: FineTuned) -> None:
    blob = in_other_way(changed_weights(tuned.heads.fitted), Way.LOGISTIC)
    names = {"wet": "damp", "blue": "blue"}  # fast is gone
    found = with_changes(base, blob, names)
    new = said(found, [Label("damp", synonyms=("wet",)), Label("blue")])
    old = said(in_way(base, tuned.heads.fitted, Way.LOGISTIC), LABELS[:2])
    np.testing.assert_allclose(new, old, atol=1e-5)


def test_a_damaged_regression(base: SCEModel, tuned: FineTuned) -> None:
    blob = changed_weights(tuned.heads.fitted)
    with pytest.raises(UserError, match="damaged"):
        with_changes(base, blob.replace(b"logistic.bias", b"logistic.bios"))
    with pytest.raises(UserError, match="damaged"):
        in_other_way(blob[:50], Way.SCE)
    with pytest.raises(UserError, match="damaged"):
        with_changes(base, in_other_way(blob, Way.SCE).replace(b'"way":"sce"', b'"way":"xxx"'))


@pytest.mark.parametrize("way", FAST_WAYS[1:])
def test_a_model_folder_predicts_in_its_way(
    tuned: FineTuned, base: SCEModel, way: Way, tmp_path: Path
) -> None:
    model = in_way(base, tuned.heads.fitted, way)
    SCEClassifier(model).save_pretrained(tmp_path / "mine")
    again = SCEModel.from_pretrained(tmp_path / "mine")
    np.testing.assert_allclose(said(again), said(model), atol=0.02)  # the body is in float16
    assert (again.logistic is None) == (way is Way.SCE)
    if again.logistic is not None and model.logistic is not None:
        torch.testing.assert_close(again.logistic.weight, model.logistic.weight, atol=0, rtol=0)
    once_more = SCEClassifier(again)
    once_more.save_pretrained(tmp_path / "copy")
    assert SCEModel.from_pretrained(tmp_path / "copy").fingerprint == again.fingerprint


def test_a_folder_is_fine_tuned_further(base: SCEModel, tuned: FineTuned) -> None:
    product = in_way(base, tuned.heads.fitted, Way.PRODUCT)
    further, _ = tune(product, TEXTS, GOLD, settings=replace(QUICK, head=Way.ZERO_SHOT))
    np.testing.assert_allclose(further.before, said(product)[further.measured], atol=1e-5)
    np.testing.assert_allclose(said(further.model), said(product), atol=1e-6)
    again, _ = tune(product, TEXTS, GOLD, settings=replace(QUICK, head=Way.SCE))
    assert again.model.logistic is None


def test_several_labels_a_row_are_left_to_the_sce_head(base: SCEModel, tuned: FineTuned) -> None:
    sce, product = (in_way(base, tuned.heads.fitted, way) for way in (Way.SCE, Way.PRODUCT))
    one, other = (
        model.probabilities(TEXTS, LABELS, multi_label=True).probabilities for model in (sce, product)
    )
    np.testing.assert_array_equal(one, other)


def test_joint_prediction_moves_no_label_names_under_a_regression(base: SCEModel, tuned: FineTuned) -> None:
    model = in_way(base, tuned.heads.fitted, Way.LOGISTIC)
    assert model.label_directions(LABELS) is None
    vectors = model.embed(TEXTS)
    found = TransductiveModel(model, vectors).score(vectors, LABELS).probabilities
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)
    assert np.abs(found - said(model)).max() > 1e-4  # neighbours still have a say
    assert in_way(base, tuned.heads.fitted, Way.PRODUCT).label_directions(LABELS) is not None


def test_the_classifier_takes_a_head() -> None:
    names = [LABELS[place].name for place in GOLD]
    found = {}
    for head in ("sce", "logistic"):
        classifier = SCEClassifier(tiny_sce_model())
        classifier.fit(TEXTS, names, [*LABELS], epochs=30, head=head)
        found[head] = classifier.predict_proba(TEXTS)
    assert np.abs(found["sce"] - found["logistic"]).max() > 0.01
    with pytest.raises(ValueError, match="no head 'best'"):
        SCEClassifier(tiny_sce_model()).fit(TEXTS, names, [*LABELS], head="best")


def test_settings_that_ask_for_the_encoder_fine_tune_it() -> None:
    assert FinetuneSettings(head=Way.ADAPTED).adapt_embedder
