"""A patch of version 2 is shown as diffs, together with whatever else it or the list of changes says."""

from __future__ import annotations

import os
from random import Random
from typing import Any, Final

import pytest

from acp_tui.conversation.content import Text
from acp_tui.conversation.tool_calls import BlockContent, FileChange, TextDiff
from acp_tui.conversation.updates import ToolCallReported
from acp_tui.protocol.v2.inbound import read_update

EXAMPLES: Final = int(os.environ.get("ACP_TUI_EXAMPLES", "300"))
GOOD: Final = (
    "diff --git /w/a.py /w/a.py\nindex 1111111..2222222 100644\n--- /w/a.py\n+++ /w/a.py\n"
    "@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
)


def items(patch: str | None, *changes: dict[str, Any], form: str = "git_patch") -> list[Any]:
    """What a tool call with this diff becomes."""
    content = {"type": "diff", "changes": list(changes)}
    if patch is not None:
        content["patch"] = {"format": form, "text": patch}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [content]}
    _, (report,) = read_update({"sessionId": "s", "update": update})
    assert isinstance(report, ToolCallReported)
    assert isinstance(report.patch.content, tuple)
    return list(report.patch.content)


def said(found: list[Any]) -> str:
    """Everything shown of them."""
    parts: list[str] = []
    for item in found:
        match item:
            case TextDiff():
                parts += [item.path, item.new_text, item.old_text or ""]
            case FileChange():
                parts.append(item.words)
            case BlockContent(Text(text)):
                parts.append(text)
    return "\n".join(parts)


def change(operation: str = "modify", path: str = "/w/a.py", **more: str) -> dict[str, str]:
    return {"operation": operation, "path": path, **more}


def test_a_patch_that_agrees_with_its_changes_is_diffs_alone() -> None:
    (diff,) = items(GOOD, change())
    assert (diff.path, diff.old_text, diff.new_text) == ("/w/a.py", "one\ntwo\n", "one\nthree\n")


@pytest.mark.parametrize(
    "more",
    [
        GOOD.replace("/w/a.py", "/etc/passwd").replace("three", "HIDDEN"),
        GOOD.replace("three", "HIDDEN"),
        "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+HIDDEN\n",
        "+HIDDEN\n",
        "@@ -9,2 +9,1 @@\n-HIDDEN\n",
        "@@ -9,0 +9,1 @@\n-HIDDEN\n",
        "@@@ -9 -9 +9 @@@\n++HIDDEN\n",
        "@@ -9999999999 +9 @@\n+HIDDEN\n",
        "diff --git /w/HIDDEN /w/HIDDEN\nold mode 100644\nnew mode 100755\n",
        "diff --git /w/HIDDEN /w/HIDDEN\nnew file mode 100644\nindex 0000000..e69de29\n",
        "diff --git /w/HIDDEN /w/HIDDEN\ndeleted file mode 100644\nindex e69de29..0000000\n",
        "diff --git /w/l /w/l\nrename from /w/HIDDEN\nrename to /w/l\n",
        "diff --git /w/l /w/l\nGIT binary patch\nHIDDEN\n",
        GOOD.replace("/w/a.py", '"/w/\\303\\244"').replace("three", "HIDDEN"),
    ],
)
def test_what_a_patch_says_beside_its_changes_is_shown(more: str) -> None:
    assert "HIDDEN" in said(items(GOOD + more, change()))


def test_a_link_and_a_program_are_no_ordinary_new_files() -> None:
    for mode in ("120000", "100755"):
        patch = f"diff --git /w/l /w/l\nnew file mode {mode}\n--- /dev/null\n+++ /w/l\n@@ -0,0 +1 @@\n+x\n"
        assert mode in said(items(patch, change("add", "/w/l")))
    assert "symlink" in said(items(None, change("add", "/w/l", fileType="symlink")))
    assert "symlink" in said(items(GOOD, change(fileType="symlink")))


@pytest.mark.parametrize("operation", ["delete", "add", "chmod"])
def test_a_change_of_another_kind_than_its_patch_is_said(operation: str) -> None:
    assert operation in said(items(GOOD, change(operation)))


def test_a_move_is_told_by_its_change() -> None:
    patch = GOOD.replace("index", "similarity index 90%\nrename from /w/old.py\nrename to /w/a.py\nindex")
    found = items(patch, change("move", oldPath="/w/old.py"))
    assert [type(item) for item in found] == [FileChange, TextDiff]


def test_random_patches_hide_no_line() -> None:
    """Whole and broken patches of several files, with and without changes that name them."""
    for seed in range(EXAMPLES):
        lines, changes, wanted = patch_at_random(Random(seed))
        shown = said(items("\n".join(lines), *changes))
        missing = [each for each in wanted if each not in shown]
        assert not missing, "\n".join([f"seed {seed}: {missing}", *lines])


def patch_at_random(random: Random) -> tuple[list[str], list[dict[str, str]], list[str]]:
    """A patch's lines, the changes beside it, and the words that must be visible."""
    words: list[str] = []

    def word() -> str:
        words.append(f"word{len(words)}x")
        return words[-1]

    lines: list[str] = []
    paths = [f"/w/f{at}" for at in range(random.randint(1, 3))]
    for path in paths:
        for _ in range(random.randint(0, 4)):
            heads = ["diff --git P P", "--- P", "+++ P", "--- aP", "+++ bP", "--- /dev/null", "+++ /dev/null"]
            head = random.choice([*heads, "+++ /etc/WORD", "new file mode 120000", "new file mode 100644"])
            head = head.replace("P", path)
            lines.append(head.replace("WORD", word()) if "WORD" in head else head)
        for _ in range(random.randint(0, 3)):
            sides = [random.randint(0, 3) for _ in range(4)]
            lines.append(f"@@ -{sides[0]},{sides[1]} +{sides[2]},{sides[3]} @@")
            lines += [f"{random.choice('+- +-@r')}{word()}" for _ in range(random.randint(0, 5))]
    return lines, [change(path=path) for path in paths if random.random() < 0.7], words
