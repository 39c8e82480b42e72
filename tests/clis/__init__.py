"""The real agent CLIs, each in a real pane, against a model played on this machine."""
