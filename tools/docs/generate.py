"""Write the pages and the drawing of docs/ that come from the program itself. `make docs` calls it.

Usage: generate.py [--check]   (--check writes nothing and fails where a file is not up to date)
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the pages are those of this checkout, whatever is installed

from architecture import architecture_svg  # noqa: E402
from reference_pages import (  # noqa: E402
    command_line_page,
    keys_page,
    menu_keys,
    real_window,
    settings_page,
)


def made() -> dict[str, str]:
    """Return what is made without a window, by its place in docs/; the shortcuts come beside it."""
    from sce_desktop.cli import build_parser

    return {
        "reference/command-line.md": command_line_page(build_parser()),
        "reference/settings.md": settings_page(),
        "architecture.svg": architecture_svg(ROOT / "pyproject.toml"),
    }


def main() -> int:
    """Write what differs, or name it."""
    with real_window() as window:
        files = made() | {"reference/keys.md": keys_page(menu_keys(window))}
    old = [
        name
        for name, text in files.items()
        if not (file := ROOT / "docs" / name).is_file() or file.read_text(encoding="utf-8") != text
    ]
    for name in old:
        if "--check" in sys.argv:
            print(f"docs/{name} is not up to date: run tools/docs/generate.py.", file=sys.stderr)
        else:
            (ROOT / "docs" / name).write_text(files[name], encoding="utf-8", newline="\n")
            print(f"docs/{name}")
    return 1 if old and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
