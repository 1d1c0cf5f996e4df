"""The user's settings: one declared tuple drives file and dialog; the file holds overrides only."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sce_desktop import paths, state_files
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import LANGUAGES, N_, PSEUDO, _
from sce_desktop.core.precision import AUTO, PRECISIONS

_log = logging.getLogger(__name__)

Value = str | int | float | bool

_UNREADABLE = N_("Your settings could not be read, so the defaults apply; the file is kept as {file}.")
_PARTLY = N_("Some settings could not be read and have their defaults; the file is kept as {file}.")


_Kind: TypeAlias = type  # `Setting` has a field of that name


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. ``choices`` lists the only values allowed; ``least`` and ``most`` bound a number.

    ``label`` and ``help`` are translated where they are shown.
    """

    key: str
    type: type
    default: Value
    label: str
    help: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    shown: bool = True  # among the settings; else it is changed elsewhere in the window
    shape: _Kind | None = None  # of the JSON that a text holds

    def has_type(self, value: object) -> bool:
        """Whether ``value`` is of this setting's type."""
        if self.shape is not None and type(value) is str:
            return not value or _holds(value, self.shape)
        return type(value) is self.type or (self.type is float and type(value) is int)

    def check(self, value: object) -> Value:
        """Return ``value`` in this setting's type.

        Raises:
            UserError: It is of another type, not among the choices or out of bounds.
        """
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not self.has_type(value):
            raise UserError(
                _(
                    "The setting “{key}” must be of type {type}, not “{value}”.",
                    key=self.key,
                    type=self.type.__name__,
                    value=value,
                )
            )
        if self.choices and value not in self.choices:
            raise UserError(
                _(
                    "The setting “{key}” must be one of {choices}, not “{value}”.",
                    key=self.key,
                    choices=", ".join(filter(None, self.choices)),
                    value=value,
                )
            )
        if isinstance(value, int | float):
            if self.least is not None and value < self.least:
                raise UserError(
                    _(
                        "The setting “{key}” must be at least {least}, not {value}.",
                        key=self.key,
                        least=f"{self.least:g}",
                        value=value,
                    )
                )
            if self.most is not None and value > self.most:
                raise UserError(
                    _(
                        "The setting “{key}” must be at most {most}, not {value}.",
                        key=self.key,
                        most=f"{self.most:g}",
                        value=value,
                    )
                )
        return value  # type: ignore[return-value]


def _holds(text: str, shape: type) -> bool:
    try:
        return isinstance(json.loads(text), shape)
    except (ValueError, RecursionError):
        return False


SETTINGS: tuple[Setting, ...] = (
    Setting("model", str, "sce-mini", N_("Model"), N_("Scores new projects.")),
    Setting("baseline", str, "similarity", N_("Baseline"), N_("Shown next to the model, for comparison.")),
    Setting(
        "llm_rows",
        str,
        "screen",
        N_("LLM rows"),
        N_("An LLM is slow: it scores the visible rows, or all."),
        choices=("screen", "all"),
        shown=False,
    ),
    Setting(
        "device",
        str,
        "auto",
        N_("Device"),
        N_("Where models run. Automatic uses a GPU if one works."),
        choices=("auto", "cpu", "cuda", "cuda:all", "mps"),
    ),
    Setting(
        "precision",
        str,
        AUTO,
        N_("Precision"),
        N_("Automatic uses 16 bits where that is faster."),
        choices=(AUTO, *PRECISIONS),
    ),
    Setting(
        "threads",
        int,
        0,
        N_("Processor cores"),
        N_("How many a model may use."),
        least=0,
        most=1024,
    ),
    Setting(
        "on_battery",
        str,
        "slow",
        N_("On battery"),
        N_("What a scoring does that takes longer than a minute."),
        choices=("slow", "pause", "full"),
    ),
    Setting(
        "slow_in_background",
        bool,
        False,
        N_("Slow down when I use other programs"),
        N_("Scoring uses a quarter of the time while another window is in front."),
    ),
    Setting(
        "notify",
        bool,
        True,
        N_("Notify about long jobs"),
        N_("When one ends behind other windows. Notifications hold no texts."),
    ),
    Setting("tour_seen", bool, False, "", "", shown=False),
    Setting(
        "excel_safe",
        bool,
        False,
        N_("Excel-safe CSV"),
        N_("Protect against formulas (CSV injection)."),
    ),
    Setting(
        "cache_megabytes",
        int,
        2000,
        N_("Vector cache"),
        N_("Size on disk. The project that was not used for longest goes first."),
        least=10,
    ),
    Setting(
        "projects_folder",
        str,
        "",
        N_("New projects folder"),
        N_("Empty: the default folder of this system."),
    ),
    Setting(
        "language",
        str,
        "",
        N_("Language"),
        N_("Takes effect when SCE Desktop starts again."),
        choices=("", *LANGUAGES, PSEUDO),
    ),
    Setting(
        "theme",
        str,
        "system",
        N_("Theme"),
        N_("Colours of the window."),
        choices=("system", "light", "dark"),
    ),
    Setting(
        "row_height",
        str,
        "normal",
        N_("Row height"),
        N_("Lines of text in a row of the table."),
        choices=("compact", "normal", "comfortable", "tall"),
    ),
    Setting("label_cells", bool, False, N_("All-labels column"), N_("Shows the probability of every label.")),
    Setting("final_column", bool, False, N_("Final column"), N_("Shows one final label for each row.")),
    Setting(
        "row_labels",
        str,
        "rank",
        N_("Labels of a row"),
        N_("By probability, or in the order of the label list."),
        choices=("rank", "list"),
    ),
    Setting(
        "reasons",
        bool,
        False,
        N_("Why this label"),
        N_("Marks words that speak for a label; lists similar labelled rows."),
        shown=False,
    ),
    Setting("column_widths", str, "", "", "", shown=False, shape=dict),
    Setting("blind", bool, False, N_("Blind mode"), N_("Hides predictions while you label.")),
    Setting(
        "digit_keys",
        str,
        "rank",
        N_("Digit keys"),
        N_("By rank: 1 is always the likeliest label. Fixed: each label keeps its digit."),
        choices=("rank", "fixed"),
    ),
    Setting("digit_keys_asked", bool, False, "", "", shown=False),
    Setting("keys", str, "", "", "", shown=False, shape=dict),
    Setting("daily_goal", int, 0, "", "", least=0, most=100_000, shown=False),
    Setting("goal_unit", str, "rows", "", "", choices=("rows", "minutes"), shown=False),
    Setting(
        "repeat_rows",
        bool,
        False,
        N_("Check my consistency"),
        N_("Focus mode repeats 1 in 20 rows without your first label."),
    ),
    Setting(
        "auto_finetune",
        int,
        0,
        N_("Auto fine-tune after"),
        N_("Runs in the background. The new version is used only if it is better."),
        least=0,
        most=100_000,
    ),
    Setting(
        "draft",
        bool,
        True,
        N_("Draft first"),
        N_("Large tables get rough scores in seconds, until the model has scored them."),
    ),
    Setting("offline", bool, True, N_("Stay offline"), N_("Turn off to allow downloads that you start.")),
)
_BY_KEY = {setting.key: setting for setting in SETTINGS}


class Settings:
    """Values by key: the overrides of the file where there are some, else the defaults."""

    def __init__(self, file: Path, overrides: Mapping[str, Value] | None = None) -> None:
        self.file = file
        self._overrides = dict(overrides or {})
        self._unknown: dict[str, Any] = {}

    @classmethod
    def load(cls, file: Path | None = None) -> Settings:
        """Read the settings of ``file`` (default: the user's).

        A missing file means defaults, and so does one that cannot be understood, which is set aside: settings
        must never keep the program from starting. Keys of a newer version are kept; values that are not
        allowed are ignored, and where their type is another one the file as it was is kept, too.
        """
        settings = cls(file or paths.settings_file())
        try:
            raw = state_files.read_json(settings.file, dict)
        except state_files.MalformedError as error:
            state_files.set_aside(settings.file, _UNREADABLE, error)
            return settings
        strange = []
        for key, value in (raw or {}).items():
            if key not in _BY_KEY:
                settings._unknown[key] = value
                continue
            try:
                settings._overrides[key] = _BY_KEY[key].check(value)
            except UserError as error:
                _log.warning("%s", error)
                if not _BY_KEY[key].has_type(value):
                    strange.append(key)
        if strange:
            state_files.set_aside(settings.file, _PARTLY, ", ".join(strange))
            with contextlib.suppress(UserError):
                settings.save()
        return settings

    def __getitem__(self, key: str) -> Value:
        return self._overrides.get(key, _BY_KEY[key].default)

    def __setitem__(self, key: str, value: Value) -> None:
        """Set in memory; `save` writes. Setting the default removes the override."""
        checked = _BY_KEY[key].check(value)
        if checked == _BY_KEY[key].default:
            self._overrides.pop(key, None)
        else:
            self._overrides[key] = checked

    def save(self) -> None:
        """Write the overrides, aside and then renamed.

        Raises:
            UserError: The folder cannot be written.
        """
        text = (
            json.dumps(self._unknown | self._overrides, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        )
        try:
            state_files.write_text(self.file, text)
        except OSError as error:
            raise UserError(
                _(
                    "The settings cannot be written to {file}: {reason}.",
                    file=self.file,
                    reason=error.strerror,
                )
            ) from error
