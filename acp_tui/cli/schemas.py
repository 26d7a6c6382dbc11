"""The JSON that acp-tui prints: its definition, and the commands' way to print it. `acp-tui schema` prints the schemas.

Within a version, keys are only added. Commands import this module when JSON is asked for, because pydantic takes a
while to load.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, RootModel
from pydantic.json_schema import GenerateJsonSchema

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args, nearest
from acp_tui.cli.command import UsageError
from acp_tui.client.agents.catalogue import EntrySource
from acp_tui.client.doctor import Verdict
from acp_tui.client.export.jsonl import SCHEMA

T = TypeVar("T")
NoneIfBlank: Final = BeforeValidator(lambda value: value or None)
Text: TypeAlias = Annotated[str | None, NoneIfBlank]
Moment: TypeAlias = Annotated[datetime | None, NoneIfBlank]


class Model(BaseModel):
    model_config = ConfigDict(from_attributes=True, use_attribute_docstrings=True)


class Envelope(Model, Generic[T]):
    schema_: str = Field(alias="schema", description="Which schema this is: acp-tui, its name, and its version.")
    data: T
    problems: tuple[str, ...]
    """What acp-tui couldn't read or use, one sentence each."""


# acp-tui agents


class Installed(Model):
    version: str
    source: str
    sha256: Text


class Archive(Model):
    url: str
    sha256: Text


class Agent(Model):
    name: str
    """What to type for it."""
    title: str
    description: str
    version: Text
    source: EntrySource
    command: list[str]
    proxies: list[list[str]]
    """The command lines of the programs between it and acp-tui."""
    env: dict[str, str]
    """Your own values are masked."""
    can_run: bool
    asks_first: bool
    """Whether acp-tui asks before it runs, because that may download a package."""
    why_not: Text
    """Why it can't run."""
    install: Text
    """The command that installs what is missing, or where to get it."""
    can_install: bool
    """Whether acp-tui can install it, now or as an update."""
    installed: Installed | None
    """What acp-tui has installed."""
    archive: Archive | None
    """What there is to download."""
    is_recent: bool


class Agents(Model):
    agents: list[Agent]
    fetched_at: Moment
    """When the registry was fetched; null if never."""


# acp-tui demo --list, hosts, keys, sessions, settings


class Scenario(Model):
    name: str
    description: str


class HostedSession(Model):
    host: str
    """Its name, or its address."""
    agent: str
    session_id: str
    cwd: Path
    title: str
    turn: str
    """idle, running, or cancelling."""
    waiting: list[str]
    """The questions that wait for an answer, one line each."""
    attached: int
    """How many terminals show it."""
    opened_at: Moment


class Key(Model):
    where: str
    name: str
    """Its name in [keys] of settings.toml."""
    keys: list[str]
    """As in settings.toml."""
    title: str
    about: str


class Session(Model):
    session_id: str
    agent: str
    """The name of its command."""
    command: list[str]
    cwd: Path
    title: str
    first_at: datetime = Field(validation_alias=AliasPath("recorded", "first_at"))
    last_at: datetime = Field(validation_alias=AliasPath("recorded", "last_at"))
    prompts: int = Field(validation_alias=AliasPath("recorded", "prompts"))
    why_not_again: Text
    """Why its agent can't open it again."""


class Setting(Model):
    key: str
    """Such as workspace.read; in the tables of a list, such as refuse[].kind."""
    value: Any
    """The value in force; null for a table, and if there is none."""
    default: Any
    allowed: str
    """What kind of value it takes, with its unit and limits."""
    about: str


# acp-tui doctor, check


class CheckResult(Model):
    about: Literal["machine", "terminal", "agent"]
    topic: str
    verdict: Verdict
    text: str
    hint: str
    """What to do, if there is something to do."""
    lines: list[str]
    """Output that it quotes."""


class Doctor(Model):
    ready: bool
    status: int
    """The exit status."""
    findings: list[CheckResult]


class Rule(Model):
    rule: str
    """An ID, which never changes its meaning."""
    severity: Literal["error", "warning", "note"]
    sentence: str
    """What an agent must do."""
    advice: str
    reference: str
    """Where to read more."""


class CheckedFrame(Model):
    index: int
    """From 0, over both directions."""
    direction: Literal["in", "out"]
    """`in` comes from the agent."""
    at_s: float
    text: str
    """Secrets are masked."""


class Breach(Model):
    text: str
    frames: list[CheckedFrame]


class BrokenRule(Rule):
    times: int
    breaches: list[Breach]
    """The first three."""


class Identity(Model):
    name: str
    version: str


class Check(Model):
    status: int
    """The exit status."""
    agent: Identity | None
    sandbox: Text
    """The sandbox it ran in."""
    failure: str | None
    """Why the check ended early."""
    last_words: list[str]
    """In that case, the last lines of its stderr."""
    left_out: list[str]
    """What wasn't done, and why, in sentences."""
    looked_at: list[str]
    """The rules that applied."""
    not_looked_at: list[str]
    """The rules that never did."""
    findings: list[BrokenRule]
    """The worst first."""


# The lines of `acp-tui exec --format ndjson`, and of a session exported as .jsonl

Meta: TypeAlias = dict[str, Any] | None


class Annotations(Model):
    audience: list[str] | None = None
    last_modified: str | None = None
    priority: float | None = None
    meta: Meta = None


class Described(Model):
    annotations: Annotations | None = None
    meta: Meta = None


class TextBlock(Described):
    type: Literal["text"]
    text: str


class MediaBlock(Described):
    type: Literal["image", "audio"]
    data: str
    """In base64."""
    mime_type: str
    uri: str | None = None


class ResourceLinkBlock(Described):
    type: Literal["resource_link"]
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


class Resource(Described):
    uri: str
    mime_type: str | None = None
    resource_meta: Meta = None


class TextResourceBlock(Resource):
    type: Literal["text_resource"]
    text: str


class BlobResourceBlock(Resource):
    type: Literal["blob_resource"]
    blob: str
    """In base64."""


class UnknownBlock(Model):
    type: Literal["unknown_block"]
    kind: str
    raw: Any


Block: TypeAlias = Annotated[
    TextBlock | MediaBlock | ResourceLinkBlock | TextResourceBlock | BlobResourceBlock | UnknownBlock,
    Field(discriminator="type"),
]


class BlockContent(Model):
    type: Literal["block"]
    block: Block
    meta: Meta = None


class DiffContent(Model):
    type: Literal["diff"]
    path: str
    new_text: str
    old_text: str | None = None
    """Omitted if the file is new."""
    hunks: list[tuple[int, int, int, int]]
    """Where each part begins: line of old_text from 0, of the old file from 1, of new_text, of the new file."""
    meta: Meta = None


class FileChangeContent(Model):
    type: Literal["file_change"]
    operation: str
    """add, modify, delete, move, copy, or the agent's own word."""
    path: str
    old_path: str | None = None
    file_type: str | None = None
    meta: Meta = None


class TerminalContent(Model):
    type: Literal["terminal_ref"]
    terminal_id: str
    meta: Meta = None


class UnknownContent(Model):
    type: Literal["unknown_content"]
    kind: str
    raw: Any


class Location(Model):
    path: str
    line: int | None = None
    """From 1."""
    meta: Meta = None


Content: TypeAlias = Annotated[
    BlockContent | DiffContent | FileChangeContent | TerminalContent | UnknownContent, Field(discriminator="type")
]


class ToolCall(Model):
    tool_call_id: str
    title: str
    kind: str
    status: str
    content: list[Content]
    locations: list[Location]
    raw_input: Any = None
    raw_output: Any = None
    name: str | None = None
    is_cancellable: bool
    meta: dict[str, Any]


class Decision(Model):
    option_name: str | None = None
    """The agent's name for the answer; omitted if its question was canceled."""
    option_kind: str | None = None
    at: float | None = None
    """In seconds since the epoch."""
    rule: str | None = None
    """Your rule that refused it; omitted if you answered."""
    is_withdrawn: bool


class ErrorFacts(Model):
    reason: str | None = None
    scope: str | None = None
    correlation_id: str | None = None
    retry_after_s: float | None = None
    retry_at: float | None = None
    """In seconds since the epoch."""
    auth_methods: list[str]
    """The IDs of logins that help."""


class AgentTitle(Model):
    title: str
    version: str | None = None


class SessionLine(Model):
    """The session itself, before its entries."""

    type: Literal["session"]
    schema_: str = Field(alias="schema")
    title: str | None = None
    agent: AgentTitle
    cwd: str
    session_id: str | None = None
    """Omitted if none was opened."""
    sandbox: str | None = None
    exported_at: datetime | None = None


class Entry(Model):
    entry: int
    """Its place in the conversation, from 0. A later line with the same place replaces it, except for chunks."""
    subagent: str | None = None
    """The session ID of the subagent in whose conversation it is."""


class Message(Entry):
    type: Literal["message"]
    role: Literal["user", "agent", "thought"]
    parts: list[Block]
    notes: list[str]


class MessageChunk(Entry):
    """More text of a message, at its end; in `exec` only."""

    type: Literal["message_chunk"]
    role: Literal["user", "agent", "thought"]
    text: str


class ToolCallLine(Entry):
    type: Literal["tool_call"]
    call: ToolCall
    decisions: list[Decision]
    """How permission requests about it ended."""
    waiting: int
    """How many permission requests about it wait for you."""


class ToolCallChunk(Entry):
    """More content of a tool call, at its end; in `exec` only."""

    type: Literal["tool_call_chunk"]
    content: list[Content]


class FieldAnswer(Model):
    name: str
    value: str
    """In words; a secret as "***"."""


class Question(Entry):
    """A form or page that the agent asked for."""

    type: Literal["question"]
    message: str
    action: Literal["accept", "decline", "cancel"]
    url: str | None = None
    values: list[FieldAnswer]
    at: float | None = None


class OwnCommand(Entry):
    """A command that the user ran."""

    type: Literal["own_command"]
    line: str
    terminal_id: str


class Compaction(Entry):
    type: Literal["compaction"]
    compaction_id: str
    status: str
    summary: list[Block]
    error: str | None = None


class Subagent(Entry):
    """Where a subagent began."""

    type: Literal["subagent"]
    session_id: str


class TurnEnd(Entry):
    """A turn ended without being done."""

    type: Literal["turn_end"]
    stop_reason: str


class Failure(Entry):
    type: Literal["failure"]
    message: str
    detail: str | None = None
    stderr_tail: str
    said: ErrorFacts | None = None


class Restart(Entry):
    """From here on, another process or connection speaks for the agent."""

    type: Literal["restart"]
    remembers: bool
    is_loaded: bool
    why: str
    forked_from: str
    is_same: bool


class Remark(Entry):
    """acp-tui's own words."""

    type: Literal["remark"]
    text: str


class Unknown(Entry):
    type: Literal["unknown"]
    kind: str
    raw: Any


class Terminal(Model):
    type: Literal["terminal"]
    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    is_ours: bool
    columns: int
    rows: int
    output: str
    """With its escape sequences; bytes that aren't UTF-8 are U+FFFD."""
    output_dropped: int
    """How many bytes before it weren't kept."""
    has_exited: bool
    exit_code: int | None = None
    signal: str | None = None
    seconds: float | None = None


class PlanStep(Model):
    content: str
    priority: str
    status: str
    meta: Meta = None


class Plan(Model):
    type: Literal["plan"]
    subagent: str | None = None
    plan_id: str
    steps: list[PlanStep]


class Usage(Model):
    """The context, in tokens, and the session's cost, as last reported."""

    type: Literal["usage"]
    used: int
    size: int
    cost_amount: float | None = None
    cost_currency: str | None = None


class Tokens(Model):
    """The tokens of a turn, or of all turns."""

    type: Literal["tokens"]
    total: int
    input: int
    output: int
    thought: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None


class Turn(Model):
    type: Literal["turn"]
    start: int | None = None
    """The entry that began it."""
    end: int
    """How many entries there were when it ended."""
    usage: Tokens | None = None
    cost: float | None = None
    currency: str | None = None
    stop_reason: str | None = None
    """Omitted if it failed."""


class SubagentState(Model):
    type: Literal["subagent_state"]
    session_id: str
    title: str | None = None
    description: str | None = None
    state: str | None = None
    usage: Usage | None = None
    tokens: Tokens | None = None


class Frame(Model):
    """A message of the agent's as received, before what it changes; in `exec --raw` only."""

    type: Literal["frame"]
    frame: Any
    """A string if it isn't JSON."""


class Error(Model):
    kind: str
    message: str
    detail: str | None = None
    said: ErrorFacts | None = None


class Result(Model):
    """The last line; in `exec` only."""

    type: Literal["result"]
    exit_code: int
    error: Error | None = None
    """Why the turn couldn't start or finish."""
    stop_reason: str | None = None
    turn: Turn | None = None
    """This turn alone, as far as the agent reports it."""
    usage: Usage | None = None
    tokens: Tokens | None = None


_Entry: TypeAlias = (
    Message | MessageChunk | ToolCallLine | ToolCallChunk | Question | OwnCommand | Compaction | Subagent | TurnEnd
)
_Other: TypeAlias = Failure | Restart | Remark | Unknown | Terminal | Plan | Usage | Tokens | Turn | SubagentState


class Line(RootModel[Annotated[SessionLine | _Entry | _Other | Frame | Result, Field(discriminator="type")]]):
    """A line, by its type."""


# All of them

MODELS: Final[dict[str, tuple[str, type[BaseModel]]]] = {
    "agents": ("acp-tui agents --format json", Envelope[Agents]),
    "check": ("acp-tui check --format json", Envelope[Check]),
    "demo": ("acp-tui demo --list --format json", Envelope[list[Scenario]]),
    "doctor": ("acp-tui doctor --format json", Envelope[Doctor]),
    "exec": ("each line of acp-tui exec --format ndjson, and of a session exported to .jsonl", Line),
    "hosts": ("acp-tui hosts --format json", Envelope[list[HostedSession]]),
    "keys": ("acp-tui keys --format json", Envelope[list[Key]]),
    "rules": ("acp-tui check --rules --format json", Envelope[list[Rule]]),
    "sessions": ("acp-tui sessions --format json", Envelope[list[Session]]),
    "settings": ("acp-tui settings --format json", Envelope[list[Setting]]),
}
"""What prints each, and its model."""


def json_text(name: str, data: object, problems: Sequence[str] = ()) -> str:
    """Return the data of a command in its envelope. It's read from dicts, or from values with such attributes."""
    whole = MODELS[name][1].model_validate({"schema": _identity(name), "data": data, "problems": problems})
    return json.dumps(whole.model_dump(mode="json", by_alias=True), indent=2)


class _Plain(GenerateJsonSchema):
    """Leaves out titles that only repeat the key."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(name: str) -> dict[str, Any]:
    model = MODELS[name][1]
    if model is Line:
        schema, identity = model.model_json_schema(schema_generator=_Plain), SCHEMA
    else:
        schema, identity = model.model_json_schema(schema_generator=_Plain, mode="serialization"), _identity(name)
        schema["properties"]["schema"]["const"] = identity
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": identity}


def _identity(name: str) -> str:
    return f"acp-tui/{name}/1"


def run(args: Args) -> int:
    """Print the JSON Schema of a command's output, or which there are."""
    if args.word is None:
        for name, (what, _) in MODELS.items():
            print(f"{name:<9} {what}")
    elif args.word in MODELS:
        print(json.dumps(schema_of(args.word), indent=2))
    else:
        near = nearest(args.word, MODELS)
        raise UsageError(f"no schema for {args.word}; {f'did you mean {near}?' if near else ', '.join(MODELS)}")
    return ExitCode.DONE
