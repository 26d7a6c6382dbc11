"""Which sandbox an agent is to run in, by the user's settings. `sandbox` makes it."""

from __future__ import annotations

from pathlib import Path

from acp_tui.client.errors import AgentNotRunnable
from acp_tui.client.settings.settings import NO_SANDBOX, READ_ONLY, WORKSPACE, RefusalRule, SandboxProfile, Settings
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class SandboxPlan:
    """What the user wants an agent to run in."""

    profile: SandboxProfile
    directories: tuple[Path, ...] = ()
    """Where its sessions may work, besides the folder it starts in."""
    refuse: tuple[RefusalRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Sandboxes:
    """What the user's settings say about sandboxes, and what holds in each of them."""

    default: str = NO_SANDBOX
    """The name of the one for agents that have none of their own."""
    own: tuple[SandboxProfile, ...] = ()
    directories: tuple[Path, ...] = ()
    refuse: tuple[RefusalRule, ...] = ()

    def plan_for(self, agent: str, wanted: str, *, is_elsewhere: bool) -> SandboxPlan | None:
        """What the agent of that name is to run in; None for no sandbox. Raises AgentNotRunnable.

        `wanted` is the name of its own sandbox, or "".
        """
        name = wanted or self.default
        if name == NO_SANDBOX:
            return None
        if is_elsewhere:
            if not wanted:
                return None
            raise AgentNotRunnable(
                f"{agent} runs elsewhere, where acp-tui can't make a sandbox", hint="start it in one there"
            )
        known = {profile.name: profile for profile in (READ_ONLY, WORKSPACE, *self.own)}
        if name not in known:
            names = ", ".join((NO_SANDBOX, *known))
            raise AgentNotRunnable(f"there is no sandbox named {name!r}", hint=f"there are {names}")
        return SandboxPlan(known[name], self.directories, self.refuse)


def sandboxes_of(settings: Settings) -> Sandboxes:
    directories = settings.workspace.additional_directories
    return Sandboxes(settings.agent.sandbox, settings.sandbox, directories, settings.refuse)
