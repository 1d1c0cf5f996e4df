"""Tokens looked up by words are those that the tokenizer makes of the whole text, or nothing is looked up."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import BPE
from tokenizers.normalizers import BertNormalizer, Replace
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel, Metaspace, Sequence, WhitespaceSplit

from sce_desktop import paths
from sce_desktop.ml.encoder import word_tokens
from sce_desktop.ml.encoder.word_tokens import WordTokens
from tests.ml.tiny import tiny_tokenizer

ODD = [
    "",
    "   ",
    "two  spaces\tand\ntabs \r\n",
    "signs that some take for space: a\x0bb\x0cc\x1cd\x85e\xa0f\u2003g\u200bh\u3000i",
    "marks behind a space \u0301a \u0301 e\u0301",
    "[MASK] [unk]x <mask> a<mask>b </s>",
    "包裹 lost 包裹lost",
    "½ Ⅷ ﬁne ～ \uf8f0 \u00b4 İstanbul ΣΑΣ straße",
    "👩‍👩‍👧 🇩🇪 𝐇𝐢 \ufffd \x00 \ufeff",
    "x" * 300,
    "late " * 200,
]


def texts(seed: int) -> list[str]:
    draw = random.Random(seed)
    signs = [
        *map(chr, (*range(0x250), *range(0x300, 0x370), *range(0x2000, 0x2070))),
        *"包裹ᄀ가각\uff5e\ue000",
    ]
    signs += [" "] * 200
    made = ["".join(draw.choices(signs, k=draw.randint(1, 60))) for _ in range(400)]
    return [*ODD, *made, *ODD[::-1]]


def assert_same(tokenizer: Tokenizer, most: int, found: WordTokens) -> None:
    tokenizer.no_truncation()
    for seed in (0, 1):  # the second time, many words are known
        some = texts(seed)
        whole = [one.ids for one in tokenizer.encode_batch(some)]
        tokenizer.enable_truncation(most)
        runs = found(some, most)
        for text, mine, right in zip(some, runs.each(), tokenizer.encode_batch(some), strict=True):
            assert mine.tolist() == right.ids, repr(text)
        tokenizer.no_truncation()
        assert runs.whole.tolist() == list(map(len, whole))
        bare = found(some, most, special=False).each()
        for mine, right in zip(bare, tokenizer.encode_batch(some, add_special_tokens=False), strict=True):
            assert mine.tolist() == right.ids[:most]


@pytest.mark.parametrize("most", [4, 24])
def test_tokens_are_those_of_the_whole_text(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_tokens, "MOST_WORDS", 500)  # words are forgotten on the way
    monkeypatch.setattr(word_tokens, "_FIRST", 8)
    tokenizer = tiny_tokenizer()
    found = WordTokens.of(tokenizer, "tiny")
    assert found is not None
    assert found.special == 2
    assert_same(tokenizer, most, found)
    assert max(map(len, found._known)) <= word_tokens.LONGEST_WORD


@pytest.mark.model
@pytest.mark.parametrize("name", ["sce-mini", "sce-base", "sce-multi"])
def test_tokens_of_the_models_that_come_with_the_program(name: str) -> None:
    file = paths.bundled_models_dir() / name / "tokenizer.json"
    if not file.is_file():
        pytest.skip("not in this checkout")
    tokenizer = Tokenizer.from_file(str(file))
    found = WordTokens.of(tokenizer, name)
    assert found is not None
    assert_same(tokenizer, 24, found)


def test_no_texts_have_no_tokens() -> None:
    found = WordTokens.of(tiny_tokenizer(), "tiny")
    assert found is not None
    assert found([], 8).each() == []
    assert found([""], 8, special=False).each()[0].size == 0
    assert np.array_equal(found([""], 8).sizes, [2])


def spaces_that_count() -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel()
    return tokenizer


def space_in_a_token() -> Tokenizer:
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens([AddedToken("new york")])
    return tokenizer


def space_by_normalizer() -> Tokenizer:
    tokenizer = tiny_tokenizer()
    tokenizer.normalizer = Replace("a b", "c")
    return tokenizer


def space_kept() -> Tokenizer:
    tokenizer = tiny_tokenizer()
    tokenizer.normalizer = None
    tokenizer.pre_tokenizer = Metaspace()
    return tokenizer


@pytest.mark.parametrize("make", [spaces_that_count, space_in_a_token, space_by_normalizer, space_kept])
def test_other_tokenizers_read_whole_texts(make: object) -> None:
    assert callable(make)
    assert WordTokens.of(make(), "other") is None


def test_sentencepiece_is_looked_up_where_white_space_goes_first() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = Sequence([WhitespaceSplit(), Metaspace(prepend_scheme="always")])
    assert WordTokens.of(tokenizer, "unknown normaliser") is None
    tokenizer.normalizer = None
    assert WordTokens.of(tokenizer, "metaspace") is not None
    tokenizer.pre_tokenizer = Sequence([WhitespaceSplit(), Metaspace(prepend_scheme="first")])
    assert WordTokens.of(tokenizer, "metaspace in front alone") is None
    tokenizer.pre_tokenizer = BertPreTokenizer()
    assert WordTokens.of(tokenizer, "no normaliser") is not None


def test_a_prompt_counts(tmp_path: Path) -> None:
    from sce_desktop.ml.encoder.native import NativeEmbedder
    from tests.ml.tiny import tiny_sce_model

    embedder = tiny_sce_model().text_embedder
    assert isinstance(embedder, NativeEmbedder)
    embedder.prompt, embedder.max_tokens = "query: ", 6
    embedder.tokenizer.enable_truncation(6)
    some = ["late parcel", "the parcel was late and the box broken", ""]
    right = embedder.tokenizer.encode_batch([f"query: {text}" for text in some])
    assert [ids.tolist() for ids in embedder.token_ids(some)] == [one.ids for one in right]
    assert embedder.token_counts(some).tolist() == [
        len(one.ids) + sum(len(more.ids) - 2 for more in one.overflowing) for one in right
    ]


def test_few_words_do_not_wait_while_many_are_looked_up() -> None:
    tokens = WordTokens.of(tiny_tokenizer(), "tiny")
    assert tokens is not None
    known = tokens(ODD, 100)
    with tokens._lock:
        beside = tokens(ODD, 100)
    for name in ("ids", "starts", "sizes", "whole"):
        assert np.array_equal(getattr(beside, name), getattr(known, name))
