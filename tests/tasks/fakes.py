"""A model and a session for tests of tasks: no torch, and what they do can be read off a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import ModelKind, Scores, VectorCache


class FakeModel:
    """Gives every label that occurs in the text the same high score, and counts what it was asked."""

    max_tokens = 256

    def __init__(
        self,
        name: str = "fake",
        *,
        kind: ModelKind = "sce",
        labels: tuple[Label, ...] = (),
        says_none: bool = False,
        fingerprint: str = "",
    ) -> None:
        self.name = name
        self.kind = kind
        self.labels = labels
        self.fingerprint = fingerprint or f"{kind}:{name}"
        self.says_none = says_none
        self.scored: list[str] = []

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        if progress is not None:
            progress.check()
        assert all(text.strip() for text in texts)
        if cache is not None:
            cache.get("fake", texts)
        self.scored += texts
        hits = np.asarray(
            [[label.name.lower() in text.lower() for label in labels] for text in texts], dtype=np.float32
        ).reshape(len(texts), len(labels))
        rows = 0.25 + 0.5 * hits  # exact: one hit of two labels gives 0.75
        none = (1 - hits.max(axis=1)).astype(np.float32) if self.says_none else None
        if not multi_label:
            rows = rows / rows.sum(axis=1, keepdims=True)
        return Scores(rows.astype(np.float32), none)


class FakeSession:
    """Knows some models by name."""

    def __init__(self, *models: FakeModel) -> None:
        self._models = {model.name: model for model in models}

    def model(self, name: str) -> FakeModel:
        if name not in self._models:
            raise UserError(f"There is no model {name!r}.")
        return self._models[name]

    def baseline(self, spec: str) -> FakeModel:
        return self._models.setdefault(spec, FakeModel(spec, kind="similarity"))


class StoppingProgress(SilentProgress):
    """Cancels at the ``after``-th check."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    def check(self) -> None:
        self._left -= 1
        if self._left <= 0:
            raise Cancelled


class RecordingProgress(SilentProgress):
    """Keeps what was reported."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: list[tuple[int, int | None, str]] = []

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        self.reports.append((done, total, stage))
