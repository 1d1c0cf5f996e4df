"""Loading torch's shared libraries without Python's lock, so that the window goes on meanwhile.

``import torch`` maps 400 MB of libraries in one call that holds the lock: a second in which nothing moves.
A foreign function called by ctypes lets go of the lock, and what is mapped already costs the import nothing.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import threading
from pathlib import Path

# The system maps one library at a time. A thread that imports another one meanwhile would wait for its turn
# with Python's lock held, and all the window with it: so imports in lanes wait here first, without.
MAPPING = threading.Lock()
_NAMES = {"linux": "libtorch.so", "darwin": "libtorch.dylib"}  # it needs, and so brings, all the others


def preload_torch() -> bool:
    """Map torch's libraries and say whether that worked; if it did not, the import does it as ever."""
    if "torch" in sys.modules or sys.platform not in _NAMES:
        return False
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return False
    library = Path(spec.submodule_search_locations[0]) / "lib" / _NAMES[sys.platform]
    if not library.exists():
        return False
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.restype = ctypes.c_void_p
    dlopen.argtypes = [ctypes.c_char_p, ctypes.c_int]
    with MAPPING:
        return bool(dlopen(os.fsencode(library), os.RTLD_NOW))
