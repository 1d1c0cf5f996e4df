"""Labels from nothing: groups of a table's rows, what each may be called, and the labels that they become.

A `Cluster` is a suggestion. A person accepts, merges, renames or drops it; what is accepted becomes labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from sce_desktop.core.annotations import Label

One = TypeVar("One")
SAMPLE_ROWS: Final = 2000
"""Rows that are read unless another number is given: on two cores in under a minute."""
MOST_ROWS: Final = 5000
"""More rows are not read: the distances between them would take seconds for every number of clusters."""
FEWEST_ROWS: Final = 20
"""Clusters of fewer different texts are no clusters."""
MOST_CLUSTERS: Final = 20
_DESCRIBED: Final = 4  # alternatives that describe a label


@dataclass(frozen=True, slots=True)
class TypicalRow:
    """A row that stands for a cluster. ``row_id`` is its id in the project, or its place in a table."""

    row_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """Rows that are alike. ``names`` has the name in use first, then the alternatives, best first."""

    names: tuple[str, ...]
    rows: int  # of the sample
    typical: tuple[TypicalRow, ...]
    row_ids: tuple[int, ...] = ()  # of all its rows in the sample, the most typical first
    llm_name: str = ""  # of ``names``, the one that a language model chose
    accepted: bool = False
    renamed: bool = False  # by a person

    @property
    def name(self) -> str:
        """The name in use."""
        return self.names[0] if self.names else ""

    def called(self, name: str) -> Cluster:
        """Return the cluster under ``name``; the other names stay as alternatives."""
        name = name.strip()
        others = tuple(one for one in self.names if one != name)
        return replace(self, names=(name, *others), renamed=name not in self.names or self.renamed)


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found in a random sample of a table."""

    clusters: tuple[Cluster, ...]  # the largest first
    sampled: int  # rows that were read
    total: int  # rows with text that they were drawn from
    covered: int | None = None  # rows of the sample that a label fits; None: no label was given
    fits_from: float = 0.0  # the probability from which one does

    @property
    def clustered(self) -> int:
        """Rows of the sample that were clustered."""
        return self.sampled - (self.covered or 0)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for. ``clusters`` None: as many as the silhouette says, up to `MOST_CLUSTERS`."""

    clusters: int | None = None
    rows: int = SAMPLE_ROWS
    seed: int = 0
    covering: tuple[Label, ...] = ()  # rows that one of these fits are not clustered
    multi_label: bool = False
    llm: str = ""  # a language model that chooses among the names too; empty: none


def merged(clusters: Sequence[Cluster], into: int, others: Iterable[int]) -> tuple[Cluster, ...]:
    """Return ``clusters`` with those at ``others`` merged into the one at ``into``, which keeps its name.

    Typical rows take turns, so that each of the merged clusters is seen.
    """
    going = sorted(set(others) - {into})
    if not going:
        return tuple(clusters)
    parts = [clusters[into], *(clusters[place] for place in going)]
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    one = replace(
        clusters[into],
        names=(clusters[into].name, *(name for name in names if name != clusters[into].name)),
        rows=sum(part.rows for part in parts),
        typical=tuple(_in_turn([part.typical for part in parts])),
        row_ids=tuple(_in_turn([part.row_ids for part in parts])),
        accepted=any(part.accepted for part in parts),
    )
    return tuple(
        one if place == into else cluster for place, cluster in enumerate(clusters) if place not in going
    )


def labels_of(clusters: Iterable[Cluster], *, every: bool = False) -> list[Label]:
    """Return a label for each accepted cluster that has a name, or for ``every`` one; of one name one label.

    The best alternatives are its description: with them a model finds more of the rows than by the name alone
    (`docs/research/labels-from-nothing.md`).
    """
    from sce_desktop.core.annotations import Label  # the command line reads the numbers above alone

    found: dict[str, Label] = {}
    for cluster in clusters:
        name = cluster.name.strip()
        if (cluster.accepted or every) and name:
            found.setdefault(name, Label(name, description=", ".join(cluster.names[1 : 1 + _DESCRIBED])))
    return list(found.values())


def _in_turn(lists: Sequence[Sequence[One]]) -> Iterator[One]:
    longest = max(map(len, lists), default=0)
    return (one[place] for place in range(longest) for one in lists if place < len(one))
