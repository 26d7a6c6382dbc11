"""Early entries of a long conversation are packed into a store, and reading or changing them works as before."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.conversation import entry_list
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.entries import Failure, Message
from acp_tui.conversation.entry_list import KEPT, KEPT_HOWEVER_LONG, PACKED_AT_ONCE, EntryList
from acp_tui.conversation.reducer import apply
from acp_tui.conversation.tool_calls import TextDiff
from acp_tui.conversation.updates import ClientRemark, SessionUpdate, UnknownUpdate
from support.folding import agent, ask, call, fold, prompt, thought, user

LONG = 4 * KEPT


class Memory:
    """A store for tests."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.reads = 0
        self.is_full = False
        self.planted = b""
        """What somebody wrote in the place of all that was stored."""

    def put(self, data: bytes) -> int:
        if self.is_full:
            raise OSError(28, "No space left on device")
        self.data += data
        return len(self.data) - len(data)

    def get(self, place: int, size: int) -> bytes:
        self.reads += 1
        return self.planted or bytes(self.data[place : place + size])


def packing(*updates: SessionUpdate) -> tuple[Conversation, Memory]:
    store = Memory()
    conversation = Conversation(EntryList(store=store))
    for update in updates:
        apply(conversation, update)
    return conversation, store


def in_memory(entries: EntryList) -> int:
    return len(entries.recent) + len(entries.changed)


def test_memory_holds_the_last_entries_only() -> None:
    conversation, store = packing(*(agent(f"message {number}", f"m{number}") for number in range(LONG)))
    entries = conversation.entries
    assert len(entries) == LONG
    assert in_memory(entries) <= KEPT + PACKED_AT_ONCE
    assert [entry.text for entry in entries if isinstance(entry, Message)] == [f"message {n}" for n in range(LONG)]
    assert len(entries.held) == 0
    reads = store.reads
    assert entries[-1] == Message("agent", f"m{LONG - 1}", entries[-1].parts)  # type: ignore[union-attr]
    assert entries[LONG - 3 :] == list(entries)[-3:]
    assert store.reads > reads


def bytes_in_memory(entries: EntryList) -> int:
    kept = [*entries.recent[:-KEPT_HOWEVER_LONG], *entries.changed.values()]
    return sum(len(pickle.dumps(entry)) for entry in kept)


@pytest.mark.parametrize("kind", ["messages", "diffs", "updates", "titles"])
def test_long_entries_are_packed_earlier(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_list, "KEPT_BYTES", 1 << 20)
    text = "word " * 20_000
    said: dict[str, Callable[[int], SessionUpdate]] = {
        "messages": lambda number: agent(f"{number} {text}", f"m{number}"),
        "diffs": lambda number: call(f"c{number}", content=[TextDiff("/a", text, str(number))]),
        "updates": lambda number: call(f"c{number % 100}", content=[TextDiff("/a", text, str(number))]),
        "titles": lambda number: call(f"c{number}", title=f"{number} {text}"),
    }
    conversation, _ = packing()
    for number in range(300):
        apply(conversation, said[kind](number))
        assert bytes_in_memory(conversation.entries) <= (1 << 20) + 10 * len(text)
    assert conversation.entries == fold(*map(said[kind], range(300))).entries


def test_a_chunk_of_one_growing_message_costs_no_look_at_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[object] = []
    monkeypatch.setattr(entry_list, "weight_of", lambda entry: weighed.append(entry) or 1)
    packing(*(agent("word ", "m") for _ in range(1_000)))
    assert weighed == []


def test_without_a_store_all_stay_in_memory() -> None:
    assert in_memory(fold(*(agent("word", f"m{number}") for number in range(LONG))).entries) == LONG


def test_a_packed_entry_is_changed_as_any_other() -> None:
    conversation, _ = packing(
        call("early", title="Read", status="in_progress"),
        agent("Wait", "early"),
        ask(1, "asked", title="Delete"),
        *(agent("more", f"m{number}") for number in range(LONG)),
    )
    apply(conversation, call("early", status="completed", content=(TextDiff("/a", "new", "old"),)))
    apply(conversation, agent(" for it.", "early"))
    early, message = conversation.entries[0], conversation.entries[1]
    assert early.call.status == "completed"  # type: ignore[union-attr]
    assert message.text == "Wait for it."  # type: ignore[union-attr]
    assert conversation.tool_call(conversation.permissions[1].tool_call_id).waiting == 1  # type: ignore[index]
    for number in range(LONG):
        apply(conversation, agent("still more", f"n{number}"))
    assert conversation.entries[1].text == "Wait for it."  # type: ignore[union-attr]


def test_a_reference_to_an_entry_sees_its_changes() -> None:
    conversation, _ = packing(agent("Wait", "early"))
    held = conversation.entries[0]
    for number in range(LONG):
        apply(conversation, agent("more", f"m{number}"))
    apply(conversation, agent(" for it.", "early"))
    assert held.text == "Wait for it."  # type: ignore[union-attr]
    assert conversation.entries[0] is held


def test_many_changed_entries_are_packed_again() -> None:
    conversation, _ = packing(*(agent("a", f"m{number}") for number in range(LONG)))
    for number in range(LONG):
        apply(conversation, agent("b", f"m{number}"))
    for number in range(LONG):
        apply(conversation, agent("c", f"n{number}"))
    assert in_memory(conversation.entries) <= 2 * KEPT + PACKED_AT_ONCE
    assert {entry.text for entry in conversation.entries[:LONG]} == {"ab"}  # type: ignore[union-attr]


def test_what_the_store_does_not_take_stays_in_memory() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    conversation, store = packing(UnknownUpdate("deep", deep))
    store.is_full = True
    for number in range(LONG):
        apply(conversation, agent(f"message {number}", f"m{number}"))
    assert conversation.entries[0].raw is deep  # type: ignore[union-attr]
    assert conversation.entries[5].text == "message 4"  # type: ignore[union-attr]
    while deep:
        deep = deep.pop()


def test_what_cannot_be_read_back_says_so() -> None:
    conversation, store = packing(*(agent("a", f"m{number}") for number in range(LONG)))
    store.data.clear()
    assert isinstance(conversation.entries[0], Failure)


class Attack:
    def __init__(self, *what: Any) -> None:
        self.what = what

    def __reduce__(self) -> Any:
        return self.what


def by_name(module: str, name: str) -> bytes:
    """A pickle of the object with this name in that module."""
    names = b"".join(pickle.SHORT_BINUNICODE + bytes([len(each)]) + each.encode() for each in (module, name))
    return pickle.PROTO + b"\x04" + names + pickle.STACK_GLOBAL + pickle.STOP


@pytest.mark.parametrize(
    "payload",
    [
        pickle.dumps(Attack(os.system, ("true",))),
        pickle.dumps(Attack(eval, ("1",))),
        by_name("acp_tui.conversation.entry_list", "pickle.loads"),
        by_name("acp_tui.conversation.entries", "dataclass.__globals__"),
        by_name("acp_tui.conversation.entries", "Message.append"),
        b"cacp_tui.conversation.entries\nAny\n.",
        b"cacp_tui.conversation.entries\ndataclass\n.",
        b"cacp_tui.conversation.entries\nByteRing\n.",
    ],
)
def test_a_store_that_was_tampered_with_runs_nothing(payload: bytes) -> None:
    conversation, store = packing(*(agent("a", f"m{number}") for number in range(LONG)))
    entries = conversation.entries
    store.planted = payload
    assert isinstance(entries[0], Failure)


ids = st.sampled_from(["a", "b", "c", "d", "e"])
updates = st.one_of(
    st.builds(agent, st.text(max_size=5), st.none() | ids),
    st.builds(thought, st.text(max_size=5), st.none() | ids),
    st.builds(user, st.text(max_size=5), st.none() | ids),
    st.builds(prompt, st.text(max_size=5)),
    st.builds(lambda call_id, status: call(call_id, status=status), ids, st.sampled_from(["pending", "completed"])),
    st.builds(lambda raw: UnknownUpdate("x", raw), st.dictionaries(st.text(max_size=3), st.integers() | st.none())),
)


@given(st.lists(updates, max_size=60), st.integers(0, 3))
def test_a_packed_conversation_equals_one_in_memory(said: list[SessionUpdate], kept: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_list, "KEPT", kept)
        patch.setattr(entry_list, "PACKED_AT_ONCE", 2)
        packed, _ = packing(*said)
        whole = fold(*said)
        assert packed == whole
        assert list(packed.entries.copied(lambda entry: entry)) == list(whole.entries)
        assert packed.entries[::-2] == list(whole.entries)[::-2]


def test_an_entry_list_ends() -> None:
    entries = EntryList([ClientRemark("one")])
    with pytest.raises(IndexError):
        entries[1]
    with pytest.raises(IndexError):
        entries[-2]
    assert UnknownUpdate("x", None) not in entries
