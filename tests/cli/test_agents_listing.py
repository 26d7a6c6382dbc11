"""`acp-tui agents`, and the list printed when there is no terminal to choose on: text and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acp_tui.cli import agents
from acp_tui.cli.main import VisibleOutput, main
from acp_tui.client.agents.configured_agents import config_file
from acp_tui.client.agents.installed import record_of
from acp_tui.client.agents.registry import RegistryUnavailable, registry_file
from acp_tui.client.private_files import write_json_state
from support.command_line import data_of
from support.installers import binary, entry, npx


@pytest.fixture(autouse=True)
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Only these programs are installed."""
    for program in ("npx", "sh"):
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def agents_file() -> Path:
    file = config_file()
    file.parent.mkdir(parents=True)
    return file


def fetched(*entries: dict[str, object]) -> None:
    file = registry_file()
    file.parent.mkdir(parents=True)
    index = json.dumps({"agents": entries})
    file.write_text(json.dumps({"fetched_at": 1.0, "etag": "", "index": index}))


def test_without_an_agent_and_a_terminal_all_are_listed(agents_file: Path, capfd: pytest.CaptureFixture[str]):
    agents_file.write_text('[agents.mine]\ncommand = ["sh"]\n')
    assert main([]) == 0
    out = capfd.readouterr().out
    assert "acp-tui mine           ready" in out
    assert "acp-tui gemini         can't run    gemini isn't on PATH, nor is npm; npm install -g @google/gem" in out
    assert "acp-tui demo           ready" in out
    assert "acp-tui agents --update" in out


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_on_a_terminal_no_line_is_wider_and_no_word_is_cut(
    columns: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(VisibleOutput, "isatty", lambda _: True)
    assert main(["agents"]) == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if "agents.toml" not in line]
    assert max(map(len, lines)) < columns
    about = "claude-agent-acp isn't on PATH, nor is npm; npm install -g @agentclientprotocol/claude-agent-acp"
    assert about in " ".join(" ".join(lines).split())


def test_a_package_is_listed_with_all_that_would_run(capfd: pytest.CaptureFixture[str]):
    fetched(npx("some", env={"A": "1"}))
    assert main(["agents"]) == 0
    assert "acp-tui some           asks first   to run: A=1 npx -y some-agent@1.2.3" in capfd.readouterr().out


def test_an_installed_agent_is_listed_with_its_version_and_that_of_the_registry(
    on_path: Path, capfd: pytest.CaptureFixture[str]
):
    fetched(binary("some"))
    record = {"version": "1.2.0", "source": "https://example.org/a.tgz", "argv": [str(on_path / "sh")], "env": {}}
    write_json_state(record_of("some"), {**record, "sha256": ""})
    assert main(["agents"]) == 0
    assert "ready        Some Agent 1.2.0, installed by acp-tui; the registry has 1.2.3" in capfd.readouterr().out


def test_the_columns_stand_one_below_the_other_beside_a_long_name_too(
    agents_file: Path, capfd: pytest.CaptureFixture[str]
):
    agents_file.write_text(f'[agents.{"x" * 60}]\ncommand = ["sh"]\n[agents.mine]\ncommand = ["sh"]\n')
    assert main(["agents"]) == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("  acp-tui ")]
    states = ("ready", "can't run", "asks first")
    starts = {
        min(at for state in states if (at := line.find(f"   {state}")) >= 0) for line in lines if "xxx" not in line
    }
    assert len(starts) == 1
    assert any("x" * 60 in line for line in lines)


def test_texts_are_made_visible(agents_file: Path, capfd: pytest.CaptureFixture[str]):
    agents_file.write_text('[agents.mine]\ncommand = ["\\u001b[31mred\\u202e"]\n')
    assert main(["agents"]) == 0
    out = capfd.readouterr().out
    assert "red" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_what_is_wrong_is_said_and_hides_no_agent(agents_file: Path, capfd: pytest.CaptureFixture[str]):
    agents_file.write_text("[agents.mine]\ncomand = []\n")
    fetched(npx("some"), entry("bad"))
    assert main(["agents"]) == 0
    out, err = capfd.readouterr()
    assert "agents.mine.comand is unknown and ignored; did you mean command?" in err
    assert "acp-tui some" in out
    agents_file.write_text('[mine]\ncommand = ["x"]\n[agent.other]\ncommand = ["x"]\n')
    assert main(["mine"]) == 2
    assert "mine is unknown and ignored; did you mean agents.mine?" in capfd.readouterr().err
    assert main(["agents", "--format", "json"]) == 0
    assert "bad: it doesn't say how to run it" in "".join(capfd.readouterr())


def test_as_json_there_is_all_of_it_but_the_users_secrets(agents_file: Path, capfd: pytest.CaptureFixture[str]):
    agents_file.write_text('[agents.mine]\ncommand = ["sh"]\nenv = { TOKEN = "geheim" }\n')
    fetched(npx("some", env={"A": "1"}))
    assert main(["agents", "--format", "json"]) == 0
    told = data_of("agents", capfd.readouterr().out)
    mine, some = (next(each for each in told["agents"] if each["name"] == name) for name in ("mine", "some"))
    assert mine["env"] == {"TOKEN": "***"}
    assert (mine["can_run"], mine["asks_first"]) == (True, False)
    assert some["command"] == ["npx", "-y", "some-agent@1.2.3"]
    assert some["env"] == {"A": "1"}
    assert (some["can_run"], some["asks_first"], some["why_not"]) == (True, True, None)
    assert told["fetched_at"] == "1970-01-01T00:00:01Z"


def test_a_registry_that_cannot_be_fetched_is_said_and_the_list_comes_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def fail(_: Path) -> None:
        raise RegistryUnavailable("the agent registry couldn't be fetched", hint="still in use")

    monkeypatch.setattr(agents, "update_registry", fail)
    assert main(["agents", "--update"]) == 1
    out, err = capfd.readouterr()
    assert err == "acp-tui: the agent registry couldn't be fetched; still in use\n"
    assert "acp-tui demo" in out


def test_the_registry_is_fetched_only_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    asked: list[Path] = []
    monkeypatch.setattr(agents, "update_registry", asked.append)
    assert main(["agents"]) == 0
    assert asked == []
    assert main(["agents", "--update"]) == 0
    assert asked == [registry_file()]
