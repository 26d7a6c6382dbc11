"""The agent's side of ACP v1 as wire values: what an agent says about its sessions, asks, and answers.

`inbound` reads what this writes. It's for programs that serve another agent's sessions to clients.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, assert_never

from acp_tui.conversation import UNSET, elicitation, facts, tool_calls, updates
from acp_tui.conversation.content import OWN_META, ContentBlock, Meta, Text, UnknownBlock
from acp_tui.conversation.conversation import Change, Conversation
from acp_tui.conversation.facts import AuthMethod
from acp_tui.protocol.failures import error_data
from acp_tui.protocol.roles import AgentCapabilities, AgentIdentity
from acp_tui.protocol.v1 import outbound
from acp_tui.protocol.v1.subagents import BACKGROUND_IDS
from acp_tui.protocol.wire import Wire, with_some, written

_CHUNKS: Final = {"user": "user_message_chunk", "agent": "agent_message_chunk", "thought": "agent_thought_chunk"}
_OF_TERMINALS: Final = frozenset({"terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"})
"""Keys of a tool call's `_meta` that were already passed on as updates, so repeating them would duplicate output."""


def led(
    session_id: facts.SessionId, conversation: Conversation, update: updates.SessionUpdate, change: Change
) -> tuple[facts.SessionId, Conversation, updates.SessionUpdate, Change]:
    """Return the session an update is sent in, its conversation, the update itself, and what it changed there.

    A subagent speaks in its own session.
    """
    while isinstance(update, updates.SubagentSaid):
        said = update.update
        if isinstance(said, updates.StateReported):
            return session_id, conversation, updates.SubagentReported(update.session_id, state=said), change
        if update.is_of_call and isinstance(said, updates.MessageChunk | updates.ToolCallReported):
            return session_id, conversation, update, change
        conversation = conversation.subagents[update.session_id].conversation
        change = change.subagent[1] if change.subagent is not None else Change()
        session_id, update = update.session_id, said
    return session_id, conversation, update, change


def told_in(conversation: Conversation, update: updates.SessionUpdate, change: Change) -> Iterator[Wire]:
    """Yield all of what an update says that the protocol can express, whatever version its agent speaks.

    `change` is what it changed in the conversation.
    """
    match update:
        case updates.PromptSent(blocks) | updates.PromptJoined(blocks):
            yield from _chunks("user", blocks, None)
        case updates.MessageChunk() | updates.MessageReplaced() if update.role == "user" and not change.entries:
            pass  # the agent repeats a prompt
        case updates.MessageReplaced(role, message_id, blocks):
            yield from _chunks(role, blocks, f"{message_id} whole")  # after what the client has of it already
        case updates.ToolCallContentAdded(call_id):
            call = conversation.tool_call(call_id).call
            yield {
                "sessionUpdate": "tool_call_update",
                **tool_call_of(tool_calls.ToolCallPatch(call_id, content=call.content)),
            }
        case updates.UsageReported(keeps_cost=True) if conversation.usage is not None:
            yield {"sessionUpdate": "usage_update", **_usage(conversation.usage)}
        case updates.Renamed(title):
            yield {"sessionUpdate": "session_info_update", "title": title}
        case _:
            yield from updates_of(update)


def _chunks(role: updates.Role, blocks: Iterable[ContentBlock], message_id: str | None) -> Iterator[Wire]:
    for block in blocks:
        chunk: Wire = {"sessionUpdate": _CHUNKS[role], "content": block_of(block)}
        yield with_some(chunk, messageId=message_id)


def updates_of(update: updates.SessionUpdate) -> Iterator[Wire]:
    """Yield what clients of ours are told: only what they read as the same update."""
    if (told := update_of(update)) is not None:
        yield told


def plan_of(update: updates.PlanReplaced) -> Wire:
    if not update.steps:
        return {"sessionUpdate": "plan_removed", "planId": update.plan_id}
    plan = {"type": "items", "planId": update.plan_id, "entries": written(update.steps)}
    return {"sessionUpdate": "plan_update", "plan": with_some(plan, _meta=update.meta)}


def update_of(update: updates.SessionUpdate) -> Wire | None:
    """Return the content of a `session/update`; None for an update that doesn't come from an agent."""
    match update:
        case updates.MessageChunk(role, block, message_id, meta):
            chunk: Wire = {"sessionUpdate": _CHUNKS[role], "content": block_of(block)}
            return with_some(chunk, messageId=message_id, _meta=meta)
        case updates.ToolCallReported(patch, begins):
            kind = "tool_call" if begins and patch.title is not UNSET else "tool_call_update"
            return {"sessionUpdate": kind, **tool_call_of(patch)}
        case updates.PlanReplaced(plan_id=plan_id) if plan_id != updates.ONLY_PLAN:
            return plan_of(update)
        case updates.PlanReplaced(steps, _, meta):
            return with_some({"sessionUpdate": "plan", "entries": written(steps)}, _meta=meta)
        case updates.CommandsReplaced(commands, meta):
            available = list(map(command_of, commands))
            return with_some({"sessionUpdate": "available_commands_update", "availableCommands": available}, _meta=meta)
        case updates.OptionsReplaced(options, meta):
            return with_some(
                {"sessionUpdate": "config_option_update", "configOptions": options_of(options)}, _meta=meta
            )
        case updates.InfoChanged(title, updated_at, meta):
            return with_some({"sessionUpdate": "session_info_update"}, _meta=meta) | given(
                title=title, updatedAt=updated_at
            )
        case updates.UsageReported(usage, meta):
            return with_some({"sessionUpdate": "usage_update", **_usage(usage)}, _meta=meta)
        case updates.NoticeShown():
            return {"sessionUpdate": "notice", **written(update)}
        case updates.CompactionChanged(compaction_id, status, summary, error, meta):
            told = {"sessionUpdate": "compaction_update", "compactionId": compaction_id}
            blocks = summary if summary is UNSET else list(map(block_of, summary))
            return with_some(told, _meta=meta) | given(status=status, summary=blocks, error=error)
        case updates.CompactionChunk(compaction_id, block, meta):
            told = {"sessionUpdate": "compaction_summary_chunk", "compactionId": compaction_id}
            return with_some({**told, "content": block_of(block)}, _meta=meta)
        case updates.SubagentReported(session_id, title, description, state, is_cancellable, meta):
            told = {"sessionUpdate": "subagent_update", "sessionId": session_id}
            offers: Any = is_cancellable if is_cancellable is UNSET else {"cancel": {} if is_cancellable else None}
            doing: Any = reported_state(state) if isinstance(state, updates.StateReported) else state
            return with_some(told, _meta=meta) | given(
                title=title, description=description, capabilities=offers, state=doing
            )
        case updates.SubagentSaid(call_id, said, is_of_call=True) if (told_alone := update_of(said)) is not None:
            own = {"claudeCode": {"parentToolUseId": call_id}}
            return {**told_alone, "_meta": {**told_alone.get("_meta", {}), **own}}
        case updates.UnknownUpdate(kind, raw):
            return {**raw, "sessionUpdate": kind} if isinstance(raw, dict) else None
        case _:
            return None


def reported_state(report: updates.StateReported) -> Wire:
    told = with_some(
        {"state": report.state}, stopReason=report.stop_reason, usage=_spent(report.usage), _meta=report.meta
    )
    if report.background is not UNSET:
        told["background"] = list(map(_background, report.background))
    if report.failure is not None:
        error: Wire = {"code": report.failure.code or -32603, "message": report.failure.message}
        data = error_data(report.failure.detail, report.failure.said)
        error |= {} if data is None else {"data": data}
        told |= {"stopReason": "error", "error": error}
    return told


def _background(work: facts.BackgroundWork) -> Wire:
    names = {BACKGROUND_IDS[work.kind]: work.reference} if work.kind in BACKGROUND_IDS else {}
    return {"type": work.kind, **names}


def _spent(usage: facts.TurnUsage | None) -> Wire | None:
    return None if usage is None else {f"{key}Tokens": count for key, count in written(usage).items()}


def given(**optional: Any) -> Wire:
    """Return the fields that are set, including those set to None."""
    return {name: value for name, value in optional.items() if value is not UNSET}


def block_of(block: ContentBlock) -> Any:
    """Convert a content block, also one of an unknown kind."""
    return block.raw if isinstance(block, UnknownBlock) else outbound.content_block(block)


def tool_call_of(patch: tool_calls.ToolCallPatch) -> Wire:
    told: Wire = {"toolCallId": patch.tool_call_id}
    told |= given(
        title=patch.title,
        name=patch.name,
        kind=patch.kind,
        status=patch.status,
        rawInput=patch.raw_input,
        rawOutput=patch.raw_output,
    )
    if patch.content is not UNSET:
        told["content"] = [content_of(item) for item in patch.content]
    if patch.locations is not UNSET:
        told["locations"] = written(patch.locations)
    meta = {key: value for key, value in (patch.meta or {}).items() if key not in _OF_TERMINALS}
    return told | ({"_meta": meta} if meta else {})


def content_of(item: tool_calls.ToolCallContent) -> Any:
    match item:
        case tool_calls.BlockContent(block, meta):
            return with_some({"type": "content", "content": block_of(block)}, _meta=meta)
        case tool_calls.TextDiff(path, new_text, old_text, meta):
            return with_some({"type": "diff", "path": path, "newText": new_text}, oldText=old_text, _meta=meta)
        case tool_calls.TerminalContent(terminal_id, meta):
            return with_some({"type": "terminal", "terminalId": terminal_id}, _meta=meta)
        case tool_calls.UnknownContent(_, raw):
            return raw
        case tool_calls.FileChange():
            return {"type": "content", "content": block_of(Text(item.words))}
        case _:
            assert_never(item)


def command_of(command: facts.OfferedCommand) -> Wire:
    hint = None if command.hint is None else {"hint": command.hint}
    return with_some({"name": command.name, "description": command.description}, input=hint, _meta=command.meta)


def _usage(usage: facts.Usage) -> Wire:
    cost = None
    if usage.cost_amount is not None:
        cost = {"amount": usage.cost_amount, "currency": usage.cost_currency or ""}
    return with_some({"used": usage.used, "size": usage.size}, cost=cost)


# Options


def options_of(options: Iterable[facts.ConfigOption]) -> list[Wire]:
    """Convert a session's options. Legacy modes and models become ordinary options."""
    return list(map(_option, options))


def _option(option: facts.ConfigOption) -> Wire:
    told = {"id": option.option_id, "name": option.name, "currentValue": option.value}
    told = with_some(told, category=option.category, description=option.description)
    match option:
        case facts.SelectOption(choices=choices):
            return {**told, "type": "select", "options": list(_choices(choices))}
        case facts.BooleanOption():
            return {**told, "type": "boolean"}
        case _:
            assert_never(option)


def _choices(choices: Sequence[facts.Choice]) -> Iterator[Wire]:
    for group, members in groupby(choices, lambda choice: choice.group):
        values = [with_some({"value": one.value, "name": one.name}, description=one.description) for one in members]
        if group is None:
            yield from values
        else:
            yield {"group": group, "name": group, "options": values}


# Answers and questions


def agreement_of(
    identity: AgentIdentity | None,
    capabilities: AgentCapabilities,
    auth_methods: Iterable[AuthMethod],
    meta: Mapping[str, Any],
) -> Wire:
    offered = {
        "list": capabilities.list_sessions,
        "delete": capabilities.delete_session,
        "resume": capabilities.resume_session,
        "close": capabilities.close_session,
        "title": capabilities.set_title,
        "additionalDirectories": capabilities.additional_directories,
        "status": capabilities.session_status,
    }
    login = {"logout": capabilities.logout, "status": capabilities.auth_status}
    told: Wire = {
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": capabilities.load_session,
            "promptCapabilities": {
                "image": capabilities.image,
                "audio": capabilities.audio,
                "embeddedContext": capabilities.embedded_context,
            },
            "mcpCapabilities": {"http": capabilities.mcp_http, "sse": capabilities.mcp_sse},
            "sessionCapabilities": markers(offered),
            "auth": markers(login),
            "_meta": dict(meta),
            **({"providers": {}} if capabilities.providers else {}),
        },
        "authMethods": [
            with_some({"id": one.method_id, "name": one.name}, description=one.description, _meta=one.meta)
            for one in auth_methods
        ],
    }
    if capabilities.steering:
        told["_meta"] = {"steering": {"supported": True}}
    if identity is not None:
        told["agentInfo"] = written(identity)
    return told


def markers(offered: Mapping[str, bool]) -> Wire:
    return {name: {} for name, is_offered in offered.items() if is_offered}


def auth_status_of(status: facts.AuthStatus) -> Wire:
    """Return the answer to `auth/status`, and the params of `auth/status_update`."""
    accounts = [
        with_some(
            {"label": one.label}, active=one.is_active, name=one.name, email=one.email, organization=one.organization
        )
        for one in status.accounts
    ]
    return {"state": status.state, "accounts": accounts}


def provider_of(provider: facts.Provider) -> Wire:
    told = {"providerId": provider.provider_id, "supported": list(provider.supported), "required": provider.is_required}
    return with_some(told, current=written(provider.route))


def permission_request(
    session_id: facts.SessionId,
    request: facts.PermissionRequest,
    call: tool_calls.ToolCallPatch,
    *,
    reads_question: bool,
) -> Wire:
    """Return the params of `session/request_permission`, with everything that the user has to see.

    Version 1 has no fields for some of it. Clients that know ours get those (`inbound.with_told`); for others,
    the content of the tool call begins with it.
    """
    told = tool_call_of(call)
    if reads_question:
        # All of it: in a question, it doesn't repeat a terminal's output.
        told |= with_some({}, _meta=call.meta)
    elif words := _in_words(request):
        told["content"] = [{"type": "content", "content": block_of(Text(words))}, *told.get("content", ())]
    return {**asked_in(session_id, request, reads_question=reads_question), "toolCall": told}


def asked_in(session_id: facts.SessionId, request: facts.PermissionRequest, *, reads_question: bool) -> Wire:
    """Return what both versions ask with in the same way."""
    own: Wire = {"key": request.key} | ({"question": _question(request)} if reads_question else {})
    return {"sessionId": session_id, "options": written(request.options), "_meta": _with_own(request.meta, own)}


def _question(request: facts.PermissionRequest) -> Wire:
    told = written(request)
    names = ("note", "title", "description", "command", "more", "isAlone", "isOurs")
    return {name: told[name] for name in names if name in told}


def _in_words(request: facts.PermissionRequest) -> str:
    command = [] if request.command is None else [request.command.line, f"in {request.command.cwd}"]
    more = json.dumps(request.more, ensure_ascii=False) if request.more else None
    return "\n\n".join(filter(None, [request.note, request.title, request.description, *command, more]))


def _with_own(meta: Meta | None, own: Wire) -> Wire:
    """Add our key to the agent's `_meta`. What the agent itself has there remains in it, as "meta"."""
    theirs = meta or {}
    return {**theirs, OWN_META: own | ({"meta": theirs[OWN_META]} if OWN_META in theirs else {})}


def elicitation_request(session_id: facts.SessionId | None, asked: elicitation.Elicitation) -> Wire:
    """Return the params of `elicitation/create`. Without a session, it refers to an unnamed request."""
    scope: Wire = {"requestId": None} if session_id is None else {"sessionId": session_id}
    told = with_some({"message": asked.message, **scope}, toolCallId=asked.tool_call_id)
    told["_meta"] = _with_own(asked.meta, {"key": asked.key})
    match asked:
        case elicitation.UrlVisit(url=url, elicitation_id=elicitation_id):
            return {**told, "mode": "url", "url": url, "elicitationId": elicitation_id}
        case elicitation.Form(raw=raw):
            return {**told, "mode": "form", "requestedSchema": dict(raw)}
        case _:
            assert_never(asked)
