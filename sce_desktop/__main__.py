"""``python -m sce_desktop``, and where a frozen build starts."""

from __future__ import annotations

import sys

from sce_desktop.cli import main

if __name__ == "__main__":
    sys.exit(main())
