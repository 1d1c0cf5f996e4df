"""Sane bounds for what a ``config.json`` says, looked at before anything of that size is made.

Bounds are several times what any model on the hub has today: they refuse what cannot be meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.hub import folders, model_files, weight_check

_NAMES: tuple[tuple[int, int, str], ...] = (
    (0, 1_000, "num_hidden_layers n_layer num_layers n_layers encoder_layers decoder_layers"),
    (1, 4_096, "num_attention_heads n_head n_heads num_heads encoder_attention_heads"),
    (1, 100_000, "hidden_size d_model n_embd dim embedding_size text_width num_key_value_heads head_dim"),
    (1, 1_000_000, "intermediate_size d_ff n_inner ffn_dim hidden_dim"),
    (1, 5_000_000, "vocab_size"),
    (1, 20_000_000, "max_position_embeddings n_positions n_ctx"),
    (0, 10_000, "type_vocab_size num_experts num_local_experts n_routed_experts"),
)
BOUNDS: Mapping[str, tuple[int, int]] = {
    name: (least, most) for least, most, names in _NAMES for name in names.split()
}
"""The least and the most of each, under the names that architectures give it."""
MOST_RANK = 8_192
_SHARED_LAYERS = ("albert",)  # one layer's weights, used again and again
_TABLED_POSITIONS = ("bert", "roberta", "xlm-roberta", "camembert", "mpnet", "distilbert", "electra", "gpt2")
_SLACK = 8
"""How many times the weights a configuration may describe: weights in 4 bits, layers that share theirs."""
_SMALL = 10_000_000
"""Numbers that a model may have beside its weights, such as a pooler that nobody uses."""


def check_published(folder: Path, *, code: bool = False) -> None:
    """Look at the configurations and weights of a published model before a library makes anything of them.

    Args:
        folder: Checked by `model_files.check_folder`.
        code: Program code that the model brings may run.

    Raises:
        UserError: A configuration is damaged or beyond all bounds, names modules that are not
            sentence-transformers', or does not fit the weights.
    """
    weights = {
        name: facts
        for file in sorted(folder.glob("*.safetensors"))
        for name, facts in weight_check.read_header(file).items()
    }
    for file in sorted(folder.rglob("*.json")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if hidden or file.name in ("vocab.json", "tokenizer.json", "added_tokens.json", "merges.json"):
            continue
        _check_values(
            file, model_files.parse_json(file, model_files.read_text(file, model_files.LARGEST_JSON))
        )
    for file in sorted(folder.rglob("*.safetensors")):
        if file.parent != folder:
            weight_check.read_header(file)
    if not code:
        _check_modules(folder)
    for file in sorted(folder.rglob(folders.TOKENIZER)):
        folders.read_tokenizer(file)
    if (folder / folders.ADAPTER).is_file():
        check_adapter(folder)
    weight_check.check_memory(folder, weights)
    config = folder / folders.CONFIG
    if config.is_file() and weights:
        _check_fits(config, folders.read_json(config), weights)


def _check_values(file: Path, found: Any) -> None:
    for name, value in _values(found):
        if name not in BOUNDS or value is None or isinstance(value, list | dict | str):
            continue
        least, most = BOUNDS[name]
        if type(value) is not int or not least <= value <= most:
            raise UserError(
                _(
                    "{file} describes no model: its {key} is {value}, which no model has.",
                    file=file,
                    key=name,
                    value=f"{value!r:.40}",
                )
            )


def _values(found: Any) -> Iterator[tuple[str, Any]]:
    waiting = [found]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from one.items()
            waiting += [value for value in one.values() if isinstance(value, dict | list)]
        elif isinstance(one, list):
            waiting += [value for value in one if isinstance(value, dict | list)]


def _check_modules(folder: Path) -> None:
    """Refuse modules of other libraries: to load one is to run it."""
    file = folder / "modules.json"
    if not file.is_file():
        return
    modules = model_files.parse_json(file, model_files.read_text(file, model_files.LARGEST_JSON))
    if not isinstance(modules, list) or not 0 < len(modules) <= 100:
        raise model_files.damaged(file)
    for module in modules:
        kind, path = (
            (module.get(key) for key in ("type", "path")) if isinstance(module, dict) else (None, None)
        )
        if not isinstance(kind, str) or not isinstance(path, str):
            raise model_files.damaged(file)
        inside = (folder / path).resolve().is_relative_to(folder.resolve())
        if not kind.startswith("sentence_transformers.") or not inside:
            raise UserError(
                _(
                    "{folder} brings program code of its own ({module}): allow it only if you trust its "
                    "author.",
                    folder=folder,
                    module=kind if inside else path,
                )
            )


def _check_fits(
    file: Path, config: Mapping[str, Any], weights: Mapping[str, weight_check.TensorFacts]
) -> None:
    """Refuse a configuration that describes far more numbers than the weights have: they would be made up."""
    text = config.get("text_config")
    shape = text if isinstance(text, dict) else config

    def size(*names: str) -> int:
        return next((int(shape[name]) for name in names if type(shape.get(name)) is int), 0)

    width = size("hidden_size", "d_model", "n_embd", "dim")
    layers = size("num_hidden_layers", "n_layer", "num_layers", "n_layers")
    inner = size("intermediate_size", "d_ff", "n_inner", "ffn_dim", "hidden_dim")
    kind = str(shape.get("model_type"))
    shared = kind in _SHARED_LAYERS
    described = size("vocab_size") * (size("embedding_size") or width)
    described += (1 if shared else layers) * width * (width + inner)
    if kind in _TABLED_POSITIONS:
        described += size("max_position_embeddings", "n_positions") * width
    there = sum(one.numbers for one in weights.values())
    if described > _SLACK * there + _SMALL or (not shared and layers > len(weights)):
        raise UserError(
            _(
                "{file} describes a model far larger than the weights beside it: download the model again.",
                file=file,
            )
        )


def check_adapter(folder: Path) -> None:
    """Refuse an adapter whose settings or weights are out of bounds, before a library makes them.

    Raises:
        UserError: They are.
    """
    settings = folders.read_json(folder / folders.ADAPTER)
    patterns = settings.get("rank_pattern")
    ranks = [settings.get("r"), *(patterns.values() if isinstance(patterns, dict) else ())]
    if settings.get("auto_mapping") or any(
        type(rank) is not int or not 1 <= rank <= MOST_RANK for rank in ranks
    ):
        raise UserError(
            _("The adapter in {folder} is damaged or of another model: download it again.", folder=folder)
        )
    headers = weight_check.read_header(folder / folders.ADAPTER_WEIGHTS)
    weight_check.check_memory(folder, headers)
