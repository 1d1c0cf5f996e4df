"""The folder of an SCE: its weights, settings and tokenizers as files, checked when they are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.encoder import int8
from sce_desktop.ml.encoder.bert import EncoderConfig, TextEncoder, embedding_table
from sce_desktop.ml.encoder.embedder import (
    Embedder,
)
from sce_desktop.ml.encoder.published import load_embedder
from sce_desktop.ml.hub import folders, model_places
from sce_desktop.ml.sce.model_check import LABEL_TOKENIZER, check_tokens, check_weights
from sce_desktop.ml.sce.model_config import SEVERAL_FILES, ModelConfig, read_config
from sce_desktop.ml.sce.sce import SCE

if TYPE_CHECKING:
    from sce_desktop.ml.sce.model import SCEModel

_LARGE_VOCABULARY = 100_000  # an entry a line would double the file
_EXACT = ("correction.", "logistic.")


@dataclass(frozen=True, slots=True)
class Stored:
    """What a folder holds: what an `SCEModel` is made from, and the weights to load into it."""

    config: ModelConfig
    embedder: TextEncoder | Embedder
    head: SCE
    tokenizer: Tokenizer | None
    label_tokens: nn.Embedding | None
    label_tokenizer: Tokenizer | None
    state: dict[str, Tensor]


@contextmanager
def fitting(folder: Path) -> Iterator[None]:
    """Say in a sentence that the weights in ``folder`` do not fit its settings, whatever shows it.

    Raises:
        UserError: They do not.
    """
    try:
        yield
    except (RuntimeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            _(
                "The weights in {folder} do not fit its {config}: download the model again.",
                folder=folder,
                config=folders.CONFIG,
            )
        ) from error


def read(
    folder: Path,
    *,
    device: str | torch.device,
    precision: str,
    trust_remote_code: bool,
    local_files_only: bool,
) -> Stored:
    """Return what ``folder`` holds; its modules have no memory until the weights are loaded.

    Args:
        folder: A model folder.
        device: Where an embedder that is not native runs.
        precision: What such an embedder multiplies in.
        trust_remote_code: Whether it may run code that it brings.
        local_files_only: False allows the network for it.

    Raises:
        UserError: See `SCEModel.from_pretrained`.
    """
    model_places.check_folder(folder)
    config = read_config(folder)
    trusted = model_places.is_trusted(folder)
    tokenizer: Tokenizer | None = None
    embedder: TextEncoder | Embedder
    with fitting(folder):
        check_weights(folder, config)
        stored = folders.read_weights(folder)
        state = {
            name: t.float() if t.is_floating_point() and not name.endswith(".scales") else t
            for name, t in int8.unpack(stored).items()
        }
        folders.check_finite(folder, state)
        with torch.device("meta"):
            head = SCE(config.sce)
            own = config.token_table == "own"
            table = embedding_table(*state["label_tokens.weight"].shape) if own else None
            if config.embedder["kind"] == "native":
                embedder = TextEncoder(EncoderConfig.from_dict(config.embedder["encoder"]))
        if config.embedder["kind"] == "native":
            tokenizer = folders.read_tokenizer(folder / folders.TOKENIZER, trusted=trusted)
        else:
            embedder = load_embedder(
                device=device,
                precision=precision,
                trust_remote_code=trust_remote_code,
                local_files_only=local_files_only,
                **{k: v for k, v in config.embedder.items() if k != "kind"},
            )
        label_tokenizer = folders.read_tokenizer(folder / LABEL_TOKENIZER, trusted=trusted) if own else None
        if not trusted:
            check_tokens(folder, config, tokenizer, label_tokenizer, table)
    return Stored(config, embedder, head, tokenizer, table, label_tokenizer, state)


def write(model: SCEModel, folder: Path) -> None:
    """Write weights, settings and tokenizers of ``model`` into ``folder``.

    Weights are float16, or int8 with scales where ``config.weight_bits`` is 8.
    """
    kept = model.state_dict()
    if model.config.weight_bits == 8:
        kept = int8.pack(kept, _matrices(model))
    state = {
        # what a fine-tune adds is small and changes the scores themselves: it keeps its digits
        name: (tensor.half() if tensor.is_floating_point() and not name.startswith(_EXACT) else tensor)
        .detach()
        .cpu()
        .contiguous()
        for name, tensor in kept.items()
    }
    hashes = folders.write_weights(folder, state)
    config = model.config.to_dict() | {"weights_sha256": hashes.get(folders.WEIGHTS, hashes)}
    if len(hashes) > 1:
        config["format"] = max(config["format"], SEVERAL_FILES)
    text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    (folder / folders.CONFIG).write_text(text, encoding="utf-8")
    for name in hashes:  # written for their owner alone
        (folder / name).chmod((folder / folders.CONFIG).stat().st_mode)
    if model.tokenizer is not None:
        pretty = model.tokenizer.get_vocab_size() < _LARGE_VOCABULARY
        whole = model.tokenizer.to_str(pretty=pretty)  # its own `save` tells no failure of the disk apart
        (folder / folders.TOKENIZER).write_text(whole, encoding="utf-8")
    if model.config.token_table == "own":
        model.label_tokenizer.save(str(folder / LABEL_TOKENIZER))


def _matrices(model: SCEModel) -> list[str]:
    """Return the names of what a folder in int8 keeps so: all maps' weights, and the token table."""
    kept = [f"{name}.weight" for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    tables = ("embedder.tokens.weight", "label_tokens.weight")
    return kept + [name for name in tables if name in model.state_dict()]
