"""A host's questions appear in every terminal, and are answered once, by a user, never by the host."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from acp_tui.client.hosting import extension_methods
from acp_tui.client.hosting import host as host_module
from acp_tui.client.hosting.host import WHY_AGAIN
from acp_tui.client.sessions.consent import ALLOW, IN_SESSION, NEVER, REFUSE
from acp_tui.client.sessions.session import Session
from acp_tui.conversation import UNSET
from acp_tui.conversation.elicitation import Form
from acp_tui.conversation.entries import Question, ToolCallEntry
from acp_tui.conversation.facts import PermissionOption, PermissionRequest, RequestKey
from acp_tui.conversation.tool_calls import ToolCallId, ToolCallPatch
from acp_tui.conversation.updates import ElicitationAsked, PermissionAsked, PermissionNoted
from support.agents import asked, notification, request, settle, until
from support.hosts import Link, hosted

pytestmark = pytest.mark.anyio


def key_of(session: Session) -> int:
    """The key of the only waiting question."""
    (key,) = [*session.conversation.permissions, *session.conversation.elicitations]
    return key


def update(fields: dict[str, object]) -> dict[str, object]:
    return notification("session/update", {"sessionId": "s1", "update": fields})


def waits(session: Session) -> bool:
    return bool(session.conversation.permissions or session.conversation.elicitations)


def calls(session: Session) -> list[ToolCallEntry]:
    return [entry for entry in session.conversation.entries if isinstance(entry, ToolCallEntry)]


def decisions(session: Session) -> list[str | None]:
    return [decision.option_name for call in calls(session) for decision in call.decisions]


def withdrawn(call: ToolCallEntry) -> list[bool]:
    return [decision.is_withdrawn for decision in call.decisions]


async def test_a_permission_answered_in_one_terminal_is_answered_in_all_and_counts_once(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as its:
        one, other = await its.attach("one"), await its.attach("other")
        await its.wire.send(asked("p", "yes", "no"))
        for client in (one, other):
            await until(client, lambda client=client: waits(client))  # type: ignore[misc]
        one.answer_permission(key_of(one), "yes")  # type: ignore[arg-type]
        other.answer_permission(key_of(other), "no")  # type: ignore[arg-type]
        answer = await its.wire.receive()
        assert answer["result"]["outcome"] == {"outcome": "selected", "optionId": "yes"}
        await settle()
        assert await its.wire.receive_all() == []
        assert not waits(one)
        assert not waits(other)


async def test_the_other_terminals_say_what_was_answered(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        one, other = await its.attach("one"), await its.attach("other")
        await its.wire.send(asked("p", "yes", "no"))
        for client in (one, other):
            await until(client, lambda client=client: waits(client))  # type: ignore[misc]
        one.answer_permission(key_of(one), "no")  # type: ignore[arg-type]
        await until(other, lambda: not waits(other))
        assert decisions(other) == decisions(one) == decisions(its.session) == ["no"]


async def test_a_call_that_is_asked_about_while_a_terminal_attaches_stays_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "UPDATES_PER_SLICE", 1)
    async with hosted(tmp_path) as its:
        for number in range(100):
            await its.wire.send(update({"sessionUpdate": "tool_call", "toolCallId": str(number), "title": "Look"}))
        attached = list[Session]()

        async def attach() -> None:
            attached.append(await its.attach("late"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attach)
            while not its.host.clients or not its.host.clients[0].has_open(its.session.session_id):
                await anyio.sleep(0)  # a turn of the loop
            await its.wire.send(asked("p", "yes"))
            await its.wire.send(update({"sessionUpdate": "tool_call", "toolCallId": "last", "title": "Last"}))
        (late,) = attached
        await until(late, lambda: waits(late))
        assert [call.call.title for call in calls(late)] == [call.call.title for call in calls(its.session)]


async def test_a_question_that_the_agent_withdrew_is_told_so_once_in_all_terminals(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        one = await its.attach("one")
        await its.wire.send(asked("p", "yes", "no"))
        await until(one, lambda: waits(one))
        await its.wire.send(notification("$/cancel_request", {"requestId": "p"}))
        await until(one, lambda: not waits(one))
        late = await its.attach("late")
        told = [[*map(withdrawn, calls(session))] for session in (its.session, one, late)]
        assert told == [[[True]]] * 3


async def test_a_foreign_client_is_told_by_a_cancelled_request(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, its.played() as client:
        await client.send(request(1, "session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
        await client.receive()
        await its.wire.send(asked("p", "yes"))
        await client.receive()  # the tool call
        question = await client.expect("session/request_permission")
        its.session.answer_permission(key_of(its.session), "yes")  # type: ignore[arg-type]
        withdrawn = await client.expect("$/cancel_request")
        assert withdrawn["params"] == {"requestId": question["id"]}


async def test_an_answer_to_what_a_call_was_before_it_changed_counts_for_nothing(tmp_path: Path) -> None:
    """A client far away, or behind on updates, still shows what was asked first."""
    async with hosted(tmp_path) as its, its.played() as client:
        await client.send(request(1, "session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
        await client.receive()
        await its.wire.send(asked("p", "yes"))
        await client.receive()  # the tool call
        first = await client.expect("session/request_permission")
        call_id = first["params"]["toolCall"]["toolCallId"]
        same = {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "in_progress"}
        await its.wire.send(update(same), update({**same, "rawInput": {"command": "rm -rf ~"}}))
        for _ in range(2):
            await client.expect("session/update")
        withdrawn = await client.expect("$/cancel_request")
        assert withdrawn["params"] == {"requestId": first["id"]}
        again = await client.expect("session/request_permission")
        assert again["params"]["toolCall"]["rawInput"] == {"command": "rm -rf ~"}
        yes = {"outcome": {"outcome": "selected", "optionId": "yes"}}
        await client.send({"jsonrpc": "2.0", "id": first["id"], "result": yes})
        await settle()
        assert waits(its.session)
        assert await its.wire.receive_all() == []
        await client.send({"jsonrpc": "2.0", "id": again["id"], "result": yes})
        answer = await its.wire.receive()
        assert answer["result"] == yes


async def test_a_call_that_changes_is_asked_about_anew_in_a_terminal_and_can_be_answered(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as its:
        one = await its.attach("one")
        await its.wire.send(asked("p", "yes"))
        await until(one, lambda: waits(one))
        before = key_of(one)
        call_id = one.conversation.permissions[before].tool_call_id  # type: ignore[index]
        changed = {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "rawInput": {"command": "ls"}}
        await its.wire.send(update(changed))
        await until(one, lambda: [key for key in one.conversation.permissions if key != before] != [])
        await until(one, lambda: before not in one.conversation.permissions)
        assert one.conversation.tool_call(call_id).call.raw_input == {"command": "ls"}
        assert decisions(one) == []
        one.answer_permission(key_of(one), "yes")  # type: ignore[arg-type]
        answer = await its.wire.receive()
        assert answer["result"]["outcome"]["optionId"] == "yes"
        await until(one, lambda: not waits(one))


@pytest.mark.parametrize("held", [("to_client",), ("to_host",), ("to_host", "to_client")])
async def test_an_answer_never_reaches_a_call_that_changed_while_it_was_on_its_way(
    tmp_path: Path, held: tuple[str, ...]
) -> None:
    """The terminal is late: its user answers what it shows, and the host already has something else."""
    link = Link()
    async with hosted(tmp_path) as its:
        late = await its.attach("late", link)
        await its.wire.send(asked("p", "yes"))
        await until(late, lambda: waits(late))
        call = late.conversation.tool_call(ToolCallId("call")).call
        link.hold(*held)
        harm = {"command": "rm -rf ~"}
        if "to_client" not in held:  # it answers before it gets the change, which arrives first at the host
            late.answer_permission(key_of(late), "yes")  # type: ignore[arg-type]
        await its.wire.send(update({"sessionUpdate": "tool_call_update", "toolCallId": "call", "rawInput": harm}))
        await settle()
        if "to_client" in held:
            assert call.raw_input is UNSET
            late.answer_permission(key_of(late), "yes")  # type: ignore[arg-type]
        await settle()
        assert await its.wire.receive_all() == []
        link.open()
        assert await its.wire.receive_all() == []
        assert waits(its.session)
        await until(late, lambda: waits(late) and WHY_AGAIN in _note(late))
        assert call.raw_input == harm
        late.answer_permission(key_of(late), "yes")  # type: ignore[arg-type]
        assert (await its.wire.receive())["result"]["outcome"]["optionId"] == "yes"
        await until(late, lambda: not waits(late))


async def test_a_warning_that_comes_late_is_shown_before_an_answer_counts(tmp_path: Path) -> None:
    link = Link()
    async with hosted(tmp_path) as its:
        late = await its.attach("late", link)
        await its.wire.send(asked("p", "yes"))
        await until(late, lambda: waits(late))
        link.hold("to_client")
        its.session.apply(PermissionNoted(RequestKey(key_of(its.session)), "This writes another file"))
        late.answer_permission(key_of(late), "yes")  # type: ignore[arg-type]
        await settle()
        assert await its.wire.receive_all() == []
        link.open()
        await until(late, lambda: waits(late) and WHY_AGAIN in _note(late))
        assert _note(late).startswith("This writes another file")
        late.answer_permission(key_of(late), "yes")  # type: ignore[arg-type]
        assert (await its.wire.receive())["result"]["outcome"]["optionId"] == "yes"


async def test_a_client_that_dismissed_a_question_is_asked_again_when_it_changes(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, its.played() as client:
        await client.send(request(1, "session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
        await client.receive()
        await its.wire.send(asked("p", "yes"))
        await client.receive()  # the tool call
        question = await client.expect("session/request_permission")
        await client.answer(question, {"outcome": {"outcome": "cancelled"}})
        await settle()
        await its.wire.send(update({"sessionUpdate": "tool_call_update", "toolCallId": "call", "title": "Other"}))
        await client.expect("session/update")
        again = await client.expect("session/request_permission")
        assert again["params"]["toolCall"]["title"] == "Other"


async def test_a_permission_waits_for_the_next_client_to_attach(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its:
        await its.wire.send(asked("p", "yes", "no"))
        await until(its.session, lambda: waits(its.session))
        leaving = await its.connect("leaving")
        seen = await leaving.load_session(its.session.session_id, tmp_path)
        await until(seen, lambda: waits(seen))
        await leaving.stop()
        await settle()
        assert await its.wire.receive_all() == []
        client = await its.attach("client")
        await until(client, lambda: waits(client))
        client.answer_permission(key_of(client), "no")  # type: ignore[arg-type]
        assert (await its.wire.receive())["result"]["outcome"]["optionId"] == "no"


async def test_a_client_that_answers_with_cancelled_has_decided_nothing(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, its.played() as client:
        await client.send(request(1, "session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
        await client.receive()
        await its.wire.send(asked("p", "yes"))
        await client.receive()
        question = await client.expect("session/request_permission")
        await client.answer(question, {"outcome": {"outcome": "cancelled"}})
        await settle()
        assert await its.wire.receive_all() == []
        assert waits(its.session)


async def test_a_file_outside_of_the_workspace_is_asked_about_in_the_terminals(tmp_path: Path) -> None:
    outside, inside = tmp_path / "secret.txt", tmp_path / "work"
    outside.write_text("hush")
    inside.mkdir()
    async with hosted(inside) as its:
        client = await its.attach()
        read = {"sessionId": "s1", "path": str(outside)}
        await its.wire.send(request("r", "fs/read_text_file", read))
        await until(client, lambda: waits(client) and bool(_note(client)))
        assert "outside the workspace" in _note(client)
        client.answer_permission(key_of(client), "allow")  # type: ignore[arg-type]
        assert (await its.wire.receive())["result"] == {"content": "hush"}


def _note(session: Session) -> str:
    return next(iter(session.conversation.permissions.values())).note or ""


async def test_a_form_is_filled_in_once_and_told_in_all_terminals(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "title": "Name"}},
        "required": ["name"],
    }
    form = {"sessionId": "s1", "mode": "form", "message": "Who?", "requestedSchema": schema}
    async with hosted(tmp_path) as its:
        one, other = await its.attach("one"), await its.attach("other")
        await its.wire.send(request("f", "elicitation/create", form))
        for client in (one, other):
            await until(client, lambda client=client: waits(client))  # type: ignore[misc]
        shown = next(iter(one.conversation.elicitations.values()))
        assert isinstance(shown, Form)
        assert [(field.name, field.is_required) for field in shown.fields] == [("name", True)]
        one.questions.answer(key_of(one), "accept", {"name": "Ada"})  # type: ignore[arg-type]
        assert (await its.wire.receive())["result"] == {"action": "accept", "content": {"name": "Ada"}}
        await until(other, lambda: not waits(other))
        assert [type(entry) for entry in other.conversation.entries] == [Question]


async def test_a_cancelled_turn_takes_its_questions_back_everywhere(tmp_path: Path) -> None:
    async with hosted(tmp_path) as its, anyio.create_task_group() as tasks:
        one, other = await its.attach("one"), await its.attach("other")
        tasks.start_soon(one.send_prompt, ())
        prompt = await its.wire.expect("session/prompt")
        await its.wire.send(asked("p", "yes"))
        await until(other, lambda: waits(other))
        other.cancel()
        await its.wire.expect("session/cancel")
        assert (await its.wire.receive())["result"]["outcome"] == {"outcome": "cancelled"}
        await its.wire.answer(prompt, {"stopReason": "cancelled"})
        await until(one, lambda: one.conversation.is_idle)
        assert not waits(one)


async def test_a_question_without_a_turn_is_canceled_for_every_terminal(tmp_path: Path) -> None:
    """In the terminal that cancels, too: dismissed only there, it would wait unseen."""
    async with hosted(tmp_path) as its:
        one, other = await its.attach("one"), await its.attach("other")
        await its.wire.send(asked("p", "yes"))
        for client in (one, other):
            await until(client, lambda client=client: waits(client))  # type: ignore[misc]
        other.cancel()
        assert (await its.wire.receive())["result"]["outcome"] == {"outcome": "cancelled"}
        for client in (one, other):
            await until(client, lambda client=client: not waits(client))  # type: ignore[misc]
        assert not waits(its.session)


async def test_an_update_of_a_host_asks_nothing_that_nobody_would_get_the_answer_to(tmp_path: Path) -> None:
    """Otherwise a server that only resembles a host could leave a card there forever."""
    forged = [
        PermissionAsked(PermissionRequest(RequestKey(5), ToolCallId("c"), ()), ToolCallPatch(ToolCallId("c"))),
        ElicitationAsked(Form(RequestKey(6), "Your password?", ())),
    ]
    async with hosted(tmp_path) as its:
        one = await its.attach("one")
        (client,) = its.host.clients
        for each in forged:
            client.notify(extension_methods.UPDATE, extension_methods.write_update(its.session.session_id, each))
        await settle()
        assert not waits(one)


@pytest.mark.parametrize("option", [ALLOW, IN_SESSION, REFUSE, NEVER])
async def test_what_an_agent_does_unasked_waits_for_a_client_and_is_what_that_says(
    tmp_path: Path, option: PermissionOption
) -> None:
    async with hosted(tmp_path) as its:
        for number, name in enumerate(("first", "second")):
            write = {"sessionId": "s1", "path": str(tmp_path / name), "content": "unasked"}
            await its.wire.send(request(number, "fs/write_text_file", write))
            is_asked = name == "first" or option in (ALLOW, REFUSE)
            if is_asked:
                await until(its.session, lambda: waits(its.session))
                await settle()
                assert await its.wire.receive_all() == []
                assert not (tmp_path / name).exists()
                client = await its.attach(name)
                await until(client, lambda client=client: waits(client))  # type: ignore[misc]
                [waiting] = client.conversation.permissions.values()
                assert "didn't ask for permission" in (waiting.note or "")
                client.answer_permission(waiting.key, option.option_id)
            response = await its.wire.receive()
            assert ("result" in response) == (not option.is_rejection)
            assert (tmp_path / name).exists() == (not option.is_rejection)
