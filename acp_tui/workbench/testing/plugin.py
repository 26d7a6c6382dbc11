"""The pytest plugin: its fixtures load the client when a test uses them, and not before."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from acp_tui.workbench.testing.bench import StartAgent
    from acp_tui.workbench.testing.picture import AcpSnapshot

_BENCH = pytest.StashKey["StartAgent"]()


@pytest.fixture
def _acp_bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StartAgent]:
    from acp_tui.workbench.testing.bench import StartAgent

    folder = tmp_path / "acp"
    folder.mkdir(mode=0o700)
    bench = request.node.stash[_BENCH] = StartAgent(folder, request.path.parent)
    yield bench
    untold = bench.close()
    if untold:
        pytest.fail("\n\n".join(map(str, untold)), pytrace=False)


@pytest.fixture
def acp_agent(_acp_bench: StartAgent) -> StartAgent:
    """Starts agents: `agent = acp_agent([sys.executable, "my_agent.py"], files={"a.py": "..."})`.

    They are real processes that work in a fresh folder, and are ended with the test.
    """
    return _acp_bench


@pytest.fixture
def acp_snapshot(request: pytest.FixtureRequest) -> AcpSnapshot:
    """Compares what a user sees with what was accepted before: `assert acp_snapshot(agent)`."""
    if find_spec("syrupy") is None:
        pytest.fail("acp_snapshot needs syrupy: pip install 'acp-tui[testing]'", pytrace=False)
    from acp_tui.workbench.testing.picture import AcpSnapshot

    return AcpSnapshot(request.getfixturevalue("snapshot"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Below a test that fails by its own assertion stands what was seen of its agents."""
    report = yield
    bench = item.stash.get(_BENCH, None)
    if bench is not None and call.when == "call" and report.failed:
        report.sections += bench.told_of(call.excinfo and call.excinfo.value)
    return report
