"""``python -m tests.faults kills [--kills N] [--seed N]``: break the program on purpose, see what is lost.

``kills``: SIGKILL at random moments of importing, adding, scoring, labelling, fine-tuning, exporting, copying,
migrating, repairing, and of labelling in the real window. The table says how many actions the program had
acknowledged, how many of them were lost, what was damaged, and which files stay after the next start. The
exit code is 1 if there was any of that. The same seed draws the same moments; what is hit also depends on
how fast the machine is. Linux only.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path

# Read when numpy, torch, pyarrow and Qt are imported. None may start a thread: this process is forked.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def kills(args: argparse.Namespace) -> int:
    """Kill as often as asked and print the table."""
    from tests.faults import running

    began = time.monotonic()
    counts = running.run(
        args.kills,
        args.seed,
        names=args.only,
        folder=args.folder,
        lanes=args.lanes,
        minutes=args.minutes,
    )
    from tests.faults.kills import table

    print(table(counts))
    print(f"{time.monotonic() - began:.0f} seconds, seed {args.seed}")
    return int(any(found.lost or found.damaged or found.litter for found in counts.values()))


def main() -> int:
    """Read the arguments and run one part."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parts = parser.add_subparsers(required=True, metavar="PART")
    part = parts.add_parser("kills", help="SIGKILL at random moments")
    part.add_argument("--kills", type=int, default=300, help="how many (300)")
    part.add_argument("--seed", type=int, default=0, help="of the moments and actions (0)")
    part.add_argument("--minutes", type=float, default=math.inf, help="end after so many (no limit)")
    part.add_argument("--only", nargs="+", metavar="OPERATION", help="these operations alone")
    part.add_argument("--lanes", type=int, default=1, help="how many at the same time (1)")
    part.add_argument("--folder", type=Path, help="where to work; what was found stays there")
    part.set_defaults(run=kills)
    args = parser.parse_args()
    result: int = args.run(args)
    return result


if __name__ == "__main__":
    sys.exit(main())
