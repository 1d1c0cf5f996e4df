"""Whether the weights and tokenizers of an SCE's folder are those that its ``config.json`` describes."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.encoder import int8
from sce_desktop.ml.encoder.bert import EncoderConfig
from sce_desktop.ml.hub import folders, tokenizer_check, weight_check
from sce_desktop.ml.hub.folders import LABEL_TOKENIZER
from sce_desktop.ml.sce.model_config import ModelConfig, read_config
from sce_desktop.ml.sce.sce import SCE


def check_added(folder: Path) -> None:
    """Refuse an SCE that could not be loaded, before it is copied.

    Raises:
        UserError: Its configuration or its weights are damaged, or do not fit each other.
    """
    config = read_config(folder)
    try:
        check_weights(folder, config)
    except ValueError:
        raise UserError(
            _(
                "The weights in {folder} do not fit its {config}: download the model again.",
                folder=folder,
                config=folders.CONFIG,
            )
        ) from None


def check_weights(folder: Path, config: ModelConfig) -> None:
    """Refuse weights that are not those that ``config`` describes, before any is read or made.

    Raises:
        UserError: They are not.
        ValueError: The parts of the model do not fit each other.
    """
    headers = folders.weight_headers(folder)
    found = {name: facts for name, facts in headers.items() if not name.endswith(int8.PEAKS)}
    with torch.device("meta"):
        head = SCE(config.sce)
    expected = {f"head.{name}": tuple(tensor.shape) for name, tensor in head.state_dict().items()}
    if config.embedder["kind"] == "native":
        encoder = EncoderConfig.from_dict(config.embedder["encoder"])
        if encoder.hidden_size != config.sce.text_width:
            raise ValueError("the label encoder reads vectors of another width")
        expected |= {f"embedder.{name}": shape for name, shape in encoder.shapes().items()}
    if config.corrected:
        expected["correction.weight"] = (len(config.corrected), config.sce.text_width)
    if config.head is not None:
        expected["logistic.weight"] = (len(config.head.names), config.sce.text_width)
        expected["logistic.bias"] = (len(config.head.names),)
    own = ("label_tokens.",) if config.token_table == "own" else ()
    weight_check.check_shapes(folder, found, expected, optional=own)


def check_tokens(
    folder: Path,
    config: ModelConfig,
    tokenizer: Tokenizer | None,
    label_tokenizer: Tokenizer | None,
    table: nn.Embedding | None,
) -> None:
    """Refuse tokenizers with tokens that the tables do not have. Raises UserError."""
    if tokenizer is not None:
        rows = EncoderConfig.from_dict(config.embedder["encoder"]).vocab_size
        tokenizer_check.check_ids(folder / folders.TOKENIZER, tokenizer, rows)
    if label_tokenizer is not None and table is not None:
        tokenizer_check.check_ids(folder / LABEL_TOKENIZER, label_tokenizer, table.weight.shape[0])
