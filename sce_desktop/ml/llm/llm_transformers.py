"""Causal language models run by transformers: one forward pass a batch, whatever the labels.

What stands before the text is computed once and its keys and values are shared by all rows. Rows are padded
at the right, where a causal model does not look. The tokens of labels that have several follow the prompt all
at once, each label blind to the others, so that they cost no pass of their own.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.encoder.embedder import digest
from sce_desktop.ml.encoder.sentence_transformer import one_line
from sce_desktop.ml.hub import config_check, folders, model_files, model_places
from sce_desktop.ml.hub.gguf_check import check_gguf
from sce_desktop.ml.llm import templates
from sce_desktop.ml.llm.llm_gguf import gguf_file, gguf_options, quiet_transformers
from sce_desktop.ml.llm.prompts import DATE, MESSAGE, around_message

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 32768, "mps": 8192}
LOGIT_BYTES = 256_000_000
DEFAULT_CONTEXT = 2048
Tokens = list[int]


class TransformersLM:
    """A `ml.llm.prompted.LanguageModel` over a transformers model and its tokenizer.

    Args:
        model: In evaluation mode, on any device.
        tokenizer: A fast one.
        name: What people call it.
        key: Hash of what both were read from.
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str, key: str
    ) -> None:
        self.model, self.tokenizer, self.name, self.key = model, tokenizer, name, key
        config = model.config.get_text_config()
        self.context = int(getattr(config, "max_position_embeddings", 0) or DEFAULT_CONTEXT)
        self.vocabulary = int(config.vocab_size)
        self.end = int(tokenizer.eos_token_id)
        self.start = [] if tokenizer.chat_template else self._own_start()
        self._head: tuple[tuple[int, ...], Any] | None = None
        known = inspect.signature(model.forward).parameters  # newer versions renamed it
        self._cache_name = "cache" if "cache" in known else "past_key_values"

    @property
    def device(self) -> torch.device:
        """Where the model is now."""
        return next(self.model.parameters()).device

    @cached_property
    def _chat(self) -> tuple[str, str]:
        if not self.tokenizer.chat_template:
            return "", ""

        def rendered() -> str:
            return str(
                self.tokenizer.apply_chat_template(
                    [{"role": "user", "content": MESSAGE}],
                    tokenize=False,
                    add_generation_prompt=True,
                    date_string=DATE,
                    enable_thinking=False,
                )
            )

        text = templates.render(str(self.tokenizer.chat_template), rendered, self.name)
        return around_message(text, self.name)

    def chat(self) -> tuple[str, str]:
        """Return what the chat template puts before and after a message."""
        return self._chat

    def tokens(self, text: str, *, special: bool = False) -> Tokens:
        """Return the tokens of ``text``; names of special tokens are plain text unless ``special``."""
        found = self.tokenizer(
            text, add_special_tokens=False, split_special_tokens=not special, verbose=False
        )
        return list(found["input_ids"])

    def _own_start(self) -> Tokens:
        """What the tokenizer puts before a text by itself, such as a start token."""
        with_it = list(self.tokenizer("a")["input_ids"])
        without = list(self.tokenizer("a", add_special_tokens=False)["input_ids"])
        for i in range(len(with_it) - len(without) + 1):
            if with_it[i : i + len(without)] == without:
                return with_it[:i]
        return []

    def rows_at_once(self, tokens: int, labels: Sequence[Tokens]) -> int:
        """Return how many prompts of ``tokens`` tokens fit one batch."""
        more = sum(len(label) - 1 for label in labels)
        rows = TOKENS_PER_BATCH.get(self.device.type, 1024) // (tokens + more)
        by_logits = int(LOGIT_BYTES / (4 * self.vocabulary * (more + 4)))
        return max(1, min(rows, by_logits))

    @torch.inference_mode()
    def label_scores(self, head: Tokens, rows: Sequence[Tokens], labels: Sequence[Tokens]) -> FloatArray:
        """Return the log-probability (n, K) of every label after ``head`` and each row."""
        if tokens := {
            token for token in set().union(head, *labels, *rows) if not 0 <= token < self.vocabulary
        }:
            raise UserError(
                _(
                    "{model} and its tokenizer do not belong together (token {token}).",
                    model=self.name,
                    token=min(tokens),
                )
            )
        lengths = torch.tensor([len(row) for row in rows])
        width, count = int(lengths.max()), len(rows)
        tree = _Tree(labels)
        ids = torch.zeros(count, width + len(tree.ids), dtype=torch.long)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
        ids[:, width:] = torch.tensor(tree.ids, dtype=torch.long)
        places = torch.arange(width).expand(count, width)
        depths = lengths[:, None] + torch.tensor(tree.depths, dtype=torch.long)[None]
        positions = len(head) + torch.cat([places, depths], dim=1)
        keep = torch.unique(torch.cat([lengths - 1, torch.arange(width, ids.shape[1])]))
        mask = tree.mask(len(head), lengths, width, self.model.dtype) if tree.ids else None
        logits = self.model(
            input_ids=ids.to(self.device),
            position_ids=positions.to(self.device),
            attention_mask=None if mask is None else mask.to(self.device),
            use_cache=True,
            logits_to_keep=keep.to(self.device),
            **{self._cache_name: self._past(head, count)},
        ).logits.float()
        logs = logits - logits.logsumexp(-1, keepdim=True)
        column = {int(k): i for i, k in enumerate(keep)}
        last = torch.tensor([column[int(n) - 1] for n in lengths], device=self.device)
        every = torch.arange(count, device=self.device)
        scores = torch.zeros(count, len(labels), device=self.device)
        for k, label in enumerate(labels):
            scores[:, k] = logs[every, last, label[0]]
            for at, token in zip(tree.columns[k], label[1:], strict=True):
                scores[:, k] += logs[:, column[width + at], token]
        return np.asarray(scores.cpu().numpy(), dtype=np.float32)

    def _past(self, head: Tokens, rows: int) -> Any:
        """Return keys and values of ``head`` for ``rows`` rows; the pass that takes them adds to them."""
        if self._head is None or self._head[0] != tuple(head):
            ids = torch.tensor([head], device=self.device)
            found = self.model(input_ids=ids, use_cache=True, logits_to_keep=1)
            self._head = tuple(head), getattr(found, self._cache_name, None) or found.past_key_values
        past = copy.deepcopy(self._head[1])
        past.batch_repeat_interleave(rows)
        return past


class _Tree:
    """The tokens of all labels but their last ones, side by side after the prompt.

    ``columns`` has for each label the places of its tokens in ``ids``; ``depths`` how far after the prompt
    each token stands.
    """

    def __init__(self, labels: Sequence[Tokens]) -> None:
        self.ids: Tokens = []
        self.depths: list[int] = []
        self.columns: list[range] = []
        for label in labels:
            self.columns.append(range(len(self.ids), len(self.ids) + len(label) - 1))
            self.ids += label[:-1]
            self.depths += range(len(label) - 1)

    def mask(self, head: int, lengths: torch.Tensor, width: int, dtype: torch.dtype) -> torch.Tensor:
        """Return what may be attended to, (n, 1, T, head + T): 0 where allowed, else the lowest number."""
        count, total = len(lengths), width + len(self.ids)
        seen = torch.zeros(count, total, head + total, dtype=torch.bool)
        seen[:, :, :head] = True
        seen[:, :width, head : head + width] = torch.ones(width, width, dtype=torch.bool).tril()
        seen[:, width:, head : head + width] = (torch.arange(width)[None] < lengths[:, None])[:, None]
        for columns in self.columns:
            for at in columns:
                seen[:, width + at, head + width + columns.start : head + width + at + 1] = True
        allowed = torch.zeros(seen.shape, dtype=dtype)
        return allowed.masked_fill(~seen, torch.finfo(dtype).min)[:, None]


def load_lm(folder: Path, *, name: str = "", device: str | torch.device = "cpu") -> TransformersLM:
    """Load a causal language model's folder: safetensors, or one GGUF file, which takes a while.

    Raises:
        UserError: Missing, cut, a pickle, another architecture, or it needs code of its own.
    """
    gguf = gguf_file(folder)
    if gguf is None:
        check_lm_folder(folder)
    else:
        check_gguf(gguf)
    from transformers import AutoModelForCausalLM, AutoTokenizer

    quiet_transformers()
    where = torch.device(device)
    # Weights lie in half precision; the CPU computes faster, and exactly, in float32.
    options: dict[str, Any] = {"dtype": torch.bfloat16 if where.type == "cuda" else torch.float32}
    if gguf is not None:
        options |= gguf_options(gguf)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, **({"gguf_file": gguf.name} if gguf else {})
        )
        tokenizer.encode("a")  # what its settings let the library try first, it tries here
        model = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, attn_implementation="sdpa", **options
        )
        if gguf is None:
            folders.check_finite(folder, dict(model.named_parameters()))
        name = name or folder.name
        return TransformersLM(
            torch.nn.Module.to(model, where).eval(), tokenizer, name=name, key=_key(name, folder)
        )
    except (UserError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # whatever the files make the library raise; a panic is no Exception
        raise UserError(
            _("{folder} cannot be loaded as a language model: {why}", folder=folder, why=one_line(error))
        ) from error


def check_lm_folder(folder: Path) -> None:
    """Refuse what cannot be run, before any library looks at it.

    Raises:
        UserError: No model, another architecture, pickles, cut weights, or code of its own.
    """
    if not model_places.is_trusted(folder):
        model_files.check_folder(folder)
    config = folders.read_json(folder / folders.CONFIG)
    kinds = config.get("architectures")
    kinds = kinds if isinstance(kinds, list) else []
    if not any(str(kind).endswith(("ForCausalLM", "LMHeadModel")) for kind in kinds):
        found = config.get("model_type") or "unknown"
        raise UserError(
            _(
                "{folder} holds a model of type “{found}”, not a language model: choose another.",
                folder=folder,
                found=found,
            )
        )
    if "auto_map" in config:
        raise UserError(
            _("{folder} brings program code, which is never run for LLMs: choose another.", folder=folder)
        )
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        folders.read_weights(folder)  # says what is wrong
    config_check.check_published(folder)


def _key(name: str, folder: Path) -> str:
    files = sorted(p for p in folder.iterdir() if p.suffix in (".safetensors", ".gguf", ".json", ".jinja"))
    hashes = [(p.name, folders.known_sha256(p)) for p in files if p.name != "sce-manifest.json"]
    return f"{name}:{digest((), *hashes)[:32]}"
