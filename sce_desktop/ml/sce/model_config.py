"""What ``config.json`` of a model folder says, and how a label becomes wordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.encoder.bert import EncoderConfig
from sce_desktop.ml.hub import folders
from sce_desktop.ml.sce.head import HeadConfig
from sce_desktop.ml.sce.sce import SCEConfig

FORMAT = 4
"""4: a logistic regression takes part;
3: matrices in int8; 2: weights in several files, or a token table in 4-bit blocks; all others say 1."""
INT8 = 3
SEVERAL_FILES = 2


@dataclass(frozen=True, slots=True)
class YesNo:
    """Turns a score or logit into a probability of its own: sigmoid(scale (s - bias)).

    Where the model has no yes/no scores, a score is 20 times a cosine unless it says otherwise; the defaults
    put one half at a cosine of 0.25. Those are not calibrated: they rank, they do not count.
    """

    scale: float = 1.0
    bias: float = 5.0

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return probabilities in the shape of ``scores``."""
        result: FloatArray = 0.5 + 0.5 * np.tanh(0.5 * self.scale * (scores - self.bias))
        return result


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What ``config.json`` says of a model.

    ``embedder`` describes g: ``{"kind": "native", "encoder": {...}, "max_tokens": n, "prompt": "",
    "lower_case": false}`` or ``{"kind": "sentence-transformers", "model": id or folder, "prompt": ...,
    "task": ...}``. ``token_table`` "embedder": the label tokens E are the embedder's own; "own": they lie in
    the weights as ``label_tokens.weight`` with their own tokenizer. ``labels`` come from a fine-tune, and so
    do ``corrected``: names of the labels that have a `Correction`, in the order of its rows; ``examples``: of
    how many rows each of them was learned, empty where an older program made it; ``head``: how a
    `LogisticHead` takes part, None where there is none. ``weight_bits`` 8: the folder keeps its matrices in
    int8 (`ml.encoder.int8`), else in float16.
    """

    name: str
    sce: SCEConfig
    embedder: dict[str, Any]
    token_table: Literal["embedder", "own"] = "embedder"
    temperature: float = 1.0
    yes_no: YesNo = field(default_factory=YesNo)
    none: YesNo = field(default_factory=lambda: YesNo(1.0, 0.0))
    labels: tuple[Label, ...] = ()
    corrected: tuple[str, ...] = ()
    examples: tuple[int, ...] = ()
    head: HeadConfig | None = None
    weight_bits: Literal[8, 16] = 16

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
        corrected, examples = (tuple(config.get(key) or ()) for key in ("corrected", "examples"))
        if examples and len(examples) != len(corrected):
            raise ValueError(f"examples of {len(examples)} labels, and {len(corrected)} corrected ones")
        bits = config.get("weight_bits", 16)
        if bits not in (8, 16):
            raise ValueError(f"no weights of {bits} bits are known")
        return cls(
            name=str(config["name"]),
            sce=SCEConfig.from_dict(config["sce"]),
            embedder=dict(config["embedder"]),
            token_table=config.get("token_table", "embedder"),
            temperature=float(config.get("temperature", 1.0)),
            yes_no=YesNo(**config.get("yes_no", {})),
            none=YesNo(**config.get("none", {"scale": 1.0, "bias": 0.0})),
            labels=tuple(
                Label(**{**label, "synonyms": tuple(label.get("synonyms", ()))})
                for label in config.get("labels", ())
            ),
            corrected=corrected,
            examples=tuple(map(int, examples)),
            head=HeadConfig.from_dict(config["head"]) if config.get("head") else None,
            weight_bits=bits,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for config.json."""
        labels = [{k: v for k, v in asdict(label).items() if v and k != "id"} for label in self.labels]
        return {
            "model_type": folders.SCE_TYPE,
            "format": self._format(),
            "name": self.name,
            "sce": self.sce.to_dict(),
            "embedder": self.embedder,
            "token_table": self.token_table,
            "temperature": self.temperature,
            "yes_no": asdict(self.yes_no),
            "none": asdict(self.none),
            "labels": labels,
            **({"weight_bits": 8} if self.weight_bits == 8 else {}),
            **({"corrected": list(self.corrected)} if self.corrected else {}),
            **({"examples": list(self.examples)} if self.examples else {}),
            **({"head": self.head.to_dict()} if self.head is not None else {}),
        }

    def _format(self) -> int:
        if self.head is not None:
            return FORMAT
        if self.weight_bits == 8:
            return INT8
        return SEVERAL_FILES if self.embedder.get("encoder", {}).get("token_bits") else 1


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
    if raw.get("model_type") != folders.SCE_TYPE:
        found = raw.get("model_type") or "unknown"
        raise UserError(
            _(
                "{folder} holds a model of type “{found}”, not an SCE: choose another as the model.",
                folder=folder,
                found=found,
            )
        )
    if raw.get("format", 0) > FORMAT:
        raise UserError(
            _(
                "{folder} was made by a newer version of SCE Desktop: update this one to use it.",
                folder=folder,
            )
        )
    try:
        return ModelConfig.from_dict(raw)
    except (KeyError, TypeError, ValueError):
        raise UserError(
            _("{config} does not describe an SCE: download the model again.", config=folder / folders.CONFIG)
        ) from None
