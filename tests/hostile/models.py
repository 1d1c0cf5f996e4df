"""Model folders that mean ill, each made by a script from a tiny random model that is whole.

``python -m tests.hostile models``: each is added to an empty folder of models, loaded and used to classify
in a child process. It must come to one sentence, or to scores where it is harmless, with 10 seconds of the
processor and 1 GiB of memory beyond what the process had.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from tests.hostile.child import in_child
from tests.ml.tiny import tiny_sce, tiny_sentence_transformer
from tests.ml.tiny_llm import tiny_gguf, tiny_llm

Builder = Callable[[Path], Path]
"""Makes a model folder below the folder given, and returns it."""
CASES: dict[str, Builder] = {}
KIND_OF: dict[str, str] = {"hub-snapshot": "sce", "hub-snapshot-out": "sce"}
"""What each is made of."""
HARMLESS = {"hub-snapshot", "link-inside", "duplicate-keys", "pickle-beside", "dot-files"}
"""What must be accepted."""
_SEEDS: dict[str, Path] = {}
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
        if kind not in _SEEDS:
            _SEEDS[kind] = KINDS[kind](folder)


def whole(kind: str, folder: Path) -> Path:
    """Return a copy of a whole model below ``folder``."""
    return Path(shutil.copytree(_SEEDS[kind], folder / f"hostile-{kind}"))


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


def set_in(found: dict[str, Any], path: str, value: Any) -> None:
    """Put ``value`` at the place ``path`` ("sce.encoder.hidden_size")."""
    *parents, last = path.split(".")
    for parent in parents:
        found = found[parent]
    found[last] = value


def configured(kind: str, name: str, path: str, value: Any) -> None:
    """Register a model whose config.json says ``value`` at ``path``."""
    case(kind, name)(lambda model: edit(model / "config.json", lambda found: set_in(found, path, value)))


def tokenized(name: str, change: Callable[[dict[str, Any]], object], kind: str = "sce") -> None:
    """Register a model whose tokenizer.json is changed."""
    case(kind, name)(lambda model: edit(model / "tokenizer.json", change))


def reweighted(model: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change the tensors of a folder in place."""
    state = load_file(model / "model.safetensors")
    change(state)
    save_file(state, model / "model.safetensors", metadata={"format": "pt"})


def header(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the header of a safetensors file and nothing else of it."""
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    found = json.loads(data[8 : 8 + size])
    change(found)
    text = json.dumps(found).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])


# --- links and files that are none -------------------------------------------------------------------------


def _linked(model: Path, name: str, target: str | Path) -> None:
    (model / name).unlink(missing_ok=True)
    (model / name).symlink_to(target)


case("sce", "link-weights-to-passwd")(lambda m: _linked(m, "model.safetensors", "/etc/passwd"))
case("sce", "link-config-to-zero")(lambda m: _linked(m, "config.json", "/dev/zero"))
case("sce", "link-weights-to-zero")(lambda m: _linked(m, "model.safetensors", "/dev/zero"))
case("text", "link-modules-to-zero")(lambda m: _linked(m, "modules.json", "/dev/zero"))
case("sce", "link-loop")(lambda m: _linked(m, "tokenizer.json", "tokenizer.json"))
case("sce", "link-dangling")(lambda m: _linked(m, "README.md", "nowhere"))
case("sce", "link-to-folder")(lambda m: _linked(m, "more", "/etc"))
case("sce", "link-inside")(lambda m: _linked(m, "LICENSE.txt", "README.md"))


@case("sce", "link-up")
def _link_up(model: Path) -> None:
    (model.parent / "secret.txt").write_text("secret", encoding="utf-8")
    _linked(model, "notes.txt", "../secret.txt")


@case("sce", "link-nested")
def _link_nested(model: Path) -> None:
    (model / "a" / "b").mkdir(parents=True)
    (model / "a" / "b" / "weights.json").symlink_to("/etc/hostname")


@case("sce", "link-chain")
def _link_chain(model: Path) -> None:
    (model / "one.txt").symlink_to("two.txt")
    (model / "two.txt").symlink_to("../../../../../../../../etc/hostname")


def _snapshot(folder: Path, outside: bool) -> Path:
    cache = folder / "models--somebody--tiny"
    (cache / "blobs").mkdir(parents=True)
    snapshot = cache / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    for number, file in enumerate(sorted(p for p in _SEEDS["sce"].iterdir() if p.is_file())):
        blob = cache / "blobs" / f"{number:040x}"
        shutil.copy(file, blob)
        (snapshot / file.name).symlink_to(Path("../../blobs") / blob.name)
    if outside:
        _linked(snapshot, "README.md", "../../../../../../../../etc/hostname")
    return snapshot


CASES["hub-snapshot"] = lambda folder: _snapshot(folder, outside=False)
CASES["hub-snapshot-out"] = lambda folder: _snapshot(folder, outside=True)


@case("sce", "fifo-config")
def _fifo(model: Path) -> None:
    (model / "config.json").unlink()
    os.mkfifo(model / "config.json")


@case("sce", "fifo-beside")
def _fifo_beside(model: Path) -> None:
    os.mkfifo(model / "vocab.json")


@case("sce", "socket")
def _socket(model: Path) -> None:
    import socket

    here = Path.cwd()
    os.chdir(model)  # the path of a socket has 107 characters at most
    try:
        socket.socket(socket.AF_UNIX).bind("a.json")
    finally:
        os.chdir(here)


@case("sce", "many-files")
def _many_files(model: Path) -> None:
    (model / "more").mkdir()
    for number in range(10_100):
        (model / "more" / f"{number}").touch()


@case("sce", "deep-folders")
def _deep_folders(model: Path) -> None:
    (model / "/".join("abcdefghijklmno")).mkdir(parents=True)
    (model / "/".join("abcdefghijklmno") / "x.json").write_text("{}", encoding="utf-8")


@case("sce", "dot-files")
def _dot_files(model: Path) -> None:
    (model / ".git").mkdir()
    (model / ".git" / "config").symlink_to("/etc/hostname")


# --- configurations ----------------------------------------------------------------------------------------

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


# --- tokenizers --------------------------------------------------------------------------------------------


def _split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _replace(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def _many_added(found: dict[str, Any]) -> None:
    found["added_tokens"] += [
        {
            "id": 10_000 + number,
            "content": f"<{number}>",
            **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False),
        }
        for number in range(60_000)
    ]


def _shift(found: dict[str, Any]) -> None:
    vocabulary = found["model"]["vocab"]
    found["model"]["vocab"] = {token: number + 10**9 for token, number in vocabulary.items()}


def _shift_little(found: dict[str, Any]) -> None:
    vocabulary = found["model"]["vocab"]
    found["model"]["vocab"] = {token: number + 100 for token, number in vocabulary.items()}
    for one in found["added_tokens"]:
        one["id"] += 100


tokenized("tokens-plus-1e9", _shift)
tokenized("tokens-beyond-the-table", _shift_little)
tokenized("added-tokens-in-masses", _many_added)
tokenized("regex-exponential", lambda f: f.update(pre_tokenizer=_split(r"(a+)+b")))
tokenized("regex-counted", lambda f: f.update(pre_tokenizer=_split(r"(((a{1000}){1000}){1000}){100}")))
tokenized("regex-broken", lambda f: f.update(pre_tokenizer=_split("[")))
tokenized("regex-backtracking", lambda f: f.update(pre_tokenizer=_split(r"(?=(\w*\w*\w*\w*\w*\d))x|.")))
tokenized(
    "regex-in-normalizer",
    lambda f: f.update(normalizer={"type": "Replace", "pattern": {"Regex": "(a*)*b"}, "content": ""}),
)
tokenized(
    "letters-multiply",
    lambda f: f.update(normalizer={"type": "Sequence", "normalizers": [_replace("a", "aa")] * 30}),
)
tokenized("replace-long", lambda f: f.update(normalizer=_replace("a", "b" * 1_000_000)))
tokenized("prepend-10-MB", lambda f: f.update(normalizer={"type": "Prepend", "prepend": "x" * 10_000_000}))
tokenized(
    "byte-level-30-times",
    lambda f: f.update(
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
            ]
            * 30,
        }
    ),
)
tokenized(
    "template-repeats",
    lambda f: f["post_processor"].update(single=[{"Sequence": {"id": "A", "type_id": 0}}] * 10_000),
)
tokenized(
    "padding-terabytes",
    lambda f: f.update(
        padding={
            "strategy": {"Fixed": 10**12},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        }
    ),
)
tokenized(
    "charsmap-8-GB",
    lambda f: f.update(
        normalizer={
            "type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(b"\xff\xff\xff\xff\xff\xff").decode(),
        }
    ),
)
tokenized("words-without-end", lambda f: f["model"].update(max_input_chars_per_word=10**9))
tokenized("prefix-1-MB", lambda f: f["model"].update(continuing_subword_prefix="#" * 1_000_000))
tokenized("tokenizer-of-lists", lambda f: f.update(model=[]))
tokenized("library-letters-multiply", lambda f: f.update(normalizer=_replace("a", "b" * 1_000_000)), "cls")
tokenized("llm-letters-multiply", lambda f: f.update(normalizer=_replace("a", "b" * 1_000_000)), "llm")


@case("sce", "tokenizer-100-MB")
def _tokenizer_large(model: Path) -> None:
    with (model / "tokenizer.json").open("r+b") as stream:
        stream.truncate(100_000_000)


@case("sce", "tokenizer-many-tokens")
def _tokenizer_tokens(model: Path) -> None:
    text = (model / "tokenizer.json").read_text(encoding="utf-8")
    before, start, after = text.partition('"vocab": {')
    assert start
    more = "".join(f'"t{number}": {number},' for number in range(1_050_000))
    (model / "tokenizer.json").write_text(before + start + more + after, encoding="utf-8")


# --- weights -----------------------------------------------------------------------------------------------


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


# --- language models ---------------------------------------------------------------------------------------


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
        "base_model_name_or_path": str(_SEEDS["llm"]),
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
case("gguf", "gguf-zero")(lambda m: _linked(m, "tiny.gguf", "/dev/zero"))


# --- what the program makes of them ------------------------------------------------------------------------


def spec(folder: Path) -> tuple[str, str]:
    """Return how the model is used: ("model" or "baseline", its name)."""
    name = folder.name
    if "llm" in name or "gguf" in name:
        return "baseline", f"llm:{folder}"
    if "text" in name or "cls" in name:
        return "baseline", f"similarity:{folder}"
    return "model", str(folder)


def meet(build: Builder, place: Path) -> str:
    """Add, load and use what ``build`` makes; return in a word or a sentence what each came to."""
    from sce_desktop.cli import main
    from sce_desktop.core.errors import UserError
    from sce_desktop.ml.hub import catalog, installing

    place.mkdir()
    folder = build(place)
    said: list[str] = []
    try:
        installing.add(folder, name="added", models_dir=place / "models")
        said.append("added")
    except UserError as error:
        said.append(one_sentence(str(error)))
    catalog.list_models(place / "models")
    table = place / "table.csv"
    table.write_text("text\nThe parcel came late\naaaaaaaaaaaaaaaaaaaa\n", encoding="utf-8")
    kind, name = spec(folder)
    options = ["--model", name] if kind == "model" else ["--baseline", name]
    errors = place / "errors.txt"
    with errors.open("w", encoding="utf-8") as stream:  # noqa: SIM117 - redirected to it
        with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(io.StringIO()):
            labels = ["--label", "late", "--label", "damaged"]
            code = main(
                ["classify", str(table), "--text", "text", *labels, *options, "-o", str(place / "out.csv")]
            )
    written = errors.read_text(encoding="utf-8")
    assert "Traceback" not in written, written
    if code:
        said.append(one_sentence([line for line in written.splitlines() if line.strip()][-1]))
    else:
        said.append("scored")
    return "\n".join(said)


def one_sentence(message: str) -> str:
    """Return ``message``; raises AssertionError unless it is a sentence or two in one line."""
    assert "\n" not in message, f"several lines: {message!r}"
    assert message.rstrip().endswith((".", "?")), f"no sentence: {message!r}"
    assert len(message) < 1_000, f"{len(message)} characters"
    return message


def load_ours() -> None:
    """Import what is needed to use models that run natively, so that a child need not."""
    import sce_desktop.ml.hub.session
    import sce_desktop.ml.sce.model_check
    import sce_desktop.tasks.scoring.classify  # noqa: F401


def load_everything() -> None:
    """Import what is needed to use models of every kind."""
    load_ours()
    import peft  # noqa: F401
    import sentence_transformers  # noqa: F401
    import transformers.models.bert.modeling_bert
    import transformers.models.llama.modeling_llama  # noqa: F401


def main(arguments: list[str]) -> int:
    """Meet all of them, or those named; print what each came to."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile models")
    parser.add_argument("names", nargs="*", help="which (all)")
    args = parser.parse_args(arguments)
    load_everything()
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        os.environ["SCE_DESKTOP_HOME"] = str(root / "home")
        seeds(root / "seeds")
        for name, build in CASES.items():
            if args.names and name not in args.names:
                continue
            ended = in_child(lambda build=build, name=name: meet(build, root / name))  # type: ignore[misc]
            good = ended.how == "returned" and (name not in HARMLESS or ended.text == "added\nscored")
            bad += not good
            text = ended.text if good else ended.text[-1500:]
            print("ok " if good else "BAD", f"{name:26}", ended.how, f"{ended.seconds:.1f} s", end="  ")
            print(f"{ended.megabytes} MiB ", text.replace("\n", " | " if good else "\n"), flush=True)
            shutil.rmtree(root / name, ignore_errors=True)
    print(f"{bad} of {len(args.names) or len(CASES)} ended badly")
    return 1 if bad else 0
