"""The repository's own commands: its tests and its set-up."""
