"""Hostile model folders: how one is registered, and what whole models are damaged with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from tests.ml.tiny import tiny_sce, tiny_sentence_transformer
from tests.ml.tiny_llm import tiny_gguf, tiny_llm

Builder = Callable[[Path], Path]
"""Makes a model folder below the folder given, and returns it."""
CASES: dict[str, Builder] = {}
KIND_OF: dict[str, str] = {"hub-snapshot": "sce", "hub-snapshot-out": "sce"}
"""What each is made of."""
SEEDS: dict[str, Path] = {}
KINDS: dict[str, Callable[[Path], Path]] = {
    "sce": tiny_sce,
    "text": tiny_sentence_transformer,
    "cls": lambda folder: tiny_sentence_transformer(folder, pooling="cls", name="tiny-cls"),
    "llm": tiny_llm,
    "gguf": lambda folder: tiny_gguf(folder / "tiny-gguf")[0].parent,
}


def seeds(folder: Path, kinds: tuple[str, ...] = tuple(KINDS)) -> None:
    """Make the whole models that all others are made of."""
    for kind in kinds:
        if kind not in SEEDS:
            SEEDS[kind] = KINDS[kind](folder)


def whole(kind: str, folder: Path) -> Path:
    """Return a copy of a whole model below ``folder``."""
    return Path(shutil.copytree(SEEDS[kind], folder / f"hostile-{kind}"))


def case(kind: str, name: str) -> Callable[[Callable[[Path], object]], Callable[[Path], object]]:
    """Register what damages a copy of the whole model ``kind``."""

    def register(damage: Callable[[Path], object]) -> Callable[[Path], object]:
        def build(folder: Path) -> Path:
            model = whole(kind, folder)
            damage(model)
            return model

        CASES[name], KIND_OF[name] = build, kind
        return damage

    return register


def edit(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the JSON object in ``file`` in place."""
    found = json.loads(file.read_text(encoding="utf-8"))
    change(found)
    file.write_text(json.dumps(found), encoding="utf-8")


def reweighted(model: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change the tensors of a folder in place."""
    state = load_file(model / "model.safetensors")
    change(state)
    save_file(state, model / "model.safetensors", metadata={"format": "pt"})


def link(model: Path, name: str, target: str | Path) -> None:
    """Put a link called ``name`` into a folder, in the place of what is there."""
    (model / name).unlink(missing_ok=True)
    (model / name).symlink_to(target)
