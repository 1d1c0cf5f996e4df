"""What models say: runs, versions, scores, and what a model of any kind can be asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress

ModelKind = Literal["sce", "similarity", "llm"]

UNIT = 1e-3
"""How far a rounded vector of unit length may be from it."""
_OF_A_VERSION = re.compile(r" \+ version \d+$")  # as `version_title` writes it


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of one model over the rows with one label set. Its description never changes."""

    id: int
    alias: str  # column prefix: "sce", "similarity", or what the user named a baseline
    kind: ModelKind
    model: str  # name or folder as the user gave it
    fingerprint: str  # hash of weights and settings: same fingerprint, same numbers
    labels: tuple[Label, ...]  # snapshot, in the order of the probability vectors
    multi_label: bool
    created_at: str
    finished_at: str | None = None
    scored: int = 0
    whole_table: bool = False  # rows were predicted jointly

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names in the order of the probability vectors."""
        return tuple(label.name for label in self.labels)

    @property
    def title(self) -> str:
        """What files and scripts call it: its model, and whether rows were predicted jointly."""
        return f"{self.model}, whole table" if self.whole_table else self.model

    @property
    def of_version(self) -> bool:
        """Whether its model is a version of a project's own, which may have been deleted since."""
        return _OF_A_VERSION.search(self.model) is not None


def model_title(name: str, *, whole_table: bool) -> str:
    """What people read of a model that scores, as in "sce-mini (joint)"."""
    return _("{model} (joint)", model=name) if whole_table else name


@dataclass(frozen=True, slots=True)
class Scores:
    """Probabilities of n texts over K labels: ``probabilities`` (n, K) float32 in the caller's label order.

    Rows sum to 1 unless multi-label, where each entry is its own yes/no probability. ``none`` (n,) is the
    probability that no label fits, where the model can say so.
    """

    probabilities: FloatArray
    none: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.probabilities)


def as_kept(vectors: FloatArray) -> FloatArray:
    """Return text ``vectors`` (n, d) as caches keep them: rounded to float16, as float32.

    Those of unit length have it again: what is compared by its cosine with itself has to find itself.
    Wherever a vector comes from it is used like this, so that a row has one score.
    """
    with np.errstate(over="ignore"):
        kept: FloatArray = vectors.astype(np.float16).astype(np.float32)
    length = np.sqrt(np.einsum("nd,nd->n", kept, kept))[:, None]
    return np.divide(kept, length, out=kept, where=np.abs(length - 1) < UNIT)


class VectorCache(Protocol):
    """Text vectors by (embedder key, text). Implemented in store/, used by ml/ through this protocol."""

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Return (found (n,), vectors of the found ones (found.sum(), d) in order, None if none found)."""

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> object:
        """Keep ``vectors`` (n, d); losing them later is harmless."""


@dataclass(frozen=True, slots=True)
class KeptModel:
    """The model that a project keeps: name or folder, empty where nobody has chosen."""

    name: str = ""
    chosen: bool = False  # by a person, so that no other is offered


class TextModel(Protocol):
    """Anything that gives probabilities for texts and labels: an SCE, or a baseline."""

    @property
    def kind(self) -> ModelKind:
        """What it is."""

    @property
    def name(self) -> str:
        """Its own name."""

    @property
    def fingerprint(self) -> str:
        """Hash of weights and settings: same fingerprint, same numbers."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """Labels that the model carries itself (after a fine-tune); often empty."""

    @property
    def max_tokens(self) -> int:
        """How far a text is read."""

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Score non-blank ``texts`` against ``labels``; `Progress.check` is called every batch."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the examples, reported as it ends; or one step of adapting the text embedder.

    ``stage``: choosing the strength (between batches of texts that are read for it too), measuring
    (``held_out`` is the loss on the rows left out, ``fold`` which ones, from 1), adapting the embedder
    without the rows of ``fold``, or fitting what is kept.
    """

    stage: Literal["choosing", "measuring", "adapting", "keeping"]
    number: int
    loss: float
    held_out: float | None = None
    fold: int = 0


OnEpoch = Callable[[Epoch], bool]
