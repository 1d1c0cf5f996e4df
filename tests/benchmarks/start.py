"""What a start costs before the window is painted: which modules come in, how long they take, what waits.

Each measurement is a process of its own, offscreen, in an empty home, with the byte code of the modules there
as an installed program has it. Processor time is what is compared, as the clock depends on what else the
machine does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.measure import print_table

HEAVY = (
    "torch",
    "transformers",
    "pandas",
    "pyarrow",
    "sklearn",
    "scipy",
    "sqlalchemy",
    "tokenizers",
    "numpy",
)
"""Libraries that a window may bring in behind itself; those before the first paint are named."""
MOST_SHOWN = 12
_STEPS = """
import json, sys, time
def spent(): return time.process_time()
marks = [("Python", spent())]
begun = time.perf_counter()
from sce_desktop import paths
from sce_desktop.settings import Settings
from sce_desktop.core.i18n import set_language
settings = Settings.load()
set_language(str(settings["language"]), paths.resources_dir() / "locale")
marks.append(("settings, language", spent()))
from sce_desktop.imports import spare_imports
spare_imports()
marks.append(("Qt", spent()))
from sce_desktop import app
marks.append(("modules of the window", spent()))
application = app.make_application()
marks.append(("application", spent()))
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.ui.kit.appearance import Theme
workers = WorkerQueues()
theme = Theme(application, settings["theme"])
controllers = Controllers(workers, settings)
marks.append(("theme, controllers", spent()))
window = app.make_window(controllers, theme)
marks.append(("panels", spent()))
window.show()
application.processEvents()
marks.append(("first paint", spent()))
before_paint = sorted({name.partition(".")[0] for name in sys.modules})
found = {"marks": marks, "modules": before_paint, "seconds": time.perf_counter() - begun}
print(json.dumps(found), flush=True)
import os
os._exit(0)
"""


def run(*, times: int = 5) -> None:
    """Measure a few starts and print the median of each step, then what the imports cost."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as folder:
        byte_code = Path(folder)
        _start(byte_code)  # writes it
        found = [_start(byte_code) for _ in range(times)]
        packages, modules = imports(byte_code)
    rows = []
    for place, (name, _spent) in enumerate(found[0]["marks"]):
        ends = [one["marks"][place][1] for one in found]
        begins = [one["marks"][place - 1][1] if place else 0.0 for one in found]
        own = [end - begin for begin, end in zip(begins, ends, strict=True)]
        rows.append([name, f"{1000 * median(own):.0f}", f"{1000 * median(ends):.0f}"])
    heavy = [name for name in HEAVY if name in found[0]["modules"]]
    clock = median(one["seconds"] for one in found)
    print_table(
        f"Start to first paint, processor time in ms, median of {times}",
        ["step", "its own", "since the start"],
        rows,
        [
            f"Loaded before the first paint, of what is heavy: {', '.join(heavy) or 'nothing'}.",
            f"By the clock {clock:.2f} s, beside whatever else ran.",
        ],
    )
    for title, costs in (("package", packages), ("module", modules)):
        print_table(
            f"Imports before the first paint, ms of their own by {title} (-X importtime, which slows them)",
            [title, "ms"],
            [[name, f"{ms:.0f}"] for name, ms in costs[:MOST_SHOWN]],
            [],
        )


def _start(byte_code: Path) -> dict[str, Any]:
    measured: dict[str, Any] = json.loads(_run(byte_code).stdout.splitlines()[-1])
    return measured


def _run(byte_code: Path, *options: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as home:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"QT_QPA_PLATFORM": "offscreen", "SCE_DESKTOP_HOME": home}
        environment["PYTHONPYCACHEPREFIX"] = str(byte_code)
        command = [sys.executable, *options, "-c", _STEPS]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def imports(byte_code: Path) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return milliseconds by package, and by module, the most first."""
    modules: list[tuple[str, float]] = []
    packages: dict[str, float] = defaultdict(float)
    for line in _run(byte_code, "-X", "importtime").stderr.splitlines():
        if not line.startswith("import time:") or "self [us]" in line:
            continue
        own, _whole, name = line.removeprefix("import time:").split("|")
        modules.append((name.strip(), int(own) / 1000))
        packages[name.strip().partition(".")[0]] += int(own) / 1000
    return _largest(packages.items()), _largest(modules)


def _largest(costs: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(costs, key=lambda one: -one[1])
