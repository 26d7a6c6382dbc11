from pathlib import Path

AGENT = Path(__file__).with_name("example_agent.py")


def test_it_asks_before_it_edits(acp_agent):
    agent = acp_agent(AGENT, files={"notes.md": "Buy milk.\n"})
    agent.permissions.expect("Edit notes.md").allow()

    turn = agent.prompt("Give my notes a heading")

    turn.assert_tool_call(kind="edit", status="completed", path="notes.md")
    assert turn.files_changed == {"notes.md": "# Notes\n\nBuy milk.\n"}
