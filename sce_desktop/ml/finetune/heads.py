"""Which way a fine-tuned version predicts in: chosen by what each says of rows that it has not seen.

The ways are those of `core.heads.Way`. On the validation sets (docs/research/fine-tune.md, The best head)
their product, with a small weight of the logistic regression, has the best mean at every size, and a single
way is better on some sets. So the product is the default, its weight is drawn to `SHARE`, and another way is
chosen only where it explains the rows left out clearly better: by `CAUTION` nats and one standard error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.heads import NAMES, Way
from sce_desktop.core.i18n import _, ngettext, percent
from sce_desktop.ml.finetune.logistic import Logistic
from sce_desktop.ml.finetune.temperature import fitted_temperature
from sce_desktop.ml.finetune.versions import with_head
from sce_desktop.ml.sce.head import HeadConfig, LogisticHead, mix
from sce_desktop.ml.sce.model import SCEModel

SHARES = (0.2, 0.3, 0.5, 0.7)
"""Weights of the logistic regression that the product is tried with."""
SHARE, PULL = 0.2, 20.0
"""The usual weight, and how many nats a weight costs for the square of its distance from that."""
UNTRIED_SHARE = 0.4
"""The weight where no row can be left out: one example of each label says more than it is sure of."""
CAUTION = 2.0
"""By how many nats another way must explain rows left out better than the product."""


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """What the ways say of m rows that they have not seen, labelled ``gold`` (m,).

    ``base`` and ``sce`` are probabilities (m, K), ``logistic`` log-probabilities (m, C) of the labels at the
    places ``known`` (C,) alone.
    """

    gold: IdArray
    base: FloatArray
    sce: FloatArray
    logistic: FloatArray
    known: IdArray

    def __len__(self) -> int:
        return len(self.gold)

    def part(self, rows: NDArray[np.bool_]) -> Opinions:
        """Return the opinions on ``rows`` (m,)."""
        return replace(
            self,
            gold=self.gold[rows],
            base=self.base[rows],
            sce=self.sce[rows],
            logistic=self.logistic[rows],
        )

    def probabilities(self, way: Way, choice: Choice) -> FloatArray:
        """Return the probabilities (m, K) of ``way``."""
        if way is Way.ZERO_SHOT:
            return self.base
        if way is Way.SCE:
            return self.sce
        return self.mixed(1.0 if way is Way.LOGISTIC else choice.share, choice.temperature)

    def mixed(self, share: float, temperature: float) -> FloatArray:
        """Return the product of SCE head and logistic regression, this one at ``temperature``."""
        own = torch.log_softmax(torch.from_numpy(self.logistic) / temperature, 1)
        found: FloatArray = mix(_log(self.sce), own, torch.from_numpy(self.known), share).exp().numpy()
        return found


@dataclass(frozen=True, slots=True)
class Choice:
    """The way to predict in, the product's ``share``, and the ``temperature`` of the logistic regression.

    ``gain``: by how many nats, over all rows, the way explains them better than the product.
    """

    way: Way
    share: float = UNTRIED_SHARE
    temperature: float = 1.0
    gain: float = 0.0


def choose(opinions: Opinions) -> Choice:
    """Return the way that the rows of ``opinions`` speak for; the product where there are none."""
    if not len(opinions):
        return Choice(Way.PRODUCT)
    places = np.searchsorted(opinions.known, opinions.gold)
    temperature, _loss = fitted_temperature(torch.from_numpy(opinions.logistic), torch.from_numpy(places))
    products = {share: _explained(opinions, opinions.mixed(share, temperature)) for share in SHARES}
    share = max(SHARES, key=lambda one: float(products[one].sum()) - PULL * (one - SHARE) ** 2)
    best = Choice(Way.PRODUCT, share, temperature)
    for way in (Way.SCE, Way.LOGISTIC, Way.ZERO_SHOT):
        gains = _explained(opinions, opinions.probabilities(way, best)) - products[share]
        gain = float(gains.sum())
        doubt = float(gains.std(ddof=1)) * len(gains) ** 0.5 if len(gains) > 1 else np.inf
        if gain > max(CAUTION, doubt, best.gain):
            best = replace(best, way=way, gain=gain)
    return best


def cross_chosen(
    opinions: Opinions, judge: IdArray, forced: Way | None
) -> tuple[FloatArray, dict[Way, FloatArray]]:
    """Return the probabilities (m, K) of the chosen way, and of each one.

    Each part of the rows, by ``judge`` (m,), is answered under what the other parts choose, so that the
    choice has not seen the rows that it is measured by. ``forced``: a way that was asked for.
    """
    ways = {way: np.empty_like(opinions.sce) for way in (Way.ZERO_SHOT, Way.SCE, Way.LOGISTIC, Way.PRODUCT)}
    chosen = np.empty_like(opinions.sce)
    for part in np.unique(judge):
        mine = judge == part
        choice = choose(opinions.part(~mine))
        here = opinions.part(mine)
        for way, found in ways.items():
            found[mine] = here.probabilities(way, choice)
        chosen[mine] = ways[forced or choice.way][mine]
    return chosen, ways


@dataclass(frozen=True, slots=True, eq=False)
class Heads:
    """All that a fine-tune made to predict with, and the way that was chosen.

    ``base`` is the model that was fine-tuned, ``fitted`` the one with a correction and, unless the user
    stopped before, a logistic regression; ``adapted`` that with a fine-tuned text encoder, if there is one.
    ``measured``: probabilities (m, K) of each way on the rows that were measured. ``reason``: a sentence.
    """

    base: SCEModel
    fitted: SCEModel
    way: Way
    best: Way
    reason: str
    measured: Mapping[Way, FloatArray] = field(default_factory=dict)
    adapted: SCEModel | None = None

    @property
    def share(self) -> float:
        """The weight of the logistic regression in the product; 0 where there is none."""
        return self.fitted.config.head.share if self.fitted.config.head is not None else 0.0

    def usable(self, way: Way) -> bool:
        """Whether there is what it takes to predict in ``way``."""
        if way is Way.ADAPTED:
            return self.adapted is not None
        return way in (Way.ZERO_SHOT, Way.SCE) or self.fitted.config.head is not None


def decide(
    base: SCEModel,
    fitted: SCEModel,
    regression: Logistic | None,
    opinions: Opinions,
    judge: IdArray,
    wanted: Way | None,
    *,
    blind: bool,
) -> tuple[Heads, FloatArray]:
    """Return all ways with the chosen one, and what that says (m, K) of the rows of ``opinions``.

    Args:
        base: What was fine-tuned.
        fitted: The same with a correction.
        regression: Fitted to all rows that this was fitted to; None: the user stopped before.
        opinions: On the rows that were measured.
        judge: See `cross_chosen`.
        wanted: The way that was asked for; a fine-tuned text encoder comes later and asks for none here.
        blind: No row may be measured, as all were labelled in bulk: the product is not tried untested.
    """
    wanted = None if wanted is Way.ADAPTED else wanted
    if regression is None:
        why = _("{way}: stopped before the ways were compared.", way=_(NAMES[Way.SCE]))
        return Heads(base, fitted, Way.SCE, Way.SCE, why), opinions.sce
    after, measured = cross_chosen(opinions, judge, wanted)
    choice = Choice(Way.SCE) if blind else choose(opinions)
    way = wanted or choice.way
    why = reason_for(way, opinions.gold, measured, forced=wanted is not None)
    names = tuple(fitted.labels[place].name for place in opinions.known)
    full = with_head(fitted, *_logistic_head(names, regression, choice))
    return Heads(base, full, way, choice.way, why, measured), after


def _logistic_head(
    names: tuple[str, ...], found: Logistic, choice: Choice
) -> tuple[HeadConfig, LogisticHead]:
    """Return what a model carries of a regression for the labels ``names``."""
    head = LogisticHead(names, found.weight.shape[1])
    with torch.no_grad():
        head.weight.copy_(torch.from_numpy(found.weight / choice.temperature))
        head.bias.copy_(torch.from_numpy(found.bias / choice.temperature))
    return HeadConfig(choice.way, choice.share, names), head.requires_grad_(False)


def reason_for(way: Way, gold: IdArray, measured: Mapping[Way, FloatArray], *, forced: bool) -> str:
    """Return why a version predicts in ``way``, in one sentence with the figures on its rows ``gold`` (m,).

    ``forced``: it was asked for.
    """
    name = _(NAMES[way])
    accuracy = {one: float((found.argmax(1) == gold).mean()) for one, found in measured.items() if len(gold)}
    if forced:
        return _("{way}, as you asked for.", way=name)
    if way not in accuracy:
        return _("{way}: no validation rows to compare the ways by.", way=name)
    if way is Way.PRODUCT:
        return ngettext(
            "{way} ({accuracy}), the default: no single way is clearly better on {count} validation row.",
            "{way} ({accuracy}), the default: no single way is clearly better on {count} validation rows.",
            len(gold),
            way=name,
            accuracy=percent(accuracy[way], 1),
        )
    return ngettext(
        "{way} ({accuracy}): on {count} validation row it gives your labels a clearly higher probability "
        "than the product ({product}).",
        "{way} ({accuracy}): on {count} validation rows it gives your labels a clearly higher probability "
        "than the product ({product}).",
        len(gold),
        way=name,
        accuracy=percent(accuracy[way], 1),
        product=percent(accuracy[Way.PRODUCT], 1),
    )


def _explained(opinions: Opinions, found: FloatArray) -> FloatArray:
    """Return the log-probability (m,) that ``found`` (m, K) gives the rows' labels."""
    own = found[np.arange(len(opinions)), opinions.gold].astype(np.float64)
    result: FloatArray = np.log(np.maximum(own, 1e-30))
    return result


def _log(found: FloatArray) -> torch.Tensor:
    return torch.from_numpy(found).clamp_min(torch.finfo(torch.float32).tiny).log()
