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
from sce_desktop.core.quoting import shortened
from sce_desktop.ml.encoder.bert import EncoderConfig
from sce_desktop.ml.hub import folders
from sce_desktop.ml.hub.bounds import finite, whole
from sce_desktop.ml.sce.head import HeadConfig
from sce_desktop.ml.sce.sce import SCEConfig

FORMAT = 4
"""4: a logistic regression takes part;
3: matrices in int8; 2: weights in several files, or a token table in 4-bit blocks; all others say 1."""
MOST_LABELS, LONGEST_NAME = 100_000, 10_000
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

    def __post_init__(self) -> None:
        """Raise ValueError for what is no finite number."""
        finite(self.scale, "scale")
        finite(self.bias, "bias")

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
        corrected, examples = (_list(config.get(key), key) for key in ("corrected", "examples"))
        if not all(isinstance(name, str) for name in corrected):
            raise TypeError("a label's name is no text")
        if examples and len(examples) != len(corrected):
            raise ValueError(f"examples of {len(examples)} labels, and {len(corrected)} corrected ones")
        bits = config.get("weight_bits", 16)
        if bits not in (8, 16):
            raise ValueError(f"no weights of {bits} bits are known")
        return cls(
            name=_name(config["name"]),
            sce=SCEConfig.from_dict(config["sce"]),
            embedder=_embedder(config["embedder"]),
            token_table=_one_of(config.get("token_table", "embedder"), ("embedder", "own")),
            temperature=finite(config.get("temperature", 1.0), "temperature", least=1e-6),
            yes_no=YesNo(**config.get("yes_no", {})),
            none=YesNo(**config.get("none", {"scale": 1.0, "bias": 0.0})),
            labels=tuple(_label(label) for label in _list(config.get("labels"), "labels")),
            corrected=corrected,
            examples=tuple(whole(count, 0, 1_000_000_000, "examples") for count in examples),
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


def _list(found: Any, key: str) -> tuple[Any, ...]:
    if found is None:
        return ()
    if not isinstance(found, list | tuple) or len(found) > MOST_LABELS:
        raise TypeError(f"{key} is no list")
    return tuple(found)


def _name(found: Any) -> str:
    if not isinstance(found, str) or len(found) > LONGEST_NAME:
        raise TypeError("no name")
    return found


def _one_of(found: Any, known: tuple[Any, ...]) -> Any:
    if found not in known:
        raise ValueError(f"{found!r:.40} is none of {known}")
    return found


def _label(found: Any) -> Label:
    """Return a label as `ModelConfig.to_dict` wrote it. Raises TypeError for anything else."""
    synonyms = found.get("synonyms") or ()
    words = (found["name"], found.get("description") or "", *_list(synonyms, "synonyms"))
    if not all(isinstance(word, str) for word in words):
        raise TypeError("a label of no words")
    return Label(**{**found, "synonyms": tuple(synonyms)})


def _embedder(found: Any) -> dict[str, Any]:
    """Return the settings of the text embedder. Raises TypeError or ValueError where they are none."""
    if not isinstance(found, dict):
        raise TypeError("no embedder")
    kinds = {"native": "encoder", "sentence-transformers": "model"}
    if not isinstance(found.get(kinds[_one_of(found.get("kind"), tuple(kinds))]), dict | str):
        raise TypeError("an embedder without a model")
    if "max_tokens" in found and found["max_tokens"] is not None:
        whole(found["max_tokens"], 1, 1_000_000, "max_tokens")
    if found["kind"] == "native":
        EncoderConfig.from_dict(found["encoder"])
    for key in ("prompt", "prompt_name", "task", "adapter", "name"):
        if not isinstance(found.get(key), str | None):
            raise TypeError(f"{key} is no text")
    if not isinstance(found.get("lower_case"), bool | None):
        raise TypeError("lower_case is true or false")
    return dict(found)


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
        found = shortened(str(raw.get("model_type") or "unknown"))  # it may be anything
        raise UserError(
            _(
                "{folder} holds a model of type “{found}”, not an SCE: choose another as the model.",
                folder=folder,
                found=found,
            )
        )
    version = raw.get("format", 0)
    if type(version) is not int:
        raise UserError(
            _(
                "{config} does not describe an SCE: its {key} is {value}.",
                config=folder / folders.CONFIG,
                key="format",
                value=f"{version!r:.40}",
            )
        )
    if version > FORMAT:
        raise UserError(
            _(
                "{folder} was made by a newer version of SCE Desktop: update this one to use it.",
                folder=folder,
            )
        )
    try:
        return ModelConfig.from_dict(raw)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            _(
                "{config} does not describe an SCE ({reason}): download the model again.",
                config=folder / folders.CONFIG,
                reason=_reason(error),
            )
        ) from None


def _reason(error: Exception) -> str:
    """Return what is wrong in a few words: which key is missing, or what the check says."""
    if isinstance(error, KeyError):
        return _("no {key}", key=error.args[0])
    if isinstance(error, ValueError):
        return str(error)[:120]
    return _("a value of another kind")
