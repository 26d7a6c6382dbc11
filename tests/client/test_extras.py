"""The command that adds an extra to this copy of acp-tui."""

from pathlib import Path

from acp_tui.client.extras import command_to_add

RECEIPT = """
[tool]
requirements = [
    { name = "rich", extras = ["jupyter"] },
    { name = "acp-tui", extras = ["terminal", "web"] },
]
"""


def _command(tmp_path: Path) -> str:
    return command_to_add("qr", prefix=str(tmp_path), checkout=tmp_path / "site-packages")


def test_pip_is_named_where_nothing_says_otherwise(tmp_path: Path) -> None:
    assert _command(tmp_path) == "pip install 'acp-tui[qr]'"


def test_uv_is_named_with_the_extras_that_it_has_installed(tmp_path: Path) -> None:
    receipt = tmp_path / "uv-receipt.toml"
    for text, extras in ((RECEIPT, "qr,terminal,web"), ('requirements = [{ name = "acp-tui" }]', "qr"), ("{", "qr")):
        receipt.write_text(text)
        assert _command(tmp_path) == f"uv tool install 'acp-tui[{extras}]'"


def test_pipx_is_named_with_the_extras_that_it_has_installed(tmp_path: Path) -> None:
    metadata = tmp_path / "pipx_metadata.json"
    for package, extras in (("acp-tui[terminal]==0.9", "qr,terminal"), ("acp-tui", "qr")):
        metadata.write_text(f'{{"main_package": {{"package_or_url": "{package}"}}}}')
        assert _command(tmp_path) == f"pipx install --force 'acp-tui[{extras}]'"


def test_a_checkout_is_installed_again_from_its_folder(tmp_path: Path) -> None:
    checkout = tmp_path / "my code"
    checkout.mkdir()
    (checkout / "pyproject.toml").touch()
    command = command_to_add("qr", prefix=str(tmp_path), checkout=checkout)
    assert command == f"pip install --editable '{checkout}[qr]'"
