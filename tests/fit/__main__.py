"""``python -m tests.fit``: does every text of the window fit, in every language, size and scale of text?

Opens the real window, each panel and each dialog, and asks what is on the screen whether its text has room:
labels, buttons, boxes, choices, tabs, headings, cells, hints in fields. English, German and the made-up
language, 1024x700 and 1280x800, text at 100 and 200 %, and 1920x1080 at 200 %. The exit code is 1 if
 something is cut that is no exception.
About eleven seconds of the processor for each of the fifteen walks.

    python -m tests.fit --language de --size 1024x700 --percent 100     # one of them
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from tests.fit.checks import Misfit
from tests.fit.exceptions import ALLOWED, Allowed, uncovered

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "de", "qps")
SIZES = ("1024x700", "1280x800")
PERCENTS = (100, 200)
ROOMY = "1920x1080"  # where text at 200 % has all the room that it needs
MATRIX = (*product(LANGUAGES, SIZES, PERCENTS), *((language, ROOMY, 200) for language in LANGUAGES))


@dataclass(frozen=True)
class Walk:
    """What one walk found."""

    size: tuple[int, int]  # of the window in the end: it has a least size
    asked: int  # kinds of widgets by place that were asked
    misfits: tuple[tuple[Misfit, str], ...]  # each with where the walk was
    cpu_s: float


def walk(language: str, size: str, percent: int, *, timeout_s: float = 600) -> Walk:
    """Walk through the window in a process of its own.

    Raises:
        RuntimeError: It ended otherwise than it should.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.fit.walk", folder, language, size, str(percent)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=timeout_s,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    raw = json.loads(done.stdout)
    found = tuple((Misfit(**one), place) for one in raw["misfits"] if (place := one.pop("place")) is not None)
    return Walk((raw["size"][0], raw["size"][1]), raw["asked"], found, raw["cpu_s"])


def main() -> int:
    """Walk the matrix and print what does not fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    parser.add_argument("--size", action="append", choices=(*SIZES, ROOMY))
    parser.add_argument("--percent", type=int, action="append", choices=PERCENTS, help="of the text's size")
    args = parser.parse_args()
    used: set[Allowed] = set()
    wrong = 0
    for language, size, percent in MATRIX:
        if (
            language not in (args.language or LANGUAGES)
            or size not in (args.size or (*SIZES, ROOMY))
            or percent not in (args.percent or PERCENTS)
        ):
            continue
        done = walk(language, size, percent)
        places = dict(done.misfits)
        width, height = map(int, size.split("x"))
        left = uncovered(places, (width, height), percent, used)
        print(
            f"{language} {size} {percent}%: window {done.size[0]}x{done.size[1]}, {done.asked} asked, "
            f"{len(left)} cut, {len(places) - len(left)} exceptions, {done.cpu_s} s of the processor",
            flush=True,
        )
        for one in left:
            print(f"  {one.lacks:4} px  {one.kind}: {one.text!r}  [{places[one]}] {one.where}", flush=True)
        wrong += len(left)
    if not (args.language or args.size or args.percent):
        for exception in ALLOWED:
            if exception not in used:
                print(f"No longer needed: {exception.where} ({exception.kind})")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
