"""GGUF files of language models: read through transformers, or written once as an ordinary model folder."""

from __future__ import annotations

import contextlib
import io
import json
import struct
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.hub import folders


def quiet_transformers() -> None:
    """Keep the library's bars and reports away from a terminal that may not be there."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def gguf_file(folder: Path) -> Path | None:
    """Return the GGUF file of a folder that has no safetensors. Raises UserError if there are several."""
    found = sorted(folder.glob("*.gguf"))
    if not found or any(folder.glob("*.safetensors")):
        return None
    if len(found) > 1:
        raise UserError(
            _(
                "{folder} holds {count} GGUF files: keep one of them in a folder of its own.",
                folder=folder,
                count=len(found),
            )
        )
    return found[0]


def gguf_options(gguf: Path) -> dict[str, Any]:
    """Return what makes transformers unpack a GGUF file into plain weights."""
    options: dict[str, Any] = {"gguf_file": gguf.name}
    import transformers

    if hasattr(transformers, "GgufConfig"):  # newer versions would keep the blocks, a pass being far slower
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    return options


def convert_gguf(gguf: Path, folder: Path, *, licence: str, source: str) -> None:
    """Write the model in ``gguf`` to ``folder`` as safetensors in half precision, with tokenizer and card.

    The weights are those of the file, unpacked; a folder loads in a second, the file takes most of a minute.

    Raises:
        UserError: The file is damaged or of an architecture that transformers cannot read.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    quiet_transformers()
    try:
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, local_files_only=True)
        with contextlib.redirect_stderr(io.StringIO()):  # a bar that cannot be turned off
            model = AutoModelForCausalLM.from_pretrained(
                gguf.parent, local_files_only=True, dtype=torch.float32, **gguf_options(gguf)
            )
    except (OSError, ValueError, RuntimeError, KeyError, IndexError, struct.error) as error:
        raise UserError(
            _("{file} cannot be read as a language model: {reason}", file=gguf.name, reason=error)
        ) from error
    tied = (
        set(getattr(model, "_tied_weights_keys", None) or ()) if model.config.tie_word_embeddings else set()
    )
    state = {
        name: tensor.half().contiguous() for name, tensor in model.state_dict().items() if name not in tied
    }
    config = model.config.to_dict()
    for key in ("quantization_config", "_name_or_path"):
        config.pop(key, None)
    config |= {"architectures": [type(model).__name__], "dtype": "float16"}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(state, folder / folders.WEIGHTS, metadata={"format": "pt"})
    (folder / folders.CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    tokenizer.save_pretrained(folder)
    card = f"---\nlicense: {licence}\n---\n\nUnpacked from {gguf.name} ({source}).\n"
    (folder / "README.md").write_text(card, encoding="utf-8")
