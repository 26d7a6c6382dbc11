"""Leaves out tests with the protocol's Python SDK where that is missing: it has no release for Python 3.15 yet."""

from importlib.util import find_spec

WITH_THE_SDK = ["test_mock_for_the_sdk.py", "test_mocked_agents.py"]
collect_ignore = WITH_THE_SDK if find_spec("acp") is None else []
