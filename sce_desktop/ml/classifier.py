"""The Python interface, in the habits of scikit-learn and of Hugging Face's zero-shot pipeline."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.heads import Way
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import check_scorable, clean_labels
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import TextModel, VectorCache
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.classifier_input import (
    Examples,
    Wordings,
    as_label,
    classes_of,
    examples,
    to_texts,
)
from sce_desktop.ml.encoder.precision import choose_precision
from sce_desktop.ml.finetune.finetune_embedder import finetune_embedder
from sce_desktop.ml.finetune.standard import finetune
from sce_desktop.ml.finetune.versions import with_labels
from sce_desktop.ml.hub import catalog, known_models, model_places
from sce_desktop.ml.hub.session import choose_device
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.transductive import TransductiveModel, sample


class SCEClassifier(ClassifierMixin, BaseEstimator):
    """Zero-shot text classification with an SCE, and a classifier of scikit-learn.

    >>> classifier = SCEClassifier.from_pretrained("sce-mini")
    >>> classifier.predict_proba(texts, ["Delivery", "Billing", ("App", "software", "website")])

    The order of the labels does not matter: it permutes the columns and changes nothing else. A blank text
    has nothing to classify: remove blanks first.

    With `sklearn.base.clone`, in a `Pipeline`, `GridSearchCV` or `cross_val_score` it is made of what it
    takes here; ``fit`` begins at ``model``, which it leaves as it is.

    Args:
        model: A bundled or installed model by name, a folder, a hub id, or a model that is loaded: copies by
            `clone` share it. What is not loaded is loaded when it is first needed.
        candidate_labels: The labels where a call gives none: names, `Label` objects, or sequences of a name
            and synonyms. Columns of probabilities are then sorted by name, as scikit-learn's scorers expect.
        epochs: Passes over the texts at most, in `fit`; so the next four.
        lr: Step-size multiplier; 1 is always stable.
        seed: Random seed of the folds that choose the hyper-parameters.
        adapt_embedder: Fine-tune the text encoder too.
        head: auto, sce, logistic, product or adapted; see `fit`.
        device: auto, cpu, cuda, cuda:N or mps.
        precision: auto, float32, bfloat16 or int8.
        warm_start: Let a further `fit` continue where the last one ended.
        cache: Of text vectors, shared by copies: with `VectorMemory()` a search over settings embeds each
            text once.

    Attributes:
        model_: The model that predicts, once it is loaded or fitted.
        classes_: (K,) what `predict` returns, in the order of the columns of `predict_proba`; after `fit`.
    """

    def __init__(
        self,
        model: str | Path | SCEModel = known_models.SCE_MINI,
        *,
        candidate_labels: Sequence[Wordings] | None = None,
        epochs: int = 100,
        lr: float = 1.0,
        seed: int = 0,
        adapt_embedder: bool = False,
        head: str = "auto",
        device: str = "auto",
        precision: str = "auto",
        warm_start: bool = False,
        cache: VectorCache | None = None,
    ) -> None:
        self.model = model
        self.candidate_labels = candidate_labels
        self.epochs = epochs
        self.lr = lr
        self.seed = seed
        self.adapt_embedder = adapt_embedder
        self.head = head
        self.device = device
        self.precision = precision
        self.warm_start = warm_start
        self.cache = cache

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path = known_models.SCE_MINI,
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
        return cls(_loaded(name, device, precision, allow_download=allow_download, **options))

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model folder, whole or not at all, in place of an older SCE if there is one.

        Raises:
            UserError: The place cannot be written, holds other files, a model of another kind, or one that
                is installed (see `sce-desktop models list`).
        """
        model_places.check_not_installed(Path(folder).expanduser())
        self._model().save_pretrained(folder)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Used where a call gives none: those of the latest `fit`, or candidate_labels, or the model's."""
        if not hasattr(self, "model_") and self.candidate_labels is not None:
            return tuple(sorted(map(as_label, self.candidate_labels), key=lambda label: label.name))
        return self._model().labels

    def fit(
        self,
        texts: Sequence[str],
        y: Sequence[Any] | None = None,
        labels: Sequence[Wordings] | None = None,
        *,
        epochs: int | None = None,
        lr: float | None = None,
        seed: int | None = None,
        adapt_embedder: bool | None = None,
        head: str | None = None,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> SCEClassifier:
        """Fine-tune the model on labelled texts and return self.

        From then on ``labels`` are the classifier's own. No labelled text is needed: as long as fewer than
        two labels have one, predictions are zero-shot. Then one text a label is enough; labels without texts
        keep the scores that they had. A further call begins at ``model`` again, unless ``warm_start`` is set.

        Args:
            texts: A list, an array, a Series or one column of a table; those with a label not blank.
            y: The name of each text's label; None or NaN for a text without one.
            labels: All labels; without them those of ``candidate_labels`` or the model, else those in ``y``,
                sorted.
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

        What is None is as the constructor was given it.

        Raises:
            ValueError: No such head, not as many labels as texts, a label in ``y`` that is not among
                ``labels``, a blank text, fewer than two labels altogether, or an embedder that cannot be
                adapted.
            TypeError: ``texts``, ``y`` or ``labels`` is a single string.
        """
        head = self.head if head is None else head
        if head not in ("auto", *Way):
            raise ValueError(f"There is no head {head!r}: choose auto, sce, logistic, product or adapted.")
        found = examples(texts, y)
        base = self._model() if self.warm_start else self._base()
        chosen = self._to_fit(labels, found, base)
        place_of = {label.name: place for place, label in enumerate(chosen)}
        if strange := [name for name in dict.fromkeys(found.names) if name not in place_of]:
            raise ValueError(f"{strange[0]!r} is not among the labels: give all of them.")
        settings = FinetuneSettings(
            epochs=self.epochs if epochs is None else epochs,
            lr=self.lr if lr is None else lr,
            seed=self.seed if seed is None else seed,
            adapt_embedder=self.adapt_embedder if adapt_embedder is None else adapt_embedder,
            head=None if head == "auto" else Way(head),
        )
        if len(set(found.names)) < 2:
            if found.names:
                warnings.warn(
                    _("Only one label has texts: predictions are zero-shot until a second one has some."),
                    stacklevel=2,
                )
            self.model_ = with_labels(base, chosen)
        else:
            try:
                tuned = (finetune_embedder if settings.adapt_embedder else finetune)(
                    base,
                    found.texts,
                    [place_of[name] for name in found.names],
                    chosen,
                    settings=settings,
                    cache=self.cache if cache is None else cache,  # an empty one is false
                    progress=progress or SilentProgress(),
                )
            except UserError as error:
                raise ValueError(str(error)) from None
            self.model_ = tuned.model
        self.classes_ = classes_of(chosen, found.values)
        return self

    def predict(
        self,
        texts: Sequence[str],
        labels: Sequence[Wordings] | None = None,
        *,
        whole_table: bool = False,
        cache: VectorCache | None = None,
    ) -> NDArray[Any]:
        """Return each text's most probable label (n,), of equal ones the first: its name, or what `fit` met.

        Args and raises: As `predict_proba`.
        """
        chosen = self._labels(labels)
        found = self.predict_proba(texts, labels, whole_table=whole_table, cache=cache)
        classes = self.classes_ if labels is None and hasattr(self, "classes_") else classes_of(chosen, {})
        return classes[found.argmax(1)]

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
            ValueError: No label (`sklearn.exceptions.NotFittedError`), one alone without ``multi_label``, two
                equal ones, or ``whole_table`` with ``multi_label``.
            TypeError: ``texts`` or ``labels`` is a single string.
        """
        rows = to_texts(texts)
        if whole_table and multi_label:
            raise ValueError("Joint prediction (whole_table) is not available with multi_label.")
        chosen = self._labels(labels)
        cache = self.cache if cache is None else cache  # an empty one is false
        fitted = self._model()
        model: TextModel = fitted
        if whole_table and (reference := sample(rows)):
            model = TransductiveModel.from_texts(fitted, reference, cache=cache, progress=progress)
        return model.probabilities(
            rows, chosen, multi_label=multi_label, cache=cache, progress=progress
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
        chosen = self._labels(candidate_labels)
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

    def _labels(self, labels: Sequence[Wordings] | None) -> tuple[Label, ...]:
        if isinstance(labels, str):
            raise TypeError("labels must be a list: a string is not split, since a label may hold commas")
        given = self.labels if labels is None else labels
        if labels is None and not given:
            raise NotFittedError(
                "You must include at least one label and at least one sequence: give labels, or call fit."
            )
        return _cleaned(given)

    def _to_fit(
        self, labels: Sequence[Wordings] | None, found: Examples, base: SCEModel
    ) -> tuple[Label, ...]:
        chosen: tuple[Label, ...]
        if labels is not None or self.candidate_labels is not None:
            chosen = self._labels(labels)
        else:
            given = base.labels or found.classes()
            if len(given) < 2:
                raise ValueError(
                    "There is one class, and a classifier needs two: give labels."
                    if given
                    else "fit requires y to be passed, but the target y is None or empty: give labels or y."
                )
            chosen = _cleaned(given)
        try:
            check_scorable(chosen, least=2)
        except UserError as error:
            raise ValueError(str(error)) from None
        return chosen

    def _model(self) -> SCEModel:
        return self.model_ if hasattr(self, "model_") else self._base()

    def _base(self) -> SCEModel:
        """Return the model that `fit` begins at; what has to be loaded is loaded once."""
        if isinstance(self.model, SCEModel):
            return self.model
        asked = (self.model, self.device, self.precision)
        if getattr(self, "_loaded", (None,))[0] != asked:
            self._loaded = (asked, _loaded(*asked))
        return self._loaded[1]

    def __sklearn_clone__(self) -> SCEClassifier:
        """Return the same without what `fit` has learned; the models and the cache are shared."""
        copied = type(self)(**self.get_params(deep=False))
        if hasattr(self, "_loaded"):
            copied._loaded = self._loaded
        return copied

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def _loaded(
    name: str | Path, device: str, precision: str, *, allow_download: bool = False, **options: Any
) -> SCEModel:
    folder = catalog.resolve(name, allow_download=allow_download)
    where = choose_device(device)
    bits = choose_precision(precision, where)
    return SCEModel.from_pretrained(folder, device=where, precision=bits, **options)


def _cleaned(labels: Sequence[Wordings]) -> tuple[Label, ...]:
    if not labels:
        raise ValueError("You must include at least one label and at least one sequence.")
    try:
        chosen = clean_labels([as_label(label) for label in labels])
        check_scorable(chosen)
    except UserError as error:
        raise ValueError(str(error)) from None
    return chosen
