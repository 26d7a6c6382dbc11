"""Permission requests over the wire: only the user answers them, each once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_tui.client.sessions.consent import Rules
from acp_tui.client.sessions.diff_checks import MORE_FILES, NOT_COMPARED, Comparison
from acp_tui.client.sessions.session import STILL_COMPARING, Session
from acp_tui.client.workspace.workspace import Workspace
from acp_tui.conversation.entries import ToolCallEntry
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.tool_calls import ToolCall
from support.agents import Counterpart, asked, in_session, in_turn, notification, settle, until

CANCELLED = {"outcome": {"outcome": "cancelled"}}


def outcomes(messages: list[Any]) -> list[tuple[Any, Any]]:
    return [(message["id"], message["result"]["outcome"].get("optionId")) for message in messages]


def waiting(session: Session) -> list[RequestKey]:
    return list(session.conversation.permissions)


async def test_a_request_waits_for_the_user_and_gives_the_chosen_id(tmp_path: Path):
    """R-PERM-2, R-PERM-3, R-PERM-4."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked("q", "opt-yes", "opt-no"))
        assert await wire.receive_all() == []
        [request] = session.conversation.permissions.values()
        [entry] = [entry for entry in session.conversation.entries if isinstance(entry, ToolCallEntry)]
        assert (entry.call.title, entry.decisions) == ("Delete everything", ())

        session.answer_permission(request.key, "opt-no")
        assert [decision.option_name for decision in entry.decisions] == ["opt-no"]
        selected = {"outcome": {"outcome": "selected", "optionId": "opt-no"}}
        assert await wire.receive_all() == [{"jsonrpc": "2.0", "id": "q", "result": selected}]


async def test_a_request_is_answered_once(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked(1, "a", "b"))
        await settle()
        [key] = waiting(session)
        session.answer_permission(key, "a")
        session.answer_permission(key, "b")
        session.cancel()
        answers = await wire.receive_all()
        assert [message.get("id") for message in answers].count(1) == 1


async def test_an_option_that_was_not_offered_answers_nothing(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked(1, "a"))
        await settle()
        session.answer_permission(waiting(session)[0], "invented")
        session.answer_permission(RequestKey(99), "a")
        assert await wire.receive_all() == []
        assert len(waiting(session)) == 1


async def test_several_requests_wait_side_by_side(tmp_path: Path):
    """R-PERM-6."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked(1, "a", call_id="c1"), asked("1", "b", call_id="c2"), asked(2, "c"))
        await settle()
        first, second, third = waiting(session)
        session.answer_permission(third, "c")
        session.answer_permission(first, "a")
        assert outcomes(await wire.receive_all()) == [(2, "c"), (1, "a")]
        session.answer_permission(second, "b")
        assert outcomes(await wire.receive_all()) == [("1", "b")]


async def test_cancel_is_sent_first_and_then_every_waiting_request_is_cancelled(tmp_path: Path):
    """R-CANC-3, R-ORD-4."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked(1, "a"), asked(2, "b"))
        await settle()
        session.cancel()
        first, *answers = await wire.receive_all()
        assert first["method"] == "session/cancel"
        assert [(answer["id"], answer["result"]) for answer in answers] == [(1, CANCELLED), (2, CANCELLED)]
        assert waiting(session) == []


async def test_what_the_cancelled_turn_has_answered_the_agent_cannot_withdraw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """R-CANC-3: even while the rules are still being read."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        monkeypatch.setattr(Rules, "against_call", lambda *_: anyio.sleep_forever())
        await wire.send(asked(1, "a"))
        await settle()
        session.cancel()
        await wire.send(notification("$/cancel_request", {"requestId": 1}))
        _, answer = await wire.receive_all()
        assert (answer["id"], answer["result"]) == (1, CANCELLED)


async def test_a_request_after_the_cancel_is_cancelled_unasked(tmp_path: Path):
    """R-CANC-4."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        session.cancel()
        await wire.send(asked(7, "a"))
        _, answer = await wire.receive_all()
        assert (answer["id"], answer["result"]) == (7, CANCELLED)


async def test_a_request_after_a_cancelled_turn_is_asked_again(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire):
        async with in_turn(session, wire) as prompt:
            session.cancel()
            await wire.expect("session/cancel")
            await wire.answer(prompt, {"stopReason": "cancelled"})
        async with in_turn(session, wire) as prompt:
            await wire.send(asked(7, "a"))
            await settle()
            assert len(waiting(session)) == 1


async def test_the_end_of_the_turn_cancels_what_waits(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire) as prompt:
        await wire.send(asked(1, "a"))
        await wire.answer(prompt, {"stopReason": "end_turn"})
        [answer] = await wire.receive_all()
        assert answer["result"] == CANCELLED
        assert waiting(session) == []


async def test_a_request_without_options_is_cancelled(tmp_path: Path):
    """R-PERM-5."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked(1))
        assert (await wire.receive())["result"] == CANCELLED
        assert waiting(session) == []


async def test_a_withdrawn_request_leaves_the_screen_and_is_answered_once(tmp_path: Path):
    """R-CREQ-2, R-CREQ-4."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked(1, "a"), asked(2, "b"), notification("$/cancel_request", {"requestId": 1}))
        [answer] = await wire.receive_all()
        assert (answer["id"], answer["error"]["code"]) == (1, -32800)
        [key] = waiting(session)
        session.cancel()
        assert [message.get("id") for message in await wire.receive_all()] == [None, 2]
        session.answer_permission(key, "b")
        assert await wire.receive_all() == []


async def test_a_malformed_request_is_refused_and_shown_to_nobody(tmp_path: Path):
    """R-RPC-6, R-LEN-3."""
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        request = asked(1, "a")
        del request["params"]["options"][0]["optionId"]
        await wire.send(request)
        assert (await wire.receive())["error"]["code"] == -32602
        assert waiting(session) == []


async def test_a_request_in_which_two_options_have_one_id_is_refused(tmp_path: Path):
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        await wire.send(asked("q", "a", "a"))
        assert (await wire.receive())["error"]["code"] == -32602
        assert session.conversation.permissions == {}


# What the agent claims about a file


@pytest.mark.parametrize(
    ("on_disk", "old_text", "doubt"),
    [
        ("one\ntwo\n", "one\ntwo\n", ""),
        ("one\r\ntwo\r\nthree\r\n", "two\nthree", ""),
        ("\ufeffone\n", "one\n", ""),
        ("one\ntwo\n", "one\n2\n", "The old text isn't in the file"),
        ("one\n", None, "Replaces text that isn't shown"),
        ("one\n", "", "Replaces text that isn't shown"),
        ("", None, ""),
        (None, None, ""),
        (None, "one\n", "The file to change doesn't exist"),
        ("one\n" * 400_000, "two\n", "Not compared, larger than 1 MiB"),
        ("one\0", "one\0", "Not compared, not text"),
    ],
)
async def test_the_user_is_told_where_a_file_is_not_as_the_agent_shows_it(
    tmp_path: Path, on_disk: str | None, old_text: str | None, doubt: str
) -> None:
    path = tmp_path / "notes.md"
    if on_disk is not None:
        path.write_bytes(on_disk.encode())
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        request = asked("q", "opt-yes")
        request["params"]["toolCall"]["content"] = [
            {"type": "diff", "path": str(path), "oldText": old_text, "newText": "new\n"}
        ]
        looked = _looked(session)
        await wire.send(request)
        await looked.wait()
        await settle()
        [waits] = session.conversation.permissions.values()
        assert waits.note == (f"{doubt}: {path}" if doubt else None)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("outside", "outside the workspace"),
        ("link", "outside the workspace"),
        ("folder", "unreadable"),
        ("fifo", "unreadable"),
    ],
)
async def test_no_file_outside_is_looked_into_and_none_that_would_block(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, place: str, why: str
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text("secret\n")
    path = outside if place == "outside" else tmp_path / "here"
    if place == "link":
        path.symlink_to(outside)
    elif place == "folder":
        path.mkdir()
    elif place == "fifo":
        os.mkfifo(path)
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        request = asked("q", "opt-yes")
        request["params"]["toolCall"]["content"] = [{"type": "diff", "path": str(path), "newText": "new"}]
        looked = _looked(session)
        await wire.send(request)
        await looked.wait()
        await settle()
        [waits] = session.conversation.permissions.values()
        assert waits.note == NOT_COMPARED.format(why=why, path=path)


async def _asked_about(wire: Counterpart, *content: dict[str, Any]) -> None:
    request = asked("q", "opt-yes")
    request["params"]["toolCall"]["content"] = [{"type": "diff", "newText": "new\n", **each} for each in content]
    await wire.send(request)


async def test_reads_that_are_never_collected_keep_no_doubt_off_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent asks for large files and reads no answer, so no further file is read for it."""
    file = tmp_path / "notes.md"
    file.write_text("one\n")
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        monkeypatch.setattr(session.connection, "until_room", anyio.Event().wait)
        for number in range(8):
            params = {"sessionId": "s1", "path": str(file)}
            await wire.send({"jsonrpc": "2.0", "id": number, "method": "fs/read_text_file", "params": params})
        await _asked_about(wire, {"path": str(file), "oldText": "two\n"})
        await until(session, lambda: any(each.note for each in session.conversation.permissions.values()))
        [waits] = session.conversation.permissions.values()
        assert waits.note == f"The old text isn't in the file: {file}"


async def test_what_takes_too_long_to_compare_is_said_on_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_tui.client.sessions.diff_checks.COMPARING_S", 0.5)

    async def wait_forever(*_: Any, **__: Any) -> str:
        return await anyio.Event().wait()  # type: ignore[return-value]

    monkeypatch.setattr(Workspace, "read_text_file", wait_forever)
    notes: list[str | None] = []
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        session.subscribe(lambda _: notes.extend(each.note for each in session.conversation.permissions.values()))
        await _asked_about(wire, {"path": "/one", "oldText": "1"}, {"path": "/two", "oldText": "2"})
        said = "\n".join(NOT_COMPARED.format(why="too slow to read", path=path) for path in ("/one", "/two"))
        await until(session, lambda: notes[-1:] == [said])
    assert [*dict.fromkeys(notes)] == [None, STILL_COMPARING, said]


async def test_files_beyond_the_first_sixteen_are_said_to_be_not_compared(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(18)]
    for file in files:
        file.write_text("one\n")
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        # A second diff of the same file takes no place of another's.
        await _asked_about(wire, *({"path": str(file), "oldText": "one\n"} for file in (files[0], *files)))
        said = MORE_FILES.format(more=2)
        await until(session, lambda: said in [each.note for each in session.conversation.permissions.values()])


async def test_the_card_follows_a_file_that_somebody_makes_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        looked = _looked(session)
        await _asked_about(wire, {"path": str(path)})
        await looked.wait()
        await settle()
        [waits] = session.conversation.permissions.values()
        assert waits.note is None
        path.write_text("one\n")
        doubt = f"Replaces text that isn't shown: {path}"
        await until(session, lambda: [each.note for each in session.conversation.permissions.values()] == [doubt])
        path.unlink()
        await until(session, lambda: [each.note for each in session.conversation.permissions.values()] == [None])


async def test_the_card_follows_what_the_agent_shows(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("one\n")
    async with in_session(tmp_path) as (session, wire), in_turn(session, wire):
        looked = _looked(session)
        await _asked_about(wire, {"path": str(path), "oldText": "one\n"})
        await looked.wait()
        [waits] = session.conversation.permissions.values()
        diff = {"type": "diff", "path": str(path), "oldText": "two\n", "newText": "new\n"}
        update = {"sessionUpdate": "tool_call_update", "toolCallId": waits.tool_call_id, "content": [diff]}
        await wire.send(notification("session/update", {"sessionId": "s1", "update": update}))
        doubt = f"The old text isn't in the file: {path}"
        await until(session, lambda: [each.note for each in session.conversation.permissions.values()] == [doubt])


def _looked(session: Session) -> anyio.Event:
    """Set when the session has checked a request."""
    done, look = anyio.Event(), session.client_tools.compare

    async def looking(call: ToolCall) -> Comparison:
        comparison = await look(call)
        done.set()
        return comparison

    session.client_tools.compare = looking  # type: ignore[method-assign]
    return done
