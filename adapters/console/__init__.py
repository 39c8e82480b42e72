"""Chat in a terminal or a pipe: the smallest chat adapter, and the one to copy for a new platform."""
