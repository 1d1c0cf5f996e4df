"""What a model here costs by the paper's formulas: from the shape in its folder, without loading it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.research import flops
from sce_desktop.research.flops import Cost


def model_costs(name: str) -> dict[str, dict[str, int]]:
    """Return coefficients of the FLOPs of a sample of m tokens, by part, of the model called ``name``.

    An SCE: "sce", one training step on ready vectors of m - 1 labels, "sce_use" a pass of the same, and
    "embedder", one pass over a text. A language model: "llm", a pass, and "llm_lora", a training step at rank
    180. Anything else: "embedder".

    Raises:
        UserError: It is not here, or its folder does not say how large it is.
    """
    from sce_desktop.ml.hub import catalog, folders

    folder = catalog.resolve(name)
    kind = folders.kind_of(folder)
    config = folders.read_json(folder / folders.CONFIG)
    try:
        if kind == "sce":
            return _sce(config)
        shape = flops.transformer_of(config)
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{folder} does not say how large the model is: choose another.") from None
    if kind == "llm":
        lora = flops.lora_training(shape, flops.LORA_RANK)
        return {"llm": _plain(flops.inference(shape)), "llm_lora": _plain(lora)}
    return {"embedder": _plain(flops.inference(shape))}


def _sce(config: dict[str, Any]) -> dict[str, dict[str, int]]:
    sce = config["sce"]
    encoder = replace(flops.transformer_of(sce["encoder"]), L=int(sce["layers"]))
    width = int(sce["text_width"])
    projected = Cost(0, 0, encoder.d * width)
    costs = {
        "sce": flops.sce_training(encoder, width),
        "sce_use": flops.inference(encoder) + projected,
    }
    if "encoder" in config["embedder"]:
        costs["embedder"] = flops.inference(flops.transformer_of(config["embedder"]["encoder"]))
    return {part: _plain(cost) for part, cost in costs.items()}


def _plain(cost: Cost) -> dict[str, int]:
    return {"m": cost.m, "m2": cost.m2, **({"const": cost.const} if cost.const else {})}
