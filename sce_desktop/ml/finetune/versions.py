"""A fine-tuned model beside the one it was made from: the same modules, with what changed put in.

What changed goes into a project as a safetensors blob whose header says what it is for, and from there back
onto the model that it was made from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.finetune.adapting import adapted
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import ModelConfig

_WEIGHT = "correction.weight"
_ADAPTER = "adapter."  # before the names of an adapter's matrices, which end in .A and .B
_SETTINGS = ("labels", "corrected", "temperature")  # of config.json, that a fine-tune changes
_EXAMPLES = "examples"  # another one, which older versions lack


def with_correction(
    base: SCEModel,
    names: Sequence[str],
    weight: Tensor,
    *,
    examples: Sequence[int],
    labels: Sequence[Label],
    temperature: float,
) -> SCEModel:
    """Return ``base`` with ``weight`` (C, d_q) added to the corrections of the labels ``names``.

    The two share all other modules. Corrections that ``base`` has already stay, below what is added.

    Args:
        base: What was fine-tuned.
        names: Labels that had examples, one for each row of ``weight``.
        weight: What to add to their scores, before the temperature.
        examples: How many each of these labels had.
        labels: What the model carries from now on.
        temperature: Divides all scores.
    """
    rows = (
        {}
        if base.correction is None
        else dict(zip(base.correction.names, base.correction.weight.data, strict=True))
    )
    counts = dict(zip(base.config.corrected, base.config.examples, strict=False))
    counted = len(counts) == len(rows)  # else an older program made the base, and nobody knows
    for name, row, count in zip(names, weight.to(base.device), examples, strict=True):
        rows[name] = rows[name] + row if name in rows else row
        counts[name] = counts.get(name, 0) + count
    config = replace(
        base.config,
        labels=tuple(replace(label, id=None) for label in labels),
        corrected=tuple(rows),
        examples=tuple(counts[name] for name in rows) if counted else (),
        temperature=temperature,
    )
    return _put_together(base, config, torch.stack(list(rows.values())))


def changed_weights(tuned: SCEModel) -> bytes:
    """Return what a fine-tune changed as a safetensors blob, for `with_changes`."""
    assert tuned.correction is not None
    config = tuned.config.to_dict()
    header = {
        "sce": json.dumps({key: config.get(key) for key in (*_SETTINGS, _EXAMPLES)}, ensure_ascii=False)
    }
    tensors: dict[str, Tensor] = {_WEIGHT: tuned.correction.weight}
    for name, (a, b) in tuned.adapter.items():
        tensors |= {f"{_ADAPTER}{name}.A": a, f"{_ADAPTER}{name}.B": b}
    return save({k: t.detach().cpu().contiguous() for k, t in tensors.items()}, metadata=header)


def with_changes(base: SCEModel, blob: bytes, names: Mapping[str, str] | None = None) -> SCEModel:
    """Return ``base`` with what `changed_weights` wrote put in.

    Args:
        base: The model that the changes were made to.
        blob: What changed.
        names: What labels of then are called now; those that are not in it are known no more. Without it
            all keep their names.

    Raises:
        UserError: The blob is damaged, or was made for another model.
    """
    try:
        tensors = load(blob)
        weight = tensors[_WEIGHT]
        names_of_maps = {k[len(_ADAPTER) : -2] for k in tensors if k.startswith(_ADAPTER)}
        if names_of_maps:
            if base.tokenizer is None:
                raise ValueError("an adapter for another kind of embedder")
            pairs = {n: (tensors[f"{_ADAPTER}{n}.A"], tensors[f"{_ADAPTER}{n}.B"]) for n in names_of_maps}
            base = adapted(base, pairs)
        changes = _header(blob)
        changed = {key: changes[key] for key in _SETTINGS} | {_EXAMPLES: changes.get(_EXAMPLES)}
        config = ModelConfig.from_dict(base.config.to_dict() | changed)
        if weight.shape != (len(config.corrected), config.sce.text_width):
            raise ValueError(f"weights of shape {tuple(weight.shape)}")
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            _("This model version is damaged or was made for another model: use another or fine-tune again.")
        ) from error
    if names is not None:
        kept = [place for place, name in enumerate(config.corrected) if name in names]
        weight = weight[kept]
        config = replace(
            config,
            corrected=tuple(names[config.corrected[place]] for place in kept),
            examples=tuple(config.examples[place] for place in kept) if config.examples else (),
            labels=tuple(replace(one, name=names[one.name]) for one in config.labels if one.name in names),
        )
    return _put_together(base, config, weight)


def _header(blob: bytes) -> dict[str, Any]:
    size = int.from_bytes(blob[:8], "little")
    found = json.loads(json.loads(blob[8 : 8 + size])["__metadata__"]["sce"])
    if not isinstance(found, dict):
        raise ValueError("no settings")
    return found


def _put_together(base: SCEModel, config: ModelConfig, weight: Tensor) -> SCEModel:
    own = config.token_table == "own"
    tuned = SCEModel(
        config,
        base.embedder if base.tokenizer is not None else base.text_embedder,
        base.head,
        base.tokenizer,
        label_tokens=base.label_tokens if own else None,
        label_tokenizer=base.label_tokenizer if own else None,
        precision=base.precision,
    )
    tuned.adapter = base.adapter
    if tuned.correction is not None:
        tuned.correction.weight = torch.nn.Parameter(
            weight.detach().float().to(base.device), requires_grad=False
        )
    return tuned.eval()
