"""Exporting to a file: the suffix chooses the format, it is written whole or not at all, overwrites only on demand."""

import stat
from pathlib import Path

import pytest

from acp_tui.client.errors import ClientError
from acp_tui.client.export.facts import ExportFacts, default_name
from acp_tui.client.export.jsonl import to_jsonl
from acp_tui.client.export.markdown import to_markdown
from acp_tui.client.export.writing import export
from acp_tui.client.save_content import FileExists
from acp_tui.conversation.content import Text
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.plain_text import plain_text
from acp_tui.conversation.tool_calls import BlockContent, TextDiff
from acp_tui.conversation.updates import SessionUpdate
from support.folding import agent, call, fold, prompt, thought
from support.waiting import LINEAR, growth


@pytest.mark.parametrize("name", ["talk.md", "talk.jsonl", "TALK.MD"])
def test_the_suffix_chooses_the_format(tmp_path: Path, everything: Conversation, facts: ExportFacts, name: str) -> None:
    formats = {
        ".md": to_markdown(everything, facts),
        ".jsonl": "".join(f"{line}\n" for line in to_jsonl(everything, facts)),
    }
    path = tmp_path / name

    export(everything, facts, path)

    assert path.read_bytes().decode() == formats[path.suffix.lower()]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["talk.txt", "talk", "md"])
def test_another_suffix_is_refused_with_those_that_are_allowed(tmp_path: Path, facts: ExportFacts, name: str) -> None:
    with pytest.raises(ClientError, match="which format to write") as refused:
        export(fold(), facts, tmp_path / name)

    assert refused.value.hint == "End the name in .md or .jsonl."
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_not_touched(tmp_path: Path, facts: ExportFacts) -> None:
    path = tmp_path / "talk.md"
    path.write_text("mine")

    with pytest.raises(FileExists, match=r"talk\.md already exists"):
        export(fold(), facts, path)

    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_meanwhile_is_not_touched(
    tmp_path: Path, facts: ExportFacts, everything: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "talk.md"

    def meddling(data: bytes, *, is_complete: bool) -> str:
        path.write_text("theirs")
        return plain_text(data, is_complete=is_complete)

    monkeypatch.setattr("acp_tui.client.export.markdown.plain_text", meddling)
    with pytest.raises(FileExists):
        export(everything, facts, path)

    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_that_leads_nowhere_is_an_existing_file_too(tmp_path: Path, facts: ExportFacts) -> None:
    path = tmp_path / "talk.md"
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(FileExists):
        export(fold(), facts, path)

    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_new_file_can_be_read_by_the_user_only(overwrite: bool, tmp_path: Path, facts: ExportFacts) -> None:
    path = tmp_path / "talk.md"
    export(fold(agent("new")), facts, path, overwrite=overwrite)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_is_replaced_when_told_to_and_closed_to_others(tmp_path: Path, facts: ExportFacts) -> None:
    path = tmp_path / "talk.md"
    path.write_text("old")
    path.chmod(0o640)

    export(fold(agent("new")), facts, path, overwrite=True)

    assert "new" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, facts: ExportFacts, everything: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "talk.md"
    path.write_text("old")

    def failing(data: bytes, *, is_complete: bool) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("acp_tui.client.export.markdown.plain_text", failing)
    with pytest.raises(ClientError, match="No space left on device"):
        export(everything, facts, path, overwrite=True)

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path, facts: ExportFacts) -> None:
    with pytest.raises(ClientError, match="No such file or directory"):
        export(fold(), facts, tmp_path / "nowhere" / "talk.md")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix the parser", "2026-11-21-fix-the-parser.md"),
        ("../../etc/passwd", "2026-11-21-etc-passwd.md"),
        (".hidden\x00\u202e\u3164", "2026-11-21-hidden.md"),
        ("Größe の計算", "2026-11-21-größe-の計算.md"),
        ("///", "2026-11-21-demo-agent.md"),
        (None, "2026-11-21-demo-agent.md"),
    ],
)
def test_the_proposed_name_is_the_title_in_letters(title: str | None, name: str) -> None:
    facts = ExportFacts("Demo Agent", "/", "s", exported_at="2026-11-21T10:00:00+00:00", title=title)

    assert default_name(facts, ".md") == name


def test_the_proposed_name_fits_into_a_file_system() -> None:
    facts = ExportFacts("", "/", "s", exported_at="../../x", title="𝒳" * 300)

    assert len(default_name(facts, ".jsonl").encode()) < 255
    assert default_name(ExportFacts("", "/", "s"), ".md") == "conversation.md"


def long_conversation(entry_count: int) -> Conversation:
    def turn(number: int) -> list[SessionUpdate]:
        diff = TextDiff("/a.py", f"one\n{number}\n", "one\n")
        return [
            prompt(f"Question {number}"),
            thought("Hm."),
            call(str(number), title="Edit", content=(diff, BlockContent(Text("done")))),
            agent("It is *so*.", f"m{number}"),
        ]

    return fold(*(update for number in range(entry_count // 4) for update in turn(number)))


@pytest.mark.parametrize("suffix", [".md", ".jsonl"])
def test_the_work_grows_with_the_entries_and_no_faster(tmp_path: Path, facts: ExportFacts, suffix: str) -> None:
    conversations = {size: long_conversation(size) for size in (1_000, 2_000)}
    path = tmp_path / f"long{suffix}"

    assert growth(lambda size: export(conversations[size], facts, path, overwrite=True), 1_000) < LINEAR
