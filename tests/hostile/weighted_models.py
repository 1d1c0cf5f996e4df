"""Model folders whose weights are damaged, huge or pickles."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tests.hostile.model_cases import case, reweighted


def header(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the header of a safetensors file and nothing else of it."""
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    found = json.loads(data[8 : 8 + size])
    change(found)
    text = json.dumps(found).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])


@case("sce", "weights-nan")
def _nan(model: Path) -> None:
    reweighted(model, lambda state: state["embedder.norm.weight"].fill_(float("nan")))


@case("text", "text-weights-infinite")
def _infinite(model: Path) -> None:
    reweighted(model, lambda state: state["embeddings.LayerNorm.weight"].fill_(float("inf")))


@case("cls", "library-weights-nan")
def _library_nan(model: Path) -> None:
    reweighted(model, lambda state: state["embeddings.LayerNorm.weight"].fill_(float("nan")))


@case("sce", "weights-cut")
def _cut(model: Path) -> None:
    file = model / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


@case("sce", "weights-header-huge")
def _header_huge(model: Path) -> None:
    (model / "model.safetensors").write_bytes(struct.pack("<Q", 2**62) + b"{}" + b" " * 100)


@case("sce", "weights-offsets")
def _offsets(model: Path) -> None:
    def change(found: dict[str, Any]) -> None:
        found["embedder.norm.weight"]["data_offsets"] = [0, 2**50]

    header(model / "model.safetensors", change)


@case("sce", "weights-shape-overflow")
def _overflow(model: Path) -> None:
    def change(found: dict[str, Any]) -> None:
        found["embedder.norm.weight"]["shape"] = [2**40, 2**40]

    header(model / "model.safetensors", change)


@case("sce", "weights-header-deep")
def _header_deep(model: Path) -> None:
    text = b'{"a":' * 20_000 + b"1" + b"}" * 20_000
    (model / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)


@case("sce", "weights-of-4-TB")
def _terabytes(model: Path) -> None:
    """A file with holes: it takes no room on the disk."""
    size = 1 << 42
    text = json.dumps({"x": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    with (model / "model.safetensors").open("wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        stream.truncate(8 + len(text) + size)


@case("sce", "weights-unknown")
def _unknown(model: Path) -> None:
    reweighted(model, lambda state: state.update(more=torch.zeros(1000)))


@case("sce", "index-out")
def _index(model: Path) -> None:
    (model / "model.safetensors").rename(model.parent / "outside.safetensors")
    index = {"weight_map": {"x": "../outside.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


@case("sce", "pickle-alone")
def _pickle(model: Path) -> None:
    (model / "model.safetensors").rename(model / "pytorch_model.bin")


@case("sce", "pickle-beside")
def _pickle_beside(model: Path) -> None:
    (model / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'false'\ntR.")


@case("text", "pickle-text")
def _pickle_text(model: Path) -> None:
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
