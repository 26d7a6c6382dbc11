"""Makes a request of what was given to a command; raises WrongUse for what does not go together.

Which commands there are, and what each takes, is `command_table`'s.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_tui.cli.command_line import Given, WrongUse
from acp_tui.cli.requests import (
    AgentChoice,
    Check,
    ChooseAgent,
    Completion,
    Demo,
    Doctor,
    Exec,
    ExportSession,
    Inspect,
    ListAgents,
    ListRules,
    ListScenarios,
    ListSessions,
    Mock,
    Redact,
    Render,
    Replay,
    Resume,
    Run,
    ShowKeys,
    ShowSettings,
)
from acp_tui.client.transcript.record_to import RecordTo

if TYPE_CHECKING:
    from acp_tui.ui.replaying.spot import Spot

MIN_SECRET: Final = 4
SHELLS: Final = ("bash", "zsh", "fish")
LISTS: Final = ("agents", "scenarios")
"""What the scripts of the shells ask for."""


def read_run(given: Given) -> Run | Resume:
    if given.resume is not None:
        return read_resume(given)
    return Run(agent_of(given, "run"), given.cwd, record_of(given), given.plain)


def read_resume(given: Given) -> Resume:
    if given.plain:
        raise WrongUse("--resume wants the screen, so it does not go with --plain")
    return Resume(given.resume, given.agent, given.cwd, record_of(given))


def read_sessions(given: Given) -> ListSessions | ExportSession:
    if given.export is None:
        return ListSessions(None if given.all else given.cwd, given.word or "", given.json)
    if given.word is None:
        raise WrongUse("--export wants a session and a file: acp-tui sessions --export ID FILE")
    return ExportSession(given.export, absolute(Path(given.word)))


def read_nameless(given: Given) -> Run | ChooseAgent | Resume:
    if given.resume is not None:
        return read_resume(given)
    if given.agent is None:
        if given.plain:
            raise WrongUse("--plain wants an agent: acp-tui AGENT --plain; acp-tui agents lists them")
        return ChooseAgent(given.cwd, record_of(given))
    return Run(given.agent, given.cwd, record_of(given), given.plain)


def read_agents(given: Given) -> ListAgents:
    return ListAgents(given.update, given.json, given.verbose)


def read_exec(given: Given) -> Exec:
    return Exec(agent_of(given, "exec"), given.cwd, given.prompt, given.format, record_of(given))


def read_demo(given: Given) -> Demo | ListScenarios:
    return ListScenarios() if given.list else Demo(given.word, given.speed, given.plain)


def read_doctor(given: Given) -> Doctor:
    if given.agent is None and given.turn is not None:
        raise WrongUse("--turn wants an agent before it: acp-tui doctor AGENT --turn")
    return Doctor(given.agent, given.cwd, given.turn, given.format)


def read_check(given: Given) -> Check | ListRules:
    if given.rules:
        return ListRules(given.format)
    if given.timeout <= 0:
        raise WrongUse("--timeout wants more than 0 seconds")
    return Check(agent_of(given, "check"), given.prompt, given.timeout, given.format, record_of(given))


def read_settings(given: Given) -> ShowSettings:
    return ShowSettings(given.cwd, given.markdown)


def read_keys(given: Given) -> ShowKeys:
    return ShowKeys(given.markdown)


def read_completion(given: Given) -> Completion:
    if given.word is None:
        raise WrongUse("completion wants a shell: bash, zsh or fish")
    if given.word not in (*SHELLS, *LISTS):
        raise WrongUse(f"there is no completion for {given.word}: bash, zsh or fish")
    return Completion(given.word)


def read_inspect(given: Given) -> Inspect:
    if given.word is None:
        raise WrongUse("inspect wants a recording or demo:NAME: acp-tui inspect FILE")
    return Inspect(source_of(given.word))


def read_replay(given: Given) -> Replay:
    from acp_tui.ui.replaying.pace import Pace  # only for this

    if given.word is None:
        raise WrongUse("replay wants a recording or demo:NAME: acp-tui replay FILE")
    source = source_of(given.word)
    if given.follow and not isinstance(source, Path):
        raise WrongUse("--follow is for a recording that is being written: a scenario is played beforehand")
    pace = Pace(given.speed, given.max_wait)
    return Replay(source, pace, spot_of(given.until), given.follow)


def read_render(given: Given) -> Render:
    from acp_tui.ui.replaying.spot import Spot

    if given.word is None or given.output is None:
        raise WrongUse(
            "render wants a recording or demo:NAME, and a file to write: acp-tui render FILE -o FILE.svg"
        )
    if given.at is not None and given.at_text is not None:
        raise WrongUse("--at and --at-text name two moments: one is enough")
    if given.speed == 0:
        raise WrongUse("--speed 0 leaves nothing of a film: a still is an .svg or a .png")
    columns, rows = given.size
    return Render(
        source=source_of(given.word),
        output=given.output,
        at=spot_of(given.at) if given.at_text is None else Spot(text=given.at_text),
        columns=columns,
        rows=rows,
        theme=given.theme,
        is_at_top=given.scroll == "top",
        answer=given.answer,
        prompt=given.prompt,
        speed=given.speed,
        max_wait_s=given.max_wait,
    )


def read_redact(given: Given) -> Redact:
    if given.word is None or given.output is None:
        raise WrongUse("redact wants a recording and a file to write: acp-tui redact FILE -o FILE")
    if given.keep_contents and given.drop_contents:
        raise WrongUse("--keep-contents leaves out all other files already: --drop-contents cannot add to it")
    if any(len(text) < MIN_SECRET for text in given.secret or ()):
        raise WrongUse(f"--secret wants {MIN_SECRET} characters at least: a shorter text stands everywhere")
    return Redact(
        Path(given.word),
        given.output,
        tuple(given.secret or ()),
        tuple(given.drop_contents or ()),
        tuple(given.keep_contents) if given.keep_contents else None,
        given.drop_media,
    )


def read_mock(given: Given) -> Mock:
    if given.word is None:
        raise WrongUse("mock wants a recording or a scenario: acp-tui mock FILE")
    source = source_of(given.word)
    if isinstance(source, Path) and source.suffix == ".toml":
        source = given.word
    is_scenario = isinstance(source, str)
    if is_scenario and (given.strict or given.timeout is not None):
        raise WrongUse("--strict and --timeout are for recordings: a scenario expects nothing of its client")
    if given.login and not is_scenario:
        raise WrongUse("--login is for scenarios: one logs in to a recording as it was recorded")
    return Mock(source, given.speed, given.strict, given.timeout, given.login)


def source_of(word: str) -> Path | str:
    """A file, or the name of a scenario in `demo:NAME`."""
    scheme, _, name = word.partition(":")
    if scheme != "demo":
        return Path(word)
    if not name:
        raise WrongUse("demo: wants a scenario, as in demo:coding; acp-tui demo --list shows them")
    return name


def spot_of(text: str | None) -> Spot | None:
    from acp_tui.ui.replaying.spot import read_spot

    try:
        spot = None if text is None else read_spot(text)
    except ValueError as error:
        raise WrongUse(str(error)) from error
    if text is not None and any(float(part) >= 60 for part in text.split(":")[1:]):
        raise WrongUse(f"{text!r} is no time: minutes and seconds go up to 59")
    return spot


def size_of(text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and 0 < int(columns) <= 1000 and 0 < int(rows) <= 1000):
        raise argparse.ArgumentTypeError(f"{text} is no size: COLUMNSxROWS, as in 120x40")
    return int(columns), int(rows)


def seconds_of(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number from 0 on")
    return seconds


def record_of(given: Given) -> RecordTo | None:
    if given.record is None:
        if given.record_raw:
            raise WrongUse("--record-raw says how to record: name the file with --record")
        return None
    return RecordTo(given.record, given.record_raw)


def agent_of(given: Given, command: str) -> AgentChoice:
    if not isinstance(given.agent, AgentChoice):
        raise WrongUse(f"{command} wants an agent: a known name, or -- COMMAND")
    return given.agent


def absolute(path: Path) -> Path:
    """Without `..` in it; what stands before that may be a link, so it is looked up."""
    parts = path.absolute().parts
    if ".." not in parts:
        return Path(*parts)
    behind = len(parts) - parts[::-1].index("..")
    return Path(os.path.realpath(Path(*parts[:behind])), *parts[behind:])


def directory_of(text: str) -> Path:
    try:
        path = absolute(Path(text).expanduser())
    except (RuntimeError, OSError) as error:  # the home of nobody; a folder that was deleted under us
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return path


def new_file_of(text: str) -> Path:
    path = absolute(Path(text))
    if path.exists():
        raise argparse.ArgumentTypeError(f"{text} exists: recordings overwrite nothing")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path
