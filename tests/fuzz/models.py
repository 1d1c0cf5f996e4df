"""``python -m tests.fuzz models``: damage tiny model folders, add, load and use them.

Each must be refused in one sentence or give finite probabilities.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from tests.fuzz import campaign, json_mutations
from tests.hostile import model_cases, models

KINDS = ("sce", "text", "cls", "llm", "gguf")
_LINKS = ("/etc/hostname", "/dev/zero", "/dev/null", "../whole", "..", ".", "config.json", "nowhere", "/etc")
_PATTERNS = (
    r"\s+",
    r"(a+)+b",
    r"\p{L}+|\p{N}",
    "",
    "(",
    r"a{5000}",
    r"(\w+\s?)*$",
    r"(?=a)",
    r"[^\s]+",
    r".*",
)
_TEXTS = [
    "The parcel came late, and damaged.",
    "a" * 3_000,
    "",
    "\u0434\u043e\u0431\u0440\u044b\u0439 \U0001f600 1 2 3",
]
_LABELS = (Label("late"), Label("damaged goods"), Label("\u0439"))


class Models:
    """Folders of every kind that is loaded."""

    name = "models"

    def __init__(self) -> None:
        self.folders: dict[str, Path] = {}

    def prepare(self, folder: Path) -> None:
        """Make a whole model of each kind."""
        os.environ["SCE_DESKTOP_HOME"] = str(folder / "home")
        folder.mkdir()
        models.load_everything()
        self.folders = {kind: model_cases.KINDS[kind](folder / kind) for kind in KINDS}

    def make(self, chance: random.Random, folder: Path) -> str:
        """Damage a copy of one."""
        kind = chance.choice(KINDS)
        copy = folder / kind
        shutil.copytree(self.folders[kind], copy)
        done = [_damage(chance, copy) for _each in range(chance.choice([1, 1, 1, 2, 3]))]
        return f"{kind}: " + "; ".join(done)

    def use(self, folder: Path) -> str:
        """Add it, load it, and classify with it."""
        (copy,) = (place for place in folder.iterdir() if place.name in KINDS)
        from sce_desktop.ml.hub import catalog, installing

        words = "added"
        try:
            installing.add(copy, name="added", models_dir=folder / "models")
        except UserError as error:
            words = _checked(error)
        catalog.list_models(folder / "models")
        try:
            found = _load(copy).probabilities([text for text in _TEXTS if text], _LABELS).probabilities
        except UserError as error:
            return f"{words}, then {_checked(error)}"
        assert np.isfinite(found).all(), "probabilities that are no numbers"
        assert found.shape == (len(_TEXTS) - 1, len(_LABELS))
        return f"{words}, then used"


def _load(folder: Path) -> Any:
    from sce_desktop.ml.llm.llm_folder import load_llm
    from sce_desktop.ml.sce.model import SCEModel
    from sce_desktop.ml.similarity import SimilarityModel

    if folder.name == "sce":
        return SCEModel.from_pretrained(folder)
    if folder.name in ("llm", "gguf"):
        return load_llm(folder)
    return SimilarityModel.from_pretrained(folder)


def _checked(error: UserError) -> str:
    models.one_sentence(str(error))
    return "refused"


def _damage(chance: random.Random, folder: Path) -> str:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    if not files:
        return "nothing left"
    described = [p for p in files if p.suffix == ".json"]
    weights = [p for p in files if p.suffix == ".safetensors"]
    kind = chance.choice(
        ["json"] * 6 + ["tokenizer"] * 3 + ["header"] * 3 + ["bytes"] * 3 + ["link", "tensor"]
    )
    if kind == "json" and described:
        return _json(chance, chance.choice(described))
    if kind == "tokenizer" and (folder / "tokenizer.json").is_file():
        return _tokenizer(chance, folder / "tokenizer.json")
    if kind == "header" and weights:
        return _header(chance, chance.choice(weights))
    if kind == "tensor" and weights:
        return _tensor(chance, chance.choice(weights))
    if kind == "link":
        return _link(chance, chance.choice(files))
    file = chance.choice(files)
    content, word = json_mutations.mutated_bytes(chance, file.read_bytes())
    file.write_bytes(content)
    return f"{word} {file.name}"


def _json(chance: random.Random, file: Path) -> str:
    try:
        content, words = json_mutations.mutated_text(
            chance, file.read_text(encoding="utf-8"), chance.choice([1, 1, 2, 5])
        )
    except (ValueError, RecursionError):  # damaged already
        return "again"
    if chance.randrange(20) == 0:
        content = content.replace(b"1", b"[" * 60_000 + b"1" + b"]" * 60_000, 1)
    file.write_bytes(content)
    return f"{file.name} {words}"


def _tokenizer(chance: random.Random, file: Path) -> str:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        part = chance.choice(["normalizer", "pre_tokenizer", "post_processor", "added_tokens", "model"])
        _tokenizer_part(chance, found, part)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "again"
    file.write_text(json.dumps(found), encoding="utf-8")
    return f"tokenizer {part}"


def _tokenizer_part(chance: random.Random, found: Any, part: str) -> None:
    pattern = chance.choice(
        [{"Regex": chance.choice(_PATTERNS)}, {"String": chance.choice(["a", "", " ", "late"])}]
    )
    if part == "normalizer":
        one = chance.choice(
            [
                {"type": "Replace", "pattern": pattern, "content": "b" * chance.choice([0, 1, 2, 30, 10**6])},
                {"type": "Prepend", "prepend": "x" * chance.choice([1, 3, 10**6])},
                {"type": chance.choice(["NFD", "NFKD", "Lowercase", "Nmt", "ByteLevel", "StripAccents"])},
                {
                    "type": "Precompiled",
                    "precompiled_charsmap": chance.choice(["AAAA", "/////w==", "BAAAAAAAAAA="]),
                },
            ]
        )
        found[part] = {"type": "Sequence", "normalizers": [one] * chance.choice([1, 2, 9, 40])}
    elif part == "pre_tokenizer":
        behaviours = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
        split = {"type": "Split", "pattern": pattern, "behavior": chance.choice(behaviours)}
        split["invert"] = chance.random() < 0.3
        level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        inside = [
            chance.choice([split, level, {"type": "Whitespace"}]) for _ in range(chance.choice([1, 2, 20]))
        ]
        found[part] = {"type": "Sequence", "pretokenizers": inside}
    elif part == "post_processor":
        piece = {"Sequence": {"id": chance.choice("AB"), "type_id": 0}}
        found[part] = {
            "type": "TemplateProcessing",
            "single": [piece] * chance.choice([0, 1, 2, 3, 500]),
            "pair": [piece],
            "special_tokens": {},
        }
    elif part == "added_tokens":
        number = chance.choice([0, 5, 10**4, 2**31, 10**9])
        usual = dict.fromkeys(
            ("single_word", "lstrip", "rstrip", "normalized", "special"), chance.random() < 0.5
        )
        found[part] += [
            {"id": number + i, "content": f"late{i}" if i else "late", **usual}
            for i in range(chance.choice([1, 3, 25_000]))
        ]
    else:
        found["model"][chance.choice(list(found["model"]))] = chance.choice(
            [None, 0, 10**9, -1, "", "a" * 10**5, True, 0.5, {}, []]
        )


def _header(chance: random.Random, file: Path) -> str:
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    try:
        text, words = json_mutations.mutated_text(
            chance, data[8 : 8 + size].decode(), chance.choice([1, 1, 3])
        )
    except (ValueError, RecursionError):
        return "again"
    file.write_bytes(
        struct.pack("<Q", len(text) + chance.choice([0] * 6 + [-1, 1, 8])) + text + data[8 + size :]
    )
    return f"header {words}"


def _tensor(chance: random.Random, file: Path) -> str:
    """Change numbers of the weights, which stand behind the header."""
    data = bytearray(file.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    if start + 8 >= len(data):
        return "again"
    what = chance.choice([b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f", b"\xff\xff\x7f\x7f", b"\x00\x7e\x00\x7e"])
    for _each in range(chance.choice([1, 50])):
        at = start + chance.randrange((len(data) - start) // 4) * 4
        data[at : at + 4] = what
    file.write_bytes(data)
    return f"numbers {file.name}"


def _link(chance: random.Random, file: Path) -> str:
    file.unlink()
    kind = chance.choice(["link", "link", "gone", "fifo", "folder"])
    if kind == "link":
        file.symlink_to(chance.choice(_LINKS))
    elif kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    return f"{kind} {file.name}"


def main(arguments: list[str]) -> int:
    """Run the fuzzer."""
    return campaign.run(Models(), arguments)
