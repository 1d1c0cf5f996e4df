"""The state of an unfinished training, so that the next call goes on where the last one stopped."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from sce_desktop.research.pretrain.train import Trace, Trainer
from sce_desktop.temporary import temporary_beside

_WEIGHTS, _FACTS = "training-state.safetensors", "training-state.json"


def save_state(trainer: Trainer, folder: Path, *, fingerprint: str) -> None:
    """Write weights, moments, random states and the trace. Both files are replaced, never edited."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Tensor] = {}
    for i, parameter in enumerate(trainer.parameters):
        tensors[f"weight.{i}"] = parameter.detach()
        for key, value in trainer.optimizer.state.get(parameter, {}).items():
            tensors[f"moment.{key}.{i}"] = value
    if trainer.average is not None:
        tensors |= {f"average.{i}": v for i, v in enumerate(trainer.average.values)}
    tensors["random"] = torch.get_rng_state()
    facts = {
        "fingerprint": fingerprint,
        "step": trainer.step_number,
        "trace": asdict(trainer.trace),
    }
    for name, write in (
        (_WEIGHTS, lambda p: save_file({k: v.contiguous().cpu() for k, v in tensors.items()}, p)),
        (_FACTS, lambda p: p.write_text(json.dumps(facts), encoding="utf-8")),
    ):
        with temporary_beside(folder / name) as aside:
            write(aside)
            aside.replace(folder / name)


def load_state(trainer: Trainer, folder: Path, *, fingerprint: str) -> bool:
    """Take up a saved state; returns False where there is none for this very configuration and data."""
    if not (folder / _FACTS).exists() or not (folder / _WEIGHTS).exists():
        return False
    facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    if facts["fingerprint"] != fingerprint:
        return False
    tensors = load_file(folder / _WEIGHTS)
    with torch.no_grad():
        for i, parameter in enumerate(trainer.parameters):
            parameter.copy_(tensors[f"weight.{i}"])
            moments = {
                k.split(".")[1]: v for k, v in tensors.items() if k.endswith(f".{i}") and "moment." in k
            }
            if moments:
                on = {k: v if k == "step" else v.to(parameter.device) for k, v in moments.items()}
                if trainer.device.type == "cuda" and "step" in on:
                    on["step"] = on["step"].to(parameter.device)
                trainer.optimizer.state[parameter] = on
        if trainer.average is not None:
            for i, value in enumerate(trainer.average.values):
                value.copy_(tensors[f"average.{i}"])
    torch.set_rng_state(tensors["random"])
    trainer.step_number = facts["step"]
    trainer.trace = Trace(**facts["trace"])
    return True


def clear_state(folder: Path) -> None:
    """Remove the state of a finished training."""
    for name in (_WEIGHTS, _FACTS):
        (folder / name).unlink(missing_ok=True)
