"""Model folders on disk: what is read is checked first, what is written appears whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from sce_desktop import paths, state_files
from sce_desktop.core import private
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import ModelKind
from sce_desktop.ml.hub import model_files, weight_check
from sce_desktop.temporary import set_aside, temporary_beside

if TYPE_CHECKING:  # whoever only lists models need not wait for torch
    from torch import Tensor

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
LARGEST_FILE = 50_000_000
"""Weights beyond go to several files, in the hub's layout: repositories refuse much larger ones."""
MOST_WEIGHT_FILES = 1_000
CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
LABEL_TOKENIZER = "label_tokenizer.json"
ADAPTER = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
SCE_TYPE = "sce"
ADAPTER_TYPE = "sce-llm-adapter"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib")
HUB_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "README.md", "LICENSE*")
"""What is fetched from a hub: weights, configurations, tokenizers. No pickle, no code."""
HUB_CODE = ("*.py",)
_MANY_TOKENS = 100_000  # a vocabulary as large as this has words of many languages
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)


def is_hub_id(name: str) -> bool:
    """Whether ``name`` could be a model on the hub ("owner/model")."""
    return _HUB_ID.fullmatch(name) is not None


def hub_snapshot(model: str, *, code: bool = False, local_files_only: bool, **options: Any) -> Path:
    """Return the folder of hub id ``model`` in the hub library's own cache; fetched where that is allowed.

    With ``code`` the model's program files come along.

    Raises:
        UserError: It is no hub id, not there, or cannot be fetched.
    """
    if not is_hub_id(model):
        raise UserError(
            _(
                "There is no model folder {model}: give a folder or the name of an installed model.",
                model=model,
            )
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    patterns = [*HUB_FILES, *(HUB_CODE if code else ())]
    try:
        return Path(
            snapshot_download(model, allow_patterns=patterns, local_files_only=local_files_only, **options)
        )
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, HfHubHTTPError, OSError) as error:
        raise UserError(
            _("The model {model} is not installed: give a folder.", model=model)
            if local_files_only
            else _(
                "The model {model} is not installed and the hub does not have it: give a folder.", model=model
            )
        ) from error


def read_json(file: Path) -> dict[str, Any]:
    """Return the object in ``file``.

    Raises:
        UserError: It is missing, unreadable, no ordinary file, far too large or no JSON object.
    """
    try:
        text = model_files.read_text(file, model_files.LARGEST_JSON)
    except FileNotFoundError:
        raise UserError(
            _("{folder} is not a model folder: it has no {file}.", folder=file.parent, file=file.name)
        ) from None
    value = model_files.parse_json(file, text)
    if not isinstance(value, dict):
        raise UserError(
            _("{file} is not a model's configuration: copy or download the model again.", file=file)
        )
    return value


def kind_of(folder: Path) -> ModelKind:
    """Return what the model in ``folder`` can be used as. Raises UserError if it is no model folder."""
    if (folder / "modules.json").is_file():
        return "similarity"
    if (folder / ADAPTER).is_file():
        return "llm"
    if any(folder.glob("*.gguf")) and not (folder / CONFIG).is_file():
        return "llm"
    config = read_json(folder / CONFIG)
    if config.get("model_type") == SCE_TYPE:
        return "sce"
    kinds = config.get("architectures")
    answers = any(str(kind).endswith("ForCausalLM") for kind in (kinds if isinstance(kinds, list) else ()))
    return "llm" if answers else "similarity"


def brings_code(folder: Path) -> bool:
    """Whether the model in ``folder`` has program code of its own, which a person must allow.

    Raises:
        UserError: It is no model folder.
    """
    kind_of(folder)  # before a whole disk is searched
    config = folder / CONFIG
    return any(folder.rglob("*.py")) or (config.is_file() and "auto_map" in read_json(config))


def reads_many_languages(folder: Path) -> bool:
    """Whether the SCE in ``folder`` has a text embedder with the vocabulary of many languages.

    Raises:
        UserError: It is not a model folder, or its configuration is damaged.
    """
    embedder = read_json(folder / CONFIG).get("embedder")
    encoder = embedder.get("encoder") if isinstance(embedder, dict) else None
    tokens = encoder.get("vocab_size") if isinstance(encoder, dict) else None
    return isinstance(tokens, int) and tokens >= _MANY_TOKENS


def weight_files(folder: Path) -> list[str]:
    """Return the names of the safetensors files that hold the folder's weights: one, or those of its index.

    Raises:
        UserError: The index is damaged.
    """
    if (folder / WEIGHTS).is_file() or not (folder / INDEX).is_file():
        return [WEIGHTS]
    places = read_json(folder / INDEX).get("weight_map")
    names = sorted({str(name) for name in places.values()}) if isinstance(places, dict) else []
    if not 0 < len(names) <= MOST_WEIGHT_FILES or any(
        Path(name).name != name or "\0" in name or not name.endswith(".safetensors") for name in names
    ):
        raise UserError(_("{file} is damaged: copy or download the model again.", file=folder / INDEX))
    return names


def write_weights(folder: Path, state: dict[str, Tensor]) -> dict[str, str]:
    """Write ``state`` to the folder, several files where it is large; return the SHA-256 of each."""
    from huggingface_hub import save_torch_state_dict

    save_torch_state_dict(state, folder, max_shard_size=LARGEST_FILE, metadata={"format": "pt"})
    if (folder / INDEX).is_file() and (folder / WEIGHTS).is_file():
        (folder / INDEX).unlink()  # of an older, larger version
    return {name: file_sha256(folder / name) for name in weight_files(folder)}


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of the folder's safetensors files, as stored.

    Raises:
        UserError: There is none, one is missing, cut or damaged, or there is only a pickle, which is never
            opened.
    """
    headers = weight_headers(folder)
    weight_check.check_memory(folder, headers)
    found: dict[str, Tensor] = {}
    for name in weight_files(folder):
        found |= _read_file(folder / name)
    return found


def weight_headers(folder: Path) -> dict[str, weight_check.TensorFacts]:
    """Return what the headers of the folder's safetensors files say of each tensor; none of them is read.

    Raises:
        UserError: As `read_weights`.
    """
    found: dict[str, weight_check.TensorFacts] = {}
    for name in weight_files(folder):
        _check_there(folder / name)
        found |= weight_check.read_header(folder / name)
    return found


def check_finite(folder: Path, state: Mapping[str, Tensor]) -> None:
    """Refuse weights that are no numbers (NaN) or infinite: whatever is computed with them is none either.

    Raises:
        UserError: Some are.
    """
    for name, tensor in state.items():
        if tensor.is_floating_point() and tensor.numel() and not bool(tensor.sum().isfinite()):
            if bool(tensor.isfinite().all()):  # a sum beyond float32
                continue
            raise UserError(
                _(
                    "The weights in {folder} hold values that are no finite numbers ({tensor}): copy or "
                    "download the model again.",
                    folder=folder,
                    tensor=name,
                )
            )


def _check_there(file: Path) -> None:
    folder = file.parent
    if not file.exists():
        pickled = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in PICKLES)
        if pickled:
            raise UserError(
                _(
                    "{folder} holds its weights as a pickle ({file}), which may run code when opened: "
                    "download the model as {weights}.",
                    folder=folder,
                    file=pickled[0],
                    weights=WEIGHTS,
                )
            )
        raise UserError(
            _("{folder} is not a whole model folder: {file} is missing.", folder=folder, file=file.name)
        )


def _read_file(file: Path) -> dict[str, Tensor]:
    try:
        with safe_open(file, framework="pt") as tensors:
            return {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118 - no mapping
    except SafetensorError:
        raise UserError(_("{file} is cut or damaged: copy or download the model again.", file=file)) from None
    except OSError as error:
        raise UserError(
            _("{file} cannot be read: {reason}.", file=file, reason=error.strerror or error)
        ) from None


def read_tokenizer(file: Path, *, trusted: bool = False) -> Tokenizer:
    """Return the tokenizer in ``file``.

    Args:
        file: A tokenizers file.
        trusted: It came with the program, or its hash was compared: what it holds need not be checked.

    Raises:
        UserError: It is missing or damaged, or no model's (`tokenizer_check`).
    """
    if not file.exists():
        raise UserError(
            _("{folder} is not a whole model folder: {file} is missing.", folder=file.parent, file=file.name)
        )
    if not trusted:
        from sce_desktop.ml.hub import tokenizer_check

        return tokenizer_check.read_tokenizer(file)
    try:
        return Tokenizer.from_str(file.read_text(encoding="utf-8"))
    except Exception:  # the library raises bare Exception for whatever it does not understand
        raise UserError(_("{file} is damaged: copy or download the model again.", file=file)) from None


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def known_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, from memory while its size and time of change stay the same."""
    memory = paths.cache_dir() / "sha256.json"
    stat = file.stat()
    state = [stat.st_size, stat.st_mtime_ns]
    try:
        known = state_files.read_json(memory, dict) or {}
        *seen, sha = known[str(file)]
    except (ValueError, KeyError, TypeError):
        known, seen, sha = {}, [], ""
    if seen == state:
        return str(sha)
    sha = file_sha256(file)
    known[str(file)] = [*state, sha]
    with suppress(OSError):  # it only saves time
        state_files.write_text(memory, json.dumps(known))
    return sha


def folder_size(folder: Path) -> int:
    """Return the bytes of all files below ``folder``."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())


def check_free(folder: Path, own: str, model_type: str) -> None:
    """Refuse to write a model to ``folder`` where something else lies.

    Args:
        folder: It may be missing, be empty, hold a README.md alone, or an older model of the same kind.
        own: The file that such a model has.
        model_type: What its configuration says that it is.

    Raises:
        UserError: It is a file, or holds other files or a model of another kind.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(_("{folder} is a file: choose a new or empty folder for the model.", folder=folder))
    there = {p.name for p in folder.iterdir()} if folder.is_dir() else set()
    if there - {"README.md"} and own not in there:
        raise UserError(
            _("{folder} holds other files: choose a new or empty folder for the model.", folder=folder)
        )
    if CONFIG in there and _type_of(folder) != model_type:
        raise UserError(
            _("{folder} holds another model: choose a new or empty folder for this one.", folder=folder)
        )


def _type_of(folder: Path) -> str:
    with suppress(UserError):  # damaged: nobody knows whose it was
        return str(read_json(folder / CONFIG).get("model_type"))
    return ""


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder beside ``folder`` to write to; on leaving without error it takes its place.

    A new folder is for its owner alone; one that is replaced keeps its mode.

    Raises:
        UserError: The place cannot be written, or the disk is full; what was there before is still there.
    """
    try:
        private.make_folder(folder.parent)
        with temporary_beside(folder) as aside, set_aside(folder) as old:
            aside.mkdir(mode=private.FOLDER)
            yield aside
            if folder.exists():
                aside.chmod(folder.stat().st_mode & 0o7777)
            else:
                private.narrow_all_in(aside)  # what a model has learned from is in its weights and labels
            for file in aside.rglob("*"):
                if file.is_file():
                    with file.open("rb+") as stream:
                        os.fsync(stream.fileno())
            if folder.exists():
                folder.rename(old)
            aside.rename(folder)
    except (OSError, SafetensorError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(
            _("The model cannot be written to {folder}: {why}.", folder=folder, why=why)
        ) from error
