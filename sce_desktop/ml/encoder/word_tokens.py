"""Tokens of texts looked up word by word, where white space ends a token: the tokenizer's own, sooner.

Words come again, and a tokenizer takes as long each time. Here each word is tokenised once and its tokens lie
in one array; those of a text are gathered from there. A process does so about ten times as fast as its
tokenizer on one core, but under the interpreter's lock: several GPUs take several processes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from sce_desktop.core.giving_way import giving_way
from sce_desktop.ml.hub.tokenizer_check import encode

MOST_WORDS = 300_000
"""Words that are kept; beyond, all are forgotten."""
LONGEST_WORD = 40
"""Longer ones are not kept: they rarely come again."""
AT_ONCE = 2_000
"""Words, at most, that do not wait while another thread looks many up: the window asks for a few rows."""
_SPACES = "\n\t\r"
_FIRST = 1 << 16  # tokens that there is room for at first

TokenIds = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TokenRuns:
    """Tokens of texts behind one another: text i has ``ids[starts[i] : starts[i] + sizes[i]]``."""

    ids: TokenIds
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    whole: NDArray[np.int64]  # how many tokens each text would have if none were cut off

    def each(self) -> list[TokenIds]:
        """Return the tokens of each text."""
        ends = (self.starts + self.sizes).tolist()
        return [self.ids[start:end] for start, end in zip(self.starts.tolist(), ends, strict=True)]


class WordTokens:
    """The tokens that ``tokenizer`` makes of texts; use `of`, which knows for which ones that is right.

    Args:
        tokenizer: Its truncation does not matter here.
        name: Of the model, for errors.
        before: Special tokens in front of each text.
        behind: Those at its end.
    """

    def __init__(self, tokenizer: Tokenizer, name: str, before: Sequence[int], behind: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self._name = name
        self._before = np.array(before, np.int32)
        self._behind = np.array(behind, np.int32)
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}  # places in the next two by word
        self._starts = np.empty(_FIRST, np.int64)  # where its tokens begin
        self._sizes = np.empty(_FIRST, np.int64)  # and how many it has
        self._sizes_used = 0
        self._tokens = np.empty(_FIRST, np.int32)
        self._used = 0

    @classmethod
    def of(cls, tokenizer: Tokenizer, name: str) -> WordTokens | None:
        """Return what looks words up for ``tokenizer``; None: other words may change a word's tokens."""
        if not _ends_at_spaces(tokenizer):
            return None
        around, body = (tokenizer.encode("a", add_special_tokens=special).ids for special in (True, False))
        places = [at for at in range(len(around)) if around[at : at + len(body)] == body]
        if not body or len(places) != 1:
            return None
        return cls(tokenizer, name, around[: places[0]], around[places[0] + len(body) :])

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process knows no words yet: they would be most of what is sent."""
        return WordTokens, (self._tokenizer, self._name, self._before.tolist(), self._behind.tolist())

    @property
    def special(self) -> int:
        """How many special tokens each text has."""
        return len(self._before) + len(self._behind)

    def __call__(self, texts: Sequence[str], most: int, *, special: bool = True) -> TokenRuns:
        """Return the tokens of ``texts``, at most ``most`` of each, special ones included where wanted.

        Raises:
            UserError: The tokenizer gives up on a word.
        """
        split = [_words(text) for text in giving_way(texts)]
        words = list(chain.from_iterable(split))
        counts = np.fromiter(map(len, split), np.int64, len(split))
        if self._lock.acquire(blocking=len(words) > AT_ONCE):
            try:
                ids, sizes = self._looked_up(words)
            finally:
                self._lock.release()
        else:
            ids, sizes = self._tokenised(words)
        if not len(counts):
            none = np.empty(0, np.int64)
            return TokenRuns(ids, none, none, none)
        whole = np.add.reduceat(sizes, np.cumsum(counts) - counts)  # each text has a word at least
        before, behind = (self._before, self._behind) if special else (self._before[:0], self._behind[:0])
        around = len(before) + len(behind)
        return _joined(ids, whole, max(most - around, 0), before, behind)

    def _looked_up(self, words: list[str]) -> tuple[TokenIds, NDArray[np.int64]]:
        """Return the tokens of ``words`` behind one another, and how many each has."""
        if len(self._known) > MOST_WORDS:
            self._forget()
        known = self._known
        numbers = np.fromiter(map(known.get, words, repeat(-1)), np.int64, len(words))
        passing: list[str] = []
        mark = self._used, self._sizes_used
        if (missing := np.flatnonzero(numbers < 0)).size:
            new = dict.fromkeys(map(words.__getitem__, missing.tolist()))
            self._add([word for word in new if len(word) <= LONGEST_WORD])
            mark = self._used, self._sizes_used
            passing = [word for word in new if len(word) > LONGEST_WORD]
            self._add(passing)
            numbers[missing] = [known[words[place]] for place in missing.tolist()]
        sizes = self._sizes[numbers]
        ends = np.cumsum(sizes)
        at = np.repeat(self._starts[numbers] - ends + sizes, sizes)
        at += np.arange(len(at))
        found = self._tokens[at]
        for word in passing:
            del known[word]
        self._used, self._sizes_used = mark
        return found, sizes

    def _add(self, words: list[str]) -> None:
        """Tokenise ``words``."""
        if not words:
            return
        ids, sizes = self._tokenised(words)
        total, first = len(ids), self._sizes_used
        self._tokens = _with_room(self._tokens, self._used + total)
        self._starts, self._sizes = (
            _with_room(array, first + len(words)) for array in (self._starts, self._sizes)
        )
        self._tokens[self._used : self._used + total] = ids
        ours = slice(first, first + len(words))
        self._sizes[ours] = sizes
        self._starts[ours] = self._used + np.cumsum(sizes) - sizes
        self._known |= zip(words, range(first, first + len(words)), strict=True)
        self._used += total
        self._sizes_used += len(words)

    def _tokenised(self, words: list[str]) -> tuple[TokenIds, NDArray[np.int64]]:
        """Return what `_looked_up` does, by the tokenizer alone."""
        tokens = [
            list(chain(one.ids, *(piece.ids for piece in one.overflowing))) if one.overflowing else one.ids
            for one in encode(self._tokenizer, words, self._name, special=False)
        ]
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
        return np.fromiter(chain.from_iterable(tokens), np.int32, int(sizes.sum())), sizes

    def _forget(self) -> None:
        self._known = {}
        self._sizes_used = self._used = 0


def _words(text: str) -> list[str]:
    """Return what stands between spaces; other white space stays, since tokenizers differ in what that is."""
    for sign in _SPACES:
        if sign in text:
            text = text.replace(sign, " ")
    return text.split(" ")


def _joined(
    ids: TokenIds, whole: NDArray[np.int64], most: int, before: TokenIds, behind: TokenIds
) -> TokenRuns:
    """Return the first ``most`` tokens of each text with ``before`` and ``behind`` around them."""
    around = len(before) + len(behind)
    sizes = np.minimum(whole, most)
    if (sizes < whole).any():
        place = np.arange(len(ids)) - np.repeat(np.cumsum(whole) - whole, whole)
        ids = ids[place < most]
    if not around:
        return TokenRuns(ids, np.cumsum(sizes) - sizes, sizes, whole)
    ends = np.cumsum(sizes + around)
    starts = ends - sizes - around
    out = np.empty(int(ends[-1]), np.int32)
    shift = np.repeat(np.arange(len(sizes)) * around + len(before), sizes)
    out[shift + np.arange(len(ids))] = ids
    for turn, token in enumerate(before):
        out[starts + turn] = token
    for turn, token in enumerate(behind, start=-len(behind)):
        out[ends + turn] = token
    return TokenRuns(out, starts, sizes + around, whole + around)


def _with_room(array: NDArray[Any], size: int) -> NDArray[Any]:
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


def _ends_at_spaces(tokenizer: Tokenizer) -> bool:
    """Whether a space ends a token, and is none: then no word changes the tokens of another.

    So it is with BERT's words, and with SentencePiece's where white space is taken off first. A normaliser
    looks at signs one by one, or composes letters with marks, which a space keeps apart too.
    """
    normalizer, splitting = _described(tokenizer.normalizer), _described(tokenizer.pre_tokenizer)
    if any(" " in added.content for added in tokenizer.get_added_tokens_decoder().values()):
        return False
    if splitting == {"type": "BertPreTokenizer"}:
        return normalizer.get("type") in (None, "BertNormalizer")
    parts = splitting.get("pretokenizers") or [{}]
    if splitting.get("type") != "Sequence" or len(parts) != 2 or parts[0] != {"type": "WhitespaceSplit"}:
        return False
    pieces = parts[1].get("type"), parts[1].get("prepend_scheme"), parts[1].get("split")
    steps = normalizer.get("normalizers", [normalizer] if normalizer else [])
    return pieces == ("Metaspace", "always", True) and all(map(_is_local, steps))


def _is_local(step: dict[str, Any]) -> bool:
    if step.get("type") == "Replace":
        pattern, sign = step["pattern"], step["pattern"].get("String", "")
        return pattern == {"Regex": " {2,}"} or (len(sign) == 1 and " " not in sign + step["content"])
    return step.get("type") in ("Nmt", "NFKC", "NFC", "NFKD", "NFD", "Lowercase")


def _described(part: Any) -> dict[str, Any]:
    return {} if part is None else dict(json.loads(part.__getstate__()))
