"""Changing a session's options, prompting, canceling, and reading what the agent says about itself."""

from __future__ import annotations

from pathlib import Path

from acp_tui.client.settings.settings import AgentSettings, Appearance, Settings, TraceContext, WorkspaceSettings
from support.desks import SESSION, Desk, OpenDesk

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


def _values(desk: Desk) -> dict[str, str | bool]:
    return {option.option_id: option.value for option in desk.shown_session.conversation.options}


async def test_shift_tab_asks_for_the_next_mode_and_the_status_line_shows_it(open_desk: OpenDesk) -> None:
    """R-MODE-1."""
    script = """
    for _ in range(2):
        answer(expect("session/set_mode"))
    serve_until_closed()
    """
    async with open_desk(MODES, script) as desk:
        await desk.until(lambda: "Ask" in desk.status)
        await desk.press("shift+tab")
        await desk.until(lambda: "Code" in desk.status)
        await desk.press("shift+tab")
        await desk.until(lambda: "Ask" in desk.status)
        assert [params["modeId"] for params in desk.sent("session/set_mode")] == ["code", "ask"]


async def test_f2_sets_the_model_of_an_agent_of_the_old_way(open_desk: OpenDesk) -> None:
    """R-OLD-1."""
    script = """
    answer(expect("session/set_model"))
    serve_until_closed()
    """
    async with open_desk(MODES, script) as desk:
        await desk.until(lambda: "Small" in desk.status)
        await desk.press("f2", "down", "enter")
        await desk.shows("Large")
        await desk.press("down", "enter")
        await desk.until(lambda: "Large" in desk.status)
        assert desk.sent("session/set_model") == [{"sessionId": "s1", "modelId": "large"}]


async def test_f2_sets_an_option_that_has_values_and_turns_another_on(open_desk: OpenDesk) -> None:
    """R-CFG-1."""
    script = """
    answer(expect("session/set_config_option"), configOptions=options("high", False))
    answer(expect("session/set_config_option"), configOptions=options("high", True))
    serve_until_closed()
    """
    async with open_desk(OPTIONS, script) as desk:
        await desk.has_session()
        await desk.press("f2")
        await desk.shows("Effort: Low", "Fast: off")
        await desk.press("enter", "down", "enter")
        await desk.until(lambda: _values(desk)["effort"] == "high")
        await desk.press("f2")
        await desk.shows("Effort: High")
        await desk.press("down", "enter")
        await desk.until(lambda: _values(desk)["fast"])
        await desk.press("f2")
        await desk.shows("Fast: on")
        assert desk.sent("session/set_config_option") == [
            {"sessionId": "s1", "configId": "effort", "value": "high"},
            {"sessionId": "s1", "configId": "fast", "value": True, "type": "boolean"},
        ]


async def test_esc_leaves_the_settings_as_they_are(open_desk: OpenDesk) -> None:
    async with open_desk(OPTIONS, "serve_until_closed()") as desk:
        await desk.has_session()
        await desk.press("f2", "enter")
        await desk.shows("High")
        await desk.press("escape", "escape")
        await desk.hides("Options of the session")
        assert desk.sent("session/set_config_option") == []


# Prompts and what the agent says


async def test_a_prompt_is_answered(open_desk: OpenDesk) -> None:
    script = """
    prompt = expect("session/prompt")
    say("You said: " + prompt["params"]["prompt"][0]["text"])
    end(prompt)
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("Good morning")
        await desk.shows("You said: Good morning")
        await desk.has_session()


async def test_esc_cancels_the_turn(open_desk: OpenDesk) -> None:
    """R-CANC-1."""
    script = """
    prompt = expect("session/prompt")
    say("thinking")
    expect("session/cancel")
    end(prompt, "cancelled")
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("thinking")
        await desk.press("escape")
        await desk.shows("■ canceled")
        assert desk.sent("session/cancel") == [{"sessionId": "s1"}]


async def test_a_prompt_that_wants_a_login_says_so_in_the_conversation(open_desk: OpenDesk) -> None:
    """R-AUTH-9."""
    script = """
    refuse(expect("session/prompt"), -32000, "your login is over")
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("✗", "your login is over")


async def test_a_notice_of_the_agent_is_shown(open_desk: OpenDesk) -> None:
    script = """
    update("notice", severity="warning", title="Quota", description="Ten requests are left")
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.shows("Quota", "Ten requests are left")
        [params] = desk.sent("initialize")
        assert "notices" in params["clientCapabilities"]["session"]


# The agent itself


async def test_f4_tells_what_an_agent_waits_for_that_asks_in_its_own_interface(open_desk: OpenDesk) -> None:
    """Kilo Code 7.4 does with its tool `question`."""
    script = """
    prompt = expect("session/prompt")
    update("tool_call", toolCallId="q", title="question", status="in_progress", rawInput={"questions": [
        {"question": "Which database?", "options": []}
    ]})
    serve_until_closed()
    """
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("◐ • question")
        await desk.press("f4")
        await desk.shows("Turn 0:00 · question")
        await desk.press("escape")
        desk.clock.now_s += 40
        await desk.press("f4")
        await desk.shows("silent for 0:40", "acp-tui got no request", "Asks Which database?", "Esc cancels the turn")


async def test_f4_tells_what_the_agent_offers_and_what_it_lacks(open_desk: OpenDesk) -> None:
    script = """
    sys.stderr.write("reading the project\\n")
    sys.stderr.flush()
    handshake(
        agentInfo={"name": "scout", "title": "Scout", "version": "3.1"},
        agentCapabilities={"loadSession": True, "_meta": {"scout.dev/speed": {"warp": 9}}},
        authMethods=[{"id": "tty", "name": "In here", "type": "terminal"}],
    )
    answer(expect("session/new"), sessionId="s1")
    serve_until_closed()
    """
    async with open_desk(script) as desk:
        await desk.has_session()
        await desk.press("f4")
        await desk.shows("scout 3.1", "ACP v1", "✓ load a session", "✗ list sessions")
        await desk.press("ctrl+end", "end")
        await desk.shows("In here (in a terminal)", "scout.dev/speed", "reading the project")
        await desk.press("escape")
        await desk.hides("scout 3.1")


async def test_f4_asks_who_is_logged_in_and_follows_it(open_desk: OpenDesk) -> None:
    script = """
    handshake(agentCapabilities={"auth": {"status": {}}})
    answer(expect("session/new"), sessionId="s1")
    accounts = [{"label": "Key", "name": "[b]Ann[/b] \x1b[2J" + "n" * 5000, "active": True}]
    answer(expect("auth/status"), state="authenticated", accounts=accounts)
    expect("_go_on")
    send(method="auth/status_update", params={"state": "unauthenticated"})
    refuse(expect("auth/status"), -32603, "no")
    serve_until_closed()
    """
    async with open_desk(script) as desk:
        await desk.has_session()
        assert not desk.sent("auth/status"), "it is asked where it is shown"
        await desk.press("f4")
        await desk.shows("Logged in yes: Key ([b]Ann[/b]", "␛[2Jnnn", "n…) in use")
        desk.let_go_on()
        await desk.shows("Logged in no")
        await desk.press("escape", "f4")
        await desk.gets("auth/status", 2)
        await desk.shows("Logged in no")
        assert not desk.notices


async def test_what_needs_an_agent_says_so_before_there_is_one(open_desk: OpenDesk) -> None:
    answers = {
        "shift+tab": "There is no session yet.",
        "f4": "There is no agent yet.",
        "ctrl+n": "There is no agent yet.",
    }
    async with open_desk('expect("initialize")', "serve_until_closed()") as desk:
        await desk.gets("initialize")
        for key, told in answers.items():
            await desk.press(key)
            assert told in desk.notices[-1].message, key
        assert desk.status.startswith("○ ")


# Effects of the user's settings


async def test_additional_directories_go_to_an_agent_that_takes_them(open_desk: OpenDesk, tmp_path: Path) -> None:
    """R-DIR-1."""
    script = """
    handshake(agentCapabilities={"sessionCapabilities": {"additionalDirectories": {}}})
    answer(expect("session/new"), sessionId="s1")
    serve_until_closed()
    """
    settings = Settings(workspace=WorkspaceSettings(additional_directories=(tmp_path, tmp_path / "missing")))
    async with open_desk(script, settings=settings) as desk:
        await desk.has_session()
        [sent] = desk.sent("session/new")
        assert sent["additionalDirectories"] == [str(tmp_path)]
        await desk.shows("There is no directory", "missing, so it is skipped.")


async def test_an_agent_without_additional_directories_gets_none_and_the_user_is_told(
    open_desk: OpenDesk, tmp_path: Path
) -> None:
    """R-DIR-1."""
    settings = Settings(workspace=WorkspaceSettings(additional_directories=(tmp_path,)))
    async with open_desk(SESSION, "serve_until_closed()", settings=settings) as desk:
        await desk.shows("doesn't support additional")
        assert "additionalDirectories" not in desk.sent("session/new")[0]


async def test_trace_context_and_what_is_off_reach_the_handshake(open_desk: OpenDesk) -> None:
    """R-EXT-2, R-INIT-4."""
    trace = TraceContext(traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    settings = Settings(agent=AgentSettings(trace_context=trace), workspace=WorkspaceSettings(terminals="off"))
    async with open_desk(SESSION, "serve_until_closed()", settings=settings) as desk:
        await desk.has_session()
        [sent] = desk.sent("initialize")
        assert sent["_meta"] == {"traceparent": trace.traceparent}
        assert not sent["clientCapabilities"].get("terminal")


async def test_a_theme_that_does_not_exist_is_said_and_the_usual_one_taken(open_desk: OpenDesk) -> None:
    settings = Settings(appearance=Appearance("acp-drak"))
    async with open_desk(SESSION, "serve_until_closed()", settings=settings) as desk:
        await desk.shows("appearance.theme: there is no theme 'acp-drak'")
        assert desk.pilot.app.theme == "acp-dark"


async def test_a_file_outside_is_served_once_the_user_allows_it_on_the_card(
    open_desk: OpenDesk, tmp_path: Path
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
    async with open_desk(SESSION, script) as desk:
        await desk.has_session()
        await desk.send("go")
        await desk.shows("(outside the workspace)", "Allow once")
        await desk.enter_card()
        await desk.press("1")
        await desk.shows("got secret words")
