"""What commands print: results as JSON, sentences beside progress, warnings."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.core.errors import Cancelled
from sce_desktop.core.escapes import one_line, shown
from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    pass


def quoted(names: Iterable[str]) -> str:
    """Return names as they stand in a sentence."""
    return ", ".join(f"“{shown(name)}”" for name in names)


def say(sentence: str, progress: Progress) -> None:
    """Print a sentence on stderr while work goes on, on a line of its own below what progress shows."""
    if (close := getattr(progress, "close", None)) is not None:
        close()
    with contextlib.suppress(OSError):  # the terminal is gone, or the disk full
        print(one_line(sentence), file=sys.stderr, flush=True)


@contextlib.contextmanager
def if_stopped(sentence: str) -> Iterator[None]:
    """Let a cancel within say what is left."""
    try:
        yield
    except Cancelled:
        raise Cancelled(sentence) from None


def print_json(result: Mapping[str, Any]) -> None:
    """Print ``result`` on stdout, readable under any encoding of the terminal."""
    print(json.dumps(result, indent=2, default=_plain))


def print_result(args: argparse.Namespace, facts: Mapping[str, Any], text: str) -> None:
    """Print ``facts`` as JSON where ``--json`` is given, else ``text``."""
    if args.json:
        print_json(facts)
    else:
        print(text)


def warnings(progress: Progress) -> list[str]:
    """Return what was reported on stderr, for the key ``warnings`` of ``--json``."""
    return list(getattr(progress, "warnings", ()))


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
