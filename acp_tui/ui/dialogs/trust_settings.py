"""The question whether a project may bring its own settings: what they would change, beside what holds now."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from acp_tui.client.settings.paths import changed, value_at
from acp_tui.client.settings.project_settings import ProjectSettings, layered
from acp_tui.client.settings.reader import SettingsRead
from acp_tui.client.settings.wording import set_value
from acp_tui.ui.dialogs.trust import TrustQuestion
from acp_tui.ui.kit.frame import shown_line


class TrustSettingsDialog(TrustQuestion):
    """Asks for a project's settings."""

    def __init__(self, project: ProjectSettings, user: SettingsRead) -> None:
        told = Content.assemble(
            shown_line(str(project.file), "bold"),
            " would change these settings here. A project can only narrow what agents may do, and choose how much of a"
            " conversation is shown.\n",
        )
        super().__init__("Use this project's settings?", [told, *_lines(project, user)])


def _lines(project: ProjectSettings, user: SettingsRead) -> Iterator[Content]:
    laid = layered(user, project)
    for key, _ in changed(user.settings, laid.settings):
        theirs, yours = (set_value(value_at(settings, key)) for settings in (laid.settings, user.settings))
        yield Content.assemble(
            (key, "bold $text-accent"),
            "\n  ",
            shown_line(theirs),
            "\n  ",
            shown_line(f"yours: {yours}", "$foreground-muted"),
        )
    for problem in laid.problems:
        yield shown_line(f"✗ {problem}", "$foreground-muted")
