"""The Python interface, in the habits of scikit-learn and of Hugging Face's zero-shot pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.heads import Way
from sce_desktop.core.labels import check_scorable, clean_labels, distinct_labels
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import TextModel, VectorCache
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.encoder.precision import choose_precision
from sce_desktop.ml.finetune.finetune_embedder import finetune_embedder
from sce_desktop.ml.finetune.standard import finetune
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.hub.session import choose_device
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.transductive import TransductiveModel, sample

Wordings = str | Label | Sequence[str]
"""A label as a name, as a `Label`, or as several wordings of one label: its name, then synonyms."""


class SCEClassifier:
    """Zero-shot text classification with an SCE.

    >>> classifier = SCEClassifier.from_pretrained("sce-mini")
    >>> classifier.predict_proba(texts, ["Delivery", "Billing", ("App", "software", "website")])

    The order of the labels does not matter: it permutes the columns and changes nothing else. A blank text
    has nothing to classify: remove blanks first.
    """

    def __init__(self, model: SCEModel) -> None:
        self.model = model

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path = catalog.SCE_MINI,
        *,
        device: str = "auto",
        precision: str = "auto",
        allow_download: bool = False,
        **options: Any,
    ) -> SCEClassifier:
        """Load a bundled or installed model by name, a folder, or a hub id.

        Args:
            name: What to load.
            device: auto, cpu, cuda, cuda:N or mps.
            precision: auto, float32, bfloat16 or int8: what the text embedder multiplies in.
            allow_download: Download a hub id that is not installed; without it the network is never used.
            options: As for `SCEModel.from_pretrained`.

        Raises:
            UserError: It is not here, damaged, not an SCE, or the device is not there or has no
                instructions for the precision.
        """
        folder = catalog.resolve(name, allow_download=allow_download)
        where = choose_device(device)
        bits = choose_precision(precision, where)
        return cls(SCEModel.from_pretrained(folder, device=where, precision=bits, **options))

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model folder, whole or not at all, in place of an older SCE if there is one.

        Raises:
            UserError: The place cannot be written, holds other files, a model of another kind, or one that
                is installed (see `sce-desktop models list`).
        """
        catalog.check_not_installed(Path(folder).expanduser())
        self.model.save_pretrained(folder)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Labels that the model carries itself; used where none are given."""
        return self.model.labels

    def fit(
        self,
        texts: Sequence[str],
        y: Sequence[str],
        labels: Sequence[Wordings] | None = None,
        *,
        epochs: int = 100,
        lr: float = 1.0,
        seed: int = 0,
        adapt_embedder: bool = False,
        head: str = "auto",
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> SCEClassifier:
        """Fine-tune the model on labelled texts and return self.

        From then on ``labels`` are the classifier's own. One text a label is enough to begin with; labels
        without texts keep the scores they had. A further call continues from there.

        Args:
            texts: Not blank.
            y: The name of each text's label.
            labels: All labels; without them the classifier's own, else those in ``y``.
            epochs: Passes over the texts at most.
            lr: Step-size multiplier; 1 is always stable.
            seed: Random seed of the folds that choose the hyper-parameters.
            adapt_embedder: Fine-tune the text encoder too, which takes minutes where the rest takes seconds;
                kept only if it is no worse and more confident on held-out texts.
            head: How it predicts from then on: "sce", "logistic" (regression on the text vectors), "product"
                (of both), "adapted" (with a text encoder that is fine-tuned too), or "auto": what
                cross-validation chooses.
            cache: Of text vectors.
            progress: Told of the work; may cancel it, then nothing has changed.

        Raises:
            ValueError: No such head, not as many labels as texts, a label in ``y`` that is not among
                ``labels``, a blank text, fewer than two labels with texts, or an embedder that cannot be
                adapted.
            TypeError: ``texts``, ``y`` or ``labels`` is a single string.
        """
        if isinstance(texts, str) or isinstance(y, str):
            raise TypeError("texts and y must be lists of strings")
        if head not in ("auto", *Way):
            raise ValueError(f"There is no head {head!r}: choose auto, sce, logistic, product or adapted.")
        answers = list(y)
        if len(texts) != len(answers):
            raise ValueError(f"There are {len(texts)} texts and {len(answers)} labels: give one for each.")
        if any(is_blank(text) for text in texts):
            raise ValueError("A blank text says nothing: leave blanks out.")
        given = labels if labels is not None else self.labels or distinct_labels(answers)
        chosen = self._labels(given, multi_label=False)
        place_of = {label.name: place for place, label in enumerate(chosen)}
        if strange := [name for name in dict.fromkeys(answers) if name not in place_of]:
            raise ValueError(f"{strange[0]!r} is not among the labels: give all of them.")
        settings = FinetuneSettings(
            epochs=epochs,
            lr=lr,
            seed=seed,
            adapt_embedder=adapt_embedder,
            head=None if head == "auto" else Way(head),
        )
        try:
            tuned = (finetune_embedder if settings.adapt_embedder else finetune)(
                self.model,
                texts,
                [place_of[name] for name in answers],
                chosen,
                settings=settings,
                cache=cache,
                progress=progress or SilentProgress(),
            )
        except UserError as error:
            raise ValueError(str(error)) from None
        self.model = tuned.model
        return self

    def predict(
        self,
        texts: Sequence[str],
        labels: Sequence[Wordings] | None = None,
        *,
        whole_table: bool = False,
        cache: VectorCache | None = None,
    ) -> list[str]:
        """Return the name of each text's most probable label, of equal ones the first.

        Args and raises: As `predict_proba`.
        """
        chosen = self._labels(labels, multi_label=False)
        found = self.predict_proba(texts, labels, whole_table=whole_table, cache=cache)
        return [chosen[i].name for i in found.argmax(1)]

    def predict_proba(
        self,
        texts: Sequence[str],
        labels: Sequence[Wordings] | None = None,
        *,
        multi_label: bool = False,
        whole_table: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> FloatArray:
        """Return probabilities (n, K) float32, columns in the order of ``labels``.

        Rows sum to 1; with ``multi_label`` each label has a probability of its own, not calibrated yet. With
        ``whole_table`` the ``texts`` are predicted jointly (`ml.transductive`): with hundreds of them usually
        more accurate, and each prediction then depends on all.

        Raises:
            ValueError: No label, one alone without ``multi_label``, two equal ones, or ``whole_table`` with
                ``multi_label``.
            TypeError: ``texts`` or ``labels`` is a single string.
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list of strings: put the text in brackets")
        if whole_table and multi_label:
            raise ValueError("Joint prediction (whole_table) is not available with multi_label.")
        chosen = self._labels(labels, multi_label=multi_label)
        model: TextModel = self.model
        if whole_table and (reference := sample(texts)):
            model = TransductiveModel.from_texts(self.model, reference, cache=cache, progress=progress)
        return model.probabilities(
            texts, chosen, multi_label=multi_label, cache=cache, progress=progress
        ).probabilities

    def __call__(
        self,
        sequences: str | Sequence[str],
        candidate_labels: Sequence[Wordings] | None = None,
        *,
        multi_label: bool = False,
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> dict[str, Any] | list[dict[str, Any]]:
        """Return results in the shape of Hugging Face's zero-shot pipeline.

        Args:
            sequences: One text, for one dict, or several, for a list of dicts.
            candidate_labels: A list; a string is not split.
            multi_label: Score each label independently.
            top_k: Keep the best few labels.
            threshold: Keep labels with at least this probability.

        Returns:
            ``{"sequence": text, "labels": [...], "scores": [...]}``, best first, ties in the order given.

        Raises:
            ValueError: No text, no label, one alone without ``multi_label``, or two equal ones.
            TypeError: ``candidate_labels`` is a single string.
        """
        texts = [sequences] if isinstance(sequences, str) else list(sequences)
        if not texts:
            raise ValueError("You must include at least one label and at least one sequence.")
        chosen = self._labels(candidate_labels, multi_label=multi_label)
        results = []
        for text, row in zip(texts, self.predict_proba(texts, chosen, multi_label=multi_label), strict=True):
            order = (-row).argsort(kind="stable")[:top_k]
            kept = [i for i in order if threshold is None or row[i] >= threshold]
            results.append(
                {
                    "sequence": text,
                    "labels": [chosen[i].name for i in kept],
                    "scores": [float(row[i]) for i in kept],
                }
            )
        return results[0] if isinstance(sequences, str) else results

    def _labels(self, labels: Sequence[Wordings] | None, *, multi_label: bool) -> tuple[Label, ...]:
        if isinstance(labels, str):
            raise TypeError("labels must be a list: a string is not split, since a label may hold commas")
        given = self.labels if labels is None else labels
        if not given:
            raise ValueError("You must include at least one label and at least one sequence.")
        try:
            chosen = clean_labels([_as_label(label) for label in given])
            check_scorable(chosen)
        except UserError as error:
            raise ValueError(str(error)) from None
        return chosen


def _as_label(label: Wordings) -> Label:
    if isinstance(label, Label):
        return label
    if isinstance(label, str):
        return Label(label)
    name, *synonyms = label
    return Label(name, synonyms=tuple(synonyms))
