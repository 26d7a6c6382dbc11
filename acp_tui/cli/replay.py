"""`acp-tui replay` and `render`: show a recording, or write a file from it.

`ui.replay` decides what such a file looks like.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args, absolute
from acp_tui.cli.command import UsageError
from acp_tui.cli.output import say, say_error
from acp_tui.cli.prerequisites import ExitOnError, has_terminal, notes_of, require_screen, settings_in_force
from acp_tui.cli.screen import fitted, run_app, told_afterwards
from acp_tui.cli.sessions import files_of, recordings_index, session_named
from acp_tui.client.errors import ClientError
from acp_tui.client.export.facts import ExportFacts
from acp_tui.client.export.writing import SUFFIXES, export, require_new, write
from acp_tui.client.sessions.marks import SessionMarks
from acp_tui.client.sessions.session_history import past_session, sandbox_of
from acp_tui.client.settings.reader import SettingsRead
from acp_tui.client.settings.settings import Settings
from acp_tui.client.transcript.index import RecordedSession
from acp_tui.client.transcript.lines import open_recording
from acp_tui.client.transcript.replay import replayed
from acp_tui.conversation.conversation import Conversation
from acp_tui.conversation.facts import SessionId
from acp_tui.conversation.wording import clock
from acp_tui.ui.base.app import BaseApp
from acp_tui.ui.kit.themes import DARK
from acp_tui.ui.replay.demo_recording import DemoUser, record_demo
from acp_tui.ui.replay.player import Speed, Spot, read_spot
from acp_tui.ui.replay.render import View, render, suffix_of, timeline_of, timeline_of_demo
from acp_tui.ui.replay.screen import ReplayApp
from acp_tui.ui.replay.timeline import Timeline, open_playable

SPEED: Final = 30.0
"""How many times as fast a scenario plays while the user waits for its recording."""
HESITATES_S: Final = 0.06
"""Long enough, at the recording's speed, to read a question."""
SCREEN: Final = (120, 40)
STDOUT: Final = Path("-")


def run(args: Args) -> int:
    until = spot_of(args.until)
    source = session_named(args.word)
    read = settings_to_show(source, "for a file instead: acp-tui render")
    return run_replay(source, Speed(args.speed, args.max_wait), until, read.settings, notes_of(read))


def spot_of(text: str | None) -> Spot | None:
    """Return the named moment. Raises UsageError."""
    try:
        spot = None if text is None else read_spot(text)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if text is not None and any(float(part) >= 60 for part in text.split(":")[1:]):
        raise UsageError(f"{text!r} isn't a time: minutes and seconds go up to 59")
    return spot


def settings_to_show(source: RecordedSession | Path | str, otherwise: str) -> SettingsRead:
    """Return the settings. Reports a problem with a recording before a missing terminal."""
    # With a terminal, open it only once, because it may be a pipe.
    if not isinstance(source, str) and not has_terminal():
        with ExitOnError():
            open_recording(*files_of(source)).close()
    require_screen(otherwise)
    return settings_in_force()


def run_replay(
    source: RecordedSession | Path | str, pace: Speed, until: Spot | None, settings: Settings, notes: Sequence[str] = ()
) -> int:
    """Show a recording, or a scenario by name, until the user quits. Returns the exit status.

    `notes` has remarks about the settings.
    """

    def make(files: Sequence[Path], stack: ExitStack) -> BaseApp:
        timeline = Timeline(stack.enter_context(open_playable(*files)), wanted=_session_id(source))
        return ReplayApp(timeline, pace=pace, until=until, settings=fitted_settings(settings), notes=notes)

    return show_app(source, make)


def fitted_settings(settings: Settings) -> Settings:
    """Return the settings with an appearance that this terminal can show."""
    return replace(settings, appearance=fitted(settings.appearance))


def show_app(source: RecordedSession | Path | str, make: Callable[[Sequence[Path], ExitStack], BaseApp]) -> int:
    """Run the app that `make` returns for the recordings, or for what a scenario by name says. Returns the exit status.

    What the app needs until its end goes onto the stack.
    """
    with ExitStack() as stack:
        try:
            app = make(stack.enter_context(recordings_of(source)), stack)
        except ClientError as error:
            say_error(error)
            return ExitCode.USAGE
        with told_afterwards():
            asyncio.run(run_app(app))
        return app.return_code or ExitCode.DONE


@contextmanager
def recordings_of(source: RecordedSession | Path | str) -> Iterator[Sequence[Path]]:
    """Provide the recordings, or a temporary one for a scenario's name. Raises ClientError."""
    if not isinstance(source, str):
        yield files_of(source)
        return
    with TemporaryDirectory(prefix="acp-tui-") as folder:
        file = Path(folder, f"{Path(source).stem}.jsonl")
        _say_playing(source)
        asyncio.run(record_demo(source, DemoUser(hesitates_s=HESITATES_S), file, screen=SCREEN, speed=SPEED))
        yield [file]


def _say_playing(scenario: str) -> None:
    say(f"the scripted agent plays {scenario} …")


def _session_id(source: RecordedSession | Path | str) -> SessionId | None:
    """Return the only session to show; None for all."""
    return source.session_id if isinstance(source, RecordedSession) else None


def write_rendering(args: Args) -> int:
    if args.at is not None and args.at_text is not None:
        raise UsageError("--at and --at-text both name a moment; use one")
    at = spot_of(args.at) if args.at_text is None else Spot(text=args.at_text)
    view = View(at, args.size, args.theme or DARK.name)
    prompts = () if args.prompt is None else (args.prompt,)
    source = session_named(args.word)
    if args.output != STDOUT:
        with ExitOnError(ExitCode.ERROR):
            require_new(args.output)
    if args.output.suffix.lower() not in SUFFIXES:
        return run_render(source, args.output, view, DemoUser(prompts))
    if view.at is not None:
        raise UsageError("--at and --at-text choose a moment of a picture; .md and .jsonl have all that was said")
    return run_export(source, absolute(args.output))


def run_export(source: RecordedSession | Path | str, output: Path) -> int:
    """Write what was said, in the format of the file's suffix. Returns the exit status."""
    with ExitOnError(ExitCode.ERROR), recordings_of(source) as files:
        if isinstance(source, RecordedSession):
            (past,) = SessionMarks().marked([past_session(source)])
            facts = ExportFacts.now(past.shown_agent, past.cwd, past.session_id, past.title, sandbox=sandbox_of(past))
            conversation = recordings_index().reread(source)
        else:
            with open_playable(*files) as recording:
                timeline = Timeline(recording)
                timeline.read_on()
            header, session_id = timeline.header, timeline.front.session_id or SessionId("")
            conversation = replayed(*files).get(session_id, Conversation())
            facts = ExportFacts.now(timeline.agent, Path(header.cwd), session_id, None, sandbox=header.sandbox)
        export(conversation, facts, output)
    _say_written(output, source)
    return ExitCode.DONE


def run_render(source: RecordedSession | Path | str, output: Path, view: View, user: DemoUser) -> int:
    """Write a view of a recording, or of what the scripted agent plays for `user`. Returns the exit status."""
    with ExitOnError():
        suffix = ".txt" if output == STDOUT else suffix_of(output)
        content = asyncio.run(_rendered(source, suffix, view, user))
    if output == STDOUT:
        print(content.decode(), end="")
        return ExitCode.DONE
    with ExitOnError(ExitCode.ERROR):
        write(output, [content])
    _say_written(output, source)
    return ExitCode.DONE


def _say_written(output: Path, source: RecordedSession | Path | str) -> None:
    say(f"written to {output}")
    if isinstance(source, RecordedSession):
        say("known secrets are masked in it, names and folders aren't; to redact it: acp-tui help redact")
    elif isinstance(source, Path):  # it may be redacted
        say("look at it before you share it")


async def _rendered(source: RecordedSession | Path | str, suffix: str, view: View, user: DemoUser) -> bytes:
    if isinstance(source, Path) and source.suffix == ".toml":
        raise ClientError(f"{source} isn't a recording", hint=f"to play a scenario: acp-tui render demo:{source}")
    if not isinstance(source, str):
        opened = timeline_of(*files_of(source), wanted=_session_id(source))
    else:
        _say_playing(source)
        opened = timeline_of_demo(source, user, view.size)
    async with opened as timeline:
        events, seconds = (view.at.events or 0, view.at.seconds or 0.0) if view.at is not None else (0, 0.0)
        if events > timeline.length or seconds > timeline.length_s:
            say(
                f"the recording ends at {clock(timeline.length_s)} ({timeline.length_s:.1f}s), "
                f"after {timeline.length:,} events, so its end is shown"
            )
        return await render(timeline, view, suffix)
