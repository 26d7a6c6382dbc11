"""The question before code of others is run for the first time; the answer is kept, for that very code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from anyio import to_thread
from textual.app import App
from textual.content import Content

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.consent import agree, consent_file, is_agreed, what_runs
from acp_tui.client.errors import SettingsError
from acp_tui.ui.dialogs.trust import TrustQuestion
from acp_tui.ui.kit.frame import shown_line


async def agreed_command(app: App[Any], command: AgentCommand) -> AgentCommand | None:
    """The command once the user has agreed to it, now or before; None where they do not. To be awaited in a worker."""
    if not await to_thread.run_sync(is_agreed, command, consent_file()):
        if not await app.push_screen_wait(FirstRunDialog(command)):
            return None
        try:
            await to_thread.run_sync(agree, command, consent_file())
        except SettingsError as error:
            app.notify(f"{error}; {error.hint}", severity="warning", markup=False)
    return replace(command, package=None)


class FirstRunDialog(TrustQuestion):
    """Gives True where the user agrees."""

    def __init__(self, command: AgentCommand) -> None:
        """`command` has a package. All that would run is shown."""
        about, line, *env = what_runs(command)
        told = [shown_line(about), Content(), shown_line(line, "bold")]
        told += [shown_line(each, "$foreground-muted") for each in env]
        told += [Content(), Content("You are asked again when the version or the command changes.")]
        question = Content.assemble("Run ", shown_line(command.name), " for the first time?")
        super().__init__(question, told, yes="Yes, run it")
