"""The agent's side of ACP v2 as wire values: what an agent says about its sessions, asks, and answers.

`inbound` reads what this writes. It has the functions of `v1.encode_updates`, so that a program can serve clients of
both.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from acp_tui.conversation import UNSET, UnsetType, updates
from acp_tui.conversation.catch_up import blocks_of
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import AuthMethod, ConfigOption, PermissionRequest, SessionId
from acp_tui.conversation.tool_calls import FileChange, TextDiff, ToolCallContent, ToolCallPatch
from acp_tui.protocol.roles import AgentCapabilities, AgentIdentity
from acp_tui.protocol.v1 import encode_updates as v1
from acp_tui.protocol.v2.models import BEGINS
from acp_tui.protocol.v2.patches import write_git_patch
from acp_tui.protocol.wire import Wire, with_some, written

VERSION: Final = 2
_REPLACED: Final = {"user": "user_message", "agent": "agent_message", "thought": "agent_thought"}
elicitation_request: Final = v1.elicitation_request


def told_in(conversation: Conversation, update: updates.SessionUpdate, change: Change) -> Iterator[Wire]:
    """Yield all of what an update says that the protocol can express, whatever version its agent speaks.

    `change` is what it changed in the conversation, where messages have their IDs from.
    """
    match update:
        case updates.PromptSent(blocks, _, awaits_id):
            if not awaits_id:  # otherwise its ID is known when the agent accepts it
                yield _message("user", message_id_of(change), blocks)
                yield _state(updates.StateReported("running"))
        case updates.PromptJoined(blocks):
            yield _message("user", message_id_of(change), blocks)
        case updates.PromptAccepted(message_id) if change.entries:
            entry = conversation.entries[change.entries[0]]
            assert isinstance(entry, Message)
            yield _message("user", message_id, blocks_of(entry))
        case updates.MessageChunk() | updates.MessageReplaced() if update.role == "user" and not change.entries:
            pass  # the agent repeats a prompt
        case updates.MessageChunk(role, block, None, meta):
            if change.entries:
                yield from updates_of(updates.MessageChunk(role, block, message_id_of(change), meta))
        case updates.TurnEnded(stop_reason, meta, usage):
            yield _state(updates.StateReported("idle", stop_reason, usage=usage, meta=meta))
        case updates.TurnFailed():
            yield _state(updates.StateReported("idle", failure=update))
        case updates.Disconnected(reason):
            yield _state(updates.StateReported("idle", failure=updates.TurnFailed(reason)))
        case updates.Renamed(title):
            yield {"sessionUpdate": "session_info_update", "title": title}
        case updates.TerminalOpened(terminal_id, command, cwd, _, columns, rows):
            size = {"cols": columns, "rows": rows}
            yield _of_terminal(terminal_id, **with_some({}, command=command, cwd=cwd, size=size))
        case updates.TerminalOutput(terminal_id, data):
            yield {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal_id, **_bytes(data)}
        case updates.TerminalExited(terminal_id, exit_code, signal):
            yield _of_terminal(terminal_id, exitStatus=written(updates.TerminalExit(exit_code, signal)))
        case _:
            yield from updates_of(update)


def message_id_of(change: Change) -> str:
    """Return the ID of a message whose agent gives it none."""
    return f"entry-{change.entries[0]}"


def state_of(conversation: Conversation) -> Wire:
    if conversation.is_idle:
        return _state(updates.StateReported("idle", background=conversation.background))
    state = "requires_action" if conversation.is_asking else "running"
    return _state(updates.StateReported(state, background=conversation.background))


def updates_of(update: updates.SessionUpdate) -> Iterator[Wire]:
    """Yield what clients of ours are told: only what they read as the same update."""
    if isinstance(update, updates.ToolCallContentAdded):
        for item in update.content:
            told = {"sessionUpdate": "tool_call_content_chunk", "toolCallId": update.tool_call_id}
            yield {**told, "content": _content(item)}
    elif (said := _update_of(update)) is not None:
        yield said


def _update_of(update: updates.SessionUpdate) -> Wire | None:
    match update:
        case updates.MessageReplaced(role, message_id, blocks, meta):
            return with_some(_message(role, message_id, blocks), _meta=meta)
        case updates.ToolCallReported(patch, begins):
            meta = {**(patch.meta or {}), **BEGINS} if begins else patch.meta
            return {"sessionUpdate": "tool_call_update", **tool_call_of(replace(patch, meta=meta))}
        case updates.TerminalReported(terminal_id, command, cwd, output, ended, size, is_cancellable):
            sides = size if size is UNSET else {"cols": size[0], "rows": size[1]}
            printed = output if output is UNSET else _bytes(output)
            told = {"command": command, "cwd": cwd, "output": printed, "exitStatus": written(ended), "size": sides}
            return _of_terminal(terminal_id, **told, capabilities=_offers(is_cancellable))
        case updates.StateReported():
            return _state(update)
        case updates.PlanReplaced():
            return v1.plan_of(update)
        case updates.UsageReported(keeps_cost=keeps_cost):
            told = v1.update_of(update) or {}
            return told if keeps_cost or "cost" in told else {**told, "cost": None}
        case updates.CommandsReplaced(commands, meta):
            available = list(map(_command, map(v1.command_of, commands)))
            return with_some({"sessionUpdate": "available_commands_update", "availableCommands": available}, _meta=meta)
        case updates.OptionsReplaced(options, meta):
            return with_some(
                {"sessionUpdate": "config_option_update", "configOptions": options_of(options)}, _meta=meta
            )
        case _:
            return v1.update_of(update)


def _message(role: str, message_id: str, blocks: Iterable[Any]) -> Wire:
    return {"sessionUpdate": _REPLACED[role], "messageId": message_id, "content": list(map(v1.block_of, blocks))}


def _state(report: updates.StateReported) -> Wire:
    return {"sessionUpdate": "state_update", **v1.reported_state(report)}


def _of_terminal(terminal_id: str, **told: Any) -> Wire:
    return {"sessionUpdate": "terminal_update", "terminalId": terminal_id, **v1.given(**told)}


def _bytes(data: bytes) -> Wire:
    return {"data": b64encode(data).decode()}


def _offers(is_cancellable: bool | UnsetType) -> Any:
    return is_cancellable if is_cancellable is UNSET else {"cancel": {} if is_cancellable else None}


def _command(command: Wire) -> Wire:
    told = {"type": "command", **command}
    return told if "input" not in told else {**told, "input": {"type": "text", **told["input"]}}


def tool_call_of(patch: ToolCallPatch) -> Wire:
    content = patch.content if patch.content is UNSET else [*map(_content, patch.content)]
    raw = {"raw_input": "rawInput", "raw_output": "rawOutput"}
    cleared = {raw[name]: None for name in sorted(patch.cleared)}
    return {
        **v1.tool_call_of(patch),
        **v1.given(content=content, capabilities=_offers(patch.is_cancellable)),
        **cleared,
    }


def _content(item: ToolCallContent) -> Any:
    match item:
        case TextDiff(path, new_text, old_text, meta, hunks):
            is_gone = old_text is not None and not new_text and not hunks
            change = {"operation": "add" if old_text is None else "delete" if is_gone else "modify", "path": path}
            patch = {"format": "git_patch", "text": write_git_patch(item, is_gone=is_gone)}
            return with_some({"type": "diff", "changes": [{**change, "fileType": "text"}], "patch": patch}, _meta=meta)
        case FileChange():
            return {"type": "diff", "changes": [written(item)]}
        case _:
            return v1.content_of(item)


# Options


def options_of(options: Iterable[ConfigOption]) -> list[Wire]:
    """Convert a session's options. Legacy modes and models become ordinary options."""
    return [_option(told) for told in v1.options_of(options)]


def _option(told: Wire) -> Wire:
    told = {"configId": told.pop("id"), **told}
    if told["type"] == "select":
        told["options"] = [
            {"groupId": each.pop("group"), **each} if "group" in each else each for each in told["options"]
        ]
    return told


# Answers and questions


def agreement_of(
    identity: AgentIdentity | None,
    capabilities: AgentCapabilities,
    auth_methods: Iterable[AuthMethod],
    meta: Mapping[str, Any],
) -> Wire:
    prompt = {
        "image": capabilities.image,
        "audio": capabilities.audio,
        "embeddedContext": capabilities.embedded_context,
    }
    mcp = {"stdio": capabilities.mcp_stdio, "http": capabilities.mcp_http}
    offered = {
        "delete": capabilities.delete_session,
        "title": capabilities.set_title,
        "additionalDirectories": capabilities.additional_directories,
        "status": capabilities.session_status,
    }
    info = AgentIdentity("agent", "") if identity is None else identity
    told: Wire = {
        "protocolVersion": VERSION,
        "info": written(info),
        "capabilities": {
            "session": {"prompt": v1.markers(prompt), "mcp": v1.markers(mcp), **v1.markers(offered)},
            "auth": v1.markers({"status": capabilities.auth_status}),
            "_meta": dict(meta),
            **v1.markers({"providers": capabilities.providers}),
        },
        "authMethods": [
            with_some(
                {"methodId": one.method_id, "type": "agent", "name": one.name},
                description=one.description,
                _meta=one.meta,
            )
            for one in auth_methods
        ],
    }
    return told | ({"_meta": {"steering": {"supported": True}}} if capabilities.steering else {})


def permission_request(
    session_id: SessionId, request: PermissionRequest, call: ToolCallPatch, *, reads_question: bool
) -> Wire:
    """Return the params of `session/request_permission`, with everything that the user has to see.

    For clients that don't know our fields (`inbound.with_told`), the description says it.
    """
    title = request.title or (call.title if isinstance(call.title, str) else "") or "Permission"
    description, told = request.description, tool_call_of(call)
    subject: Wire = {"type": "tool_call", "toolCall": told}
    if reads_question:
        told |= with_some({}, _meta=call.meta)
    else:
        more = json.dumps(request.more, ensure_ascii=False) if request.more else None
        description = "\n\n".join(filter(None, [request.note, request.description, more])) or None
        if request.command is not None:
            subject = {"type": "command", "command": request.command.line, "cwd": request.command.cwd}
            subject |= {} if request.is_alone else {"toolCallId": call.tool_call_id}
    asked = {**v1.asked_in(session_id, request, reads_question=reads_question), "title": title, "subject": subject}
    return with_some(asked, description=description)
