"""The list of agents as it looks: rows with numbers, and all there is to know of the one under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.widgets import Input

from acp_tui.client.agents.catalogue import ListedAgent
from acp_tui.client.agents.command import AgentCommand
from acp_tui.conversation.visible import make_visible_line
from acp_tui.ui.kit.filtered_list import FilteredList
from acp_tui.ui.kit.frame import shown_line
from acp_tui.ui.kit.row_list import GAP, NumberedRows, PickerRow, aligned, cut

MOST_NAME_CELLS: Final = 20
MOST_TITLE_CELLS: Final = 20
MOST_WAY_CELLS: Final = 34


class SearchLine(Input):
    """Leaves digits to the screen until something is searched for."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether the key is a part of what is searched for."""
        return (bool(self.value) or not key.isdigit()) and super().check_consume_key(key, character)


class AgentList(FilteredList):
    """Agents; those that cannot run are last, and cannot be chosen."""

    make_search = SearchLine

    def __init__(self) -> None:
        super().__init__(empty="Looking for agents …")
        self._list: NumberedRows = NumberedRows(rows_around=18, rows_around_low=9)

    @property
    def agent(self) -> ListedAgent | None:
        """The one under the cursor."""
        return None if self.row is None else self.row.value

    @property
    def is_narrowed(self) -> bool:
        """Whether something is searched for."""
        return self.is_mounted and bool(self._search.value)

    def show_agents(self, agents: Sequence[ListedAgent]) -> None:
        """Show these from now on."""
        names = _column([agent.name for agent in agents], MOST_NAME_CELLS)
        titles = _column([_title(agent) for agent in agents], MOST_TITLE_CELLS)
        ways = _column([agent.obstacle or _how(agent.command) for agent in agents], MOST_WAY_CELLS)
        self.show_rows(_row(agent, *cells) for agent, *cells in zip(agents, names, titles, ways, strict=True))

    def _show(self, rows: Sequence[PickerRow[ListedAgent]], cursor: int) -> None:
        self._list.are_numbered = not self.is_narrowed  # a digit is a part of what is searched for
        super()._show(rows, cursor)

    def choose(self, index: int) -> None:
        """As if the user had gone to this row and pressed Enter."""
        if index < len(self._list.rows):
            self._list.move_to(index)
            self._show_about()
            self.action_choose()

    def _show_about(self) -> None:
        super()._show_about()
        if self.agent is not None:
            self._about.update(_about(self.agent))


def _column(texts: Sequence[str], most_cells: int) -> list[str]:
    """One under the other, each in as many cells; what is too long is cut."""
    return aligned([cut(make_visible_line(text), most_cells) for text in texts])


def _row(agent: ListedAgent, name: str, title: str, way: str) -> PickerRow[ListedAgent]:
    """The texts are parts of columns."""
    return PickerRow(
        agent,
        f"{name}{GAP}{title}",
        agent.description,
        _group(agent),
        is_disabled_reason=agent.obstacle,
        aside=way,
    )


def _title(agent: ListedAgent) -> str:
    """What it is called, where that is not its name again."""
    return "" if agent.title.lower() == agent.name else agent.title


def _group(agent: ListedAgent) -> str:
    if agent.is_recent:
        return "Used last"
    if agent.obstacle:
        return "Not here"
    return "Ready" if agent.command.package is None else "Ready once you agree"


def _how(command: AgentCommand) -> str:
    """How the agent is started: what is here, or what is downloaded for it."""
    package = command.package
    if package is None:
        return "installed elsewhere" if command.is_elsewhere else "installed"
    return f"{package.runner} {package.version}" if package.runner else "program"


def _about(agent: ListedAgent) -> Content:
    """All of it, what matters most first: there may be no room for the rest."""
    head = f"{agent.title} {agent.version}".strip()
    lines = [Content.assemble(shown_line(head, "bold"), f" ({agent.source.shown})")]
    if agent.obstacle:
        lines.append(shown_line(f"Not here: {agent.obstacle}", "$text-warning"))
    if agent.remedy:
        lines.append(shown_line(f"To install it: {agent.remedy}"))
    if agent.description:
        lines.append(shown_line(agent.description))
    if agent.command.place_note:
        lines.append(shown_line(f"It {agent.command.place_note}", "$text-warning"))
    if agent.command.argv:
        lines.append(shown_line(f"$ {_typed(agent.command)}", "$foreground-muted"))
    return Content("\n").join(lines)


def _typed(command: AgentCommand) -> str:
    """The command; with its environment where the registry says that, which is no secret."""
    env = command.env.items() if command.package is not None else ()
    return " ".join([*(f"{name}={value}" for name, value in env), command.line])
