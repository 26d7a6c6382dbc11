"""Rules about paths, which a sandbox enforces: what exists of what they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.client.sandbox import Access
from acp_tui.client.sandbox.sandbox import masks
from acp_tui.client.settings.settings import RefusalRule


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (RefusalRule(path=".env"), {".env", "a/.env"}),
        (RefusalRule(path="./a/*.key"), {"a/x.key"}),
        (RefusalRule(path="{.env,secrets}"), {".env", "a/.env", "secrets"}),
        (RefusalRule(path="**/x.*"), {"a/x.key"}),
        (RefusalRule(path="missing"), set()),
        (RefusalRule(path=".env", command="cat"), set()),
        (RefusalRule(path=".env", kind="fetch"), set()),
        (RefusalRule(command="git push"), set()),
    ],
)
def test_a_rule_masks_what_it_names(tmp_path: Path, rule: RefusalRule, found: set[str]) -> None:
    for name in (".env", "a/.env", "a/x.key", "secrets/deep/key", "b/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert {str(path.relative_to(tmp_path)) for path, _ in masks([rule], [tmp_path])} == found


def test_a_rule_with_a_whole_path_masks_it_wherever_it_is(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/key").touch()
    for path in (f"{tmp_path}/elsewhere/key", f"{tmp_path}/elsewhere/k*", f"{tmp_path}/{{elsewhere,other}}/key"):
        assert dict(masks([RefusalRule(path=path)], [])) == {tmp_path / "elsewhere/key": Access.HIDDEN}


def test_a_rule_against_editing_leaves_reading(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "both").touch()
    rules = [RefusalRule(kind="edit", path="lock"), RefusalRule(kind="edit", path="both"), RefusalRule(path="both")]
    assert dict(masks(rules, [tmp_path])) == {tmp_path / "lock": Access.READABLE, tmp_path / "both": Access.HIDDEN}


def test_a_link_masks_what_it_leads_to_in_the_session_and_nothing_else(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "real").touch()
    (tmp_path / "outside").mkdir()
    (project / ".env").symlink_to("real")
    (project / "x.env").symlink_to(tmp_path / "outside")
    assert dict(masks([RefusalRule(path="*.env")], [project])) == {project / "real": Access.HIDDEN}
