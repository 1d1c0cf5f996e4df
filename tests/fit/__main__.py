"""``python -m tests.fit``: does every text of the window fit, in every language, on every screen?

Opens the real window, each panel and each dialog, and asks what is on the screen whether its text has room:
labels, buttons, boxes, choices, tabs, headings, cells, hints in fields. English, German and the made-up
language (a third longer); displays from 1024x700 to 3840x2160 pixels, scaled by 100 to 300 %; and larger
text, which a system sets apart from the scale of a display. What scrolls into view has room. The exit code is
1 if something is cut that is no exception. About a dozen seconds of the processor for each of the 45 walks.

    python -m tests.fit --language de --display 3840x2160@300     # some of them
    python -m tests.fit --text 200 --exceptions                   # with what the exceptions cover
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.fit.checks import Misfit
from tests.fit.exceptions import ALLOWED, Allowed, uncovered

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "de", "qps")


@dataclass(frozen=True)
class Display:
    """Pixels of a screen; what the system scales all that is drawn by, and the text besides, in percent."""

    width: int
    height: int
    scale: int = 100
    text: int = 100

    @property
    def name(self) -> str:
        """As it is asked for: without the size of the text."""
        return f"{self.width}x{self.height}" + (f"@{self.scale}" if self.scale != 100 else "")


DISPLAYS = (
    # From the least window to 4K. The second and third of the scaled ones have its 1024x700 at 200 and 300 %.
    Display(1024, 700),
    Display(1280, 800),
    Display(1920, 1080),
    Display(3840, 2160),
    Display(1920, 1080, 150),
    Display(2048, 1400, 200),
    Display(3072, 2100, 300),
    Display(3840, 2160, 150),
    Display(3840, 2160, 200),
    Display(3840, 2160, 300),
    # Larger text alone: from where the window has room for it, and below.
    Display(1280, 800, text=150),
    Display(1920, 1080, text=200),
    Display(3840, 2160, text=300),
    Display(1024, 700, text=200),
    Display(1280, 800, text=200),
)


@dataclass(frozen=True)
class Walk:
    """What one walk found."""

    size: tuple[int, int]  # of the window in the end: it has a least size
    asked: int  # kinds of widgets by place that were asked
    misfits: tuple[tuple[Misfit, str], ...]  # each with where the walk was
    cpu_s: float


def walk(language: str, display: Display, *, timeout_s: float = 600) -> Walk:
    """Walk through the window in a process of its own.

    Raises:
        RuntimeError: It ended otherwise than it should.
    """
    words = [language, f"{display.width}x{display.height}", str(display.scale), str(display.text)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.fit.walk", folder, *words],
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


def line(misfit: Misfit, place: str) -> str:
    """What is cut, by how much, and where."""
    return f"{misfit.lacks:4} px  {misfit.kind}: {misfit.text!r}  [{place}] {misfit.where}"


def main() -> int:
    """Walk the matrix and print what does not fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    names = tuple(dict.fromkeys(one.name for one in DISPLAYS))
    parser.add_argument("--display", choices=names, action="append", metavar="WxH[@SCALE]")
    texts = sorted({one.text for one in DISPLAYS})
    parser.add_argument("--text", type=int, action="append", choices=texts, help="percent of the text's size")
    parser.add_argument("--exceptions", action="store_true", help="print what they cover, too")
    args = parser.parse_args()
    used: set[Allowed] = set()
    wrong = 0
    for language in args.language or LANGUAGES:
        for display in DISPLAYS:
            if display.name not in (args.display or names) or display.text not in (args.text or texts):
                continue
            done = walk(language, display)
            places = dict(done.misfits)
            left = uncovered(places, used)
            print(
                f"{language} {display.name} text {display.text}%: window {done.size[0]}x{done.size[1]}, "
                f"{done.asked} asked, {len(left)} cut, {len(places) - len(left)} exceptions, "
                f"{done.cpu_s} s of the processor",
                flush=True,
            )
            for one in left:
                print(f"  {line(one, places[one])}", flush=True)
            if args.exceptions:
                for one in places.keys() - set(left):
                    print(f"  exception {line(one, places[one])}", flush=True)
            wrong += len(left)
    if not (args.language or args.display or args.text):
        for exception in ALLOWED:
            if exception not in used:
                print(f"No longer needed: {exception.where} ({exception.kind})")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
