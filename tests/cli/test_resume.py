"""`--resume` and `acp-tui sessions`: which session they pick, and what they say if there is none."""

from __future__ import annotations

import json
import subprocess
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from acp_tui.cli import exec_start, start_modes
from acp_tui.cli.arguments import ChosenAgent, options_of, read_arguments
from acp_tui.cli.main import main
from acp_tui.cli.sessions import (
    find_resumed,
    recordings_index,
    say_how_to_resume,
    say_if_open_elsewhere,
    say_what_is_left,
)
from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.agents.remembered import consent_file, in_its_sandbox, is_agreed
from acp_tui.client.prompts.memory import Draft, DraftFile, DraftKey
from acp_tui.client.sessions.marks import SessionMarks
from acp_tui.client.sessions.session_history import LeftSession, recorded_sessions, remember_left
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import AgentSettings, RecordingSettings, Settings
from acp_tui.client.transcript.events import Event, Header
from acp_tui.client.transcript.recording_plan import RecordingPlan, recording_store
from acp_tui.client.worktrees import add_worktree
from support.changes import make_repository
from support.command_line import data_of, given
from support.recorded_sessions import begun, got, prompted, sent
from support.recordings import demo, open_in_process, play, write

HERE = Path.cwd()


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("--resume", {"resume": "", "cwd": HERE}),
        ("--resume 8f89 --sandbox=read-only", {"resume": "8f89", "sandbox": "read-only", "cwd": HERE}),
        ("--resume --mode plan --option fast=on", {"resume": "", "mode": "plan", "option": ["fast=on"], "cwd": HERE}),
        ("--resume 8f89 --cwd /", {"resume": "8f89", "cwd": Path("/")}),
        ("gemini --resume", {"resume": "", "agent": ChosenAgent("gemini"), "cwd": HERE}),
        ("run --resume 8f89 gemini", {"resume": "8f89", "agent": ChosenAgent("gemini"), "cwd": HERE}),
        (
            "--resume 8f89 -- agent --acp",
            {"resume": "8f89", "agent": ChosenAgent(argv=("agent", "--acp")), "cwd": HERE},
        ),
        ("sessions", {"word": "", "cwd": HERE, "format": "text"}),
        ("--format json sessions zebra --all", {"word": "zebra", "all": True, "format": "json", "cwd": HERE}),
    ],
)
def test_each_way_to_call_it(line: str, values: dict[str, Any]) -> None:
    assert given(line)[1] == values


async def record(cwd: Path, prompt: str, agent: str = "somebody") -> str:
    """Record a session; return its ID."""
    plan = RecordingPlan(cwd, store=recording_store(RecordingSettings()))
    run = await play(replace(demo("markdown"), name=agent), plan, prompts=(prompt,))
    return next(iter(run.conversations))


async def test_without_an_id_it_is_the_tab_in_front_at_the_end_or_used_since(tmp_path: Path) -> None:
    own_ids = demo("markdown")
    own_ids = replace(own_ids, argv=(*own_ids.argv, "--own-ids"))

    async def use(name: str) -> str:
        plan = RecordingPlan(tmp_path, store=recording_store(RecordingSettings()))
        return next(iter((await play(replace(own_ids, name=name), plan, prompts=(name,))).conversations))

    in_front, beside, closed = await use("ants"), await use("bees"), await use("cats")
    assert find_resumed("", tmp_path, None).past.session_id == closed
    remember_left(tmp_path, lambda: ([in_front, beside], ()), lambda: in_front)
    assert find_resumed("", tmp_path, None).past.session_id == in_front
    assert find_resumed("", tmp_path, replace(own_ids, name="bees")).past.session_id in (in_front, beside)
    later = await use("dogs")
    assert find_resumed("", tmp_path, None).past.session_id == later


async def test_without_an_id_the_named_agent_resumes_the_folders_last_session(
    tmp_path: Path,
) -> None:
    (tmp_path / "other").mkdir()
    await record(tmp_path, "Zebras?")
    await record(tmp_path / "other", "Lions?")
    agent = replace(demo("markdown"), name="somebody")
    found = find_resumed("", tmp_path, agent)
    assert (found.past.title, found.command, found.past.cwd) == ("Zebras?", agent, tmp_path)


async def test_where_nobody_can_be_asked_it_is_said_that_a_session_is_open_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await record(tmp_path, "Zebras?")
    with open_in_process(4711):
        say_if_open_elsewhere(find_resumed("", tmp_path, None).past)
    assert "open in another acp-tui (process 4711)" in capsys.readouterr().err


async def test_a_command_that_only_a_recording_names_has_to_be_agreed_to(tmp_path: Path) -> None:
    await record(tmp_path, "Zebras?")
    found = find_resumed("", tmp_path, None)
    assert found.command is not None
    assert found.command.argv == demo("markdown").argv
    resumed = in_its_sandbox(found.command, Settings())
    assert is_agreed(resumed, consent_file()), "the user ran it in this folder"
    consent_file().unlink()
    assert not is_agreed(resumed, consent_file())


async def test_only_the_sandbox_that_a_command_ran_in_needs_no_other_yes(tmp_path: Path) -> None:
    await record(tmp_path, "Zebras?")  # in none
    confined = replace(Settings(), agent=replace(AgentSettings(), sandbox="workspace"))

    def is_asked(wanted: str, settings: Settings) -> bool:
        command = find_resumed("", tmp_path, None, wanted).command
        assert command is not None
        return not is_agreed(in_its_sandbox(command, settings), consent_file())

    assert [is_asked(wanted, Settings()) for wanted in ("", "off", "read-only")] == [False, False, True]
    assert [is_asked(wanted, confined) for wanted in ("", "off", "read-only")] == [True, False, True]


def note_sandbox(name: str) -> None:
    """Have the recordings say that their agents ran in this sandbox."""
    for file in recording_store(RecordingSettings()).files():
        header, *rest = file.read_text("utf-8").splitlines(keepends=True)
        file.write_text(json.dumps({**json.loads(header), "sandbox": name}) + "\n" + "".join(rest), "utf-8")


@pytest.mark.parametrize(
    ("recorded", "of_entry", "wanted", "found"),
    [
        ("read-only", "", "", "read-only"),
        ("read-only", "workspace", "", "read-only"),
        ("read-only", "workspace", "off", "off"),
        ("", "workspace", "", "workspace"),
        ("off", "workspace", "", "workspace"),
    ],
)
async def test_a_session_keeps_its_sandbox_unless_the_user_wants_another(
    recorded: str, of_entry: str, wanted: str, found: str, tmp_path: Path
) -> None:
    await record(tmp_path, "Zebras?")
    note_sandbox(recorded)
    agent = replace(demo("markdown"), name="somebody", sandbox=of_entry)

    command = find_resumed("", tmp_path, agent, wanted).command

    assert command is not None
    assert command.sandbox == found


async def test_an_export_says_which_sandbox_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session_id = await record(tmp_path, "Zebras?")
    note_sandbox("read-only")
    for name in ("out.md", "out.jsonl"):
        assert main(["render", session_id, "-o", str(tmp_path / name)]) == 0
    assert "Sandbox: read-only" in (tmp_path / "out.md").read_text("utf-8").replace("*", "")
    assert '"sandbox":"read-only"' in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()[0]


async def test_what_is_chosen_for_a_session_needs_no_name_of_its_agent(tmp_path: Path) -> None:
    await record(tmp_path, "Zebras?")
    _, args = given(f"--resume --cwd {tmp_path} --mode plan --model=large --option fast=on")
    agent = replace(demo("markdown"), name="somebody")
    found = find_resumed(args["resume"], tmp_path, agent, options=options_of(Namespace(**args)))
    assert found.command is not None
    assert found.command.options == (("mode", "plan"), ("model", "large"), ("fast", "on"))


async def test_a_session_of_the_demo_is_only_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session_id = await record(tmp_path, "Zebras?", agent="demo")
    found = find_resumed(session_id[:4], tmp_path, None)
    assert found.command is None
    assert "showing its recording" in capsys.readouterr().err


async def test_an_unknown_id_says_which_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await record(tmp_path, "Zebras?")
    with pytest.raises(SystemExit, match="2"):
        find_resumed("nope", tmp_path, None)
    said = capsys.readouterr().err
    assert "no recorded session has an ID that starts with 'nope'" in said
    assert "Zebras? (somebody)" in said


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        (["exec", "--resume", "claude", "Zebras again"], "claude"),
        (["exec", "demo", "--resume", "Zebras again"], "Zebras again"),
        (["exec", "demo", "--resume", "zebras", "--prompt", ""], "zebras"),
        (["--resume", "claude", "zebras", "--plain"], "claude"),
    ],
)
def test_a_word_after_resume_that_was_meant_otherwise_is_told(
    line: list[str], taken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) in (2, 127)
    told = f"--resume took {taken!r} as a session's ID; to continue the last one, put --resume at the end"
    assert told in capsys.readouterr().err


def test_one_word_before_resume_is_told_to_need_its_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", "HELLO", "--resume"]) == 127
    told = "no agent is named 'HELLO'\n  a prompt of one word needs its agent, too: AGENT HELLO --resume\n"
    assert told in capsys.readouterr().err


async def test_an_id_that_was_not_recorded_is_left_to_the_agent_that_is_named(tmp_path: Path) -> None:
    found = find_resumed("elsewhere-1", tmp_path, AgentCommand("gemini", ("gemini",)))
    assert found.past.session_id == "elsewhere-1"
    assert found.command is not None


async def test_a_session_of_another_agent_is_not_resumed_in_the_one_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = await record(tmp_path, "Zebras?")
    with pytest.raises(SystemExit, match="2"):
        find_resumed(session_id, tmp_path, AgentCommand("gemini", ("gemini",)))
    assert "belongs to somebody, not gemini" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        ["exec", "--resume", "ID", "Zebras again"],
        ["exec", "-p", "So?", "--resume", "ID"],
        ["exec", "Zebras", "--resume", "ID"],
    ],
)
async def test_a_turn_in_a_recorded_session_needs_no_agent_to_be_named(
    line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[tuple[AgentCommand, str, str, Path]]()

    def take_turn(command: AgentCommand, prompt: str, _: Settings, args: Namespace) -> int:
        begun.append((command, prompt, args.session_id, args.cwd))
        return 0

    monkeypatch.setattr("acp_tui.cli.exec.take_turn", take_turn)
    monkeypatch.setattr(exec_start, "start_early", lambda *_: None)
    monkeypatch.setattr(exec_start, "ready_to_run", lambda command: command)
    session_id = await record(tmp_path, "Zebras?")
    words = [session_id if word == "ID" else word for word in line]
    assert await to_thread.run_sync(main, [*words, "--mode", "plan"]) == 0
    ((command, prompt, continued, cwd),) = begun
    assert (command.name, command.options, continued, cwd) == ("somebody", (("mode", "plan"),), session_id, tmp_path)
    assert prompt in ("Zebras again", "So?", "Zebras")


async def test_one_word_is_an_agent_or_the_prompt_for_a_recorded_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = await record(tmp_path, "Zebras?")
    for line, values in (
        (["Zebras", "--resume", session_id], (None, "Zebras")),
        (["gemini", "--resume", session_id], ("gemini", None)),
        (["Zebras", "--resume", "nope"], ("Zebras", None)),
        (["Zebras", "--resume"], ("Zebras", None)),
    ):
        _, args = read_arguments(line)
        assert (args.agent and args.agent.name, args.prompt) == values
    assert main(["Zebras", "--resume", "nope"]) == 127
    assert "needs its agent, too: AGENT PROMPT --resume nope" in capsys.readouterr().err


def test_a_turn_in_a_session_that_is_not_recorded_needs_its_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", "Zebras again", "--resume", "nope"]) == 1
    assert "needs its agent: acp-tui exec AGENT PROMPT --resume ID" in capsys.readouterr().err


async def test_a_turn_says_why_the_agent_that_was_recorded_can_not_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = await record(tmp_path, "Zebras?", "demo")
    assert await to_thread.run_sync(main, ["exec", "Zebras again", "--resume", session_id]) == 1
    err = capsys.readouterr().err
    assert "the demo forgets its sessions" in err
    assert "needs its agent" not in err


async def test_a_turn_does_not_continue_another_agents_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = await record(tmp_path, "Zebras?")
    line = ["exec", "demo", "Go on", "--resume", session_id]
    assert await to_thread.run_sync(main, line) == 1
    assert f"session {session_id} belongs to somebody, not demo" in capsys.readouterr().err


async def test_sessions_are_listed_with_the_line_that_was_looked_for_and_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = await record(tmp_path, "Zebras?\nStriped horses, I mean")
    assert main(["sessions", "striped", "--cwd", str(tmp_path)]) == 0
    row, line = capsys.readouterr().out.splitlines()
    assert row.startswith(session_id[:8])
    assert row.endswith("Zebras?")
    assert line.strip() == "You: Striped horses, I mean"
    assert main(["sessions", "--all", "--format", "json"]) == 0
    (listed,) = data_of("sessions", capsys.readouterr().out)
    assert (listed["session_id"], listed["prompts"], listed["cwd"]) == (session_id, 1, str(tmp_path))
    assert main(["completion", "fish", "--", "claude", "--resume", ""]) == 0
    offered, _, title = capsys.readouterr().out.rstrip().partition("\t")
    assert session_id.startswith(offered)
    assert title.endswith(": Zebras?")
    assert main(["sessions", "lions", "--all"]) == 1
    assert capsys.readouterr().err == "acp-tui: No recorded session contains 'lions'.\n"


async def test_sessions_of_several_folders_are_listed_with_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in (one := tmp_path / "one", other := tmp_path / "a-long-name"):
        folder.mkdir()
    await record(one, "Zebras?")
    assert main(["sessions", "--all"]) == 0
    assert "~/" not in capsys.readouterr().out
    await record(other, "Lions?")
    assert main(["sessions", "--all"]) == 0
    ends = {line.partition("  ~")[2] for line in capsys.readouterr().out.splitlines()}
    assert ends == {"/one          Zebras?", "/a-long-name  Lions?"}


async def test_a_session_of_a_bare_command_is_listed_by_what_its_agent_says_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await record(tmp_path, "Zebras?", Path(demo("markdown").argv[0]).name)
    await record(tmp_path, "Lions?", "my-demo")
    assert main(["sessions", "--cwd", str(tmp_path)]) == 0
    named, bare = capsys.readouterr().out.splitlines()
    assert "  my-demo " in named
    assert "  demo " in bare
    assert main(["sessions", "--cwd", str(tmp_path), "--format", "json"]) == 0
    listed = data_of("sessions", capsys.readouterr().out)
    assert [f"  {one['agent']} " in row for one, row in zip(listed, (named, bare), strict=True)] == [True, True]


async def test_an_archived_session_is_listed_last_and_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await record(tmp_path, "Zebras?")
    await record(tmp_path, "Lions?", "other")
    (past,) = recorded_sessions(recordings_index(), None, "Lions")
    SessionMarks().change(past, is_archived=True)
    assert main(["sessions", "--cwd", str(tmp_path)]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.endswith("  Zebras?")
    assert last.endswith("  Lions?  (archived)")
    assert main(["sessions", "--cwd", str(tmp_path), "--format", "json"]) == 0
    listed = data_of("sessions", capsys.readouterr().out)
    assert [(one["title"], one["is_archived"]) for one in listed] == [("Zebras?", False), ("Lions?", True)]


async def test_the_sessions_of_a_repositorys_worktrees_are_listed_with_their_branch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_repository(tmp_path / "project", {"file.txt": b"one\n"})
    folder = Path((await add_worktree(tmp_path / "project", "fix")).folder)
    await record(tmp_path / "project", "Zebras?")
    await record(folder, "Lions?")
    assert main(["sessions", "--cwd", str(tmp_path / "project")]) == 0
    lions, zebras = capsys.readouterr().out.splitlines()
    assert zebras.endswith("  Zebras?")
    assert lions.endswith("  Lions?  (acp-tui/fix)")


async def test_a_session_with_a_draft_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await record(tmp_path, "Zebras?")
    (past,) = recorded_sessions(recordings_index(), None)
    DraftFile(state_folder() / "drafts.json").change({DraftKey(str(past.cwd), past.session_id): Draft("And lions?")})
    assert main(["sessions", "--cwd", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("  Zebras?  (draft)\n")


async def test_worktrees_that_are_kept_are_listed_below_what_can_be_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    make_repository(project, {"file.txt": b"one\n"})
    made = [await add_worktree(project, name) for name in ("one", "other")]
    say_what_is_left([], [Path(worktree.folder) for worktree in made], had_terminals=False)
    told, *folders = capsys.readouterr().err.splitlines()
    assert told.startswith("acp-tui: worktrees are kept; to copy one back or delete it, resume its session")
    assert folders == [f"  {worktree.root}" for worktree in made]
    command = told.partition("with its changes: ")[2].removesuffix("FOLDER").split()
    Path(made[0].folder, "file.txt").write_text("two\n")
    subprocess.run([*command, folders[0].strip()], cwd=project, check=True)
    assert not Path(made[0].root).exists()


async def test_a_folder_without_sessions_tells_of_those_in_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (other := tmp_path / "other").mkdir()
    assert main(["sessions", "--cwd", str(other)]) == 0
    assert capsys.readouterr().out == f"No session was recorded in {other}.\n"
    await record(tmp_path, "Zebras?")
    assert main(["sessions", "--cwd", str(other)]) == 0
    assert capsys.readouterr().out.endswith(f" in {other}, but 1 in another folder: acp-tui sessions --all\n")
    assert main(["sessions", "lions", "--cwd", str(other)]) == 1
    assert capsys.readouterr().err == f"acp-tui: No recorded session contains 'lions' in {other}.\n"
    assert main(["sessions", "zebras", "--cwd", str(other)]) == 1
    assert capsys.readouterr().err.endswith("acp-tui sessions zebras --all\n")


async def test_a_session_is_exported_and_nothing_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session_id = await record(tmp_path, "Zebras?")
    file = tmp_path / "out.md"
    assert main(["render", session_id, "-o", str(file)]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"acp-tui: written to {file}"
    assert told[1:] == [
        "acp-tui: known secrets are masked in it, names and folders aren't; to redact it: acp-tui help redact"
    ]
    assert main(["render", session_id, "-o", "nowhere/out.md"]) == 1
    assert "The folder doesn't exist: make it" in capsys.readouterr().err
    assert "Zebras?" in file.read_text()
    assert main(["render", session_id, "-o", str(file)]) == 1
    assert "exists" in capsys.readouterr().err
    for recording in recording_store(RecordingSettings()).files():
        assert main(["render", str(recording), "-o", str(tmp_path / "lines.jsonl")]) == 0
    assert "Zebras?" in (tmp_path / "lines.jsonl").read_text()
    assert main(["render", session_id, "-o", str(tmp_path / "b.md"), "--at", "1"]) == 2
    assert "moment of a picture" in capsys.readouterr().err


async def test_the_end_says_how_each_session_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session_id = await record(tmp_path, "Zebras?")
    unrecorded = LeftSession("x" * 20, "Lions\x1b[2J", "gemini", agent_is_listed=True)
    left = LeftSession(session_id, "<markup>", "somebody", agent_is_listed=False, why_not="its folder is gone")
    say_how_to_resume(left, unrecorded, replace(unrecorded, agent_is_listed=False))
    said = capsys.readouterr().err
    short = session_id[:8]
    assert said.splitlines()[:2] == [
        "Zebras?",
        f"  acp-tui --resume {short}    (read-only: its folder is gone)",
    ]
    assert said.splitlines()[3:] == [f"  acp-tui gemini --resume {'x' * 20}"]
    assert "\x1b" not in said
    say_how_to_resume(replace(left, why_not="", has_draft=True))
    assert capsys.readouterr().err.splitlines()[1] == f"  acp-tui --resume {short}    (with your draft)"


def keep(day: int, agent: str, *events: Event) -> None:
    """A recording from that day."""
    file = recording_store(RecordingSettings()).path_of(f"202611{day:02}T120000.000000Z-{agent}-abc.jsonl")
    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, events, Header(agent, (agent,), started_at=f"2026-11-{day:02}T12:00:00+00:00"))


def test_the_end_tells_a_fork_from_what_it_was_forked_from(capsys: pytest.CaptureFixture[str]) -> None:
    forked = sent(2.0, 3, "session/fork", sessionId="s", cwd="/project", mcpServers=[]), got(2.0, 3, sessionId="f")
    keep(1, "agent", *begun(), prompted(1.0, 2, "Zebras?"), *forked, prompted(3.0, 4, "Lions?", "f"))
    say_how_to_resume(*(LeftSession(one, "Zebras?", "agent", agent_is_listed=False) for one in ("s", "f")))
    assert capsys.readouterr().err.splitlines()[::2] == ["Zebras?", "Zebras?  (fork)"]


def test_of_two_agents_with_the_same_id_the_one_that_is_named_goes_on(tmp_path: Path) -> None:
    keep(1, "first", *begun(), prompted(1.0, 2, "Zebras?"))
    keep(2, "second", *begun(), prompted(1.0, 2, "Lions?"))
    assert find_resumed("s", tmp_path, None).past.title == "Lions?"
    for agent, title in (("first", "Zebras?"), ("second", "Lions?")):
        assert find_resumed("s", tmp_path, AgentCommand(agent, (agent,))).past.title == title


def test_the_end_says_that_the_draft_of_an_empty_session_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    say_how_to_resume(LeftSession("s1", "", "Gemini", agent_is_listed=False, has_draft=True))
    assert capsys.readouterr().err.splitlines() == [
        "Your draft",
        "  comes back in the next empty session with Gemini in its folder",
    ]


async def test_a_title_that_is_cut_says_so(tmp_path: Path) -> None:
    await record(tmp_path, "word " * 100)
    (past,) = recorded_sessions(recordings_index(), None)
    assert past.title.endswith(" word…")


async def test_a_broken_index_is_made_anew(tmp_path: Path) -> None:
    await record(tmp_path, "Zebras?")
    recording_store(RecordingSettings()).index_file.write_bytes(b"no database")
    assert [past.title for past in recorded_sessions(recordings_index(), None)] == ["Zebras?"]


async def test_a_recorded_session_is_rendered_and_redacted_by_its_id(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = await record(tmp_path, "Zebras?")
    page, public = tmp_path / "zebras.txt", tmp_path / "public.jsonl"
    assert await to_thread.run_sync(main, ["render", session_id[:-1], "-o", str(page)]) == 0
    assert "● somebody" in page.read_text()
    assert await to_thread.run_sync(main, ["redact", session_id, "-o", str(public)]) == 0
    assert "Zebras?" in public.read_text()

    capsys.readouterr()
    assert main(["redact", "lions", "-o", str(tmp_path / "lions.jsonl")]) == 2
    said = capsys.readouterr().err
    assert "there is no file lions, and no recorded session has an ID that starts with 'lions'" in said
    assert session_id in said


def test_a_worktree_is_refused_to_the_demo_which_has_its_own_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "demo", "--worktree"]) == 2
    assert "demo works in a project of its own, so it can't be used with --worktree" in capsys.readouterr().err


def test_a_worktree_that_has_another_name_than_wanted_says_why(tmp_path: Path) -> None:
    make_repository(tmp_path / "project", {"file.txt": b"one\n"})
    told: list[Any] = []

    def work_with(*_: Any, notes: Sequence[str] = (), **__: Any) -> int:
        told.append([*filter(None, notes)])
        return 0

    for name in ("feat", "feat", ""):
        agent = ChosenAgent(argv=("my-agent",))
        args = Namespace(resume=None, agent=agent, worktree=name, cwd=tmp_path / "project", record=None, plain=False)
        assert start_modes.run(Namespace(**vars(args), prompt=None), work_with) == 0
    assert told == [[], ["feat exists already, so this worktree is feat-2."], []]


async def test_an_export_has_the_name_that_the_user_gave_the_session(tmp_path: Path) -> None:
    await record(tmp_path, "Zebras?")
    (past,) = recorded_sessions(recordings_index(), None)
    SessionMarks().change(past, name="Stripes")
    assert await to_thread.run_sync(main, ["render", past.session_id, "-o", str(tmp_path / "a.md")]) == 0
    assert "Stripes" in (tmp_path / "a.md").read_text()
