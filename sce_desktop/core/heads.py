"""The ways in which a fine-tuned version can predict, and what is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sce_desktop.core.i18n import N_

if TYPE_CHECKING:
    from sce_desktop.core.figures import ChangedRow, Figures, LabelChange, PairedCounts


class Way(StrEnum):
    """A way to predict. The values are kept in files and are those of ``finetune --head``."""

    ZERO_SHOT = "zero-shot"
    """The base model."""
    SCE = "sce"
    """The SCE head: the base model's scores with a correction for each label that had examples."""
    LOGISTIC = "logistic"
    """Logistic regression on the text vectors."""
    PRODUCT = "product"
    """The normalised geometric mean of the probabilities of the last two."""
    ADAPTED = "adapted"
    """The SCE head on the vectors of a text encoder that was fine-tuned too."""


NAMES: Mapping[Way, str] = {
    Way.ZERO_SHOT: N_("Base model"),
    Way.SCE: N_("SCE head"),
    Way.LOGISTIC: N_("Logistic regression"),
    Way.PRODUCT: N_("Product of both"),
    Way.ADAPTED: N_("Fine-tuned text encoder"),
}


@dataclass(frozen=True, slots=True)
class WayReport:
    """How one way fares on the validation rows.

    ``paired``: against the base model. ``usable``: whether the version has what it takes to predict so.
    """

    way: Way
    figures: Figures
    paired: PairedCounts
    by_label: tuple[LabelChange, ...] = ()
    changed_rows: tuple[ChangedRow, ...] = ()
    usable: bool = True


@dataclass(frozen=True, slots=True)
class HeadReport:
    """Which way a version predicts in.

    ``reason``: why, in one sentence. ``best``: what cross-validation chose. ``share``: the weight of the
    logistic regression in the product. ``ways``: those that were measured. ``encoder_key``: of the weights of
    a fine-tuned text encoder that the version holds; empty where it holds none. ``source``: the number of
    the version that this one was made from by choosing another way; 0: it comes from a fine-tune.
    """

    way: Way
    reason: str = ""
    best: Way = Way.SCE
    share: float = 0.0
    ways: tuple[WayReport, ...] = ()
    encoder_key: str = ""
    source: int = 0

    def of(self, way: Way) -> WayReport | None:
        """Return what is known of ``way``; None where it was not measured."""
        return next((one for one in self.ways if one.way is way), None)
