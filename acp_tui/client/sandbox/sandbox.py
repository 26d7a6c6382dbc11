"""One agent's sandbox: made when it starts, shared by its commands, and gone when it has ended; what it refuses."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from acp_tui.client.errors import AgentNotRunnable, SettingsError
from acp_tui.client.path_globs import alternatives, is_spelled_in
from acp_tui.client.processes import inherited
from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.box import Box, make_box
from acp_tui.client.sandbox.defaults import SECRETS
from acp_tui.client.sandbox.engines import Engine, Way, engine_for
from acp_tui.client.sandbox.needs import needs_of
from acp_tui.client.settings.location import cache_folder
from acp_tui.client.settings.settings import READ_ONLY, RefusalRule, SandboxProfile
from acp_tui.conversation.visible import make_visible_line
from acp_tui.conversation.wording import from_home
from acp_tui.values import dataclass

REPLACED: Final = (
    "{path} was replaced while the agent runs, and its sandbox can't keep the new one from changes: look at it, and"
    " restart the agent."
)
MAX_LISTED: Final = 2
"""Of the agent's own places on a card, which has little room."""
PRIVATE: Final = "a private folder for temporary files, and empty caches, which go with it"


@dataclass(frozen=True, slots=True)
class Sandbox:
    box: Box
    engine: Engine

    @property
    def name(self) -> str:
        return self.box.profile.name

    @property
    def named(self) -> str:
        return f"{self.name}, enforced by {self.engine.name}"

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """All about it, as labels of at most ten characters and values."""
        box, readable = self.box, self.box.listed(Access.READABLE)
        is_by_rules = self.engine.name == "landlock"  # for files alone, and whole folders: its gaps say what is missing
        fixed = [] if is_by_rules else [path for path in readable if self._is_within(path, Access.WRITABLE)]
        home = [path for path in readable if self._is_within(path, Access.HIDDEN, Access.SCRATCH)]
        beyond = "" if is_by_rules else "other processes, and the sockets of services"
        return [
            ("Sandbox", self.named),
            ("Writes", "; ".join(filter(None, (_listed(self._writable), PRIVATE)))),
            *([("Only reads", f"{_listed(fixed)}: they can run something later")] if fixed else []),
            ("Reads", "; ".join(filter(None, ("programs and what else isn't hidden", _listed(home))))),
            ("Hidden", "; ".join(filter(None, (_listed(box.listed(Access.HIDDEN)), beyond)))),
            ("Network", self._network),
            ("Variables", ", ".join(sorted(box.environment)) or "none"),
            *(("Gap", gap) for gap in self.engine.gaps),
            *([("Note", box.note)] if box.note else []),
        ]

    @property
    def _network(self) -> str:
        profile = self.box.profile
        if not profile.network:
            return "off"
        if profile.hosts and profile.engine == "srt":
            return f"only {', '.join(profile.hosts)}"
        return "on: what you can reach, it can reach"

    @property
    def unasked_words(self) -> str:
        """What its agent can do without asking, for the first question of a session."""
        box = self.box
        others = [path for path in self._writable if path not in box.folders]
        listed = [path for path in self._writable if path in box.folders or len(others) <= MAX_LISTED]
        more = f"{len(others)} places of its own (F4)" if len(others) > MAX_LISTED else ""
        places = " and ".join(filter(None, (_listed(listed), more)))
        can = [f"change {places or 'no file of yours'}", "read what isn't hidden"]
        can += ["use the network"] if box.profile.network else []
        gaps = " F4 lists what the sandbox can't prevent here." if self.engine.gaps else ""
        return (
            f"This agent runs in the sandbox {self.name}. Without asking, it can {', '.join(can[:-1])}, and"
            f" {can[-1]}. The rest of your home folder is hidden.{gaps}"
        )

    @property
    def adds_more(self) -> str:
        """What an agent may lack that doesn't start in it, and where the user can add that."""
        name = self.box.profile.name
        kept = f"the sandbox {name} passes only some variables and hides most of your home folder"
        return f"{kept}; env and readable {_place_in_settings(name)} add more"

    @property
    def _writable(self) -> Sequence[Path]:
        """The places that may be written and aren't in another such place."""
        return [path for path in self.box.listed(Access.WRITABLE) if not self._is_within(path, Access.WRITABLE)]

    def _is_within(self, path: Path, *around: Access) -> bool:
        return path.parent != path and self.box.access(path.parent) in around

    def refusals(self, text: str, cwd: Path) -> Iterator[tuple[Path, str]]:
        """The places that it refuses, as a text of system errors names them, each with a sentence for the user.

        Relative paths are in `cwd`. Nothing is looked up: what is hidden may not exist either.
        """
        for line in _ESCAPES.sub("", text[-MAX_CHARACTERS:]).splitlines():
            said = line[:MAX_LINE].lower()
            is_write = _has(said, _READ_ONLY)
            if not (is_write or _has(said, (*_DENIED, *_MISSING))):
                continue
            for found in _PATHS.finditer(line[:MAX_LINE]):
                named = os.path.expanduser(found[1] or found[2])  # noqa: PTH111 - Path raises for an unknown user
                path = Path(os.path.normpath(cwd / named))
                note = _note(path, self.box, is_write=is_write, is_denied=is_write or _has(said, _DENIED))
                if note:
                    yield path, note

    def loosened(self) -> Iterator[tuple[Path, str]]:
        """What it no longer keeps from changes, each place with a sentence for the user. Blocks for a moment."""
        if self.engine.name == "bubblewrap":  # the others go by names
            yield from ((path, REPLACED.format(path=path)) for path in self.box.replaced)

    def way_into(self, folder: Path, extra: Mapping[str, str] | None = None) -> Way:
        """How to start a program in it, in `folder`, with `extra` variables. Blocks. Raises AgentNotRunnable."""
        return self.engine.way_into(self.box, folder, extra or {})


def make_sandbox(
    profile: SandboxProfile,
    agent: str,
    runner: str,
    folders: Sequence[Path],
    refuse: Sequence[RefusalRule],
    argv: Sequence[str],
    given: Mapping[str, str],
) -> Sandbox:
    """The sandbox of an agent that runs `argv` for sessions in `folders`. Blocks. Raises AgentNotRunnable.

    `runner` fetches it: `npx`, `uvx`, or "". `given` are variables that it gets besides those that every agent gets.
    """
    needs = needs_of(agent, argv)
    if runner:
        # What it fetches would run in other agents, too, if they shared it.
        fetched = cache_folder() / "packages" / runner
        variables = ("npm_config_cache",) if runner == "npx" else ("UV_CACHE_DIR", "UV_TOOL_DIR")
        needs = replace(needs, state=(*needs.state, str(fetched)))
        given = {**given, **dict.fromkeys(variables, str(fetched))}
    try:
        box = make_box(profile, needs, folders, argv, inherited(), given, masks(refuse, folders))
    except (OSError, SettingsError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AgentNotRunnable(f"the sandbox {profile.name} can't be made: {reason}") from error
    try:
        return Sandbox(box, engine_for(box))
    except BaseException:
        box.discard()
        raise


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(from_home(path) for path in paths)


MAX_CHARACTERS: Final = 1 << 14
"""Of the end of the text: errors are there."""
MAX_LINE: Final = 1_000
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_READ_ONLY: Final = ("read-only file system", "erofs")
_DENIED: Final = ("permission denied", "eacces", "operation not permitted", "eperm")
_MISSING: Final = ("no such file or directory", "enoent")
_QUOTED: Final = r"""['"`‘]([^'"`‘’]{1,300})['"`’]"""
_BARE: Final = r"""(?:^|(?<=[\s:(=]))((?:~|\.{1,2}|[\w.+-]{1,80})?/[^\s:'",;)]{0,300})"""
_PATHS: Final = re.compile(f"{_QUOTED}|{_BARE}")


def _has(text: str, words: Sequence[str]) -> bool:
    return any(word in text for word in words)


def _note(path: Path, box: Box, *, is_write: bool, is_denied: bool) -> str:
    """Why the sandbox refuses it, and what would allow it; "" if it doesn't."""
    profile, access = box.profile, box.access(path)
    name, shown = profile.name, make_visible_line(from_home(path))
    place = next(each for each in (path, *path.parents) if each in box.places)
    is_in_session = any(place == folder or folder in place.parents for folder in box.folders)
    if access is Access.HIDDEN and is_in_session:
        return f"The sandbox {name} hides {shown}, as your settings say."
    secrets = {Path(os.path.expanduser(secret)) for secret in SECRETS}  # noqa: PTH111 - as above
    is_secret = not secrets.isdisjoint((path, *path.parents))
    if access is Access.HIDDEN and is_secret:  # no agent's output may talk the user into opening it
        return f"The sandbox {name} hides {shown}, as it hides all keys and logins that aren't the agent's."
    if access is Access.HIDDEN and is_write:
        return f"The sandbox {name} hides {shown}: {_line('writable', profile.writable, shown, name)} would allow it."
    if access is Access.HIDDEN:
        return f"The sandbox {name} hides {shown}: {_line('readable', profile.readable, shown, name)} would allow it."
    if access is not Access.READABLE or not is_denied:
        return ""
    if place != Path("/") and box.access(place.parent) is Access.WRITABLE:
        return f"The sandbox {name} keeps {shown} read-only, since it can run something later: change it yourself."
    if is_in_session and "." not in profile.writable:
        return f"In the sandbox {name}, the agent can only read {shown}; in the sandbox workspace, it can write there."
    if is_write:
        line = _line("writable", profile.writable, shown, name)
        return f"In the sandbox {name}, the agent can only read {shown}: {line} would allow it."
    return ""


def _line(key: str, listed: Sequence[str], path: str, name: str) -> str:
    return f"{key} = {json.dumps([*listed, path], ensure_ascii=False)} {_place_in_settings(name)}"


def _place_in_settings(name: str) -> str:
    return "of one of your own, [sandbox.NAME]," if name == READ_ONLY.name else f"under [sandbox.{name}]"


_ACCESS = {None: Access.HIDDEN, "read": Access.HIDDEN} | dict.fromkeys(("edit", "delete", "move"), Access.READABLE)
"""What is left of a file by a rule for this kind of tool call."""


def masks(rules: Sequence[RefusalRule], roots: Sequence[Path]) -> Iterator[tuple[Path, Access]]:
    """What exists of what the rules name, and the access that is left. Blocks: it goes through the folders."""
    named = [
        (path, _ACCESS[rule.kind])
        for rule in rules
        if rule.path and not rule.command and rule.kind in _ACCESS
        for path in alternatives(rule.path)
    ]
    for path, access in named:
        if path.startswith("/"):
            yield from ((found, access) for found in Path("/").glob(path.lstrip("/")))
    if all(path.startswith("/") for path, _ in named):
        return
    spelled = [str(root) for root in roots]
    for root in spelled:
        for folder, folders, files in os.walk(root):
            for name in [*folders, *files]:
                place = f"{folder}/{name}"
                left = [access for path, access in named if is_spelled_in(place, path, spelled)]
                if left:
                    # A link can't be hidden, but what it leads to here.
                    leads_to = os.path.realpath(place)
                    if leads_to.startswith(tuple(f"{os.path.realpath(each)}/" for each in spelled)):
                        yield Path(leads_to), Access.HIDDEN if Access.HIDDEN in left else Access.READABLE
                    if name in folders:
                        folders.remove(name)  # all below is the same
