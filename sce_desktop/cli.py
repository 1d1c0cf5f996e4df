"""The command line: reads the arguments, runs one command, turns how it ends into an exit code.

0 done, 2 wrong use or bad input (one sentence on stderr), 130 stopped by the user, 128 and its number after
another signal (143 after SIGTERM), 1 a bug of ours.
Importing this module must stay cheap: commands import what they need when they run.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TextIO

import sce_desktop
from sce_desktop.commands import (
    classify,
    distil,
    doctor,
    evaluate,
    finetune,
    flops,
    gui,
    labels,
    models,
    paper_data,
    pretrain,
    project,
)
from sce_desktop.core.errors import Cancelled, LeftInLog, UserError
from sce_desktop.core.escapes import one_line, shown_lines

EXIT_DONE, EXIT_BUG, EXIT_WRONG, EXIT_STOPPED = 0, 1, 2, 130
_COMMANDS = (
    gui,
    classify,
    evaluate,
    finetune,
    pretrain,
    distil,
    paper_data,
    flops,
    labels,
    models,
    project,
    doctor,
)
_OPAQUE = ("--label", "--text", "--gold", "--audit")  # what follows is a name, even if it begins with a dash

log = logging.getLogger(__name__)


class _Parser(argparse.ArgumentParser):
    """Says in one sentence what is wrong instead of printing the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands. ``run`` of the parsed arguments is what to call."""
    parser = _Parser(prog="sce-desktop", description=sce_desktop.__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"%(prog)s {sce_desktop.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in _COMMANDS:
        module.add_command(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _guard_streams()
    if argv is None:
        from sce_desktop.log import scrub_crashes

        scrub_crashes()
    with _checked_stdout():
        try:
            return _main(_prepared(sys.argv[1:] if argv is None else argv))
        except KeyboardInterrupt as stop:  # before the command began
            return _ended(stop)
        finally:
            _finish_notes()


def _main(arguments: Sequence[str]) -> int:
    try:
        try:
            args = build_parser().parse_args(arguments)
        except SystemExit as end:  # --help and --version
            sys.stdout.flush()
            return int(end.code or 0)
    except UserError as error:
        return _fail(str(error), EXIT_WRONG)
    _start(args)
    return _run(args)


def gui_main() -> int:
    """Open the window: the entry point of the launcher that has no terminal."""
    from sce_desktop.log import scrub_crashes

    scrub_crashes()
    return main(["gui", *sys.argv[1:]])


def _run(args: argparse.Namespace) -> int:
    from sce_desktop import state_files
    from sce_desktop.terminal import TerminalProgress, terminal_progress

    progress = TerminalProgress()
    try:
        with terminal_progress() as progress, state_files.hearing(progress.warn):
            code: int = args.run(args, progress)
            sys.stdout.flush()
        return code
    except BaseException as error:
        if progress.ended_by and not isinstance(error, LeftInLog):
            return _stopped(error, progress.ended_by)
        return _ended(error)


def _stopped(error: BaseException, number: int) -> int:
    """Return the exit code after the signal ``number``, whatever its exception has become on its way."""
    log.info("Ended by signal %d (%s).", number, type(error).__name__)
    what = f" {error}" if isinstance(error, Cancelled) else ""
    return _fail(f"Stopped.{what}".rstrip(), 128 + number)


def _ended(error: BaseException) -> int:
    if isinstance(error, UserError):
        log.warning("%s", error)
        # after `LeftInLog` whoever does the same again would do it twice
        return _fail(str(error), EXIT_DONE if isinstance(error, LeftInLog) else EXIT_WRONG)
    if isinstance(error, Cancelled | KeyboardInterrupt):
        log.info("Stopped by the user.")
        return _fail(f"Stopped. {error}".rstrip(), EXIT_STOPPED)
    if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
        _drop(sys.stdout)
        return EXIT_DONE
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        name = Path(str(error.filename)).name
        return _fail(f"The name {name[:40]}… is too long: choose a shorter one.", EXIT_WRONG)
    if isinstance(error, Exception):
        log.error("This is a bug.", exc_info=error)
    raise error


def _prepared(arguments: Sequence[str]) -> list[str]:
    """Open the window where no command is given, and join names to their options (see `_OPAQUE`)."""
    if not arguments or _is_path(arguments[0]):
        return ["gui", *arguments]
    result: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        value = next(rest, None) if argument in _OPAQUE else None
        result.append(argument if value is None else f"{argument}={value}")
    return result


def _is_path(argument: str) -> bool:
    """Whether ``argument`` is a file, or is written like one: then its absence is what must be reported."""
    if argument.startswith("-"):
        return False
    path = Path(argument)
    return path.is_file() or bool(path.suffix) or len(path.parts) > 1


def _start(args: argparse.Namespace) -> None:
    # Read by the hub library when it is first imported. Nothing is asked of the network unless the user does.
    if not getattr(args, "network", False):
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sce_desktop import log as log_file
    from sce_desktop import paths, temporary
    from sce_desktop.core import private

    private.narrow_folders(paths.own_folders())  # an older version made them for everybody to read
    log_file.start_log(paths.log_file())
    temporary.sweep()


def _fail(message: str, code: int) -> int:
    with contextlib.suppress(OSError):  # the terminal is gone, or stderr goes to a disk that is full
        print(f"sce-desktop: {one_line(message)}", file=sys.stderr, flush=True)
    return code


class _CheckedStdout(io.TextIOBase):
    """Passes on to ``stream``; where that fails it is the output's fault and no bug of the command.

    What acts on a terminal is written out: a label may hold anything.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with self._checked():
            self._stream.write(shown_lines(text))
        return len(text)

    def flush(self) -> None:
        with self._checked():
            self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @contextlib.contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            _drop(self._stream)
            raise UserError(
                f"The output could not be written ({error.strerror or error}): send it elsewhere. "
                "Everything else that the command did is kept."
            ) from error


@contextlib.contextmanager
def _checked_stdout() -> Iterator[None]:
    stream = sys.stdout
    sys.stdout = _CheckedStdout(stream)
    try:
        yield
    finally:
        if isinstance(sys.stdout, _CheckedStdout):
            sys.stdout = stream


def _drop(stream: TextIO) -> None:
    """Let nothing more be written: what waits in the stream would fail again when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        handle = stream.fileno()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, handle)
        os.close(nothing)


def _finish_notes() -> None:
    """Let go of notes that cannot be written: Python would try again when it ends, and end with 120."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        _drop(sys.stderr)


def _guard_streams() -> None:
    """A windowed build has no streams, and a terminal may not know every letter of a label."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        with contextlib.suppress(AttributeError, OSError):  # a replaced stream
            getattr(sys, name).reconfigure(errors="backslashreplace")
