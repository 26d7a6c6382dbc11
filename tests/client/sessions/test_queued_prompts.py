"""A session's queue: the order of its prompts, and what a user can do with each."""

from __future__ import annotations

from acp_tui.client.sessions.prompt_queue import PromptQueue


def queue_of(*texts: str) -> PromptQueue:
    queue = PromptQueue()
    for text in texts:
        queue.add(text)
    return queue


def texts(queue: PromptQueue) -> list[str]:
    return [prompt.text for prompt in queue.prompts]


def key_of(queue: PromptQueue, text: str) -> int:
    return next(prompt.key for prompt in queue.prompts if prompt.text == text)


def test_a_prompt_is_taken_out_wherever_it_stands() -> None:
    queue = queue_of("one", "two", "three")

    taken = queue.take(key_of(queue, "two"))
    assert taken is not None
    assert taken.text == "two"
    assert texts(queue) == ["one", "three"]


def test_a_prompt_that_was_sent_meanwhile_cannot_be_taken_and_no_other_is() -> None:
    queue = queue_of("one", "two")
    key = key_of(queue, "one")
    sent = queue.next()
    assert sent is not None
    assert sent.key == key

    assert queue.take(key) is None
    queue.move(key, 1)
    assert texts(queue) == ["two"]


def test_prompts_change_places_as_far_as_there_are_any() -> None:
    queue = queue_of("one", "two", "three")
    three = key_of(queue, "three")
    orders = []
    for step in (-1, -1, -1, 1, 1, 1):
        queue.move(three, step)
        orders.append(texts(queue).index("three"))

    assert orders == [1, 0, 0, 1, 2, 2]


def test_the_same_text_twice_is_two_prompts() -> None:
    queue = queue_of("go on", "go on")
    queue.take(queue.prompts[1].key)

    assert texts(queue) == ["go on"]


def test_when_the_last_prompt_is_taken_out_nothing_is_held_back_any_more() -> None:
    queue = queue_of("one")
    queue.hold()
    queue.take(key_of(queue, "one"))

    assert not queue.is_held


def test_reasons_come_before_all_other_prompts_in_their_own_order() -> None:
    queue = queue_of("one")
    for reason in ("first", "second"):
        queue.add(reason, is_reason=True)
    queue.add("two")
    assert texts(queue) == ["first", "second", "one", "two"]
    queue.add("again", is_first=True)
    assert texts(queue)[0] == "again"
