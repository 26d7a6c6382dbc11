"""The prompt: its keys, and what is attached to the draft. `draft` edits the text; the screen acts on it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from anyio import to_thread
from rich.cells import cell_len
from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.timer import Timer
from textual.widgets import Static, TextArea
from textual.widgets.text_area import EditResult

from acp_tui.conversation.wording import reason_prompt
from acp_tui.ui.commands.keys import follow_keys, idle_s, keys_in_force
from acp_tui.ui.commands.table import PAGES, bindings_of
from acp_tui.ui.kit.answer_guard import QuestionGuard
from acp_tui.ui.kit.desktop import edit_text
from acp_tui.ui.kit.notice_lines import ROWS_SHARE
from acp_tui.ui.prompt.draft import DraftArea
from acp_tui.ui.textual_gaps.internals import press_in
from acp_tui.ui.textual_gaps.terminal_input import LINE_END

if TYPE_CHECKING:
    from acp_tui.client.line_comments import Comment
    from acp_tui.client.sessions.prompt_queue import PastedImage
    from acp_tui.conversation.facts import RequestKey
    from acp_tui.conversation.permission_requests import Rejection

MAX_FILES: Final = 64
MAX_CHARACTERS: Final = 8_000
_BEGINNINGS: Final = ("/", "~/", "file://", "'/", '"/', "'file://", '"file://')


def mentions_of_dropped(text: str, cwd: Path) -> str | None:
    """The mentions for a paste that consists only of existing paths; None for any other. Call it in a thread."""
    from acp_tui.client.completion.matching import mention_of

    for words in _readings(text):
        paths = [path for word in words if (path := _path(word)) is not None]
        # Not `Path.exists`, which raises for a name that is too long.
        if 0 < len(words) == len(paths) <= MAX_FILES and all(map(os.path.exists, paths)):
            # Short in the session's folder. A folder ends with a slash, as in completion.
            near = [path.relative_to(cwd) if path.is_relative_to(cwd) and path != cwd else path for path in paths]
            mentions = [mention_of(f"{path}/" if (cwd / path).is_dir() else str(path)) for path in near]
            return "".join(f"{mention} " for mention in mentions) if all(mentions) else None
    return None


def _readings(text: str) -> Iterator[list[str]]:
    """The possible readings: one path per line, possibly with blanks; or several, quoted as in a shell."""
    yield [line.strip() for line in text.strip().splitlines()]
    with suppress(ValueError):
        yield shlex.split(text)


def _path(word: str) -> Path | None:
    """The absolute path that a word names; None if it isn't one."""
    if word.startswith("file://"):
        address = urlsplit(word)
        word = unquote(address.path) if address.netloc in ("", "localhost") else ""
    return Path(word).expanduser() if word.startswith(("/", "~/")) else None


class KeyHelper(Protocol):
    """Helps the user write a prompt."""

    def takes_key(self, event: events.Key) -> bool:
        """Whether the helper handled the key. If so, nothing else happens with it."""

    def draft_changed(self) -> None:
        """The draft or the cursor changed. Must be cheap, because it's called on each key."""


class EditingMode(Protocol):
    """Gives characters another meaning than text in some modes."""

    @property
    def words(self) -> str:
        """The current mode; "" if there is only one."""

    def takes_key(self, event: events.Key) -> bool:
        """Whether the key was a command."""

    def leave_insert(self) -> bool:
        """Leave the mode in which characters are text. Returns False if it's the only one, or was left before."""

    def insert(self) -> None:
        """Go to the mode in which characters are text."""


ROWS_AROUND: Final = 3
"""Of the screen, besides the draft and notices: of the conversation, above the draft, and of the status line."""
MAX_LINES: Final = 10
IDLE_S: Final = 1.0
"""After this long without a key, the user isn't about to press another."""
LOOK_AGAIN_S: Final = 0.25
"""While a card waits for a draft to be sent or deleted, or for another screen to close, look this often."""
PLACEHOLDER: Final = "Write a prompt. {send} sends it, {new_line} starts a new line"
SHELL: Final = "Enter runs this in your shell, not in the agent"
EARLY: Final = "Typed before acp-tui was ready: Enter sends it"
WHY_NOT: Final = "Why not? Enter rejects it and sends this as your next prompt"
WHY_NOT_PLACEHOLDER: Final = "A reason, or leave it empty. Esc: don't reject it yet"


class _StashedDraft(NamedTuple):
    text: str = ""
    images: tuple[PastedImage, ...] = ()


class PromptInput(DraftArea):
    DEFAULT_CSS = "PromptInput { height: 3; max-height: 12; }"

    PLACE: Final = "prompt"
    BINDINGS = bindings_of(*PAGES, place=PLACE)

    class Submitted(Message):
        """The user wants to send this text from the draft. If it isn't sent after all, pass it to `take_back`."""

        def __init__(
            self,
            text: str,
            *,
            is_command: bool = False,
            is_reason: bool = False,
            is_other_way: bool = False,
            images: Sequence[PastedImage] = (),
        ) -> None:
            super().__init__()
            self.text = text
            self.is_command = is_command
            """For the user's shell, not for the agent."""
            self.is_reason = is_reason
            """The reason why a call was rejected."""
            self.is_other_way = is_other_way
            """While the agent works: add it to the current turn if Enter queues, and the reverse."""
            self.images = tuple(images)

    class Rejected(Message):
        """The user rejects this, with the reason submitted next, or without one."""

        def __init__(self, rejection: Rejection) -> None:
            super().__init__()
            self.rejection = rejection

    class EscapeRequested(Message):
        """Esc: the user wants to stop what is running."""

        def __init__(self, *, may_be_for_reason: bool) -> None:
            super().__init__()
            self.may_be_for_reason = may_be_for_reason
            """Whether a reason for a rejection was being written until then, and closed otherwise than by Esc."""

    class DropRequested(Message):
        """The user doesn't want to send the last output or comment with the next prompt."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self.cwd = Path.cwd()
        """The session's folder. Mentions of files in it use short names."""
        self.images: tuple[PastedImage, ...] = ()
        """Attached to the next prompt."""
        self.show_images: Callable[[Sequence[PastedImage]], None] = lambda images: None
        """Called when they change."""
        self.comments: list[Comment] = []
        """On lines of diffs, for the next prompt, which ends with them."""
        self._rejection: Rejection | None = None
        """What the reason being written rejects; None for any other prompt."""
        self._stashed = _StashedDraft()
        """The draft that comes back after the reason is sent."""
        self._reasons: dict[RequestKey, _StashedDraft] = {}
        """Those that were left unsent, by the request that they are for."""
        self._has_closed_reason = False
        """Whether a reason was closed otherwise than by Esc or sending it, and no other key was pressed here since."""
        self._can_send = True
        self.key_helpers: list[KeyHelper] = []
        """They get each key before it becomes text, in this order."""
        self.note_press: Callable[[events.Key | events.Paste], None] = lambda event: None
        """Called with each key and paste before anything else."""
        self.editing_mode: EditingMode | None = None
        """Whether characters are text or commands; None until it's loaded. Then characters are text."""
        self._giving_way: Timer | None = None
        """Looks whether a card that came while the user was busy may have the keyboard by now."""

    def on_mount(self) -> None:
        follow_keys(self, self._name_keys)
        self._name_keys()

    def say(self, text: str) -> None:
        """Show this below the draft until the next key or paste."""
        self.border_subtitle = text

    # Keys

    async def action_page(self, direction: int) -> None:
        """Scroll the conversation by a page: up for -1, down for 1."""
        await self.run_action(f"screen.page({direction})")

    async def on_key(self, event: events.Key) -> None:
        """Offer the key to the helpers first: Textual calls the handlers of base classes later."""
        self.note_press(event)
        self.end_saying()
        self._has_closed_reason &= event.key == "escape"
        if event.key == LINE_END:
            self.insert("\n")
            self.border_title = EARLY
        elif self._is_handled(event):
            event.stop()
            event.prevent_default()

    def _is_handled(self, event: events.Key) -> bool:
        """Whether the editing mode, a helper, or the help takes the key. What a helper shows, Esc closes first."""
        if self.editing_mode is not None and self.editing_mode.takes_key(event):
            return True
        if any(helper.takes_key(event) for helper in self.key_helpers):
            return True
        if event.character == "?" and not self.text and not self.images and self._rejection is None:
            self.call_next(self.run_action, "app.help")
            return True
        return event.key == "escape" and self.editing_mode is not None and self.editing_mode.leave_insert()

    def redoes(self) -> bool:
        """Redo an edit, if that's what Ctrl+R means in the current mode. Returns False if it isn't."""
        return (
            self.editing_mode is not None and self.has_focus and self.editing_mode.takes_key(events.Key("ctrl+r", None))
        )

    def end_saying(self) -> None:
        mode = self.editing_mode.words if self.editing_mode is not None else ""
        if self.border_subtitle != (mode or None):
            self.show_mode(mode)

    def show_mode(self, words: str) -> None:
        """Show the mode below the draft; "" for none."""
        self.border_subtitle = words or None

    def insert(self, text: str, *args: Any, **options: Any) -> EditResult:
        """Insert text that was written elsewhere. What follows is text, too."""
        if self.editing_mode is not None:
            self.editing_mode.insert()
        return super().insert(text, *args, **options)

    def action_send(self, is_other_way: bool = False) -> None:
        """Send the draft. If it's the reason for a rejection, reject first; a blank one without comments isn't sent.

        A backslash at the end of the draft starts a new line instead, as in a shell. `is_other_way`: see `Submitted`.
        """
        text = self.text
        is_open = (len(text) - len(text.rstrip("\\"))) % 2 == 1  # else the last backslash is escaped
        if is_open and self.selection.is_empty and self.cursor_at_end_of_text:
            row, column = end = self.document.end
            self.replace("\n", (row, column - 1), end, maintain_selection_offset=False)
            return
        if self._rejection is not None:
            self.post_message(self.Rejected(self._rejection))
        if self._rejection is not None and not self.text.strip() and not self.comments:
            self.leave_reason()
        else:
            rejected = self._rejection
            message = self.Submitted(
                self.draft if rejected is None else reason_prompt(rejected.title, self.draft),
                is_command=self._rejection is None and len(self.text.strip()) > 1 and self.text.startswith("!"),
                is_reason=rejected is not None,
                is_other_way=is_other_way,
                images=self.images,
            )
            self.clear_draft()  # the next key may arrive before the message, and belongs to the next prompt
            self.post_message(message)

    def take_back(self, message: Submitted) -> None:
        """Put a message that wasn't sent back into the draft, before newer text."""
        self.put_before(message.text)
        self._set_images((*message.images, *self.images))

    async def action_cancel(self) -> None:
        """Go from the reason back to its card, without rejecting; otherwise stop what is running or waiting."""
        if self._rejection is not None:
            self.leave_reason()
            await self.run_action("screen.leave_prompt")
        else:
            self.post_message(self.EscapeRequested(may_be_for_reason=self._has_closed_reason))
            self._has_closed_reason = False

    def action_delete_left(self) -> None:
        """Delete to the left. With nothing before the cursor, remove what was attached last."""
        if self.images and self.selection.is_empty and self.cursor_at_start_of_text:
            self.remove_image(len(self.images) - 1)
        elif self.text:
            super().action_delete_left()
        else:
            self.post_message(self.DropRequested())

    async def action_delete_right_or_quit(self) -> None:
        if self.text or self.images:
            self.action_delete_right()
        else:
            await self.run_action("app.quit('delete_or_quit')")

    def action_redraw(self) -> None:
        """Redraw the whole screen, over whatever another program has left there."""
        self.app.refresh(layout=True)

    @work
    async def action_edit_draft(self) -> None:
        """Open the draft in the user's editor, and replace it with the result."""
        edited, problem = await edit_text(self.app, self.draft)
        if problem:
            self.notify(f"{problem} Your draft is unchanged.", severity="error", markup=False)
        else:
            self.replace_draft(edited)

    # Pastes and images

    async def on_paste(self, event: events.Paste) -> None:
        """Insert the text. Paths of dropped files become mentions."""
        event.stop()
        event.prevent_default()
        self.note_press(event)
        self.paste(event.text)

    def paste(self, text: str) -> None:
        self.end_saying()
        start = min(self.selection)
        self.insert_paste(text)
        self.screen.set_focus(self)
        # Cheap, before the disk is asked.
        may_be_files = len(text) <= MAX_CHARACTERS and text.lstrip().startswith(_BEGINNINGS)
        if may_be_files and not self.text.startswith("!"):
            self._mention_dropped(text, start)

    @work
    async def _mention_dropped(self, text: str, start: tuple[int, int]) -> None:
        """Replace paths with mentions. The disk may be slow, so the text shows first; undo restores it."""
        end, state = self.cursor_location, self.text
        mentions = await to_thread.run_sync(mentions_of_dropped, text, self.cwd)
        if mentions is not None and self.text == state:
            self.history.checkpoint()
            self.replace(mentions, start, end, maintain_selection_offset=False)

    def attach(self, *images: PastedImage) -> None:
        self._set_images((*self.images, *images))

    def remove_image(self, index: int) -> None:
        self._set_images(self.images[:index] + self.images[index + 1 :])
        self.screen.set_focus(self)

    def _set_images(self, images: tuple[PastedImage, ...]) -> None:
        if images != self.images:
            self.images = images
            self.show_images(images)

    # What the draft is for

    def clear_draft(self) -> None:
        """Clear the draft after it was sent or dropped.

        After the reason for a rejection, the previous draft comes back.
        """
        if self.editing_mode is not None:
            self.editing_mode.insert()
        if not self._stashed.text:
            self._pastes.forget()
        self.set_draft(self._stashed.text)
        self._set_images(self._stashed.images)
        self._ask_no_more()

    def discard_draft(self, *, is_kept: bool = True) -> None:
        """Drop the draft. Undo brings its text back, and ↑ if it's kept."""
        self._has_closed_reason = self.asks_why
        if self.editing_mode is not None:
            self.editing_mode.insert()
        self._bring_draft_back()
        if is_kept and not self.text:
            leads_here = "" if self.screen.focused is self else "{focus_prompt}, then "
            self.say(keys_in_force(self).hint(f"{leads_here}↑ brings the draft back"))

    def take_text(self, text: str, keys: Sequence[events.Key | events.Paste] = (), *, is_paste: bool = False) -> None:
        """Get the keyboard from a question, and this text, and the keys that wait behind it there.

        All at once: the next key must not overtake them.
        """
        self.screen.set_focus(self)
        if is_paste:
            self.paste(text)
        else:
            self.insert(text)
        for key in keys:
            press_in(self, key)

    def ask_why(self, rejection: Rejection, typed: str = "", keys: Sequence[events.Key | events.Paste] = ()) -> None:
        """Ask for the reason for this rejection, beginning with what was left of it unsent, `typed`, and `keys`.

        The draft is put aside.
        """
        self.leave_reason()
        self._stashed = _StashedDraft(self.text, self.images)
        left = self._reasons.pop(rejection.key, _StashedDraft())
        self.set_draft(left.text)
        self._set_images(left.images)
        self._rejection = rejection
        self.border_title = WHY_NOT
        self.placeholder = WHY_NOT_PLACEHOLDER
        self.take_text(typed, keys)

    def note_requests(self, waiting: Container[RequestKey]) -> None:
        """Forget reasons for requests that are over. The one that is being written stays in the draft, below it."""
        self._reasons = {key: left for key, left in self._reasons.items() if key in waiting}
        if self._rejection is not None and self._rejection.key not in waiting:
            self.put_before(self._stashed.text)
            self._set_images((*self._stashed.images, *self.images))
            self._ask_no_more()
            self._has_closed_reason = True

    @property
    def asks_why(self) -> bool:
        return self._rejection is not None

    @property
    def whole_draft(self) -> str:
        """The draft, and above a reason the one that comes back after it."""
        return "\n\n".join(filter(None, (self._pastes.expand(self._stashed.text), self.draft)))

    def empty(self) -> None:
        """Put what is in the prompt into none: it's kept elsewhere."""
        self.set_draft("")
        self._set_images(())
        self.comments.clear()

    @property
    def is_blank(self) -> bool:
        """Whether there is no text, no image, and no reason being asked for."""
        return not self.text and not self.images and self._rejection is None

    @property
    def is_free(self) -> bool:
        """Whether the user is idle and the prompt is blank, so that a card may take the keyboard."""
        return self.has_focus and self.is_blank and self.screen.is_current and idle_s(self) >= IDLE_S

    def give_way_to(self, question: QuestionGuard) -> None:
        """Let the question have the keyboard as soon as the user is idle and the prompt is blank, unless it had it."""
        if self._giving_way is not None:
            self._giving_way.stop()
            self._giving_way = None
        if not question.awaits_keyboard:
            return
        if self.is_free:
            question.come_unasked()
            return
        self._giving_way = self.set_timer(max(IDLE_S - idle_s(self), LOOK_AGAIN_S), partial(self.give_way_to, question))

    def note_way(self, *, can_send: bool) -> None:
        """Say the keys if a prompt can be sent. If not, the status line says why."""
        self._can_send = can_send
        self._name_keys()

    def put_before(self, text: str) -> None:
        """Put `text` back into the draft, before its current text."""
        self.set_draft("\n".join(filter(None, (text, self.text))))

    def leave_reason(self) -> None:
        """Bring the draft back. The text of the reason stays with its request, as long as that waits."""
        if self._rejection is not None:
            self._reasons[self._rejection.key] = _StashedDraft(self.draft, self.images)
            self._bring_draft_back()

    def _bring_draft_back(self) -> None:
        """Put the draft in place of the reason, which undo brings back."""
        self.replace_draft(self._stashed.text)
        self._set_images(self._stashed.images)
        self._ask_no_more()

    def _ask_no_more(self) -> None:
        self._rejection, self._stashed = None, _StashedDraft()
        self.border_title = None
        self._name_keys()
        self.post_message(self.Changed(self))  # the same text may be for something else now

    def _name_keys(self) -> None:
        if self._rejection is None:
            text = keys_in_force(self).hint(PLACEHOLDER) if self._can_send else ""
            width = self.content_size.width or self.app.size.width
            # Half a sentence is no hint, so leave out what doesn't fit.
            self.placeholder = text if cell_len(text) < width else text.partition(", ")[0]

    # How it looks

    @on(TextArea.Changed)
    def _note_text(self) -> None:
        """Say what becomes of the draft, if that isn't what is usual."""
        self._tell_key_helpers()
        early = EARLY if self.text and self.border_title == EARLY else None
        title = SHELL if self.text.startswith("!") else early
        if self._rejection is None and self.border_title != title:
            self.border_title = title

    @on(DraftArea.SelectionChanged)
    def _tell_key_helpers(self) -> None:
        """Tell the helpers: what helps in one place may not in another."""
        for helper in self.key_helpers:
            helper.draft_changed()

    def on_resize(self) -> None:
        self._name_keys()
        self.fit()

    def watch_virtual_size(self) -> None:
        if self.is_attached:  # before, it has no screen
            self.fit()

    def fit(self) -> None:
        """Fit the height to the number of lines, but take at most half of the screen, and leave room for notices.

        Between changes of it, a key costs no layout.
        """
        rows = self.app.size.height
        most = min(MAX_LINES, min(rows // 2, rows - rows // ROWS_SHARE - ROWS_AROUND) - self.gutter.height)
        height = max(min(self.wrapped_document.height, most), 1) + self.gutter.height
        self.call_after_refresh(self.scroll_cursor_visible)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height


class ImageChips(Static):
    """One line with a chip for each image, which a click removes. Hidden if there are none."""

    DEFAULT_CSS = "ImageChips { display: none; height: auto; max-height: 3; }"

    def __init__(self, remove: Callable[[int], None]) -> None:
        super().__init__()
        self.action_remove = remove

    def show(self, images: Sequence[PastedImage]) -> None:
        self.display = bool(images)
        chips = [
            Content.styled(f" {_label(image)} × ", Style(bold=True) + Style.from_meta({"@click": f"remove({index})"}))
            for index, image in enumerate(images)
        ]
        self.update(Content(" ").join([*chips, Content.styled("Backspace removes", "$foreground-muted")]))


def _label(image: PastedImage) -> str:
    size = len(image.data)
    return f"{image.name} {size / 1e6:.1f} MB" if size >= 1e6 else f"{image.name} {size / 1e3:.0f} KB"


class PromptFrame(Vertical):
    """Holds the `PromptInput` with the ID `prompt`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self.prompt = PromptInput(id="prompt")
        self._chips = ImageChips(self.prompt.remove_image)
        self.prompt.show_images = self._chips.show

    def compose(self) -> ComposeResult:
        yield self._chips
        yield self.prompt
