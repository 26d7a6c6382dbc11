"""`acp-tui sessions`: the sessions that were recorded, as lines or as JSON; and one of them written to a file.

The JSON is a list, the last used first: `session_id`, `agent` (the name of its command), `command`, `cwd`, `title`,
`first_at` and `last_at` (ISO 8601), `prompts`, and `why_not_again` (why its agent cannot open it, null where it may).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from acp_tui.cli.exit_codes import ExitCode
from acp_tui.cli.resume import find_session, recordings_index
from acp_tui.cli.saying import say_error
from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.session_history import PastSession, line_with, recorded_sessions, short_ids
from acp_tui.conversation.visible import make_visible_line


def list_sessions(cwd: Path | None, words: str, *, as_json: bool) -> int:
    """Print those of a folder, or of all, in which `words` stand; returns the exit status."""
    index = recordings_index()
    try:
        found = recorded_sessions(index, cwd, words)
        everywhere = recorded_sessions(index, None)
    except ClientError as error:
        say_error(error)
        return ExitCode.ERROR
    if as_json:
        print(json.dumps([_as_json(past) for past in found], indent=2))
    elif found:
        print("\n".join(_lines(found, short_ids(past.session_id for past in (*everywhere, *found)), words)))
    else:
        print(_nothing(cwd, words))
    return ExitCode.DONE


def _nothing(cwd: Path | None, words: str) -> str:
    with_words = f" with {words!r} in it" if words else ""
    elsewhere = f" in {cwd}; --all lists those of all folders" if cwd is not None else ""
    return make_visible_line(f"No session{with_words} was recorded{elsewhere}.")


def _lines(found: Sequence[PastSession], short: dict[str, str], words: str) -> Iterator[str]:
    ids = max(len(short[past.session_id]) for past in found)
    agents = max(len(past.agent) for past in found)
    for past in found:
        last = datetime.fromtimestamp(past.last_at or 0)
        row = f"{short[past.session_id]:<{ids}}  {past.agent:<{agents}}  {last:%Y-%m-%d %H:%M}  {past.title}"
        yield make_visible_line(row)
        line = _line_with(past, words)
        if line and line != past.title:
            yield make_visible_line(f"{'':<{ids}}  {line}")


def _line_with(past: PastSession, words: str) -> str:
    with suppress(ClientError):
        if words and past.recorded is not None:
            return line_with(past.recorded, words)
    return ""


def _as_json(past: PastSession) -> dict[str, object]:
    recorded = past.recorded
    assert recorded is not None
    return {
        "session_id": past.session_id,
        "agent": past.agent,
        "command": past.command,
        "cwd": str(past.cwd),
        "title": past.title,
        "first_at": _iso(recorded.first_at),
        "last_at": _iso(recorded.last_at),
        "prompts": recorded.prompts,
        "why_not_again": past.why_not_again or None,
    }


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _how_to_redact(recording: Path, file: Path) -> str:
    """A jsonl is an outline of the conversation, which is not made of a single recording."""
    page = file if file.suffix.lower() in (".md", ".html") else file.with_suffix(".md")
    redact = shlex.join(["acp-tui", "redact", str(recording), "-o", "OUT.jsonl"])
    return f"Redacted: {redact} && {shlex.join(['acp-tui', 'render', 'OUT.jsonl', '-o', page.name])}"


def export_session(wanted: str, file: Path) -> int:
    """Write the session of this id to a file, in the format that its suffix names; returns the exit status."""
    from acp_tui.client.export import NOT_REDACTED, ExportFacts, export
    from acp_tui.client.terminals import plain_text

    index = recordings_index()
    try:
        past = find_session(index, wanted)
        assert past.recorded is not None
        exported_at = datetime.now().astimezone().isoformat(timespec="seconds")
        facts = ExportFacts(
            past.agent, str(past.cwd), past.session_id, exported_at=exported_at, title=past.title
        )
        export(index.reread(past.recorded), facts, file, plain_text)
    except ClientError as error:
        say_error(error)
        return ExitCode.ERROR
    print(make_visible_line(f"Written to {file}"))
    print(make_visible_line(f"{NOT_REDACTED} {_how_to_redact(past.recorded.recordings[-1], file)}"))
    return ExitCode.DONE
