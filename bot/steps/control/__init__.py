"""Commands and buttons that are valid at any time."""
