"""Writing what is ready while the next part is prepared."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, Self

_P = ParamSpec("_P")


class BackgroundWriter:
    """A context manager with a thread that does one piece of work while the caller prepares the next.

    It gains where the work leaves Python's lock to others: SQLite, numpy, pyarrow, files. No piece waits
    beside the one that is written. Its failure is raised by the next `write`, or at the end.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: ThreadPoolExecutor | None = None
        self._writing: Future[object] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is None:
            return
        self._thread.shutdown()  # waits for what was begun
        if error is None and self._writing is not None:
            self._writing.result()

    def wait(self) -> None:
        """Wait until nothing is being written: whoever looks then whether to go on does not wait for more."""
        if self._writing is not None:
            self._writing.result()

    def write(self, work: Callable[_P, object], *args: _P.args, **kwargs: _P.kwargs) -> None:
        """Begin a piece of work; returns as soon as the one before is finished."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix=self._name)
        self.wait()
        self._writing = self._thread.submit(work, *args, **kwargs)
