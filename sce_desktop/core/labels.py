"""What may serve as a label. Names are opaque: never split, trimmed or retyped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from sce_desktop.core.errors import UserError
from sce_desktop.core.types import Label, ModelKind
from sce_desktop.core.words import plural

PARENT_SIGN = " > "
# "A1", "Q7", "x_12", "label 3", "Topic B": names that tell a language model nothing.
_CODE = re.compile(
    r"[a-z]{1,2}[-_ .]?\d+(?:[-_. ]\d+)*"
    r"|(?:cat|category|class|cluster|code|group|id|label|no|nr|option|topic|type)[-_ .]?(?:\d+|[a-z])",
    re.IGNORECASE,
)


def clean_labels(labels: Iterable[str | Label]) -> tuple[Label, ...]:
    """Return the labels that a user typed, in their order and as typed.

    Raises:
        UserError: There is none, one has no name, or two are the same but for spaces around them.
    """
    cleaned = tuple(Label(label) if isinstance(label, str) else label for label in labels)
    if not cleaned:
        raise UserError("There is no label: give at least two.")
    seen: dict[str, str] = {}
    for label in cleaned:
        name = label.name.strip()
        if not name:
            raise UserError("A label has no name: give every label a name.")
        if name in seen:
            raise UserError(f"The label {name!r} is there twice: remove or rename one of them.")
        seen[name] = label.name
    return cleaned


def check_scorable(labels: Sequence[Label], *, least: int = 1) -> None:
    """Refuse label sets that are too small.

    Args:
        labels: What is to be scored.
        least: Two where a choice between labels is judged or learned.

    Raises:
        UserError: There are fewer.
    """
    if not labels:
        raise UserError(f"There is no label: give at least {('one', 'two')[least - 1]}.")
    if len(labels) < least:
        raise UserError(f"One label ({labels[0].name!r}) leaves nothing to choose from: give at least two.")


def asks_yes_no(labels: Sequence[Label], *, multi_label: bool) -> bool:
    """Return whether each label is a question of its own: several may fit, or there is no other one.

    A softmax over one label would always say 1.
    """
    return multi_label or len(labels) == 1


def why_alone(labels: Sequence[Label], *, multi_label: bool, kind: ModelKind = "sce") -> str:
    """Return why a model of ``kind`` reads each text alone, in a sentence; empty: other rows can help it."""
    if kind == "llm":
        return "A language model reads each text alone: the whole table helps an SCE only."
    if asks_yes_no(labels, multi_label=multi_label):
        return (
            "The whole table helps to choose between labels: with one label, or several a row, each is asked "
            "by itself."
        )
    return ""


def why_several(rows: int) -> str:
    """Return why no row can be limited to one label while ``rows`` have several, in a sentence."""
    have, them = ("has", "it") if rows == 1 else ("have", "each of them")
    return f"{plural(rows, 'row')} {have} several labels: leave {them} one label first."


def look_alikes(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the groups of names that are the same but for case, spaces around them and Unicode form."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(unicodedata.normalize("NFC", name.strip().casefold()), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def meaningless(names: Iterable[str]) -> list[str]:
    """Return the names without a meaning that a model could use: numbers, codes, single letters."""

    def tells_nothing(name: str) -> bool:
        letters = [character for character in name if character.isalpha()]
        single = len(letters) == 1 and letters[0].isascii()  # one letter of another script may be a word
        return not letters or single or _CODE.fullmatch(name.strip()) is not None

    return [name for name in names if tells_nothing(name)]


def distinct_labels(values: Iterable[str | None]) -> tuple[Label, ...]:
    """Return one label for each distinct value that is not blank, in the order in which they first appear."""
    return tuple(Label(name) for name in dict.fromkeys(values) if name is not None and name.strip())


def parent_of(name: str) -> str | None:
    """Return the name before the last `PARENT_SIGN`, by which a label says what it belongs to; else None."""
    parent, sign, child = name.rpartition(PARENT_SIGN)
    return parent if sign and parent.strip() and child.strip() else None


def roll_up(names: Iterable[str]) -> dict[str, str]:
    """Return for each name its topmost ancestor, the name itself where it has no parent."""
    rolled = {}
    for name in names:
        top = name
        while (parent := parent_of(top)) is not None:
            top = parent
        rolled[name] = top
    return rolled


def merged_names(rows: Mapping[str, int], first: Iterable[str] = ()) -> dict[str, str]:
    """Return for each name that looks like others the one that stands for all of them.

    Args:
        rows: How many rows have each name.
        first: Names that stand for others before those of most rows do.
    """
    order = {name: place for place, name in enumerate(dict.fromkeys(first))}
    merged: dict[str, str] = {}
    for group in look_alikes(dict.fromkeys((*order, *rows))):
        stays = min(group, key=lambda name: (order.get(name, len(order)), -rows.get(name, 0)))
        merged |= dict.fromkeys(group, stays)
    return merged
