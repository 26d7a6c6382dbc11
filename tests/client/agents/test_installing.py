"""Installing, updating, and removing agents: what runs, what is left, and what is said if it fails."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import anyio
import psutil
import pytest

from acp_tui.client.agents import archive
from acp_tui.client.agents.catalogue import KNOWN_AGENTS, EntrySource, find_agent, read_catalogue
from acp_tui.client.agents.command import SandboxPlan
from acp_tui.client.agents.installed import Installable, Installed, all_installed, read_installed, terms_of
from acp_tui.client.agents.installing import InstallFailed, install, look_up, remove
from acp_tui.client.agents.process import running_agent
from acp_tui.client.agents.registry import registry_file
from acp_tui.client.private_files import locked
from acp_tui.client.settings.location import installed_folder
from acp_tui.client.settings.settings import READ_ONLY, WORKSPACE, SandboxProfile
from support.installers import AGENT, Downloads, Installers, binary, downloads, installers, member, tar, zipped
from support.servers import Authority, authority
from support.waiting import TEST_LIMIT_S, until

__all__ = ["installers"]

GEMINI: Final = KNOWN_AGENTS["gemini"].offer


async def installed_anew(offer: Installable) -> Installed:
    return await install(await look_up(offer))


def left() -> list[str]:
    """What there is in the folder of installed agents, but for locks."""
    return sorted(path.name for path in installed_folder().glob("*") if path.suffix != ".lock")


async def greeting(agent: Installed, folder: Path, profile: SandboxProfile | None = None) -> str:
    """What the agent says of its folder, once it has started, in a sandbox or without one."""
    plan = None if profile is None else SandboxPlan(profile)
    with anyio.fail_after(TEST_LIMIT_S):
        async with running_agent(agent.command, lambda _: None, folder, plan) as process:
            await process.stream.send(b'{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}\n')
            answer = json.loads(await process.stream.receive())
            if process.sandbox is not None:
                process.sandbox.box.discard()
    return str(answer["result"]["agentInfo"]["name"])


# Packages


async def test_a_package_is_pinned_and_installed_in_a_folder_of_its_own(installers: Installers, tmp_path: Path):
    found = await look_up(GEMINI)
    assert found.version == "1.2.3"
    assert left() == []
    heard: list[str] = []
    made = await install(found, heard.append)
    folder = installed_folder() / "gemini/1.2.3"
    assert made.argv == (str(folder / "node_modules/.bin/gemini"), "--acp")
    assert installers.calls[-1] == [
        *("npm", "install", "--prefix", str(folder)),
        *("--ignore-scripts", "@google/gemini-cli@1.2.3"),
    ]
    assert "fetched x-1.0.0.tgz" in heard
    assert read_installed("gemini") == made
    assert installed_folder().stat().st_mode & 0o777 == 0o700
    assert await greeting(made, tmp_path) == "in a writable folder"


async def test_what_is_told_before_is_what_runs(installers: Installers):
    found = await look_up(GEMINI)
    about, line, *rest = terms_of(found)
    assert about == "npm downloads @google/gemini-cli 1.2.3, about 100 MB with all that it needs:"
    made = await install(found)
    assert line.split() == installers.calls[-1]
    assert f"its folder, {found.folder}. From there, it runs as you" in rest[-2]
    assert f"{found.folder}/{rest[-1]}".split() == list(made.argv)


async def test_a_newer_version_for_another_node_is_named(installers: Installers):
    node = installers.folder / "node"
    node.write_text("#!/bin/sh\necho v20.20.2\n")
    node.chmod(0o755)
    installers.do("0.49.0", newest={"version": "0.101.0", "engines": {"node": ">=22"}})
    terms = terms_of(await look_up(GEMINI))
    assert "Not the newest: 0.101.0 needs Node 22, this is 20.20.2." in terms
    installers.do("0.101.0", newest={"version": "0.101.0", "engines": {"node": ">=22"}})
    assert not any("newest" in line for line in terms_of(await look_up(GEMINI)))


async def test_uv_installs_a_tool_where_only_we_look_for_it(installers: Installers, tmp_path: Path):
    installers.do("0.10.48", "fast-agent-acp")
    found = await look_up(KNOWN_AGENTS["fast-agent"].offer)
    made = await install(found)
    folder = installed_folder() / "fast-agent/0.10.48"
    assert made.argv == (str(folder / "bin/fast-agent-acp"),)
    assert terms_of(found)[1].startswith(f"UV_TOOL_DIR={folder}/tool UV_TOOL_BIN_DIR={folder}/bin uv tool install")
    assert await greeting(made, tmp_path) == "in a writable folder"


async def test_only_a_package_that_needs_its_scripts_runs_them(installers: Installers):
    installers.do(program="opencode")
    made = await installed_anew(KNOWN_AGENTS["opencode"].offer)
    assert "--ignore-scripts" not in installers.calls[-1]
    package = json.loads((installed_folder() / "opencode/1.2.3/package.json").read_text())
    assert package["allowScripts"] == {"opencode-ai": True}
    assert made.version == "1.2.3"


async def test_a_file_of_the_project_changes_no_word_of_npms(
    installers: Installers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "install").touch()
    monkeypatch.chdir(tmp_path)
    await installed_anew(GEMINI)
    assert {call[1] for call in installers.calls} == {"install"}


@pytest.mark.parametrize("profile", [WORKSPACE, READ_ONLY])
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")
@pytest.mark.usefixtures("installers")
async def test_in_a_sandbox_it_starts_and_can_not_change_itself(tmp_path: Path, profile: SandboxProfile):
    made = await installed_anew(GEMINI)
    project = tmp_path / "project"
    project.mkdir()
    assert await greeting(made, project, profile) == "in a read-only folder"


# Where it fails


@pytest.mark.parametrize("name", ["gemini", "fast-agent"])
async def test_offline_it_says_so_in_one_line(installers: Installers, name: str):
    offer = KNOWN_AGENTS[name].offer
    installers.do(is_offline=True)
    for step in (look_up, install):
        with pytest.raises(InstallFailed, match=rf"^{name} can't be \w+( up)?: no connection \(\S+.*\)$") as failure:
            await step(replace(offer, version="1.2.3"))
        assert "try again" in failure.value.hint
    assert left() == []


async def test_a_package_that_is_gone_is_told_in_npms_words(installers: Installers):
    installers.do(is_missing=True)
    with pytest.raises(
        InstallFailed, match=r"^gemini can't be looked up: 404 Not Found - GET https://registry\.example"
    ):
        await look_up(GEMINI)


@pytest.mark.parametrize("version", ["../1.2.3", "", "1.2.3/../.."])
async def test_a_version_that_is_no_version_is_refused(installers: Installers, version: str):
    installers.do(version)
    with pytest.raises(InstallFailed, match="npm named no version of @google/gemini-cli"):
        await look_up(GEMINI)


async def test_a_package_without_the_agents_program_leaves_nothing(installers: Installers):
    installers.do(program="other")
    with pytest.raises(InstallFailed, match=r"@google/gemini-cli 1\.2\.3 has no program gemini"):
        await installed_anew(GEMINI)
    assert left() == []


async def test_an_npm_that_has_gone_is_told(installers: Installers):
    (installers.folder / "npm").unlink()
    with pytest.raises(InstallFailed, match="gemini can't be looked up: the command npm wasn't found"):
        await look_up(GEMINI)


@pytest.mark.parametrize("has_one", [False, True])
async def test_who_cancels_has_no_process_and_no_file_left(installers: Installers, has_one: bool):
    before = [await installed_anew(GEMINI)] if has_one else []
    installers.do("2.0.0", hangs=True)
    found = await look_up(GEMINI)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(install, found)
        await until(lambda: len(installers.pids) == 2, lambda: anyio.sleep(0.01))
        tasks.cancel_scope.cancel()
    assert not any(psutil.pid_exists(pid) for pid in installers.pids)
    assert list(all_installed()) == before
    assert not found.folder.exists()


async def test_two_do_not_install_the_same_at_once(installers: Installers):
    found = await look_up(GEMINI)
    with locked(installed_folder() / "gemini"), pytest.raises(InstallFailed, match="another acp-tui is using it"):
        await install(found)
    assert len(installers.calls) == 1


# Updates


async def test_an_update_replaces_it_and_keeps_the_one_that_may_be_running(installers: Installers):
    first = await installed_anew(GEMINI)
    installers.do("1.3.0")
    second = await installed_anew(GEMINI)
    assert read_installed("gemini") == second
    assert Path(first.argv[0]).exists()
    installers.do("1.4.0")
    await installed_anew(GEMINI)
    assert not Path(first.argv[0]).exists()
    assert Path(second.argv[0]).exists()


async def test_an_update_that_fails_changes_nothing(installers: Installers):
    first = await installed_anew(GEMINI)
    installers.do("1.3.0", "other")
    with pytest.raises(InstallFailed):
        await installed_anew(GEMINI)
    assert read_installed("gemini") == first
    assert Path(first.argv[0]).exists()


async def test_what_was_removed_is_gone_and_nothing_else_is(installers: Installers):
    gemini = await installed_anew(GEMINI)
    installers.do(program="qwen")
    qwen = await installed_anew(KNOWN_AGENTS["qwen"].offer)
    assert remove("gemini") == gemini
    assert left() == ["qwen", "qwen.json"]
    assert remove("gemini") is None
    assert remove("../agents/qwen") is None
    assert all_installed() == (qwen,)


@pytest.mark.usefixtures("installers")
async def test_what_a_killed_installation_has_left_goes_with_the_next():
    half = installed_folder() / "gemini/1.2.0/half"
    half.mkdir(parents=True)
    assert read_installed("gemini") is None
    await installed_anew(GEMINI)
    assert not half.exists()


# Among the agents


async def test_an_installed_agent_is_found_after_path_and_before_the_registry(installers: Installers):
    offered = find_agent("gemini")
    assert (offered.obstacle, offered.offer) == ("gemini isn't on PATH", GEMINI)
    made = await installed_anew(GEMINI)
    found = find_agent("gemini")
    assert (found.ready(), found.version, found.installed) == (made.command, "1.2.3", made)
    assert found in [replace(agent, is_recent=False) for agent in read_catalogue().agents]
    (installers.folder / "gemini").touch(mode=0o755)
    assert find_agent("gemini").command.argv == ("gemini", "--acp")


async def test_without_its_tool_an_agent_is_not_offered(installers: Installers):
    (installers.folder / "npm").unlink()
    assert find_agent("gemini").offer is None
    assert find_agent("fast-agent").offer is not None


@pytest.mark.usefixtures("installers")
async def test_an_agent_whose_program_is_gone_is_offered_again():
    made = await installed_anew(GEMINI)
    shutil.rmtree(installed_folder() / "gemini/1.2.3/node_modules/x")
    assert find_agent("gemini").obstacle
    assert await installed_anew(GEMINI) == made


# Archives


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def server(ca: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[Downloads]:
    with downloads(ca, monkeypatch) as served:
        yield served


def of_registry(url: str, content: bytes | None = None, **more: Any) -> Installable:
    """What the registry's entry for an archive offers, with its checksum if `content` is given."""
    entry = binary(archive=url, **more, **({} if content is None else {"sha256": sha256(content).hexdigest().upper()}))
    file = registry_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"fetched_at": 1.0, "etag": "", "index": json.dumps({"agents": [entry]})}))
    offer = find_agent("some").offer
    assert offer is not None
    return offer


def shortly(value: object) -> str:
    """What stands for a value in the name of a test."""
    return value if isinstance(value, str) else "content"


PROGRAM: Final = {"dist": None, "dist/some": AGENT.encode(), "dist/more/data": b"data"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("some.tar.gz", tar(PROGRAM)),
        ("some.tgz", tar(PROGRAM, member("dist/link", tarfile.SYMTYPE, "more/data"))),
        ("some.tar.bz2", tar(PROGRAM, member("dist/copy", tarfile.LNKTYPE, "dist/more/data"), compression="bz2")),
        ("some.zip", zipped(PROGRAM, {"dist/link": "more"})),
        ("some", AGENT.encode()),
    ],
    ids=shortly,
)  # fmt: skip
async def test_an_archive_is_held_against_its_checksum_unpacked_and_started(
    server: Downloads, tmp_path: Path, name: str, content: bytes
):
    offer = await look_up(of_registry(server.serve(name, content), content))
    assert offer.size_bytes == len(content)
    assert server.asked == [f"HEAD /{name}"]
    made = await install(offer)
    assert made.argv == (str(installed_folder() / "some/1.2.3/dist/some"), "acp")
    assert made.sha256 == sha256(content).hexdigest()
    assert await greeting(made, tmp_path) == "in a writable folder"
    assert find_agent("some").command == made.command
    registry_file().unlink()
    assert find_agent("some").source is EntrySource.REGISTRY


async def test_what_is_not_the_file_of_the_checksum_is_not_unpacked(server: Downloads):
    offer = of_registry(server.serve("some.tgz", tar(PROGRAM)), b"another")
    with pytest.raises(
        InstallFailed, match=r"it isn't the file that the registry lists: its SHA-256 is [0-9a-f]{64}, not"
    ):
        await install(offer)
    assert left() == []


async def test_a_missing_checksum_is_told_in_the_question(server: Downloads):
    url = server.serve("some.tgz", tar(PROGRAM))
    assert "has no checksum of it" in "".join(terms_of(of_registry(url)))
    assert "It must have the SHA-256 a" in "".join(terms_of(replace(of_registry(url), sha256="a" * 64)))


OUTSIDE: Final = "outside its folder"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tgz", tar({**PROGRAM, "../evil": b"x"}), OUTSIDE),
        ("a.tgz", tar({**PROGRAM, "/tmp/evil": b"x"}), OUTSIDE),
        ("a.tgz", tar(PROGRAM, member("link", tarfile.SYMTYPE, "/etc")), OUTSIDE),
        ("a.tgz", tar(PROGRAM, member("link", tarfile.SYMTYPE, "..")), OUTSIDE),
        (
            "a.tgz",
            tar(PROGRAM, member("up", tarfile.SYMTYPE, "dist/.."), member("x", tarfile.SYMTYPE, "up/../../y")),
            OUTSIDE,
        ),
        ("a.tgz", tar(PROGRAM, member("dist", tarfile.SYMTYPE, "/tmp")), "File exists"),
        ("a.tgz", tar(PROGRAM, member("hard", tarfile.LNKTYPE, "/etc/passwd")), "passwd"),
        ("a.tgz", tar(PROGRAM, member("device", tarfile.CHRTYPE)), "neither a file nor a folder"),
        ("a.tgz", tar(PROGRAM, member("pipe", tarfile.FIFOTYPE)), "neither a file nor a folder"),
        ("a.tgz", tar({"other": b""}), "it has no program dist/some"),
        ("a.tgz", tar({"dist": None}, member("dist/some", tarfile.SYMTYPE, "/bin/sh")), OUTSIDE),
        ("a.tgz", b"no archive", "gzip"),
        ("a.tgz", tar(PROGRAM)[:-30], ""),
        ("a.zip", zipped({**PROGRAM, "../evil": b"x"}), OUTSIDE),
        ("a.zip", zipped(PROGRAM, {"link": "../../.."}), OUTSIDE),
        ("a.zip", zipped({"other": b""}), "it has no program dist/some"),
        ("a.zip", b"no archive", "not a zip file"),
    ],
    ids=shortly,
)  # fmt: skip
async def test_a_hostile_or_broken_archive_leaves_nothing(server: Downloads, name: str, content: bytes, said: str):
    offer = of_registry(server.serve(name, content), content)
    with pytest.raises(InstallFailed, match=f"^some can't be installed: .*{said}"):
        await install(offer)
    assert left() == []
    assert not (installed_folder() / "evil").exists()


async def test_a_link_below_a_link_is_not_followed_while_files_are_written(server: Downloads, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    content = tar({}, member("dist", tarfile.SYMTYPE, str(outside)), tarfile.TarInfo("dist/some"))
    with pytest.raises(InstallFailed):
        await install(of_registry(server.serve("a.tgz", content), content))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "said"), [("MAX_UNPACKED_BYTES", "unpacks to more"), ("MAX_FILES", "more than 1 files")]
)
@pytest.mark.parametrize(("name", "content"), [("a.tgz", tar(PROGRAM)), ("a.zip", zipped(PROGRAM))], ids=shortly)
def test_an_archive_that_unpacks_without_end_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, limit: str, said: str
):
    monkeypatch.setattr(archive, limit, 1)
    with pytest.raises(archive.Refused, match=said):
        archive.unpack(io.BytesIO(content), name, tmp_path, "dist/some")


def test_a_download_that_is_too_large_is_given_up(server: Downloads, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "MAX_BYTES", 3)
    with pytest.raises(archive.Refused, match="it is larger than"):
        archive.download(server.serve("a.tgz", b"more"), io.BytesIO())


@pytest.mark.parametrize(
    ("target", "said"),
    [("http://127.0.0.1:9/a.tgz", "an address without https"), ("file:///etc/passwd", "the server answered 302")],
)  # fmt: skip
async def test_a_redirect_away_from_https_is_not_followed(server: Downloads, target: str, said: str):
    offer = of_registry(server.serve("a.tgz", target))
    for step in (look_up, install):
        with pytest.raises(InstallFailed, match=said):
            await step(offer)


async def test_a_redirect_to_https_is_followed(server: Downloads):
    content = tar(PROGRAM)
    moved = server.serve("b.tgz", content)
    offer = await look_up(of_registry(server.serve("a.tgz", moved), content))
    assert offer.size_bytes == len(content)
    assert (await install(offer)).version == "1.2.3"


async def test_a_server_that_is_not_there_or_not_trusted_is_told(server: Downloads, monkeypatch: pytest.MonkeyPatch):
    offer = of_registry(server.serve("a.tgz", tar(PROGRAM)))
    with pytest.raises(InstallFailed, match="the server answered 404 Not Found"):
        await look_up(replace(offer, source=f"{server.base}/absent.tgz"))
    with pytest.raises(InstallFailed, match="no connection"):
        await look_up(replace(offer, source="https://127.0.0.1:9/a.tgz"))
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(InstallFailed, match="certificate"):
        await look_up(offer)
