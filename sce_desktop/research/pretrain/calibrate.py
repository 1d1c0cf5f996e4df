"""Fits the few numbers that turn a finished model's scores into probabilities, on the validation sets.

A temperature for the labels' softmax; scale and bias for the null score and for the yes/no scores (Platt).
Every set weighs the same. `leaving_each_out` fits on all other sets, for honest figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax
from torch import Tensor

from sce_desktop.core.annotations import Label
from sce_desktop.core.metrics import expected_calibration_error
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import YesNo
from sce_desktop.ml.sce.sce import SCE, LabelVectors

Floats = NDArray[np.float64]


NONE_SHARE = 9
"""One row in so many and one is taken to fit no label: a row is called none only where that is likely."""
_AT_ONCE = 256  # texts in one pass: joint attention needs memory for each text with each label


@dataclass(frozen=True)
class SetScores:
    """Raw scores of n texts of one set over its K labels."""

    scores: Floats  # (n, K)
    right: NDArray[np.int64]  # (n,)
    fits: Floats  # (n,) null logits with all labels there
    lacks: Floats  # (n,) null logits where the text's own label was taken away
    yes: Floats  # (n, K) yes/no logits


@dataclass(frozen=True)
class Calibration:
    """What config.json keeps of it."""

    temperature: float
    none: YesNo
    yes_no: YesNo

    def apply_to(self, model: SCEModel) -> None:
        """Put it into ``model``."""
        model.config = replace(model.config, temperature=self.temperature, none=self.none, yes_no=self.yes_no)


@torch.inference_mode()
def set_scores(
    model: SCEModel, texts: Sequence[str], labels: Sequence[str], right: Sequence[int]
) -> SetScores:
    """Score one labelled set, also with each text's own label taken away."""
    head, device = model.head.eval(), model.device
    q = torch.tensor(model.embed(texts), device=device)
    known = model.label_vectors([Label(name) for name in labels])
    whole = head.passed(q[None], known.one_group())
    if not head.config.says_none:
        nothing = np.zeros(len(texts))
        return SetScores(
            _numpy(whole.scores[0]), np.array(right), nothing, nothing, np.zeros((len(texts), 0))
        )
    fits, lacks = null_logits(head, q, known, torch.tensor(right, device=device))
    yes = head.yes(q, known)
    return SetScores(_numpy(whole.scores[0]), np.array(right), _numpy(fits), _numpy(lacks), _numpy(yes))


def null_logits(head: SCE, q: Tensor, labels: LabelVectors, right: Tensor) -> tuple[Tensor, Tensor]:
    """Return the null logits (n,) of text vectors ``q`` with all labels, and without each text's own."""

    def run(rows: Tensor, among: LabelVectors) -> Tensor:
        parts = rows.split(_AT_ONCE)
        return torch.cat([head.none(head.passed(part[None], among.one_group()))[0] for part in parts])

    lacks = q.new_zeros(len(q))
    for k in right.unique().tolist():  # a sample of the rows may lack a label
        rest = torch.arange(len(labels.tokens), device=q.device) != k
        sentence = None if labels.sentence is None else labels.sentence[rest]
        lacks[right == k] = run(q[right == k], LabelVectors(labels.tokens[rest], sentence))
    return run(q, labels), lacks


def fit(sets: Sequence[SetScores]) -> Calibration:
    """Fit temperature, null score and yes/no scores on ``sets``."""

    # The middle one of the sets' own: a set whose labels the model does not understand wants a huge one.
    temperature = float(np.median([_temperature(s) for s in sets]))
    if not sets[0].yes.shape[1]:
        return Calibration(temperature, YesNo(1.0, 0.0), YesNo())
    none = _platt([_seldom(s) for s in sets])
    yes = _platt([(s.yes.ravel(), np.eye(s.yes.shape[1])[s.right].ravel()) for s in sets])
    return Calibration(temperature, none, yes)


def leaving_each_out(sets: Mapping[str, SetScores]) -> dict[str, dict[str, float]]:
    """Return what `measured` says of each set, calibrated on the other sets."""
    return {
        name: measured(one, fit([s for other, s in sets.items() if other != name] or [one]))
        for name, one in sets.items()
    }


def measured(one: SetScores, calibration: Calibration) -> dict[str, float]:
    """Return ECE and null ECE (fractions) under a calibration made without the set, AUROC of the null score.

    A null score is judged on the texts with their own label there and on the same texts without it.
    """
    from sklearn.metrics import roc_auc_score

    p = np.exp(log_softmax(one.scores / calibration.temperature, 1))
    found = {"ece": expected_calibration_error(p.max(1), p.argmax(1) == one.right)}
    if one.yes.shape[1]:
        logits, lacks = np.concatenate([one.lacks, one.fits]), np.repeat([1, 0], len(one.right))
        found["none_auroc"] = float(roc_auc_score(lacks, logits))
        logits, lacks = _seldom(one)
        probabilities = calibration.none(logits.astype(np.float32))
        found["none_ece"] = expected_calibration_error(probabilities, lacks == 1)
        own = np.eye(one.yes.shape[1])[one.right].ravel()
        found["yes_auroc"] = float(roc_auc_score(own, one.yes.ravel()))
        probabilities = calibration.yes_no(one.yes.ravel().astype(np.float32))
        found["yes_ece"] = expected_calibration_error(probabilities, own == 1)
    return found


def _temperature(one: SetScores) -> float:
    def loss(log_temperature: float) -> float:
        return float(-_own(log_softmax(one.scores / np.exp(log_temperature), 1), one.right).mean())

    best = minimize_scalar(loss, bounds=(np.log(0.2), np.log(10.0)), method="bounded")
    return float(np.exp(best.x))


def _seldom(one: SetScores) -> tuple[Floats, Floats]:
    # Null logits of all texts with their label, and of every `NONE_SHARE`th without it; 1 where it lacks.
    lacks = one.lacks[::NONE_SHARE]
    return np.append(lacks, one.fits), np.repeat([1.0, 0.0], [len(lacks), len(one.fits)])


def _platt(sets: Sequence[tuple[Floats, Floats]]) -> YesNo:
    # sigmoid(a x + c) by maximum likelihood, every set weighing the same. The loss is convex and its slope
    # leads to the one minimum; Nelder-Mead, which knows no slope, stalled far from it on some sets.
    signs = [(x, 2 * y - 1) for x, y in sets]

    def loss(at: Floats) -> tuple[float, Floats]:
        value, slope = 0.0, np.zeros(2)
        for x, sign in signs:
            wrong = -sign * (at[0] * x + at[1])
            pull = -sign * expit(wrong) / len(x)
            value += float(np.logaddexp(0, wrong).mean())
            slope += [pull @ x, pull.sum()]
        return value / len(sets), slope / len(sets)

    a, c = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS").x
    a = max(float(a), 1e-3)  # a logit never counts against what it says
    return YesNo(scale=a, bias=float(-c / a))


def _own(values: Floats, right: NDArray[np.int64]) -> Floats:
    return np.take_along_axis(values, right[:, None], 1)[:, 0]


def _numpy(values: Tensor) -> Floats:
    return values.double().cpu().numpy()
