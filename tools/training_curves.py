"""Draw how trainings went: mean accuracy on validation sets by step, from what `sce-desktop pretrain` logged.

    python tools/training_curves.py -o CHART.svg "NAME=MODEL_DIR/training.json" ...

The log of an unfinished training, training-state.json, does too. Rows held out of the training's own label
spaces ("seen") and sets with labels that it never had ("unseen") are lines of their own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from sce_desktop.data.atomic import replacing
from sce_desktop.tasks.evaluation.svg import Line, line_chart

Curve = dict[int, float]
"""Mean accuracy, a fraction of 1, by step."""


def curves(log: Mapping) -> dict[str, Curve]:
    """Return the curves over the rows held out ("seen") and over all other sets ("unseen")."""
    trace = log["members"]["model"] if "members" in log else log["trace"]
    found: dict[str, Curve] = {"seen": {}, "unseen": {}}
    for step, sets in zip(trace["steps"], trace["accuracies"], strict=True):
        for kind, curve in found.items():
            own = [one for name, one in sets.items() if name.endswith("_seen") == (kind == "seen")]
            if own:
                curve[step] = sum(one["sce"] for one in own) / len(own) / 100
    return {kind: curve for kind, curve in found.items() if curve}


def chart(logs: Mapping[str, Mapping], title: str) -> str:
    """Return the chart of trainings by name as SVG, over the steps at which all were looked at."""
    drawn = {f"{name}, {kind}": curve for name, log in logs.items() for kind, curve in curves(log).items()}
    steps = sorted(set.intersection(*(set(curve) for curve in drawn.values())))
    lines = [Line(name, [curve[step] for step in steps]) for name, curve in drawn.items()]
    return line_chart(lines, [f"{step:,}" for step in steps], title=title, background="#fff")


def main() -> None:
    """Read the command line and write the chart."""
    parser = argparse.ArgumentParser(description="Draw how trainings went.")
    parser.add_argument("trainings", nargs="+", metavar="NAME=LOG")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="CHART.svg")
    parser.add_argument("--title", default="Mean accuracy on validation sets by training step")
    args = parser.parse_args()
    named = dict(one.rsplit("=", 1) for one in args.trainings)
    logs = {name: json.loads(Path(file).read_text(encoding="utf-8")) for name, file in named.items()}
    with replacing(args.output) as aside:
        aside.write_text(chart(logs, args.title) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
