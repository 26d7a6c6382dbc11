"""What a command line asks for: one value for each command, with all that was given to it.

Named tuples, since each start of acp-tui waits for these classes, and a dataclass takes five times as long to make.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from acp_tui.client.transcript.record_to import RecordTo
    from acp_tui.ui.replaying.pace import Pace
    from acp_tui.ui.replaying.spot import Spot


class AgentChoice(NamedTuple):
    """Which agent: just one of the two is set."""

    name: str | None = None
    argv: tuple[str, ...] = ()


class Run(NamedTuple):
    """Work with an agent on the screen, or line by line."""

    agent: AgentChoice
    cwd: Path
    record: RecordTo | None = None
    is_plain: bool = False


class ChooseAgent(NamedTuple):
    """No agent was named: let the user choose one, where there is a terminal."""

    cwd: Path
    record: RecordTo | None = None


class Resume(NamedTuple):
    """Go on with a session of the past, on the screen."""

    session_id: str
    """Or how it begins; "": the last one of the folder."""
    agent: AgentChoice | None
    """None: the one that it was recorded with."""
    cwd: Path
    record: RecordTo | None = None


class ListSessions(NamedTuple):
    """Say which sessions were recorded."""

    cwd: Path | None
    """None: in all folders."""
    words: str = ""
    as_json: bool = False


class ExportSession(NamedTuple):
    """Write a recorded session to a file."""

    session_id: str
    """Or how it begins."""
    file: Path


class ListAgents(NamedTuple):
    """Say which agents there are."""

    update: bool = False
    """Fetch the registry first."""
    as_json: bool = False
    is_verbose: bool = False


class Exec(NamedTuple):
    """One turn without a screen."""

    agent: AgentChoice
    cwd: Path
    prompt: str | None
    """None: from stdin."""
    format: str
    record: RecordTo | None = None


class Demo(NamedTuple):
    """Play a scenario; None: the default one."""

    scenario: str | None
    speed: float
    is_plain: bool = False


class ListScenarios(NamedTuple):
    """Say which scenarios there are."""


class Doctor(NamedTuple):
    """Say whether this machine is ready, and the agent where one is named."""

    agent: AgentChoice | None
    cwd: Path
    prompt: str | None
    """What a turn is to be tried with; None: no turn."""
    format: str


class Check(NamedTuple):
    """Say which rules of the protocol an agent breaks."""

    agent: AgentChoice
    prompt: str | None
    """None: a harmless one."""
    limit_s: float
    """For each step."""
    format: str
    record: RecordTo | None = None


class ListRules(NamedTuple):
    """Say which rules there are."""

    format: str


class Completion(NamedTuple):
    """Print what a shell needs: the script for it, or the names that the script asks for."""

    what: str


class ShowSettings(NamedTuple):
    """Print all settings, with the values that hold in `cwd`."""

    cwd: Path
    as_markdown: bool


class ShowKeys(NamedTuple):
    """Print all commands, with the keys in force."""

    as_markdown: bool


class Replay(NamedTuple):
    """Show a recording on the screen."""

    source: Path | str
    """A recording, or the name of a scenario."""
    pace: Pace
    until: Spot | None = None
    """Where to pause; None: at the end."""
    is_followed: bool = False


class Inspect(NamedTuple):
    """Show the frames of a recording."""

    source: Path | str
    """Or the name of a scenario."""


class Render(NamedTuple):
    """Make a file of a moment of a recording, or of what the scripted agent plays."""

    source: Path | str
    """A recording, or the name of a scenario."""
    output: Path
    at: Spot | None = None
    """None: the end."""
    columns: int = 120
    rows: int = 40
    theme: str = ""
    is_at_top: bool = False
    answer: str = "allow_once"
    """How permissions that the scripted agent asks for are answered: an option's kind."""
    prompt: str | None = None
    """What the scripted agent is asked."""
    speed: float = 1.0
    """Of a film: how many times as fast."""
    max_wait_s: float = 2.0
    """Of a film: no pause is longer."""


class Redact(NamedTuple):
    """Make a recording that can be given away."""

    file: Path
    output: Path
    secrets: tuple[str, ...] = ()
    drop_contents: tuple[str, ...] = ()
    keep_contents: tuple[str, ...] | None = None
    """Where given, the contents of all other files are left out."""
    drops_media: bool = False


class Mock(NamedTuple):
    """Be the agent of a recording or of a scenario, on stdin and stdout."""

    source: Path | str
    """A recording; or a scenario, by its name or the path of its file."""
    speed: float = 1.0
    is_strict: bool = False
    timeout_s: float | None = None
    """How long to wait for the client; None: for ever."""
    is_login: bool = False
    """Be the program by which one logs in to the scenario's agent."""


Request: TypeAlias = (
    Run
    | ChooseAgent
    | Resume
    | ListSessions
    | ExportSession
    | ListAgents
    | Exec
    | Demo
    | ListScenarios
    | Doctor
    | ShowSettings
    | ShowKeys
    | Replay
    | Inspect
    | Render
    | Redact
    | Mock
    | Completion
    | Check
    | ListRules
)
