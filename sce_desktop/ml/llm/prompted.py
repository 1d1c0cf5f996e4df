"""The prompted LLM: a label's probability is how readily a causal language model answers with it.

As in the paper (arXiv 2601.03450, equation 5): one forward pass a text, the logits of the label tokens,
softmax over the labels. Beyond it, for labels of several tokens: s_k is the mean log-probability of the
label's tokens, which for a single token is the same thing. User text and labels are tokenised by themselves,
so that nothing in them can become a template or a special token.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.labels import check_scorable
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import ModelKind, Scores, VectorCache
from sce_desktop.core.scoring import softmax
from sce_desktop.ml.encoder.embedder import digest, in_halves, readable, windows
from sce_desktop.ml.hub.bounds import check_probabilities
from sce_desktop.ml.llm.prompts import PAPER, Prompt

TEXT_TOKENS = 512
"""A text is read this far; the paper's are 75 tokens on average."""
LEAST_TEXT_TOKENS = 16
Tokens = list[int]


class LanguageModel(Protocol):
    """A causal language model as a back end gives it."""

    name: str
    context: int  # tokens that prompt and answer may have together
    start: Tokens  # what a prompt begins with where no chat template says so
    end: int  # the token that ends an answer

    @property
    def key(self) -> str:
        """Name and hash of weights and tokenizer."""

    def chat(self) -> tuple[str, str]:
        """Return what the chat template puts before and after a user's message; empty for a base model."""

    def tokens(self, text: str, *, special: bool = False) -> Tokens:
        """Return the tokens of ``text``; names of special tokens in it are plain text unless ``special``."""

    def rows_at_once(self, tokens: int, labels: Sequence[Tokens]) -> int:
        """Return how many prompts of ``tokens`` tokens fit one batch."""

    def label_scores(self, head: Tokens, rows: Sequence[Tokens], labels: Sequence[Tokens]) -> FloatArray:
        """Return the log-probability (n, K) of every label after ``head`` and each row: its tokens' sum."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A prompt around a text in tokens: what stands before it, what follows it, and the possible answers."""

    head: Tokens
    rest: Tokens
    labels: tuple[Tokens, ...]
    room: int  # tokens that a text may have


def make_frame(lm: LanguageModel, prompt: Prompt, labels: Sequence[Label], most: int) -> Frame:
    """Return the frame of ``labels``; the text is cut to what they leave, the labels never.

    Raises:
        UserError: A label has no tokens, or the labels leave no room for a text.
    """
    before, after = lm.chat()
    names = [readable(label.name) for label in labels]
    answers = tuple(lm.tokens(name) for name in names)
    for name, tokens in zip(names, answers, strict=True):
        if not tokens:
            raise UserError(
                _(
                    "The label “{name}” has no meaning for {model}: give it another name.",
                    name=name,
                    model=lm.name,
                )
            )
    head = lm.start + lm.tokens(before + prompt.before, special=True)
    rest = lm.tokens(prompt.rest(names)) + lm.tokens(after or "\n", special=True)
    room = lm.context - len(head) - len(rest) - max(map(len, answers)) - 1
    if room < LEAST_TEXT_TOKENS:
        raise UserError(
            _(
                "The {count} labels leave no room for a text in the {context} tokens that {model} reads: use"
                " fewer or shorter labels.",
                count=number(len(names)),
                context=number(lm.context),
                model=lm.name,
            )
        )
    return Frame(head, rest, answers, min(room, most))


class PromptedLLM:
    """A `core.runs.TextModel` of kind "llm". Label names alone count, not synonyms or descriptions.

    Args:
        lm: The language model.
        name: What people call it.
        prompt: One of `ml.llm.prompts.PROMPTS`.
        max_tokens: How far a text is read at most.
        labels: Those it was fine-tuned on.
        normalise: Divide a label's log-probability by its tokens, so that long labels stand a chance. A
            model that was trained on the labels knows their length already.
    """

    kind: ClassVar[ModelKind] = "llm"

    def __init__(
        self,
        lm: LanguageModel,
        name: str = "",
        *,
        prompt: Prompt = PAPER,
        max_tokens: int = TEXT_TOKENS,
        labels: tuple[Label, ...] = (),
        normalise: bool = True,
    ) -> None:
        self.lm = lm
        self.name = name or lm.name
        self.prompt = prompt
        self.labels = labels
        self.normalise = normalise
        self.max_tokens = min(max_tokens, lm.context)
        self._frame: tuple[tuple[str, ...], Frame] | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the weights, the prompt and what is done with them."""
        prompt = (self.prompt.before, self.prompt.lead, self.prompt.between, self.prompt.after)
        return f"llm:{digest((), self.lm.key, prompt, self.lm.chat(), self.max_tokens, self.normalise)}"

    def frame(self, labels: Sequence[Label]) -> Frame:
        """Return the prompt around a text. Raises UserError as `make_frame`."""
        names = tuple(label.name for label in labels)
        if self._frame is None or self._frame[0] != names:
            self._frame = names, make_frame(self.lm, self.prompt, labels, self.max_tokens)
        return self._frame[1]

    def token_counts(self, texts: Sequence[str]) -> IdArray:
        """Return how many tokens each text has (n,)."""
        return np.array([len(self.lm.tokens(readable(text))) for text in texts], dtype=np.int64)

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Score non-blank ``texts`` against ``labels``; `Progress.check` is called every batch.

        Raises:
            UserError: Independent probabilities are asked for, which a prompt for one answer has not, or
                the labels do not fit.
        """
        if multi_label:
            raise UserError(
                _(
                    "{model} predicts one label per row: remove the LLM, or turn multi-label off.",
                    model=self.name,
                )
            )
        check_scorable(labels, least=2)
        frame = self.frame(labels)
        distinct = list(dict.fromkeys(texts))
        place = {text: i for i, text in enumerate(distinct)}
        out = np.empty((len(distinct), len(labels)), dtype=np.float32)
        lengths = np.array([len(label) if self.normalise else 1 for label in frame.labels], dtype=np.float32)
        done = 0
        for places, rows in self._batches(distinct, frame):
            scores = in_halves(lambda part: self.lm.label_scores(frame.head, part, frame.labels), rows)
            out[places] = softmax(scores / lengths)
            done += len(rows)
            if progress is not None:
                progress.report(
                    len(texts) * done // len(distinct), len(texts), stage=_("scoring with the LLM")
                )
                progress.check()
        check_probabilities(out, self.name)
        return Scores(out[[place[text] for text in texts]])

    def _batches(self, texts: Sequence[str], frame: Frame) -> Iterator[tuple[IdArray, list[Tokens]]]:
        """Yield places and token rows (text and rest), longest first within each window."""
        for start, window in windows(texts):
            rows = [self.row(text, frame) for text in window]
            order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
            at = 0
            while at < len(order):
                most = self.lm.rows_at_once(len(frame.head) + len(rows[order[at]]), frame.labels)
                batch = order[at : at + most]
                at += len(batch)
                yield np.array(batch, dtype=np.int64) + start, [rows[i] for i in batch]

    def row(self, text: str, frame: Frame) -> Tokens:
        """Return what follows the head: ``text``, cut to fit, and the rest of the prompt."""
        return self.lm.tokens(self.prompt.lead + readable(text))[: frame.room] + frame.rest

    def seconds_a_row(self, texts: Sequence[str], labels: Sequence[Label]) -> float:
        """Return the seconds that one text takes, from a trial on a few of ``texts``."""
        some = sorted(texts, key=len)[len(texts) // 2 :][:2]
        self.probabilities(some[:1], labels)  # the first pass sets up buffers
        started = time.perf_counter()
        self.probabilities(some, labels)
        return (time.perf_counter() - started) / max(len(some), 1)
