"""The user's own rules that refuse what an agent asks for. Nothing in here allows anything: a rule can only say no."""
