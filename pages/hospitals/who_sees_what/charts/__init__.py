"""Draw a run: server and hospitals, their messages, and two messages together."""
