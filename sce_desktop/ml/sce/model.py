"""A whole SCE: its text embedder, its label tokens and its label encoder, kept as one model folder.

A folder holds ``model.safetensors`` (float16, computed in float32; several files and an index where it is
large; matrices may be in int8, `int8`, a token table in 4-bit blocks, `quantised`), ``config.json``
(`ModelConfig`), ``tokenizer.json`` and ``README.md``. Training writes one from its own modules::

    config = ModelConfig.native("sce-mini", head.config, encoder.config, max_tokens=256)
    SCEModel(config, encoder, head, tokenizer).save_pretrained("models/sce-mini")

where ``encoder`` is a `TextEncoder`, ``head`` an `SCE` and ``tokenizer`` a `tokenizers.Tokenizer`; a README
that the folder has already is kept. A label enters as the mean over its wordings: the name, each synonym and,
where there is a description, "name: description".
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from huggingface_hub import PyTorchModelHubMixin
from tokenizers import Tokenizer
from torch import Tensor, nn

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.heads import Way
from sce_desktop.core.labels import asks_yes_no, check_scorable
from sce_desktop.core.precision import FLOAT32, keyed
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import ModelKind, Scores, VectorCache
from sce_desktop.ml.encoder.bert import TextEncoder
from sce_desktop.ml.encoder.embedder import Embedder, cached_encode, digest, in_halves
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.quantised import QuantisedTable
from sce_desktop.ml.hub import folders, model_places
from sce_desktop.ml.hub.bounds import check_probabilities
from sce_desktop.ml.sce import model_card, model_folder
from sce_desktop.ml.sce.correction import Correction
from sce_desktop.ml.sce.head import LogisticHead
from sce_desktop.ml.sce.model_config import ModelConfig, read_config, wordings_of
from sce_desktop.ml.sce.sce import SCE, LabelVectors, Passed
from sce_desktop.ml.sce.scorer import Scorer, make_scorer
from sce_desktop.ml.sce.wording_vectors import wording_vectors

_NATIVE_SETTINGS = ("max_tokens", "prompt", "lower_case")
_HUB_OPTIONS = ("revision", "token", "cache_dir", "force_download")


class SCEModel(
    nn.Module,
    PyTorchModelHubMixin,
    library_name="sce-desktop",
    tags=["text-classification", "zero-shot-classification", "sce"],
    pipeline_tag="zero-shot-classification",
    model_card_template=model_card.TEMPLATE,
):
    """A `core.runs.TextModel` of kind "sce". Its weights must not change once it has scored.

    Args:
        config: What config.json will say.
        embedder: g: a `TextEncoder` (then ``tokenizer`` is its own), or any other `Embedder`.
        head: The label encoder with its query adaptor.
        tokenizer: Of the embedder, None where that brings its own.
        label_tokens: E, where ``config.token_table`` is "own".
        label_tokenizer: Goes with ``label_tokens``.
        precision: What a `TextEncoder` multiplies in (`ml.encoder.precision`); an `Embedder` has its own.
    """

    kind: ClassVar[ModelKind] = "sce"

    def __init__(
        self,
        config: ModelConfig,
        embedder: TextEncoder | Embedder,
        head: SCE,
        tokenizer: Tokenizer | None = None,
        *,
        label_tokens: nn.Embedding | None = None,
        label_tokenizer: Tokenizer | None = None,
        precision: str = FLOAT32,
    ) -> None:
        super().__init__()
        self.config = config
        self.head = head
        self.tokenizer = tokenizer
        self.text_embedder: Embedder
        if isinstance(embedder, TextEncoder):
            if tokenizer is None:
                raise ValueError("a text encoder needs its tokenizer")
            self.embedder = embedder
            settings = {k: config.embedder[k] for k in _NATIVE_SETTINGS if k in config.embedder}
            self.text_embedder = NativeEmbedder(
                embedder, tokenizer, name=config.name, precision=precision, **settings
            )
        else:
            self.text_embedder = embedder
        if config.token_table == "own":
            if label_tokens is None or label_tokenizer is None:
                raise ValueError("a model with label tokens of its own needs them and their tokenizer")
            self.label_tokens = label_tokens
            self.label_tokenizer = label_tokenizer
        elif tokenizer is None:
            raise ValueError("label tokens can only be shared with an embedder that is a text encoder")
        else:
            self.label_tokenizer = tokenizer
        self.correction = Correction(config.corrected, config.sce.text_width) if config.corrected else None
        self.logistic = (
            LogisticHead(config.head.names, config.sce.text_width) if config.head is not None else None
        )
        self.adapter: dict[
            str, tuple[Tensor, Tensor]
        ] = {}  # what `ml.finetune.adapting` added to the embedder
        self._known: dict[tuple[str, ...], tuple[Tensor, Tensor]] = {}  # label vectors by wordings
        self._scorer: tuple[tuple[tuple[str, ...], ...], Scorer] | None = None  # of the last label set

    def _apply(self, fn: Any, recurse: bool = True) -> SCEModel:
        """Forget label vectors when the weights move to another device."""
        self._known.clear()
        self._scorer = None
        super()._apply(fn, recurse)
        return self

    # --- what a TextModel says of itself -------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.config.name

    @property
    def labels(self) -> tuple[Label, ...]:
        """Labels that the model carries itself."""
        return self.config.labels

    @property
    def max_tokens(self) -> int:
        """How far a text is read."""
        return self.text_embedder.max_tokens

    @property
    def precision(self) -> str:
        """What its text embedder multiplies in; all else is float32."""
        return self.text_embedder.precision

    @property
    def fingerprint(self) -> str:
        """Hash of all weights and of the settings that change numbers; the precision too, unless float32."""
        return keyed(self.identity, self.precision)

    @cached_property
    def identity(self) -> str:
        """The fingerprint that it has in float32: what was made for this model fits it in any precision."""
        own = ((k, v) for k, v in self.state_dict().items() if not k.startswith("embedder."))
        settings = (
            self.text_embedder.weights_key,
            self.config.temperature,
            self.config.yes_no,
            self.config.sce,
            # each only where it changes numbers: other models keep their fingerprint
            *([self.config.none] if self.config.sce.says_none else []),
            *([self.config.corrected] if self.config.corrected else []),
            *([self.config.head] if self.config.head is not None else []),
        )
        return digest(own, *settings)

    @property
    def sharpness(self) -> float:
        """By how much a cosine with a label's vector changes its log-probability."""
        return float(self.config.sce.alpha / self.config.temperature)

    @property
    def device(self) -> torch.device:
        """Where the label encoder is."""
        return self.head.adapt.weight.device

    # --- scoring -------------------------------------------------------------------------------------------

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

        Rows sum to 1; `Scores.none` is there where the model says it. With ``multi_label`` each label has a
        probability of its own (see `YesNo`), which the other labels do not change. A single label is a
        question of its own too, and `Scores.none` its other answer.

        Raises:
            UserError: There is no label.
        """
        check_scorable(labels)
        vectors = self.embed(texts, cache=cache, progress=progress)
        found = self.score(vectors, labels, multi_label=multi_label, progress=progress)
        check_probabilities(found.probabilities, self.name)
        return found

    def embed(
        self, texts: Sequence[str], *, cache: VectorCache | None = None, progress: Progress | None = None
    ) -> FloatArray:
        """Return the text vectors (n, d_q), from ``cache`` where it has them."""
        return cached_encode(self.text_embedder, texts, cache, progress)

    @torch.inference_mode()
    def score(
        self,
        vectors: FloatArray,
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Return probabilities (n, K) from text vectors (n, d_q), in the order of ``labels``."""
        self.eval()
        scorer = self._scorer_for(labels, progress)

        alone = asks_yes_no(labels, multi_label=multi_label)
        says_none = self.config.sce.says_none and not alone

        def run(rows: FloatArray) -> FloatArray:
            q = torch.tensor(rows, dtype=torch.float32, device=self.device)
            correction = 0.0 if self.correction is None else self.correction(q, labels)
            if alone:
                return self.config.yes_no(self._alone(q, scorer.labels, correction).cpu().numpy())
            passed = scorer.passed(q)
            passed = Passed(passed.scores + correction, passed.text)
            found = self._probabilities(passed.scores / self.config.temperature, q, labels).cpu().numpy()
            if not says_none:
                return found
            none = self.config.none(self.head.none(passed).cpu().numpy())
            return np.column_stack([found, none])

        probabilities = np.empty((len(vectors), len(labels)), dtype=np.float32)
        none = np.empty(len(vectors), dtype=np.float32) if says_none else None
        for start in range(0, len(vectors), scorer.rows):
            part = slice(start, start + scorer.rows)
            found = in_halves(run, vectors[part])
            probabilities[part] = found[:, : len(labels)]
            if none is not None:
                none[part] = found[:, -1]
            if progress is not None:
                progress.check()
        if alone and not multi_label:
            none = 1 - probabilities[:, 0]
        return Scores(probabilities, none)

    def _probabilities(self, scores: Tensor, q: Tensor, labels: Sequence[Label]) -> Tensor:
        """Return the probabilities (B, K) of ``scores``, those of the logistic regression mixed in."""
        if self.logistic is None or self.config.head is None or not self.config.head.weight:
            return torch.softmax(scores, -1)
        return self.logistic.mixed(torch.log_softmax(scores, -1), q, labels, self.config.head.weight).exp()

    def _alone(self, q: Tensor, labels: LabelVectors, correction: Tensor | float) -> Tensor:
        """Return for each label (B, K) what `YesNo` makes a probability of, whatever the other labels are."""
        if self.config.sce.says_none:
            return self.head.yes(q, labels, correction)
        if self.config.sce.architecture == "plus":
            return self.head.cosine(q, labels) + correction
        one_each = LabelVectors(labels.tokens[:, None])
        return self.head.grouped(q.expand(len(labels.tokens), *q.shape), one_each)[..., 0].T + correction

    def _scorer_for(self, labels: Sequence[Label], progress: Progress | None) -> Scorer:
        wordings = tuple(wordings_of(label) for label in labels)
        known = self._scorer  # read once: another thread may score other labels meanwhile
        if known is None or known[0] != wordings:
            known = wordings, make_scorer(self.head, self.label_vectors(labels, progress))
            self._scorer = known
        return known[1]

    @torch.inference_mode()
    def label_vectors(self, labels: Sequence[Label], progress: Progress | None = None) -> LabelVectors:
        """Return h_k (K, d) and g(label) (K, d_q): means over the wordings, g of unit length.

        Warns of a label in which the tokenizer finds nothing (h_k is then zero).
        """
        wordings = [wordings_of(label) for label in labels]
        if new := [one for one in dict.fromkeys(wordings) if one not in self._known]:
            table = self._token_table()
            made = wording_vectors(
                new, self.label_tokenizer, table, self.text_embedder, name=self.name, progress=progress
            )
            self._known.update(zip(new, made, strict=True))
        pairs = [self._known[one] for one in wordings]
        return LabelVectors(torch.stack([h for h, _ in pairs]), torch.stack([g for _, g in pairs]))

    def label_directions(self, labels: Sequence[Label]) -> Tensor | None:
        """Return g(label) (K, d_q), of unit length; None for the paper's architecture.

        None too where a logistic regression alone predicts: what a label's name says plays no part in that.
        """
        if self.config.head is not None and self.config.head.way is Way.LOGISTIC:
            return None
        return self.label_vectors(labels).sentence

    def label_examples(self, labels: Sequence[Label]) -> Tensor:
        """Return of how many rows (K,) fine-tunes have learned each label; infinite where nobody counted."""
        names = self.config.corrected
        known = dict(zip(names, self.config.examples or (math.inf,) * len(names), strict=True))
        return torch.tensor([float(known.get(label.name, 0)) for label in labels], device=self.device)

    def _token_table(self) -> Tensor | QuantisedTable:
        table = self.label_tokens if self.config.token_table == "own" else self.embedder.tokens
        return table if isinstance(table, QuantisedTable) else table.weight

    # --- folders -------------------------------------------------------------------------------------------

    def save_pretrained(self, save_directory: str | Path, *, card: str = "", **options: Any) -> str | None:
        """Write the model folder, whole or not at all; other files of an older version of it are kept.

        Args:
            save_directory: Where to.
            card: What README.md says beyond the name, in Markdown. It takes the place of an older card of
                ours; one that somebody wrote is kept.
            options: As for the hub library.

        Raises:
            UserError: The place cannot be written, or something else is there.
        """
        folder = Path(save_directory).expanduser().absolute()
        folders.check_free(folder, folders.CONFIG, folders.SCE_TYPE)
        with folders.replaced_folder(folder) as aside:
            if folder.is_dir():
                shutil.copytree(folder, aside, dirs_exist_ok=True)
            if card:
                model_card.remove_ours(aside)
            if options.get("model_card_kwargs") is None:
                name = f"{self.name}, fine-tuned" if self.config.corrected else self.name
                options["model_card_kwargs"] = {"name": name, "more": card}
            return super().save_pretrained(aside, **options)

    def _save_pretrained(self, save_directory: Path) -> None:
        model_folder.write(self, save_directory)

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | Path, *, local_files_only: bool = True, **options: Any
    ) -> SCEModel:
        """Load a model folder, or a hub id that the hub library fetched before.

        Args:
            pretrained_model_name_or_path: Folder or hub id.
            local_files_only: False allows the network.
            options: ``revision``, ``token``, ``cache_dir``, ``force_download`` as the hub library knows them;
                ``device`` (default "cpu"); ``precision`` (default "float32"; `ml.encoder.precision` says what
                the device can do); ``trust_remote_code`` for an embedder that brings code of its own.

        Raises:
            UserError: Missing, cut, of another architecture, a pickle, or a hub that cannot be reached.
        """
        folder = Path(pretrained_model_name_or_path).expanduser()
        if not folder.is_dir():
            folder = folders.hub_snapshot(
                str(pretrained_model_name_or_path),
                local_files_only=local_files_only,
                **{k: options.pop(k) for k in _HUB_OPTIONS if k in options},
            )
        model_places.check_folder(Path(folder))
        read_config(folder)  # before the mixin reads it without our checks
        model: SCEModel = super().from_pretrained(folder, local_files_only=local_files_only, **options)
        return model

    @classmethod
    def _from_pretrained(
        cls,
        *,
        model_id: str,
        local_files_only: bool,
        device: str | torch.device = "cpu",
        precision: str = FLOAT32,
        trust_remote_code: bool = False,
        **_mixin: Any,
    ) -> SCEModel:
        folder = Path(model_id)
        stored = model_folder.read(
            folder,
            device=device,
            precision=precision,
            trust_remote_code=trust_remote_code,
            local_files_only=local_files_only,
        )
        with model_folder.fitting(folder):
            model = cls(
                stored.config,
                stored.embedder,
                stored.head,
                stored.tokenizer,
                label_tokens=stored.label_tokens,
                label_tokenizer=stored.label_tokenizer,
                precision=precision,
            )
            model.load_state_dict(stored.state, assign=True)
        return model.to(device).eval()
