"""`acp-tui redact`: writes a recording you can share, and a table of what was replaced in it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import anyio

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args
from acp_tui.cli.command import UsageError
from acp_tui.cli.prerequisites import ExitOnError
from acp_tui.cli.sessions import files_of, session_named
from acp_tui.conversation.visible import make_visible_line
from acp_tui.workbench.redact import RedactionReport, RedactOptions, full_names, redact

MIN_SECRET: Final = 4
MAX_ROWS: Final = 40


def run(args: Args) -> int:
    """Write the file and print what was replaced. Returns the exit status."""
    secrets = tuple(args.secret or ())
    if any(len(text) < MIN_SECRET for text in secrets):
        raise UsageError(f"--secret needs at least {MIN_SECRET} characters; a shorter text is everywhere")
    options = RedactOptions(secrets, args.drop_media)
    source, environ = session_named(args.word), os.environ
    first, *later = files_of(Path(source) if isinstance(source, str) else source)
    names = anyio.run(full_names, environ)
    with ExitOnError(ExitCode.ERROR):
        report = redact(first, args.output, options, environ, socket.gethostname(), names, later)
    print("\n".join(_lines(report, args.output)))
    return ExitCode.DONE


def _lines(report: RedactionReport, out: Path) -> Iterator[str]:
    rows = [(secret.kind, str(secret.count), secret.stand_in) for secret in report.replaced]
    if rows:
        yield from _table([("what", "times", "replaced by"), *rows[:MAX_ROWS]])
        if len(rows) > MAX_ROWS:
            yield f"… and {len(rows) - MAX_ROWS} more; {sum(secret.count for secret in report.replaced)} places in all"
        yield ""
    else:
        yield "Found nothing that looks like a secret, a name, or an address."
    for count, what in _beyond(report):
        if count:
            yield f"{count} {what}"
    look = "Look at it before you share it: secrets that look like ordinary words are still there."
    yield f"Written to {make_visible_line(str(out))}. {look}"


def _beyond(report: RedactionReport) -> Iterator[tuple[int, str]]:
    yield report.media_left_out, "images or sounds: dropped"
    yield report.media_kept, "images or sounds: kept, NOT looked into (to drop them: --drop-media)"
    yield report.blobs_kept, "attachments and packed data: NOT looked into, except for plain text"
    yield report.bad_lines, "lines that aren't events: treated as text"


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for kind, count, stand_in in rows:
        yield f"{kind:<{widths[0]}}  {count:>{widths[1]}}  {_shortened(stand_in)}"


def _shortened(text: str) -> str:
    first = make_visible_line(text.strip().split("\n")[0])
    return first if len(first) <= 60 else f"{first[:59]}…"
