"""An agent's responses and requests as plain values."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import ValidationError

from acp_tui.conversation.facts import AuthMethod, Choice, PermissionOption, PermissionRequest, SelectOption
from acp_tui.conversation.tool_calls import ToolCallPatch
from acp_tui.conversation.updates import OptionsReplaced, PermissionAsked, TurnEnded
from acp_tui.protocol import MalformedMessage
from acp_tui.protocol.roles import AgentCapabilities, AgentIdentity
from acp_tui.protocol.v1 import inbound
from acp_tui.protocol.v1.agent_requests import (
    CreateElicitationRequest,
    CreateTerminalRequest,
    ElicitationFormMode,
    StringPropertySchema,
    TitledMultiSelectItems,
)
from acp_tui.protocol.v1.session import (
    McpServerHttp,
    McpServerStdio,
    NewSessionRequest,
    SessionSetup,
)
from acp_tui.protocol.validators import reader_of
from acp_tui.protocol.wire import WireModel, decode
from support.schema import as_json

# Initialize


def read_agent(**fields: Any) -> tuple[AgentIdentity | None, AgentCapabilities, tuple[AuthMethod, ...]]:
    agreed = inbound.read_initialize_response({"protocolVersion": 1, **fields})
    assert agreed.version == 1
    return agreed.identity, agreed.capabilities, agreed.auth_methods


def test_an_agent_that_says_only_its_version_supports_nothing() -> None:
    """R-INIT-3, R-INIT-5"""
    assert read_agent() == (None, AgentCapabilities(), ())


def test_an_object_marks_support_and_null_does_not() -> None:
    """R-INIT-5, R-INIT-7"""
    said = {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": "yes"},
        "mcpCapabilities": {"http": True},
        "sessionCapabilities": {"list": {}, "resume": {"x": 1}, "close": None, "delete": True},
        "auth": {"logout": {}},
        "_meta": {"k": 1},
    }
    assert read_agent(agentCapabilities=said)[1] == AgentCapabilities(
        load_session=True,
        image=True,
        mcp_http=True,
        list_sessions=True,
        resume_session=True,
        logout=True,
        meta={"k": 1},
    )


@pytest.mark.parametrize("said", [None, 5, {"promptCapabilities": 5, "sessionCapabilities": [], "auth": None}])
def test_malformed_capabilities_are_no_capabilities(said: Any) -> None:
    """R-LEN-1"""
    assert read_agent(agentCapabilities=said)[1] == AgentCapabilities()


def test_auth_methods_are_the_agents_own_unless_they_are_of_the_terminal() -> None:
    """R-AUTH-1, R-OLD-2, R-LEN-2, R-LEN-5"""
    methods = [
        {"id": "a", "name": "A", "_meta": {"k": 1}},
        {"id": "e", "name": "E", "type": "env_var", "vars": []},
        {"id": "t", "name": "T", "type": "terminal", "args": ["--login"], "env": {"X": "1"}},
        {"id": "n", "name": "N", "type": "terminal", "args": None, "env": None},
        {"id": "bad", "name": "Bad", "type": "terminal", "args": "--login"},
        {"id": "nameless"},
    ]
    assert read_agent(authMethods=methods)[2] == (
        AuthMethod("a", "A", meta={"k": 1}),
        AuthMethod("e", "E"),
        AuthMethod("t", "T", kind="terminal", args=("--login",), env={"X": "1"}),
        AuthMethod("n", "N", kind="terminal"),
    )


@pytest.mark.parametrize(
    ("agent", "told"), [("gemini-cli", "A key: set GEMINI_API_KEY before you start"), ("a", "A key")]
)
def test_a_login_says_which_variable_its_agent_is_known_to_want(agent: str, told: str) -> None:
    """gemini-cli 0.61.0 names none."""
    methods = [{"id": "gemini-api-key", "name": "Key", "description": "A key"}, {"id": "other", "name": "Other"}]
    key, other = read_agent(agentInfo={"name": agent, "version": "1"}, authMethods=methods)[2]
    assert (key.description, other.description) == (told, None)


def test_an_agents_identity_is_read_or_left_out_where_it_is_malformed() -> None:
    assert read_agent(agentInfo={"name": "a", "version": "1"})[0] == AgentIdentity("a", "1")
    assert read_agent(agentInfo={"name": "a"})[0] is None


@pytest.mark.parametrize("version", [None, "1", 1.0, -1, 2**16])
def test_a_response_without_a_proper_version_is_malformed(version: Any) -> None:
    with pytest.raises(MalformedMessage):
        inbound.read_initialize_response({"protocolVersion": version})


# Sessions

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "broken"}]}
MODELS = {"currentModelId": "big", "availableModels": [{"modelId": "big", "name": "Big"}]}
MODE_OPTION = SelectOption("mode", "Mode", "ask", (Choice("ask", "Ask"),), "mode", source="mode")
MODEL_OPTION = SelectOption("model", "Model", "big", (Choice("big", "Big"),), "model", source="model")


def test_config_options_win_over_modes_and_models() -> None:
    """R-CFG-1"""
    option = {"id": "o", "name": "O", "type": "select", "currentValue": "v", "options": []}
    result = {"sessionId": "s", "modes": MODES, "models": MODELS, "configOptions": [option]}
    assert inbound.read_new_session(result) == ("s", (OptionsReplaced((SelectOption("o", "O", "v", ()),)),))


@pytest.mark.parametrize("config_options", [{}, {"configOptions": None}, {"configOptions": 5}])
def test_modes_and_models_become_options_where_there_are_no_config_options(config_options: Any) -> None:
    """R-MODE-1, R-OLD-1"""
    result = {"sessionId": "s", "modes": MODES, "models": MODELS, **config_options}
    assert inbound.read_new_session(result)[1] == (OptionsReplaced((MODE_OPTION, MODEL_OPTION)),)


@pytest.mark.parametrize(
    ("said", "option"), [(MODES, MODE_OPTION), (None, None), (5, None), ({"availableModes": []}, None)]
)
def test_modes_in_the_handshake_are_read_where_they_are_well_formed(said: Any, option: SelectOption | None) -> None:
    """R-DOC-1, R-LEN-1"""
    agreed = inbound.read_initialize_response({"protocolVersion": 1, "modes": said})
    assert agreed.modes == (() if option is None else (OptionsReplaced((option,)),))


def test_a_session_without_options_says_nothing_of_options() -> None:
    assert inbound.read_new_session({"sessionId": "s", "modes": None}) == ("s", ())


def test_a_new_session_needs_an_id() -> None:
    """R-LEN-3"""
    with pytest.raises(MalformedMessage):
        inbound.read_new_session({})


def test_a_loaded_session_may_answer_null_or_with_its_modes() -> None:
    """R-SESS-5"""
    assert inbound.read_opened_session(None) == ()
    assert inbound.read_opened_session({"modes": MODES}) == (OptionsReplaced((MODE_OPTION,)),)


def test_setting_an_option_answers_with_all_of_them() -> None:
    """R-CFG-7"""
    assert inbound.read_config_options({"configOptions": []}) == OptionsReplaced(())
    with pytest.raises(MalformedMessage):
        inbound.read_config_options({})


def test_an_unknown_stop_reason_is_kept_and_a_missing_one_is_malformed() -> None:
    """R-PROMPT-6, R-LEN-3"""
    assert inbound.read_prompt_response({"stopReason": "bored", "usage": {}}) == TurnEnded("bored")
    with pytest.raises(MalformedMessage):
        inbound.read_prompt_response(None)


@pytest.mark.parametrize("model", [WireModel, SessionSetup])
@pytest.mark.parametrize("result", [{}, None, {"vendor": 1}])
def test_an_empty_result_may_be_null_or_have_unknown_keys_and_is_written_empty(
    model: type[WireModel], result: Any
) -> None:
    """R-RPC-8, R-RPC-9"""
    assert as_json(decode(model, result), result or {}) == {}


# Requests of the agent


def test_a_permission_request_is_read_with_its_tool_call_and_options() -> None:
    """R-PERM-2, R-PERM-3, R-LEN-4"""
    option = {"optionId": "o", "name": "Do it", "kind": "allow_twice"}
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [option], "_meta": {"k": 1}}
    patch = ToolCallPatch("c")  # type: ignore[arg-type]
    options = (PermissionOption("o", "Do it", "allow_twice"),)
    assert inbound.read_permission_request(params) == (
        "s",
        PermissionAsked(PermissionRequest(inbound.UNPARKED, patch.tool_call_id, options, {"k": 1}), patch),
    )


@pytest.mark.parametrize("options", [None, "x", [{"optionId": "o", "name": "Do it"}], [5]])
def test_a_permission_request_with_a_malformed_option_is_malformed(options: Any) -> None:
    """R-LEN-3"""
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": options}
    with pytest.raises(MalformedMessage):
        inbound.read_permission_request(params)


@pytest.mark.parametrize("extra", [{"args": "ls"}, {"args": [1]}, {"env": [{"name": "A"}]}, {"cwd": 5}])
def test_what_decides_what_is_run_is_not_salvaged(extra: dict[str, Any]) -> None:
    """R-LEN-5"""
    with pytest.raises(MalformedMessage):
        decode(CreateTerminalRequest, {"sessionId": "s", "command": "ls", **extra})


def test_null_is_an_empty_list_of_arguments() -> None:
    """R-LEN-5"""
    params = {"sessionId": "s", "command": "ls", "args": None, "env": None}
    request = decode(CreateTerminalRequest, params)
    assert (request.args, request.env) == ([], [])


def test_an_mcp_server_without_a_known_type_is_one_to_start() -> None:
    """R-MCP-1, R-MCP-2"""
    stdio = {"name": "a", "command": "/a", "args": [], "env": []}
    http = {"type": "http", "name": "b", "url": "https://b", "headers": []}
    raw = {"cwd": "/", "mcpServers": [stdio, http]}
    request = decode(NewSessionRequest, raw)
    assert [type(server) for server in request.mcp_servers] == [McpServerStdio, McpServerHttp]
    assert as_json(request, raw)["mcpServers"] == [stdio, http]


# Elicitation

ELICITATION = reader_of(CreateElicitationRequest)


def test_a_form_is_read_with_the_fields_that_we_know_and_those_that_we_do_not() -> None:
    """R-ELIC-4 to R-ELIC-7"""
    several = {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}
    properties = {
        "name": {"type": "string", "minLength": 1, "default": 5},
        "several": several,
        "place": {"type": "map"},
    }
    form = ELICITATION.validate_python(
        {"mode": "form", "message": "?", "sessionId": "s", "requestedSchema": {"properties": properties}}
    )
    assert isinstance(form, ElicitationFormMode)
    fields = form.requested_schema.properties
    assert isinstance(fields["name"], StringPropertySchema)
    assert (fields["name"].min_length, fields["name"].default) == (1, None)
    assert isinstance(fields["several"].items, TitledMultiSelectItems)  # type: ignore[union-attr]
    assert fields["place"] == {"type": "map"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "voice"},
        {"sessionId": None},
        {"requestedSchema": {"properties": None}},
        {"requestedSchema": {"properties": {"a": {"type": "string", "minLength": -1}}}},
    ],
)
def test_a_form_that_cannot_be_shown_as_meant_is_malformed(wrong: dict[str, Any]) -> None:
    """R-ELIC-2, R-ELIC-4, R-LEN-3"""
    form = {"mode": "form", "message": "?", "sessionId": "s", "requestedSchema": {}}
    ELICITATION.validate_python(form)
    with pytest.raises(ValidationError):
        ELICITATION.validate_python(form | wrong)


def test_a_question_about_a_request_may_name_it_null() -> None:
    """R-ELIC-1"""
    params = {"mode": "url", "message": "?", "requestId": None, "elicitationId": "e", "url": "https://a"}
    assert ELICITATION.validate_python(params).session_id is None
