"""A fine-tune: what is asked for, and what came of it.

`FinetuneSettings` goes from the window or the command line to `ml.finetune` as it is; `TrainingReport` goes
from `tasks.training` into the project and from there to whatever shows it. `store.runs.training_json` alone
knows them as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sce_desktop.core.annotations import Origin
from sce_desktop.core.comparison import Difference
from sce_desktop.core.figures import ChangedRow, Figures, LabelChange, PairedCounts
from sce_desktop.core.heads import HeadReport, Way

MEASURED_ON = (Origin.HAND, Origin.IMPORTED)
"""What is learned from unless more is asked for, and the only rows that a fine-tune is measured on.

Most answers given in bulk are predictions that were accepted: the model agrees with them by construction, and
"before" would look better than it is (docs/research/honest-figures.md).
"""
MOST_CHANGES_KEPT = 1000


@dataclass(frozen=True, slots=True)
class FinetuneSettings:
    """What the user may change. ``epochs`` and ``lr``: see `ml.finetune.fitting.fit`.

    ``origins``: which annotations of a project are learned from; those given in bulk are never measured on.
    ``adapt_embedder``: whether the text encoder is fine-tuned too (`ml.finetune.finetune_embedder`).
    ``head``: the way to predict in; None: the one that cross-validation chooses.
    ``all_rows``: learn from all labelled rows however long it takes (`tasks.training.sampling`).
    """

    epochs: int = 100
    lr: float = 1.0
    seed: int = 0
    balanced: bool = True
    adapt_embedder: bool = False
    origins: tuple[Origin, ...] = MEASURED_ON
    head: Way | None = None
    all_rows: bool = False

    def __post_init__(self) -> None:
        """Fine-tune the text encoder where that is the way to predict in."""
        if self.head is Way.ADAPTED:
            object.__setattr__(self, "adapt_embedder", True)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How strongly the zero-shot scores are held on to: both grow with it."""

    hold: float
    ridge: float


@dataclass(frozen=True, slots=True)
class SinceVersion:
    """Against the version in use (its number), on measured rows that neither has learned from."""

    version: int
    paired: PairedCounts


@dataclass(frozen=True, slots=True)
class EncoderReport:
    """What fine-tuning the text encoder brought; ``sentence`` tells it.

    ``kept``: the model has the fine-tuned encoder, trained for ``steps`` in ``seconds``; else that of the
    base. ``standard``: the standard fine-tune on the same rows, None where none were measured.
    """

    kept: bool
    sentence: str
    steps: int
    seconds: float
    standard: Figures | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """How the model that is kept was fitted. ``stopped``: why it ended, as `ml.finetune.fitting.Fitted` says.

    ``expected_seconds``: the estimate before the start; 0: there was none. ``encoder_key``: of the weights of
    a fine-tuned text encoder, empty where it is that of the base. ``labels``: ids by name then. ``row_ids``:
    the rows that it learned from, sorted. ``cut_short``: the user stopped it, so that fewer rows may have
    been measured than could have been. ``losses``: by epoch.
    """

    recipe: Recipe | None = None
    temperature: float = 1.0
    calibrated: bool = False
    stopped: str = ""
    cut_short: bool = False
    losses: tuple[float, ...] = ()
    expected_seconds: float = 0.0
    encoder_key: str = ""
    labels: Mapping[str, int] = field(default_factory=dict)
    row_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a fine-tune changed on the rows that it was measured by, and how the model was fitted.

    ``before`` (the base model), ``after`` and ``logistic`` (a logistic regression on the text vectors alone,
    fitted on the same rows) are None where no row could be measured. ``baselines``: the project's other
    models on the same rows, by alias. ``left_out``: labelled rows not learned from, by reason. ``head``: the
    way to predict in, None where an older program made the version: it had but one.
    ``untested``: labels of which no row could be measured. ``problem``: why a project's figures could not be
    read, in one sentence; what could not be read is as if it were absent.
    """

    paired: PairedCounts = field(default_factory=PairedCounts)
    before: Figures | None = None
    after: Figures | None = None
    logistic: Figures | None = None
    by_label: tuple[LabelChange, ...] = ()
    baselines: Mapping[str, Figures] = field(default_factory=dict)
    since: SinceVersion | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    untested: tuple[str, ...] = ()
    changed_rows: tuple[ChangedRow, ...] = ()
    encoder: EncoderReport | None = None
    head: HeadReport | None = None
    fit: Fit = field(default_factory=Fit)
    problem: str = ""

    @property
    def measured(self) -> int:
        """How many rows it was measured on."""
        return self.paired.rows

    @property
    def difference(self) -> Difference:
        """The accuracy after less the accuracy before."""
        return self.paired.difference

    @property
    def better(self) -> bool:
        """Whether the version should be used without being asked for.

        Both against the base model and, on the rows that are new to both, against the version in use it must
        be better by the exact test.
        """
        return self.difference.better and (self.since is None or self.since.paired.difference.better)

    @property
    def sentence(self) -> str:
        """The result in one sentence: why it cannot be read, or what the rows show."""
        return self.problem or self.difference.sentence
