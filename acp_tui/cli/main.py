"""The entry point: reads the command line, loads the command that it names, and turns what goes wrong into a status.

Whatever commands print goes through `VisibleOutput`, which makes visible what a terminal would obey.
"""

from __future__ import annotations

import gc
import io
import os
import pwd
import sys
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, TextIO, cast

from acp_tui import __version__
from acp_tui.cli import ExitCode

if TYPE_CHECKING:
    from acp_tui.cli.arguments import Given
    from acp_tui.cli.command_table import Command
    from acp_tui.conversation.visible.text import VisibleStream

COERCED: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
YOUNG_OBJECTS: Final = 400_000
"""So many before the collector looks for garbage. What is imported is none, and looking took a tenth of the start."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run acp-tui with `argv` (default: the process's own arguments); returns the exit status."""
    if os.name != "posix":
        sys.stderr.write(
            "acp-tui needs a POSIX system (Linux, macOS): it runs commands on a PTY.\n"
            "On Windows it works inside WSL: https://learn.microsoft.com/windows/wsl\n"
        )
        return ExitCode.ERROR
    gc.set_threshold(YOUNG_OBJECTS)
    find_home(os.environ)
    forget_coerced_locale(os.environ)
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv[:1] == ["completion"] and argv[2:3] == ["--"]:
        # A shell waits for this at each Tab, so neither the parser nor what makes text visible is loaded.
        from acp_tui.cli.completion import complete

        return complete(argv[1], argv[3:])
    if argv in (["--version"], ["-V"]):
        sys.stdout.write(
            f"acp-tui {__version__}\n"
        )  # scripts ask for it again and again: no parser is loaded
        return ExitCode.DONE
    with visible_output():
        return _main(argv)


def _main(argv: list[str]) -> int:
    try:
        status = _run(argv)
        sys.stdout.flush()  # here, where it can be told that nobody reads on
        return status
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ExitCode.ERROR
    except KeyboardInterrupt:
        return ExitCode.CANCELLED
    except Exception as error:  # noqa: BLE001 - the boundary; where it came from is shown on request
        if isinstance(error, BrokenPipeError) and not sys.stdout.isatty():
            _give_up_stdout()
            return ExitCode.DONE  # `| head` has all that it wants
        if os.environ.get("ACP_TUI_DEBUG"):
            sys.excepthook(type(error), error, error.__traceback__)  # here, where it is made visible
            return ExitCode.ERROR
        sys.stderr.write(
            f"acp-tui: internal error: {type(error).__name__}: {error}\n"
            "  Please report it with the output of ACP_TUI_DEBUG=1, which shows where it happened\n"
        )
        return ExitCode.ERROR


def _run(argv: list[str]) -> int:
    from acp_tui.cli import arguments, command_table

    command, given = arguments.read_arguments(argv)
    try:
        status: int = _loaded(command)(given)
    except command_table.WrongUse as error:
        return arguments.say_wrong_use(command, str(error))
    return status


def _loaded(command: Command) -> Callable[[Given], int]:
    """The one place where a command is loaded, so that each start pays for one only."""
    module, _, function = command.runs.partition(":")
    run: Callable[[Given], int] = getattr(import_module(module), function or "run")
    return run


def _give_up_stdout() -> None:
    """Let what is left in its buffer go nowhere; else Python fails on it once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


# The environment, put right before anything else


def find_home(environ: MutableMapping[str, str]) -> None:
    """Set HOME where it is missing, as a login would: else our folders would be made below one that is called `~`.

    A user whom the system does not know (as in some containers) gets "/", where nothing can be kept.
    """
    if environ.get("HOME", "").startswith("/"):
        return
    try:
        environ["HOME"] = pwd.getpwuid(os.getuid()).pw_dir or "/"
    except KeyError:
        environ["HOME"] = "/"


def forget_coerced_locale(environ: MutableMapping[str, str]) -> None:
    """Take back what Python sets where the locale is C (PEP 538): the user's terminal shows no more for it."""
    if environ.get("LANG") in ("C", "POSIX") and environ.get("LC_CTYPE") in COERCED:
        del environ["LC_CTYPE"]


# The one way to the terminal for text. Control sequences of our own do not come this way: they are constants, written
# to the descriptor. What Textual draws does not either; `conversation.visible` is applied where a drawing is made.


class VisibleOutput(io.TextIOBase):
    """A text stream in front of another one. It has no `buffer`: no byte passes unseen.

    Half of a character or of a line end waits for the next piece, even if the stream is flushed in between.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._visible: VisibleStream | None = None

    def write(self, text: str) -> int:
        """Write `text` in its visible form; what the encoding has no letter for becomes a question mark."""
        if self._visible is None:
            # Most runs draw a screen and print nothing: the first frame should not wait for this.
            from acp_tui.conversation.visible.text import VisibleStream

            self._visible = VisibleStream()
        self._put(self._visible.append(text))
        return len(text)

    def finish(self) -> None:
        """Write what waited for its other half."""
        if self._visible is not None:
            self._put(self._visible.finish())

    def _put(self, text: str) -> None:
        if text:
            self._stream.write(text.encode(self.encoding, "replace").decode(self.encoding))

    def flush(self) -> None:
        """Hand on what the stream below has buffered."""
        if not self._stream.closed:  # it may be closed first; Python 3.14 complains of a flush after that
            self._stream.flush()

    def fileno(self) -> int:
        """The descriptor of the stream below."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Whether it leads to a terminal."""
        return self._stream.isatty()

    def writable(self) -> bool:
        """It is."""
        return True

    # `input` hands its prompt to readline only if these are strings.

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of the stream below."""
        return self._stream.encoding or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """Nothing is left that an encoder could stumble over."""
        return "replace"


@contextmanager
def visible_output() -> Iterator[None]:
    """Within the block `sys.stdout` and `sys.stderr` are such streams.

    So is whatever Python itself prints there: tracebacks, warnings, what is logged without a handler.
    """
    before = sys.stdout, sys.stderr
    ours = [None if stream is None else VisibleOutput(stream) for stream in before]
    sys.stdout, sys.stderr = cast(list[TextIO], ours)
    try:
        yield
    finally:
        for stream in ours:
            if stream is not None:
                with suppress(OSError, ValueError):  # closed; nobody reads on
                    stream.finish()
        sys.stdout, sys.stderr = before
