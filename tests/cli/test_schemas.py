"""JSON output: each command's fits the schema that is printed for it, and a turn's is the same in both versions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_tui.cli.commands import COMMANDS, SCHEMAS
from acp_tui.cli.main import main
from acp_tui.cli.schemas import MODELS, schema_of
from acp_tui.client.settings.location import settings_file
from support.command_line import data_of, lines_of, problems_of


def schema_lines(schema: dict[str, Any]) -> list[str]:
    """Each key of each object, with "?" if it may be missing, and what its value is."""
    found = dict.fromkeys(_keys(schema, schema["title"]))
    for name, each in schema.get("$defs", {}).items():
        found |= dict.fromkeys(_keys(each, name))
    return [*found, f"{schema['title']}: {_type(schema)}"] if "oneOf" in schema else [*found]


def _keys(schema: dict[str, Any], name: str) -> Iterator[str]:
    for key, value in schema.get("properties", {}).items():
        yield f"{name}.{key}{'' if key in schema.get('required', ()) else '?'}: {_type(value)}"
    if "enum" in schema:
        yield f"{name}: {_type(schema)}"


def _type(value: dict[str, Any]) -> str:
    for key in ("anyOf", "oneOf"):
        if key in value:
            return " | ".join(sorted(_type(each) for each in value[key]))
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "const" in value or "enum" in value:
        return " | ".join(json.dumps(each) for each in value.get("enum", [value.get("const")]))
    if value.get("type") == "array":
        items = value.get("prefixItems") or [value.get("items", {})]
        return f"[{', '.join(map(_type, items))}]"
    if isinstance(value.get("additionalProperties"), dict):
        return f"{{string: {_type(value['additionalProperties'])}}}"
    return " ".join(filter(None, (value.get("type", "any"), value.get("format", ""))))


LIMIT_S = 60

PRINTED = {
    "agents": ("agents",),
    "demo": ("demo", "--list"),
    "doctor": ("doctor",),
    "hosts": ("hosts",),
    "keys": ("keys",),
    "rules": ("check", "--rules"),
    "sessions": ("sessions",),
    "settings": ("settings",),
}


def printed(capfd: pytest.CaptureFixture[str], *argv: str) -> str:
    main([*argv, "--format", "json"])
    return capfd.readouterr().out


@pytest.mark.parametrize("name", PRINTED)
def test_what_a_command_prints_fits_its_schema(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    data_of(name, printed(capfd, *PRINTED[name]))


def test_every_command_with_json_has_a_schema_and_shells_offer_it() -> None:
    printing = {
        command.name
        for command in COMMANDS
        for option in command.options
        if option.value is not None and {"json", "ndjson"} & {*option.value.choices}
    }
    assert list(MODELS) == list(SCHEMAS)
    assert printing | {"check", "rules"} == {*SCHEMAS}


def test_the_interface_is_as_it_was() -> None:
    """Add new keys to the file. A line that is changed or gone needs a new version in the name of its schema."""
    now = [line for name in SCHEMAS for line in schema_lines(schema_of(name))]
    kept = (Path(__file__).parents[1] / "data/json_interface.txt").read_text().splitlines()
    assert sorted(set(kept) - set(now)) == []
    assert sorted(set(now) - set(kept)) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_printed_by_name(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", name]) == 0
    schema = json.loads(capfd.readouterr().out)
    assert schema["title"] == ("acp-tui/conversation/1" if name == "exec" else f"acp-tui/{name}/1")


def test_without_a_name_the_schemas_are_listed_and_a_wrong_one_is_corrected(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == list(SCHEMAS)
    assert main(["schema", "agent"]) == 2
    assert "did you mean agents?" in capfd.readouterr().err


def test_settings_have_native_values_and_problems_are_in_the_envelope(capfd: pytest.CaptureFixture[str]) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(
        'appearance.ascii = true\nhistory.prompts = "x"\nworkspace.additional_directories = ["/a"]\n'
        '[[refuse]]\npath = "secrets/**"\n'
    )
    text = printed(capfd, "settings")
    values = {one["key"]: one["value"] for one in data_of("settings", text)}
    assert values["appearance.ascii"] is True
    assert values["workspace.additional_directories"] == ["/a"]
    assert values["refuse"][0]["path"] == "secrets/**"
    assert len(problems_of("settings", text)) == 1


def turn(folder: Path, scenario: str, version: str) -> list[Any]:
    """The lines of a turn of the demo agent in this version of the protocol, without its time and session."""
    agent = (sys.executable, "-m", "acp_tui.demo", scenario, "--speed", "0")
    argv = ("exec", "--prompt", "hi", "--format", "ndjson", "--protocol", version, "--cwd", str(folder), "--", *agent)
    done = subprocess.run(
        [sys.executable, "-m", "acp_tui", *argv],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        start_new_session=True,
    )
    return lines_of(done.stdout.splitlines())


@pytest.mark.parametrize("scenario", ["content", "failures", "session_updates"])
def test_a_turn_prints_the_same_lines_in_both_versions_of_the_protocol(scenario: str, tmp_path: Path) -> None:
    first, second = (turn(tmp_path, scenario, version) for version in ("1", "2"))
    assert first[-1]["type"] == "result"
    assert len(first) > 5
    assert first == second


@pytest.mark.parametrize("scenario", ["subagents", "terminal", "tool_calls"])
@pytest.mark.parametrize("version", ["1", "2"])
def test_every_line_of_a_turn_fits_the_schema(scenario: str, version: str, tmp_path: Path) -> None:
    assert turn(tmp_path, scenario, version)[-1]["type"] == "result"
