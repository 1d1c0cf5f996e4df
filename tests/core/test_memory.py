"""Free memory goes back to the system."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.memory import give_back

BLOCKS, SIZE = 2_000, 50_000


def resident() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("RssAnon:")[1].split()[0])


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="glibc alone has it"
)
def test_what_lies_free_between_blocks_in_use_goes_back() -> None:
    blocks = [np.ones(SIZE, np.uint8) for _ in range(BLOCKS)]
    kept = blocks[::20]  # so that nothing but holes is free
    full = resident()
    del blocks
    give_back()
    assert full - resident() > BLOCKS * SIZE / 2
    assert all(block.all() for block in kept)


def test_where_the_c_library_keeps_nothing_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    give_back()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())  # musl
    give_back()
