"""`SCEClassifier` as scikit-learn uses classifiers: copies, pipelines, searches, its own checks."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

from sce_desktop.ml.classifier import SCEClassifier
from sce_desktop.ml.classifier_input import examples
from sce_desktop.ml.vector_memory import VectorMemory
from tests.ml.test_classifier import ANSWERS, LESSONS
from tests.ml.tiny import tiny_sce, tiny_sce_model


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tiny_sce(tmp_path))


@pytest.fixture
def classifier() -> SCEClassifier:
    return SCEClassifier(tiny_sce_model(), epochs=2, head="sce")


def lower(texts: Any) -> list[str]:
    return [str(text).lower() for text in texts]


def test_a_copy_has_the_settings_and_shares_the_model(classifier: SCEClassifier) -> None:
    classifier.set_params(head="sce", seed=3, candidate_labels=["wet", "blue"], cache=VectorMemory())
    copied = clone(classifier.fit(LESSONS, ANSWERS))
    assert copied.get_params() == classifier.get_params()
    assert copied.model is classifier.model
    assert copied.cache is classifier.cache
    assert not hasattr(copied, "model_")
    with pytest.raises(NotFittedError):
        check_is_fitted(copied)
    assert is_classifier(copied)


def test_a_name_is_loaded_once_for_all_copies(folder: str) -> None:
    classifier = SCEClassifier(folder, device="cpu", candidate_labels=["wet", "blue"])
    assert list(classifier.predict(["wet rain"])) == ["wet"]
    copied = clone(classifier).fit(LESSONS, ANSWERS)
    assert copied.model == folder
    assert copied._base() is classifier._base()
    assert copied.score(LESSONS, ANSWERS) == 1.0


def test_score_cross_validation_and_a_search(classifier: SCEClassifier) -> None:
    classifier.cache = VectorMemory()
    assert classifier.fit(LESSONS, ANSWERS).score(LESSONS, ANSWERS) == 1.0
    scores = cross_val_score(classifier, LESSONS, ANSWERS, cv=2)
    assert scores.shape == (2,)
    assert scores.mean() > 0.5
    assert len(classifier.cache) == len(LESSONS)  # each text was embedded once
    predicted = cross_val_predict(classifier, np.array(LESSONS), np.array(ANSWERS), cv=2)
    assert predicted.shape == (12,)
    assert accuracy_score(ANSWERS, predicted) == pytest.approx(scores.mean())
    search = GridSearchCV(classifier, {"lr": [0.5, 1.0]}, cv=2)
    search.fit(pd.Series(LESSONS), pd.Series(ANSWERS))
    assert set(search.best_params_) == {"lr"}
    assert search.cv_results_["mean_test_score"].shape == (2,)
    assert list(search.predict(LESSONS)) == ANSWERS
    assert search.score(LESSONS, ANSWERS) == 1.0


def test_an_empty_memory_of_the_calls_is_used(classifier: SCEClassifier) -> None:
    """An empty one is false: it was taken for none, and the classifier's own filled instead."""
    classifier.cache = VectorMemory()
    asked = VectorMemory()
    classifier.fit(LESSONS, ANSWERS, cache=asked)
    assert (len(asked), len(classifier.cache)) == (len(LESSONS), 0)
    for call in (classifier.predict, classifier.predict_proba):
        call(LESSONS, cache=(asked := VectorMemory()))
        assert (len(asked), len(classifier.cache)) == (len(LESSONS), 0)
    classifier.predict(LESSONS)
    assert len(classifier.cache) == len(LESSONS)


def test_a_memory_changes_no_score(classifier: SCEClassifier) -> None:
    classifier.cache = VectorMemory()
    first = classifier.predict_proba(LESSONS, ["wet", "blue"])
    np.testing.assert_array_equal(classifier.predict_proba(LESSONS, ["wet", "blue"]), first)


def test_in_a_pipeline(classifier: SCEClassifier) -> None:
    pipeline = make_pipeline(FunctionTransformer(lower), classifier)
    loud = [text.upper() for text in LESSONS]
    assert pipeline.fit(loud, ANSWERS).score(loud, ANSWERS) == 1.0
    assert list(pipeline.classes_) == ["blue", "wet"]
    search = GridSearchCV(pipeline, {"sceclassifier__epochs": [1, 2]}, cv=2, scoring="accuracy")
    assert search.fit(loud, ANSWERS).best_score_ > 0.5


def test_scorers_of_probabilities_agree_with_the_columns(classifier: SCEClassifier) -> None:
    """Columns in any other order than that of sorted names would be scored under the wrong labels."""
    for labels in (None, ["wet", "blue"]):
        classifier.set_params(candidate_labels=labels)
        losses = -cross_val_score(classifier, LESSONS, ANSWERS, cv=2, scoring="neg_log_loss")
        fitted = clone(classifier).fit(LESSONS, ANSWERS)
        assert list(fitted.classes_) == ["blue", "wet"]
        assert log_loss(ANSWERS, fitted.predict_proba(LESSONS)) < np.log(2)
        assert losses.mean() < 1.5


# --- from zero labels on -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("texts", "y"), [([], []), (LESSONS, None), (LESSONS, [None] * 12)])
def test_without_any_label_it_predicts_zero_shot(classifier: SCEClassifier, texts: Any, y: Any) -> None:
    plain = classifier.predict_proba(LESSONS, ["rain", "football", "bank"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier.fit(texts, y, ["rain", "football", "bank"])
    assert list(classifier.classes_) == ["rain", "football", "bank"]
    np.testing.assert_array_equal(classifier.predict_proba(LESSONS), plain)


def test_one_label_with_texts_is_reported(classifier: SCEClassifier, tmp_path: Path) -> None:
    y = ["wet"] + [np.nan] * 11
    with pytest.warns(UserWarning, match="Only one label has texts"):
        classifier.fit(LESSONS, y, ["wet", "blue"])
    np.testing.assert_array_equal(
        classifier.predict_proba(LESSONS),
        SCEClassifier(classifier.model).predict_proba(LESSONS, ["wet", "blue"]),
    )
    classifier.save_pretrained(tmp_path / "mine")
    assert [label.name for label in SCEClassifier.from_pretrained(tmp_path / "mine").labels] == [
        "wet",
        "blue",
    ]


def test_rows_without_a_label_are_passed_over(classifier: SCEClassifier) -> None:
    y = pd.Series(ANSWERS)
    y[[0, 7]] = None
    some = classifier.fit(pd.Series(LESSONS), y).predict_proba(LESSONS)
    labelled = [place for place in range(12) if place not in (0, 7)]
    same = clone(classifier).fit([LESSONS[i] for i in labelled], [ANSWERS[i] for i in labelled])
    np.testing.assert_array_equal(same.predict_proba(LESSONS), some)


@pytest.mark.parametrize("given", [list, pd.Series, lambda y: np.array(y, dtype=object)])
@pytest.mark.parametrize("missing", [None, pd.NA, pd.NaT, np.nan, np.float32("nan")])
def test_what_pandas_calls_missing_is_no_label(given: Any, missing: Any) -> None:
    found = examples(LESSONS[:3], given(["a", missing, "b"]))
    assert (found.texts, found.names) == ([LESSONS[0], LESSONS[2]], ["a", "b"])


def test_whole_numbers_with_gaps_stay_whole() -> None:
    found = examples(LESSONS[:3], pd.Series([1, None, 2], dtype="Int64"))
    assert found.names == ["1", "2"]


@pytest.mark.parametrize("value", [["a"], ("a",), np.array(["a"])])
def test_a_list_is_no_label(value: Any) -> None:
    with pytest.raises(ValueError, match="number 2 is a"):
        examples(LESSONS[:2], ["a", value])


def test_a_further_fit_begins_again_or_continues(classifier: SCEClassifier) -> None:
    first = classifier.fit(LESSONS, ANSWERS).predict_proba(LESSONS)
    np.testing.assert_array_equal(classifier.fit(LESSONS, ANSWERS).predict_proba(LESSONS), first)
    classifier.set_params(warm_start=True).fit(LESSONS, ANSWERS)
    assert np.abs(classifier.predict_proba(LESSONS) - first).max() > 1e-4


@pytest.mark.parametrize(
    ("texts", "match"),
    [
        (["a", None], "number 2 is a NoneType"),
        ([1.5, "a"], "number 1 is a float"),
        (np.zeros((2, 3)), "shape"),
        ({"text": 1}, "shape"),
    ],
)
def test_what_are_no_texts(classifier: SCEClassifier, texts: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        classifier.predict_proba(texts, ["wet", "blue"])
    with pytest.raises(ValueError, match=match):
        classifier.fit(texts, ["wet", "blue"])


def test_labels_may_be_numbers(classifier: SCEClassifier) -> None:
    y = np.array([10] * 6 + [2] * 6)
    classifier.fit(LESSONS, y)
    np.testing.assert_array_equal(classifier.classes_, [2, 10])
    np.testing.assert_array_equal(classifier.predict(LESSONS), y)
    assert classifier.score(LESSONS, y) == 1.0


def test_a_fitted_one_can_be_sent_to_another_process(classifier: SCEClassifier) -> None:
    classifier.fit(LESSONS, ANSWERS)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_allclose(again.predict_proba(LESSONS), classifier.predict_proba(LESSONS), atol=1e-6)


# --- scikit-learn's own checks -----------------------------------------------------------------------------


def test_check_estimator(folder: str) -> None:
    """It skips what is not for texts, and says so; the checks of what any estimator is are run one by one."""
    one = SCEClassifier(folder, device="cpu")
    with pytest.warns(SkipTestWarning, match="Can't test estimator SCEClassifier"):
        check_estimator(one)
    for check in (
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_valid_tag_types,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
        estimator_checks.check_mixin_order,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
    ):
        check("SCEClassifier", one)


class OnNumbers(SCEClassifier):
    """Reads numbers as words: so checks of classifiers, which fit to numbers, reach an `SCEClassifier`."""

    def fit(self, X: Any, y: Any = None) -> OnNumbers:  # noqa: N803 - scikit-learn's own name
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        super().fit(in_words(validate_data(self, X)), y)
        return self

    def predict(self, X: Any, *more: Any, **keywords: Any) -> NDArray[Any]:  # noqa: N803
        check_is_fitted(self)
        return super().predict(in_words(validate_data(self, X, reset=False)), *more, **keywords)

    def predict_proba(self, X: Any, *more: Any, **keywords: Any) -> Any:  # noqa: N803
        check_is_fitted(self)
        if len(X) and isinstance(X[0], str):  # on its way from `predict`
            return super().predict_proba(X, *more, **keywords)
        return super().predict_proba(in_words(validate_data(self, X, reset=False)), *more, **keywords)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = False
        tags.input_tags.two_d_array = True
        return tags


def in_words(table: NDArray[Any]) -> list[str]:
    names = ("football", "team", "stock", "bank", "weather", "rain")
    rows = [[names[min(int(abs(value)), 2) * 2 + (value < 0)] for value in row] for row in table.tolist()]
    return [" ".join(row) for row in rows]


@pytest.mark.slow
def test_checks_of_classifiers_on_numbers_read_as_words(classifier: SCEClassifier) -> None:
    """What holds of any classifier: no parameter is changed, fits repeat, classes are kept, copies agree."""
    one = OnNumbers(classifier.model, head="sce", epochs=1)
    expected = {
        "check_classifiers_train": "six words say too little of the numbers for an accuracy above 83%",
        "check_estimators_overwrite_params": "the model keeps what it has computed; its weights stay",
    }
    before = classifier.model.fingerprint
    found = check_estimator(one, expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert classifier.model.fingerprint == before
    failed = {one["check_name"]: repr(one["exception"])[:300] for one in found if one["status"] == "failed"}
    assert not failed
    assert sum(one["status"] == "passed" for one in found) >= 45
