"""One agent's sandbox: made when it starts, shared by its commands, and gone when it has ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from acp_tui.client.errors import AgentNotRunnable, SettingsError
from acp_tui.client.processes import inherited
from acp_tui.client.sandbox import wording
from acp_tui.client.sandbox.box import Box, make_box
from acp_tui.client.sandbox.engines import Engine, Way, engine_for
from acp_tui.client.sandbox.masks import masks
from acp_tui.client.sandbox.needs import needs_of
from acp_tui.client.sandbox.refusals import refusals
from acp_tui.client.settings.location import cache_folder
from acp_tui.client.settings.settings import RefusalRule, SandboxProfile
from acp_tui.values import dataclass

REPLACED: Final = (
    "{path} was replaced while the agent runs, and its sandbox can't keep the new one from changes: look at it, and"
    " restart the agent."
)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A box, and what enforces it."""

    box: Box
    engine: Engine

    @property
    def name(self) -> str:
        return self.box.profile.name

    @property
    def named(self) -> str:
        return f"{self.name}, enforced by {self.engine.name}"

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """All about it, as labels of at most ten characters and values."""
        return tuple(wording.facts_of(self.box, self.engine))

    @property
    def unasked_words(self) -> str:
        """What its agent can do without asking."""
        return wording.unasked_words(self.box, self.engine)

    def refusals(self, text: str, cwd: Path) -> Iterator[tuple[Path, str]]:
        """What it refuses, as text of a program in `cwd` tells, each place with a sentence for the user."""
        return refusals(text, cwd, self.box)

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
