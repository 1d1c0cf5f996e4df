"""What a classifier of scikit-learn is given: texts in any kind of list, and a label for some of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import is_blank

Wordings = str | Label | Sequence[str]
"""A label as a name, as a `Label`, or as several wordings of one label: its name, then synonyms."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Labelled texts: ``names`` are those of their labels, ``values`` what stood in ``y`` for each name."""

    texts: list[str]
    names: list[str]
    values: dict[str, Any]

    def classes(self) -> list[str]:
        """Return the names of the labels met, in the order of what stood in ``y``."""
        try:
            return sorted(self.values, key=lambda name: self.values[name])
        except TypeError:  # texts and numbers
            return sorted(self.values)


def as_label(label: Wordings) -> Label:
    """Return a label of any of its forms."""
    if isinstance(label, Label):
        return label
    if isinstance(label, str):
        return Label(str(label))  # a string of NumPy's becomes one of Python's
    name, *synonyms = label
    return Label(name, synonyms=tuple(synonyms))


def to_texts(texts: Any) -> list[str]:
    """Return texts of a list, an array (n,) or (n, 1), a Series or a table of one column.

    Raises:
        TypeError: They are a single string.
        ValueError: They are no strings, or have more than one column.
    """
    if isinstance(texts, str):
        raise TypeError("texts must be a list of strings: put the text in brackets")
    if not isinstance(texts, list | tuple):
        table = np.asarray(texts, dtype=object)
        if table.ndim == 2 and table.shape[1] == 1:
            table = table[:, 0]
        if table.ndim != 1:
            raise ValueError(
                f"Expected a list of texts, got an array of shape {table.shape}: give one column of texts."
            )
        texts = table.tolist()
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"Expected texts, and number {place + 1} is a {type(text).__name__}.")
    return [str(text) for text in texts]


def examples(texts: Any, y: Any) -> Examples:
    """Return the texts that have a label. None and NaN in ``y`` say that there is none, as does no ``y``.

    Raises:
        TypeError: ``texts`` or ``y`` is a single string.
        ValueError: There are not as many labels as texts, a labelled text is blank, or ``y`` has several
            columns, or numbers that name no classes.
    """
    if isinstance(texts, str) or isinstance(y, str):
        raise TypeError("texts and y must be lists of strings")
    rows = to_texts(texts)
    if y is None:
        return Examples([], [], {})
    answers = _answers(y)
    if len(rows) != len(answers):
        raise ValueError(f"There are {len(rows)} texts and {len(answers)} labels: give one for each.")
    pairs = [
        (text, value) for text, value in zip(rows, answers, strict=True) if not _is_missing(value)
    ]  # fmt: skip
    if any(is_blank(text) for text, _value in pairs):
        raise ValueError("A blank text says nothing: leave blanks out.")
    values = [value for _text, value in pairs]
    numbers = np.asarray(values) if values and not any(isinstance(value, str) for value in values) else None
    if numbers is not None and numbers.dtype.kind == "f":
        assert_all_finite(numbers, input_name="y")
        check_classification_targets(numbers)
    names = [str(value) for value in values]
    return Examples([text for text, _value in pairs], names, dict(zip(names, values, strict=True)))


def classes_of(labels: Sequence[Label], values: dict[str, Any]) -> NDArray[Any]:
    """Return what stands for each label (K,) in ``y``; where nothing does, its name."""
    found = [values.get(label.name, label.name) for label in labels]
    if all(isinstance(value, str) for value in found):
        return np.array([str(value) for value in found], dtype=object)
    if any(isinstance(value, str) for value in found):
        return np.array(found, dtype=object)
    return np.asarray(found)


def _answers(y: Any) -> list[Any]:
    if isinstance(y, list | tuple) or _is_series(y):  # an array would make floats of Int64 with NA
        found = list(y)
    else:
        found = list(column_or_1d(y, warn=True))
    for place, value in enumerate(found):
        if isinstance(value, list | tuple | np.ndarray):
            raise ValueError(
                f"Expected one label for each text, and number {place + 1} is a {type(value).__name__}."
            )
    return found


def _is_series(y: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(y, pandas.Series)


def _is_missing(value: Any) -> bool:
    """Whether there is no label: pandas has values of its own for that, which are there once it is."""
    if value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value))):
        return True
    pandas = sys.modules.get("pandas")
    return pandas is not None and pandas.api.types.is_scalar(value) and bool(pandas.isna(value))
