"""The user's own rules that refuse what an agent asks for. Nothing here allows anything: a rule can only refuse."""
