from __future__ import annotations

import ctypes
import sys
from typing import Any

import pytest

from sce_desktop.ml.parallel.waiting import sleep_while_waiting


class Driver:
    """CUDA's driver, as far as it is called."""

    def __init__(self) -> None:
        self.set: list[tuple[int, int]] = []

    def cuInit(self, _flags: int) -> int:
        return 0

    def cuDeviceGet(self, handle: Any, number: int) -> int:
        if number > 1:
            return 101
        handle._obj.value = 40 + number
        return 0

    def cuDevicePrimaryCtxSetFlags_v2(self, handle: ctypes.c_int, flags: int) -> int:
        self.set.append((handle.value, flags))
        return 0


def test_the_driver_is_told_before_the_gpu_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    opened: list[str] = []

    def found(name: str) -> Driver:
        opened.append(name)
        return driver

    monkeypatch.setattr(ctypes, "CDLL", found)
    assert not sleep_while_waiting("cpu")
    assert not opened
    assert sleep_while_waiting("cuda")
    assert sleep_while_waiting("cuda:1")
    assert driver.set == [(40, 4), (41, 4)]
    assert not sleep_while_waiting("cuda:2")
    assert opened[0] == ("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


def test_without_a_driver_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert not sleep_while_waiting("cuda")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())  # too old
    assert not sleep_while_waiting("cuda")
