"""Form patterns that would take seconds and gigabytes to compile are skipped; ordinary ones aren't.

`ACP_TUI_HOSTILE_PATTERNS=20000` tries that many.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys

import pytest

from acp_tui.client.form_answers import InvalidAnswer, check, pattern_note
from acp_tui.conversation.elicitation import TextField

COUNT = int(os.environ.get("ACP_TUI_HOSTILE_PATTERNS", "300"))
HOSTILE = [
    "(" * 25 + "a" + "){1,9}" * 25,
    "(?:" * 12 + "a" + "){9}" * 12,
    "(" * 30 + "a" + ")+" * 30,
    "(?>" * 30 + "a" + ")+" * 30,
    "(?=" * 1 + "(" * 30 + "a" + "){1,}" * 30 + ")",
    "(?:(?:(?:(?:ab){50,}){50,}){50,}){5,}",
    "a{99999999}",
    "(?:(?:a{99}){99}){99}",
    "(?i:" * 25 + "a" + "){2}" * 25,
    "((?i)" * 25 + "a" + "){2}" * 25,
    "[[:alpha:][](" + "(" * 25 + "a" + ")+" * 25 + ")]",
    "(?x)(#)\n" + "(" * 25 + "a" + ")+" * 25,
    r"[\]](" + "(" * 25 + "a" + ")+" * 25 + ")",
    "[]](" + "(" * 25 + "a" + ")+" * 25 + ")",
    "[^]](" + "(" * 25 + "a" + ")+" * 25 + ")",
    r"\[" + "(" * 25 + "a" + ")+" * 25 + r"\]",
]
ORDINARY = [
    "^[a-z]+$",
    r"^(\d{1,3}\.){3}\d{1,3}$",
    "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$",
    r"^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
    r"^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)@(?:[a-z0-9]+\.)+[a-z]{2,}$",
    r"^(?=.*[A-Z])(?=.*\d).{8,64}$",
    "^(?P<year>[0-9]{4})-(?<month>[0-9]{2})$",
    r"^(?i)https?://[^\s/$.?#].[^\s]*$",
    r"^[^[\]()]{1,100}$",
    "^[:/a-z]+$",
    "^.{1,4000}$",
]


@pytest.mark.parametrize("pattern", ORDINARY)
def test_patterns_that_forms_have_are_read(pattern: str) -> None:
    assert pattern_note(TextField("f", pattern=pattern)).startswith("fits ^")


@pytest.fixture(scope="module")
def notes() -> dict[str, str]:
    """The verdicts on hostile patterns, from a process with 20 seconds and 1 GB for all of them."""
    choice = random.Random(3)
    patterns = [*HOSTILE, *(generated(choice) for _ in range(COUNT))]
    script = (
        "import json, sys\nfrom acp_tui.client.form_answers import pattern_note\n"
        "from acp_tui.conversation.elicitation import TextField\n"
        "print(json.dumps({each: pattern_note(TextField('f', pattern=each)) for each in json.load(sys.stdin)}))"
    )

    def limit() -> None:
        cpu_s = 20 + COUNT // 50
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    run = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(patterns), capture_output=True, text=True,
        preexec_fn=limit, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    told: dict[str, str] = json.loads(run.stdout)
    return told


def generated(choice: random.Random) -> str:
    """Nested groups with counts, and with sets and escapes that could hide them."""
    pattern = "a"
    for _ in range(choice.randint(1, 40)):
        opening = choice.choice(
            ["(", "(?:", "(?=", "(?<=", "(?>", "(?<n>", "(?i:", "(?i)(", "(?x:", "(?|", "(?#(", "[", "[^"]
        )
        beside = choice.choice(
            ["", "", "x", "[]", "[^]]", r"\]", r"\(", "[[:alpha:]]", "[(]", "[)]", "#", "|", r"\Q", "{"]
        )
        count = choice.choice(["", "*", "+", "?", "{9}", "{1,9}", "{99,}", "{,9}", "{2}?", "{3}+", "]", "{e<=2}"])
        pattern = f"{opening}{beside}{pattern}){count}" if choice.random() < 0.9 else f"{beside}{pattern}{count}"
    return pattern[:2000]


def test_hostile_patterns_are_left_to_the_agent_at_no_cost(notes: dict[str, str]) -> None:
    assert [pattern for pattern in HOSTILE if "only the agent can check it" not in notes[pattern]] == []


def test_what_is_read_of_any_patterns_takes_little_time_and_memory(notes: dict[str, str]) -> None:
    assert len(notes) > COUNT // 2


def test_an_answer_to_a_pattern_that_is_not_read_goes_to_the_agent() -> None:
    assert check(TextField("f", pattern=HOSTILE[0]), "anything") == "anything"
    with pytest.raises(InvalidAnswer):
        check(TextField("f", pattern=HOSTILE[0], is_required=True), "")
