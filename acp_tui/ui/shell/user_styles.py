"""The user's stylesheets: every `styles/*.tcss` beside the settings file, read again when one changes.

A project brings none, and none reaches what asks a question: no file can hide or disguise what you agree to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from textual.app import App
from textual.css.errors import StylesheetError
from textual.css.stylesheet import Stylesheet, StylesheetParseError
from textual.css.tokenizer import TokenError

FOLDER: Final = "styles"
STYLED: Final = frozenset(
    {
        *("ConversationView", "EntryView", "MessageView", "ThoughtView", "ToolCallView", "DiffView"),
        *("TerminalView", "QuestionView", "CommandView", "NoteView", "PlanView", "Sidebar", "StatusLine"),
        *("TabLine", "Welcome", "PromptInput", "QueueLines"),
    }
)
"""A selector begins with one of these."""
PROPERTIES: Final = ("color", "background", "text-style")
"""What a rule may set: nothing moves, grows or lies over a question."""
ABOVE_OURS: Final = 1
"""Breaks the tie with a rule of ours that is as specific."""


class UserStyles:
    """Reads them into the stylesheet of an app."""

    def __init__(self, app: App[Any], folder: Path, say: Callable[[str], None]) -> None:
        self._app = app
        self._folder = folder
        self._say = say
        self._read: dict[Path, str] = {}

    async def follow(self) -> None:
        """Use what the folder holds, and each change of it, until cancelled."""
        if not self._folder.is_dir():
            return
        import watchfiles  # loads a native library: only for who has stylesheets

        self.use()
        try:
            async for _ in watchfiles.awatch(self._folder, recursive=False):
                self.use()
        except (OSError, RuntimeError) as error:
            self._say(f"Edits in {self._folder} won't be noticed until the next start: {error}")

    def use(self) -> None:
        """Style the app by the files as they are now. A file with an error is left out, and named."""
        texts = dict(self._texts())
        if texts == self._read:
            return
        sheet = self._app.stylesheet.copy()
        for file in self._read:
            sheet.source.pop((str(file), ""), None)
        for file, text in texts.items():
            problem = problem_in(file, text, self._app.get_css_variables())
            if problem:
                self._say(f"{problem}. The file isn't used.")
            else:
                sheet.add_source(text, (str(file), ""), tie_breaker=ABOVE_OURS)
        self._read = texts
        sheet.parse()
        self._app.stylesheet = sheet
        for screen in self._app.screen_stack:
            sheet.update(screen)

    def _texts(self) -> Iterator[tuple[Path, str]]:
        for file in sorted(self._folder.glob("*.tcss")):
            try:
                yield file, file.read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                self._say(f"{file} can't be read: {error}")


def problem_in(file: Path, text: str, variables: dict[str, str]) -> str:
    """What is wrong with a stylesheet and where; "" for nothing."""
    sheet = Stylesheet(variables=variables)
    sheet.add_source(text, (str(file), ""))
    try:
        sheet.parse()
    except TokenError as error:
        return f"{file}:{error.start[0]}: {error}"
    except StylesheetParseError as error:
        token, message = next(each for rule in error.errors.rules for each in rule.errors)
        return f"{file}:{token.location[0] + 1}: {getattr(message, 'summary', message)}"
    except StylesheetError as error:
        return f"{file}: {error}"
    for rule in sheet.rules:
        for selectors in rule.selector_set:
            if (name := selectors.selectors[0].name) not in STYLED:
                return f"{file}: {name} can't be styled, only {', '.join(sorted(STYLED))}"
        found = (name.removeprefix("auto_").replace("_", "-") for name in rule.styles.get_rules())
        if beyond := sorted(set(found) - set(PROPERTIES)):
            return f"{file}: {', '.join(beyond)} can't be set, only {', '.join(PROPERTIES)}"
    return ""
