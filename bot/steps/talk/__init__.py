"""Messages besides the questions of a step."""
