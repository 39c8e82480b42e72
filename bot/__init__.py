"""A chat bot that turns a feature request into tested, reviewed pull requests."""
