"""Converts the agent's ACP v1 messages to updates and other plain values. Nothing is applied here.

Each function that reads something raises MalformedMessage for what it can't read, unless it says something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, assert_never

from acp_tui.conversation import UNSET, elicitation, facts, updates
from acp_tui.conversation.content import OWN_META, Meta, Text
from acp_tui.conversation.tool_calls import ToolCallId
from acp_tui.conversation.visible.cutting import cut_text, cut_value
from acp_tui.protocol import MalformedMessage, roles
from acp_tui.protocol.v1 import agent_requests, initialize, session, subagents
from acp_tui.protocol.v1 import updates as wire
from acp_tui.protocol.v1.inbound_content import read_agent_terminals, read_block, read_tool_call, read_turn_usage
from acp_tui.protocol.wire import WireModel, decode, is_id

M = TypeVar("M", bound=WireModel)
Updates: TypeAlias = tuple[updates.SessionUpdate, ...]
Reader: TypeAlias = Callable[[Any], Updates]

# session/update


def read_update(params: Any, readers: Mapping[str, Reader] | None = None) -> tuple[facts.SessionId, Updates]:
    """Return the session of an update and what it says. `readers` are those of another version."""
    if type(params) is not dict or not is_id(session_id := params.get("sessionId")):
        _malformed("a session id")
    update = params.get("update")
    if type(update) is not dict or type(kind := update.get("sessionUpdate")) is not str:
        _malformed("an update with a kind")
    role = _ROLES.get(kind)
    if role is not None and (chunk := _plain_chunk(role, update)) is not None:
        return facts.SessionId(session_id), (chunk,)
    read = (READERS if readers is None else readers).get(kind)
    said: Updates = (updates.UnknownUpdate(cut_text(kind), cut_value(update)),) if read is None else read(update)
    return facts.SessionId(session_id), tuple(subagents.of_call(update, said))


def _malformed(missing: str) -> NoReturn:
    raise MalformedMessage("SessionNotification", f"it lacks {missing}")


_ROLES: Final[dict[str, updates.Role]] = {
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
    "user_message_chunk": "user",
}


def _plain_chunk(role: updates.Role, update: dict[str, Any]) -> updates.MessageChunk | None:
    """Return the chunk if it's only text: almost all updates are, and models take more than twice as long."""
    message_id = update.get("messageId")
    block = update.get("content")
    if len(update) != (2 if message_id is None else 3) or type(block) is not dict or len(block) != 2:
        return None
    text = block.get("text")
    if type(text) is not str or block.get("type") != "text" or not (message_id is None or is_id(message_id)):
        return None
    return updates.MessageChunk(role, Text(text), message_id)


def _chunk(update: Any) -> Updates:
    chunk = decode(wire.ContentChunk, update)
    role = _ROLES[update["sessionUpdate"]]
    return (updates.MessageChunk(role, read_block(chunk.content), chunk.message_id, chunk.meta),)


def reads(model: type[M], convert: Callable[[M], updates.SessionUpdate]) -> Reader:
    return lambda update: (convert(decode(model, update)),)


def _reads_call(model: type[wire.ToolCall | wire.SessionToolCallUpdate]) -> Reader:
    def read(update: Any) -> Updates:
        call = decode(model, update)
        begins = model is wire.ToolCall
        return (updates.ToolCallReported(read_tool_call(call), begins), *read_agent_terminals(call.meta))

    return read


def _plan_update(update: Any) -> Updates:
    """Convert one of several plans. One of a kind that can't be shown still replaces what it was."""
    match decode(wire.PlanUpdate, update).plan:
        case wire.PlanItems(plan_id=plan_id, entries=entries, meta=meta):
            return (updates.PlanReplaced(_steps(entries), plan_id, meta),)
        case wire.PlanMarkdown(plan_id=plan_id, content=text):
            return (updates.PlanReplaced(tuple(_written_steps(text)), plan_id),)
        case wire.PlanFile(plan_id=plan_id, uri=uri):
            return (updates.PlanReplaced((facts.PlanStep(f"the plan is in {uri}"),), plan_id),)
        case {"planId": str(plan_id)} if is_id(plan_id):
            return (updates.PlanReplaced((), plan_id), updates.UnknownUpdate("plan_update", cut_value(update)))
    raise MalformedMessage("PlanUpdate", "plan: one with a planId is wanted")


def _steps(entries: Iterable[wire.PlanEntry]) -> tuple[facts.PlanStep, ...]:
    return tuple(facts.PlanStep(step.content, step.priority, step.status, step.meta) for step in entries)


MAX_PLAN_LINES: Final = 500
"""The most lines of a plan in Markdown."""
_LIST_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)]|#{1,6})?\s*(?:\[([ xX])\]\s)?\s*(.*\S)")


def _written_steps(markdown: str) -> Iterator[facts.PlanStep]:
    """Yield each line of a Markdown plan as a step. One with a check mark is completed."""
    for line in markdown.split("\n")[:MAX_PLAN_LINES]:
        if (found := _LIST_ITEM.match(cut_text(line))) is not None:
            is_done = (found[1] or "").lower() == "x"
            yield facts.PlanStep(found[2], status="completed" if is_done else "pending")


def read_command(command: wire.AvailableCommand) -> facts.OfferedCommand:
    hint = None if command.input is None else command.input.hint
    return facts.OfferedCommand(command.name, command.description, hint, command.meta)


def _usage(report: wire.UsageUpdate) -> updates.UsageReported:
    amount, currency = (None, None) if report.cost is None else (report.cost.amount, report.cost.currency)
    return updates.UsageReported(facts.Usage(report.used, report.size, amount, currency), report.meta)


def _compaction(change: wire.CompactionUpdate) -> updates.CompactionChanged:
    summary = change.summary if change.summary is UNSET else tuple(map(read_block, change.summary or ()))
    return updates.CompactionChanged(change.compaction_id, change.status, summary, change.error, change.meta)


READERS: Final[dict[str, Reader]] = {
    **dict.fromkeys(_ROLES, _chunk),
    "tool_call": _reads_call(wire.ToolCall),
    "tool_call_update": _reads_call(wire.SessionToolCallUpdate),
    "plan": reads(wire.Plan, lambda plan: updates.PlanReplaced(_steps(plan.entries), meta=plan.meta)),
    "plan_update": _plan_update,
    "plan_removed": reads(wire.PlanRemoved, lambda plan: updates.PlanReplaced((), plan.plan_id)),
    "available_commands_update": reads(
        wire.AvailableCommandsUpdate,
        lambda report: updates.CommandsReplaced(tuple(map(read_command, report.available_commands)), report.meta),
    ),
    "current_mode_update": reads(
        wire.CurrentModeUpdate, lambda change: updates.OptionChanged(MODE, change.current_mode_id, MODE, change.meta)
    ),
    "config_option_update": reads(
        wire.ConfigOptionUpdate,
        lambda report: updates.OptionsReplaced(read_options(report.config_options), report.meta),
    ),
    "session_info_update": reads(
        wire.SessionInfoUpdate, lambda info: updates.InfoChanged(info.title, info.updated_at, info.meta)
    ),
    "usage_update": reads(wire.UsageUpdate, _usage),
    "notice": reads(
        wire.Notice, lambda notice: updates.NoticeShown(notice.severity, notice.title, notice.description, notice.meta)
    ),
    "compaction_update": reads(wire.CompactionUpdate, _compaction),
    "compaction_summary_chunk": reads(
        wire.CompactionSummaryChunk,
        lambda chunk: updates.CompactionChunk(chunk.compaction_id, read_block(chunk.content), chunk.meta),
    ),
    "subagent_update": subagents.read_subagent,
    "session_message": subagents.read_message,
    "session_message_chunk": subagents.read_message_chunk,
}

# session/request_permission


UNPARKED: Final = facts.RequestKey(0)
"""A question's key until the client assigns one."""


def read_permission_request(params: Any) -> tuple[facts.SessionId, updates.PermissionAsked]:
    request = decode(agent_requests.RequestPermissionRequest, params)
    options = tuple(
        facts.PermissionOption(option.option_id, option.name, option.kind, option.meta) for option in request.options
    )
    patch = read_tool_call(request.tool_call)
    question = facts.PermissionRequest(UNPARKED, patch.tool_call_id, options, request.meta)
    return facts.SessionId(request.session_id), updates.PermissionAsked(question, patch)


def with_told(asked: updates.PermissionAsked) -> updates.PermissionAsked:
    """Return a host's question with what `encode_updates` added to it."""
    meta = asked.request.meta or {}
    own = meta.get(OWN_META)
    if not isinstance(own, dict) or "question" not in own:
        return asked
    told = decode(agent_requests.ToldQuestion, own["question"])
    left = {name: value for name, value in own.items() if name != "question"}
    request = replace(
        asked.request,
        meta={**meta, OWN_META: left},
        note=told.note,
        title=told.title,
        description=told.description,
        command=None if told.command is None else facts.AskedCommand(told.command.line, told.command.cwd),
        more=told.more,
        is_alone=told.is_alone,
        is_ours=told.is_ours,
    )
    return updates.PermissionAsked(request, asked.patch)


# Responses


def read_initialize_response(result: Any) -> roles.Agreement:
    response = decode(initialize.InitializeResponse, result)
    info = response.agent_info
    identity = None if info is None else roles.AgentIdentity(info.name, info.version, info.title)
    notes = identity.quirks.login_notes if identity is not None else {}
    methods = tuple(_auth_method(method, notes.get(method.id)) for method in response.auth_methods)
    capabilities = _capabilities(response.agent_capabilities, response.meta)
    modes = read_setup(decode(session.SessionSetup, {"modes": result["modes"]})) if "modes" in result else ()
    return roles.Agreement(response.protocol_version, identity, capabilities, methods, modes)


def offers_steering(meta: Meta | None) -> bool:
    steering = (meta or {}).get("steering")
    return isinstance(steering, dict) and steering.get("supported") is True


def _capabilities(capabilities: initialize.AgentCapabilities, meta: Meta | None) -> roles.AgentCapabilities:
    sessions = capabilities.session_capabilities
    return roles.AgentCapabilities(
        load_session=capabilities.load_session,
        list_sessions=sessions.list is not None,
        delete_session=sessions.delete is not None,
        resume_session=sessions.resume is not None,
        close_session=sessions.close is not None,
        fork_session=sessions.fork is not None,
        set_title=sessions.title is not None,
        archive=sessions.archive is not None,
        session_status=sessions.status is not None,
        auth_status=capabilities.auth.status is not None,
        steering=offers_steering(meta),
        additional_directories=sessions.additional_directories is not None,
        image=capabilities.prompt_capabilities.image,
        audio=capabilities.prompt_capabilities.audio,
        embedded_context=capabilities.prompt_capabilities.embedded_context,
        mcp_http=capabilities.mcp_capabilities.http,
        mcp_sse=capabilities.mcp_capabilities.sse,
        mcp_acp=capabilities.mcp_capabilities.acp,
        logout=capabilities.auth.logout is not None,
        system_prompt=prompt_modes(sessions.system_prompt),
        providers=capabilities.providers is not None,
        meta=capabilities.meta,
    )


def prompt_modes(offered: initialize.SessionSystemPromptCapabilities | None) -> frozenset[roles.PromptMode]:
    """Return how the agent can use a client's system prompt. One that takes any can append it."""
    if offered is None:
        return frozenset()
    overrides = offered.mode is not None and offered.mode.override is not None
    return frozenset({"append", "override"} if overrides else {"append"})


def _auth_method(method: initialize.AuthMethod, note: str | None) -> facts.AuthMethod:
    about = ": ".join(filter(None, (method.description, note))) or None
    if isinstance(method, initialize.AuthMethodAgent):
        return facts.AuthMethod(method.id, method.name, about, meta=method.meta)
    return facts.AuthMethod(method.id, method.name, about, "terminal", tuple(method.args), method.env, method.meta)


INTERIM_STATES: Final = {
    "none": "unauthenticated",
    **dict.fromkeys(("account", "api_key", "gateway", "external"), "authenticated"),
}
"""The states of the kinds in `_auth/status_update`."""


def read_auth_status(said: Any) -> facts.AuthStatus:
    """Return who is logged in: the answer to `auth/status`, or a notification's params.

    Codex ACP 2.6.0 and Claude's adapter 0.101.0 tell it in the form from before the draft.
    """
    if isinstance(said, dict) and "state" not in said and "authStatus" in said:
        told = decode(initialize.InterimAuthStatusUpdate, said).auth_status
        state = INTERIM_STATES.get(told.kind, "unknown")
        account = facts.Account(told.label, told.detail, told.account.email, told.account.organization)
        return facts.AuthStatus(state, () if told.kind == "none" else (account,))
    status = decode(initialize.AuthStatusResponse, said)
    accounts = (facts.Account(one.label, one.name, one.email, one.organization, one.active) for one in status.accounts)
    return facts.AuthStatus(status.state, tuple(accounts))


def read_providers(result: Any) -> tuple[facts.Provider, ...]:
    return tuple(map(_provider, decode(initialize.ListProvidersResponse, result).providers))


def _provider(info: initialize.ProviderInfo) -> facts.Provider:
    route = None if info.current is None else facts.ProviderRoute(info.current.api_type, info.current.base_url)
    return facts.Provider(info.provider_id, tuple(info.supported), info.required, route)


def read_new_session(result: Any) -> tuple[facts.SessionId, Updates]:
    response = decode(session.NewSessionResponse, result)
    return facts.SessionId(response.session_id), read_setup(response)


def read_opened_session(result: Any) -> Updates:
    return read_setup(decode(session.SessionSetup, result))


def read_session_page(result: Any) -> facts.SessionPage:
    response = decode(session.ListSessionsResponse, result)
    return facts.SessionPage(tuple(map(_session_summary, response.sessions)), response.next_cursor)


def read_session_status(result: Any) -> facts.SessionStatus:
    """Return what the agent says of a session. An unknown status counts as saved."""
    response = decode(session.SessionStatusResponse, result)
    return facts.SessionStatus(response.status == "open", response.state.state if response.state is not None else None)


def _session_summary(info: session.SessionInfo) -> facts.SessionSummary:
    folders = (Path(info.cwd), *map(Path, info.additional_directories))
    return facts.SessionSummary(facts.SessionId(info.session_id), folders[0], info.title, info.updated_at, folders[1:])


def read_config_options(result: Any) -> updates.OptionsReplaced:
    """Return all options after one was set (R-CFG-7)."""
    response = decode(session.SetSessionConfigOptionResponse, result)
    return updates.OptionsReplaced(read_options(response.config_options), response.meta)


def read_prompt_response(result: Any) -> updates.TurnEnded:
    response = decode(session.PromptResponse, result)
    usage = read_turn_usage(response.usage) or _quota(response.meta)
    return updates.TurnEnded(response.stop_reason, response.meta, usage)


def _quota(meta: Meta | None) -> facts.TurnUsage | None:
    """Read the usage that some agents put into `_meta.quota.token_count`."""
    quota = (meta or {}).get("quota")
    counted = quota.get("token_count") if isinstance(quota, dict) else None
    if not isinstance(counted, dict):
        return None
    names = ("totalTokens", "inputTokens", "outputTokens")
    more = ("reasoningOutputTokens", "cachedInputTokens", "cacheWriteInputTokens")
    total, given, said, *rest = (
        count if isinstance(count := counted.get(name), int) and count >= 0 else None for name in (*names, *more)
    )
    if total is None:
        return None
    return facts.TurnUsage(total, given or 0, said or 0, *rest)


def read_prompt_answer(result: Any) -> updates.TurnEnded | updates.TurnFailed:
    """Return how the turn ended. Without a readable stop reason, it failed."""
    try:
        return read_prompt_response(result)
    except MalformedMessage as error:
        return updates.TurnFailed("the agent ended the turn without a readable reason", str(error))


def read_completed(params: Any) -> str:
    return decode(agent_requests.CompleteElicitationNotification, params).elicitation_id


MODE: str = "mode"
"""The ID, category, and source of the option that stands for the modes."""
MODEL: str = "model"
"""The same for the legacy models (R-OLD-1)."""


def read_setup(setup: session.SessionSetup) -> tuple[updates.OptionsReplaced, ...]:
    """Return a session's initial options. Config options, if there are any, replace modes and models (R-CFG-1)."""
    if setup.config_options is not None:
        return (updates.OptionsReplaced(read_options(setup.config_options)),)
    legacy = tuple(_legacy_options(setup))
    return (updates.OptionsReplaced(legacy),) if legacy else ()


def read_options(options: Iterable[session.SessionConfigOption]) -> tuple[facts.ConfigOption, ...]:
    return tuple(map(_option, options))


def _option(option: session.SessionConfigOption) -> facts.ConfigOption:
    match option:
        case session.SessionConfigSelect():
            choices = tuple(_choices(option.options))
            return facts.SelectOption(
                option.id, option.name, option.current_value, choices, option.category, option.description
            )
        case session.SessionConfigBoolean():
            return facts.BooleanOption(
                option.id, option.name, option.current_value, option.category, option.description
            )
        case _:
            assert_never(option)


def _choices(options: session.SessionConfigSelectOptions) -> Iterator[facts.Choice]:
    for option in options:
        if isinstance(option, session.SessionConfigSelectGroup):
            for member in option.options:
                yield facts.Choice(member.value, member.name, member.description, option.name)
        else:
            yield facts.Choice(option.value, option.name, option.description)


def _legacy_options(setup: session.SessionSetup) -> Iterator[facts.SelectOption]:
    if (modes := setup.modes) is not None:
        choices = tuple(facts.Choice(mode.id, mode.name, mode.description) for mode in modes.available_modes)
        yield facts.SelectOption(MODE, "Mode", modes.current_mode_id, choices, MODE, source=MODE)
    if (models := setup.models) is not None:
        choices = tuple(
            facts.Choice(model.model_id, model.name, model.description) for model in models.available_models
        )
        yield facts.SelectOption(MODEL, "Model", models.current_model_id, choices, MODEL, source=MODEL)


# Questions to the user, which both versions have in the same form


def read_elicitation(
    params: Mapping[str, Any], offer: roles.ClientOffer
) -> tuple[facts.SessionId | None, elicitation.Elicitation]:
    """Return the question's session, or None, and the question, unless its mode wasn't offered."""
    match params.get("mode"):
        case "form" if offer.elicitation_form:
            form = decode(agent_requests.ElicitationFormMode, params)
            return _session_of(form), _form(form, params["requestedSchema"])
        case "url" if offer.elicitation_url:
            page = decode(agent_requests.ElicitationUrlMode, params)
            return _session_of(page), _visit(page)
        case _:
            # Shown in a known mode, it would be another question (R-ELIC-2).
            raise MalformedMessage("CreateElicitationRequest", "mode: not one that the client offers")


def _session_of(request: agent_requests.ElicitationMode) -> facts.SessionId | None:
    return None if request.session_id is None else facts.SessionId(request.session_id)


def _tool_call_of(request: agent_requests.ElicitationMode) -> ToolCallId | None:
    return None if request.tool_call_id is None else ToolCallId(request.tool_call_id)


def _visit(request: agent_requests.ElicitationUrlMode) -> elicitation.UrlVisit:
    return elicitation.UrlVisit(
        UNPARKED, request.message, request.elicitation_id, request.url, _tool_call_of(request), meta=request.meta
    )


def _form(request: agent_requests.ElicitationFormMode, raw: Mapping[str, Any]) -> elicitation.Form:
    schema = request.requested_schema
    return elicitation.Form(
        UNPARKED,
        request.message,
        tuple(_fields(schema, raw.get("properties", {}))),
        schema.title,
        schema.description,
        _tool_call_of(request),
        request.meta,
        cut_value(raw),
    )


def _fields(schema: agent_requests.ElicitationSchema, raw: Mapping[str, Any]) -> Iterator[elicitation.Field]:
    required = set(schema.required or ())
    for name, prop in schema.properties.items():
        yield _field(name, prop, name in required) or elicitation.UnknownField(
            name, cut_text(str(raw[name].get("type"))), cut_value(raw[name]), name in required
        )
    # Required but not described, so no value of ours could satisfy it.
    for name in sorted(required - schema.properties.keys()):
        yield elicitation.UnknownField(name, "undescribed", None, is_required=True)


def _field(name: str, prop: agent_requests.ElicitationPropertySchema, is_required: bool) -> elicitation.Field | None:
    """Convert a field. Returns None for an unknown kind."""
    if isinstance(prop, dict):
        return None
    about = (prop.title, prop.description, is_required)
    match prop:
        case agent_requests.StringPropertySchema(enum=None, one_of=None):
            lengths = prop.min_length, prop.max_length
            return elicitation.TextField(name, *about, prop.default, *lengths, prop.pattern, prop.format)
        case agent_requests.StringPropertySchema():
            choices, values = _field_choices(prop.enum or () if prop.one_of is None else prop.one_of)
            return elicitation.ChoiceField(name, choices, *about, prop.default if prop.default in values else None)
        case agent_requests.NumberPropertySchema() | agent_requests.IntegerPropertySchema():
            is_integer = isinstance(prop, agent_requests.IntegerPropertySchema)
            return elicitation.NumberField(name, *about, is_integer, prop.default, prop.minimum, prop.maximum)
        case agent_requests.BooleanPropertySchema():
            return elicitation.BooleanField(name, *about, prop.default)
        case agent_requests.MultiSelectPropertySchema(items=items):
            if isinstance(items, dict):
                return None
            choices, values = _field_choices(
                items.any_of if isinstance(items, agent_requests.TitledMultiSelectItems) else items.enum
            )
            default = tuple(value for value in prop.default or () if value in values)
            return elicitation.MultiChoiceField(name, choices, *about, default, prop.min_items, prop.max_items)
        case _:
            assert_never(prop)


def _field_choices(
    options: Sequence[str | agent_requests.EnumOption],
) -> tuple[tuple[elicitation.FieldChoice, ...], frozenset[str]]:
    choices = tuple(
        elicitation.FieldChoice(option, option)
        if isinstance(option, str)
        else elicitation.FieldChoice(option.const, option.title, option.description)
        for option in options
    )
    return choices, frozenset(choice.value for choice in choices)
