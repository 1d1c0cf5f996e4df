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
from sce_desktop.core.heads import Way
from sce_desktop.core.i18n import _
from sce_desktop.ml.finetune.adapting import adapted
from sce_desktop.ml.hub.weight_check import blob_header
from sce_desktop.ml.sce.head import HeadConfig, LogisticHead
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import ModelConfig

_WEIGHT = "correction.weight"
_LOGISTIC = ("logistic.weight", "logistic.bias")
_ADAPTER = "adapter."  # before the names of an adapter's matrices, which end in .A and .B
_ADAPTED = "adapted."  # before all of a second model in the same blob, whose text encoder was fine-tuned
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


def with_labels(base: SCEModel, labels: Sequence[Label]) -> SCEModel:
    """Return ``base`` with ``labels`` as those that it carries, and every number as it was."""
    own = tuple(replace(label, id=None) for label in labels)
    return _put_together(base, replace(base.config, labels=own), _correction(base), base)


def with_head(fitted: SCEModel, head: HeadConfig, logistic: LogisticHead) -> SCEModel:
    """Return ``fitted`` with a logistic regression that takes part as ``head`` says."""
    tuned = _put_together(fitted, replace(fitted.config, head=head), _correction(fitted))
    tuned.logistic = logistic.to(fitted.device)
    return tuned


def without_head(model: SCEModel) -> SCEModel:
    """Return ``model`` without its logistic regression: itself if it has none."""
    if model.config.head is None:
        return model
    return _put_together(model, replace(model.config, head=None), _correction(model))


def in_way(base: SCEModel, fitted: SCEModel, way: Way) -> SCEModel:
    """Return the model that predicts in ``way``, with no more in it than that takes.

    Args:
        base: What was fine-tuned.
        fitted: The same with a correction and, unless ``way`` does without, a logistic regression.
        way: Any but the one with a fine-tuned text encoder, which is a model of its own.
    """
    if way is Way.ZERO_SHOT:
        return _put_together(base, replace(base.config, labels=fitted.config.labels), _correction(base), base)
    if way is Way.SCE:
        return without_head(fitted)
    if fitted.config.head is None:
        raise UserError(_("This version has no logistic regression: fine-tune again."))
    config = replace(fitted.config, head=replace(fitted.config.head, way=way))
    return _put_together(fitted, config, _correction(fitted), fitted)


def changed_weights(tuned: SCEModel, second: SCEModel | None = None, way: Way | None = None) -> bytes:
    """Return what a fine-tune changed as a safetensors blob, for `with_changes`.

    Args:
        tuned: With the correction and, where there is one, the logistic regression.
        second: The same base with its text encoder fine-tuned too, kept beside ``tuned``.
        way: How the version predicts; None: as ``tuned`` does.
    """
    header = {"sce": json.dumps(_kept_settings(tuned), ensure_ascii=False)}
    if way is not None:
        header["way"] = way.value
    tensors = _changed_tensors(tuned)
    if second is not None:
        header["adapted"] = json.dumps(_kept_settings(second), ensure_ascii=False)
        tensors |= {_ADAPTED + name: tensor for name, tensor in _changed_tensors(second).items()}
    return save({k: t.detach().cpu().contiguous() for k, t in tensors.items()}, metadata=header)


def in_other_way(blob: bytes, way: Way) -> bytes:
    """Return what `changed_weights` wrote, for a model that predicts in ``way``.

    Raises:
        UserError: The blob is damaged.
    """
    try:
        tensors, about = load(blob), _metadata(blob)
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise UserError(
            _("This model version is damaged or was made for another model: use another or fine-tune again.")
        ) from error
    return save(tensors, metadata={**about, "way": way.value})


def _kept_settings(tuned: SCEModel) -> dict[str, Any]:
    config = tuned.config.to_dict()
    kept = {key: config.get(key) for key in (*_SETTINGS, _EXAMPLES)}
    return kept | ({"head": config["head"]} if "head" in config else {})


def _changed_tensors(tuned: SCEModel) -> dict[str, Tensor]:
    tensors = {_WEIGHT: _correction(tuned)}
    if tuned.logistic is not None:
        tensors |= dict(zip(_LOGISTIC, (tuned.logistic.weight, tuned.logistic.bias), strict=True))
    for name, (a, b) in tuned.adapter.items():
        tensors |= {f"{_ADAPTER}{name}.A": a, f"{_ADAPTER}{name}.B": b}
    return tensors


def with_changes(
    base: SCEModel, blob: bytes, names: Mapping[str, str] | None = None, *, way: Way | None = None
) -> SCEModel:
    """Return ``base`` with what `changed_weights` wrote put in.

    Args:
        base: The model that the changes were made to.
        blob: What changed.
        names: What labels of then are called now; those that are not in it are known no more. Without it
            all keep their names.
        way: How it predicts, of the ways that the blob holds; None: as it was written.

    Raises:
        UserError: The blob is damaged, was made for another model, or does not hold what ``way`` takes.
    """
    fitted = _with_part(base, blob, names)
    about = _metadata(blob)  # what it holds has just been looked at
    way = way or (Way(about["way"]) if "way" in about else None)
    if way is Way.ADAPTED:  # older programs kept that alone
        return _with_part(base, blob, names, second=True) if "adapted" in about else fitted
    return fitted if way is None else in_way(base, fitted, way)


def _with_part(
    base: SCEModel, blob: bytes, names: Mapping[str, str] | None, *, second: bool = False
) -> SCEModel:
    try:
        blob_header(blob)  # before its length is believed
        tensors = load(blob)
        if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
            raise ValueError("weights that are no numbers")
        if second:
            tensors = {k.removeprefix(_ADAPTED): t for k, t in tensors.items() if k.startswith(_ADAPTED)}
        weight = tensors[_WEIGHT]
        names_of_maps = {k[len(_ADAPTER) : -2] for k in tensors if k.startswith(_ADAPTER)}
        if names_of_maps:
            if base.tokenizer is None:
                raise ValueError("an adapter for another kind of embedder")
            pairs = {n: (tensors[f"{_ADAPTER}{n}.A"], tensors[f"{_ADAPTER}{n}.B"]) for n in names_of_maps}
            base = adapted(base, pairs)
        changes = _header(blob, "adapted" if second else "sce")
        changed = {key: changes[key] for key in _SETTINGS} | {_EXAMPLES: changes.get(_EXAMPLES)}
        changed["head"] = changes.get("head")
        config = ModelConfig.from_dict(base.config.to_dict() | changed)
        if weight.shape != (len(config.corrected), config.sce.text_width):
            raise ValueError(f"weights of shape {tuple(weight.shape)}")
        if config.head is not None and len(config.head.names) != len(tensors[_LOGISTIC[1]]):
            raise ValueError("a logistic regression of other labels")
        logistic = None if config.head is None else _logistic(config.head, tensors, config.sce.text_width)
        if "way" in _metadata(blob):
            Way(_metadata(blob)["way"])
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
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
        if config.head is not None and logistic is not None:
            logistic = _renamed(logistic, names)
            config = replace(config, head=replace(config.head, names=logistic.names))
    tuned = _put_together(base, config, weight)
    tuned.logistic = None if logistic is None else logistic.to(base.device)
    return tuned


def _logistic(head: HeadConfig, tensors: Mapping[str, Tensor], width: int) -> LogisticHead:
    found = LogisticHead(head.names, width)
    weight, bias = (tensors[name] for name in _LOGISTIC)
    if weight.shape != found.weight.shape or bias.shape != found.bias.shape:
        raise ValueError(f"a logistic regression of shape {tuple(weight.shape)}")
    return _filled(found, weight, bias)


def _renamed(found: LogisticHead, names: Mapping[str, str]) -> LogisticHead:
    """Return ``found`` for the labels of ``names`` alone, under what they are called now."""
    kept = [place for place, name in enumerate(found.names) if name in names]
    now = [names[found.names[place]] for place in kept]
    return _filled(LogisticHead(now, found.weight.shape[1]), found.weight[kept], found.bias[kept])


def _filled(head: LogisticHead, weight: Tensor, bias: Tensor) -> LogisticHead:
    head.weight = torch.nn.Parameter(weight.detach().float(), requires_grad=False)
    head.bias = torch.nn.Parameter(bias.detach().float(), requires_grad=False)
    return head


def _metadata(blob: bytes) -> dict[str, Any]:
    return blob_header(blob)


def _header(blob: bytes, part: str = "sce") -> dict[str, Any]:
    try:
        found = json.loads(_metadata(blob)[part])
    except RecursionError as error:
        raise ValueError("no settings") from error
    if not isinstance(found, dict):
        raise ValueError("no settings")
    return found


def _correction(model: SCEModel) -> Tensor:
    """Return the weights (C, d_q) of the corrections of ``model``; C is 0 where it has none."""
    if model.correction is None:
        return torch.zeros(0, model.config.sce.text_width)
    weight: Tensor = model.correction.weight
    return weight


def _put_together(
    base: SCEModel, config: ModelConfig, weight: Tensor, head_of: SCEModel | None = None
) -> SCEModel:
    """Return ``base`` as ``config`` describes it, with the logistic regression of ``head_of``."""
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
    tuned.logistic = None if head_of is None else head_of.logistic
    if tuned.correction is not None:
        tuned.correction.weight = torch.nn.Parameter(
            weight.detach().float().to(base.device), requires_grad=False
        )
    return tuned.eval()
