"""Converts the agent's ACP v2 messages to updates and other plain values, as `v1.inbound` does. Applies nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar, assert_never

from acp_tui.conversation import UNSET, UnsetType, tool_calls, updates
from acp_tui.conversation.content import Meta, Text
from acp_tui.conversation.facts import AskedCommand, AuthMethod, PermissionOption, PermissionRequest, SessionId
from acp_tui.conversation.visible.cutting import cut_text, cut_value
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import AgentCapabilities, AgentIdentity, Agreement
from acp_tui.protocol.v1 import inbound as v1
from acp_tui.protocol.v1.content import Content, Terminal
from acp_tui.protocol.v1.inbound import Updates, offers_steering
from acp_tui.protocol.v1.inbound_content import or_unset, read_agent_terminals, read_block, read_location
from acp_tui.protocol.v1.subagents import read_cancellable, read_message, read_state
from acp_tui.protocol.v2 import models
from acp_tui.protocol.v2.patches import read_git_patch
from acp_tui.protocol.wire import decode

T = TypeVar("T")
S = TypeVar("S")

# session/update


def read_update(params: Any) -> tuple[SessionId, Updates]:
    return v1.read_update(params, _READERS)


def _tool_call(update: Any) -> Updates:
    call = decode(models.ToolCallUpdate, update)
    patch, meta = read_tool_call(call), call.meta or {}
    if begins := meta.items() >= models.BEGINS.items():
        patch = replace(patch, meta={name: value for name, value in meta.items() if name not in models.BEGINS} or None)
    return (updates.ToolCallReported(patch, begins), *read_agent_terminals(call.meta))


def read_tool_call(call: models.ToolCallUpdate) -> tool_calls.ToolCallPatch:
    """Convert a report to a patch: absent keeps, null resets to a new call's value."""
    return tool_calls.ToolCallPatch(
        tool_calls.ToolCallId(call.tool_call_id),
        title=_cleared(call.title, ""),
        kind=_cleared(call.kind, "other"),
        status=_cleared(call.status, tool_calls.PENDING),
        content=_each(_content, call.content),
        locations=_each(lambda location: (read_location(location),), call.locations),
        raw_input=or_unset(call.raw_input),
        raw_output=or_unset(call.raw_output),
        name=call.name,
        is_cancellable=read_cancellable(call.capabilities),
        meta=call.meta,
        cleared=frozenset(name for name in ("raw_input", "raw_output") if getattr(call, name) is None),
    )


def _cleared(value: T | None | UnsetType, cleared: T) -> T | UnsetType:
    return cleared if value is None else value


def _each(read: Callable[[S], Any], items: list[S] | None | UnsetType) -> tuple[Any, ...] | UnsetType:
    return UNSET if items is UNSET else tuple(part for item in items or () for part in read(item))


def _content(item: models.ToolCallContent) -> Iterator[tool_calls.ToolCallContent]:
    match item:
        case Content():
            yield tool_calls.BlockContent(read_block(item.content), item.meta)
        case models.Diff():
            yield from _diff(item)
        case Terminal():
            yield tool_calls.TerminalContent(tool_calls.TerminalId(item.terminal_id), item.meta)
        case dict():
            yield tool_calls.UnknownContent(cut_text(item["type"]), item)
        case _:
            assert_never(item)


def _diff(diff: models.Diff) -> Iterator[tool_calls.ToolCallContent]:
    """Yield an item for each file. The changes list the files, the patch has their contents.

    What only one of the two has becomes a separate item, so that nothing is lost.
    """
    said = diff.patch
    patch = read_git_patch(said.text) if said is not None and said.format == "git_patch" else None
    left = list(patch.files) if patch is not None else []
    for change in diff.changes:
        names = (change.path, f"b{change.path}", f"a{change.path}")
        found = next((file for file in left if file.diff.path in names), None)
        is_said_by_diff = found is not None and found.operation == change.operation
        if not is_said_by_diff or change.old_path is not None or change.file_type not in (None, "text"):
            yield tool_calls.FileChange(change.operation, change.path, change.old_path, change.file_type)
        if found is not None:
            left.remove(found)
            yield replace(found.diff, path=change.path)
    yield from (file.diff for file in left)
    named = {path for change in diff.changes for path in (change.path, change.old_path)}
    if said is not None and (patch is None or not patch.is_whole or not patch.moved <= named):
        yield tool_calls.BlockContent(Text(said.text))


def _terminal(report: models.TerminalUpdate) -> updates.TerminalReported:
    return updates.TerminalReported(
        tool_calls.TerminalId(report.terminal_id),
        report.command,
        report.cwd,
        UNSET if report.output is UNSET else b"" if report.output is None else report.output.data,
        _exit(report.exit_status),
        _size(report.size),
        read_cancellable(report.capabilities),
    )


def _size(size: models.TerminalSize | None | UnsetType) -> tuple[int, int] | UnsetType:
    """Convert a size. One too large for an emulator counts as not sent."""
    if size is UNSET or size is None:
        return UNSET
    sides = size.cols, size.rows
    return sides if all(0 < side <= updates.MAX_CELLS for side in sides) else UNSET


def _exit(status: models.TerminalExitStatus | None | UnsetType) -> updates.TerminalExit | None | UnsetType:
    if status is UNSET or status is None:
        return status
    return updates.TerminalExit(status.exit_code, status.signal)


def _usage(update: Any) -> Updates:
    """Convert usage. An absent cost stays as it was; null clears it."""
    (report,) = v1.READERS["usage_update"](update)
    assert isinstance(report, updates.UsageReported)
    return (report if "cost" in update else replace(report, keeps_cost=True),)


_AS_IN_V1: Final = (
    *("user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "session_info_update"),
    *("available_commands_update", "config_option_update", "plan_update", "plan_removed", "notice"),
    *("compaction_update", "compaction_summary_chunk", "subagent_update", "session_message", "session_message_chunk"),
)
_READERS: Final[Mapping[str, v1.Reader]] = {
    **{kind: v1.READERS[kind] for kind in _AS_IN_V1},
    "user_message": partial(read_message, role="user"),
    "agent_message": partial(read_message, role="agent"),
    "agent_thought": read_message,
    "tool_call_update": _tool_call,
    "tool_call_content_chunk": v1.reads(
        models.ToolCallContentChunk,
        lambda chunk: updates.ToolCallContentAdded(
            tool_calls.ToolCallId(chunk.tool_call_id), tuple(_content(chunk.content))
        ),
    ),
    "terminal_update": v1.reads(models.TerminalUpdate, _terminal),
    "terminal_output_chunk": v1.reads(
        models.TerminalOutputChunk,
        lambda chunk: updates.TerminalOutput(tool_calls.TerminalId(chunk.terminal_id), chunk.data),
    ),
    "state_update": lambda update: (read_state(update),),
    "usage_update": _usage,
}

# session/request_permission


def read_permission_request(params: Any, question_id: str) -> tuple[SessionId, updates.PermissionAsked]:
    """Return the request's session and its question. `question_id` stands in for the tool call if it has none."""
    request = decode(models.RequestPermissionRequest, params)
    subject = request.subject or {}
    command: AskedCommand | None = None
    is_alone = False
    known: Collection[str]
    match subject.get("type"):
        case "tool_call":
            known = ("type", "toolCall")
            patch = read_tool_call(decode(models.ToolCallSubject, subject).tool_call)
        case "command":
            known = ("type", "command", "cwd", "toolCallId", "terminalId")
            asked = decode(models.CommandSubject, subject)
            command = AskedCommand(asked.command, asked.cwd)
            is_alone = asked.tool_call_id is None
            patch = (
                _lone_command(asked, question_id)
                if asked.tool_call_id is None
                else tool_calls.ToolCallPatch(tool_calls.ToolCallId(asked.tool_call_id))
            )
        case _:
            known = subject  # all of it is shown as the raw input of its call
            is_alone = True
            patch = tool_calls.ToolCallPatch(
                tool_calls.ToolCallId(question_id), request.title, raw_input=cut_value(subject) if subject else UNSET
            )
    options = tuple(
        PermissionOption(option.option_id, option.name, option.kind, option.meta) for option in request.options
    )
    more = cut_value({key: value for key, value in subject.items() if key not in known})
    question = PermissionRequest(
        v1.UNPARKED,
        patch.tool_call_id,
        options,
        request.meta,
        title=request.title,
        description=request.description,
        command=command,
        more=more or None,
        is_alone=is_alone,
    )
    return SessionId(request.session_id), updates.PermissionAsked(question, patch)


def _lone_command(asked: models.CommandSubject, question_id: str) -> tool_calls.ToolCallPatch:
    terminal = (
        () if asked.terminal_id is None else (tool_calls.TerminalContent(tool_calls.TerminalId(asked.terminal_id)),)
    )
    return tool_calls.ToolCallPatch(
        tool_calls.ToolCallId(question_id),
        asked.command,
        "execute",
        content=terminal,
        raw_input={"command": asked.command, "cwd": asked.cwd},
    )


# Responses


def read_initialize_response(result: Any) -> Agreement:
    response = decode(models.InitializeResponse, result)
    info = response.info
    methods = tuple(method for each in response.auth_methods for method in _auth_method(each))
    identity = AgentIdentity(info.name, info.version, info.title)
    return Agreement(response.protocol_version, identity, _capabilities(response.capabilities, response.meta), methods)


def _capabilities(capabilities: models.AgentCapabilities, meta: Meta | None) -> AgentCapabilities:
    session = capabilities.session
    return AgentCapabilities(
        load_session=True,
        list_sessions=True,
        delete_session=session.delete is not None,
        resume_session=True,
        close_session=True,
        fork_session=session.fork is not None,
        set_title=session.title is not None,
        archive=session.archive is not None,
        session_status=session.status is not None,
        auth_status=capabilities.auth.status is not None,
        steering=offers_steering(meta),
        additional_directories=session.additional_directories is not None,
        image=session.prompt.image is not None,
        audio=session.prompt.audio is not None,
        embedded_context=session.prompt.embedded_context is not None,
        mcp_stdio=session.mcp.stdio is not None,
        mcp_http=session.mcp.http is not None,
        mcp_acp=session.mcp.acp is not None,
        logout=True,
        system_prompt=v1.prompt_modes(session.system_prompt),
        providers=capabilities.providers is not None,
        acts_itself=True,
        more_prompts=True,
        meta=capabilities.meta,
    )


def _auth_method(method: models.AuthMethod) -> Iterator[AuthMethod]:
    """Convert a login method. Drops an unknown type, which would be unusable."""
    match method:
        case models.AuthMethodAgent():
            yield AuthMethod(method.method_id, method.name, method.description, meta=method.meta)
        case models.AuthMethodTerminal():
            env = {variable.name: variable.value for variable in method.env}
            args = tuple(method.args)
            yield AuthMethod(method.method_id, method.name, method.description, "terminal", args, env, method.meta)


def read_new_session(result: Any) -> tuple[SessionId, Updates]:
    response = decode(models.NewSessionResponse, result)
    return SessionId(response.session_id), _setup(response)


def read_opened_session(result: Any) -> Updates:
    return _setup(decode(models.SessionSetup, result))


def _setup(setup: models.SessionSetup) -> Updates:
    """Return only what is present: an update before the response may have sent the rest."""
    options = (updates.OptionsReplaced(v1.read_options(setup.config_options)),) if setup.config_options else ()
    commands = tuple(map(v1.read_command, setup.available_commands))
    return (*options, updates.CommandsReplaced(commands)) if commands else options


read_config_options: Final = v1.read_config_options


def read_prompt_answer(result: Any) -> updates.PromptAccepted | updates.TurnEnded | updates.TurnFailed:
    """Return that the prompt was accepted, or that the turn ended, if the agent mixes the versions."""
    if isinstance(result, dict) and "stopReason" in result and "messageId" not in result:
        return v1.read_prompt_answer(result)
    try:
        return updates.PromptAccepted(decode(models.PromptResponse, result).message_id or "")
    except MalformedMessage as error:
        return updates.TurnFailed("the agent's answer to the prompt can't be read", str(error))
