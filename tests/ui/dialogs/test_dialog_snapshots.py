"""Pictures of the dialogs. To update them, run `pytest tests/ui/dialogs --snapshot-update` and look at each."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

import anyio
import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from acp_tui.client.agents.catalogue import KNOWN_AGENTS
from acp_tui.client.changes import ChangedPath
from acp_tui.conversation.entries import EntryId
from acp_tui.conversation.facts import AuthMethod, BooleanOption, Choice, HttpServer, SelectOption, StdioServer
from acp_tui.protocol.roles import AgentCapabilities
from acp_tui.ui.commands.help import HelpScreen
from acp_tui.ui.dialogs.agent_offers import AgentFacts, CapabilityCard, LoginDialog, OptionsDialog
from acp_tui.ui.dialogs.agents import InstallQuestion
from acp_tui.ui.dialogs.trust import TrustDialog
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.kit.row_list import PickerRow
from acp_tui.ui.tab.going_back import FILES, ChangedFiles, GoBackDialog, GoingBack, SentPrompt, Way
from acp_tui.ui.tab.sessions_dialog import SessionsDialog
from support.dialogs import SIZE, DialogApp, DialogPage, SampleSessions

AGENT: Final = "Claude Code"
METHODS: Final = (
    AuthMethod("browser", "Log in with your subscription", "Opens a browser on this machine"),
    AuthMethod("key", "Use an API key", None, "terminal"),
)


def _picker() -> Screen[Any]:
    families = (("Small", ("Haiku 4", "Haiku 5")), ("Large", ("Sonnet 5", "Opus 5")))
    rows = [
        PickerRow(name, name, "good at what it does", group, name == "Opus 5", "")
        for group, names in families
        for name in names
    ]
    return Picker("Model", [*rows, PickerRow("x", "Next", "", "Large", False, "not in your plan")])


def _options() -> Screen[Any]:
    modes = (Choice("ask", "Ask"), Choice("code", "Code"))
    return OptionsDialog(
        [
            SelectOption("mode", "Mode", "ask", modes, "mode", "How much it does on its own"),
            SelectOption("model", "Model", "o", (Choice("o", "Opus 5"),), "model"),
            BooleanOption("fast", "Fast", True, None, "Quicker answers at a higher price"),
        ]
    )


def _sessions() -> Screen[Any]:
    now = datetime(2026, 11, 22, 12).astimezone()
    return SessionsDialog(SampleSessions(now), here=Path("/home/me/project"), now=lambda: now)


def _login() -> Screen[Any]:
    async def wait(method: AuthMethod) -> None:
        await anyio.sleep_forever()

    return LoginDialog(AGENT, METHODS, wait, reason="Authentication required")


def _card() -> Screen[Any]:
    offered = AgentCapabilities(load_session=True, list_sessions=True, image=True, meta={"example.org/fork": {}})
    command = ("npx", "-y", "claude-agent-acp")
    return CapabilityCard(AgentFacts(AGENT, "claude-agent-acp", "0.12.3", "v1", command, offered, METHODS, ()))


def _trust() -> Screen[Any]:
    files = StdioServer("files", "npx", ("-y", "@example/files", "/home/me/a b"), (("API_KEY", "${KEY}"),))
    web = HttpServer("http", "web", "https://example.org/mcp", (("Authorization", "Bearer ${TOKEN}"),))
    return TrustDialog(Path("/home/me/project/.mcp.json"), [files, web])


def _installing() -> Screen[Any]:
    return InstallQuestion(replace(KNOWN_AGENTS["gemini"].offer, version="0.61.0"))


class _Prompts:
    """Three prompts; an agent that can't fork."""

    prompts = (
        SentPrompt(EntryId(6), 3, "Now explain what you did, and why", "2 min ago"),
        SentPrompt(EntryId(3), 2, "Add weeks to the parser, with tests", "5 min ago"),
        SentPrompt(EntryId(0), 1, "Fix the failing test in durations.py", "1 h ago"),
    )

    def ways(self, prompt: SentPrompt | None, changed: ChangedFiles | None) -> list[PickerRow[Way]]:
        files, everything = ("", "") if changed is None else map(changed.summary, FILES)
        return [
            PickerRow("here", "Go on here                 ", "edit it; what came after stays"),
            PickerRow("fork", "Go on in a fork            ", is_disabled_reason="Claude Code can't fork sessions"),
            PickerRow("anew", "Go on in a new session     ", "a new tab, told only what came before"),
            PickerRow("files", "Put the agent's files back ", files),
            PickerRow("all", "Put all files back         ", everything),
        ]

    async def changed_files(self, prompt: SentPrompt) -> ChangedFiles:
        named, unnamed = (await self.changed(prompt)).values()
        return ChangedFiles([named], [unnamed])

    async def catch_up(self) -> None:
        pass

    async def changed(self, prompt: SentPrompt, *, until_next: bool = False) -> dict[str, ChangedPath]:
        counts = {3: (), 2: ((14, 0), (0, 3)), 1: ((5, 2),)}[prompt.number] if until_next else ((14, 0), (5, 5))
        return {
            name: ChangedPath(name, "modified", added=a, removed=r) for name, (a, r) in zip("ab", counts, strict=False)
        }


def _going_back() -> Screen[Any]:
    return GoBackDialog(cast("GoingBack", _Prompts()), "here", _Prompts.prompts[0])


DIALOGS: Final[dict[str, tuple[Callable[[], Screen[Any]], tuple[str, ...]]]] = {
    "picker": (_picker, ("o", "p")),
    "options": (_options, ("down",)),
    "sessions": (_sessions, ("space", "down", "down")),
    "login": (_login, ("enter",)),
    "capability card": (_card, ()),
    "trust": (_trust, ()),
    "going back": (_going_back, ("down", "shift+tab")),
    "installing": (_installing, ()),
    "help": (HelpScreen, ()),
}


@pytest.mark.parametrize("name", DIALOGS)
def test_every_dialog_looks_as_it_did(
    name: str, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/home/me/.local/share")
    make, keys = DIALOGS[name]

    async def press(pilot: Pilot[Any]) -> None:
        page = DialogPage(pilot, pilot.app)  # type: ignore[arg-type]
        await page.settled()
        await page.press(*keys)

    assert snap_compare(DialogApp(make()), terminal_size=SIZE, run_before=press)
