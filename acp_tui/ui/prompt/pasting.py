"""Puts what is on the desktop's clipboard into the prompt: text as a paste, a picture to go along with the draft.

How a clipboard is read is `client.clipboard`'s.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from acp_tui.client.clipboard import ClipboardText, NothingToPaste, Picture, read_clipboard
from acp_tui.ui.prompt import PastedImage, PromptInput

if TYPE_CHECKING:
    from acp_tui.client.sessions.agent import Agent


async def paste_from_clipboard(prompt: PromptInput, agent: Agent | None) -> None:
    """Without an agent nobody knows whether pictures are taken, so none are read."""
    read = partial(read_clipboard, os.environ, no_pictures=_why_no_pictures(agent))
    try:
        content = await to_thread.run_sync(read)
    except (NothingToPaste, OSError) as problem:
        _say(prompt, problem)
        return
    match content:
        case ClipboardText(text):
            prompt.paste(text)
        case Picture(data, mime_type):
            suffix = mime_type.removeprefix("image/")
            prompt.attach(PastedImage(f"image-{len(prompt.images) + 1}.{suffix}", data))


def _why_no_pictures(agent: Agent | None) -> str:
    if agent is None:
        return "there is no agent yet that the picture on the clipboard could go to"
    return "" if agent.capabilities.image else f"{agent.title} takes no pictures"


def _say(prompt: PromptInput, problem: NothingToPaste | OSError) -> None:
    """What was cut in the prompt can be pasted even where no desktop is."""
    if prompt.app.clipboard:
        prompt.paste(prompt.app.clipboard)
        return
    hint = getattr(problem, "hint", "")
    said = f"Nothing is pasted: {problem}." + (f" You can {hint}." if hint else "")
    prompt.notify(said, severity="warning", markup=False)
