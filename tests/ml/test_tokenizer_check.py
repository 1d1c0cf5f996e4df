"""Which tokenizers are taken: what real ones hold, and what none should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.ml.hub.tokenizer_check import is_bounded, read_tokenizer
from tests.ml.tiny import tiny_tokenizer

# What GPT-2, Llama 3, o200k, DeepSeek and BLOOM split texts with.
REAL = [
    r" {2,}",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?|\s+(?!\S)|\s+",
    r"(?<=\p{Nd})(?=(?:\p{Nd}{3})+(?!\p{Nd}))",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"[^\(|[.,!?…。，、।۔،]]+",
    r"\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$",
]


@pytest.mark.parametrize("pattern", REAL)
def test_patterns_in_use_are_bounded(pattern: str) -> None:
    assert is_bounded(pattern)


@pytest.mark.parametrize(
    "pattern", [r"(a+)+b", r"(.*)*x", r"((a{100}){100}){100}", r"(?:a*b?)*c", "[", "(" * 200]
)
def test_patterns_that_may_take_for_ever_are_not(pattern: str) -> None:
    assert not is_bounded(pattern)


def test_a_whole_tokenizer_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    tiny_tokenizer().save(str(file))

    read = read_tokenizer(file)

    assert read.to_str() == tiny_tokenizer().to_str()


def test_truncation_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    tokenizer = tiny_tokenizer()
    tokenizer.enable_truncation(7)
    tokenizer.save(str(file))

    assert len(read_tokenizer(file).encode("late " * 100).ids) == 7


def test_letters_that_multiply_are_refused_before_they_do(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    found = json.loads(tiny_tokenizer().to_str())
    twice = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    found["normalizer"] = {"type": "Sequence", "normalizers": [twice] * 30}
    file.write_text(json.dumps(found), encoding="utf-8")

    with pytest.raises(UserError, match="far more of a text than it has letters"):
        read_tokenizer(file)
