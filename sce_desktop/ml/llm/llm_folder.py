"""Prompted LLMs by name: a model's folder, a fine-tuned adapter's, or a GGUF file's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.encoder.embedder import digest
from sce_desktop.ml.hub import catalog, config_check, folders, model_places
from sce_desktop.ml.hub.folders import ADAPTER, ADAPTER_TYPE, ADAPTER_WEIGHTS
from sce_desktop.ml.hub.gguf_check import check_gguf
from sce_desktop.ml.llm.llm_gguf import gguf_file
from sce_desktop.ml.llm.llm_llama_cpp import llama_cpp_here, load_llama_cpp
from sce_desktop.ml.llm.llm_transformers import TransformersLM, load_lm
from sce_desktop.ml.llm.prompted import LanguageModel, PromptedLLM
from sce_desktop.ml.llm.prompts import PAPER, PROMPTS, Prompt

if TYPE_CHECKING:
    from peft import PeftModel

_CARD = "A LoRA adapter of"  # as the card that we write begins


def load_llm(
    name: str | Path,
    *,
    device: str | torch.device = "cpu",
    prompt: Prompt | None = None,
    models_dir: Path | None = None,
) -> PromptedLLM:
    """Load the prompted LLM ``name``: a name in the catalog, a folder or a hub id that is here.

    A GGUF file runs in llama.cpp where its library is installed, else transformers unpacks it.

    Raises:
        UserError: It is not here, damaged, a pickle, or no language model.
    """
    folder = catalog.resolve(name, models_dir=models_dir)
    model_places.check_folder(folder)
    if (folder / ADAPTER).is_file():
        return _load_adapted(folder, str(name), device, prompt, models_dir)
    gguf = gguf_file(folder)
    lm: LanguageModel
    if gguf is not None and llama_cpp_here():
        check_gguf(gguf)
        lm = load_llama_cpp(gguf, name=Path(name).name, device=device)
    else:
        lm = load_lm(folder, name=Path(name).name, device=device)
    return PromptedLLM(lm, str(name), prompt=prompt or PAPER)


@dataclass(frozen=True, slots=True)
class AdapterFacts:
    """What an adapter's folder says of itself in config.json."""

    base: str
    base_key: str
    prompt: str
    labels: tuple[Label, ...]


def _load_adapted(
    folder: Path, name: str, device: str | torch.device, prompt: Prompt | None, models_dir: Path | None
) -> PromptedLLM:
    facts = _read_facts(folder)
    for file in (folder / ADAPTER, folder / ADAPTER_WEIGHTS):
        if not file.is_file():
            pickled = (folder / "adapter_model.bin").is_file()
            raise UserError(
                _(
                    "{folder} holds its adapter as a pickle, which may run code when opened: download it as "
                    "{file}.",
                    folder=folder,
                    file=ADAPTER_WEIGHTS,
                )
                if pickled
                else _(
                    "{folder} is not a whole model folder: {file} is missing.", folder=folder, file=file.name
                )
            )
    base = load_lm(
        catalog.resolve(facts.base, models_dir=models_dir), name=Path(facts.base).name, device=device
    )
    if facts.base_key and facts.base_key != base.key:
        raise UserError(
            _(
                "{folder} was trained on another {base} than the one here: train it again.",
                folder=folder,
                base=facts.base,
            )
        )
    from peft import PeftModel

    config_check.check_adapter(folder)
    try:
        merged = PeftModel.from_pretrained(base.model, str(folder)).merge_and_unload()
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:  # whatever the adapter's settings make the library raise
        raise UserError(
            _("The adapter in {folder} is damaged or of another model: download it again.", folder=folder)
        ) from error
    key = f"{base.key}+{digest((), folders.known_sha256(folder / ADAPTER_WEIGHTS))[:32]}"
    lm = TransformersLM(merged.eval(), base.tokenizer, name=Path(name).name, key=key)
    prompt = prompt or PROMPTS.get(facts.prompt, PAPER)
    return PromptedLLM(lm, name, prompt=prompt, labels=facts.labels, normalise=not facts.labels)


def _read_facts(folder: Path) -> AdapterFacts:
    config = folders.read_json(folder / folders.CONFIG) if (folder / folders.CONFIG).is_file() else {}
    if config.get("model_type") != ADAPTER_TYPE:  # one that PEFT wrote for somebody else
        base = folders.read_json(folder / ADAPTER).get("base_model_name_or_path") or ""
        return AdapterFacts(str(base), "", PAPER.name, ())
    if not isinstance(config.get("labels"), list):
        config = {}  # a text is no list of labels
    try:
        labels = tuple(Label(str(label)) for label in config["labels"])
        return AdapterFacts(str(config["base"]), str(config["base_key"]), str(config["prompt"]), labels)
    except (KeyError, TypeError):
        raise UserError(
            _("{file} does not describe an adapter: download it again.", file=folder / folders.CONFIG)
        ) from None


def save_adapter(
    adapted: PeftModel,
    folder: Path,
    *,
    base: str,
    base_key: str,
    prompt: Prompt,
    labels: Sequence[Label],
    facts: Mapping[str, Any],
) -> None:
    """Write the adapter's folder, whole or not at all; the base model stays where it is.

    Other files in the folder are kept, and so is a card that somebody wrote.

    Args:
        adapted: What `lora.train_lora` returned.
        folder: Where to.
        base: Name or folder of the base model, as `load_llm` finds it.
        base_key: The base's `key`.
        prompt: The prompt that it was trained with.
        labels: Those that it was trained on.
        facts: For the card and config.json: settings, rows, accuracies.

    Raises:
        UserError: The place cannot be written, or holds other files.
    """
    folder = folder.expanduser().absolute()
    folders.check_free(folder, ADAPTER, ADAPTER_TYPE)
    with folders.replaced_folder(folder) as aside:
        if folder.is_dir():
            shutil.copytree(folder, aside, dirs_exist_ok=True)
        adapted.save_pretrained(str(aside), safe_serialization=True)
        config = {
            "model_type": ADAPTER_TYPE,
            "base": base,
            "base_key": base_key,
            "prompt": prompt.name,
            "labels": [label.name for label in labels],
            **facts,
        }
        text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
        (aside / folders.CONFIG).write_text(text, encoding="utf-8")
        names = ", ".join(label.name for label in labels)
        card = f"# {folder.name}\n\n{_CARD} {base} for the labels: {names}.\n"
        readme = folder / "README.md"  # PEFT puts one of its own into ``aside``
        if readme.is_file() and _CARD not in readme.read_text(encoding="utf-8", errors="replace"):
            shutil.copy2(readme, aside)
        else:
            (aside / "README.md").write_text(card, encoding="utf-8")
