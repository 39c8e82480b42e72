"""Agents that need a person while they run."""
