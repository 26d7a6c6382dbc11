"""Nothing that runs in a box gets out of it, as root and as another user; and each attempt would, without a box."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pytest

from acp_tui.client.processes import landlock
from support.box_attempts import ATTEMPTS, BEYOND_LANDLOCK, Attempt

TESTS: Final = Path(__file__).parents[1]
NOBODY: Final = 65534
ROOT_OR_USER: Final = "root" if os.getuid() == 0 else "user"
USERS: Final = (ROOT_OR_USER, "another user")
PROBE: Final = ("bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true")
OWN_SRV: Final = 'mount -t tmpfs -o mode=700,uid={owner} tmpfs /srv && exec "$@"'
TRY: Final = "import subprocess, sys, support.box_runs; subprocess.run([sys.executable, '-c', ''], check=True)"


class Runner:
    """A process of a user that runs scripts in worlds of their own."""

    def __init__(self, user: str) -> None:
        self._is_nobody = user == "another user"
        if self._is_nobody and os.getuid() != 0:
            pytest.skip("only root can become another user")
        if shutil.which("bwrap") is None:
            pytest.skip("bubblewrap isn't installed")
        self._prefix: list[str] = []
        owner = NOBODY if self._is_nobody else os.getuid()
        # In /srv, which a box shows, unlike /tmp. Boxes of other tests don't see this one's services come and go there.
        own_srv = ("unshare", "--mount", "--", "sh", "-c", OWN_SRV.format(owner=owner), "sh")
        self.above = Path("/srv")
        if subprocess.run((*own_srv, "true"), capture_output=True, check=False).returncode == 0:
            self._prefix += own_srv
        else:
            self.above = Path(tempfile.mkdtemp(prefix="acp-tui-boxes-"))
            os.chown(self.above, owner, -1)
        packages = [str(TESTS), str(TESTS.parent), *(path for path in sys.path if path.endswith("-packages"))]
        self._environment = {"PATH": os.defpath, "HOME": str(self.above), "PYTHONPATH": os.pathsep.join(packages)}
        if self._is_nobody:
            self._prefix += ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        probe = [*self._prefix, *PROBE]
        probed = subprocess.run(probe, env=self._environment, capture_output=True, text=True, check=False)
        if probed.returncode:
            pytest.skip(f"the system refuses user namespaces: {probed.stderr.strip()}")
        self._python = self._found()
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._python, "-m", "support.box_world"],
            cwd=TESTS,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _found(self) -> list[str]:
        """A Python that the user can run."""
        if not self._is_nobody:
            return [*self._prefix, sys.executable]
        for python in (sys.executable, "/usr/bin/python3"):
            tried = subprocess.run(
                [*self._prefix, python, "-c", TRY], cwd=TESTS, env=self._environment, capture_output=True, check=False
            )
            if tried.returncode == 0:
                return [*self._prefix, python]
        pytest.skip("another user can't run Python and these tests here")

    def ask(self, attempt: Attempt, *, boxed: bool, engine: str = "bubblewrap") -> Any:
        if self._process.poll() is not None:
            self._process = self._started()
        assert self._process.stdin is not None and self._process.stdout is not None
        request = {**asdict(attempt), "boxed": boxed, "above": str(self.above)}
        request["profile"] = {**attempt.profile, "engine": engine}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._process.wait()
            pytest.fail("what runs the attempts has ended")
        return json.loads(answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        if self.above != Path("/srv"):
            shutil.rmtree(self.above, ignore_errors=True)


@pytest.fixture(scope="module", params=USERS)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    started = Runner(request.param)
    yield started
    started.close()


@pytest.fixture(scope="module")
def own_runner() -> Iterator[Runner]:
    if landlock.abi() < landlock.SCOPES_ABI:
        pytest.skip("this kernel's Landlock knows no scopes")
    started = Runner(ROOT_OR_USER)
    yield started
    started.close()


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_nothing_gets_out(attempt: Attempt, runner: Runner) -> None:
    answer = runner.ask(attempt, boxed=True)
    assert not answer["alarms"], answer["output"]


@pytest.mark.parametrize(
    "attempt",
    [attempt for attempt in ATTEMPTS if attempt.name not in BEYOND_LANDLOCK],
    ids=lambda attempt: attempt.name,
)
def test_what_landlock_knows_does_not_get_out(attempt: Attempt, own_runner: Runner) -> None:
    answer = own_runner.ask(attempt, boxed=True, engine="landlock")
    assert not answer["alarms"], answer["output"]


@pytest.mark.parametrize(
    "attempt", [attempt for attempt in ATTEMPTS if not attempt.uncontrolled], ids=lambda attempt: attempt.name
)
def test_without_a_box_it_would(attempt: Attempt, runner: Runner) -> None:
    answer = runner.ask(attempt, boxed=False)
    if attempt.needs_keyrings and not answer["has_keyrings"]:
        pytest.skip("the kernel keeps no keys for this user")
    assert answer["alarms"], answer["output"]


WORKS: Final = (
    Attempt("its login", 'read(W["state"] + "/login.json")\nprint("done")'),
    Attempt("a login behind a link", 'read(W["home"] + "/.linked/login.json")\nprint("done")'),
    Attempt("writing its state behind a link", 'write(W["home"] + "/.linked/new")\nprint("done")'),
    Attempt("the workspace", 'write("new")\nos.rename("new", "newer")\nos.unlink("newer")\nprint("done")'),
    Attempt("a commit", 'subprocess.run(["git", "commit", "--allow-empty", "-m", "x"], check=True)\nprint("done")'),
    Attempt(
        "a commit in a worktree",
        'subprocess.run(["git", "commit", "--allow-empty", "-m", "x"], check=True)\nprint("done")',
        folder="worktree",
    ),
    Attempt("a file in /tmp", 'write("/tmp/x")\nwrite("/var/tmp/x")\nprint("done")'),
    Attempt("a cache", 'os.makedirs(W["home"] + "/.cache/tool")\nwrite(W["home"] + "/.cache/tool/x")\nprint("done")'),
    Attempt("a terminal", 'import pty\npty.spawn(["true"])\nprint("done")'),
    Attempt("a socket of its own", 'socket.socket(socket.AF_UNIX).bind("/tmp/own.sock")\nprint("done")'),
)


@pytest.mark.parametrize("attempt", WORKS, ids=lambda attempt: attempt.name)
def test_what_agents_need_works(attempt: Attempt, runner: Runner) -> None:
    answer = runner.ask(attempt, boxed=True)
    assert answer["output"].endswith("done\n")
