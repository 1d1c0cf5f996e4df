"""Functions of tasks, named so that a worker thread imports them and not the GUI thread.

    workspace.submit(in_worker("sce_desktop.tasks.insight.labels", "column_labels"), project, 3, title=...)

Importing torch, pandas or SQLAlchemy takes from half a second to many; in a worker nobody waits for it. What
does more than pass its arguments on is a function of its own in one of the ``*_work`` modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import Any

from sce_desktop.core.progress import Progress


@dataclass(frozen=True, slots=True)
class in_worker:  # noqa: N801 - used like a function
    """A function or method of another module, called as jobs are.

    Args:
        module: Where it is; imported when the job runs.
        name: What it is called there; "Class.method" takes the instance as its first argument.
        takes_progress: Whether it is given the job's progress; what answers in one statement is not, and
            cannot be stopped once it runs.
    """

    module: str
    name: str
    takes_progress: bool = True

    def __call__(self, *args: Any, progress: Progress, **keywords: Any) -> Any:
        """Import and call it; errors are its own."""
        module: Any = import_module(self.module)
        function = attrgetter(self.name)(module)
        if self.takes_progress:
            return function(*args, progress=progress, **keywords)
        return function(*args, **keywords)
