"""``python -m tests.benchmarks [PART ...]``: measure this machine and print; nothing is asserted.

Parts: embed, score, import, window (all of them if none is named).
"""

from __future__ import annotations

import argparse
import os

PARTS = ("embed", "score", "import", "window")


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    parser.add_argument("--model", default="sce-mini", help="name or folder of the model to score with")
    parser.add_argument(
        "--labels", type=int, nargs="+", default=[4, 10, 50, 200], help="label counts to score"
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="of one measurement (embed, score)")
    parser.add_argument("--texts", type=int, default=256, help="texts a call (embed)")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the generated table (import)")
    parser.add_argument("--window-rows", type=int, default=20_000, help="rows of the table (window)")
    parser.add_argument("--window-seconds", type=float, default=20.0, help="of scoring (window)")
    args = parser.parse_args()
    if wrong := set(args.parts) - set(PARTS):
        parser.error(f"no part is named {', '.join(sorted(wrong))}; there are {', '.join(PARTS)}")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from tests.benchmarks import embed, score, tables, window
    from tests.benchmarks.measure import machine

    print(machine())
    for part in args.parts or PARTS:
        if part == "embed":
            embed.run(rows=args.texts, seconds=args.seconds)
        elif part == "score":
            score.run(model=args.model, label_counts=args.labels, seconds=args.seconds)
        elif part == "import":
            tables.run(rows=args.rows)
        else:
            window.run(rows=args.window_rows, seconds=args.window_seconds)


if __name__ == "__main__":
    main()
