"""What users read: the README is short, links work, and every command and extra it names exists."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Final

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from acp_tui import __version__
from acp_tui.cli.commands import command_named
from acp_tui.cli.plain import COMMANDS as LINE_COMMANDS
from acp_tui.client.settings.reader import interpret
from acp_tui.client.settings.wording import documented, value_in_force
from acp_tui.docs import topics
from acp_tui.ui.commands.table import COMMANDS

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (
    ROOT / "README.md",
    ROOT / "acp_tui/README.md",
    *(ROOT / ".github").glob("*.md"),
    *(ROOT / "acp_tui/docs").glob("*.md"),
)
IDS: Final = [str(page.relative_to(ROOT)) for page in PAGES]
INSTALLING: Final = ROOT / "acp_tui/docs/install.md"
MAX_README_LINES: Final = 200


def test_the_readme_is_short_and_shows_pictures_first() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) < MAX_README_LINES
    assert any(line.startswith("![") for line in lines[:8])


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    files = [re.sub(r"^\.\./\.\./actions/(.+\.yml)(/badge\.svg)?$", r".github/\1", link) for link in links]
    assert [file for file in files if not (page.parent / file).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_link_into_a_page_leads_to_a_heading(page: Path) -> None:
    for name, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        headings = re.findall(r"^#+ (.+)$", (page.parent / name if name else page).read_text(), re.MULTILINE)
        assert anchor in [re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_no_empty_line_breaks_a_table(page: Path) -> None:
    blocks = page.read_text(encoding="utf-8").split("\n\n")
    assert [block for block in blocks if block.startswith("| ") and "\n|--" not in block] == []


def test_every_place_on_the_map_exists() -> None:
    text = (ROOT / "acp_tui/README.md").read_text()
    named = {each for each in re.findall(r"`([\w./]+(?:/|\.(?:py|tcss|md|toml)))`", text) if "NAME" not in each}
    assert len(named) > 30
    places = [ROOT, ROOT / "acp_tui", *(ROOT / "acp_tui").rglob("*/")]
    assert [each for each in sorted(named) if not any((place / each).exists() for place in places)] == []


def test_every_file_is_on_the_map() -> None:
    rows = re.findall(r"^\| (.*?) \| (.*) \|$", (ROOT / "acp_tui/README.md").read_text(), re.MULTILINE)
    files = [
        (file, told)
        for folders, told in rows
        for folder in re.findall(r"`([\w/]+)/`", folders)
        for file in (ROOT / "acp_tui" / folder).glob("[!_]*.py")
    ]
    assert len(files) > 300
    assert [str(file.relative_to(ROOT)) for file, told in files if f"`{file.stem}`" not in told] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_command_and_option_in_an_example_exists(page: Path) -> None:
    for line in re.findall(r"^acp-tui ([a-z]+)(.*)$", page.read_text(), re.MULTILINE):
        name, rest = line
        command = command_named(name) or command_named("run")
        assert command is not None
        flags = {flag for option in command.options for flag in option.flags} | {"--resume"}
        given = re.findall(r"(?:^| )(--[a-z-]+)", rest.split("#")[0].split(" -- ")[0])
        assert [flag for flag in given if flag not in flags] == [], line


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_extra_that_is_named_exists(page: Path) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {each for found in re.findall(r"acp-tui\[([\w,]+)\]", page.read_text()) for each in found.split(",")}
    assert named - extras.keys() == set()


def test_the_readme_links_every_topic() -> None:
    text = (ROOT / "README.md").read_text()
    assert [name for name in topics() if f"[{name}](acp_tui/docs/{name}.md)" not in text] == []


def test_the_page_on_installing_names_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert [name for name in extras if f"| `{name}` |" not in INSTALLING.read_text()] == []


@pytest.mark.parametrize("system", [Unix, MacOS])
def test_the_page_on_installing_names_every_folder(system: type[Unix | MacOS], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    its = system("acp-tui")
    folders = (its.user_config_path, its.user_state_path, its.user_data_path, its.user_cache_path)
    named = INSTALLING.read_text().replace('"Application Support"', "Application Support")
    uninstalling = named.partition("## Uninstall")[2]
    assert [each for each in folders if f"`~/{each.relative_to(Path.home())}" not in named] == []
    assert [each for each in folders if f" ~/{each.relative_to(Path.home())}" not in uninstalling] == []


CONNECTING: Final = {
    "client/agents/registry.py": "the agent registry, if the user fetches it",
    "client/agents/archive.py": "an agent's archive: its size, and after a yes what is in it",
    "client/agents/websocket.py": "an agent at an address, or a host",
    "client/agents/streamable_http.py": "an agent at an address",
    "client/hosting/serving.py": "a host, which listens",
    "client/hosting/finding.py": "whether a host of this machine listens",
    "client/sandbox/proof.py": "an attempt to get out of a sandbox, on this machine",
    "cli/plain/asking.py": "a page that the user agreed to visit, in the browser",
    "ui/kit/desktop.py": "the same, and links",
}
"""What opens or accepts a connection. The section "What leaves your machine" of install.md says when; keep it so."""
_NETWORK: Final = re.compile(
    r"""urlopen\( | build_opener\( | HTTPConnection | HTTPSConnection | AsyncClient\( | httpx\.(get|post|stream|Client)
    | asyncio\.client\ import\ .*\bconnect\b | asyncio\.server\ import\ .*\bserve\b | [ ]aiohttp[ ]
    | \bconnect_(tcp|unix)\b | create_(tcp|unix)_listener | open_(unix_)?connection\( | start_(unix_)?server\(
    | create_server\( | socket\.create_connection | AF_INET | \w\.connect\(str | \.sendto\( | webbrowser\.(open|get)
    | import\ (smtplib|ftplib|xmlrpc|http) | \bimport\ requests""",
    re.VERBOSE,
)


def test_nothing_connects_but_what_the_page_on_installing_tells() -> None:
    package = ROOT / "acp_tui"
    found = {str(file.relative_to(package)) for file in package.rglob("*.py") if _NETWORK.search(file.read_text())}
    assert found == set(CONNECTING)


_SET_FOR_GIT: Final = ("ALLOW_PROTOCOL", "NO_LAZY_FETCH", "OPTIONAL_LOCKS", "TERMINAL_PROMPT", "TRACE2")
UNLISTED_VARIABLES: Final = {
    *(f"GIT_{each}" for each in (*_SET_FOR_GIT, "TRACE2_EVENT", "TRACE2_PERF")),
    *("PAGER", "GIT_PAGER", "LINES", "ACP_TUI_SECONDS"),  # set for commands, or kept from them
    *("UV_TOOL_DIR", "UV_TOOL_BIN_DIR"),  # set for uv
    *("ACP_TUI_FOLDER", "DEMO_SPEED", "TEXTUAL_DRIVER"),  # set for acp-tui's own processes
    *("HEAD", "NFKC", "O_PATH", "PNG", "POSIX", "SIG", "STRING", "TARGETS", "TEXT", "TYPE", "UTF8_STRING"),  # others
}
OF_OTHERS: Final = ("client/loading_variables.py", "client/sandbox/")
"""These modules list variables that mean something to other programs."""
_READERS: Final = frozenset({"environ", "_environ", "env", "getenv", "HOST_TOKEN_VARIABLE"})


def _may_be_variables(file: Path) -> set[str]:
    """What looks like a variable in a module that reads any."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    if _READERS.isdisjoint(getattr(node, kind, "") for node in nodes for kind in ("attr", "id", "arg")):
        return set()
    words = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {word for word in words if re.fullmatch(r"(?=...)[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", word)}


def test_the_page_on_settings_names_every_environment_variable_that_is_read() -> None:
    package, page = ROOT / "acp_tui", (ROOT / "acp_tui/docs/settings.md").read_text()
    files = [file for file in package.rglob("*.py") if not str(file.relative_to(package)).startswith(OF_OTHERS)]
    read = set().union(*map(_may_be_variables, files))
    assert read > UNLISTED_VARIABLES
    assert [name for name in sorted(read - UNLISTED_VARIABLES) if f"`{name}`" not in page] == []


def test_every_line_of_the_example_settings_is_valid_and_changes_a_default() -> None:
    page = (ROOT / "acp_tui/docs/settings.md").read_text()
    example = page.partition("```toml\n")[2].partition("```")[0]
    tables = tomllib.loads(example)
    read = interpret(tables, "the example", {"HOME": "/home/ada", "TRACEPARENT": "00-1"})
    written = {f"{name}.{key}" for name, table in tables.items() if isinstance(table, dict) for key in table}
    unchanged = {one.key for one in documented() if value_in_force(one, read.settings) == one.default is not None}
    assert (read.problems, read.warnings) == ((), ())
    assert len(written) > 30
    assert written & unchanged == set()


def test_the_pages_have_every_slash_command_of_the_screen_and_of_line_mode() -> None:
    page = (ROOT / "acp_tui/docs/keys.md").read_text()
    typed = [each.typed for each in COMMANDS if each.typed]
    typed += [name for each in COMMANDS for name, _ in each.shortcuts]
    in_lines = (ROOT / "acp_tui/docs/screen-readers.md").read_text().partition("## Commands")[2]
    assert [each for each in typed if f"`/{each}`" not in page.replace("\\|", "|")] == []
    assert [each.name for each in LINE_COMMANDS if not re.search(f"`/{each.name}[` ]", in_lines)] == []


def test_the_page_on_troubles_says_what_the_program_says() -> None:
    """`…` stands for what differs."""
    said = "\n".join(
        node.value
        for file in (ROOT / "acp_tui").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    cells = re.findall(r"^\| ([^|]+) \|", (ROOT / "acp_tui/docs/troubleshooting.md").read_text(), re.MULTILINE)
    quoted = [part.strip() for cell in cells for words in re.findall("`([^`]+)`", cell) for part in words.split("…")]
    assert len(quoted) > 30
    assert [part for part in quoted if part not in said] == []


def test_the_nix_flake_has_this_version_and_these_dependencies() -> None:
    flake = (ROOT / ".github/packaging/flake.nix").read_text()
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    named = re.split(r"\s+", flake.split("pkgs.python3Packages; [")[1].split("]")[0].strip())
    assert f'version = "{__version__}"' in flake
    assert {re.split(r"[<>=]", each)[0] for each in wanted} == set(named)
