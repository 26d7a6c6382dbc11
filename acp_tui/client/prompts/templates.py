"""Prompt templates: Markdown files whose names become slash commands, whichever the agent.

They are in `prompts` next to the settings file, and in `.acp-tui/prompts` of a project. The user's own come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from acp_tui.client.errors import SettingsError
from acp_tui.client.settings.location import settings_file
from acp_tui.client.settings.trust import read_project_file
from acp_tui.conversation.facts import OfferedCommand

IN_A_PROJECT: Final = Path(".acp-tui", "prompts")
SUFFIX: Final = ".md"
MAX_BYTES: Final = 64 << 10
MAX_TEMPLATES: Final = 200
"""Of each folder, in the order of their names."""
_HEAD: Final = re.compile(r"---\r?\n(.*?\n)?---\r?\n", re.DOTALL)
_FIELD: Final = re.compile(r"^([\w-]+): *(.*?) *$", re.MULTILINE)
_ARGUMENT: Final = re.compile(r"\$(ARGUMENTS|[1-9])\b")


class Template(NamedTuple):
    file: Path
    is_projects: bool
    """Whether it came with a project, so that the user should read it before it's sent."""
    text: str
    description: str
    hint: str
    """What to write after its name; "" if nothing is known of that."""

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def offered(self) -> OfferedCommand:
        return OfferedCommand(self.name, self.description, self.hint or None)

    def prompt(self, arguments: str) -> str:
        """The prompt for these arguments: they replace `$ARGUMENTS` and, by word, `$1` to `$9`, or follow the text."""
        words = arguments.split()

        def argument(found: re.Match[str]) -> str:
            if found[1] == "ARGUMENTS":
                return arguments
            at = int(found[1]) - 1
            return words[at] if at < len(words) else ""

        filled, count = _ARGUMENT.subn(argument, self.text)
        return filled if count or not arguments else f"{filled}\n\n{arguments}"


def templates(cwd: Path) -> Mapping[str, Template]:
    """The templates for a session in this folder, by name. Blocks. A file that can't be read isn't one."""
    found: dict[str, Template] = {}
    for folder, is_projects in ((settings_file().parent / "prompts", False), (cwd / IN_A_PROJECT, True)):
        for template in _in(folder, is_projects=is_projects):
            found.setdefault(template.name, template)
    return found


def _in(folder: Path, *, is_projects: bool) -> Iterator[Template]:
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix == SUFFIX and _is_a_word(file.stem))
    except OSError:
        return
    for file in files[:MAX_TEMPLATES]:
        try:
            content = read_project_file(file, MAX_BYTES)
        except SettingsError:
            continue
        if content is not None and (text := content.decode("utf-8-sig", "replace")).strip():
            yield _read(file, text, is_projects=is_projects)


def _is_a_word(name: str) -> bool:
    """Whether it can be typed as a command. Editors leave other files, whose names begin with a dot."""
    return name.isprintable() and name.split() == [name] and not name.startswith(".")


def _read(file: Path, content: str, *, is_projects: bool) -> Template:
    head = _HEAD.match(content)
    fields = dict(_FIELD.findall(head[0])) if head is not None else {}
    text = content[head.end() if head is not None else 0 :].strip()
    about = fields.get("description", "").strip("\"'") or text.partition("\n")[0].lstrip("# ")
    return Template(file, is_projects, text, about, fields.get("argument-hint", "").strip("\"'"))
