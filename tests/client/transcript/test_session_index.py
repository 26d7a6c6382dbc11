"""Sessions are found across all recordings. The index may be lost, and is never wrong for long."""

from __future__ import annotations

import json
import re
import sqlite3
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from acp_tui.client.errors import ClientError
from acp_tui.client.sessions.session_history import line_with
from acp_tui.client.transcript import lines
from acp_tui.client.transcript.events import Closed, Event, Frame, Header, OwnAction, Stderr
from acp_tui.client.transcript.index import (
    IndexFailed,
    RecordedSession,
    SessionIndex,
)
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.recording_plan import RecordingPlan
from acp_tui.client.transcript.replay import replayed
from acp_tui.client.transcript.store import RecordingStore, create, held
from acp_tui.conversation.entries import Message
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.updates import Reconnected, Renamed
from acp_tui.rpc import Direction
from support.recordings import play, write

IN, OUT = Direction.IN, Direction.OUT


@pytest.fixture
def store(tmp_path: Path) -> RecordingStore:
    return RecordingStore(tmp_path / "recordings")


@pytest.fixture
def index(store: RecordingStore) -> SessionIndex:
    return SessionIndex(store)


def frame(direction: Direction, **message: Any) -> Frame:
    return Frame(1.0, direction, json.dumps({"jsonrpc": "2.0", **message}).encode())


def opened(session_id: str, cwd: str = "/p", method: str = "session/new", number: int = 1) -> list[Event]:
    params = {"cwd": cwd, "mcpServers": []} | ({} if method == "session/new" else {"sessionId": session_id})
    result = {"sessionId": session_id} if method == "session/new" else {}
    return [frame(OUT, id=number, method=method, params=params), frame(IN, id=number, result=result)]


def turn(session_id: str, prompt: str, reply: str = "ok", number: int = 9) -> list[Event]:
    params = {"sessionId": session_id, "prompt": [{"type": "text", "text": prompt}]}
    return [
        frame(OUT, id=number, method="session/prompt", params=params),
        update(session_id, "agent_message_chunk", content={"type": "text", "text": reply}),
        frame(IN, id=number, result={"stopReason": "end_turn"}),
    ]


def update(session_id: str, kind: str, **fields: Any) -> Frame:
    params = {"sessionId": session_id, "update": {"sessionUpdate": kind, **fields}}
    return frame(IN, method="session/update", params=params)


def keep(store: RecordingStore, day: int, *events: Event, agent: str = "agent", command: str = "") -> Path:
    """A recording from that day. The agent's command is its name, unless it's given."""
    path = store.path_of(f"202611{day:02}T120000.000000Z-{agent}-abc.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, events, Header(agent, (command or agent, "--acp"), started_at=f"2026-11-{day:02}T12:00:00+00:00"))
    return path


def names(sessions: list[RecordedSession]) -> list[str]:
    return [session.title for session in sessions]


def test_sessions_are_listed_newest_first_with_what_a_list_shows(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("a"), *turn("a", "\n  Mend the parser\nplease"), *turn("a", "again", number=10))
    path = keep(store, 2, *opened("b", "/q"), *turn("b", "x"), update("b", "session_info_update", title="Named"))
    newest, oldest = index.recent()
    assert (oldest.title, oldest.prompts, oldest.cwd) == ("Mend the parser", 2, Path("/p"))
    assert (newest.title, newest.recordings, newest.command) == ("Named", (path,), ("agent", "--acp"))
    assert newest.first_at <= newest.last_at
    assert names(index.recent(cwd=Path("/p"))) == ["Mend the parser"]


@pytest.mark.parametrize(
    ("command", "sessions"),
    [("claude-agent-acp", ["one"]), ("other-agent", ["two", "one"]), ("--token=***", ["two", "one"])],
)
def test_a_session_continued_under_another_name_of_the_same_command_is_one(
    command: str, sessions: list[str], store: RecordingStore, index: SessionIndex
) -> None:
    first = "claude-agent-acp" if "***" not in command else command
    keep(store, 1, *opened("a"), *turn("a", "one"), agent="claude", command=first)
    keep(store, 2, *opened("a", method="session/load"), *turn("a", "two"), agent="claude-agent-acp", command=command)
    keep(store, 3, *opened("b"), *turn("b", "another's"), agent="other")
    another, *found = index.recent()
    assert names(found) == sessions
    assert another.agents == ("other",)
    assert {name for one in found for name in one.agents} == {"claude", "claude-agent-acp"}


@pytest.mark.parametrize(
    ("info", "title"),
    [
        ({"agentInfo": {"name": "codex-acp", "title": "Codex"}}, "Codex"),
        ({"info": {"name": "codex-acp", "title": " "}}, "codex-acp"),
        ({"agentInfo": {"name": 3, "title": "x" * 50}}, "x" * 39 + "…"),
        ({}, ""),
    ],
)
def test_a_session_keeps_what_its_agent_says_it_is(
    info: dict[str, Any], title: str, store: RecordingStore, index: SessionIndex
) -> None:
    keep(store, 1, frame(IN, id=0, result={"protocolVersion": 1, **info}), *opened("a"), *turn("a", "x"))
    assert [one.agent_title for one in index.recent()] == [title]


def test_thousands_of_sessions_are_all_listed_and_found(store: RecordingStore, index: SessionIndex) -> None:
    said = [(*opened(f"s{number}", number=number), *turn(f"s{number}", f"about {number}")) for number in range(1_200)]
    keep(store, 1, *chain.from_iterable(said))
    assert len(index.recent()) == len(index.search("about")) == 1_200
    assert names(index.search("about 1199")) == ["about 1199"]


def test_each_line_is_parsed_once_and_those_without_words_never(
    store: RecordingStore, index: SessionIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = {"toolCallId": "c", "title": "agent_message_chunk", "rawInput": {"a": "b"}}
    thought = {"type": "text", "text": "x"}
    work = [update("a", "tool_call_update", **report), update("a", "agent_thought_chunk", content=thought)]
    said = [*opened("a"), *turn("a", "one", "two")]
    keep(store, 1, *said, *(100 * work), Stderr(0, b"x"))
    parsed: list[bytes] = []
    from_json = lines.from_json

    def counted(data: bytes, **options: Any) -> Any:
        parsed.append(data)
        return from_json(data, **options)

    monkeypatch.setattr(lines, "from_json", counted)
    assert names(index.search("two")) == ["one"]
    assert len(parsed) == len(set(parsed)) == len(said)


def test_an_empty_session_is_not_listed(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("a"))
    assert index.recent() == []


def test_a_session_that_was_loaded_again_is_one_with_both_recordings(
    store: RecordingStore, index: SessionIndex
) -> None:
    first = keep(store, 1, *opened("a"), *turn("a", "one"))
    second = keep(store, 2, *opened("a", method="session/load"), *turn("a", "two"))
    [session] = index.recent()
    assert (session.title, session.prompts, session.recordings) == ("one", 2, (first, second))


def test_an_id_that_is_given_again_to_a_new_session_is_another_one(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("demo-1"), *turn("demo-1", "one"))
    keep(store, 2, *opened("demo-1"), *turn("demo-1", "two"))
    assert names(index.recent()) == ["two", "one"]
    found = index.find("demo-1")
    assert found is not None
    assert found.title == "two"


def test_words_are_found_in_titles_prompts_and_replies(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("a"), *turn("a", "Grüße parsen", "Die Datei ÄNDERN wir"))
    keep(store, 2, *opened("b"), *turn("b", "Draw a tree", "a parser of trees"))
    keep(store, 3, *opened("c"), *turn("c", "日本語の質問"))
    assert names(index.search("ändern grüsse")) == ["Grüße parsen"]
    assert names(index.search("tree")) == ["Draw a tree"]
    assert names(index.search("pars")) == ["Grüße parsen", "Draw a tree"]  # in the title first
    assert names(index.search("日本")) == ["日本語の質問"]
    assert names(index.search("drtr")) == ["Draw a tree"]  # its letters in this order
    assert names(index.search("tree", cwd=Path("/elsewhere"))) == []
    assert names(index.search("'\" OR *")) == []
    assert len(index.search("  ")) == 3


def test_a_session_is_found_by_the_beginning_of_its_id(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("abc"), *turn("abc", "one"), *opened("abd", number=2), *turn("abd", "two"))
    keep(store, 2, *opened("ab"), *turn("ab", "exact"))
    found = [index.find(wanted) for wanted in ("abc", "ab", "abd", "x", "%")]
    assert [one.title if one else None for one in found] == ["one", "exact", "two", None, None]
    with pytest.raises(ClientError, match="start with 'a'") as told:
        index.find("a")
    more, *rows = told.value.hint.splitlines()
    assert more == "name more of it:"
    assert sorted(re.sub(r"\d+ d ago", "1 d ago", row) for row in rows) == [
        f"  {name}  {title} (agent, 1 d ago)" for name, title in (("ab", "exact"), ("abc", "one"), ("abd", "two"))
    ]


@pytest.mark.parametrize("damage", ["lost", "junk", "other version"])
def test_an_index_that_is_lost_or_broken_is_made_anew(damage: str, store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("a"), *turn("a", "one"))
    before = index.recent()
    if damage == "lost":
        store.index_file.unlink()
    elif damage == "junk":
        store.index_file.write_bytes(b"junk" * 1000)
    else:
        with sqlite3.connect(store.index_file) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
    assert index.recent() == before


def test_an_index_that_cannot_be_written_says_so(store: RecordingStore, index: SessionIndex) -> None:
    store.index_file.mkdir(parents=True)
    with pytest.raises(IndexFailed, match=r"index\.sqlite3"):
        index.recent()


def test_a_recording_that_is_no_recording_hides_no_other(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("a"), *turn("a", "one")).write_text("junk\n")
    keep(store, 2, *opened("b"), *turn("b", "two"))
    assert names(index.recent()) == ["two"]


@pytest.mark.parametrize("started_at", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00", "soon"])
def test_a_recording_of_a_time_that_no_calendar_knows_is_listed(
    store: RecordingStore, index: SessionIndex, started_at: str
) -> None:
    path = keep(store, 1, *opened("a"), *turn("a", "Mend it"))
    write(path, [*opened("a"), *turn("a", "Mend it")], Header("agent", (), started_at=started_at))
    (found,) = index.recent()
    assert datetime.fromtimestamp(found.last_at).year == 1970


def test_names_with_halves_of_characters_can_be_kept_and_looked_for(store: RecordingStore, index: SessionIndex) -> None:
    path = keep(store, 1)
    write(path, [*opened("a"), *turn("a", "Mend it")], Header("agent\udcff", ()))
    assert names(index.recent()) == ["Mend it"]
    assert index.recent(Path("/p\udcff")) == []


def test_frames_with_ids_of_any_kind_hide_no_session(store: RecordingStore, index: SessionIndex) -> None:
    odd = [
        frame(OUT, id=id_, method=method, params={})
        for id_ in ([1], {"a": 1}, "x", None)
        for method in ("session/new", "session/prompt")
    ]
    keep(store, 1, *odd, *opened("a"), *turn("a", "Mend it"))
    assert names(index.recent()) == ["Mend it"]


def test_a_recording_that_was_deleted_is_forgotten(store: RecordingStore, index: SessionIndex) -> None:
    path = keep(store, 1, *opened("a"), *turn("a", "one"))
    assert len(index.recent()) == 1
    path.unlink()
    assert (index.recent(), index.search("one")) == ([], [])


async def test_a_session_is_known_while_it_is_recorded(
    store: RecordingStore, index: SessionIndex, tmp_path: Path
) -> None:
    run = await play("session_updates", RecordingPlan(tmp_path, store=store), prompts=("first things",))
    store_files = store.files()
    with sqlite3.connect(store.index_file) as db:  # before anyone catches up
        listed = db.execute("SELECT title, first_words, prompts FROM parts").fetchall()
    db.close()
    assert listed == [("The tour, nearly done", "first things", 1)]
    [session] = index.recent()
    assert session.recordings == tuple(store_files)
    assert {session.session_id: index.reread(session)} == run.conversations


def test_a_fork_is_listed_as_one_with_what_it_was_forked_from(store: RecordingStore, index: SessionIndex) -> None:
    """A fork in which nothing was said isn't listed."""
    params = {"sessionId": "a", "cwd": "/p", "mcpServers": []}
    forks = [
        (frame(OUT, id=number, method="session/fork", params=params), frame(IN, id=number, result={"sessionId": name}))
        for number, name in ((5, "b"), (6, "silent"))
    ]
    keep(store, 1, *opened("a"), *turn("a", "one"), *chain(*forks), *turn("b", "two"), *turn("a", "three"))
    listed = {(one.session_id, one.title, one.prompts, one.forked_from) for one in index.recent()}
    assert listed == {("a", "one", 2, ""), ("b", "one", 2, "a")}


@pytest.mark.parametrize("way", ["load", "resume"])
def test_a_fork_is_found_by_and_counts_what_was_said_before_it_in_any_recording(
    way: str, store: RecordingStore, index: SessionIndex
) -> None:
    """What was said in the other one after the fork isn't the fork's, and neither is an earlier session with its ID."""
    params = {"sessionId": "a", "cwd": "/p", "mcpServers": []}
    fork = frame(OUT, id=5, method="session/fork", params=params), frame(IN, id=5, result={"sessionId": "b"})
    keep(store, 1, *opened("a"), *turn("a", "whales"))
    keep(store, 2, *opened("a"), *turn("a", "zebras", "stripes"), *turn("a", "lions", number=10))
    again = opened("a", method=f"session/{way}")
    keep(store, 3, *again, *turn("a", "pandas"), *fork, *turn("b", "koalas"), *turn("a", "tigers"))
    keep(store, 4, *opened("b", method=f"session/{way}"), *turn("b", "wombats"))
    listed = [(one.session_id, one.title, one.prompts) for one in index.recent()]
    assert listed == [("b", "zebras", 5), ("a", "zebras", 4), ("a", "whales", 1)]
    words = ("zebras", "stripes", "lions", "pandas", "koalas", "wombats", "tigers", "whales")
    found = {word: [one for one in index.search(word) if one.session_id == "b"] for word in words}
    assert {word for word, sessions in found.items() if not sessions} == {"tigers", "whales"}
    assert {line_with(index, found[word][0], word) for word in words if found[word]} == {
        *("You: zebras", "Agent: stripes", "You: lions", "You: pandas", "You: koalas", "You: wombats"),
    }


def test_a_fork_in_which_nothing_was_said_before_a_restart_goes_on_as_one(
    store: RecordingStore, index: SessionIndex
) -> None:
    fork = [
        frame(OUT, id=5, method="session/fork", params={"sessionId": "a", "cwd": "/p", "mcpServers": []}),
        frame(IN, id=5, result={"sessionId": "b"}),
    ]
    keep(store, 1, *opened("a"), *turn("a", "zebras"), *fork)
    assert [one.session_id for one in (*index.recent(), *index.search("zebras"))] == ["a", "a"]
    assert index.find("") == index.find("a")
    assert (found := index.find("b")) is not None  # whoever has its whole ID means it
    assert found.title == "zebras"
    keep(store, 2, *opened("b", method="session/resume"), *turn("b", "lions"))
    [listed, _] = index.recent()
    assert (listed.session_id, listed.title, listed.prompts, listed.forked_from) == ("b", "zebras", 2, "a")


def test_a_session_that_was_named_is_listed_though_nothing_was_said(store: RecordingStore, index: SessionIndex) -> None:
    """Such as a fork that the user keeps for later."""
    keep(store, 1, *opened("a"), *opened("b", number=2), OwnAction(3.0, SessionId("b"), Renamed("For later")))
    assert [(session.session_id, session.title) for session in index.recent()] == [("b", "For later")]


def test_each_message_of_a_reply_is_a_line_of_what_is_found(store: RecordingStore, index: SessionIndex) -> None:
    """A message ends where the agent says so, calls a tool, asks, or gets a prompt; its chunks are one line."""

    def say(text: str, **fields: Any) -> Event:
        return update("a", "agent_message_chunk", content={"type": "text", "text": text}, **fields)

    ask = frame(IN, id=1, method="session/request_permission", params={"sessionId": "a", "options": []})
    call = update("a", "tool_call", toolCallId="c", title="Write")
    progress = update("a", "tool_call_update", toolCallId="c", status="completed")
    keep(store, 1, *opened("a"), *turn("a", "one", "I will "), say("write."), call, progress, say("May I?"), ask)
    keep(store, 2, *opened("a", method="session/load"), say("Done."), *turn("a", "two", "Again."))
    keep(
        store, 3, *opened("a", method="session/load"), say("Fi", messageId="1"), say("rst.", messageId="1"), say("Last")
    )
    [session] = index.recent()
    found = [line_with(index, session, word) for word in ("will", "may", "done", "again", "first")]
    assert found == [f"Agent: {line}" for line in ("I will write.", "May I?", "Done.", "Again.", "First.")]


def test_the_line_with_most_of_the_words_is_shown(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("a"), *turn("a", "Feed the zebras", "The lions ate.\nThe zebras and the lions ate."))
    [session] = index.search("lions zebras")
    assert line_with(index, session, "lions zebras") == "Agent: The zebras and the lions ate."


@pytest.mark.parametrize("before", [3, 20])
def test_a_long_line_that_is_found_begins_at_a_word_near_the_match(
    before: int, store: RecordingStore, index: SessionIndex
) -> None:
    """Near enough to be in view on 80 columns."""
    text = "fifteen letters " * before + "zebras"
    keep(store, 1, *opened("a"), update("a", "agent_message_chunk", content={"type": "text", "text": text}))
    [session] = index.recent()
    assert line_with(index, session, "zebras") == "Agent: …fifteen letters zebras"


# Reading again


def test_a_resumed_session_is_reread_below_what_was_said_before(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("a"), *turn("a", "one"))
    keep(store, 2, *opened("a", method="session/resume"), *turn("a", "two"))
    [session] = index.recent()
    entries = index.reread(session).entries
    assert [entry.text for entry in entries if hasattr(entry, "text")] == ["one", "ok", "two", "ok"]


def test_a_loaded_session_is_reread_with_what_its_agent_did_not_tell_again(
    store: RecordingStore, index: SessionIndex
) -> None:
    keep(store, 1, *opened("a"), *turn("a", "one"))
    request, response = opened("a", method="session/load")
    history = update("a", "user_message_chunk", content={"type": "text", "text": "one"})
    keep(store, 2, request, history, response, *turn("a", "two"))
    [session] = index.recent()
    entries = index.reread(session).entries
    assert [entry.text for entry in entries if hasattr(entry, "text")] == ["one", "ok", "two", "ok"]


def test_a_prompt_that_its_agent_no_longer_has_is_not_reread(store: RecordingStore, index: SessionIndex) -> None:
    keep(store, 1, *opened("a"), *turn("a", "one"))
    request, response = opened("a", method="session/load")
    history = update("a", "user_message_chunk", content={"type": "text", "text": "another"})
    keep(store, 2, request, history, response, *turn("a", "two"))
    [session] = index.recent()
    entries = index.reread(session).entries
    assert [entry.text for entry in entries if hasattr(entry, "text")] == ["another", "two", "ok"]


def test_a_fork_of_a_loaded_session_is_reread_with_what_was_recorded_before(
    store: RecordingStore, index: SessionIndex
) -> None:
    keep(store, 1, *opened("a"), *turn("a", "one"))
    request, response = opened("a", method="session/load")
    history = update("a", "user_message_chunk", content={"type": "text", "text": "one"})
    fork = [
        frame(OUT, id=5, method="session/fork", params={"sessionId": "a", "cwd": "/p", "mcpServers": []}),
        frame(IN, id=5, result={"sessionId": "b"}),
    ]
    keep(store, 2, request, history, response, *fork, *turn("b", "two"))
    session = index.find("b")
    assert session is not None
    entries = index.reread(session).entries
    assert [entry.text for entry in entries if hasattr(entry, "text")] == ["one", "ok", "two", "ok"]


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_fork_opened_again_in_its_own_recording_is_reread_as_it_was(
    store: RecordingStore, index: SessionIndex, is_answered: bool
) -> None:
    """Its agent tells the attached file as the user's words, and not that it's a fork."""
    file: dict[str, Any] = {"uri": "file:///p/app.py", "text": "x = 1"}
    prompt = turn("a", "Read @app.py")
    asked = json.loads(prompt[0].data)  # type: ignore[union-attr]
    asked["params"]["prompt"].append({"type": "resource", "resource": file})
    fork = frame(OUT, id=5, method="session/fork", params={"sessionId": "a", "cwd": "/p", "mcpServers": []})
    forked = OwnAction(1.0, SessionId("b"), Reconnected(remembers=True, forked_from="Read @app.py"))
    request, response = opened("b", method="session/load", number=6)
    told = [
        ("user_message_chunk", 'Read @app.py\n<context ref="file:///p/app.py">\nx = 1\n</context>'),
        ("agent_message_chunk", "ok"),
        ("user_message_chunk", "two"),
        ("agent_message_chunk", "ok"),
    ]
    history = [update("b", kind, content={"type": "text", "text": text}) for kind, text in told]
    events = [
        *opened("a"),
        Frame(1.0, OUT, json.dumps(asked).encode()),
        *prompt[1:],
        fork,
        frame(IN, id=5, result={"sessionId": "b"}),
        forked,
        *turn("b", "two"),
    ]
    keep(store, 1, *events, Closed(1.0, SessionId("b")), request, *history, *([response] if is_answered else []))
    session = index.find("b")
    assert session is not None
    reread = index.reread(session)
    assert [entry.text for entry in reread.entries if isinstance(entry, Message)] == ["Read @app.py", "ok", "two", "ok"]
    assert reread.is_fork


# Forgetting


def test_a_forgotten_session_leaves_no_word_behind(store: RecordingStore, index: SessionIndex) -> None:
    path = keep(
        store,
        1,
        *opened("a"),
        *opened("b", number=2),
        *turn("a", "to be forgotten", "hushed", number=3),
        *turn("b", "to stay", number=4),
    )
    lost = index.find("a")
    assert lost is not None
    index.forget(lost)
    assert names(index.recent()) == ["to stay"]
    assert b"forgotten" not in path.read_bytes()
    assert b"hushed" not in path.read_bytes()
    assert list(replayed(path)) == ["b"]
    with open_recording(path) as recording:
        assert len(list(recording)) == 5
    assert path.stat().st_mode & 0o077 == 0


def open_elsewhere(index: SessionIndex) -> list[tuple[str, set[str]]]:
    return [(header.agent, set(session_ids)) for header, session_ids in index.open_elsewhere()]


LOADED = opened("a", method="session/load")


@pytest.mark.parametrize(
    ("events", "is_open"),
    [
        ((), True),
        ((Closed(2.0, SessionId("a")),), False),
        ((Closed(2.0, SessionId("b")),), True),
        ((Closed(2.0, SessionId("a")), *LOADED), True),
        ((Closed(2.0, SessionId("a")), *LOADED, Closed(3.0, SessionId("a"))), False),
    ],
)
def test_a_session_is_open_as_long_as_its_process_records_it_and_has_not_closed_it(
    store: RecordingStore, index: SessionIndex, events: tuple[Event, ...], is_open: bool
) -> None:
    path = keep(store, 1, *opened("a"), *turn("a", "one"), *events)
    with held(path):
        assert open_elsewhere(index) == [("agent", {"a"} if is_open else set())]
    assert open_elsewhere(index) == []


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
@pytest.mark.parametrize(
    ("answer", "is_open"), [({"result": {}}, True), ({"error": {"code": -32002, "message": "no"}}, False)]
)
def test_a_session_in_which_nothing_was_said_again_is_open_unless_its_agent_refused(
    store: RecordingStore, index: SessionIndex, method: str, answer: dict[str, Any], is_open: bool
) -> None:
    keep(store, 1, *opened("a"), *turn("a", "one"))
    with held(keep(store, 2, opened("a", method=method)[0], frame(IN, id=1, **answer))):
        assert open_elsewhere(index) == [("agent", {"a"} if is_open else set())]


def test_the_last_session_of_a_recording_takes_the_file_along(store: RecordingStore, index: SessionIndex) -> None:
    path = keep(store, 1, *opened("a"), *turn("a", "one"))
    [session] = index.recent()
    index.forget(session)
    assert index.recent() == []
    assert not path.exists()


def test_a_session_that_is_being_recorded_is_not_forgotten(store: RecordingStore, index: SessionIndex) -> None:
    path = keep(store, 1, *opened("a"), *turn("a", "one"))
    [session] = index.recent()
    content = path.read_bytes()
    path.unlink()
    with create(path) as writing:
        writing.write(content)
        writing.flush()
        with pytest.raises(ClientError, match="is being recorded"):
            index.forget(session)
    assert path.read_bytes() == content
