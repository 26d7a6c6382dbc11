"""Keys that come in one burst do in a field what they do one by one."""

import random
from collections.abc import Sequence
from functools import partial

import pytest
from textual.app import ComposeResult
from textual.events import Key
from textual.keys import key_to_character
from textual.widgets import Input, TextArea

from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.prompt.input import PromptInput
from support.waiting import until

EDITS = ("ctrl+u", "ctrl+k", "ctrl+w", "alt+backspace", "backspace", "home", "end", "left", "right", "ctrl+left")
LETTERS = ("a", "b", "c", "space", "d")


class Fields(BaseApp):
    def compose(self) -> ComposeResult:
        yield Input(id="Input")
        yield TextArea(id="TextArea")
        yield PromptInput(id="PromptInput")


def keys_at_random(seed: int) -> Sequence[str]:
    chance = random.Random(seed)
    return [chance.choice(EDITS if chance.random() < 0.3 else LETTERS) for _ in range(30)] + ["z"]


@pytest.mark.parametrize("kind", [Input, TextArea, PromptInput])
@pytest.mark.parametrize("seed", range(4))
async def test_a_burst_of_keys_writes_what_the_same_keys_write_one_by_one(
    kind: type[Input | TextArea], seed: int
) -> None:
    written = []
    for is_burst in (False, True):
        async with Fields().run_test() as pilot:
            field = pilot.app.query_one(f"#{kind.__name__}", kind)
            field.focus()
            await pilot.pause()
            for key in keys_at_random(seed):
                if is_burst:
                    pilot.app.post_message(Key(key, key_to_character(key)))
                else:
                    await pilot.press(key)
            await until(partial(has_last_key, field), pilot.pause)
            written.append(text_of(field))
    assert written[1] == written[0]


def text_of(field: Input | TextArea) -> str:
    return field.value if isinstance(field, Input) else field.text


def has_last_key(field: Input | TextArea) -> bool:
    return "z" in text_of(field)
