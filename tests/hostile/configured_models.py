"""Model folders whose configuration means ill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hostile.model_cases import case, edit


def set_in(found: dict[str, Any], path: str, value: Any) -> None:
    """Put ``value`` at the place ``path`` ("sce.encoder.hidden_size")."""
    *parents, last = path.split(".")
    for parent in parents:
        found = found[parent]
    found[last] = value


def configured(kind: str, name: str, path: str, value: Any) -> None:
    """Register a model whose config.json says ``value`` at ``path``."""
    case(kind, name)(lambda model: edit(model / "config.json", lambda found: set_in(found, path, value)))


configured("sce", "format-text", "format", "9")
configured("sce", "format-list", "format", [1])
configured("sce", "sce-null", "sce", None)
configured("sce", "layers-10-million", "sce.layers", 10_000_000)
configured("sce", "encoder-layers-10-million", "embedder.encoder.num_hidden_layers", 10_000_000)
configured("sce", "heads-0", "embedder.encoder.num_attention_heads", 0)
configured("sce", "heads-0-labels", "sce.encoder.num_attention_heads", 0)
configured("sce", "hidden-huge", "embedder.encoder.hidden_size", 2**40)
configured("sce", "hidden-negative", "sce.encoder.hidden_size", -64)
configured("sce", "vocabulary-huge", "embedder.encoder.vocab_size", 2**31)
configured("sce", "positions-huge", "embedder.encoder.max_position_embeddings", 900_000)
configured("sce", "layer-norm-nan", "embedder.encoder.layer_norm_eps", float("nan"))
configured("sce", "temperature-0", "temperature", 0)
configured("sce", "alpha-infinite", "sce.alpha", float("inf"))
configured("sce", "labels-of-numbers", "labels", [{"name": 7}])
configured("sce", "labels-text", "labels", "abc")
configured("sce", "embedder-text", "embedder", "native")
configured("sce", "embedder-elsewhere", "embedder", {"kind": "sentence-transformers", "model": "/etc"})
configured(
    "sce",
    "embedder-trusts",
    "embedder",
    {"kind": "sentence-transformers", "model": "/", "trust_remote_code": True},
)
configured("sce", "max-tokens-text", "embedder.max_tokens", "many")
configured("sce", "weights-of-7-bits", "weight_bits", 7)
configured("sce", "head-of-millions", "head", {"way": "product", "share": 0.5, "labels": ["x"] * 300_000})
configured("text", "text-layers", "num_hidden_layers", 10_000_000)
configured("text", "text-heads-0", "num_attention_heads", 0)
configured("cls", "library-vocabulary", "vocab_size", 4_000_000)
configured("cls", "library-layers", "num_hidden_layers", 900)
configured("cls", "library-positions", "max_position_embeddings", 15_000_000)
configured("cls", "library-dtype", "dtype", "float1")
configured("cls", "library-code", "auto_map", {"AutoModel": "evil.Model"})
configured("llm", "llm-heads-0", "num_attention_heads", 0)
configured("llm", "llm-vocabulary", "vocab_size", 4_999_999)
configured("llm", "llm-code", "auto_map", {"AutoModelForCausalLM": "evil.Model"})


@case("sce", "config-deep")
def _config_deep(model: Path) -> None:
    text = (model / "config.json").read_text(encoding="utf-8")
    (model / "config.json").write_text(
        text[:-2] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}", encoding="utf-8"
    )


@case("sce", "config-deep-200")
def _config_deep_200(model: Path) -> None:
    nested: Any = {}
    for _each in range(200):
        nested = {"a": nested}
    edit(model / "config.json", lambda found: found.update(embedder=dict(found["embedder"], more=nested)))


@case("sce", "duplicate-keys")
def _duplicate_keys(model: Path) -> None:
    text = (model / "config.json").read_text(encoding="utf-8")
    (model / "config.json").write_text('{"name": "other", ' + text.lstrip()[1:], encoding="utf-8")


@case("sce", "config-50-MB")
def _config_large(model: Path) -> None:
    edit(model / "config.json", lambda found: found.update(more="x" * 50_000_000))


@case("sce", "config-many-lists")
def _config_lists(model: Path) -> None:
    edit(model / "config.json", lambda found: found.update(more=[[]] * 2_400_000))


@case("sce", "config-digits")
def _config_digits(model: Path) -> None:
    text = (model / "config.json").read_text(encoding="utf-8")
    (model / "config.json").write_text('{"n": ' + "9" * 20_000 + ", " + text.lstrip()[1:], encoding="utf-8")


@case("text", "module-elsewhere")
def _module(model: Path) -> None:
    modules = json.loads((model / "modules.json").read_text(encoding="utf-8"))
    modules[1]["type"] = "antigravity.Pooling"
    (model / "modules.json").write_text(json.dumps(modules), encoding="utf-8")


@case("text", "module-path-out")
def _module_path(model: Path) -> None:
    modules = json.loads((model / "modules.json").read_text(encoding="utf-8"))
    modules[1]["path"] = "../../../../../../etc"
    (model / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
