"""A whole SCE: its text embedder, its label tokens and its label encoder, kept as one model folder.

A folder holds ``model.safetensors`` (float16, computed in float32), ``config.json`` (`ModelConfig`),
``tokenizer.json`` and ``README.md``. Training writes one from its own modules::

    config = ModelConfig.native("sce-mini", head.config, encoder.config, max_tokens=256)
    SCEModel(config, encoder, head, tokenizer).save_pretrained("models/sce-mini")

where ``encoder`` is a `TextEncoder`, ``head`` an `SCE` and ``tokenizer`` a `tokenizers.Tokenizer`; a README
that the folder has already is kept. A label enters as the mean over its wordings: the name, each synonym and,
where there is a description, "name: description".
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from huggingface_hub import PyTorchModelHubMixin
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import FloatArray, Label, ModelKind, Scores, VectorCache
from sce_desktop.ml import folders
from sce_desktop.ml.bert import EncoderConfig, TextEncoder
from sce_desktop.ml.embedder import Embedder, NativeEmbedder, cached_encode, digest
from sce_desktop.ml.sce import SCE, LabelVectors, SCEConfig, mean_token_embeddings

FORMAT = 1
MODEL_TYPE = "sce"
LABEL_TOKENIZER = "label_tokenizer.json"
ROWS_PER_BATCH = 256

_CARD = """---
{{ card_data }}
---

# {{ name }}

A Soft Contextualized Encoder for [SCE Desktop](https://pypi.org/project/sce-desktop/): it sorts texts into
labels given at use. Load it with `SCEClassifier.from_pretrained` or `sce-desktop classify --model`.
"""


@dataclass(frozen=True, slots=True)
class YesNo:
    """Turns a label's own score into an independent probability: sigmoid(scale (s - bias)).

    The defaults put one half at a cosine of 0.25 and are not calibrated: they rank, they do not count.
    """

    scale: float = 1.0
    bias: float = 5.0


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What ``config.json`` says of a model.

    ``embedder`` describes g: ``{"kind": "native", "encoder": {...}, "max_tokens": n, "prompt": "",
    "lower_case": false}`` or ``{"kind": "sentence-transformers", "model": id or folder, "prompt": ...,
    "task": ...}``. ``token_table`` "embedder": the label tokens E are the embedder's own; "own": they lie in
    the weights as ``label_tokens.weight`` with their own tokenizer. ``labels`` come from a fine-tune.
    """

    name: str
    sce: SCEConfig
    embedder: dict[str, Any]
    token_table: Literal["embedder", "own"] = "embedder"
    temperature: float = 1.0
    yes_no: YesNo = field(default_factory=YesNo)
    labels: tuple[Label, ...] = ()

    @classmethod
    def native(
        cls, name: str, sce: SCEConfig, encoder: EncoderConfig, *, max_tokens: int = 256, **more: Any
    ) -> ModelConfig:
        """Describe a model whose embedder is its own `TextEncoder`."""
        embedder = {"kind": "native", "encoder": encoder.to_dict(), "max_tokens": max_tokens}
        return cls(name, sce, embedder, **more)

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> ModelConfig:
        """Read what `to_dict` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            name=str(config["name"]),
            sce=SCEConfig.from_dict(config["sce"]),
            embedder=dict(config["embedder"]),
            token_table=config.get("token_table", "embedder"),
            temperature=float(config.get("temperature", 1.0)),
            yes_no=YesNo(**config.get("yes_no", {})),
            labels=tuple(
                Label(**{**label, "synonyms": tuple(label.get("synonyms", ()))})
                for label in config.get("labels", ())
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for config.json."""
        labels = [{k: v for k, v in asdict(label).items() if v and k != "id"} for label in self.labels]
        return {
            "model_type": MODEL_TYPE,
            "format": FORMAT,
            "name": self.name,
            "sce": self.sce.to_dict(),
            "embedder": self.embedder,
            "token_table": self.token_table,
            "temperature": self.temperature,
            "yes_no": asdict(self.yes_no),
            "labels": labels,
        }


class SCEModel(
    nn.Module,
    PyTorchModelHubMixin,
    library_name="sce-desktop",
    tags=["text-classification", "zero-shot-classification", "sce"],
    pipeline_tag="zero-shot-classification",
    model_card_template=_CARD,
):
    """A `core.types.TextModel` of kind "sce".

    Args:
        config: What config.json will say.
        embedder: g: a `TextEncoder` (then ``tokenizer`` is its own), or any other `Embedder`.
        head: The label encoder with its query adaptor.
        tokenizer: Of the embedder, None where that brings its own.
        label_tokens: E, where ``config.token_table`` is "own".
        label_tokenizer: Goes with ``label_tokens``.
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
    ) -> None:
        super().__init__()
        self.config = config
        self.head = head
        if isinstance(embedder, TextEncoder):
            assert tokenizer is not None
            self.embedder: TextEncoder | None = embedder
            self.text_embedder: Embedder = NativeEmbedder(
                embedder, tokenizer, name=config.name, **_native_settings(config.embedder)
            )
        else:
            self.embedder = None
            self.text_embedder = embedder
        if config.token_table == "own":
            assert label_tokens is not None
            assert label_tokenizer is not None
            self.label_tokens = label_tokens
            self.label_tokenizer = label_tokenizer
        else:
            assert self.embedder is not None
            assert tokenizer is not None
            self.label_tokenizer = tokenizer
        self.tokenizer = tokenizer
        self._known: dict[tuple[str, ...], tuple[Tensor, Tensor]] = {}  # label vectors by wordings

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
    def fingerprint(self) -> str:
        """Hash of all weights and of the settings that change numbers."""
        own = ((k, v) for k, v in self.state_dict().items() if not k.startswith("embedder."))
        settings = (self.text_embedder.key, self.config.temperature, self.config.yes_no, self.config.sce)
        return digest(own, *settings)

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

        Rows sum to 1. With ``multi_label`` each label is scored as if it were alone (see `YesNo`).
        """
        vectors = self.embed(texts, cache=cache, progress=progress)
        return self.score(vectors, labels, multi_label=multi_label, progress=progress)

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
        known = self.label_vectors(labels, progress)
        out = np.empty((len(vectors), len(labels)), dtype=np.float32)
        for start in range(0, len(vectors), ROWS_PER_BATCH):
            q = torch.from_numpy(vectors[start : start + ROWS_PER_BATCH]).to(self.device)
            if multi_label:
                p = torch.sigmoid(
                    self.config.yes_no.scale * (self._alone(q, known) - self.config.yes_no.bias)
                )
            else:
                p = torch.softmax(self.head(q, known) / self.config.temperature, -1)
            out[start : start + ROWS_PER_BATCH] = p.cpu().numpy()
            if progress is not None:
                progress.check()
        return Scores(out)

    def _alone(self, q: Tensor, labels: LabelVectors) -> Tensor:
        """Return each label's score (B, K) as if there were no other label."""
        if self.config.sce.architecture == "plus":
            return self.head.cosine(q, labels)
        one_each = LabelVectors(labels.tokens[:, None])
        return self.head.grouped(q.expand(len(labels.tokens), *q.shape), one_each)[..., 0].T

    @torch.inference_mode()
    def label_vectors(self, labels: Sequence[Label], progress: Progress | None = None) -> LabelVectors:
        """Return h_k (K, d) and g(label) (K, d_q) of ``labels``: means over the wordings, g unit length."""
        wordings = [wordings_of(label) for label in labels]
        if new := [w for w in dict.fromkeys(wordings) if w not in self._known]:
            flat = [text for one in new for text in one]
            ids = [e.ids for e in self.label_tokenizer.encode_batch(flat, add_special_tokens=False)]
            sizes = [len(one) for one in new]
            tokens = mean_token_embeddings(self._token_table(), ids).split(sizes)
            sentences = torch.from_numpy(self.text_embedder.encode(flat)).to(self.device).split(sizes)
            for one, h, g in zip(new, tokens, sentences, strict=True):
                self._known[one] = h.mean(0), F.normalize(g.mean(0), dim=0)
        pairs = [self._known[w] for w in wordings]
        return LabelVectors(torch.stack([h for h, _ in pairs]), torch.stack([g for _, g in pairs]))

    def _token_table(self) -> Tensor:
        if self.config.token_table == "own":
            return self.label_tokens.weight
        assert self.embedder is not None
        return self.embedder.tokens.weight

    # --- folders -------------------------------------------------------------------------------------------

    def save_pretrained(self, save_directory: str | Path, **options: Any) -> str | None:
        """Write the model folder, whole or not at all; other files of an older version of it are kept.

        Raises:
            UserError: The place cannot be written, or it is a folder of something else.
        """
        folder = Path(save_directory).absolute()
        if folder.is_dir() and any(folder.iterdir()):
            others = {p.name for p in folder.iterdir()} - {"README.md"}
            if others and not (folder / folders.CONFIG).is_file():
                raise UserError(f"{folder} holds other files: choose a new or empty folder for the model.")
        with folders.replaced_folder(folder) as aside:
            if folder.is_dir():
                shutil.copytree(folder, aside, dirs_exist_ok=True)
            options.setdefault("model_card_kwargs", {"name": self.name})
            return super().save_pretrained(aside, **options)

    def _save_pretrained(self, save_directory: Path) -> None:
        state = {
            name: tensor.detach()
            .to("cpu", torch.float16 if tensor.is_floating_point() else None)
            .contiguous()
            for name, tensor in self.state_dict().items()
        }
        save_file(state, save_directory / folders.WEIGHTS, metadata={"format": "pt"})
        config = self.config.to_dict() | {
            "weights_sha256": folders.file_sha256(save_directory / folders.WEIGHTS)
        }
        text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
        (save_directory / folders.CONFIG).write_text(text, encoding="utf-8")
        if self.tokenizer is not None:
            self.tokenizer.save(str(save_directory / folders.TOKENIZER))
        if self.config.token_table == "own":
            self.label_tokenizer.save(str(save_directory / LABEL_TOKENIZER))

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | Path, *, local_files_only: bool = True, **options: Any
    ) -> SCEModel:
        """Load a model folder, or a hub id that was downloaded before; from the hub where that is allowed.

        Args:
            pretrained_model_name_or_path: Folder or hub id.
            local_files_only: False allows the network.
            options: ``revision``, ``token``, ``cache_dir``, ``force_download`` as the hub library knows them;
                ``device`` (default "cpu"); ``trust_remote_code`` for an embedder that brings code of its own.

        Raises:
            UserError: Missing, cut, of another architecture, a pickle, or a hub that cannot be reached.
        """
        folder = Path(pretrained_model_name_or_path).expanduser()
        if not folder.is_dir():
            raise UserError(
                f"There is no model folder {folder}: give a folder or the name of an installed model."
            )
        model: SCEModel = super().from_pretrained(folder, local_files_only=local_files_only, **options)
        return model

    @classmethod
    def _from_pretrained(
        cls,
        *,
        model_id: str,
        device: str | torch.device = "cpu",
        trust_remote_code: bool = False,
        **_hub_options: Any,
    ) -> SCEModel:
        folder = Path(model_id)
        config = read_config(folder)
        state = {
            name: tensor.float() if tensor.is_floating_point() else tensor
            for name, tensor in folders.read_weights(folder).items()
        }
        tokenizer = folders.read_tokenizer(folder / folders.TOKENIZER)
        with torch.device("meta"):
            encoder = TextEncoder(EncoderConfig.from_dict(config.embedder["encoder"]))
            head = SCE(config.sce)
        model = cls(config, encoder, head, tokenizer)
        try:
            model.load_state_dict(state, assign=True)
        except RuntimeError:
            raise UserError(
                f"The weights in {folder} do not fit its {folders.CONFIG}: get the model again."
            ) from None
        return model.to(device).eval()


def wordings_of(label: Label) -> tuple[str, ...]:
    """Return the texts by which a label is known: name, synonyms, and "name: description"."""
    described = (f"{label.name}: {label.description}",) if label.description.strip() else ()
    return (*label.wordings, *described)


def read_config(folder: Path) -> ModelConfig:
    """Read and check a model folder's config.json.

    Raises:
        UserError: Missing, damaged, another architecture, or a newer format.
    """
    raw = folders.read_json(folder / folders.CONFIG)
    if raw.get("model_type") != MODEL_TYPE:
        found = raw.get("model_type") or "unknown"
        raise UserError(f"{folder} holds a model of type {found!r}, not an SCE: choose another as the model.")
    if raw.get("format", 0) > FORMAT:
        raise UserError(f"{folder} was made by a newer version of SCE Desktop: update this one to use it.")
    try:
        return ModelConfig.from_dict(raw)
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{folder / folders.CONFIG} does not describe an SCE: get the model again.") from None


def _native_settings(embedder: Mapping[str, Any]) -> dict[str, Any]:
    return {k: embedder[k] for k in ("max_tokens", "prompt", "lower_case") if k in embedder}


__all__ = ["ModelConfig", "SCEModel", "YesNo", "read_config", "replace", "wordings_of"]
