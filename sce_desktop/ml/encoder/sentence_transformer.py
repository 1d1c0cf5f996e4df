"""Text vectors by sentence-transformers, for models that `ml.encoder.published` cannot run itself.

Importing that library takes seconds: it happens when the first such model is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.encoder.embedder import Embedder, digest, in_halves, readable, windows
from sce_desktop.ml.hub import folders

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

ROWS_PER_BATCH = 32


class SentenceTransformerEmbedder(Embedder):
    """Any model that sentence-transformers can load.

    Args:
        folder: Where it lies.
        name: What people call it; the folder's name unless given.
        device: Where it runs.
        prompt: Put before every text.
        prompt_name: One of the prompts that the model brings.
        task: Task adapter, where the model has some (jina-embeddings-v3: "classification").
        adapter: Subfolder with a PEFT adapter to put on the model (the native jina-embeddings-v3 has
            "classification").
        max_tokens: Read texts less far than the model would.
        trust_remote_code: Run program code that the model brings. Only for authors you trust.
        local_files_only: False lets code that the model names in other places be fetched.

    Raises:
        UserError: Missing, damaged, a pickle, or it needs what was not allowed.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str = "",
        device: str | torch.device = "cpu",
        prompt: str | None = None,
        prompt_name: str | None = None,
        task: str | None = None,
        adapter: str | None = None,
        max_tokens: int | None = None,
        trust_remote_code: bool = False,
        local_files_only: bool = True,
    ) -> None:
        self.folder = folder
        self.name = name or folder.name
        self.prompt = prompt
        self.prompt_name = prompt_name
        self.task = task
        self.adapter = adapter
        self.model = _load_sentence_transformer(
            folder, str(device), trust_remote_code=trust_remote_code, local_files_only=local_files_only
        )
        if adapter is not None:
            _put_adapter(self.model, folder, adapter)
        own = self.model.max_seq_length
        if own is not None and (not isinstance(own, int) or own < 1):
            raise UserError(
                _(
                    "{folder} cannot be loaded as a text model: {why}",
                    folder=folder,
                    why="max_seq_length is no number of tokens.",
                )
            )
        if max_tokens is not None and (own is None or max_tokens < own):
            self.model.max_seq_length = max_tokens
        self.max_tokens = int(self.model.max_seq_length or 512)
        if prompt_name is not None and prompt_name not in self.model.prompts:
            known = ", ".join(self.model.prompts) or "none"
            raise UserError(
                _(
                    "{model} has no prompt named “{prompt_name}”, it has: {known}.",
                    model=self.name,
                    prompt_name=prompt_name,
                    known=known,
                )
            )
        if task is not None and "task" not in self.model.get_model_kwargs():  # encode() would ignore it
            raise UserError(
                _(
                    "{model} has no task adapters: do not give the task “{task}”.",
                    model=self.name,
                    task=task,
                )
            )
        self.dim = self._tried().shape[1]
        self._rows = ROWS_PER_BATCH

    @cached_property
    def key(self) -> str:
        """Name of the model and hash of its files and settings.

        Not of the tensors in memory: the library fills in at random what a file lacks and nobody uses.
        """
        files = sorted(p for p in self.folder.rglob("*") if p.suffix in (".safetensors", ".json", ".py"))
        hashes = [(file.relative_to(self.folder).as_posix(), folders.known_sha256(file)) for file in files]
        settings = (hashes, self.max_tokens, self.prompt, self.prompt_name, self.task, self.adapter)
        return f"{self.name}:{digest((), *settings)[:32]}"

    def _tried(self) -> FloatArray:
        """Return the vector (1, dim) of a text, of one letter: some tokenizers leave nothing of an empty one.

        Raises:
            UserError: The model fails, or gives no finite numbers.
        """
        try:
            vector = self._encode(["a"])
        except (UserError, KeyboardInterrupt, MemoryError):
            raise
        except Exception as error:  # whatever the files of the model make libraries raise
            raise UserError(
                _("{folder} cannot be loaded as a text model: {why}", folder=self.folder, why=one_line(error))
            ) from error
        if not np.isfinite(vector).all():
            raise UserError(
                _("{folder} gives no finite numbers: copy or download the model again.", folder=self.folder)
            )
        return vector

    def token_counts(self, texts: Sequence[str]) -> IdArray:
        """Return how many tokens each text has (n,), special ones and the prompt's included."""
        prompt = self.prompt or (self.model.prompts.get(self.prompt_name) if self.prompt_name else "") or ""
        counts: list[int] = []
        for _places, window in windows(texts):
            part = [readable(prompt + text) for text in window]
            counts += map(len, self.model.tokenizer(part, truncation=False, verbose=False)["input_ids"])
        return np.array(counts, dtype=np.int64)

    def batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[IdArray, FloatArray]]:
        """Yield (places, vectors), longest texts first within each window."""
        for start, window in windows(texts):
            part = [readable(text) for text in window]
            order = sorted(range(len(part)), key=lambda i: -len(part[i]))
            at = 0
            while at < len(order):
                batch = order[at : at + (batch_size or self._rows)]
                at += len(batch)
                vectors = in_halves(self._encode, [part[i] for i in batch], self._shrink)
                yield np.array(batch, dtype=np.int64) + start, vectors

    def _shrink(self, rows: int) -> None:
        self._rows = min(self._rows, rows)

    def _encode(self, texts: list[str]) -> FloatArray:
        options: dict[str, Any] = {} if self.task is None else {"task": self.task}
        try:
            vectors = self.model.encode(
                texts,
                prompt=self.prompt,
                prompt_name=self.prompt_name,
                batch_size=len(texts),
                normalize_embeddings=True,
                show_progress_bar=False,
                convert_to_numpy=True,
                **options,
            )
        except IndexError:
            raise UserError(
                _(
                    "{model} and its tokenizer do not belong together: copy or download the model again.",
                    model=self.name,
                )
            ) from None
        return np.asarray(vectors, dtype=np.float32)


def one_line(error: BaseException) -> str:
    """Return the first line of what a library says, or the kind of its error; a whole sentence."""
    lines = str(error).strip().splitlines()
    first = lines[0].strip()[:300] if lines else type(error).__name__
    return first if first.endswith((".", "?")) else f"{first.rstrip('!')}."


def _load_sentence_transformer(
    folder: Path, device: str, *, trust_remote_code: bool, local_files_only: bool
) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.set_verbosity_error()  # its bars and reports would go to a terminal that may not be there
    logging.disable_progress_bar()
    try:
        return SentenceTransformer(
            str(folder),
            device=device,
            trust_remote_code=trust_remote_code,
            local_files_only=local_files_only,
            model_kwargs={"use_safetensors": True},
        )
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # tokenizers' panics are no Exceptions
        why = one_line(error)
        if "trust_remote_code" in str(error):
            raise UserError(
                _(
                    "{folder} brings program code of its own: allow it only if you trust its author.",
                    folder=folder,
                )
            ) from error
        raise UserError(
            _("{folder} cannot be loaded as a text model: {why}", folder=folder, why=why)
        ) from error


def _put_adapter(model: SentenceTransformer, folder: Path, adapter: str) -> None:
    """Merge the PEFT adapter in ``folder/adapter`` into the model's weights in memory. Raises UserError."""
    if not (folder / adapter / "adapter_model.safetensors").is_file():
        raise UserError(
            _(
                "{folder} has no adapter “{adapter}” as safetensors: download the model again.",
                folder=folder,
                adapter=adapter,
            )
        )
    from peft import PeftModel

    inner: Any = getattr(model[0], "model", None) or model[0].auto_model
    try:
        PeftModel.from_pretrained(inner, str(folder / adapter)).merge_and_unload()
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise UserError(
            _(
                "The adapter “{adapter}” does not fit {folder}: download the model again.",
                adapter=adapter,
                folder=folder,
            )
        ) from error
