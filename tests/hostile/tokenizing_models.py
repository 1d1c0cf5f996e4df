"""Model folders whose tokenizer means ill."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.hostile.model_cases import case, edit


def tokenized(name: str, change: Callable[[dict[str, Any]], object], kind: str = "sce") -> None:
    """Register a model whose tokenizer.json is changed."""
    case(kind, name)(lambda model: edit(model / "tokenizer.json", change))


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
