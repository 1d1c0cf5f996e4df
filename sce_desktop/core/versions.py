"""Fine-tuned versions of a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.training import FinetuneSettings, TrainingReport


def version_title(base: str, number: int) -> str:
    """What runs of a model version are called, as in "sce-mini + version 3"."""
    return f"{PurePath(base).name or base} + version {number}"


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """The immutable result of a fine-tune; its weights stay in the project until they are asked for."""

    id: int
    number: int  # as people call it; never used again, even after a deletion
    name: str
    base: str  # name or folder of the model that was fine-tuned
    base_fingerprint: str
    created_at: str  # ISO 8601, UTC
    data_hash: str  # of the rows and answers that it learned from
    train_rows: int
    held_out_rows: int
    settings: FinetuneSettings | None  # None: not kept
    seed: int
    report: TrainingReport
    seconds: float
    active: bool  # scores come from this version instead of its base

    @property
    def title(self) -> str:
        """What its runs are called."""
        return version_title(self.base, self.number)

    @property
    def learned(self) -> IdArray:
        """Ids (n,) of the rows that it learned from, sorted; none if they were not kept."""
        return np.array(self.report.fit.row_ids, dtype=np.int64)
