"""``python -m tests.faults kills | power | durability | scoring``: break the program, see what is lost.

``kills``: SIGKILL at random moments of importing, adding, scoring, labelling, fine-tuning, exporting,
copying, migrating, repairing, and of labelling in the real window. The table says how many actions had been
acknowledged, how many of them were lost, what was damaged, and which files stay after the next start. The
same seed draws the same moments; what is hit also depends on how fast the machine is.

``power``: the power fails at random moments of a recording; what was not synced is lost, in part or whole.

``durability``: what it costs that every label is synced to the disk.

``scoring``: SIGKILL at random moments of one long scoring, which is resumed each time; the labels are edited
on the way. How many vectors were made, and how many of them twice although they had been stored.

The exit code is 1 if anything was lost, damaged or left. Linux only.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
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


def power(args: argparse.Namespace) -> int:
    """Lose power as often as asked and print what was found."""
    import tempfile

    from tests.faults import losses
    from tests.faults.power import build

    shares = {"label": 0.6, "add": 0.15, "make": 0.1, "migration": 0.15}
    place = Path(tempfile.mkdtemp(prefix="sce-power-"))
    os.environ["SCE_DESKTOP_HOME"] = str(place / "home")
    wrong = 0
    print("| work | power losses | acknowledged before them | lost or damaged |")
    print("| ---- | -----------: | -----------------------: | --------------: |")
    for recording in losses.record(place, build(place)):
        cuts = round(args.cuts * shares[recording.name])
        found = losses.check_cuts(recording, cuts, args.seed, place / "left")
        print(f"| {recording.name} | {found.cuts:,} | {found.acknowledged:,} | {len(found.wrong)} |")
        print(*found.wrong, sep="\n", end="\n" if found.wrong else "", flush=True)
        wrong += len(found.wrong)
    if wrong:
        print(f"what was left is in {place / 'left'}")
    else:
        shutil.rmtree(place, ignore_errors=True)
    return int(wrong > 0)


def durability(args: argparse.Namespace) -> int:
    """Print what a label costs, synced and not."""
    import tempfile

    from tests.faults.durability import measure

    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        synced, careless = measure(Path(folder), args.labels)
    print(f"synced (FULL): {1000 * synced:.2f} ms a label, median of {args.labels:,}")
    print(f"not synced (NORMAL): {1000 * careless:.2f} ms; ratio {synced / careless:.2f}")
    return 0


def scoring(args: argparse.Namespace) -> int:
    """Kill a long scoring as often as asked and print the count."""
    from tests.faults import long_scoring, running

    running.load_everything()
    return long_scoring.main(args.rows, args.kills, args.seed, args.folder)


def main() -> int:
    """Read the arguments and run one part."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(required=True, metavar="PART")
    part = parts.add_parser("kills", help="SIGKILL at random moments")
    part.add_argument("--kills", type=int, default=300, help="how many (300)")
    part.add_argument("--seed", type=int, default=0, help="of the moments and actions (0)")
    part.add_argument("--minutes", type=float, default=math.inf, help="end after so many (no limit)")
    part.add_argument("--only", nargs="+", metavar="OPERATION", help="these operations alone")
    part.add_argument("--lanes", type=int, default=1, help="how many at the same time (1)")
    part.add_argument("--folder", type=Path, help="where to work; what was found stays there")
    part.set_defaults(run=kills)
    part = parts.add_parser("power", help="power losses")
    part.add_argument("--cuts", type=int, default=500, help="how many (500)")
    part.add_argument("--seed", type=int, default=0, help="of the moments and of what is lost (0)")
    part.set_defaults(run=power)
    part = parts.add_parser("durability", help="what syncing costs")
    part.add_argument("--labels", type=int, default=400, help="how many of each kind (400)")
    part.add_argument("--folder", type=Path, help="on the disk to measure (that of temporary files)")
    part.set_defaults(run=durability)
    part = parts.add_parser("scoring", help="SIGKILL during one long scoring, resumed each time")
    part.add_argument("--rows", type=int, default=1_000_000, help="of the project (1,000,000)")
    part.add_argument("--kills", type=int, default=10, help="how many (10)")
    part.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    part.add_argument("--folder", type=Path, help="where to put the files (that of temporary files)")
    part.set_defaults(run=scoring)
    args = parser.parse_args()
    result: int = args.run(args)
    return result


if __name__ == "__main__":
    sys.exit(main())
