"""The JSON that acp-tui prints: its definition, and the commands' way to print it. `acp-tui schema` prints the schemas.

Within a version, keys are only added. Commands import this module when JSON is asked for, because pydantic takes a
while to load.
"""

# mypy: disable-error-code="valid-type, misc"

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NewType,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, RootModel, create_model
from pydantic.json_schema import GenerateJsonSchema

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args, nearest
from acp_tui.cli.command import UsageError
from acp_tui.client.agents.catalogue import EntrySource
from acp_tui.client.doctor import Verdict
from acp_tui.client.export.jsonl import LEFT_OUT, SCHEMA, TYPES
from acp_tui.conversation import UNSET, UnsetType, buffers, content, entries, facts, tool_calls, updates

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
    agent: str = Field(validation_alias="shown_agent")
    """Its name, or what it calls itself if it was started by a command line."""
    command: list[str]
    cwd: Path
    title: str
    first_at: datetime = Field(validation_alias=AliasPath("recorded", "first_at"))
    last_at: datetime = Field(validation_alias=AliasPath("recorded", "last_at"))
    prompts: int = Field(validation_alias=AliasPath("recorded", "prompts"))
    why_not_again: Text
    """Why its agent can't open it again."""
    is_archived: bool


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


# The lines of `acp-tui exec --format ndjson`, and of a session exported as .jsonl. `jsonl.plain` writes the values of a
# conversation as they are, so their models are made of them.


@cache
def _model(kind: type, base: Any = Model) -> Any:
    """Return the model of a dataclass as `plain` writes it, with what `base` has."""
    hints, about = get_type_hints(kind), _docs(kind.__module__).get(kind.__name__, {})
    parts: dict[str, Any] = {"type": (Literal[TYPES[kind]], ...)} if kind in TYPES else {}
    for field in fields(kind):
        if field.name not in LEFT_OUT.get(kind, ()):
            is_omitted = NoneType in get_args(hints[field.name]) or field.default is UNSET
            shape = Field(default=None if is_omitted else ..., description=about.get(field.name))
            parts[field.name] = (_written(hints[field.name]), shape)
    return create_model(kind.__name__, __base__=base, **parts)


def _written(hint: Any) -> Any:
    """Return the type of what `plain` makes of a value of this type."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is buffers.TextBuffer:
        return _model(content.Text)
    if hint is tool_calls.HunkStart:
        return tuple[int, int, int, int]
    if isinstance(hint, NewType):
        return _written(hint.__supertype__)
    if is_dataclass(hint) and isinstance(hint, type):
        return _model(hint)
    if origin in (Union, UnionType):
        return Union[tuple(_written(part) for part in parts if part is not UnsetType)]  # noqa: UP007 - made here
    return list[_written(parts[0])] if origin in (list, tuple) else hint


@cache
def _docs(module: str) -> dict[str, dict[str, str]]:
    """Return what the strings below the fields of a module's classes say."""
    tree = ast.parse(Path(str(sys.modules[module].__file__)).read_text("utf-8"))
    return {node.name: dict(_docs_in(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _docs_in(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, doc in pairwise(node.body):
        match field, doc:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                yield name, cleandoc(text)


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


class MessageChunk(Entry):
    """More text of a message, at its end; in `exec` only."""

    type: Literal["message_chunk"]
    role: updates.Role
    text: str


class ToolCallChunk(Entry):
    """More content of a tool call, at its end; in `exec` only."""

    type: Literal["tool_call_chunk"]
    content: list[_written(tool_calls.ToolCallContent)]


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


class PlanPlace(Model):
    subagent: str | None = None
    plan_id: str


class SubagentState(Model):
    type: Literal["subagent_state"]
    session_id: str
    title: str | None = None
    description: str | None = None
    state: str | None = None
    usage: _model(facts.Usage) | None = None
    tokens: _model(facts.TurnUsage) | None = None


class Frame(Model):
    """A message of the agent's as received, before what it changes; in `exec --raw` only."""

    type: Literal["frame"]
    frame: Any
    """A string if it isn't JSON."""


class Error(Model):
    kind: str
    message: str
    detail: str | None = None
    said: _model(facts.ErrorFacts) | None = None


class Result(Model):
    """The last line; in `exec` only."""

    type: Literal["result"]
    exit_code: int
    error: Error | None = None
    """Why the turn couldn't start or finish."""
    stop_reason: str | None = None
    turn: _model(facts.TurnSpent) | None = None
    """This turn alone, as far as the agent reports it."""
    usage: _model(facts.Usage) | None = None
    tokens: _model(facts.TurnUsage) | None = None


_LINES: Final = (
    SessionLine,
    *(_model(kind, Entry) for kind in get_args(entries.Entry)),
    *(MessageChunk, ToolCallChunk, Terminal, _model(facts.Plan, PlanPlace), SubagentState),
    *map(_model, (facts.Usage, facts.TurnUsage, facts.TurnSpent)),
    *(Frame, Result),
)


class Line(RootModel[Annotated[Union[_LINES], Field(discriminator="type")]]):  # noqa: UP007
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
