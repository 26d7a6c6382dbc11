"""Changing a session's options, prompting, canceling, and reading what the agent says about itself."""

from __future__ import annotations

from pathlib import Path

from acp_tui.client.settings.settings import AgentSettings, Settings, TraceContext, WorkspaceSettings
from acp_tui.ui.dialogs.agent_offers import OptionsDialog
from acp_tui.ui.kit.pickers import Picker
from acp_tui.ui.session.status_line import TabState
from support.desks import SESSION
from support.tabs import OpenTabs, TabDesk

MODES = """
modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
models = {
    "currentModelId": "small",
    "availableModels": [{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"}],
}
handshake()
answer(expect("session/new"), sessionId="s1", modes=modes, models=models)
"""
OPTIONS = """
def options(effort, is_fast):
    values = [{"value": value, "name": value.capitalize()} for value in ("low", "high")]
    return [
        {"id": "effort", "name": "Effort", "type": "select", "currentValue": effort, "options": values},
        {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": is_fast},
    ]
handshake()
answer(expect("session/new"), sessionId="s1", configOptions=options("low", False))
"""


# Settings of the session


def _values(desk: TabDesk) -> dict[str, str | bool]:
    return {option.option_id: option.value for option in desk.shown_session.conversation.options}


async def test_the_next_mode_is_asked_for_and_in_force(open_tabs: OpenTabs) -> None:
    """R-MODE-1."""
    script = """
    for _ in range(2):
        answer(expect("session/set_mode"))
    serve_until_closed()
    """
    async with open_tabs(MODES, script) as desk:
        await desk.has_session()
        for mode in ("code", "ask"):
            await desk.do("next_mode")
            await desk.until(lambda mode=mode: _values(desk)["mode"] == mode)
        assert [params["modeId"] for params in desk.sent("session/set_mode")] == ["code", "ask"]


async def test_a_model_is_set_of_an_agent_of_the_old_way(open_tabs: OpenTabs) -> None:
    """R-OLD-1."""
    script = """
    answer(expect("session/set_model"))
    serve_until_closed()
    """
    async with open_tabs(MODES, script) as desk:
        await desk.has_session()
        await desk.do("choose_option", "model")
        await desk.asks(Picker)
        await desk.choose("Large")
        await desk.until(lambda: _values(desk)["model"] == "large")
        assert desk.sent("session/set_model") == [{"sessionId": "s1", "modelId": "large"}]


async def test_an_option_that_has_values_is_set_and_another_turned_on(open_tabs: OpenTabs) -> None:
    """R-CFG-1."""
    script = """
    answer(expect("session/set_config_option"), configOptions=options("high", False))
    answer(expect("session/set_config_option"), configOptions=options("high", True))
    serve_until_closed()
    """
    async with open_tabs(OPTIONS, script) as desk:
        await desk.has_session()
        await desk.do("choose_option")
        await desk.asks(OptionsDialog)
        await desk.answer(("effort", "high"))
        await desk.until(lambda: _values(desk)["effort"] == "high")
        await desk.do("choose_option", "fast")
        await desk.until(lambda: _values(desk)["fast"])
        assert desk.sent("session/set_config_option") == [
            {"sessionId": "s1", "configId": "effort", "value": "high"},
            {"sessionId": "s1", "configId": "fast", "value": True, "type": "boolean"},
        ]


async def test_without_a_choice_the_options_stay_as_they_are(open_tabs: OpenTabs) -> None:
    async with open_tabs(OPTIONS, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.do("choose_option", "effort")
        await desk.asks(Picker)
        await desk.answer(None)
        assert desk.sent("session/set_config_option") == []


# Prompts and what the agent says


async def test_a_prompt_is_answered(open_tabs: OpenTabs) -> None:
    script = """
    prompt = expect("session/prompt")
    say("You said: " + prompt["params"]["prompt"][0]["text"])
    end(prompt)
    serve_until_closed()
    """
    async with open_tabs(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("Good morning")
        await desk.shows("You said: Good morning")
        await desk.has_session()


async def test_canceling_cancels_the_turn(open_tabs: OpenTabs) -> None:
    """R-CANC-1."""
    script = """
    prompt = expect("session/prompt")
    say("thinking")
    expect("session/cancel")
    end(prompt, "cancelled")
    serve_until_closed()
    """
    async with open_tabs(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("thinking")
        await desk.cancel()
        await desk.shows("cancelled")
        assert desk.sent("session/cancel") == [{"sessionId": "s1"}]


async def test_a_prompt_that_wants_a_login_says_so_in_the_conversation(open_tabs: OpenTabs) -> None:
    """R-AUTH-9."""
    script = """
    refuse(expect("session/prompt"), -32000, "your login is over")
    serve_until_closed()
    """
    async with open_tabs(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("your login is over")


async def test_what_needs_an_agent_says_so_before_there_is_one(open_tabs: OpenTabs) -> None:
    answers = {
        "next_mode": "There is no session yet.",
        "show_agent": "There is no agent yet.",
        "begin_session": "There is no agent yet.",
    }
    async with open_tabs('expect("initialize")', "serve_until_closed()") as desk:
        await desk.gets("initialize")
        for command, told in answers.items():
            await desk.do(command)
            assert told in desk.notices[-1].message, command
        assert desk.tab.state is TabState.STARTING


# Effects of the user's settings


async def test_additional_directories_go_to_an_agent_that_takes_them(open_tabs: OpenTabs, tmp_path: Path) -> None:
    """R-DIR-1."""
    script = """
    handshake(agentCapabilities={"sessionCapabilities": {"additionalDirectories": {}}})
    answer(expect("session/new"), sessionId="s1")
    serve_until_closed()
    """
    settings = Settings(workspace=WorkspaceSettings(additional_directories=(tmp_path, tmp_path / "missing")))
    async with open_tabs(script, settings=settings) as desk:
        await desk.has_session()
        [sent] = desk.sent("session/new")
        assert sent["additionalDirectories"] == [str(tmp_path)]
        await desk.shows("There is no directory", "missing, so it is skipped.")


async def test_an_agent_without_additional_directories_gets_none_and_the_user_is_told(
    open_tabs: OpenTabs, tmp_path: Path
) -> None:
    """R-DIR-1."""
    settings = Settings(workspace=WorkspaceSettings(additional_directories=(tmp_path,)))
    async with open_tabs(SESSION, "serve_until_closed()", settings=settings) as desk:
        await desk.shows("doesn't support additional")
        assert "additionalDirectories" not in desk.sent("session/new")[0]


async def test_trace_context_and_what_is_off_reach_the_handshake(open_tabs: OpenTabs) -> None:
    """R-EXT-2, R-INIT-4."""
    trace = TraceContext(traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    settings = Settings(agent=AgentSettings(trace_context=trace), workspace=WorkspaceSettings(terminals="off"))
    async with open_tabs(SESSION, "serve_until_closed()", settings=settings) as desk:
        await desk.has_session()
        [sent] = desk.sent("initialize")
        assert sent["_meta"] == {"traceparent": trace.traceparent}
        assert not sent["clientCapabilities"].get("terminal")


async def test_a_file_outside_is_served_once_the_user_allows_it_on_the_card(
    open_tabs: OpenTabs, tmp_path: Path
) -> None:
    """R-FS-7, R-PERM-4."""
    outside = tmp_path.parent / f"{tmp_path.name}-secret"
    outside.write_text("secret words")
    script = f"""
    prompt = expect("session/prompt")
    send(id=7, method="fs/read_text_file", params={{"sessionId": "s1", "path": {str(outside)!r}}})
    say("got " + read()["result"]["content"])
    answer(prompt, stopReason="end_turn")
    serve_until_closed()
    """
    async with open_tabs(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("(outside the workspace)")
        await desk.decide("Allow once")
        await desk.shows("got secret words")
