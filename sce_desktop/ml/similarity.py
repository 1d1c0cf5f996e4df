"""The similarity baseline: a label's probability is the softmax of 20 times its cosine with the text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.labels import asks_yes_no, check_scorable
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import ModelKind, Scores, VectorCache
from sce_desktop.core.scoring import softmax
from sce_desktop.ml.encoder.embedder import Embedder, cached_encode
from sce_desktop.ml.encoder.published import load_embedder
from sce_desktop.ml.hub import catalog, folders, known_models
from sce_desktop.ml.hub.bounds import check_probabilities
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import YesNo, wordings_of

SCALE = 20.0
ROWS_PER_BATCH = 4096


class SimilarityModel:
    """A `core.runs.TextModel` of kind "similarity" over any `Embedder`.

    A label's vector is the mean over its wordings, as the SCE's is (`ml.sce.model`). With ``multi_label`` the
    probabilities are those of an uncalibrated `YesNo`.
    """

    kind: ClassVar[ModelKind] = "similarity"
    labels: tuple[Label, ...] = ()

    def __init__(self, embedder: Embedder, name: str = "") -> None:
        self.embedder = embedder
        self.name = name or embedder.name
        self.yes_no = YesNo()
        self._known: dict[tuple[str, ...], FloatArray] = {}

    @classmethod
    def from_pretrained(
        cls, name: str | Path = known_models.MINILM, *, allow_download: bool = False, **options: Any
    ) -> SimilarityModel:
        """Load the model called ``name`` in the catalog, or a folder, or a hub id.

        The folder of an SCE gives its embedder alone: the SCE's own cosine part.

        Args:
            name: What to load.
            allow_download: Fetch a hub id that is not here yet.
            options: As for `published.load_embedder`; they go before those kept with an installed model.

        Raises:
            UserError: It is not here, damaged, or needs what was not allowed.
        """
        folder = catalog.resolve(name, allow_download=allow_download)
        options = catalog.load_options(name) | options
        if folders.kind_of(folder) == "sce":
            allowed = {k: options[k] for k in ("device", "precision", "trust_remote_code") if k in options}
            model = SCEModel.from_pretrained(folder, **allowed)
            return cls(model.text_embedder, str(name))
        return cls(load_embedder(folder, name=Path(name).name, **options), str(name))

    @property
    def max_tokens(self) -> int:
        """How far a text is read."""
        return self.embedder.max_tokens

    @property
    def precision(self) -> str:
        """What its text embedder multiplies in."""
        return self.embedder.precision

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the embedder and what is made of its vectors."""
        return f"similarity:{SCALE:g}:{self.embedder.key}"

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Score non-blank ``texts`` against ``labels``; `Progress.check` is called every batch.

        A single label is a question of its own (`asks_yes_no`).

        Raises:
            UserError: There is no label.
        """
        check_scorable(labels)
        vectors = cached_encode(self.embedder, texts, cache, progress)
        return self.score(vectors, labels, multi_label=multi_label, progress=progress)

    def score(
        self,
        vectors: FloatArray,
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Return probabilities (n, K) from text vectors (n, d), in the order of ``labels``."""
        alone = asks_yes_no(labels, multi_label=multi_label)
        known = self.label_vectors(labels)
        out = np.empty((len(vectors), len(labels)), dtype=np.float32)
        for start in range(0, len(vectors), ROWS_PER_BATCH):
            scores = SCALE * (vectors[start : start + ROWS_PER_BATCH] @ known.T)
            rows = self.yes_no(scores) if alone else softmax(scores)
            out[start : start + ROWS_PER_BATCH] = rows
            if progress is not None:
                progress.check()
        check_probabilities(out, self.name)
        return Scores(out, 1 - out[:, 0] if alone and not multi_label else None)

    @property
    def text_embedder(self) -> Embedder:
        """What makes the text vectors."""
        return self.embedder

    @property
    def sharpness(self) -> float:
        """By how much a cosine with a label's vector changes its log-probability."""
        return SCALE

    def label_directions(self, labels: Sequence[Label]) -> Tensor:
        """Return the vectors (K, d) of ``labels``, of unit length."""
        return torch.from_numpy(self.label_vectors(labels))

    def label_examples(self, labels: Sequence[Label]) -> Tensor:
        """Return zeros (K,): it learns from no rows."""
        return torch.zeros(len(labels))

    def label_vectors(self, labels: Sequence[Label]) -> FloatArray:
        """Return the vectors (K, d) of ``labels``, of unit length."""
        wordings = [wordings_of(label) for label in labels]
        for one in wordings:
            if one not in self._known:
                mean = self.embedder.encode(one).mean(0)
                self._known[one] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        return np.stack([self._known[one] for one in wordings])
