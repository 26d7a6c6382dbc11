"""What every drawing of an entry can do, what it is given to draw with, and how long things are folded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, Protocol

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from acp_tui.client.settings.tree import ConversationSettings
from acp_tui.conversation import QUIET_KINDS
from acp_tui.conversation.conversation import SubagentState
from acp_tui.conversation.entries import TerminalState
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.tool_calls import TerminalId
from acp_tui.ui.conversation.images import Pictures
from acp_tui.ui.conversation.terminals import TerminalScreens
from acp_tui.ui.rendering.palette import Palette
from acp_tui.ui.rendering.wrapping import Lines
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Folds:
    """How much is shown until the user unfolds it."""

    kinds: frozenset[str] = frozenset(QUIET_KINDS)
    """Tool calls of these kinds show no content: it is for the agent."""
    diff_lines: int = 24
    text_lines: int = 6
    prompt_lines: int = 20
    terminal_lines: int = 12
    """The last ones."""
    are_thoughts_open: bool = False


AS_BY_DEFAULT: Final = Folds()


def folds_of(shown: ConversationSettings) -> Folds:
    """As the user has set it."""
    return Folds(
        kinds=frozenset(shown.fold_kinds),
        diff_lines=shown.diff_lines,
        text_lines=shown.text_lines,
        prompt_lines=shown.prompt_lines,
        terminal_lines=shown.terminal_lines,
        are_thoughts_open=shown.thoughts == "open",
    )


def folded(
    lines: Sequence[Strip], limit: int, palette: Palette, *, keep_end: bool = False
) -> list[Sequence[Strip]]:
    """The first (or last) `limit` lines and a line on what is hidden; all of them where that would hide just one."""
    hidden = len(lines) - limit
    if hidden <= 1:
        return [lines]
    unit = "lines" if limit == 0 else "more lines"
    note = [Strip([Segment(f"… {hidden} {unit} ", palette.muted)])]
    return [note, lines[hidden:]] if keep_end else [lines[:limit], note]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What drawings share: the room they have, the colours, and what is known beside the entry."""

    width: int
    """Cells."""
    palette: Palette
    terminals: Mapping[TerminalId, TerminalState]
    screens: TerminalScreens
    cwd: str
    """The session's directory: paths inside it are shown relative to it."""
    pictures: Pictures | None = None
    """None: they are named, not shown."""
    folds: Folds = AS_BY_DEFAULT
    subagents: Mapping[SessionId, SubagentState] = field(default_factory=dict)

    def is_laid_out_as(self, other: Scene) -> bool:
        """Whether only the colours differ: then every entry takes as many lines in both."""
        mine, others = (self.width, self.folds, self.cwd), (other.width, other.folds, other.cwd)
        return mine == others and self.pictures is other.pictures and self.terminals is other.terminals


class Drawing(Protocol):
    """One entry as lines; it keeps what it has drawn and draws again only what changed."""

    @property
    def is_open(self) -> bool:
        """Whether it is unfolded, or has nothing to fold."""

    @property
    def cut_text(self) -> str:
        """The whole of the line that is cut in what was last drawn; "" where none is."""

    def refresh(self) -> bool:
        """The entry has changed: read what is new, or a part of it; False where there is more to read."""

    def settle(self, scene: Scene) -> None:
        """Draw what was read and cannot change any more: the next part is read before `lines` are wanted."""

    def close(self) -> None:
        """Nothing more will be added to the entry; it may change all the same."""

    def lines(self, scene: Scene) -> Sequence[Strip]:
        """The lines, of at most the scene's width and of their natural length."""

    def whole(self, scene: Scene) -> Sequence[Strip]:
        """The lines as they are when the entry is unfolded; where it is, or does not fold, the same as `lines`."""

    def toggle(self) -> bool:
        """Fold or unfold; False for an entry that does not fold."""

    def set_open(self, is_open: bool) -> None:
        """Unfold or fold."""


class KeptDrawing(ABC):
    """A drawing that is made anew as a whole when its entry, the scene or its fold has changed, and kept until then."""

    def __init__(self) -> None:
        self._is_open = False
        self._drawn: tuple[Scene, Sequence[Strip]] | None = None
        self.cut_text = ""

    @property
    def is_open(self) -> bool:
        """Whether all of it is shown."""
        return self._is_open

    @abstractmethod
    def _draw(self, scene: Scene) -> Sequence[Strip]:
        """The lines as they are now."""

    def refresh(self) -> bool:
        """Draw again when asked."""
        self._drawn = None
        return True

    def settle(self, scene: Scene) -> None:  # noqa: B027 - not everything is drawn by the piece
        """It is drawn as a whole, or not."""

    def close(self) -> None:  # noqa: B027 - not everything has something to close
        """Nothing is kept open."""

    def lines(self, scene: Scene) -> Sequence[Strip]:
        """The lines."""
        if self._drawn is None or self._drawn[0] is not scene:
            self._drawn = (scene, self._draw(scene))
        return self._drawn[1]

    def whole(self, scene: Scene) -> Sequence[Strip]:
        """The lines as they are when it is open."""
        if self._is_open:
            return self.lines(scene)
        self._is_open = True
        try:
            return self._draw(scene)
        finally:
            self._is_open = False

    def toggle(self) -> bool:
        """Show all of it, or the gist."""
        self.set_open(not self._is_open)
        return True

    def set_open(self, is_open: bool) -> None:
        """Show all of it, or the gist."""
        self._is_open = is_open
        self._drawn = None


MAX_MADE: Final = 500
"""Lines of one message that are kept as they are drawn: half a dozen screens at the least."""


class Indented(Lines):
    """Lines with the same segment before each; a line is made when it is looked at, and kept for a while."""

    def __init__(
        self,
        lines: Sequence[Strip],
        indent: Segment,
        *,
        first: Segment | None = None,
        ground: Style | None = None,
        width: int = 0,
    ) -> None:
        """`first` stands before the first line instead, and is as wide.

        With a `ground`, what has no background lies on it, and it fills `width` cells.
        """
        self._lines = lines
        self._indent = indent
        self._first = first or indent
        self._ground = ground
        self._width = width
        self._made: dict[int, tuple[Strip, Strip]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def _line(self, at: int) -> Strip:
        line = self._lines[at]
        made = self._made.get(at)
        if made is None or made[0] is not line:
            if len(self._made) >= MAX_MADE:
                # The oldest half goes, and with it what Textual keeps of each: a long answer streams by only once.
                for old in list(self._made)[: MAX_MADE // 2]:
                    del self._made[old]
            made = self._made[at] = (line, self._indented(line, self._indent if at else self._first))
        return made[1]

    def _indented(self, line: Strip, indent: Segment) -> Strip:
        cells = line.cell_length + indent.cell_length
        if self._ground is None:
            return Strip([indent, *line], cells)
        ground = self._ground.background_style
        # Each stays what it is beside how it looks.
        segments = [type(one)(one.text, ground + (one.style or Style.null())) for one in (indent, *line)]
        return Strip(segments, cells).adjust_cell_length(self._width, self._ground)


class Joined(Lines):
    """Several runs of lines, one below the other."""

    def __init__(self, *runs: Sequence[Strip]) -> None:
        self._runs = runs

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def _line(self, at: int) -> Strip:
        for run in self._runs:
            if at < len(run):
                return run[at]
            at -= len(run)
        raise IndexError(at)
