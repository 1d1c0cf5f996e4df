"""The user's settings: one declared tuple drives file and dialog; the file holds overrides only."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sce_desktop import paths
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import LANGUAGES, PSEUDO
from sce_desktop.core.precision import AUTO, PRECISIONS
from sce_desktop.temporary import temporary_beside

_log = logging.getLogger(__name__)

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. ``choices`` lists the only values allowed; ``least`` and ``most`` bound a number."""

    key: str
    type: type
    default: Value
    label: str
    help: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    shown: bool = True  # among the settings; else it is changed elsewhere in the window

    def check(self, value: object) -> Value:
        """Return ``value`` in this setting's type.

        Raises:
            UserError: It is of another type, not among the choices or out of bounds.
        """
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not self.type:
            raise UserError(f"The setting {self.key} must be of type {self.type.__name__}, not {value!r}.")
        if self.choices and value not in self.choices:
            raise UserError(
                f"The setting {self.key} must be one of {', '.join(self.choices)}, not {value!r}."
            )
        if isinstance(value, int | float):
            if self.least is not None and value < self.least:
                raise UserError(f"The setting {self.key} must be at least {self.least:g}, not {value!r}.")
            if self.most is not None and value > self.most:
                raise UserError(f"The setting {self.key} must be at most {self.most:g}, not {value!r}.")
        return value  # type: ignore[return-value]


SETTINGS: tuple[Setting, ...] = (
    Setting("model", str, "sce-mini", "Model", "Name or folder of the model that scores new projects."),
    Setting("baseline", str, "similarity", "Baseline", "Shown beside the model; empty: the model alone."),
    Setting(
        "llm_rows",
        str,
        "screen",
        "Rows of the LLM",
        "An LLM is slow: it is asked about the rows on the screen, or about all.",
        choices=("screen", "all"),
        shown=False,
    ),
    Setting(
        "device",
        str,
        "auto",
        "Device",
        "Where models run; automatic takes a GPU that works.",
        choices=("auto", "cpu", "cuda", "mps"),
    ),
    Setting(
        "precision",
        str,
        AUTO,
        "Precision",
        "Automatic uses 16 bits where the processor or the GPU is faster in them.",
        choices=(AUTO, *PRECISIONS),
    ),
    Setting(
        "threads",
        int,
        0,
        "Processor cores",
        "How many a model may use; 0: all but one.",
        least=0,
        most=1024,
    ),
    Setting("excel_safe", bool, False, "Excel-safe csv", "Put ' before cells that Excel would run."),
    Setting(
        "cache_megabytes",
        int,
        2000,
        "Size of the vector cache",
        "Megabytes on disk; what was used longest ago goes first.",
        least=10,
    ),
    Setting("projects_folder", str, "", "Folder of new projects", "Empty: the usual place of this system."),
    Setting(
        "language",
        str,
        "",
        "Language",
        "Of the window, from the next start on. As the system: English where there is no translation.",
        choices=("", *LANGUAGES, PSEUDO),
    ),
    Setting(
        "theme",
        str,
        "system",
        "Appearance",
        "As the system, or always the same.",
        choices=("system", "light", "dark"),
    ),
    Setting(
        "row_height",
        str,
        "normal",
        "Rows of the table",
        "How high they are; comfortable shows two lines of text.",
        choices=("compact", "normal", "comfortable"),
    ),
    Setting("label_cells", bool, True, "Cells of all labels", "A column with every label's probability."),
    Setting("blind", bool, False, "Blind mode", "Hides what models say while you decide."),
    Setting(
        "digit_keys",
        str,
        "rank",
        "Digit keys",
        "By rank 1 is always the likeliest label; fixed, each label keeps its digit.",
        choices=("rank", "fixed"),
    ),
    Setting("digit_keys_asked", bool, False, "Digit keys chosen", "Asked in the first review.", shown=False),
    Setting("keys", str, "", "Keys", "Keys other than the usual ones, by command.", shown=False),
    Setting(
        "auto_finetune",
        int,
        0,
        "Fine-tune by itself",
        "After so many newly labelled rows, in the background. The new version is used only if an exact "
        "test finds it better.",
        least=0,
        most=100_000,
    ),
    Setting("offline", bool, True, "Stay offline", "Off: models can be downloaded when you ask for it."),
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

        A missing file means defaults, and so does one that cannot be understood: settings must never keep the
        program from starting. Keys of a newer version are kept; values that are not allowed are left out.
        """
        settings = cls(file or paths.settings_file())
        try:
            raw = json.loads(settings.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return settings
        except (OSError, ValueError, RecursionError) as error:
            _log.warning("%s is ignored, it cannot be understood: %s", settings.file, error)
            return settings
        for key, value in raw.items() if isinstance(raw, dict) else ():
            if key not in _BY_KEY:
                settings._unknown[key] = value
                continue
            try:
                settings._overrides[key] = _BY_KEY[key].check(value)
            except UserError:
                continue
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
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with temporary_beside(self.file) as aside:
                with aside.open("w", encoding="utf-8") as stream:
                    stream.write(text)
                    stream.flush()
                    os.fsync(stream.fileno())
                aside.replace(self.file)
        except OSError as error:
            raise UserError(f"The settings cannot be written to {self.file}: {error.strerror}.") from error
