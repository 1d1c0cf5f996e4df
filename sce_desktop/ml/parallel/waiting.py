"""A process that waits for an NVIDIA GPU leaves its core to others.

CUDA spins while it waits, as long as a process has fewer contexts than the machine has cores. Many processes
that share a GPU wait for each other most of the time, and their cores are needed to read and write.
"""

from __future__ import annotations

import ctypes
import sys

_SLEEP = 4  # CU_CTX_SCHED_BLOCKING_SYNC


def sleep_while_waiting(device: str) -> bool:
    """Make this process sleep while it waits for ``device``; return whether CUDA's driver took it.

    It must come before the first use of the GPU. By the driver, since torch has no call for it.
    """
    if not device.startswith("cuda"):
        return False
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        handle = ctypes.c_int()
        number = int(device.partition(":")[2] or 0)
        return (
            driver.cuInit(0) == 0
            and driver.cuDeviceGet(ctypes.byref(handle), number) == 0
            and driver.cuDevicePrimaryCtxSetFlags_v2(handle, _SLEEP) == 0
        )
    except (OSError, AttributeError, ValueError):  # without it it works too, only slower
        return False
