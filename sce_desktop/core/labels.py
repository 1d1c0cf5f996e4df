"""What may serve as a label. Names are opaque: never split, trimmed or retyped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import INVISIBLE, is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.limits import MAX_LABEL_TEXT, MAX_LABELS, MAX_SYNONYMS
from sce_desktop.core.quoting import quoted
from sce_desktop.core.runs import ModelKind

PARENT_SIGN = " > "
_SHOWN = 60  # characters of a name in a message
# "A1", "Q7", "x_12", "label 3", "Topic B": names that tell a language model nothing.
_CODE = re.compile(
    r"[a-z]{1,2}[-_ .]?\d+(?:[-_. ]\d+)*"
    r"|(?:cat|category|class|cluster|code|group|id|label|no|nr|option|topic|type)[-_ .]?(?:\d+|[a-z])",
    re.IGNORECASE,
)
_UNSEEN = re.compile(f"[{INVISIBLE}]+")
_HALF = re.compile("[\ud800-\udfff]")
_WHOLE = re.compile(r"([+-]?\d+)(?:\.0+|,00?)")


def label_key(name: str) -> str:
    """Return what distinguishes labels: the name as it stands but for spaces around it."""
    return name.strip()


def _short(name: str) -> str:
    """Return a name as a message shows it: a label may be as long as a text."""
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"


def check_names(labels: Iterable[Label]) -> None:
    """Refuse what can be no set of labels; the one rule for whatever is typed, read or stored.

    Raises:
        UserError: One has no name or is no valid text, or two are the same but for spaces around them.
    """
    seen: set[str] = set()
    for label in labels:
        for text in (*label.wordings, label.description, label.shortcut):
            if _HALF.search(text):
                shown = _HALF.sub("\ufffd", _short(text))
                raise UserError(
                    _("The label “{name}” is not valid UTF-8 text: type or save it again.", name=shown)
                )
        name = label_key(label.name)
        if is_blank(name):
            raise UserError(_("A label has no name: give every label a name."))
        if name in seen:
            raise UserError(
                _("The label “{name}” appears twice: remove or rename one of them.", name=_short(name))
            )
        seen.add(name)


def check_count(labels: int, column: str = "") -> None:
    """Refuse more labels than anything can be done with; ``column`` is where they come from.

    Raises:
        UserError: There are more than `MAX_LABELS`.
    """
    if labels <= MAX_LABELS:
        return
    if column:
        raise UserError(
            _(
                "Column {column} has more than {limit} different values: choose a column of labels.",
                column=quoted(column),
                limit=number(MAX_LABELS),
            )
        )
    raise UserError(
        _("There are more than {limit} labels: give those that you need.", limit=number(MAX_LABELS))
    )


def clean_labels(labels: Iterable[str | Label]) -> tuple[Label, ...]:
    """Return the labels that a user typed, in their order and as typed.

    Raises:
        UserError: There is none, or they will not do (`check_names`).
    """
    given = (Label(label) if isinstance(label, str) else label for label in labels)
    cleaned = tuple(islice(given, MAX_LABELS + 1))
    check_count(len(cleaned))
    if not cleaned:
        raise UserError(_("There is no label: give at least two."))
    for label in cleaned:
        _check_size(label)
    check_names(cleaned)
    return cleaned


def _check_size(label: Label) -> None:
    texts = (*label.wordings, label.description)
    if len(label.synonyms) <= MAX_SYNONYMS and max(map(len, texts)) <= MAX_LABEL_TEXT:
        return
    raise UserError(
        _(
            "The label “{name}” has more than {synonyms} synonyms, or a text of more than {characters} "
            "characters: shorten it.",
            name=_short(label.name),
            synonyms=number(MAX_SYNONYMS),
            characters=number(MAX_LABEL_TEXT),
        )
    )


def check_scorable(labels: Sequence[Label], *, least: int = 1) -> None:
    """Refuse label sets that are too small.

    Args:
        labels: What is to be scored.
        least: Two where a choice between labels is judged or learned.

    Raises:
        UserError: There are fewer.
    """
    if not labels:
        raise UserError(
            _("There is no label: give at least one.")
            if least == 1
            else _("There is no label: give at least two.")
        )
    if len(labels) < least:
        raise UserError(
            _(
                "One label (“{name}”) leaves nothing to choose from: give at least two.",
                name=_short(labels[0].name),
            )
        )


def asks_yes_no(labels: Sequence[Label], *, multi_label: bool) -> bool:
    """Return whether labels are scored independently: several may fit, or there is no other one.

    A softmax over one label would always say 1.
    """
    return multi_label or len(labels) == 1


def why_alone(labels: Sequence[Label], *, multi_label: bool, kind: ModelKind = "sce") -> str:
    """Return why a model of ``kind`` cannot predict rows jointly, in words; empty: it can."""
    if kind == "llm":
        return _("Joint prediction needs an SCE model. Language models score each row separately.")
    if asks_yes_no(labels, multi_label=multi_label):
        return _("Joint prediction is not available with one label or in multi-label projects.")
    return ""


def why_several(rows: int) -> str:
    """Return why no row can be limited to one label while ``rows`` have several, in a sentence."""
    return ngettext(
        "{count} row has several labels: reduce it to one label first.",
        "{count} rows have several labels: reduce each of them to one label first.",
        rows,
    )


def look_alikes(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the groups of names that are the same but for case, spaces, Unicode form or how 2.0 is written.

    Characters that nobody sees count as spaces; those around a name count for nothing.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        seen = unicodedata.normalize("NFC", _UNSEEN.sub(_as_space, name).strip().casefold())
        whole = _WHOLE.fullmatch(seen)
        groups.setdefault(whole[1] if whole else seen, []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _as_space(unseen: re.Match[str]) -> str:
    return " " if any(map(str.isspace, unseen[0])) else ""


def meaningless(names: Iterable[str]) -> list[str]:
    """Return the names without a meaning that a model could use: numbers, codes, single letters."""

    def tells_nothing(name: str) -> bool:
        letters = [character for character in name if character.isalpha()]
        single = len(letters) == 1 and letters[0].isascii()  # one letter of another script may be a word
        return not letters or single or _CODE.fullmatch(name.strip()) is not None

    return [name for name in names if tells_nothing(name)]


def distinct_labels(values: Iterable[str | None]) -> tuple[Label, ...]:
    """Return one label for each distinct value that is not blank, in the order in which they first appear.

    Values that differ in the spaces around them alone are one label, written as the first of them.
    """
    first: dict[str, str] = {}
    for name in dict.fromkeys(values):
        if name is not None and not is_blank(name):
            first.setdefault(label_key(name), name)
    return tuple(map(Label, first.values()))


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
