"""What the headers of safetensors files say, read and compared before a tensor is."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.text import size_text
from sce_desktop.ml.hub import model_files

LARGEST_HEADER = 20_000_000
MOST_TENSORS = 200_000
MOST_DIMENSIONS = 8
_LARGEST_DIMENSION = 1 << 40
BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """What a header says of a tensor."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


def read_header(file: Path) -> dict[str, TensorFacts]:
    """Return the tensors of a safetensors file by name; none of them is read.

    Raises:
        UserError: It is no ordinary file, cut, or its header does not fit its size.
    """
    size = model_files.check_regular(file)
    cut = UserError(_("{file} is cut or damaged: copy or download the model again.", file=file))
    try:
        with file.open("rb") as stream:
            start = stream.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if not 2 <= length <= min(size - 8, LARGEST_HEADER):
                raise cut
            text = stream.read(length).decode("utf-8")
    except OSError as error:
        raise UserError(
            _("{file} cannot be read: {reason}.", file=file, reason=error.strerror or error)
        ) from None
    except ValueError:
        raise cut from None
    found = model_files.parse_json(file, text, 4 * MOST_TENSORS)
    if not isinstance(found, dict) or len(found) > MOST_TENSORS:
        raise cut
    try:
        tensors = {
            name: _facts(facts, size - 8 - length) for name, facts in found.items() if name != "__metadata__"
        }
    except (KeyError, TypeError, ValueError):
        raise cut from None
    stored = sum(-(-BITS[one.dtype] * one.numbers // 8) for one in tensors.values())
    if stored != size - 8 - length:
        raise cut
    return tensors


def blob_header(blob: bytes) -> dict[str, Any]:
    """Return the ``__metadata__`` of a safetensors blob. Raises ValueError or KeyError for anything else."""
    length = int.from_bytes(blob[:8], "little")
    if not 2 <= length <= min(len(blob) - 8, LARGEST_HEADER):
        raise ValueError("no header")
    try:
        found = json.loads(blob[8 : 8 + length])["__metadata__"]
    except (RecursionError, TypeError) as error:
        raise ValueError("no header") from error
    if not isinstance(found, dict):
        raise ValueError("no header")
    return found


def _facts(found: Any, bytes_there: int) -> TensorFacts:
    shape, (begin, end) = found["shape"], found["data_offsets"]
    if found["dtype"] not in BITS or not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
        raise ValueError("no tensor")
    if any(type(one) is not int or not 0 <= one <= _LARGEST_DIMENSION for one in (*shape, begin, end)):
        raise ValueError("no sizes")
    facts = TensorFacts(found["dtype"], tuple(shape))
    if not begin <= end <= bytes_there or -(-BITS[facts.dtype] * facts.numbers // 8) != end - begin:
        raise ValueError("a tensor of another size")
    return facts


def check_memory(folder: Path, tensors: Mapping[str, TensorFacts]) -> None:
    """Refuse weights that the memory cannot hold as they are computed with: in float32 at least.

    Raises:
        UserError: They need more than is free.
    """
    import psutil

    needed = sum(one.numbers * max(BITS[one.dtype] // 8, 1) for one in tensors.values())
    free = int(psutil.virtual_memory().available)
    if needed > free:
        raise UserError(
            _(
                "The weights in {folder} need {needed} of memory, but {free} is free: choose a smaller "
                "model.",
                folder=folder,
                needed=size_text(needed),
                free=size_text(free),
            )
        )


def check_shapes(
    folder: Path,
    tensors: Mapping[str, TensorFacts],
    expected: Mapping[str, tuple[int, ...]],
    *,
    optional: tuple[str, ...] = (),
) -> None:
    """Refuse weights that are not those of the model that the configuration describes.

    Args:
        folder: For the error.
        tensors: What the headers say.
        expected: Name and shape of every tensor that there must be.
        optional: What names begin with of which there may be others.

    Raises:
        UserError: One is missing, of another shape, or known to nobody.
    """
    for name, shape in expected.items():
        found = tensors.get(name)
        if found is None:
            raise UserError(
                _(
                    "The weights in {folder} do not fit its config.json ({tensor} is missing): download the "
                    "model again.",
                    folder=folder,
                    tensor=name,
                )
            )
        if found.shape != shape:
            raise UserError(
                _(
                    "The weights in {folder} do not fit its config.json ({tensor} is {found}, not "
                    "{expected}): download the model again.",
                    folder=folder,
                    tensor=name,
                    found=_shape_text(found.shape),
                    expected=_shape_text(shape),
                )
            )
    for name in tensors:
        if name not in expected and not name.startswith(optional):
            raise UserError(
                _(
                    "The weights in {folder} do not fit its config.json (it does not describe {tensor}): "
                    "download the model again.",
                    folder=folder,
                    tensor=name[:80],
                )
            )


def _shape_text(shape: tuple[int, ...]) -> str:
    return " × ".join(map(number, shape)) or "1"
