"""Helps to write paths behind `@` and commands behind `/`: opens a list over the prompt, and takes its keys meanwhile.

What may be meant `files` and `commands` find out; what a command does is the screen's business.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from textual import events
from textual.widget import Widget

from acp_tui.client.completion.spelling import Writing, being_written
from acp_tui.client.completion.workspace_files import WorkspaceFiles
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import Command
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.prompt import PromptInput
from acp_tui.ui.prompt.completion.commands import Commands
from acp_tui.ui.prompt.completion.files import recent_paths, rows_for
from acp_tui.ui.prompt.completion.suggestion import Remark, Suggestion
from acp_tui.ui.prompt.completion.suggestion_list import SuggestionList

TYPING_KEYS: Final = frozenset({"backspace", "delete", "ctrl+h"})
"""Beside what puts a character into the draft."""
CLOSING: Final = frozenset(" \t.,;:!?)]}>'\"")
"""Before these nothing is put between."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the prompt is written for."""

    cwd: Path
    conversation: Conversation | None = None
    agent_title: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of the draft's line that something may be suggested for."""

    row: int
    start: int
    stop: int
    mention: Writing | None
    """None: it is a command's name."""
    command: str = ""
    """As much of the name as is written."""


class Completion:
    """One prompt's assistant; the list is mounted when it is first needed."""

    def __init__(self, prompt: PromptInput, surroundings: Callable[[], Surroundings]) -> None:
        self._prompt = prompt
        self._surroundings = surroundings
        self._list = SuggestionList(self._choose_clicked)
        self._files: WorkspaceFiles | None = None
        self._is_reading = False
        self._commands: tuple[Sequence[Command], Commands] | None = None
        self._is_typed = False
        """The last key wrote something: what is recalled or pasted opens no list."""
        self._left_alone: tuple[int, int] | None = None
        """Where the mention begins that the user wants no help with."""
        self._place: _Place | None = None
        """What suggestions are wanted for."""
        self._shown: _Place | None = None
        """What those in the list are for."""
        self._delayed: events.Key | None = None
        """Enter or Tab, pressed before the suggestions for what was typed were there."""
        self._ghost = ""

    @property
    def is_open(self) -> bool:
        """Whether the list is to be seen."""
        return self._list.display and self._list.is_attached

    # The keys

    def takes_key(self, event: events.Key) -> bool:
        """The list's keys, while it is open."""
        self._is_typed = event.is_printable or event.key in TYPING_KEYS
        if not self.is_open:
            # Textual would write the hint into the draft.
            return bool(self._ghost) and event.key in ("right", "ctrl+f")
        match event.key:
            case "up" | "down" | "pageup" | "pagedown" if self._list.suggestion is None:
                return False
            case "up" | "down":
                self._list.move(1 if event.key == "down" else -1)
            case "pageup" | "pagedown":
                self._list.page(1 if event.key == "pagedown" else -1)
            case "enter" | "tab":
                return self._take(event)
            case "escape":
                self._left_alone = self._beginning
                self.close()
            case _:
                return False
        return True

    def _take(self, event: events.Key) -> bool:
        """Write what the cursor is on. Enter is not taken where there is nothing left to write: it sends."""
        self.draft_changed()  # keys may have come faster than the word that the draft has changed
        if self._shown != self._place:
            self._delayed = event
            return True
        suggestion = self._list.suggestion
        if suggestion is None or self._is_written(suggestion):
            self._left_alone = self._beginning
            self.close()
            return event.key == "tab"
        self._write(suggestion, goes_further=event.key == "tab")
        return True

    def _is_written(self, suggestion: Suggestion) -> bool:
        place = self._place
        if place is None:
            return False
        line = self._prompt.document.get_line(place.row)
        return line[place.start : place.stop] == suggestion.written.rstrip() and place.stop == len(line)

    def _choose_clicked(self) -> None:
        """What was clicked on is written, where it can be chosen."""
        if self._list.suggestion is not None and self._place is not None:
            self._write(self._list.suggestion)

    def _write(self, suggestion: Suggestion, *, goes_further: bool = False) -> None:
        place = self._place
        assert place is not None
        if suggestion.is_run and not goes_further:
            self.close()
            self._prompt.clear_draft()
            self._prompt.post_message(PromptInput.Submitted(suggestion.written))
            return
        text = suggestion.further if goes_further and suggestion.further else suggestion.written
        self._is_typed = goes_further and bool(suggestion.further)
        following = self._prompt.document.get_line(place.row)[place.stop :]
        if following[:1] in CLOSING and following:
            text = text.rstrip(" ")
        self.close()
        self._prompt.replace(
            text, (place.row, place.start), (place.row, place.stop), maintain_selection_offset=False
        )

    # What is being written

    def draft_changed(self) -> None:
        """Look for suggestions where something is written that there may be some for; else there is no list."""
        self._show_hint()
        place = self._find_place()
        if place is None:
            self._left_alone = None
            self.close()
        elif place != self._place and (self.is_open or (self._is_typed and not self._is_left_alone(place))):
            self._look(place)

    def _find_place(self) -> _Place | None:
        prompt = self._prompt
        first = prompt.document.get_line(0)
        if first.startswith("!") or not prompt.selection.is_empty or not prompt.has_focus:
            return None
        row, column = prompt.cursor_location
        if row == 0 and column and first.startswith("/"):
            name = first[1:column]
            if not any(map(str.isspace, name)):
                rest = first[column:].split(maxsplit=1)
                stop = column + (len(rest[0]) if rest and not first[column].isspace() else 0)
                return _Place(0, 0, stop, None, name)
        line = first if row == 0 else prompt.document.get_line(row)
        mention = being_written(line, column)
        return _Place(row, mention.start, mention.stop, mention) if mention is not None else None

    @property
    def _beginning(self) -> tuple[int, int] | None:
        return (self._place.row, self._place.start) if self._place is not None else None

    def _is_left_alone(self, place: _Place) -> bool:
        if self._left_alone != (place.row, place.start):
            self._left_alone = None
        return self._left_alone is not None

    # Suggestions

    def _look(self, place: _Place) -> None:
        self._place = place
        surroundings = self._surroundings()
        if place.mention is None:
            self._show(place, self._known_commands(surroundings).find(place.command))
            return
        files = self._files_of(surroundings.cwd)
        if files.is_old and not self._is_reading:
            self._run(partial(self._read, files), "completion-reading")
        self._run(partial(self._look_for_files, place, place.mention, files, surroundings), "completion")

    def _run(self, work: Callable[[], Awaitable[None]], group: str) -> None:
        """Do this instead of what was begun in this group before."""
        self._prompt.run_worker(work, group=group, exclusive=True)

    async def _look_for_files(
        self, place: _Place, mention: Writing, files: WorkspaceFiles, surroundings: Surroundings
    ) -> None:
        conversation = surroundings.conversation
        recent = (
            recent_paths(conversation, files.root) if conversation is not None and not mention.path else ()
        )
        rows = await rows_for(mention, files, recent, lambda: self._place is not place)
        if self._place is place:
            self._show(place, rows)

    async def _read(self, files: WorkspaceFiles) -> None:
        """Read the files; where they are others, or of another workspace by now, what is open is looked for again."""
        self._is_reading = True
        try:
            is_other = await files.read()
        finally:
            self._is_reading = False
        place = self._place
        if (is_other or files is not self._files) and place is not None and place.mention is not None:
            self._look(replace(place))  # an equal one, and yet another: what was begun for it is stale

    def _files_of(self, cwd: Path) -> WorkspaceFiles:
        if self._files is None or self._files.root != cwd:
            self._files = WorkspaceFiles(cwd)
        return self._files

    def _known_commands(self, surroundings: Surroundings) -> Commands:
        conversation = surroundings.conversation
        of_agent = conversation.commands if conversation is not None else ()
        if self._commands is None or self._commands[0] is not of_agent:
            self._commands = (of_agent, Commands(of_agent, surroundings.agent_title))
        return self._commands[1]

    # The list

    def _show(self, place: _Place, rows: Sequence[Suggestion | Remark]) -> None:
        room = self._prompt.region.y
        if not rows or room < 1:
            self._hide()
        else:
            self._mounted().open(rows, room)
        self._shown = place
        delayed, self._delayed = self._delayed, None
        if delayed is not None:
            self._prompt.post_message(events.Key(delayed.key, delayed.character))

    def _mounted(self) -> SuggestionList:
        if self._list.parent is None:
            frame = self._prompt.parent
            assert isinstance(frame, Widget)
            frame.mount(self._list, before=self._prompt)
            self._prompt.watch(self._prompt, "has_focus", self._focus_changed, init=False)
        return self._list

    def _focus_changed(self, has_focus: bool) -> None:
        if not has_focus:
            self.close()

    def close(self) -> None:
        """There is no list, and nothing is looked for."""
        self._place = self._shown = self._delayed = None
        self._hide()

    def _hide(self) -> None:
        if self._list.display:
            self._list.display = False

    def _show_hint(self) -> None:
        """What may follow a command's name, until something does."""
        document = self._prompt.document
        line = document.get_line(0) if document.line_count == 1 else ""
        hint = ""
        if line.startswith("/") and line.endswith(" ") and self._prompt.cursor_location == (0, len(line)):
            hint = make_visible_line(self._known_commands(self._surroundings()).hint(line))
        if hint or self._ghost:
            self._ghost = self._prompt.suggestion = hint
