"""A model whose text encoder is replaced by static vectors: thousands of rows a second, and rough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from sce_desktop.core.annotations import Label
from sce_desktop.core.labels import check_scorable
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import ModelKind, Scores, VectorCache
from sce_desktop.ml.draft.static import DRAFT, MAX_TOKENS, StaticVectors, load
from sce_desktop.ml.encoder.embedder import cached_encode, digest
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.hub.bounds import check_probabilities
from sce_desktop.ml.sce.model import SCEModel


class DraftModel:
    """A `core.runs.TextModel`: the head and the labels of ``model``, over static text vectors.

    Its scores are a draft. They are never kept as those of ``model``: the fingerprint is another one. Where
    the static vectors have to be moved for a table (`StaticVectors.moved`), that is done by texts of it that
    `read` is given, or else by some of the first batch that has as many.
    """

    kind: ClassVar[ModelKind] = "sce"
    max_tokens: ClassVar[int] = MAX_TOKENS

    def __init__(self, model: SCEModel, vectors: StaticVectors) -> None:
        self.model, self.vectors = model, vectors
        self.name, self.labels = model.name, model.labels
        self.tokenizer = vectors.tokenizer  # by which it is known what it reads

    @property
    def fingerprint(self) -> str:
        """The model's own with that of the static vectors."""
        return f"{self.model.fingerprint}+draft:{self.vectors.key}"

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Score non-blank ``texts`` against ``labels``, as `SCEModel.probabilities` does.

        Raises:
            UserError: There is no label.
        """
        check_scorable(labels)
        wanted = self.vectors.read_first
        if wanted and self.vectors.offset is None and len(texts) >= wanted:
            self.read(texts[:: len(texts) // wanted], cache, progress)
        vectors = self.vectors.encode(texts)
        found = self.model.score(vectors, labels, multi_label=multi_label, progress=progress)
        check_probabilities(found.probabilities, self.name)
        return found

    def read(
        self, texts: Sequence[str], cache: VectorCache | None = None, progress: Progress | None = None
    ) -> None:
        """Let the text encoder read some ``texts`` of the table, and move the static vectors by them.

        Raises:
            Cancelled: The user stopped.
        """
        some = list(texts[: self.vectors.read_first])
        if some:
            found = cached_encode(self.model.text_embedder, some, cache, progress or SilentProgress())
            self.vectors = self.vectors.moved(some, found)


def encoder_key(model: SCEModel) -> str:
    """Return a hash of the weights of a model's text encoder: static vectors fit no other."""
    return digest(model.embedder.state_dict().items())[:32]


def draft_of(model: Any, name: str) -> DraftModel | None:
    """Return the draft of ``model``, which was loaded as ``name``; None: there is none for its text encoder.

    A model fitted to a table gives the draft of what was fitted, a version that of its base's text encoder.

    Raises:
        UserError: The file of static vectors is damaged.
    """
    base = model if isinstance(model, SCEModel) else getattr(model, "model", None)
    if not isinstance(base, SCEModel) or base.tokenizer is None:
        return None
    folder = catalog.resolve(name)
    if not (folder / DRAFT).is_file():
        return None
    vectors = load(folder, base.tokenizer, encoder_key(base), width=base.text_embedder.dim)
    return None if vectors is None else DraftModel(base, vectors)
