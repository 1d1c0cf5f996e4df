"""GGUF files from anywhere: what the header says is compared with the file before a library reads it.

The format is described at https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The libraries that
read it trust counts and sizes, and one of them is written in C++.
"""

from __future__ import annotations

import math
import mmap
import struct
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.hub import model_files

MOST_FACTS, MOST_TENSORS = 10_000, 100_000
MOST_IN_ARRAY = 5_000_000
LONGEST_TEXT = 10_000_000
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
_BOUNDS = {
    "block_count": (1, 1_000),
    "embedding_length": (1, 100_000),
    "feed_forward_length": (1, 1_000_000),
    "context_length": (1, 100_000_000),
    "attention.head_count": (1, 4_096),
    "vocab_size": (1, 5_000_000),
}


class _Header:
    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 0

    def read(self, kind: str) -> Any:
        (value,) = struct.unpack_from(f"<{kind}", self.data, self.at)
        self.at += struct.calcsize(f"<{kind}")
        return value

    def skip(self, count: int) -> None:
        if count > len(self.data) - self.at:
            raise ValueError("it ends before")
        self.at += count

    def text(self) -> str:
        length = self.read("Q")
        if length > min(LONGEST_TEXT, len(self.data) - self.at):
            raise ValueError("a text beyond the end")
        self.at += length
        return self.data[self.at - length : self.at].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        """Return a fact's value; None for a list, which is only stepped over."""
        if kind == _TEXT:
            return self.text()
        if kind != _ARRAY:
            return self.read(_FORMATS[kind])
        inside, count = self.read("I"), self.read("Q")
        if count > MOST_IN_ARRAY:
            raise ValueError("a list of absurd length")
        if inside in _SIZES:
            self.skip(_SIZES[inside] * count)
        elif inside == _TEXT:
            for _each in range(count):
                self.skip(self.read("Q"))
        else:
            raise ValueError("lists in lists")
        return None


def check_gguf(file: Path) -> None:
    """Refuse a GGUF file whose header does not fit it.

    Raises:
        UserError: It is no ordinary file, cut, or states sizes beyond all bounds.
    """
    size = model_files.check_regular(file)
    try:
        if size < 24:
            raise ValueError("too short")
        with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check(_Header(data), size)
    except OSError as error:
        raise UserError(
            _("{file} cannot be read: {reason}.", file=file, reason=error.strerror or error)
        ) from None
    except (ValueError, struct.error, KeyError):
        raise UserError(_("{file} is cut or damaged: copy or download the model again.", file=file)) from None


def _check(header: _Header, size: int) -> None:
    if header.data[:4] != b"GGUF":
        raise ValueError("another magic number")
    header.skip(4)
    version, tensors, facts = header.read("I"), header.read("Q"), header.read("Q")
    if version not in (2, 3) or tensors > MOST_TENSORS or facts > MOST_FACTS:
        raise ValueError("absurd counts")
    for _each in range(facts):
        name = header.text()
        value = header.value(header.read("I"))
        bounds = _BOUNDS.get(name.partition(".")[2])
        if bounds is not None and value is not None and not bounds[0] <= value <= bounds[1]:
            raise ValueError(f"{name} is {value}")
    for _each in range(tensors):
        header.text()
        dimensions = header.read("I")
        if dimensions > 4:
            raise ValueError("too many dimensions")
        shape = [header.read("Q") for _one in range(dimensions)]
        _kind, offset = header.read("I"), header.read("Q")
        # the densest kind has less than two bits a number
        if offset > size or math.prod(shape) > 8 * size:
            raise ValueError("a tensor beyond the end")
