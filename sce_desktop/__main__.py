"""``python -m sce_desktop``, and where a frozen build starts."""

from __future__ import annotations

import multiprocessing
import sys

from sce_desktop.cli import main

if __name__ == "__main__":
    multiprocessing.freeze_support()  # a frozen build starts itself again for every child
    sys.exit(main())
