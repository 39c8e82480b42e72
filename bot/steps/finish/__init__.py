"""The end of a session, and what comes after it."""
