"""The prompts that were sent, in this run and in earlier ones, as they are recalled. It reads and writes no file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from acp_tui.client.prompts.past_prompt import PastPrompt, said_now, without_repeats
from acp_tui.client.prompts.query import Query
from acp_tui.client.secrets.masking import masked_text


class PromptHistory:
    """Past prompts of all projects."""

    def __init__(self) -> None:
        self._prompts: list[PastPrompt] = []
        """Oldest first."""
        self._said: list[PastPrompt] = []
        """Those of this run: they are recalled whether they could be kept or not."""
        self._unkept: list[PastPrompt] = []

    def take_in(self, kept: Sequence[PastPrompt]) -> None:
        """Know these, oldest first, instead of what was kept before."""
        # In the file it stands without its secrets; in this run it is recalled as it was said.
        said = {(prompt.folder, masked_text(prompt.text)): prompt for prompt in self._said}
        self._prompts = without_repeats([said.pop((each.folder, each.text), each) for each in kept])
        self._prompts += without_repeats(said.values())

    def add(self, text: str, folder: str, agent: str) -> None:
        """This is being sent. As in shells, what begins with a space is not remembered."""
        if text.startswith(" ") or not text.strip():
            return
        prompt = said_now(text, folder, agent)
        for prompts in (self._prompts, self._said, self._unkept):
            prompts.append(prompt)

    def take_unkept(self) -> list[PastPrompt]:
        """What is to be kept and is not yet, oldest first; it counts as kept from now on."""
        unkept, self._unkept = self._unkept, []
        return unkept

    def texts_of(self, folder: str) -> list[str]:
        """The prompts of a project, each once, latest first."""
        return list(dict.fromkeys(p.text for p in reversed(self._prompts) if p.folder == folder))

    def find(self, query: Query, folder: str | None, limit: int) -> list[PastPrompt]:
        """At most `limit` prompts of a project, or of all for None, that match: each once, latest first."""
        return list(islice(self._found(query, folder), limit))

    def _found(self, query: Query, folder: str | None) -> Iterator[PastPrompt]:
        seen = set()
        for prompt in reversed(self._prompts):
            if folder in (None, prompt.folder) and prompt.text not in seen and query.matches(prompt.text):
                seen.add(prompt.text)
                yield prompt
