"""Causal language models run by llama.cpp: GGUF files as they are, quantised, where its library is installed.

The same prompts and the same sums of log-probabilities as `llm_transformers`, through llama.cpp's C interface
(extra ``llama-cpp``). What stands before the text stays in sequence 0 of its cache and is computed once. The
tokens of labels that have several follow the prompt in sequences of their own, which share its cells, so that
they cost one pass together. Texts go one by one: a single one keeps the cores of a CPU busy.
"""

from __future__ import annotations

import ctypes
import importlib.util
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.encoder.embedder import digest
from sce_desktop.ml.hub import folders
from sce_desktop.ml.llm import templates
from sce_desktop.ml.llm.prompts import DATE, MESSAGE, around_message

CONTEXT = 8192
"""Tokens that prompt and answer may have at most: the cache is made for them at once."""
BATCH = 512
SEQUENCES = 64
LABEL_TOKENS = 512
"""Tokens of labels that one pass takes, beside those of the context."""
Tokens = list[int]
Place = tuple[int, int, int]
"""A token to compute: its sequence, its position, its number in the vocabulary."""


def llama_cpp_here() -> bool:
    """Whether llama.cpp's library is installed."""
    return importlib.util.find_spec("llama_cpp") is not None


def load_llama_cpp(gguf: Path, *, name: str = "", device: str | torch.device = "cpu") -> LlamaCppLM:
    """Load a GGUF file.

    Raises:
        UserError: It is missing, cut, of an architecture that llama.cpp does not know, or no language model.
    """
    name = name or gguf.parent.name
    key = f"{name}:llama.cpp:{digest((), folders.known_sha256(gguf))[:32]}"
    return LlamaCppLM(gguf, name=name, key=key, gpu=torch.device(device).type != "cpu")


class LlamaCppLM:
    """A `ml.llm.prompted.LanguageModel` over a GGUF file. Belongs to one thread.

    Args:
        gguf: The file.
        name: What people call it.
        key: Hash of the file, and that llama.cpp runs it: its numbers are not those of transformers.
        gpu: Lay all layers onto a GPU, if the library was built for one.

    Raises:
        UserError: It cannot be loaded.
    """

    def __init__(self, gguf: Path, *, name: str, key: str, gpu: bool = False) -> None:
        import llama_cpp

        self._lib: Any = llama_cpp
        self.name, self.key = name, key
        llama_cpp.llama_log_set(_silent(llama_cpp), ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        options = llama_cpp.llama_model_default_params()
        options.n_gpu_layers = 999 if gpu and llama_cpp.llama_supports_gpu_offload() else 0
        model = llama_cpp.llama_model_load_from_file(str(gguf).encode(), options)
        if not model:
            raise UserError(
                _(
                    "{file} cannot be loaded as a language model: it is cut, damaged or of an architecture "
                    "that llama.cpp does not know.",
                    file=gguf,
                )
            )
        self._model = model
        self._closer = weakref.finalize(self, _free, llama_cpp, model)
        kind = self._fact("general.architecture")
        if not llama_cpp.llama_model_has_decoder(model) or self._fact(f"{kind}.attention.causal") == "false":
            raise UserError(
                _(
                    "{file} holds a model of type “{kind}”, not a language model: choose another.",
                    file=gguf,
                    kind=kind,
                )
            )
        self._vocab = llama_cpp.llama_model_get_vocab(model)
        self._size = int(llama_cpp.llama_vocab_n_tokens(self._vocab))
        self.context = min(int(llama_cpp.llama_model_n_ctx_train(model)), CONTEXT)
        self._open()
        self.end = int(llama_cpp.llama_vocab_eos(self._vocab))
        first = int(llama_cpp.llama_vocab_bos(self._vocab))
        self.start = [] if self._template or not llama_cpp.llama_vocab_get_add_bos(self._vocab) else [first]
        self._head: Tokens = []

    def _open(self) -> None:
        """Make the cache for the context and the labels after it."""
        lib = self._lib
        options = lib.llama_context_default_params()
        options.n_ctx = self.context + LABEL_TOKENS
        options.n_batch = options.n_ubatch = BATCH
        options.n_seq_max = SEQUENCES
        options.kv_unified = True  # sequences share cells
        options.n_threads = options.n_threads_batch = torch.get_num_threads()
        options.no_perf = True
        context = lib.llama_init_from_model(self._model, options)
        if not context:
            raise UserError(
                _("There is not enough memory for {model}: choose a smaller model.", model=self.name)
            )
        self._context = context
        self._memory = lib.llama_get_memory(context)
        self._batch = lib.llama_batch_init(BATCH, 0, 1)
        self._closer.detach()
        self._closer = weakref.finalize(self, _free, lib, self._model, context, self._batch)

    def _fact(self, name: str) -> str:
        """Return what the file says about itself; empty where it does not."""
        room = ctypes.create_string_buffer(256)
        found = self._lib.llama_model_meta_val_str(self._model, name.encode(), room, len(room))
        return room.value.decode("utf-8", "replace") if found >= 0 else ""

    # --- text ----------------------------------------------------------------------------------------------

    @cached_property
    def _template(self) -> str:
        return (self._lib.llama_model_chat_template(self._model, None) or b"").decode("utf-8", "replace")

    @cached_property
    def _chat(self) -> tuple[str, str]:
        if not self._template:
            return "", ""
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        def word(token: int) -> str:
            text = self._lib.llama_vocab_get_text(self._vocab, token) if token >= 0 else b""
            return str((text or b"").decode("utf-8", "replace"))

        fixed = f"{{%- set date_string = {DATE!r} -%}}{{%- set enable_thinking = false -%}}"

        def rendered() -> str:
            formatter = Jinja2ChatFormatter(
                fixed + self._template,
                eos_token=word(self.end),
                bos_token=word(int(self._lib.llama_vocab_bos(self._vocab))),
            )
            return str(formatter(messages=[{"role": "user", "content": MESSAGE}]).prompt)

        return around_message(templates.render(self._template, rendered, self.name), self.name)

    def chat(self) -> tuple[str, str]:
        """Return what the chat template puts before and after a message."""
        return self._chat

    def tokens(self, text: str, *, special: bool = False) -> Tokens:
        """Return the tokens of ``text``; names of special tokens are plain text unless ``special``."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 8  # a token has a byte at least
        found = (self._lib.llama_token * room)()
        count = self._lib.llama_tokenize(self._vocab, data, len(data), found, room, False, special)
        return list(found[: max(count, 0)])

    # --- numbers -------------------------------------------------------------------------------------------

    def rows_at_once(self, tokens: int, labels: Sequence[Tokens]) -> int:
        """One: see above."""
        return 1

    def label_scores(self, head: Tokens, rows: Sequence[Tokens], labels: Sequence[Tokens]) -> FloatArray:
        """Return the log-probability (n, K) of every label after ``head`` and each row."""
        scores = np.zeros((len(rows), len(labels)), dtype=np.float32)
        firsts = [label[0] for label in labels]
        for number, row in enumerate(rows):
            self._begin(head)
            places = [(0, len(head) + i, token) for i, token in enumerate(row)]
            scores[number] = self._run(places, {len(row) - 1: firsts})[len(row) - 1]
            for group in _groups(labels):
                scores[number, group] += self._rest(len(head) + len(row), [labels[k] for k in group])
        return scores

    def _begin(self, head: Tokens) -> None:
        """Have ``head`` alone in the cache; it is computed only where it is another, or cannot be kept."""
        memory = self._memory
        if head == self._head and self._lib.llama_memory_seq_rm(memory, 0, len(head), -1):
            return
        self._lib.llama_memory_clear(memory, True)
        self._head = []
        self._run([(0, i, token) for i, token in enumerate(head)], {})
        self._head = list(head)

    def _rest(self, start: int, labels: Sequence[Tokens]) -> list[float]:
        """Return the log-probability of each label's tokens but the first, after the prompt of ``start``."""
        lib, places, wanted = self._lib, list[Place](), dict[int, Tokens]()
        for sequence, label in enumerate(labels, 1):
            lib.llama_memory_seq_cp(self._memory, 0, sequence, -1, -1)
            for i, token in enumerate(label[:-1]):
                wanted[len(places)] = [label[i + 1]]
                places.append((sequence, start + i, token))
        found = iter(self._run(places, wanted).values())
        for sequence in range(1, len(labels) + 1):
            lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        return [sum(float(next(found)[0]) for _ in label[1:]) for label in labels]

    def _run(self, places: Sequence[Place], wanted: Mapping[int, Tokens]) -> dict[int, FloatArray]:
        """Compute tokens; return for each number in ``wanted`` the log-probability of its tokens there."""
        lib, batch, found = self._lib, self._batch, dict[int, FloatArray]()
        for start in range(0, len(places), BATCH):
            part = places[start : start + BATCH]
            batch.n_tokens = len(part)
            for i, (sequence, position, token) in enumerate(part):
                batch.token[i], batch.pos[i] = token, position
                batch.n_seq_id[i], batch.seq_id[i][0] = 1, sequence
                batch.logits[i] = start + i in wanted
            if lib.llama_decode(self._context, batch):
                self._head = []
                raise UserError(
                    _(
                        "There is not enough memory for {model}: choose a smaller model.",
                        model=self.name,
                    )
                )
            for i in range(len(part)):
                if start + i in wanted:
                    pointer = lib.llama_get_logits_ith(self._context, i)
                    logits = np.ctypeslib.as_array(pointer, shape=(self._size,)).astype(np.float64)
                    most = logits.max()
                    total = most + np.log(np.exp(logits - most).sum())
                    found[start + i] = (logits[wanted[start + i]] - total).astype(np.float32)
        return found


def _groups(labels: Sequence[Tokens]) -> Iterator[list[int]]:
    """Yield places of labels of several tokens, as many as one pass takes."""
    group: list[int] = []
    taken = 0
    for place, label in enumerate(labels):
        more = len(label) - 1
        if group and (taken + more > LABEL_TOKENS or len(group) == SEQUENCES - 1):
            yield group
            group, taken = [], 0
        if more:
            group.append(place)
            taken += more
    if group:
        yield group


def _free(lib: Any, model: Any, context: Any = None, batch: Any = None) -> None:
    if context is not None:
        lib.llama_batch_free(batch)
        lib.llama_free(context)
    lib.llama_model_free(model)


_kept: list[Any] = []  # C calls it for as long as the program runs


def _silent(lib: Any) -> Any:
    """Return what takes llama.cpp's log, which would go to a terminal that may not be there."""
    if not _kept:
        _kept.append(lib.llama_log_callback(lambda _level, _text, _data: None))
    return _kept[0]
