"""What is to be known of a recording beside what it shows, as a text to read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from acp_tui.ui.recorded.bar import clock
from acp_tui.ui.recorded.film import Film


def about(film: Film) -> str:
    """Whose it is, when and where it was made, how long it is, and what could not be read of it."""
    return "\n".join(_lines(film))


def _lines(film: Film) -> Iterator[str]:
    header = film.header
    yield f"File     {film.recording.path}"
    yield f"Agent    {film.agent}: {shlex.join(header.argv)}"
    yield f"Folder   {header.cwd or 'not known'}"
    yield f"Begun    {header.started_at or 'not known'}"
    yield f"Length   {clock(film.length_s)}, {film.length:,} events"
    yield f"Secrets  {'are in it' if header.is_raw else 'were left out'}"
    if film.problems:
        yield ""
        yield f"Left out, since it could not be read ({len(film.problems)}):"
        yield from (f"  line {problem.line}: {problem.why}" for problem in film.problems)
    if film.recording.half_line:
        yield ""
        yield "The last line has no end: the recording is still being written, or was cut off there."
