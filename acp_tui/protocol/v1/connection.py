"""ACP v1 between a peer and the client: converts the client's calls to requests, and the agent's messages to calls.

Only what was offered is served. The client keeps the state of sessions. `inbound` knows what an update means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, assert_never

from acp_tui.conversation import elicitation
from acp_tui.conversation.facts import ConfigOption, RequestKey, SelectOption, SessionId, SessionPage
from acp_tui.conversation.tool_calls import TerminalId, ToolCallId
from acp_tui.conversation.updates import OptionChanged
from acp_tui.conversation.visible.cutting import cut_text, cut_value
from acp_tui.protocol import MalformedMessage, v1
from acp_tui.protocol.connection import (
    Connection,
    Inbound,
    OnUpdate,
    Serve,
    as_invalid_params,
    nothing,
    permission_response,
    require_distinct,
)
from acp_tui.protocol.roles import (
    ClientOffer,
    ElicitationAnswer,
    ExitStatus,
    FilesAndTerminals,
    Workplace,
)
from acp_tui.protocol.v1 import agent_requests, inbound, outbound
from acp_tui.protocol.wire import decode, with_some


class ConnectionV1(Connection):
    version: ClassVar[int] = v1.PROTOCOL_VERSION
    inbound: ClassVar[Inbound] = inbound

    async def authenticate(self, method_id: str) -> None:
        await self.request(v1.AUTHENTICATE, {"methodId": method_id}, nothing)

    async def logout(self) -> None:
        await self.request(v1.LOGOUT, {}, nothing)

    @property
    def _loading(self) -> tuple[str, Mapping[str, Any]]:
        return v1.SESSION_LOAD, {}

    def _workplace(self, workplace: Workplace) -> dict[str, Any]:
        return outbound.new_session(workplace)

    async def list_sessions(self, cwd: Path | None, cursor: str | None) -> SessionPage:
        request = outbound.list_sessions(cwd, cursor)
        return await self.request(v1.SESSION_LIST, request, inbound.read_session_page)

    async def set_option(
        self, session_id: SessionId, option: ConfigOption, value: str | bool, on_update: OnUpdate
    ) -> None:
        source = option.source if isinstance(option, SelectOption) else "config"
        method, request = outbound.set_option(session_id, option.option_id, source, value)

        def read(result: Any) -> None:
            if source == "config":
                on_update(inbound.read_config_options(result))
            else:
                # The agent needn't confirm a change, so success counts as the report (R-MODE-2).
                on_update(OptionChanged(option.option_id, value, source))

        await self.request(method, request, read)

    def brings_history(self, method: str, params: Mapping[str, Any]) -> bool:
        return method == v1.SESSION_LOAD

    # What the agent asks

    def _served(self) -> Mapping[str, Serve]:
        offer = self.offer
        requests: dict[str, Serve] = {v1.SESSION_REQUEST_PERMISSION: self._request_permission}
        if offer.read_text_file:
            requests[v1.FS_READ_TEXT_FILE] = self._read_text_file
        if offer.write_text_file:
            requests[v1.FS_WRITE_TEXT_FILE] = self._write_text_file
        if offer.elicitation_form or offer.elicitation_url:
            requests[v1.ELICITATION_CREATE] = partial(create_elicitation, self)
        if offer.terminal:
            requests |= {
                v1.TERMINAL_CREATE: self._create_terminal,
                v1.TERMINAL_OUTPUT: self._terminal_output,
                v1.TERMINAL_WAIT_FOR_EXIT: self._wait_for_terminal_exit,
                v1.TERMINAL_KILL: self._kill_terminal,
                v1.TERMINAL_RELEASE: self._release_terminal,
            }
        return requests

    def _request_permission(self, params: Mapping[str, Any]) -> Awaitable[Any]:
        with as_invalid_params():
            session_id, question = inbound.read_permission_request(params)
            question = inbound.with_told(question) if self.offer.is_for_host else question
        require_distinct(question.options)
        return permission_response(self.client.request_permission(session_id, question))

    async def _read_text_file(self, params: Mapping[str, Any]) -> Any:
        with as_invalid_params():
            request = decode(agent_requests.ReadTextFileRequest, params)
        machine = self.client.machine(SessionId(request.session_id))
        content = await machine.read_text_file(request.path, request.line, request.limit)
        return {"content": content}

    async def _write_text_file(self, params: Mapping[str, Any]) -> Any:
        with as_invalid_params():
            request = decode(agent_requests.WriteTextFileRequest, params)
        await self.client.machine(SessionId(request.session_id)).write_text_file(request.path, request.content)
        return {}

    async def _create_terminal(self, params: Mapping[str, Any]) -> Any:
        with as_invalid_params():
            request = decode(agent_requests.CreateTerminalRequest, params)
        terminal_id = await self.client.machine(SessionId(request.session_id)).create_terminal(
            request.command,
            request.args or (),
            [(variable.name, variable.value) for variable in request.env or ()],
            request.cwd,
            request.output_byte_limit,
        )
        return {"terminalId": terminal_id}

    def _terminal(self, params: Mapping[str, Any]) -> tuple[FilesAndTerminals, TerminalId]:
        with as_invalid_params():
            request = decode(agent_requests.TerminalRequest, params)
        return self.client.machine(SessionId(request.session_id)), TerminalId(request.terminal_id)

    async def _terminal_output(self, params: Mapping[str, Any]) -> Any:
        machine, terminal_id = self._terminal(params)
        snapshot = machine.terminal_output(terminal_id)
        result: dict[str, Any] = {"output": snapshot.output, "truncated": snapshot.truncated}
        if snapshot.exit_status is not None:
            result["exitStatus"] = _exit_status(snapshot.exit_status)
        return result

    async def _wait_for_terminal_exit(self, params: Mapping[str, Any]) -> Any:
        machine, terminal_id = self._terminal(params)
        return _exit_status(await machine.wait_for_terminal_exit(terminal_id))

    async def _kill_terminal(self, params: Mapping[str, Any]) -> Any:
        machine, terminal_id = self._terminal(params)
        await machine.kill_terminal(terminal_id)
        return {}

    async def _release_terminal(self, params: Mapping[str, Any]) -> Any:
        machine, terminal_id = self._terminal(params)
        await machine.release_terminal(terminal_id)
        return {}


def create_elicitation(connection: Connection, params: Mapping[str, Any]) -> Awaitable[Any]:
    with as_invalid_params():
        asked = read_elicitation(params, connection.offer)
    return _elicitation_response(connection.client.elicit(*asked))


async def _elicitation_response(answer: Awaitable[ElicitationAnswer]) -> Any:
    return write_answer(await answer)


def _exit_status(status: ExitStatus) -> dict[str, Any]:
    return {"exitCode": status.exit_code, "signal": status.signal}


UNPARKED: Final = RequestKey(0)
"""A question's key until the client assigns one."""


def read_elicitation(params: Mapping[str, Any], offer: ClientOffer) -> tuple[SessionId | None, elicitation.Elicitation]:
    """Return the question's session, or None, and the question.

    Raises MalformedMessage, also for a mode not offered.
    """
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


def write_answer(answer: ElicitationAnswer) -> dict[str, Any]:
    """Return the answer on the wire. Content only goes with accepting a form (R-ELIC-3, R-ELIC-11)."""
    return with_some({"action": answer.action}, content=answer.values if answer.action == "accept" else None)


def _session_of(request: agent_requests.ElicitationMode) -> SessionId | None:
    return None if request.session_id is None else SessionId(request.session_id)


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
    )


# Fields


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
    match prop:
        case agent_requests.StringPropertySchema():
            return _string(name, prop, is_required)
        case agent_requests.NumberPropertySchema() | agent_requests.IntegerPropertySchema():
            return elicitation.NumberField(
                name,
                prop.title,
                prop.description,
                is_required,
                isinstance(prop, agent_requests.IntegerPropertySchema),
                prop.default,
                prop.minimum,
                prop.maximum,
            )
        case agent_requests.BooleanPropertySchema():
            return elicitation.BooleanField(name, prop.title, prop.description, is_required, prop.default)
        case agent_requests.MultiSelectPropertySchema():
            return _multi_choice(name, prop, is_required)
        case dict():
            return None
        case _:
            assert_never(prop)


def _string(name: str, prop: agent_requests.StringPropertySchema, is_required: bool) -> elicitation.Field:
    choices = _choices(prop.enum, prop.one_of)
    if choices is not None:
        default = prop.default if prop.default in {choice.value for choice in choices} else None
        return elicitation.ChoiceField(name, choices, prop.title, prop.description, is_required, default)
    return elicitation.TextField(
        name,
        prop.title,
        prop.description,
        is_required,
        prop.default,
        prop.min_length,
        prop.max_length,
        prop.pattern,
        prop.format,
    )


def _multi_choice(
    name: str, prop: agent_requests.MultiSelectPropertySchema, is_required: bool
) -> elicitation.Field | None:
    items = prop.items
    if isinstance(items, dict):
        return None
    if isinstance(items, agent_requests.StringMultiSelectItems):
        choices = _choices(items.enum, None)
    else:
        choices = _choices(None, items.any_of)
    values = {choice.value for choice in choices or ()}
    return elicitation.MultiChoiceField(
        name,
        choices or (),
        prop.title,
        prop.description,
        is_required,
        tuple(value for value in prop.default or () if value in values),
        prop.min_items,
        prop.max_items,
    )


def _choices(
    values: list[str] | None, titled: list[agent_requests.EnumOption] | None
) -> tuple[elicitation.FieldChoice, ...] | None:
    if titled is not None:
        return tuple(elicitation.FieldChoice(option.const, option.title, option.description) for option in titled)
    return None if values is None else tuple(elicitation.FieldChoice(value, value) for value in values)
