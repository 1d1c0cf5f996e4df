"""Folders of language models that mean ill: chat templates, adapters, GGUF files."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from tests.hostile.model_cases import SEEDS, case, edit, link


def _template(model: Path, template: str) -> None:
    for file in model.glob("*.jinja"):
        file.unlink()
    edit(model / "tokenizer_config.json", lambda found: found.update(chat_template=template))


case("llm", "template-endless")(
    lambda m: _template(m, "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
)
case("llm", "template-doubles")(
    lambda m: _template(
        m,
        "{% set n = namespace(t='aaaaaaaa') %}{% for i in range(40) %}{% set n.t = n.t ~ n.t %}{% endfor %}"
        "{{ n.t }}",
    )
)
case("llm", "template-product")(lambda m: _template(m, "{{ 'a' * 9999999999 }}"))
case("llm", "template-raises")(lambda m: _template(m, "{{ 1 // 0 }}"))


def _adapter(model: Path, settings: dict[str, Any]) -> None:
    for file in model.iterdir():
        file.unlink()
    usual = {
        "peft_type": "LORA",
        "r": 8,
        "base_model_name_or_path": str(SEEDS["llm"]),
        "target_modules": ["q_proj"],
    }
    (model / "adapter_config.json").write_text(json.dumps(usual | settings), encoding="utf-8")
    save_file({"x": torch.zeros(2)}, model / "adapter_model.safetensors")


case("llm", "adapter-rank")(lambda m: _adapter(m, {"r": 10**9}))
case("llm", "adapter-peft-type")(lambda m: _adapter(m, {"peft_type": "NOTHING"}))
case("llm", "adapter-target")(lambda m: _adapter(m, {"target_modules": "(a+)+b"}))


def _gguf(model: Path, change: Callable[[bytearray], object]) -> None:
    (file,) = model.glob("*.gguf")
    data = bytearray(file.read_bytes())
    change(data)
    file.write_bytes(data)


def _put(at: int, value: int) -> Callable[[bytearray], None]:
    return lambda data: struct.pack_into("<Q", data, at, value)


case("sce", "model-type-list")(
    lambda m: edit(m / "config.json", lambda found: found.update(model_type=[0] * 3_000))
)
case("gguf", "gguf-tensors")(lambda m: _gguf(m, _put(8, 2**60)))
case("gguf", "gguf-facts")(lambda m: _gguf(m, _put(16, 2**60)))
case("gguf", "gguf-text-length")(lambda m: _gguf(m, _put(24, 2**62)))
case("gguf", "gguf-cut")(lambda m: _gguf(m, lambda data: data.__delitem__(slice(3000, None))))
case("gguf", "gguf-zero")(lambda m: link(m, "tiny.gguf", "/dev/zero"))
