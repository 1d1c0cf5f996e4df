"""Reads one file as the program does, in a child process that may use 2 GiB of memory and ten seconds.

The seconds are the processor's, so that the result does not depend on what else the machine does.
"""

from __future__ import annotations

import os
import resource
import signal
import traceback
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.labels_file import read_labels
from sce_desktop.data.tables import open_table, preview_table
from tests.hostile.child import silence, until_end

MEMORY = 2 << 30
SECONDS = 10
_HANGS = 120  # seconds of the clock
_LONGEST_SENTENCE = 600


def load_everything() -> None:
    """Import what the readers import when they are needed, so that a child need not."""
    import charset_normalizer  # noqa: F401
    import clevercsv  # noqa: F401
    import pyarrow.compute
    import pyarrow.parquet  # noqa: F401
    import python_calamine  # noqa: F401


def read_like_the_program(path: Path, options: TableOptions) -> str:
    """Preview a table, read it all and look at what comes; or labels. Return in a word what it came to."""
    try:
        if path.name.startswith("labels."):
            for label in read_labels(path):
                label.name.encode()
            return "labels"
        preview = preview_table(path, options)
        table = open_table(path, preview.options)
        rows = 0
        for batch in table.batches():
            rows += len(batch)
            for cells in batch:
                assert len(cells) == len(table.columns), "a row of another width"
                for cell in cells:
                    assert cell is None or isinstance(cell, str), f"a cell of {type(cell)}"
                    if cell:
                        cell.encode()
        for text in (*table.columns, *(problem.message for problem in table.problems)):
            text.encode()
        assert preview.rows == () or rows >= len(preview.rows), "fewer rows than the preview"
    except UserError as error:
        message = str(error)
        assert "\n" not in message, f"a message of several lines: {message!r}"
        assert message.endswith((".", "?")), f"no sentence: {message!r}"
        assert len(message) < _LONGEST_SENTENCE, f"a message of {len(message)} characters"
        message.encode("utf-8", "backslashreplace")
        return "refused"
    return "read"


def outcome(path: Path, options: TableOptions) -> tuple[str, str]:
    """Return (read, labels, refused, or what went wrong in a word; the traceback or nothing)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _in_child(path, options, writer)
    os.close(writer)
    found, ended = until_end(reader, _HANGS)
    if not ended:
        os.kill(child, signal.SIGKILL)
    os.close(reader)
    _, status, usage = os.wait4(child, 0)
    if not ended:
        return "hangs", f"more than {_HANGS} seconds"
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return "slow", f"more than {SECONDS} seconds"
    if os.WIFSIGNALED(status) or not found:
        return "killed", f"status {status}"
    word, _, rest = found.decode("utf-8", "replace").partition("\n")
    if usage.ru_maxrss > MEMORY >> 10:
        return "memory", f"{usage.ru_maxrss >> 10} MiB"
    return word, rest


def _in_child(path: Path, options: TableOptions, writer: int) -> None:
    silence()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    try:
        said = read_like_the_program(path, options)
    except MemoryError:
        said = f"memory\n{traceback.format_exc()}"
    except BaseException:
        said = f"error\n{traceback.format_exc()}"
    os.write(writer, said[:60_000].encode("utf-8", "backslashreplace"))
    os._exit(0)
