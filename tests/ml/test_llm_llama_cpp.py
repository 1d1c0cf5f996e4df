"""llama.cpp as a back end: its numbers are those of a plain computation, its cache is shared and forgotten.

The real library where it is installed; everywhere a stand-in for the part of its interface that is used.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.ml.llm import llm_folder, llm_llama_cpp
from sce_desktop.ml.llm.llm_folder import load_llm
from sce_desktop.ml.llm.llm_llama_cpp import (
    LABEL_TOKENS,
    SEQUENCES,
    LlamaCppLM,
    llama_cpp_here,
    load_llama_cpp,
)
from sce_desktop.ml.llm.llm_transformers import load_lm
from sce_desktop.ml.llm.prompted import PromptedLLM
from tests.ml.tiny_llm import NOTHING, tiny_gguf
from tests.tasks.fakes import StoppingProgress

TEXTS = ["the parcel was late", "refund my money {x} <|im_end|>", "driver " * 60, "письмо 你好 🙂"]
REAL_TEXTS = [
    "The match ended three to one after a late goal by the home team.",
    "Shares fell as the bank reported a loss for the third quarter.",
    "Scientists found a new planet {x} <|im_end|> orbiting a distant star.",
    "письмо 你好 🙂 late",
    "The parcel never arrived and nobody answers the phone. " * 12,
]
LABELS = [Label("sports"), Label("business"), Label("late delivery of a parcel"), Label("<|im_end|>")]
real = pytest.mark.skipif(not llama_cpp_here(), reason="llama-cpp-python is not installed")


# --- the real library --------------------------------------------------------------------------------------


@real
@pytest.mark.parametrize("chat", [True, False], ids=["chat", "base"])
def test_it_says_what_transformers_says_of_the_same_file(tmp_path: Path, chat: bool) -> None:
    gguf, _ = tiny_gguf(tmp_path / "модели 1", context=1024, chat=chat)
    ours, theirs = load_llm(gguf.parent), PromptedLLM(load_lm(gguf.parent))
    assert isinstance(ours.lm, LlamaCppLM)
    many = [*LABELS, *(Label(f"parcel number {i}") for i in range(SEQUENCES + 20))]
    for labels in (LABELS[:2], LABELS, many):
        mine, right = ours.frame(labels), theirs.frame(labels)
        assert (mine.head, mine.rest, mine.labels) == (right.head, right.rest, right.labels)
        assert [ours.row(text, mine) for text in TEXTS] == [theirs.row(text, right) for text in TEXTS]
        found = ours.probabilities(TEXTS, labels).probabilities
        np.testing.assert_allclose(found, theirs.probabilities(TEXTS, labels).probabilities, atol=2e-3)
        assert found.std(axis=0).max() > 1e-3  # the text matters
    assert ours.fingerprint != theirs.fingerprint


@real
def test_what_was_computed_before_makes_no_difference(tmp_path: Path) -> None:
    llm = load_llm(tiny_gguf(tmp_path / "in", context=1024)[0].parent)
    alone = llm.probabilities(TEXTS[3:], LABELS).probabilities[0]
    llm.probabilities(TEXTS, LABELS[:2])  # another head, other labels
    together = llm.probabilities(TEXTS, LABELS).probabilities
    np.testing.assert_allclose(together[3], alone, atol=1e-6)
    with pytest.raises(Cancelled):
        llm.probabilities(TEXTS, LABELS, progress=StoppingProgress(2))
    np.testing.assert_allclose(llm.probabilities(TEXTS, LABELS).probabilities, together, atol=1e-6)


@real
def test_bad_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gguf, _ = tiny_gguf(tmp_path / "cut")
    whole = gguf.read_bytes()
    for broken in (whole[: len(whole) // 2], whole[:200], b"GGUF", b"", b"\x80\x04cos\nsystem\n"):
        gguf.write_bytes(broken)
        with pytest.raises(UserError, match="cannot be loaded as a language model"):
            load_llm(gguf.parent)
    other, _ = tiny_gguf(tmp_path / "other", architecture="marvin")
    with pytest.raises(UserError, match="of an architecture that"):
        load_llm(other.parent)
    (other.parent / "second.gguf").write_bytes(b"GGUF")
    with pytest.raises(UserError, match="keep one of them"):
        load_llm(other.parent)
    assert capfd.readouterr() == ("", "")  # its log goes nowhere


@real
def test_labels_and_texts_that_do_not_fit(tmp_path: Path) -> None:
    llm = load_llm(tiny_gguf(tmp_path / "in", context=256)[0].parent)
    with pytest.raises(UserError, match="200 labels leave no room"):
        llm.probabilities(TEXTS, [Label(f"category number {i}") for i in range(200)])
    long = llm.probabilities(["parcel " * 5000], LABELS[:2]).probabilities
    np.testing.assert_allclose(long.sum(1), 1, atol=1e-5)
    assert llm.lm.tokens("") == []
    if not llm.lm.tokens(NOTHING):
        with pytest.raises(UserError, match="has no meaning for"):
            llm.probabilities(TEXTS, [Label("sports"), Label(NOTHING)])


@real
@pytest.mark.hub
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_real_quantised_file(hub_models: Path, tmp_path: Path) -> None:
    """SmolLM2-135M-Instruct as Q4_1, and the folder that `models get` makes of the same file.

    llama.cpp multiplies with the blocks as they are, transformers with what they unpack to.
    """
    from sce_desktop.ml.llm.llm_gguf import convert_gguf

    gguf = next(hub_models.rglob("SmolLM2-135M-Instruct.Q4_1.gguf"))
    convert_gguf(gguf, tmp_path / "unpacked", licence="apache-2.0", source="test")
    ours, theirs = load_llm(gguf.parent), load_llm(tmp_path / "unpacked")
    most = 0.0
    for labels in (
        [Label(name) for name in ("World", "Sports", "Business", "Science and technology")],
        [Label("sports"), Label("business")],
        [Label(f"category number {i}") for i in range(60)],
    ):
        assert ours.frame(labels) == theirs.frame(labels)
        found = ours.probabilities(REAL_TEXTS, labels).probabilities
        right = theirs.probabilities(REAL_TEXTS, labels).probabilities
        np.testing.assert_array_equal(found.argmax(1), right.argmax(1))
        most = max(most, float(np.abs(found - right).max()))
    print(f"{len(REAL_TEXTS)} texts: probabilities apart by at most {most:.4f}")
    assert most < 0.03


# --- a stand-in for its interface --------------------------------------------------------------------------


class Slots:
    """An array of C's: as long as it must be, and keeping what is put there."""

    def __init__(self) -> None:
        self.kept: dict[int, Any] = {}

    def __setitem__(self, place: int, value: Any) -> None:
        self.kept[place] = value

    def __getitem__(self, place: int) -> Any:
        return self.kept.setdefault(place, Slots())


class FakeLlamaCpp:
    """A "model" whose logits come of the whole history of a sequence; cells as llama.cpp keeps them."""

    VOCAB = 97
    llama_token = ctypes.c_int32

    def __init__(self) -> None:
        self.cells: list[tuple[set[int], int, int]] = []  # sequences, position, token
        self.decoded = 0
        self.freed: list[str] = []
        self.most = 0

    def __getattr__(self, name: str) -> Any:
        constants = {
            "llama_model_load_from_file": "model",
            "llama_init_from_model": "context",
            "llama_model_has_decoder": True,
            "llama_model_n_ctx_train": 2048,
            "llama_vocab_n_tokens": self.VOCAB,
            "llama_vocab_eos": 2,
            "llama_vocab_bos": 1,
            "llama_vocab_get_add_bos": True,
            "llama_model_chat_template": None,
            "llama_model_meta_val_str": -1,
            "llama_supports_gpu_offload": False,
        }
        if name.endswith("_free"):
            return lambda *_: self.freed.append(name)
        if name.endswith("_params"):
            return SimpleNamespace
        return lambda *_: constants.get(name)

    def llama_log_callback(self, function: Any) -> Any:
        return function

    def llama_tokenize(self, _v: Any, data: bytes, _n: int, room: Any, _m: int, _b: bool, _s: bool) -> int:
        words = data.split()
        for i, word in enumerate(words):
            room[i] = 3 + int(hashlib.md5(word).hexdigest(), 16) % (self.VOCAB - 3)
        return len(words)

    def llama_batch_init(self, *_: Any) -> Any:
        names = ("token", "pos", "n_seq_id", "seq_id", "logits")
        return SimpleNamespace(n_tokens=0, **{name: Slots() for name in names})

    def llama_memory_clear(self, *_: Any) -> None:
        self.cells.clear()

    def llama_memory_seq_rm(self, _m: Any, sequence: int, start: int, _end: int) -> bool:
        for sequences, position, _ in self.cells:
            if position >= start:
                sequences.discard(sequence)
        self.cells = [cell for cell in self.cells if cell[0]]
        return True

    def llama_memory_seq_cp(self, _m: Any, source: int, target: int, *_: Any) -> None:
        for sequences, _, _ in self.cells:
            if source in sequences:
                sequences.add(target)

    def history(self, sequence: int) -> list[int]:
        here = sorted((position, token) for sequences, position, token in self.cells if sequence in sequences)
        assert [position for position, _ in here] == list(range(len(here)))  # none twice, none left out
        return [token for _, token in here]

    def llama_decode(self, _c: Any, batch: Any) -> int:
        assert batch.n_tokens <= llm_llama_cpp.BATCH
        self.logits: dict[int, FloatArray] = {}
        for i in range(batch.n_tokens):
            sequence = batch.seq_id[i][0]
            assert 0 <= sequence < SEQUENCES
            self.cells.append(({sequence}, batch.pos[i], batch.token[i]))
            self.most = max(self.most, len(self.cells))
            self.decoded += 1
            if batch.logits[i]:
                self.logits[i] = drawn_logits(self.history(sequence))
        return 0

    def llama_get_logits_ith(self, _c: Any, place: int) -> Any:
        self.pointed = np.ascontiguousarray(self.logits[place])
        return self.pointed.ctypes.data_as(ctypes.POINTER(ctypes.c_float))


def drawn_logits(history: list[int]) -> FloatArray:
    seed = int(hashlib.md5(repr(history).encode()).hexdigest()[:8], 16)
    return 3 * np.random.default_rng(seed).standard_normal(FakeLlamaCpp.VOCAB).astype(np.float32)


def plain(head: list[int], row: list[int], label: list[int]) -> float:
    found = 0.0
    for i, token in enumerate(label):
        logs = torch.log_softmax(torch.from_numpy(drawn_logits([*head, *row, *label[:i]])), 0)
        found += float(logs[token])
    return found


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLlamaCpp:
    library = FakeLlamaCpp()
    monkeypatch.setitem(sys.modules, "llama_cpp", library)  # type: ignore[arg-type]
    monkeypatch.setattr(llm_llama_cpp, "_kept", [])
    return library


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "gguf").mkdir()
    (tmp_path / "gguf" / "x.gguf").write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    return tmp_path / "gguf" / "x.gguf"


def test_sums_of_log_probabilities_and_a_head_computed_once(library: FakeLlamaCpp, file: Path) -> None:
    lm = load_llama_cpp(file)
    random = np.random.default_rng(0)

    def words(count: int) -> list[int]:
        return [int(token) for token in random.integers(3, 90, count)]

    head, rows = words(700), [words(20), words(520), words(3)]
    labels = [words(1), *(words(1 + i % 7) for i in range(2 * SEQUENCES)), words(LABEL_TOKENS // 2)]
    found = lm.label_scores(head, rows, labels)
    right = [[plain(head, row, label) for label in labels] for row in rows]
    np.testing.assert_allclose(found, right, rtol=1e-4)
    each = sum(len(label) - 1 for label in labels)
    assert library.decoded == len(head) + sum(map(len, rows)) + len(rows) * each
    before = library.decoded
    other = words(5)
    np.testing.assert_allclose(
        lm.label_scores(other, rows[:1], labels[:1]), [[plain(other, rows[0], labels[0])]]
    )
    assert library.decoded == before + len(other) + len(rows[0])


def test_the_cache_holds_a_prompt_as_long_as_the_context_and_its_labels(
    library: FakeLlamaCpp, file: Path
) -> None:
    llm = PromptedLLM(load_llama_cpp(file))
    labels = [Label(" ".join(f"w{i}x{j}" for j in range(1 + i % 5))) for i in range(150)]
    found = llm.probabilities(["late " * 5000], labels).probabilities
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)
    assert library.most <= llm.lm.context + LABEL_TOKENS


def test_it_is_taken_for_gguf_files_where_it_is_installed(
    library: FakeLlamaCpp, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_folder, "llama_cpp_here", lambda: True)
    llm = load_llm(file.parent)
    assert isinstance(llm.lm, LlamaCppLM)
    assert ":llama.cpp:" in llm.lm.key
    assert llm.lm.start == [1]
    assert llm.lm.rows_at_once(10, []) == 1
    del llm
    assert library.freed == ["llama_batch_free", "llama_free", "llama_model_free"]
    monkeypatch.setattr(llm_folder, "llama_cpp_here", lambda: False)
    with pytest.raises(UserError, match="cannot be loaded as a language model"):
        load_llm(file.parent)  # by transformers, which looks into the file


def test_what_cannot_be_loaded_is_freed(
    library: FakeLlamaCpp, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "llama_init_from_model", lambda *_: None, raising=False)
    with pytest.raises(UserError, match="not enough memory"):
        load_llama_cpp(file)
    assert library.freed == ["llama_model_free"]
    monkeypatch.setattr(library, "llama_model_has_decoder", lambda *_: False, raising=False)
    with pytest.raises(UserError, match="not a language model"):
        load_llama_cpp(file)
    monkeypatch.setattr(library, "llama_decode", lambda *_: 1)
    monkeypatch.setattr(library, "llama_model_has_decoder", lambda *_: True, raising=False)
    monkeypatch.setattr(library, "llama_init_from_model", lambda *_: "context", raising=False)
    with pytest.raises(UserError, match="not enough memory for gguf"):
        load_llama_cpp(file).label_scores([4], [[5]], [[6]])
