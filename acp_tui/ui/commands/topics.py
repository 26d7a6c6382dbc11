"""Shows a page of `acp_tui/docs` to be read."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.docs import for_terminals, topics
from acp_tui.ui.kit.filtered_list import ReadingScreen
from acp_tui.ui.kit.frame import Frame
from acp_tui.ui.kit.themes import palette_for
from acp_tui.ui.rendering.lines import Rows
from acp_tui.ui.rendering.markdown import MarkdownRenderer


class TopicScreen(ReadingScreen):
    """A topic of the documentation."""

    def __init__(self, topic: str) -> None:
        super().__init__(topics()[topic], "")
        self._topic = topic

    def compose(self) -> ComposeResult:
        """The page, which scrolls."""
        _, _, text = for_terminals(self._topic).partition("\n")  # the frame has the heading
        body = VerticalScroll(MarkdownPage(text), classes="dialog-body")
        yield Frame(Content(self._heading), "↑ ↓ PgUp PgDn read · Esc close", body)


class MarkdownPage(Widget):
    """Markdown, as high as it is."""

    DEFAULT_CSS = "MarkdownPage { height: auto; }"

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self._markdown = MarkdownRenderer(markdown)
        self._markdown.finish()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as there are at this width."""
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        """A line of the page."""
        width = self.content_size.width
        lines, background = self._lines(width), self.visual_style.rich_style
        line = lines[y] if y < len(lines) else Strip.blank(width)
        return line.adjust_cell_length(width).apply_style(background)

    def _lines(self, width: int) -> Rows:
        return self._markdown.lines(width, palette_for(self.app.current_theme))
