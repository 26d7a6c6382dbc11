"""What all tests share: the async backend, the log of the client's messages, and a time limit."""

import faulthandler
import gc
import os
import sys
from collections.abc import Generator
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import hypothesis
import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from _pytest.unraisableexception import gc_collect_iterations_key

from support.frame_log import FrameLog
from support.waiting import HANG_S

# No example may fail for being slow. CI tries the same examples each time; other runs try new ones.
hypothesis.settings.register_profile(
    "here",
    deadline=None,
    derandomize="CI" in os.environ,
    max_examples=int(os.environ.get("ACP_TUI_EXAMPLES", "50")),
)
hypothesis.settings.load_profile("here")

# A screen that changes while a test waits is laid out and painted this often; a test that looks at it paints it itself.
os.environ["TEXTUAL_FPS"] = "20"

# Hundreds of test files, and the program in hundreds of processes, compile once, wherever they run.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

FOLDER_LENGTH = 52
"""Characters in the path of a test's folder, if pytest's own isn't longer."""

FRAMES = FrameLog()
_folders = count()
_patches = pytest.MonkeyPatch()


def pytest_configure(config: pytest.Config) -> None:
    """Search for garbage once at the end, not five times, which only PyPy needs."""
    config.stash[gc_collect_iterations_key] = 1


def pytest_xdist_auto_num_workers() -> int:
    """Two workers per core with `-n auto`: while one waits for a process, another works."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture
def anyio_backend() -> str:
    """The client runs inside Textual, so only asyncio matters."""
    return "asyncio"


def _new_folder(factory: pytest.TempPathFactory) -> Path:
    # Not with `mktemp`, which searches all folders it has made before, in every test. The path is as long in each test,
    # with any number of workers and in any run: what is drawn wraps and is cut at the same place.
    base = factory.getbasetemp()
    folder = base / str(next(_folders)).zfill(FOLDER_LENGTH - len(f"{base}/"))
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new folder for the test, as from pytest's fixture, but without its search."""
    return _new_folder(tmp_path_factory)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep tests away from the real user's settings."""
    home = _new_folder(tmp_path_factory)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    return home


@pytest.fixture
def frame_log() -> FrameLog:
    """The current test's log, for tests of the log itself."""
    return FRAMES


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage meanwhile: what is loaded stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Watch every connection from now on; the screen's part only if the tests have loaded it."""
    FRAMES.install(_patches)
    if "textual" in sys.modules:
        _parse_each_stylesheet_once(_patches)
        _know_threads_at_work(_patches)
    _leave_what_stays_alone()


def _leave_what_stays_alone() -> None:
    """Keep what is loaded now until the end: searching it for garbage took a quarter of all the work."""
    gc.collect()
    if "textual" in sys.modules:
        _freeze_as_the_app_does()
    gc.freeze()
    # So few are still in the processor's cache: each takes two thirds of what it takes among ten times as many.
    gc.set_threshold(20_000, 50, 10)


def _freeze_as_the_app_does() -> None:
    """Once per process, and not in the middle of a test, whose objects must be collected."""
    from acp_tui.ui.base.app import keep_what_is_loaded

    keep_what_is_loaded()


def _parse_each_stylesheet_once(patch: pytest.MonkeyPatch) -> None:
    """Rules of the same text, place, and variables are the same in every app; parsing is a tenth of a short test."""
    from textual.css.stylesheet import Stylesheet

    parse_rules = Stylesheet._parse_rules
    parsed_with: dict[frozenset[tuple[str, str]], dict[Any, Any]] = {}
    parsed_of: WeakKeyDictionary[Stylesheet, tuple[dict[str, str], dict[Any, Any]]]
    parsed_of = WeakKeyDictionary()

    def parse_once(self: Stylesheet, *args: Any, **kwargs: Any) -> Any:
        variables, parsed = parsed_of.get(self, (None, {}))
        if variables is not self._variables:  # Textual replaces rules; it doesn't change them
            parsed = parsed_with.setdefault(frozenset(self._variables.items()), {})
            parsed_of[self] = self._variables, parsed
        key = (args, *kwargs.items())
        if key not in parsed:
            parsed[key] = parse_rules(self, *args, **kwargs)
        return parsed[key]

    patch.setattr(Stylesheet, "_parse_rules", parse_once)


def _know_threads_at_work(patch: pytest.MonkeyPatch) -> None:
    from support.settling import install

    install(patch)


def pytest_unconfigure() -> None:
    """Restore the classes."""
    _patches.undo()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """In CI, a test that hangs shows where, and its process ends: xdist fails it by name and starts another."""
    if "CI" in os.environ:  # elsewhere, a test with many examples may take its time
        stderr = item.config.stash[fault_handler_stderr_fd_key]
        faulthandler.dump_traceback_later(HANG_S, exit=True, file=stderr)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_runtest_setup() -> None:
    """Start a new log for each test."""
    FRAMES.begin()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    """Fail a test in which the client sent what it must not send (R-RPC-4, R-RPC-9, R-INIT-1, R-INIT-5, R-PERM-4)."""
    yield
    _fail_on_violations()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None]:
    """The same for what it sent during the test's teardown."""
    yield
    _fail_on_violations()


def _fail_on_violations() -> None:
    violations = FRAMES.violations()
    if violations:
        pytest.fail("the client broke the protocol:\n" + "\n".join(violations), pytrace=False)
