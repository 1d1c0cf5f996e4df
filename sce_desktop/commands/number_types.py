"""Types of numbers on the command line, for argparse."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from sce_desktop.core.errors import UserError

if TYPE_CHECKING:
    pass


def share(text: str) -> float:
    """Read a fraction above 0 and below 1, or a percentage such as 5%; argparse tells what is wrong."""
    value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 100%, not {text}")
    return value


def whole_number(least: int) -> Callable[[str], int]:
    """Return what reads a whole number from ``least`` up; argparse tells what is wrong."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {value}")
        return value

    return number


def check_at_most(value: int | None, most: int, option: str) -> None:
    """Raise UserError where the ``value`` of an ``option`` is above ``most``."""
    if value is not None and value > most:
        raise UserError(f"{option} must be at most {most:,}, not {value:,}.")


def above_zero(text: str) -> float:
    """Read a finite number above 0; argparse tells what is wrong."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}")
    return value


def fraction(text: str) -> float:
    """Read a number from 0 to 1; argparse tells what is wrong."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, not {text}")
    return value
