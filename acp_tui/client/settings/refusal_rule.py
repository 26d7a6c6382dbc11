"""A standing rule of the user's: what is refused to every agent without asking.

A rule can only refuse, never allow. What it is held against, and when, is not its matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from acp_tui.client.settings.setting import setting
from acp_tui.conversation import KINDS


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """Refuses what meets all that it names: at least one of kind, path and command."""

    kind: str | None = setting(
        None, "The kind of tool call that is refused; without it, every kind.", allowed=KINDS
    )
    path: str | None = setting(
        None,
        "A glob for the files that are refused, as in a `.gitignore`; but `/x` is absolute, `./x` is what begins at a"
        " workspace root, and `{a,b}` stands for either.",
        is_blank_allowed=False,
        is_expanded=True,
    )
    command: str | None = setting(
        None,
        "How the commands begin that are refused, as in `git push`. Options may stand anywhere and in any order or"
        " bundle: `rm -rf` refuses `rm -v -f -r` too. `-f` and `--force` are two.",
        is_blank_allowed=False,
    )
    reason: str = setting("", "Why, in your words; shown where something is refused, to the agent too.")

    @property
    def words(self) -> str:
        """The rule in a line."""
        named = (("kind", self.kind), ("path", self.path), ("command", self.command))
        rule = ", ".join(f"{name} {value}" for name, value in named if value is not None)
        return f"{rule}: {self.reason}" if self.reason else rule
