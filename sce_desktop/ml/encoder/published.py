"""Published text models: run natively where their folder says that we can, else by sentence-transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.precision import FLOAT32
from sce_desktop.ml.encoder.bert import EncoderConfig, TextEncoder, text_encoder_state
from sce_desktop.ml.encoder.embedder import Embedder
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.hub import config_check, folders, model_files, model_places
from sce_desktop.ml.hub.tokenizer_check import check_ids


def load_embedder(
    model: str | Path,
    *,
    name: str = "",
    device: str | torch.device = "cpu",
    precision: str = FLOAT32,
    prompt: str | None = None,
    prompt_name: str | None = None,
    task: str | None = None,
    adapter: str | None = None,
    max_tokens: int | None = None,
    trust_remote_code: bool = False,
    local_files_only: bool = True,
) -> Embedder:
    """Load a text model: a folder, an installed one or a hub id. Arguments: `SentenceTransformerEmbedder`.

    ``precision`` is what a model that runs natively multiplies in; others run in float32.

    Raises:
        UserError: Missing, damaged, a pickle, or it needs what was not allowed.
    """
    folder = Path(model).expanduser()
    if not folder.is_dir():
        name = name or str(model)
        folder = model_places.installed(str(model)) or folders.hub_snapshot(
            str(model), code=trust_remote_code, local_files_only=local_files_only
        )
    _refuse_pickles(folder)
    trusted = model_places.is_trusted(folder)
    if not trusted:
        model_files.check_folder(folder)
        config_check.check_published(folder, code=trust_remote_code)
    if prompt_name is None and task is None and adapter is None:
        native = native_embedder(
            folder, name=name, prompt=prompt, max_tokens=max_tokens, precision=precision, trusted=trusted
        )
        if native is not None:
            native.encoder.to(device)
            return native
    from sce_desktop.ml.encoder.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(
        folder,
        name=name,
        device=device,
        prompt=prompt,
        prompt_name=prompt_name,
        task=task,
        adapter=adapter,
        max_tokens=max_tokens,
        trust_remote_code=trust_remote_code,
        local_files_only=local_files_only,
    )


def native_embedder(
    folder: Path,
    *,
    name: str = "",
    prompt: str | None = None,
    max_tokens: int | None = None,
    precision: str = FLOAT32,
    trusted: bool = False,
) -> NativeEmbedder | None:
    """Load a sentence-transformers folder of a BERT-like model with mean pooling; None if it is another kind.

    ``trusted``: see `folders.read_tokenizer`.

    Raises:
        UserError: It is of that kind, but its weights are missing or damaged.
    """
    config = folders.read_json(folder / folders.CONFIG) if (folder / folders.CONFIG).is_file() else {}
    if not _runs_natively(folder, config):
        return None
    try:
        encoder_config = EncoderConfig.from_dict(config)
    except (ValueError, TypeError):
        return None
    settings = _optional(folder / "sentence_bert_config.json")
    prompts = _optional(folder / "config_sentence_transformers.json")
    if prompt is None:
        known = prompts.get("prompts")
        found = known.get(str(prompts.get("default_prompt_name"))) if isinstance(known, dict) else None
        prompt = found if isinstance(found, str) else ""
    own = settings.get("max_seq_length") or _optional(folder / "tokenizer_config.json").get(
        "model_max_length"
    )
    own = int(own) if isinstance(own, int | float) and 0 < own < float("inf") else 512
    limit = min(own, encoder_config.max_position_embeddings)
    tokenizer = folders.read_tokenizer(folder / folders.TOKENIZER, trusted=trusted)
    if not trusted:
        check_ids(folder / folders.TOKENIZER, tokenizer, encoder_config.vocab_size)
    weights = folders.read_weights(folder)
    with torch.device("meta"):
        encoder = TextEncoder(encoder_config)
    try:
        state = text_encoder_state(weights, encoder_config)
        folders.check_finite(folder, state)
        encoder.load_state_dict(state, assign=True)
    except (KeyError, RuntimeError):
        raise UserError(
            _(
                "The weights in {folder} do not fit its {config}: download the model again.",
                folder=folder,
                config=folders.CONFIG,
            )
        ) from None
    return NativeEmbedder(
        encoder.eval(),
        tokenizer,
        name=name or folder.name,
        max_tokens=min(limit, max_tokens or limit),
        prompt=prompt,
        lower_case=bool(settings.get("do_lower_case")),
        precision=precision,
    )


def _runs_natively(folder: Path, config: dict[str, Any]) -> bool:
    """Whether the folder describes a BERT-like body, absolute positions, mean pooling and nothing else."""
    modules = folder / "modules.json"
    if not modules.is_file() or not (folder / folders.TOKENIZER).is_file() or "auto_map" in config:
        return False
    if config.get("position_embedding_type", "absolute") != "absolute":
        return False
    found = model_files.parse_json(modules, model_files.read_text(modules, model_files.LARGEST_JSON))
    if not isinstance(found, list) or not all(
        isinstance(module, dict) and all(isinstance(module.get(key), str) for key in ("type", "path"))
        for module in found
    ):
        raise model_files.damaged(modules)
    kinds = [(module["type"].rpartition(".")[2], module) for module in found]
    names = [kind for kind, _ in kinds]
    if names not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        return False
    if (
        not all(module["type"].startswith("sentence_transformers.") for _, module in kinds)
        or kinds[0][1]["path"]
    ):
        return False
    pooling = _optional(folder / kinds[1][1]["path"] / "config.json")
    modes = [
        key.removeprefix("pooling_mode_")
        for key, on in pooling.items()
        if key.startswith("pooling_mode_") and on
    ]
    mode = pooling.get("pooling_mode") or modes
    return mode in ("mean", ["mean"], ["mean_tokens"]) and pooling.get("include_prompt", True)


def _optional(file: Path) -> dict[str, Any]:
    return folders.read_json(file) if file.is_file() else {}


def _refuse_pickles(folder: Path) -> None:
    for file in sorted(folder.rglob("pytorch_model*.bin")):
        if not any(file.parent.glob("*.safetensors")):
            raise UserError(
                _(
                    "{folder} holds its weights as a pickle ({file}), which may run code when opened: "
                    "download the model as {weights}.",
                    folder=folder,
                    file=file.name,
                    weights=folders.WEIGHTS,
                )
            )
