"""A label of a row with what models say of it, as the row panel shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

from sce_desktop.core.text import share_text


@dataclass(frozen=True, slots=True)
class Bar:
    """The probability that one model gives a label; ``share`` 0 to 1."""

    title: str
    share: float
    main: bool  # the model's own, in the colour of the label


@dataclass(frozen=True, slots=True)
class LabelLine:
    """A label with the probabilities that models give it."""

    label_id: int
    name: str
    colour: str
    key: str  # of its own, beside the digit of its place
    bars: tuple[Bar, ...]
    decided: bool
    short: str = ""  # what it is called below the heading of its group

    @property
    def in_words(self) -> str:
        """The probabilities, in words."""
        return ", ".join(f"{bar.title} {share_text(bar.share)}" for bar in self.bars)


class LazyLines(Sequence[LabelLine]):
    """Lines that are made when they are looked at: of hundreds of labels a dozen are shown."""

    def __init__(self, make: Callable[[int], LabelLine], places: Sequence[int]) -> None:
        self._make = make
        self._places = places

    def __len__(self) -> int:
        """How many labels there are."""
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> LabelLine: ...
    @overload
    def __getitem__(self, at: slice) -> list[LabelLine]: ...
    def __getitem__(self, at: int | slice) -> LabelLine | list[LabelLine]:
        """Make a line, or several."""
        if isinstance(at, slice):
            return [self._make(place) for place in self._places[at]]
        return self._make(self._places[at])


@dataclass(frozen=True, slots=True)
class GroupLine:
    """The heading of the labels that have one parent."""

    parent: str
    count: int
    share: float | None  # 0 to 1, of its labels together; None: not scored
    folded: bool


class Listing:
    """Labels in the order of their list, with the headings of their groups; lines are made when asked for."""

    def __init__(
        self, make: Callable[[int, str], LabelLine], entries: Sequence[GroupLine | tuple[int, str]]
    ) -> None:
        """``entries``: headings, and labels as their place and what they are called below a heading."""
        self._make = make
        self._entries = entries

    def lines(self, most: int | None = None) -> list[GroupLine | LabelLine]:
        """Make the first ``most`` labels, or all, and the headings above them."""
        made: list[GroupLine | LabelLine] = []
        labels = 0
        for entry in self._entries:
            if isinstance(entry, GroupLine):
                made.append(entry)
            elif most is None or labels < most:
                made.append(self._make(*entry))
                labels += 1
            else:
                break
        while most is not None and made and isinstance(made[-1], GroupLine) and not made[-1].folded:
            made.pop()  # its labels are among the rest
        return made

    def __len__(self) -> int:
        """How many labels there are outside folded groups."""
        return sum(not isinstance(entry, GroupLine) for entry in self._entries)
