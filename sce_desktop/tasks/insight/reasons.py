"""Why a model gives a row a label: words of the text, and the most similar rows that a person labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.folding import folded
from sce_desktop.core.progress import Progress
from sce_desktop.core.word_spans import Span

MOST_FOR: Final = 5
MOST_AGAINST: Final = 3
LEAST_LOST: Final = 0.1  # of log-odds: a word that changes less says nothing
LEAST_SHARE: Final = 0.2  # of what the strongest word does
STRONG_SHARE: Final = 0.6


@dataclass(frozen=True, slots=True)
class WordReason:
    """A word, wherever it stands in the text: ``spans``; ``lost`` is what the label's log-odds lose with it.

    Of a word that stands there several times it is the most that one of them does. ``strong``: it does nearly
    as much as the strongest one.
    """

    word: str
    spans: tuple[Span, ...]
    lost: float
    strong: bool


@dataclass(frozen=True, slots=True)
class Reasons:
    """The words that speak for one label and against it, the strongest first. An approximation."""

    label_id: int
    speak_for: tuple[WordReason, ...]
    against: tuple[WordReason, ...]
    read: int  # characters that the model reads; words behind them do nothing


def why_not(model: object) -> str:
    """Return why `explain_row` cannot explain ``model``, in one sentence; empty if it can."""
    from sce_desktop.ml import attribution

    return attribution.why_not(model)


def explain_row(
    model: Any,
    text: str,
    labels: Sequence[Label],
    label_id: int,
    *,
    multi_label: bool = False,
    progress: Progress | None = None,
) -> Reasons:
    """Return what the words of a non-blank ``text`` do for the label ``label_id``, one of ``labels``.

    Raises:
        UserError: The model makes no text vectors, as an LLM.
        ValueError: There is no such label.
        Cancelled: Nobody wants to know any more.
    """
    from sce_desktop.ml.attribution import attribute

    place = [label.id for label in labels].index(label_id)
    found = attribute(model, text, labels, place, multi_label=multi_label, progress=progress)
    words: dict[str, list[int]] = {}
    for number, (start, end) in enumerate(found.spans):
        words.setdefault(folded(text[start:end]), []).append(number)
    most = float(np.abs(found.weights).max(initial=0.0))
    least = max(LEAST_LOST, LEAST_SHARE * most)
    speak_for: list[WordReason] = []
    against: list[WordReason] = []
    for numbers in words.values():
        weights = found.weights[numbers]
        lost = float(weights[np.abs(weights).argmax()])
        if abs(lost) < least:
            continue
        spans = tuple(found.spans[number] for number in numbers)
        reason = WordReason(text[slice(*spans[0])], spans, lost, abs(lost) >= STRONG_SHARE * most)
        (speak_for if lost > 0 else against).append(reason)
    speak_for.sort(key=lambda reason: -reason.lost)
    against.sort(key=lambda reason: reason.lost)
    return Reasons(label_id, tuple(speak_for[:MOST_FOR]), tuple(against[:MOST_AGAINST]), found.read)
