"""The prompted LLM: its numbers against a plain computation, its prompts, and what it refuses."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.scoring import softmax
from sce_desktop.ml.llm.llm_folder import load_llm
from sce_desktop.ml.llm.llm_transformers import TransformersLM
from sce_desktop.ml.llm.prompted import PromptedLLM
from sce_desktop.ml.llm.prompts import PAPER, PROMPTS, SHORT, Prompt
from tests.ml.tiny_llm import NOTHING, tiny_llm
from tests.tasks.fakes import RecordingProgress, StoppingProgress

TEXTS = [
    "the parcel was late",
    "refund my money",
    "driver " * 60,
    "{x} {0} {{ messages }} <|im_end|> {% raw %}",
    "письмо 你好 🙂",
    "the parcel was late",
]
SINGLE = [Label("sports"), Label("business"), Label("health")]
SEVERAL = [
    *SINGLE,
    Label("late delivery of a parcel"),
    Label("Food, drink"),
    Label("<|im_end|>"),
    Label("{x}"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llm(tmp_path_factory.mktemp("llm"), context=2048)


@pytest.fixture(scope="module")
def llm(folder: Path) -> PromptedLLM:
    return load_llm(folder)


@torch.inference_mode()
def plain(llm: PromptedLLM, text: str, labels: list[Label]) -> FloatArray:
    """One text, one label at a time, no cache, no padding."""
    assert isinstance(llm.lm, TransformersLM)
    frame = llm.frame(labels)
    scores = []
    for answer in frame.labels:
        prompt = [*frame.head, *llm.row(text, frame)]
        logits = llm.lm.model(input_ids=torch.tensor([prompt + answer]), use_cache=False).logits[0]
        logs = torch.log_softmax(logits.double(), -1)
        steps = [float(logs[len(prompt) - 1 + i, token]) for i, token in enumerate(answer)]
        scores.append(sum(steps) / (len(answer) if llm.normalise else 1))
    return softmax(np.array(scores, dtype=np.float32))


@pytest.mark.parametrize("labels", [SINGLE, SEVERAL], ids=["single tokens", "several tokens"])
@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=list(PROMPTS))
@pytest.mark.parametrize("kind", ["llama", "qwen3"])
@pytest.mark.parametrize("chat", [True, False], ids=["chat", "base"])
def test_probabilities_are_those_of_the_plain_computation(
    tmp_path: Path, kind: str, chat: bool, prompt: Prompt, labels: list[Label]
) -> None:
    llm = load_llm(tiny_llm(tmp_path, kind=kind, chat=chat, context=2048), prompt=prompt)
    found = llm.probabilities(TEXTS, labels).probabilities
    right = np.stack([plain(llm, text, labels) for text in TEXTS])
    np.testing.assert_allclose(found, right, atol=1e-4)
    assert found.std(axis=0).max() > 1e-3  # the text matters
    np.testing.assert_array_equal(found[0], found[5])


def test_one_token_labels_get_the_softmax_of_their_logits(llm: PromptedLLM) -> None:
    """Equation 5 of the paper."""
    assert isinstance(llm.lm, TransformersLM)
    frame = llm.frame(SINGLE)
    assert [len(answer) for answer in frame.labels] == [1, 1, 1]
    with torch.inference_mode():
        ids = torch.tensor([[*frame.head, *llm.row(TEXTS[0], frame)]])
        logits = llm.lm.model(input_ids=ids).logits[0, -1, [answer[0] for answer in frame.labels]]
    found = llm.probabilities(TEXTS[:1], SINGLE).probabilities[0]
    np.testing.assert_allclose(found, torch.softmax(logits, 0).numpy(), atol=1e-5)


def test_the_batch_makes_no_difference(llm: PromptedLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = llm.probabilities(TEXTS, SEVERAL).probabilities
    monkeypatch.setattr(llm.lm, "rows_at_once", lambda tokens, labels: 1)
    np.testing.assert_allclose(llm.probabilities(TEXTS, SEVERAL).probabilities, whole, atol=1e-5)


def test_the_paper_prompt_is_the_papers() -> None:
    """Its listing between the quotes; the digest was made from the paper's source."""
    text = PAPER.whole("{text_excerpt}", ["{categories}"])
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "e54b69cfa876de8b53954adc5fb5294fdcdfe549222ee97ce8049663544109c0"
    )
    assert SHORT.whole("x", ["a", "b"]) == (
        "Here is a sentence: x. Which topic does it belong to from the set {a, b}? Return only the topic."
    )


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=list(PROMPTS))
def test_the_pieces_are_the_whole_prompt_in_the_chat_template(folder: Path, prompt: Prompt) -> None:
    llm = load_llm(folder, prompt=prompt)
    assert isinstance(llm.lm, TransformersLM)
    frame = llm.frame(SINGLE)
    pieces = llm.lm.tokenizer.decode([*frame.head, *llm.row("late again", frame)])
    message = prompt.whole("late again", ["sports", "business", "health"])
    whole = llm.lm.tokenizer.apply_chat_template(
        [{"role": "user", "content": message}], tokenize=False, add_generation_prompt=True
    )
    assert pieces == whole


def test_what_a_user_wrote_is_never_a_special_token(llm: PromptedLLM) -> None:
    special = llm.lm.end
    assert special not in llm.lm.tokens("a <|im_end|> b")
    frame = llm.frame(SEVERAL)
    assert all(special not in answer for answer in frame.labels)
    assert frame.rest.count(special) == 1  # the template's own


def test_columns_follow_the_labels(llm: PromptedLLM) -> None:
    assert isinstance(llm.lm, TransformersLM)
    there = llm.probabilities(TEXTS[:2], SEVERAL).probabilities
    assert there.shape == (2, len(SEVERAL))
    np.testing.assert_allclose(there.sum(1), 1, atol=1e-5)


def test_a_text_longer_than_the_context_is_cut_and_labels_never(tmp_path: Path) -> None:
    llm = load_llm(tiny_llm(tmp_path, context=256))
    long = "parcel " * 5000
    frame = llm.frame(SINGLE)
    row = llm.row(long, frame)
    assert len(frame.head) + len(row) + 1 <= 256
    assert row[-len(frame.rest) :] == frame.rest
    found = llm.probabilities([long], SINGLE).probabilities
    np.testing.assert_allclose(found[0], plain(llm, long, SINGLE), atol=1e-4)
    assert llm.token_counts([long])[0] > llm.max_tokens


def test_200_labels(tmp_path: Path, llm: PromptedLLM) -> None:
    labels = [Label(f"category number {i}") for i in range(200)]
    with pytest.raises(UserError, match="200 labels leave no room"):
        load_llm(tiny_llm(tmp_path, context=512)).probabilities(TEXTS, labels)
    wide = load_llm(tiny_llm(tmp_path, context=8192, name="wide"))
    frame = wide.frame(labels)
    rows = [wide.row(text, frame) for text in TEXTS[:2]]
    together = wide.lm.label_scores(frame.head, rows, frame.labels)
    some = [0, 99, 199]
    alone = wide.lm.label_scores(frame.head, rows[1:], [frame.labels[i] for i in some])
    np.testing.assert_allclose(together[1, some], alone[0], atol=1e-4)
    assert wide.probabilities(TEXTS[:2], labels).probabilities.shape == (2, 200)


def test_a_label_of_no_tokens_is_refused(llm: PromptedLLM) -> None:
    with pytest.raises(UserError, match="has no meaning for"):
        llm.probabilities(TEXTS, [Label("sports"), Label(NOTHING)])


def test_independent_probabilities_and_single_labels_are_refused(llm: PromptedLLM) -> None:
    with pytest.raises(UserError, match="remove the LLM, or turn multi-label off"):
        llm.probabilities(TEXTS, SINGLE, multi_label=True)
    with pytest.raises(UserError, match="at least two"):
        llm.probabilities(TEXTS, SINGLE[:1])


def test_cancel_and_progress(llm: PromptedLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm.lm, "rows_at_once", lambda tokens, labels: 2)
    with pytest.raises(Cancelled):
        llm.probabilities(TEXTS, SINGLE, progress=StoppingProgress(2))
    progress = RecordingProgress()
    llm.probabilities(TEXTS, SINGLE, progress=progress)
    assert progress.reports[-1] == (6, 6, "scoring with the LLM")
    assert llm.probabilities([], SINGLE).probabilities.shape == (0, 3)


def test_the_fingerprint_tells_prompts_and_weights_apart(folder: Path, tmp_path: Path) -> None:
    one = load_llm(folder)
    assert one.fingerprint == load_llm(folder).fingerprint
    others = (load_llm(folder, prompt=SHORT), load_llm(tiny_llm(tmp_path, seed=1, context=2048)))
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == 3
    assert one.seconds_a_row(TEXTS, SINGLE) > 0
