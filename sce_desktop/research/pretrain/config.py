"""The configuration file of `sce-desktop pretrain`: one readable TOML file, every field with a default."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_type_hints

from sce_desktop.core.errors import UserError


@dataclass(frozen=True)
class ModelConfig:
    """What is trained. ``label_encoder`` "" takes the embedder's own first layers."""

    name: str = "sce"
    embedder: str = "all-MiniLM-L6-v2"
    label_encoder: str = ""
    architecture: Literal["paper", "plus"] = "plus"
    attention: Literal["joint", "shared"] = "shared"
    layers: int = 1  # of the label encoder; 0: all it has
    alpha: float = 20.0
    dropout: float = 0.1
    score_scale: float = 1.0  # factor on the scores before training, where architecture is "paper"
    train_embedder: bool = True
    train_token_table: bool = False
    says_none: bool = False  # trains a null score and yes/no scores too
    weight_bits: Literal[8, 16] = 16  # how the finished model is kept; 8: matrices in int8


@dataclass(frozen=True)
class DataConfig:
    """Where the labelled sets lie and which are used. Paths are relative to the configuration file."""

    folder: str = "."
    sets: tuple[str, ...] = ()  # names in <folder>/train; empty: all of them
    weights: Mapping[str, float] = field(default_factory=dict)  # factors on the mixture's own weights
    wordings: str = ""  # JSON of label synonyms by set, "" for none
    label_names: str = ""  # JSON of other names for labels by set, null drops a label, "" for none
    held_out: float = 0.0  # share of each training set's rows to validate by; above 0 they alone calibrate
    wordnet: str = ""  # gzipped JSON lines of glosses, "" for none
    free_labels: tuple[str, ...] = ()  # JSON lines of labels written for single training texts
    written: tuple[str, ...] = ()  # JSON lines of small label sets with texts, written for training
    translations: str = ""  # JSON of label names in other languages, "" for none
    dictionary: str = ""  # gzipped JSON lines of glosses with their labels in many languages, "" for none
    broader: str = ""  # JSON of broader categories by set and label, "" for none
    teacher: str = ""  # folder of a larger trained SCE to learn from too, "" for none
    max_characters: int = 300
    max_tokens: int = 72
    max_rows: int = 20_000  # a set
    validation: tuple[str, ...] = ()  # names in <folder>/validation; empty: all
    validated_in: tuple[str, ...] = ("validation",)  # folders of sets to choose by; the first calibrates
    validation_rows: int = 800  # a set


@dataclass(frozen=True)
class SamplerConfig:
    """How a batch is drawn: ``groups`` label sets a step, ``rows`` texts each."""

    groups: int = 16
    rows: int = 64
    wordnet: float = 0.4  # share of groups that are WordNet glosses
    mixed: float = 0.0  # share of groups that mix rows and labels of several sets
    pairs: float = 0.0  # share of groups that match the beginning of a text with its rest
    free_labels: float = 0.0  # share of groups from the free labels of single texts
    written: float = 0.0  # share of groups from the written sets
    broader: float = 0.0  # share of groups from the broader categories of the sets' labels
    dictionary: float = 0.0  # share of groups that are glosses with labels in one of many languages
    taught: float = 0.0  # share of groups whose labels the teacher picks and judges
    translated: float = 0.0  # how often a group's labels are put into another language
    merged: float = 0.0  # how often two labels of a set become one, "Science and travel"
    others: float = 0.0  # how often labels are left out and their texts belong to "Other"
    max_labels: int = 48
    all_labels: float = 0.3  # how often a set's whole label list is offered
    row_share: float = 0.5  # power of the number of rows by which sets and labels are drawn; 1: as rows come
    distractors: float = 0.4  # how often labels of elsewhere are added
    synonyms: float = 0.5  # how often a label is worded otherwise
    reworded: Literal["all", "right"] = "all"  # "right": only labels that are right for a row of the group
    cut: float = 0.2  # how often a text is cut to a shorter beginning


@dataclass(frozen=True)
class OptimConfig:
    """AdamW with warm-up and cosine decay."""

    steps: int = 3000
    learning_rate: float = 5e-5
    head_learning_rate: float = 1e-4
    weight_decay: float = 0.01
    warmup: int = 200
    clip: float = 1.0
    cosine_loss: float = 0.5  # weight of the cosine part's own cross-entropy
    none_loss: float = 0.1  # weight of the null score's and the yes/no scores' loss, where the model has them
    teacher_loss: float = 0.0  # weight of the divergence from what the teacher makes of the labels
    teacher_temperature: float = 1.0
    keep_loss: float = 0.0  # weight of 1 - cos(vector, vector before training)
    noise: float = 0.0  # norm of noise on the text vectors
    average: float = 0.999  # decay of the moving average of weights; 0: none
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    seed: int = 0


@dataclass(frozen=True)
class RunConfig:
    """When to look, when to save, when to stop."""

    validate_every: int = 500
    patience: int = 0  # validations without a better mean before stopping; 0: never
    save_every: int = 1000
    workers: int = 5  # processes that draw batches ahead where there is a GPU
    stop_after_minutes: float = 0.0  # 0: never; the state is kept and the next call goes on


@dataclass(frozen=True)
class AverageConfig:
    """Several trainings from one start, averaged. Each member is a table of what it does otherwise."""

    members: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    interpolation: float = 1.0  # how far from the start weights to the members' mean
    refit_steps: int = 100  # of the head, over the finished embedder; 0: it stays the mean
    refit_learning_rate: float = 5e-5


@dataclass(frozen=True)
class PretrainConfig:
    """The whole file."""

    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    mixture: SamplerConfig = field(default_factory=SamplerConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    run: RunConfig = field(default_factory=RunConfig)
    average: AverageConfig = field(default_factory=AverageConfig)


def read_config(path: Path) -> PretrainConfig:
    """Read a configuration file. Raises UserError that names the unknown or ill-typed key."""
    if path.exists() and not path.is_file():  # a pipe would keep whoever opens it waiting
        raise UserError(f"{path} is not a file: give a configuration file.")
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"There is no configuration file {path}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name} is not a valid TOML file: {error}.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): give another file.") from None
    return parse_config(raw)


def parse_config(raw: Mapping[str, Any]) -> PretrainConfig:
    """Turn nested mappings into a `PretrainConfig`. Raises UserError."""
    return _build(PretrainConfig, raw, "")


def member_configs(config: PretrainConfig) -> dict[str, PretrainConfig]:
    """Return the configuration of each training by name: the members', or the only one.

    Members may differ in mixture, optim, run, in the weights of sets and in what of the model is trained;
    they share data and start. Raises UserError.
    """
    if not config.average.members:
        return {"model": config}
    if not config.model.train_embedder:
        raise UserError("Only trainings of the embedder can be averaged: set model.train_embedder.")
    return {name: _otherwise(config, changes, name) for name, changes in config.average.members.items()}


_SHARED = {"data": {"weights"}, "model": {"dropout", "train_token_table"}}


def _otherwise(config: PretrainConfig, changes: Mapping[str, Any], name: str) -> PretrainConfig:
    changed = config
    for part, values in changes.items():
        where = f"average.members.{name}.{part}"
        if part not in ("model", "data", "mixture", "optim", "run") or not isinstance(values, Mapping):
            raise UserError(f"Unknown key in the configuration: {where}.")
        if set(values) - _SHARED.get(part, set(values)):
            allowed = " and ".join(sorted(_SHARED[part]))
            raise UserError(f"{where} can only change {allowed}: what is averaged must have one shape.")
        old: Any = getattr(config, part)
        kept = {f.name: getattr(old, f.name) for f in fields(old)}
        changed = replace(changed, **{part: _build(type(old), {**kept, **values}, f"{where}.")})
    return changed


def _build(cls: type, raw: Mapping[str, Any], where: str) -> Any:
    hints = get_type_hints(cls)
    unknown = sorted(set(raw) - {f.name for f in fields(cls)})
    if unknown:
        raise UserError(f"Unknown key in the configuration: {where}{unknown[0]}.")
    values: dict[str, Any] = {}
    for name, value in raw.items():
        kind = hints[name]
        if is_dataclass(kind) and isinstance(kind, type):
            if not isinstance(value, Mapping):
                raise UserError(f"{where}{name} must be a table in the configuration.")
            values[name] = _build(kind, value, f"{where}{name}.")
        else:
            values[name] = _value(kind, value, f"{where}{name}")
    return cls(**values)


def _value(kind: Any, value: Any, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (int, float, str, bool) and type(value) is not kind:
        raise UserError(f"{where} must be {'text' if kind is str else kind.__name__} in the configuration.")
    options = getattr(kind, "__args__", ())
    if getattr(kind, "__origin__", None) is tuple:
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise UserError(f"{where} must be a list of texts in the configuration.")
        return tuple(value)
    if getattr(kind, "__origin__", None) is Literal and value not in options:
        raise UserError(f"{where} must be one of {', '.join(map(str, options))}.")
    return value
