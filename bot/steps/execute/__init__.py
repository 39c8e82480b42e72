"""Agents carry out the plan."""
