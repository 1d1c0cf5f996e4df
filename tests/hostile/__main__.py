"""``python -m tests.hostile SUBJECT [OPTIONS]``: meet every hostile file of a subject; 1 if one ends badly.

A subject is a module here with ``main(arguments) -> int``. Linux only: memory is limited as Linux does.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec

SUBJECTS = {
    name: module
    for name, module in (
        ("projects", "tests.hostile.project_matrix"),
        ("tables", "tests.hostile.tables"),
        ("models", "tests.hostile.models"),
    )
    if find_spec(module)
}


def main(arguments: list[str]) -> int:
    """Run one subject."""
    if not arguments or arguments[0] not in SUBJECTS:
        print(f"usage: python -m tests.hostile {{{','.join(SUBJECTS)}}} [OPTIONS]", file=sys.stderr)
        return 2
    run: int = importlib.import_module(SUBJECTS[arguments[0]]).main(arguments[1:])
    return run


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
