"""The entry point: parses the command line, loads the command, and turns errors into an exit status.

All output of commands goes through `VisibleOutput`, which makes control characters visible.
"""

from __future__ import annotations

import gc
import io
import os
import pwd
import signal
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final, TextIO, cast

from acp_tui.cli import ExitCode, discard_output
from acp_tui.cli.put_off import put_off
from acp_tui.conversation.visible import VisibleStream

COERCED_LOCALES: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
GC_THRESHOLD: Final = 400_000
"""How many new objects trigger a garbage collection.

Imports create no garbage, and collecting took a tenth of the start.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run acp-tui with `argv` (default: the process's own arguments). Returns the exit status."""
    if os.name != "posix":
        sys.stderr.write(
            "acp-tui needs a POSIX system (Linux, macOS): it runs commands on a PTY.\n"
            "On Windows it works inside WSL: https://learn.microsoft.com/windows/wsl\n"
        )
        return ExitCode.ERROR
    gc.set_threshold(GC_THRESHOLD)
    put_off()
    find_home(os.environ)
    forget_coerced_locale(os.environ)
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv[:1] == ["completion"] and argv[2:3] == ["--"]:
        # A shell waits for this at each Tab, so it loads neither the parser nor the code that makes text visible.
        from acp_tui.cli.completion import complete

        return complete(argv[1], argv[3:])
    end_in_order()
    open_missing_streams()
    with visible_output():
        return _main(argv)


def _main(argv: list[str]) -> int:
    try:
        try:
            status = _run(argv)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else ExitCode.ERROR
        sys.stdout.flush()  # here, where we can report that the reader is gone
        return status
    except KeyboardInterrupt:
        return ExitCode.CANCELLED
    except Exception as error:  # noqa: BLE001 - the outermost boundary; the traceback is shown on request
        if isinstance(error, BrokenPipeError) and not sys.stdout.isatty():
            discard_output(sys.stdout)
            return ExitCode.DONE  # with `| head`, the reader has all it wants
        if isinstance(error, OutputFailed):
            discard_output(sys.stdout)
            sys.stderr.write(f"acp-tui: can't write to stdout: {error.strerror}\n")
            return ExitCode.ERROR
        if os.environ.get("ACP_TUI_DEBUG"):
            sys.excepthook(type(error), error, error.__traceback__)  # here, where it's made visible
            return ExitCode.ERROR
        sys.stderr.write(
            f"acp-tui: internal error: {type(error).__name__}: {error}\n"
            "  Please report it with the output of ACP_TUI_DEBUG=1, which shows where it happened\n"
        )
        return ExitCode.ERROR


def _run(argv: list[str]) -> int:
    from acp_tui.cli import arguments, command

    chosen, args = arguments.read_arguments(argv)
    try:
        return chosen.run(args)
    except command.UsageError as error:
        return arguments.say_wrong_use(chosen, str(error))


STUCK_S: Final = 0.5
"""How long the process waits for its threads when all else is done."""


def leave_stuck_threads(status: int) -> None:
    """End the process now if there are threads that don't end, for example on a mount whose server is gone.

    Python would wait for them, and nothing can cancel a system call. Returns if there are none.
    """
    until = time.monotonic() + STUCK_S
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)


# Fix the environment before anything else


def end_in_order() -> None:
    """Let a `kill` and a closed window end Python as an error does, until a front end handles them itself.

    Otherwise, a start that is cut off would leave its temporary folders.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            with suppress(ValueError):  # we run in a thread, whose program decides about signals
                signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


def find_home(environ: MutableMapping[str, str]) -> None:
    """Set HOME if it's missing, as a login would. Otherwise, our folders would be created in one named `~`.

    A user unknown to the system (as in some containers) gets "/", where nothing can be stored.
    """
    if environ.get("HOME", "").startswith("/"):
        return
    try:
        environ["HOME"] = pwd.getpwuid(os.getuid()).pw_dir or "/"
    except KeyError:
        environ["HOME"] = "/"


def forget_coerced_locale(environ: MutableMapping[str, str]) -> None:
    """Undo what Python sets for the C locale (PEP 538): it doesn't change what the user's terminal can show."""
    if environ.get("LANG") in ("C", "POSIX") and environ.get("LC_CTYPE") in COERCED_LOCALES:
        del environ["LC_CTYPE"]


def open_missing_streams() -> None:
    """Open the standard streams that the caller has closed, so that no other file gets their descriptors.

    What is read is empty, what is told on stderr is lost, and what is written to stdout fails.
    """
    for number, (name, flags) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, flags)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - it stays open


_STREAMS: Final = (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))


# The only way for text to reach the terminal. Our own control sequences don't go this way: they're constants, written
# to the descriptor. Neither does what Textual draws; there, `conversation.visible` is applied while drawing.


class OutputFailed(OSError):
    """stdout or stderr took no text, for another reason than that nothing reads it."""


@contextmanager
def _telling_failures() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(error.errno, error.strerror) from error


class VisibleOutput(io.TextIOBase):
    """A text stream in front of another one. It has no `buffer`, so no bytes can bypass it.

    Half a character or line end waits for the next piece, even if the stream is flushed in between.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._visible = VisibleStream()

    def write(self, text: str) -> int:
        """Write `text` in its visible form. Characters that the encoding lacks become question marks."""
        self._put(self._visible.append(text))
        return len(text)

    def finish(self) -> None:
        """Write what waited for its other half."""
        self._put(self._visible.finish())

    def _put(self, text: str) -> None:
        if text:
            with _telling_failures():
                self._stream.write(text.encode(self.encoding, "replace").decode(self.encoding))

    def flush(self) -> None:
        if not self._stream.closed:  # Python 3.14 complains about a flush after closing
            with _telling_failures():
                self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def writable(self) -> bool:
        return True

    # `input` passes its prompt to readline only if these are strings.

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """Always "replace". `write` leaves no characters that need it."""
        return "replace"


@contextmanager
def visible_output() -> Iterator[None]:
    """Replace `sys.stdout` and `sys.stderr` with such streams within the block.

    This includes what Python itself prints: tracebacks, warnings, log messages without a handler.
    """
    before = sys.stdout, sys.stderr
    ours = [None if stream is None else VisibleOutput(stream) for stream in before]
    sys.stdout, sys.stderr = cast(list[TextIO], ours)
    try:
        yield
    finally:
        for stream in ours:
            if stream is not None:
                with suppress(OSError, ValueError):  # closed, or nothing reads it
                    stream.finish()
        sys.stdout, sys.stderr = before
