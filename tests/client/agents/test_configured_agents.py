"""agents.toml: what an entry may contain, and that a mistake affects only its own entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.agents.configured_agents import EXAMPLE, ConfiguredAgents, read_configured_agents

COMMAND = 'command = ["run"]'
URL_WITH_HEADERS = """\
[agents.build]
url = "wss://build.example/acp"
headers = { Authorization = "Bearer ${BUILD_TOKEN}" }
"""
URL = '[agents.a]\nurl = "wss://build/acp"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "agents.toml"


def read(file: Path, text: str, **environ: str) -> ConfiguredAgents:
    file.write_text(text)
    return read_configured_agents(file, environ)


def test_without_a_file_there_are_none(file: Path):
    assert read_configured_agents(file, {}) == ConfiguredAgents()


def test_the_example_of_the_hint_is_valid(file: Path):
    command = read(file, EXAMPLE).agents["mine"].command
    assert (command.name, command.argv, command.env, command.is_listed) == (
        "mine",
        ("my-agent", "--acp"),
        {"MY_AGENT_MODEL": "large"},
        True,
    )


def test_an_entry_with_an_address_is_an_agent_elsewhere_with_its_headers(file: Path):
    command = read(file, f'{URL_WITH_HEADERS}cwd = "/srv/it"', BUILD_TOKEN="s3cret").agents["build"].command
    assert command.address is not None
    assert command.address.headers == {"Authorization": "Bearer s3cret"}
    assert (command.argv, command.is_elsewhere, command.cwd) == (
        ("wss://build.example/acp",),
        True,
        Path("/srv/it"),
    )
    assert not command.is_offered_this_machine
    assert "s3cret" not in repr(command)


@pytest.mark.parametrize("way", ['command = ["run"]', 'url = "wss://build.example/acp"'])
def test_an_entry_says_which_proxies_lie_before_its_agent(file: Path, way: str):
    found = read(
        file, f'[agents.a]\n{way}\nproxies = [["~/bin/rules", "--in", "${{DIR}}"], ["log"]]', DIR="/d", HOME="/h"
    )
    assert found.agents["a"].command.proxies == (("/h/bin/rules", "--in", "/d"), ("log",))


@pytest.mark.parametrize("way", ['command = ["run"]', 'url = "wss://build.example/acp"'])
def test_an_entry_says_which_version_is_spoken(file: Path, way: str):
    """R2-INIT."""
    found = read(file, f"[agents.a]\n{way}\nprotocol = 1\n[agents.b]\n{way}\n[agents.c]\n{way}\nprotocol = true")
    assert [found.agents[name].command.protocol for name in "ab"] == [1, None]
    assert "agents.c.protocol" in str(found.problems["c"])


@pytest.mark.parametrize("way", ['command = ["run"]', 'url = "wss://build.example/acp"'])
def test_an_entry_has_a_system_prompt_as_text_or_in_a_file(file: Path, tmp_path: Path, way: str):
    (tmp_path / "rules.md").write_text("Be brief.\nBe kind.\n")
    found = read(
        file,
        f'[agents.a]\n{way}\nsystem_prompt = "Be brief."\n'
        f'[agents.b]\n{way}\nsystem_prompt_file = "~/rules.md"\nsystem_prompt_mode = "override"\n[agents.c]\n{way}',
        HOME=str(tmp_path),
    )
    prompts = {name: (each.command.system_prompt, each.command.overrides_prompt) for name, each in found.agents.items()}
    assert prompts == {"a": ("Be brief.", False), "b": ("Be brief.\nBe kind.", True), "c": ("", False)}


def test_the_users_word_lets_an_address_be_plain_and_share_files(file: Path):
    text = '[agents.a]\nurl = "ws://10.0.0.1/acp"\ninsecure = true\nfiles = "shared"'
    command = read(file, text).agents["a"].command
    assert command.is_offered_this_machine


def test_variables_are_filled_in_and_a_tilde_in_front_is_the_home(file: Path):
    text = '[agents.a]\ncommand = ["~/bin/a", "--key=${KEY}", "~"]\nenv = { TOKEN = "${TOKEN:-none}" }'
    command = read(file, text, HOME="/home/me", KEY="k").agents["a"].command
    assert command.argv == ("/home/me/bin/a", "--key=k", "~")
    assert command.env == {"TOKEN": "none"}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("agents.a = 5", "agents.a isn't a table"),
        (f"[a]\n{COMMAND}", "agents.toml: a is unknown and ignored; did you mean agents.a?"),
        ("[agents.a]", "agents.a.command isn't a list of strings, the program first"),
        ('[agents.a]\ncomand = ["x"]', "agents.a.comand is unknown and ignored; did you mean command?"),
        ("[agents.a]\ncommand = []", "agents.a.command isn't a list"),
        ('[agents.a]\ncommand = [""]', "agents.a.command isn't a list"),
        ('[agents.a]\ncommand = "a b"', "agents.a.command isn't a list"),
        ("[agents.a]\ncommand = [1]", "agents.a.command isn't a list"),
        ('[agents.a]\ncommand = ["${NOPE}"]', "agents.a.command: the environment variable NOPE isn't set"),
        (f"[agents.a]\n{COMMAND}\nenv = []", "agents.a.env isn't a table of strings"),
        (f"[agents.a]\n{COMMAND}\nenv = {{ A = 1 }}", "agents.a.env isn't a table of strings"),
        (f'[agents.a]\n{COMMAND}\nenv = {{ A = "${{NOPE}}" }}', "agents.a.env.A: the environment variable NOPE"),
        (f'[agents.a]\n{COMMAND}\nwrapper = "ssh"', "agents.a.wrapper isn't a list"),
        (f'[agents.a]\n{COMMAND}\nruns = "there"', 'agents.a.runs isn\'t "here" or "elsewhere"'),
        (f"[agents.a]\n{COMMAND}\nfiles = true", 'agents.a.files isn\'t "shared"'),
        (f'[agents.a]\n{COMMAND}\nmcp = "docs"', "agents.a.mcp isn't a list of strings"),
        (f'[agents.a]\n{COMMAND}\nproxies = "p"', "agents.a.proxies isn't a list of commands"),
        (f'[agents.a]\n{COMMAND}\nproxies = [["p"], "q --flag"]', "agents.a.proxies, number 2 isn't a list of strings"),
        (f'[agents.a]\n{COMMAND}\nproxies = [["p", "${{NOPE}}"]]', "number 1: the environment variable NOPE isn't set"),
        (f"[agents.a]\n{COMMAND}\nsystem_prompt = []", "agents.a.system_prompt isn't a string"),
        (f'[agents.a]\n{COMMAND}\nsystem_prompt_mode = "replace"', 'system_prompt_mode isn\'t "append" or "override"'),
        (f'[agents.a]\n{COMMAND}\nsystem_prompt_file = "x.md"', "agents.a.system_prompt_file isn't an absolute path"),
        (f'[agents.a]\n{COMMAND}\nsystem_prompt_file = "/none/x"', "agents.a.system_prompt_file can't be read"),
        (f'[agents.a]\n{COMMAND}\nsystem_prompt_file = "${{NOPE}}"', "file: the environment variable NOPE isn't set"),
        (f'[agents.a]\n{COMMAND}\nsystem_prompt = "x"\nsystem_prompt_file = "/x"', "sets the system prompt twice"),
        (f"[agents.a]\n{COMMAND}\ndescription = 5", "agents.a.description isn't a string"),
        (f'[agents."-x"]\n{COMMAND}', "this name can't be typed"),
        ('[agents.a]\nurl = 5', "agents.a.url isn't a string"),
        ('[agents.a]\nurl = "build"', "agents.a.url: 'build' isn't the address of an agent"),
        ('[agents.a]\nurl = "ws://build/acp"', "agents.a.url: ws://build would send everything unencrypted"),
        (f'[agents.a]\n{COMMAND}\nurl = "wss://a/"', "agents.a needs either a command"),
        (f"{URL}headers = []", "agents.a.headers isn't a table of strings"),
        (f'{URL}headers = {{ A = "${{NOPE}}" }}', "agents.a.headers.A: the environment variable NOPE isn't set"),
        (f'{URL}headers = {{ "A:" = "b" }}', "this isn't the name of a header"),
        (f'{URL}headers = {{ A = "b\\r\\nC: d" }}', "agents.a.headers.A: its value isn't only printable ASCII"),
        (f'{URL}insecure = "yes"', "agents.a.insecure isn't true or false"),
        (f'{URL}cwd = "src"', "agents.a.cwd isn't an absolute path of the other machine"),
        (f'{URL}token_command = "pass"', "agents.a.token_command isn't a list of strings"),
        (f'{URL}token_command = ["a"]\nheaders = {{ authorization = "b" }}', "agents.a sets the token twice"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_file_and_key_and_costs_no_other_agent(file: Path, entry: str, said: str):
    found = read(file, f"{entry}\n[agents.good]\n{COMMAND}\n")
    assert list(found.agents) == ["good"]
    (problem,) = found.problems.values()
    assert str(problem).startswith(str(file))
    assert said in str(problem)


def test_an_unset_variable_is_told_with_what_to_do_and_a_mistake_with_an_example(file: Path):
    found = read(file, f'[agents.a]\ncommand = ["${{NOPE}}"]\n[agents.b]\n{COMMAND}\nenv = 5')
    assert str(found.problems["a"]).endswith("NOPE isn't set: export it, or write ${NOPE:-default}")
    assert not found.problems["a"].hint
    assert EXAMPLE in found.problems["b"].hint


def test_a_key_that_means_nothing_is_named_with_the_one_that_was_meant(file: Path):
    found = read(file, f"[agents.a]\n{COMMAND}\nevn = {{}}\nzzz = 1")
    assert list(found.agents) == ["a"]
    assert [warning.partition("agents.a.")[2] for warning in found.warnings] == [
        "evn is unknown and ignored; did you mean env?",
        "zzz is unknown and ignored; known: command, env, wrapper, runs, sandbox, files, mcp, protocol, proxies, "
        "system_prompt, system_prompt_file, system_prompt_mode, description",
    ]


@pytest.mark.parametrize("text", ["agents = [", "agents = 5", '[agents.a]\ncommand = ["\x00"]'])
def test_a_file_that_is_of_no_use_as_a_whole_is_said_with_an_example(file: Path, text: str):
    found = read(file, text)
    assert not found.agents
    assert EXAMPLE in found.problems[""].hint
    assert EXAMPLE in found.notes[0]


# Where it runs


def test_a_wrapper_goes_before_the_command_and_takes_it_elsewhere(file: Path):
    command = read(file, f'[agents.a]\nwrapper = ["docker", "exec", "-i", "box"]\n{COMMAND}').agents["a"].command
    assert command.argv == ("docker", "exec", "-i", "box", "run")
    assert command.is_elsewhere
    assert not command.is_offered_this_machine
    assert "can't use this machine's files and terminals" in command.place_note


def test_ssh_gets_one_shell_line_in_which_each_word_stays_one(file: Path):
    text = """[agents.a]\nwrapper = ["/usr/bin/ssh", "host"]\ncommand = ["run", "a b", "$(x)"]"""
    command = read(file, text).agents["a"].command
    assert command.argv == ("/usr/bin/ssh", "host", "run 'a b' '$(x)'")


def test_a_tilde_behind_a_wrapper_is_not_this_machines_home(file: Path):
    text = '[agents.a]\nwrapper = ["~/bin/box"]\ncommand = ["~/bin/a"]'
    assert read(file, text, HOME="/home/me").agents["a"].command.argv == ("/home/me/bin/box", "~/bin/a")


def test_files_are_shared_only_where_the_entry_says_so_and_that_has_a_note(file: Path):
    text = f'[agents.a]\nwrapper = ["box"]\nfiles = "shared"\n{COMMAND}'
    command = read(file, text).agents["a"].command
    assert command.is_offered_this_machine
    assert "on this machine" in command.place_note


def test_a_wrapper_that_stays_here_changes_nothing_else(file: Path):
    command = read(file, f'[agents.a]\nwrapper = ["nice"]\nruns = "here"\n{COMMAND}').agents["a"].command
    assert command.argv == ("nice", "run")
    assert command.is_offered_this_machine
    assert command.place_note == ""


def test_a_command_can_run_elsewhere_without_a_wrapper(file: Path):
    assert read(file, f'[agents.a]\nruns = "elsewhere"\n{COMMAND}').agents["a"].command.is_elsewhere


def test_an_agent_can_choose_its_mcp_servers(file: Path):
    found = read(file, f'[agents.a]\n{COMMAND}\nmcp = ["docs"]\n[agents.b]\n{COMMAND}\nmcp = []\n[agents.c]\n{COMMAND}')
    assert [found.agents[name].command.mcp_servers for name in "abc"] == [("docs",), (), None]
