"""Prints the reference: help and its topics, all settings, and all keys, with the values in effect."""

from __future__ import annotations

import pydoc
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from io import StringIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from acp_tui.cli import ExitCode
from acp_tui.cli.arguments import Args, nearest
from acp_tui.cli.command import UsageError
from acp_tui.cli.commands import COMMANDS, command_named
from acp_tui.cli.help_text import MIN_ROOM, columns, help_of, man_page, overview, table
from acp_tui.cli.output import print_json, say
from acp_tui.cli.prerequisites import notes_of, settings_in
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.wording import SettingDoc, allowed_values, documented, shown_setting, value_in_force
from acp_tui.conversation.visible import make_visible_line
from acp_tui.docs import for_terminals, sections, topics

if TYPE_CHECKING:
    from acp_tui.ui.commands.command import Command
    from acp_tui.ui.kit.row_list import PickerRow


T = TypeVar("T")
WAYS_COLUMNS: Final = 30
"""For keys and slash commands. Few take more; 80 columns have room for three less."""


def print_settings(args: Args) -> int:
    """Print every setting with its value, or those that match, also in `[keys]`. Problems go to stderr."""
    from acp_tui.ui.commands import keymap  # load Textual
    from acp_tui.ui.kit import filtered_list, row_list, themes

    read = settings_in(args.cwd)
    settings = read.settings
    wrong_theme = themes.theme_notes(settings.appearance.theme)
    keys = keymap.keymap_of(settings.keys)
    notes = (*notes_of(read), *wrong_theme, *keys.notes)
    if wrong_theme:
        settings = replace(settings, appearance=replace(settings.appearance, theme=themes.DARK.name))
    names = ", ".join(sorted(themes.THEME_NAMES))
    found = [
        (replace(one, allowed=names) if one.key == "appearance.theme" else one, value_in_force(one, settings))
        for one in documented()
    ]
    rows: list[PickerRow[tuple[SettingDoc, Any]]] = []
    if args.word:  # without one, keys are left to `acp-tui keys`
        preset = keymap.KEYS_PRESET
        doc = SettingDoc(f"keys.{preset.name}", allowed_values(preset), preset.default, preset.setting.doc)
        found.append((doc, tuple(sorted(keys.presets))))
        for id_, command in keymap.BY_ID.items():
            value, usual = (tuple(map(keymap.written_key, each.keys[id_])) for each in (keys, keymap.DEFAULT_KEYMAP))
            about = f"{keymap.heading_of(command)}: {command.title}."
            doc = SettingDoc(f"keys.{id_}", "a key or a list of keys", usual, about)
            found += [(doc, value)] * (not command.fixed_characters)
        rows += [row_list.PickerRow(each, each[0].key, each[0].about) for each in found]
        found = [row.value for row in filtered_list.matching(rows, args.word)]
    file = settings_file()
    where = f"F12 in acp-tui, or {make_visible_line(str(file))}{'' if file.exists() else ', which is not there yet'}"
    status = ExitCode.DONE if found else _nothing_matches("setting", args.word, rows, f"; to change one: {where}")
    if args.format == "json":
        print_json("settings", [{**asdict(one), "value": value} for one, value in found], notes)
    elif found:
        lines = [f"To change these: {where}."]
        for one, value in found:
            lines += _about(one, shown_setting(value))
        _show_with_notes(lines, notes)
    return status


def _nothing_matches(what: str, query: str, rows: Iterable[PickerRow[Any]], advice: str = "") -> int:
    """Say so, with the words of the rows' names that were probably meant."""
    texts = [f"{row.label} {row.names}".lower() for row in rows]
    known = {word for text in texts for word in re.findall(r"[^\W_]{3,}", text)}
    near = [
        word if word in known else nearest(word, sorted(each for each in known if each[0] == word[0])) or word
        for word in query.lower().split()
    ]
    is_there = near != query.lower().split() and any(all(word in text for word in near) for text in texts)
    meant = f"; did you mean {' '.join(near)}?" if is_there else ""
    say(f"no {what} matches {query!r}{meant}{advice}")
    return ExitCode.ERROR


def _about(one: SettingDoc, value: str) -> Iterator[str]:
    is_table = not value and "." not in one.key
    yield f"\n[{one.key}]" if is_table else f"{one.key} = {value}" if value else one.key
    usual = shown_setting(one.default)
    default = f" Default: {usual}." if value != usual else ""
    text = one.about if is_table else f"{one.about} Allowed: {one.allowed}.{default}"
    yield textwrap.fill(text, columns(), initial_indent="    ", subsequent_indent="    ")


def print_keys(args: Args) -> int:
    """Print every command with its keys, or those that match. Problems go to stderr."""
    from acp_tui.ui.commands import help, keymap  # noqa: A004 - loads Textual

    keys_in_force = keymap.keymap_of(settings_in(Path.cwd()).settings.keys)
    is_json = args.format == "json"
    each: Sequence[PickerRow[Command]] = list(help.help_rows(keys_in_force, is_each=True))
    found = each if is_json and not args.word else help.matching_rows(keys_in_force, args.word or " " * args.all)
    shown = _in_whole_words(found, args.word or "", lambda row: " ".join((row.label, row.names, row.description)))
    turn_on = f"; to turn it on: acp-tui settings {args.word}" * (args.word in keymap.PRESETS)
    status = ExitCode.DONE if shown else _nothing_matches("key or command", args.word, each, turn_on)
    if is_json:
        data = [
            {
                "where": row.group,
                "name": row.value.id,
                "keys": [row.value.fixed_characters]
                if row.value.fixed_characters
                else [*keys_in_force.keys[row.value.id]],
                "title": row.value.title,
                "about": row.description,
            }
            for row in shown
        ]
        print_json("keys", data, keys_in_force.notes)
    elif shown:
        lines = [*_plain(shown)]
        if not args.word:
            count = len(help.matching_rows(keys_in_force, " "))
            lines += ["" if args.all else f"\nThese are the {len(shown)} basic ones. All {count}: acp-tui keys --all"]
            lines += ["Those that match, each with its name for [keys]: acp-tui keys WORD"]
        _show_with_notes(lines, keys_in_force.notes)
    return status


def _plain(rows: Sequence[PickerRow[Command]]) -> Iterator[str]:
    """Wrapped on a terminal; otherwise each command in one line, for grep."""
    ids = max(len(row.value.id) for row in rows)
    width = ids + WAYS_COLUMNS
    for heading, of_place in groupby(rows, lambda row: row.group):
        ways = ((row, filter(None, (row.aside, *(f"/{each}" for each in row.value.slashes)))) for row in of_place)
        named = [(f"{row.value.id:<{ids}}  {' '.join(way)}", row.label) for row, way in ways]
        yield f"\n{heading}"
        if sys.stdout.isatty():
            yield table(named, width if columns() - width - 4 >= MIN_ROOM else width - 3).rstrip()
        else:
            yield from (f"  {name:<{width}}  {label}" for name, label in named)


def _show_with_notes(lines: Iterable[str], notes: Iterable[str]) -> None:
    """Print the lines, then problems in the settings."""
    _show("\n".join(lines) + "\n")
    for note in notes:
        say(note)


def _show(text: str) -> None:
    """Print it; what is higher than the terminal, in the user's pager."""
    fits = text.count("\n") < shutil.get_terminal_size().lines
    (pydoc.plainpager if fits else pydoc.pager)(text)


def print_help(args: Args) -> int:
    _show(man_page() if args.format == "man" else _text(args.word))
    return ExitCode.DONE


def _text(name: str | None) -> str:
    if name is None:
        return overview()
    command = command_named(name)
    if name in topics():
        return (f"Options: acp-tui {name} --help\n\n" if command else "") + _page(name)
    if command:
        return help_of(command)
    near = nearest(name, (*topics(), *(each.name for each in COMMANDS)))
    keys = f"for keys and slash commands: acp-tui keys {name}"
    if not near and (found := _sections_with(name.lower())):
        return f"No topic is named {name}; {keys}\nThese sections have it:\n\n{found}"
    advice = f"did you mean {near}?" if near else f"topics: {', '.join(topics())}"
    raise UsageError(f"no command or topic is named {name}; {advice}; {keys}")


def _sections_with(words: str) -> str:
    """The sections that have these words, those with them in the heading first; "" if none has."""
    found = [
        (f"{heading}\n{text}", heading, f"acp-tui help {topic}", ": ".join(filter(None, (title, heading))))
        for topic, title in topics().items()
        for heading, text in sections(topic).items()
        if words in f"{heading}\n{text}".lower()
    ]
    best = sorted(_in_whole_words(found, words, itemgetter(0)), key=lambda each: words not in each[1].lower())
    rows = [each[2:] for each in best]
    width = max((len(typed) for typed, _ in rows), default=0)
    return table(rows, width)


def _in_whole_words(found: Sequence[T], query: str, text: Callable[[T], str]) -> Sequence[T]:
    """Those that have the words whole, or with an ending, such as not "folder" for "fold"; all if none has."""
    words = [rf"(?<![^\W_]){re.escape(word)}(e?s|ed|(?<=e)d|ing)?(?![^\W_])" for word in query.split()]
    return [each for each in found if all(re.search(word, text(each), re.I) for word in words)] or found


def _page(topic: str) -> str:
    """Return a page laid out for the terminal, or as Markdown for a pipe."""
    if not sys.stdout.isatty():
        return for_terminals(topic)
    # These take a tenth of a second to load, and the help of a command doesn't need them.
    from rich import console, markdown

    terminal = console.Console(file=StringIO(), width=columns(), color_system=None, legacy_windows=False)
    with terminal.capture() as laid_out:
        terminal.print(markdown.Markdown(for_terminals(topic), hyperlinks=False))
    return "\n".join(line.rstrip() for line in laid_out.get().splitlines()) + "\n"
