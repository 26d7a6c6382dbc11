"""What the user has allowed the agent in a session, and how that compares with what the agent does through acp-tui.

Two things count: the tool calls that the user allowed in this turn, as the card showed them, each for one use; and what
the user decided for the rest of the session, by kind. Nothing else is allowed here, and nobody is asked here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from anyio import Lock, to_thread

from acp_tui.client.loading_variables import loading_warnings
from acp_tui.conversation import UNSET
from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import BlockContent, TextDiff, ToolCall, ToolCallContent
from acp_tui.conversation.tool_text import FILE_NAMES, command_line
from acp_tui.conversation.value_outline import MAX_FIELDS, reported_fields
from acp_tui.values import dataclass

UnaskedKind: TypeAlias = Literal["write", "run"]
Locate: TypeAlias = Callable[[str], Awaitable[Path | None]]
"""Returns where a path leads, relative to the session's folder; None if it leads nowhere that agents may use."""

MAX_PATHS: Final = 100
"""Of one tool call. No one reads more on a card; the others are asked about."""
MAX_SHOWN: Final = 200
"""Characters of a command that a question repeats."""


@dataclass(frozen=True, slots=True)
class AllowedRun:
    command: str
    args: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    """The names of the environment variables it sets."""


@dataclass(frozen=True, slots=True)
class Unlike:
    """What the user must be asked, because the agent does something other than what the user allowed."""

    why: str = ""
    """What differs, in a sentence; "" if the agent didn't ask for anything like it."""
    compared: tuple[ToolCallContent, ...] = ()
    """The difference, for the card."""


# What a card showed


@dataclass(frozen=True, slots=True)
class _AllowedWrite:
    path: Path
    changes: tuple[TextDiff, ...]
    """What the card showed of this file, in order; empty if it named only the file."""
    seen: bytes | None
    """The digest of the text that the card was last compared with; None if it wasn't."""


@dataclass(frozen=True, slots=True)
class _AllowedRun:
    line: str
    words: tuple[str, ...]
    """The words, if the agent reported them one by one; otherwise empty."""
    folder: Path | None


_NEW: Final = ("content", "contents", "file_text", "fileText", "text")
"""The names agents use in raw input for a file's whole text."""
_REPLACED: Final = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
)
"""The names for a part of it, and what replaces the part."""
_FOLDERS: Final = ("cwd", "workdir", "directory", "working_directory", "dir_path")


def shown_changes(call: ToolCall) -> dict[str, list[TextDiff]]:
    """The files that a card names as written, and what it shows of each.

    Where a call shows diffs, only their files count. Otherwise its kind must say that it edits: deleting and moving
    aren't writing. A call with text that can't be compared with a file names none.
    """
    shown: dict[str, list[TextDiff]] = {}
    for item in call.content:
        if isinstance(item, TextDiff):
            shown.setdefault(item.path, []).append(item)
    if shown or call.kind != "edit":
        return shown
    raw: Mapping[str, Any] = call.raw_input if isinstance(call.raw_input, Mapping) else {}
    named = [raw[name] for name in FILE_NAMES if isinstance(raw.get(name), str)]
    for path in (*named, *(location.path for location in call.locations)):
        shown[path] = list(_in_input(raw, path))
    return shown if any(shown.values()) or not _shows_lines(call) else {}


def _shows_lines(call: ToolCall) -> bool:
    """Whether the card shows text of more than one line, which may be what the agent says it writes."""
    fields = islice(reported_fields(call.raw_input), MAX_FIELDS) if call.raw_input is not UNSET else ()
    texts = (
        item.block.text for item in call.content if isinstance(item, BlockContent) and isinstance(item.block, Text)
    )
    return any("\n" in text for text in (*(field.text for field in fields), *texts))


def _in_input(raw: Mapping[str, Any], path: str) -> Iterator[TextDiff]:
    edits = raw.get("edits")
    for part in (raw, *(edits if isinstance(edits, list) else ())):
        if not isinstance(part, Mapping):
            continue
        for old, new in _REPLACED:
            if isinstance(part.get(old), str) and isinstance(part.get(new), str):
                yield TextDiff(path, part[new], part[old])
        for name in _NEW:
            if isinstance(part.get(name), str):
                yield TextDiff(path, part[name])


def _shown_run(call: ToolCall) -> tuple[str, tuple[str, ...], str] | None:
    """The command line that a card shows, its words if they are known, and its folder; None without a command."""
    if call.kind != "execute":
        return None
    raw: Mapping[str, Any] = call.raw_input if isinstance(call.raw_input, Mapping) else {}
    line, used = command_line(raw)
    words: tuple[str, ...] = ()
    if isinstance(raw.get("command"), list) and line:
        words = tuple(raw["command"])
    elif "args" in used and raw["args"]:
        words = (raw["command"], *raw["args"])
    if not line.strip():
        quoted = re.fullmatch(r"[^`]*`([^`]+)`[^`]*", call.title)
        line, words = quoted[1] if quoted else call.title, ()
    line = _stripped(line)
    folder = next((raw[name] for name in _FOLDERS if isinstance(raw.get(name), str)), ".")
    return (line, words, folder) if line else None


# Comparing files


def plain(text: str) -> str:
    """The text without differences that no card shows: a byte order mark, and the kind of line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def digest(text: str) -> bytes:
    """Equal for texts that look the same on a card."""
    return blake2b(plain(text).encode("utf-8", "surrogatepass")).digest()


def _texts_after(allowed: _AllowedWrite, now: str, count: int) -> Iterator[str]:
    """The file's text after the first change, after the first two, and so on.

    Ends at a change whose old text isn't in the file, and at one that shows none and would replace a text that wasn't
    there when the user saw the card. `count` is how often a part is replaced; -1 for everywhere.
    """
    is_known = _is_as_seen(allowed, now)
    for change in allowed.changes:
        old, new = plain(change.old_text or ""), plain(change.new_text)
        if old.strip() == now.strip() or (not old and is_known):
            now, is_known = new, True
        elif old and old in now:
            now = now.replace(old, new, count)
        else:
            return
        yield now


def _is_as_seen(allowed: _AllowedWrite, now: str) -> bool:
    return not now.strip() or digest(now) == allowed.seen


def _covered(allowed: _AllowedWrite, write: TextDiff) -> int | None:
    """How many of the changes shown make the write, from the first; None if none do."""
    now, content = plain(write.old_text or ""), plain(write.new_text)
    for count in (1, -1):
        for number, text in enumerate(_texts_after(allowed, now, count), 1):
            if text == content:
                return number
    # An agent may change the file itself, and then write what is there already.
    if write.old_text == write.new_text and all(plain(change.new_text) in content for change in allowed.changes):
        return len(allowed.changes)
    return 0 if not allowed.changes and _is_as_seen(allowed, now) else None


def _unlike_write(allowed: _AllowedWrite, write: TextDiff) -> Unlike:
    texts = list(_texts_after(allowed, plain(write.old_text or ""), 1))
    missed = allowed.changes[len(texts) :]
    if not allowed.changes or (missed and not missed[0].old_text):
        return Unlike("The agent showed you nothing of what this replaces, and the file has changed since.")
    if missed:
        why = "The file doesn't contain the old text that the agent showed when you allowed this."
        return Unlike(why, _compared(write, texts[-1] if texts else allowed.changes[-1].new_text))
    return Unlike("This isn't what the agent showed when you allowed it.", _compared(write, texts[-1]))


def _compared(write: TextDiff, shown: str) -> tuple[ToolCallContent, ...]:
    return (
        BlockContent(Text("What it showed, compared with what it writes:")),
        TextDiff(write.path, write.new_text, shown),
        BlockContent(Text("The whole change of the file:")),
    )


# Comparing commands

_SHELLS: Final = frozenset(
    f"{folder}{name}" for folder in ("", "/bin/", "/usr/bin/") for name in ("sh", "bash", "dash", "zsh")
)
"""Any other path might be a program of the agent's."""
_RUNS_LINE: Final = ("-c", "-lc")
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_JOINS_COMMANDS: Final = frozenset(";&|<>()#\n`")
"""With one of these outside quotes, a line says something else to a shell than its words say to a program."""


def _stripped(line: str) -> str:
    """The line without what separates words for a shell. Python strips more, which a shell reads as part of a word."""
    return line.strip(" \t\n")


def _line_in(words: Sequence[str]) -> str | None:
    """The line that these words let a shell run; None if they don't."""
    if len(words) == 3 and words[0] in _SHELLS and words[1] in _RUNS_LINE:
        return _stripped(words[2])
    return None


def _words_of(line: str) -> tuple[str, ...] | None:
    """The words of a line that runs one program; None if the line is more than that."""
    if _JOINS_COMMANDS & set(_QUOTED.sub("", line)):
        return None
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return None


def _says(line: str, words: Sequence[str], run: AllowedRun) -> bool:
    """Whether what a card shows, a line and perhaps its words, is what runs."""
    shown_words = tuple(words) or _words_of(line)
    lines = (line, _line_in(shown_words or ()))
    if not run.args:  # the line of a shell, or only a program
        return _stripped(run.command) in lines
    done = (run.command, *run.args)
    inner = _line_in(done)
    return done == shown_words or (inner is not None and inner in lines)


def _short(line: str) -> str:
    one = " ".join(line.split())
    return one if len(one) <= MAX_SHOWN else f"{one[: MAX_SHOWN - 1]}…"


class Allowances:
    """What the user has allowed in one session. The agent can't make it more."""

    def __init__(self) -> None:
        self.for_session: dict[UnaskedKind, bool] = {}
        """Whether the agent may do this without asking until the session ends; missing: ask."""
        self._turn = object()
        self._writes: list[_AllowedWrite] = []
        self._runs: list[_AllowedRun] = []
        # Two writes at the same time must not use the same permission.
        self._one_at_a_time = Lock()

    async def note(self, call: ToolCall, locate: Locate, seen: Mapping[str, bytes]) -> None:
        """Remember for this turn a call that the user allowed, as the card showed it.

        Its paths are followed now, before the agent knows the answer. `seen` has the digests of the texts that the
        card was compared with.
        """
        turn = self._turn
        by_file: dict[Path, list[TextDiff]] = {}
        digests: dict[Path, bytes | None] = {}
        for path, changes in list(shown_changes(call).items())[:MAX_PATHS]:
            if (place := await locate(path)) is not None:
                by_file.setdefault(place, []).extend(changes)
                digests.setdefault(place, seen.get(path))
        run = _shown_run(call)
        folder = await locate(run[2]) if run is not None else None
        if turn is not self._turn:
            return
        self._writes += [_AllowedWrite(path, tuple(changes), digests[path]) for path, changes in by_file.items()]
        if run is not None:
            self._runs.append(_AllowedRun(run[0], run[1], folder))

    def end_turn(self) -> None:
        self._turn = object()
        self._writes, self._runs = [], []

    async def unlike_write(self, path: Path, write: TextDiff) -> Unlike | None:
        """None if the user allowed this write of the file at `path`, which uses the permission up."""
        async with self._one_at_a_time:
            unlike = Unlike()
            for allowed in [each for each in self._writes if each.path == path]:
                covered = await to_thread.run_sync(_covered, allowed, write)
                if allowed not in self._writes:
                    continue  # the turn has ended
                if covered is None:
                    unlike = await to_thread.run_sync(_unlike_write, allowed, write)
                    continue
                at = self._writes.index(allowed)
                rest = allowed.changes[covered:]
                self._writes[at : at + 1] = [replace(allowed, changes=rest)] if rest else []
                self._follow(path, write)
                return None
            return unlike

    def _follow(self, path: Path, write: TextDiff) -> None:
        """Let the other permissions for this file expect what was just written, since the user allowed that, too."""
        before, after = digest(write.old_text or ""), digest(write.new_text)
        for at, each in enumerate(self._writes):
            if each.path == path and each.seen == before:
                self._writes[at] = replace(each, seen=after)

    def unlike_run(self, folder: Path, run: AllowedRun) -> Unlike | None:
        """None if the user allowed to run this in this folder, which uses the permission up."""
        said = [each for each in self._runs if _says(each.line, each.words, run)]
        allowed = next((each for each in said if each.folder == folder), None)
        if allowed is not None:
            self._runs.remove(allowed)
            if not loading_warnings(run.variables):
                return None
            return Unlike("You allowed this command, but not with variables that decide what runs.")
        if said:
            return Unlike(f"You allowed this command, but in another folder: {said[-1].folder}")
        if self._runs:
            return Unlike(f"You allowed another command in this turn: {_short(self._runs[-1].line)}")
        return Unlike()
