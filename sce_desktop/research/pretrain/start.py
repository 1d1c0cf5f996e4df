"""The published weights that training starts from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer
from torch import Tensor

from sce_desktop.core.errors import UserError
from sce_desktop.ml.encoder.bert import EncoderConfig
from sce_desktop.ml.hub import catalog, folders


@dataclass(frozen=True)
class Start:
    """A published BERT-like model as it is, on the CPU."""

    name: str
    config: EncoderConfig
    state: dict[str, Tensor]
    tokenizer: Tokenizer


def find(name: str, base: Path) -> Path:
    """Return the folder of a model: one beside the configuration file, else an installed model's."""
    beside = base / name
    return beside if beside.is_dir() else catalog.resolve(name)


def read_start(name: str, base: Path) -> Start:
    """Read config.json, model.safetensors and tokenizer.json of a BERT-like model. Raises UserError."""
    folder = find(name, base)
    try:
        config = EncoderConfig.from_dict(folders.read_json(folder / folders.CONFIG))
    except (ValueError, TypeError):
        raise UserError(f"{name} is not a BERT-like model, so its layers cannot be trained here.") from None
    tokenizer = folders.read_tokenizer(folder / "tokenizer.json")
    tokenizer.no_padding()
    return Start(name, config, folders.read_weights(folder), tokenizer)
