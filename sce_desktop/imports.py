"""What keeps the window alive while workers import: less work with Python's lock held.

``import torch`` maps 400 MB of libraries in one call that holds the lock: a second in which nothing moves.
A foreign function called by ctypes lets go of the lock, and what is mapped already costs the import nothing.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The system maps one library at a time. A thread that imports another one meanwhile would wait for its turn
# with Python's lock held, and all the window with it: so imports in workers wait here first, without.
MAPPING = threading.Lock()
_COUNTING = threading.Lock()
_imports = 0  # under way
_NAMES = {"linux": "libtorch.so", "darwin": "libtorch.dylib"}  # it needs, and so brings, all the others


def spare_imports() -> None:
    """Let modules be imported without PySide looking into the source text of each.

    It looks for modules that ask for its snake_case names; nothing here does. For the window's own modules
    that is a quarter of the time, and for torch and what it brings a good part; and it holds Python's lock in
    one piece for each module.
    """
    import PySide6.QtCore  # noqa: F401 - it puts the look in place

    plain = getattr(builtins, "__orig_import__", None)  # where PySide keeps what was there before it
    if plain is not None:
        builtins.__import__ = plain


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


def under_way() -> bool:
    """Whether a library is being imported: nobody should collect garbage meanwhile."""
    return _imports > 0


@contextmanager
def importing() -> Iterator[None]:
    """Put collection off while libraries come in, in any thread, and leave them out of all later ones.

    torch alone has some 100,000 objects. Walking over them stops the window for a fifth of a second each
    time, and finds nothing.
    """
    global _imports
    with _COUNTING:
        _imports += 1
    try:
        yield
    finally:
        with _COUNTING:
            _imports -= 1
            if not _imports:
                gc.freeze()
