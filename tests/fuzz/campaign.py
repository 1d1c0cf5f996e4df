"""Runs a fuzzer: one seed makes one input, child processes use some of them at a time, findings are kept."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Protocol

from tests.hostile.child import Ended, in_child

TOGETHER = 8
"""Inputs that a child process uses one after the other; where it ends badly, each is used alone."""


class Target(Protocol):
    """What is fuzzed."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Make whole inputs, to be damaged, and import everything."""

    def make(self, chance: random.Random, folder: Path) -> str:
        """Make a damaged input in ``folder``; return in words what was done."""

    def use(self, folder: Path) -> str:
        """Use it as the program does; return in a word what it came to. Whatever it raises is a finding."""


class Campaign:
    """Counts what came of the inputs, and keeps those that came to nothing good."""

    def __init__(self, target: Target, work: Path, findings: Path) -> None:
        self.target, self.work, self.findings = target, work, findings
        self.counts: Counter[str] = Counter()
        self.found: list[str] = []
        self._seen: set[str] = set()

    def round(self, seeds: range) -> None:
        """Try the inputs of ``seeds``."""
        made = {seed: self._make(seed) for seed in seeds}
        ended = in_child(
            lambda: "\n".join(self.target.use(folder) for folder, _ in made.values()), seconds=40
        )
        if ended.how == "returned":
            self.counts.update(ended.text.split("\n"))
        else:
            for seed, (folder, words) in made.items():
                shutil.rmtree(folder, ignore_errors=True)
                self._make(seed)  # the first child may have changed it
                self._one(seed, folder, words)
        for folder, _words in made.values():
            shutil.rmtree(folder, ignore_errors=True)

    def _make(self, seed: int) -> tuple[Path, str]:
        folder = self.work / str(seed)
        folder.mkdir()
        return folder, self.target.make(random.Random(f"{self.target.name} {seed}"), folder)

    def _one(self, seed: int, folder: Path, words: str) -> None:
        ended = in_child(lambda: self.target.use(folder))
        if ended.how == "returned":
            self.counts[ended.text] += 1
            return
        self.counts[ended.how] += 1
        kind = _kind(ended)
        if kind in self._seen:  # the same fault again
            return
        self._seen.add(kind)
        self.findings.mkdir(parents=True, exist_ok=True)
        kept = self.findings / f"{self.target.name}-{seed}"
        facts = {"seed": seed, "how": ended.how, "made": words, "said": ended.text}
        kept.with_suffix(".json").write_text(json.dumps(facts, indent=2), encoding="utf-8")
        last = (ended.text.strip().splitlines() or [""])[-1][:200]
        self.found.append(f"{self.target.name} --seed {seed} --examples 1: {ended.how}, {words}: {last}")
        print(self.found[-1], flush=True)


def _kind(ended: Ended) -> str:
    lines = [line.strip() for line in ended.text.splitlines()]
    places = [line for line in lines if line.startswith("File ")]
    last = lines[-1].partition(":")[0] if lines else ""
    return " ".join([ended.how, last, *places[-2:]])


def run(target: Target, arguments: list[str]) -> int:
    """Try inputs for some minutes, or a number of them; 1 if there was a finding."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.fuzz {target.name}")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    parser.add_argument("--examples", type=int, help="how many inputs instead")
    parser.add_argument("--seed", type=int, default=0, help="of the first input; later ones count up")
    parser.add_argument("--findings", type=Path, default=Path(tempfile.gettempdir()) / "sce-desktop-fuzz")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        target.prepare(work / "whole")
        campaign = Campaign(target, work, args.findings)
        end = time.monotonic() + 60 * args.minutes
        seed, last = args.seed, None if args.examples is None else args.seed + args.examples
        while seed < last if last is not None else time.monotonic() < end:
            stop = seed + TOGETHER if last is None else min(seed + TOGETHER, last)
            campaign.round(range(seed, stop))
            seed = stop
    counts = ", ".join(f"{count:,} {word}" for word, count in sorted(campaign.counts.items()))
    print(f"{campaign.counts.total():,} inputs (seeds {args.seed} to {seed - 1}): {counts or 'none'}")
    print(f"{len(campaign.found)} findings" + (f" in {args.findings}" if campaign.found else ""))
    return 1 if campaign.found else 0
